//! Variables that hold one old value of a counter after the other.
//!
//! Threads that stay fetch their next piece of work at the end of an iteration, and the
//! first one before the loop. At the head of an iteration such a variable is what one of
//! these updates has found: of which iteration is not known, but it was made by this
//! work-item, or for this block, so it is no update of another one's.
//!
//! # What it rests on
//!
//! - All updates that the variable comes from are of one element, by as much, in every
//!   iteration: neither changes with what the loop does.
//! - No place in the text that sets the counter's array comes between the update before the
//!   loop and those in it, nor is the counter set in the loop: what is found before it is
//!   set and after may be the same.
//! - Who has found nothing new keeps what it had, or the value is not known.
//! - What a warp has from one of its lanes is one of its own, except where the warp lacks
//!   that lane, which is so in every iteration.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::scans::prefix::single;
use super::super::slots::slot::Slot;
use super::super::terms::integers::range_of;
use super::super::walk::Walk;
use crate::kernel::Type;

/// Most choices between old values that are looked through.
const MAX_CHOICES: usize = 8;

impl Walk<'_> {
    /// Notes that a variable, which was `first` before a loop and is `at` at the head of an
    /// iteration, is `end` after it.
    pub(in super::super) fn note_fetched(
        &mut self,
        id: LoopId,
        (first, at, end): (&Poly, Unknown, &Poly),
    ) {
        if !self.recording || self.is_in_point() {
            return;
        }
        let Some(slot) = single(first).and_then(|first| self.slots.get(&first)) else { return };
        let Some(later) = self.found_in(end, at) else { return };
        let loops: Vec<LoopId> =
            self.loops.iter().copied().filter(|around| *around != id).collect();
        let is_fixed =
            |poly: &Poly| !poly.unknowns().any(|unknown| self.symbols.is_inside(unknown, id));
        let is_fixed_formula = |formula: &Formula| {
            let mut unknowns = Vec::new();
            formula.collect_unknowns(&mut unknowns);
            !unknowns.into_iter().any(|unknown| self.symbols.is_inside(unknown, id))
        };
        let are_one = slot.is_taken_in(&loops)
            && slot.polys().all(is_fixed)
            && is_fixed_formula(&slot.unless())
            && later.iter().all(|later| slot.is_like(later) && later.is_taken_in(&self.loops))
            && !self.counters.is_set_in(slot, &[id]);
        let Some(kept) = later.first().filter(|_| are_one).map(|later| later.kept()) else {
            return;
        };
        if let Some(range) = range_of(Type::Scalar(self.kernel.element_type(kept.array()))) {
            let room = kept.room(&Poly::unknown(at), range);
            self.symbols.add_facts(at, room.or(kept.unless()));
        }
        self.slots.insert(at, kept);
    }

    /// The slots of which a value is one, or else the value `at`; at least one.
    fn found_in(&self, value: &Poly, at: Unknown) -> Option<Vec<&Slot>> {
        let (mut open, mut found) = (vec![value], Vec::new());
        let mut looked = 0;
        while let Some(value) = open.pop() {
            let unknown = single(value)?;
            if unknown == at {
                continue;
            }
            if let Some(slot) = self.slots.get(&unknown) {
                found.push(slot);
                continue;
            }
            looked += 1;
            let choice = self.choice_of(unknown);
            let (_, then, otherwise) = choice.filter(|_| looked <= MAX_CHOICES)?;
            open.extend([then, otherwise]);
        }
        (!found.is_empty()).then_some(found)
    }
}
