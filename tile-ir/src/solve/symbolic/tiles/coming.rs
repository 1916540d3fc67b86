//! Who is sure to come by where a cell is written for others to read.
//!
//! What a work-item writes for its block, or for its warp, others find in the cell. If in
//! some iteration it does not come by, they find what it has written in an earlier one:
//! an old value, too, but of an update of another size. So it has to come by in every
//! iteration in which the cell is read, or nothing of what is known of the value may
//! change between iterations.
//!
//! Around the place where it writes there are
//!
//! - loops: all of a block are in the same iteration where the counter's bounds are the
//!   block's, or the condition is;
//! - conditions: they hold for that work-item, or whoever reads the cell knows that the
//!   opposite does not hold. The opposite is the block's, so it is the same there.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::slots::slot::Slot;
use super::super::walk::Walk;

impl Walk<'_> {
    /// Whether all of a block are in the same iterations of the counted loops around.
    pub(in super::super) fn are_loops_of_block(&self) -> bool {
        let mut counters = self.loops.iter().filter_map(|id| self.all_loops.get(id.0)?.counter);
        counters.all(|counter| self.is_uniform_var(counter))
    }

    /// Whether all of a block who come to these loops are in the same iterations, and stay.
    pub(in super::super) fn are_of_whole_block(&self, loops: &[LoopId]) -> bool {
        let is_one =
            |id: &LoopId| self.all_loops.get(id.0).is_some_and(|of| of.is_of_block && !of.is_left);
        loops.iter().all(is_one)
    }

    /// Whether all who come to the loops around together are in the same iterations of all.
    fn are_loops_agreed(&self) -> bool {
        let is_of_block = |id: &LoopId| self.all_loops.get(id.0).is_some_and(|of| of.is_of_block);
        self.loops.iter().all(is_of_block)
    }

    /// Where work-items with these values do not come by, as all who agree on values know
    /// it; `None` where others decide.
    pub(in super::super) fn missed_where(
        &self,
        value_of: &dyn Fn(Unknown) -> Option<Poly>,
        is_common: &dyn Fn(&Poly) -> bool,
    ) -> Option<Vec<Formula>> {
        if !self.are_loops_of_block() {
            return None;
        }
        let is_known = |value: &Poly| value.unknowns().all(|of| is_common(&Poly::unknown(of)));
        let are_common = |formula: &Formula| formula.is_exact() && formula.is_made_of(&is_known);
        let mut out = Vec::new();
        for (guard, passed) in self.guards.iter().zip(&self.passed_by) {
            if guard.replace(value_of) == Formula::True {
                continue;
            }
            match passed.replace(value_of) {
                // Who is in the iteration meets its condition.
                Formula::False if are_common(guard) || self.are_loops_agreed() => {}
                Formula::False => return None,
                missed if are_common(&missed) => out.push(missed),
                _ => return None,
            }
        }
        Some(out)
    }

    /// Whether who comes by here knows that none of these holds.
    pub(in super::super) fn is_none_here(&self, missed: &[Formula]) -> bool {
        missed.iter().all(|missed| {
            let here = self.guards.iter().cloned().chain([missed.clone()]);
            self.is_never(&Formula::All(here.collect()))
        })
    }

    /// Whether what is known of a slot is the same in every iteration.
    pub(in super::super) fn is_the_same_always(&self, slot: &Slot) -> bool {
        let is_fixed = |unknown: Unknown| {
            let sharing = self.symbols.get(unknown).map(|symbol| &symbol.sharing);
            sharing == Some(&Sharing::Launch) || self.grid.iter().any(|(_, axis)| *axis == unknown)
        };
        self.is_outside_loops() || slot.polys().all(|poly| poly.unknowns().all(is_fixed))
    }

    /// Whether nothing here is done again.
    pub(in super::super) fn is_outside_loops(&self) -> bool {
        self.loops.is_empty() && self.walked == 1
    }
}
