//! Counters that are set before a loop, and in each of its rounds set anew for the next one.
//!
//! ```text
//! if t == 0 { n[0] = 0; n[1] = 0; }
//! barrier;
//! for k in 0..rounds {
//!     let old = atomic n[k % 2] += 1;
//!     barrier;
//!     if t == 0 { n[k % 2] = 0; }
//!     barrier;
//! }
//! ```
//!
//! Each round finds what was set before the loop, for each round before has set again what it has
//! updated. It may also have set the cell of the next round, `n[(k + 1) % 2]`, so that before the
//! loop the cell of the first one alone need be set. So a round's updates bring the counter no
//! further than if it set the cell itself when it begins ([`super::takers`]).
//!
//! # What it rests on
//!
//! - All of the block are in the same rounds, and nobody leaves the loops.
//! - All places in the loops that may set the cell set it to what it was set to before them.
//! - All places that may update it are in the rounds, and of each a place further on in the text is
//!   sure to set what it has updated; or it is so of the outermost loop that each round before has
//!   set the cell of this one, and no update of that round comes after that.
//! - What comes later in the text in a round comes later in time, or races.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::pairs::flow::Distance;
use super::super::pairs::instance::{Builder, Meeting, Side};
use super::super::tiles::settings::Setting;
use super::super::walk::Walk;
use super::slot::Slot;
use super::takers::Start;
use crate::kernel::ArrayRef;

/// Most places that set and update a cell that are looked at.
const MAX_PLACES: usize = 8;

impl Walk<'_> {
    /// Looks for what counters were set to that a loop sets between there and a slot.
    pub(super) fn renew_starts(&mut self) {
        let is_open = |slot: &Slot| {
            slot.start().is_some_and(|start| {
                start.is_at_first || self.counters.is_set_in(slot, &start.inner)
            })
        };
        let open = self.slots.iter().filter(|(_, slot)| is_open(slot));
        let open: Vec<(Unknown, Slot)> = open.map(|(old, slot)| (*old, slot.clone())).collect();
        for (old, slot) in open {
            let start = self.renewed(&slot);
            self.slots.entry(old).and_modify(|slot| slot.set_start(start));
        }
    }

    /// What the counter of a slot was set to, as if the round of the slot did so.
    fn renewed(&mut self, slot: &Slot) -> Option<Start> {
        let ArrayRef::Tile(tile) = slot.array() else { return None };
        let Start { value, loops, inner, is_at_first } = slot.start()?;
        let mut settings = self.held.settings.get(&tile)?.clone();
        settings.retain(|setting| setting.value == *value);
        let sets = self.counters.sets_in(slot, *inner.first()?);
        let is_so = |set: &usize| settings.iter().any(|setting| setting.n_sets == *set);
        if sets.len() > MAX_PLACES || !sets.iter().all(is_so) {
            return None;
        }
        settings.retain(|setting| sets.contains(&setting.n_sets));
        let depth = (1..=inner.len()).rev().find(|depth| {
            let (around, inside) = inner.split_at(*depth);
            let around = [loops.as_slice(), around].concat();
            !self.counters.is_set_in(slot, inside)
                && self.are_of_whole_block(&around)
                && (!is_at_first && self.sets_what_it_updates(slot, &settings, &around)
                    || *depth == 1 && self.sets_for_next_round(slot, &settings, &around))
        })?;
        let (around, inside) = inner.split_at(depth);
        let (loops, inner) = ([loops.as_slice(), around].concat(), inside.to_vec());
        Some(Start { value: value.clone(), loops, inner, is_at_first: false })
    }

    /// Whether a round of loops is sure to set again what it has updated.
    fn sets_what_it_updates(&self, slot: &Slot, settings: &[Setting], around: &[LoopId]) -> bool {
        let updates = self.counters.updates_of(slot).filter(|all| all.len() <= MAX_PLACES);
        updates.is_some_and(|updates| {
            updates.into_iter().all(|(at, n_sets, takers)| {
                let is_later = |setting: &&Setting| {
                    let both = setting.reach.loops.iter().zip(&takers.loops);
                    let common = both.take_while(|(one, other)| one == other).count();
                    setting.n_sets > n_sets && common == around.len()
                };
                let later = settings.iter().filter(is_later);
                let missed = later.filter_map(|setting| self.missed_by(&setting.reach, at, around));
                let updated = takers.guards.iter().cloned();
                takers.loops.starts_with(around)
                    && self.is_never(&Formula::All(updated.chain(missed).collect()))
            })
        })
    }

    /// Whether each round of a loop but the first finds its cell set by the round before, and not
    /// updated since in that round.
    fn sets_for_next_round(
        &mut self,
        slot: &Slot,
        settings: &[Setting],
        around: &[LoopId],
    ) -> bool {
        let cell = slot.indices().iter();
        let cell: Vec<Poly> =
            cell.map(|_| Poly::unknown(self.symbol(Sharing::Private, None, None))).collect();
        let settings = settings.iter().filter(|setting| setting.reach.loops == around);
        let missed = settings.filter_map(|setting| {
            Some((setting.n_sets, self.missed_by(&setting.reach, &cell, around)?))
        });
        let missed: Vec<(usize, Formula)> = missed.collect();
        let Some(first) = missed.iter().map(|(n_sets, _)| *n_sets).min() else { return false };
        let missed = missed.into_iter().map(|(_, missed)| missed).collect();
        let Some(updates) = self.counters.updates_of(slot).filter(|all| all.len() <= MAX_PLACES)
        else {
            return false;
        };
        let is_before_or_beside = |(at, n_sets, guards): (&[Poly], usize, &[Formula])| {
            n_sets < first
                || self.never_follow((at, &Formula::All(guards.to_vec())), slot.indices(), around)
        };
        let mut updates = updates.into_iter();
        self.never_follow((&cell, &Formula::All(missed)), slot.indices(), around)
            && updates.all(|(at, n_sets, takers)| {
                takers.loops.starts_with(around)
                    && is_before_or_beside((at, n_sets, &takers.guards))
            })
    }

    /// Whether a round in which something holds of a cell is never followed by one in which the cell
    /// is this.
    fn never_follow(
        &self,
        (at, holds): (&[Poly], &Formula),
        cell: &[Poly],
        loops: &[LoopId],
    ) -> bool {
        let Some((id, around)) = loops.split_last() else { return false };
        let (distance, paths) = (Distance::Next(around.to_vec(), *id), Default::default());
        let mut builder = Builder::new(self, Meeting::InBlock(&distance, &paths));
        at.iter().zip(cell).for_each(|(at, cell)| builder.assert_equal(at, cell));
        builder.assert(Side::First, holds);
        for side in [Side::First, Side::Second] {
            builder.mention_rounds_of(side, loops.iter());
        }
        builder.have_no_solution()
    }
}
