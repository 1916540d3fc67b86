//! Updates that not everybody makes.
//!
//! `if n < 100 { let at = atomic c[0] += n; slot = at; }` says nothing of who passes it by:
//! such a work-item has no old value, so what holds of old values must not tell what `n` it
//! has. It is the same with a slot that a block or a warp has been handed under a condition.
//! So that holds where the update was made: of who is in the same list of statements
//! after it, as is noted with each access, and of others unless they have passed it by.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Unknown;
use super::super::pairs::instance::{Builder, Side};
use super::super::walk::Walk;
use super::slot::Slot;

/// Cases in which a work-item passes an update by, beside which it is said what holds of the
/// value that it has found: each is one to look through.
pub(in super::super) const MAX_UNMADE: usize = 6;

/// An update that some pass by.
#[derive(Clone, Debug)]
pub(in super::super) struct Made {
    /// The symbol of what it has found.
    old: Unknown,
    /// What holds of that, where it was made.
    bounds: Formula,
}

impl Made {
    /// Of the update that has found `old`.
    pub(in super::super) fn of(old: Unknown) -> Self {
        Self { old, bounds: Formula::True }
    }

    /// More that holds.
    pub(in super::super) fn add_bounds(&mut self, bounds: Formula) {
        self.bounds = std::mem::replace(&mut self.bounds, Formula::True).and(bounds);
    }
}

impl Walk<'_> {
    /// An update here that has found `old`, if some pass it by.
    pub(in super::super) fn made_here(&self, old: Unknown) -> Option<Made> {
        (!self.is_passed_by_nobody()).then(|| Made::of(old))
    }

    /// Whether all come by here.
    pub(in super::super) fn is_passed_by_nobody(&self) -> bool {
        self.passed_by.iter().all(|passed| *passed == Formula::False)
    }

    /// Notes that a value that is known here is a slot that has been handed on, and what holds
    /// of it: of who passes by, nothing.
    pub(in super::super) fn insert_handed(&mut self, symbol: Unknown, slot: Slot, holds: Formula) {
        let (made, unmade) = (self.made_here(symbol), self.passed_by.clone());
        self.slots.insert(symbol, slot.known_to(made, unmade));
        self.bound_old(symbol, holds);
        self.note_made(symbol);
    }

    /// Notes what holds of an old value, where its update was made.
    pub(in super::super) fn bound_old(&mut self, old: Unknown, bounds: Formula) {
        match self.slots.get_mut(&old).and_then(Slot::made_mut) {
            Some(made) => made.add_bounds(bounds),
            None => self.symbols.add_facts(old, bounds),
        }
    }

    /// Notes that who goes on in this list of statements has made the update that has found
    /// `old`.
    pub(in super::super) fn note_made(&mut self, old: Unknown) {
        if self.slots.get(&old).is_some_and(|slot| slot.made().is_some()) {
            self.made.push(old);
        }
    }
}

impl Builder<'_> {
    /// Adds what holds of an old value on one side, unless its update was not made.
    pub(in super::super) fn bound_if_made(&mut self, slot: &Slot, side: Side) {
        let Some(made) = slot.made().filter(|made| made.bounds != Formula::True) else { return };
        // What its warp has of it says as much, and where it is.
        let walk = self.walk;
        let is_handed = self.seen.iter().any(|(other, of)| {
            let other = walk.slots.get(other).filter(|other| *of == side && other.is_of_warp());
            other.is_some_and(|other| other.is_of_one_update(slot))
        });
        if is_handed && !self.made.contains(&(made.old, side)) {
            return;
        }
        if self.n_unmade(slot, side) > MAX_UNMADE / 2 {
            return;
        }
        let unmade = self.unmade(slot, side);
        let bounds = self.formula_on(side, &made.bounds);
        let bounds = unmade.into_iter().fold(bounds, Formula::or);
        self.system.assert(&bounds);
    }

    /// How many cases there are in which one side has not made the update of a slot.
    pub(in super::super) fn n_unmade(&self, slot: &Slot, side: Side) -> usize {
        match slot.made() {
            Some(made) if !self.made.contains(&(made.old, side)) => slot.unmade().len(),
            Some(_) | None => 0,
        }
    }

    /// Cases in which one side has not made the update of a slot; none where it has.
    pub(in super::super) fn unmade(&mut self, slot: &Slot, side: Side) -> Vec<Formula> {
        match slot.made() {
            Some(made) if !self.made.contains(&(made.old, side)) => {
                slot.unmade().iter().map(|case| self.formula_on(side, case)).collect()
            }
            Some(_) | None => Vec::new(),
        }
    }
}
