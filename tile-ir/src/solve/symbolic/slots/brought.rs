//! How far counters in tiles have come where they are read.
//!
//! `if t == 0 { n[0] = 0; } barrier; if keep { atomic n[0] += 1; } barrier; let m = n[0];` finds what
//! the cell was set to ([`super::super::tiles::settings`]) and what updates have added and taken
//! since: so `m` is no more than with all that the block may add ([`super::takers`]), here as many
//! as there are work-items, and no less than without all that it may take.
//!
//! # What it rests on
//!
//! - What the old value of an update there would rest on: the cell has been set in the same rounds
//!   of the loops around, by all that may have set it last, and not in loops in between.
//! - Nobody passes the read by, in a round of the loops around it: what is found is known of all
//!   of the block alike, by conditions on nobody.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::scans::prefix::single;
use super::super::walk::{Value, Walk};
use super::slot::Slot;
use crate::kernel::{Access, ArrayRef};

/// A read of a counter.
#[derive(Clone, Debug)]
pub(in super::super) struct Brought {
    /// What was found.
    found: Unknown,
    /// As if it were an update that adds nothing.
    slot: Slot,
}

impl Walk<'_> {
    /// Whether it may be asked how far what is read here has come.
    pub(in super::super) fn is_counter_read(&self, access: &Access) -> bool {
        matches!(access.array, ArrayRef::Tile(_))
            && self.recording
            && !self.is_in_point()
            && self.counting.contains(&access.array)
    }

    /// Notes a value that is read in a tile, if that may be a counter.
    pub(in super::super) fn note_brought(&mut self, access: &Access, at: &[Poly], value: &Value) {
        let Value::Int(value) = value else { return };
        let Some(found) = single(value).filter(|_| self.is_counter_read(access)) else { return };
        let is_for_all = self.passed_by.iter().all(|passed| *passed == Formula::False);
        if !is_for_all || at.iter().any(Poly::is_lost) {
            return;
        }
        let Some(start) = self.start_of(access.array, at) else { return };
        let turn = self.turn(access.array, at);
        self.brought.push(Brought { found, slot: Slot::of_read(turn, start) });
    }

    /// Adds how far counters have come where they were read, now that all updates are known.
    pub(super) fn bound_brought(&mut self) {
        for Brought { found, slot } in std::mem::take(&mut self.brought) {
            let is_open = slot.start().is_none_or(|start| {
                start.is_at_first || self.counters.is_set_in(&slot, &start.inner)
            });
            if is_open {
                continue;
            }
            for bound in self.bounds_of(found, &slot) {
                self.symbols.add_facts(found, bound);
            }
        }
    }
}
