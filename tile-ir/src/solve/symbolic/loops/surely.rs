//! Loops that surely turn for whoever comes by.
//!
//! Behind `for k in 0..n { barrier; }` nobody need have passed a barrier, unless it is plain
//! that there is a turn. Where a work-item is at that loop what its conditions say holds, it
//! is in an iteration of each loop around, and there is a block: in `for j in 0..n` the inner
//! loop turns, since 0 <= j < n.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::walk::Walk;

impl Walk<'_> {
    /// Whether a condition, such as that a loop has no iteration, never holds for those who
    /// come by.
    pub(in super::super) fn is_never_for_a_block(&mut self, condition: &Formula) -> bool {
        if self.is_never(condition) {
            return true;
        }
        let mut known: Vec<Formula> = self.in_loops();
        // Of a launch without blocks nobody comes by: no axis of the grid is empty, nor what
        // it cuts into pieces.
        let kernel = self.kernel;
        for axis in &kernel.grid {
            let extent = self.index(axis.extent);
            known.push(Formula::lt(&Poly::default(), &extent));
        }
        known.extend(self.guards_on(condition));
        if known.is_empty() {
            return false;
        }
        known.push(condition.clone());
        self.is_never(&Formula::All(known))
    }

    /// That the walk is in an iteration of each loop around.
    fn in_loops(&self) -> Vec<Formula> {
        let number = |id: &LoopId| Poly::unknown(self.all_loops[id.0].number);
        self.loops.iter().map(|id| Formula::AtLeast(number(id))).collect()
    }

    /// The conditions around that share an unknown with this one.
    fn guards_on(&self, condition: &Formula) -> Vec<Formula> {
        let unknowns = |of: &Formula| {
            let mut unknowns: Vec<Unknown> = Vec::new();
            of.collect_unknowns(&mut unknowns);
            unknowns
        };
        let asked = unknowns(condition);
        let meets = |guard: &&Formula| unknowns(guard).iter().any(|of| asked.contains(of));
        self.guards.iter().filter(meets).cloned().collect()
    }
}
