//! Variables that stand as they are from one barrier to the next.
//!
//! `if r % 2 == 0 { p = 1 - p; barrier; }`: an iteration that turns the buffers passes a
//! barrier. So where the block comes from one iteration to a later one without a barrier, all
//! iterations in between have left `p` as it was: the later one finds at its head what the
//! earlier one has left at its end.
//!
//! It is so of what the block agrees on, if the outcomes of conditions that hold on every way
//! through an iteration without a barrier are those that leave the variable alone.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::pairs::flow::{Distance, Path};
use super::super::pairs::instance::{Builder, Meeting, Side};
use super::super::scans::prefix::single;
use super::super::walk::{Value, Walk};
use crate::kernel::VarId;

/// Conditions within conditions that are followed.
const MAX_CHOICES: u32 = 4;

impl Walk<'_> {
    /// Notes which of these variables of a loop, each with what it is at the head of an
    /// iteration that has just been walked, stand as they are on a way `through` it.
    pub(in super::super) fn note_standing(
        &mut self,
        id: LoopId,
        through: Option<&Path>,
        heads: &[(VarId, Unknown)],
    ) {
        let Some(through) = through else { return };
        let of_block = heads.iter().filter(|(var, _)| self.is_uniform_var(*var));
        let standing = of_block.filter_map(|(var, at)| {
            let Some(Value::Int(end)) = self.env.get(var) else { return None };
            self.is_along(through, end, *at, MAX_CHOICES).then(|| (*at, end.clone()))
        });
        self.all_loops[id.0].standing = standing.collect();
    }

    /// Whether a value is that of `at` on a path.
    fn is_along(&self, path: &Path, value: &Poly, at: Unknown, depth: u32) -> bool {
        let Some(unknown) = single(value) else { return false };
        if unknown == at {
            return true;
        }
        let choice = self.choice_of(unknown);
        let (Some((cond, then, otherwise)), Some(depth)) = (choice, depth.checked_sub(1)) else {
            return false;
        };
        // What is not known may be another condition elsewhere.
        let holds = |outcome: &Formula| {
            outcome.is_exact() && path.conditions().any(|condition| condition == outcome)
        };
        (holds(&cond.no) || self.is_along(path, then, at, depth))
            && (holds(&cond.yes) || self.is_along(path, otherwise, at, depth))
    }
}

impl Builder<'_> {
    /// Where the second of two accesses is in a later iteration of a loop, before the next
    /// barrier: what a symbol is there, if it stands as it is, and that it is not the next one.
    pub(in super::super) fn stand(&mut self, symbol: Unknown) {
        let Meeting::InBlock(Distance::Later(_, id), _) = self.meeting else { return };
        let walk = self.walk;
        let found = &walk.all_loops[id.0];
        let own = Poly::unknown(symbol);
        if symbol == found.number {
            let [first, second] = [Side::First, Side::Second].map(|side| self.on(side, &own));
            self.system.assert(&Formula::lt(&first.plus(1), &second));
        }
        for (_, end) in found.standing.iter().filter(|(at, _)| *at == symbol) {
            let [later, end] = [self.on(Side::Second, &own), self.on(Side::First, end)];
            self.system.assert(&Formula::eq(&later, &end));
        }
    }
}
