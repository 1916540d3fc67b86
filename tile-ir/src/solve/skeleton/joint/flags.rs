//! Numbers that say whether a condition held.
//!
//! `if t + 700 == R { f[t] = 1; } else { f[t] = 0; }` and `f[t] = (t + 700 == R) as u32;` hand on
//! a condition as a number, often to another work-item. What is compared with a number is
//! followed to the conditions that have made it one: through casts, choices between numbers and
//! what is stored in a tile, by whichever work-item.

use super::goals::{Collected, EARLIER, Goal, Goals, READER, STORING, Side, Who, both};
use super::sites::Site;
use crate::arena::EntityId as _;
use crate::kernel::{Access, ArrayRef, ExprId, ExprKind, Literal, Type};
use crate::op::CompareOp;

impl Collected<'_> {
    /// In which ways what a condition made, or what was stored under one, comes to compare so
    /// with a number.
    pub(super) fn ways_of_flag(&self, goal: Goal, depth: u32) -> Option<Vec<Goals>> {
        let depth = depth.checked_sub(1)?;
        let kernel = self.text.plain.kernel;
        let (Side::Expr(side), Side::Expr(number)) = (goal.lhs.0, goal.rhs.0) else { return None };
        let side = self.text.plain.resolved(side);
        let ExprKind::Literal(literal) = kernel.exprs[self.text.plain.resolved(number)].kind else {
            return None;
        };
        match &kernel.exprs[side].kind {
            ExprKind::Cast(cond) if kernel.exprs[*cond].ty == Type::BOOL => {
                let Literal::Int(number) = literal else { return None };
                let allowed = [false, true]
                    .into_iter()
                    .filter(|flag| goal.op.holds(i128::from(*flag), number) == goal.holds);
                Some(allowed.flat_map(|flag| self.ways(*cond, flag, depth)).collect())
            }
            ExprKind::Select { cond, then, otherwise } => {
                let arms = [(*then, true), (*otherwise, false)].map(|(arm, holds)| {
                    let goal = Goal { lhs: (Side::Expr(arm), READER), ..goal };
                    both(&self.ways(*cond, holds, depth), &self.ways_of_value(goal, depth))
                });
                Some(arms.concat())
            }
            ExprKind::Load(Access { array: ArrayRef::Tile(tile), indices, .. }) => {
                let stores = self.sites.writes.iter().filter(|write| write.tile == *tile);
                let who = STORING + (side.index() % usize::from(EARLIER - STORING)) as Who;
                let mut all = Vec::new();
                for store in stores {
                    let goal = Goal { lhs: (Side::Expr(store.value?), READER), ..goal };
                    let around =
                        store.path.iter().map(|around| self.ways_within(*around, true, depth));
                    let ways =
                        around.fold(self.ways_of_value(goal, depth), |all, own| both(&all, &own));
                    all.extend(ways.into_iter().map(|ways| stored_by(ways, (store, indices), who)));
                }
                Some(all)
            }
            _ => None,
        }
    }

    /// The same of what is stored, or of an arm, which may be a literal.
    fn ways_of_value(&self, goal: Goal, depth: u32) -> Vec<Goals> {
        let ways = self.ways_of_flag(goal, depth).unwrap_or_else(|| vec![vec![goal]]);
        self.possible(ways)
    }
}

/// What has to hold where another work-item stores what is loaded.
fn stored_by(ways: Goals, (store, load): (&Site<'_>, &[ExprId]), who: Who) -> Goals {
    let places = store.indices.iter().zip(load).map(|(store, load)| Goal {
        op: CompareOp::Eq,
        holds: true,
        lhs: ((*store).into(), who),
        rhs: ((*load).into(), READER),
    });
    ways.into_iter().map(|goal| goal.as_of(who)).chain(places).collect()
}
