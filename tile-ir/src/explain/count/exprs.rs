//! The accesses and operations of expressions.

use super::machine::Machine;
use super::plan::{Role, ops_of};
use super::value::Mask;
use crate::arena::EntityId as _;
use crate::dtype::DType;
use crate::op::LogicOp;
use crate::program::{Access, ExprId, ExprKind};

impl Machine<'_> {
    pub(super) fn count_indices(&mut self, indices: &[ExprId], number: usize) {
        indices.iter().for_each(|&index| self.count(index, number));
    }

    /// Counts the accesses and operations of an expression, each once a statement
    /// and lane.
    pub(super) fn count(&mut self, expr: ExprId, number: usize) {
        if !self.plan.counted[expr.index()] {
            return;
        }
        let all = self.active;
        let (stamp, mask) = &mut self.seen[expr.index()];
        if *stamp != self.stamp {
            (*stamp, *mask) = (self.stamp, 0);
        }
        let fresh = all & !*mask;
        *mask |= all;
        if fresh == 0 {
            return;
        }
        self.active = fresh;
        let kernel = self.plan.kernel;
        match &kernel.exprs[expr].kind {
            ExprKind::Load(access) => {
                self.count_indices(&access.indices, number);
                self.touch_role(number, Role::Load(expr), access);
            }
            ExprKind::Select { cond, then, otherwise } => {
                self.count(*cond, number);
                let taken = self.eval(*cond).mask(fresh);
                let arms = taken.map_or((fresh, fresh), |taken| (taken, fresh & !taken));
                self.count_in(arms.0, *then, number);
                self.count_in(arms.1, *otherwise, number);
            }
            ExprKind::Logic { op, lhs, rhs } => {
                self.count(*lhs, number);
                let taken = self.eval(*lhs).mask(fresh).unwrap_or(fresh);
                let others = match op {
                    LogicOp::And => taken,
                    LogicOp::Or => fresh & !taken,
                };
                self.count_in(others, *rhs, number);
            }
            kind => kind.for_each_operand(&mut |operand| self.count(operand, number)),
        }
        if let Some((dtype, n)) = ops_of(kernel, expr) {
            let at = DType::ALL.iter().position(|known| *known == dtype).unwrap_or(0);
            let cell = self.plan.first_op() + at;
            self.tally.cells[cell] += n * self.n_active();
        }
        self.active = all;
    }

    fn count_in(&mut self, lanes: Mask, expr: ExprId, number: usize) {
        let before = std::mem::replace(&mut self.active, lanes);
        if lanes != 0 {
            self.count(expr, number);
        }
        self.active = before;
    }

    pub(super) fn touch_role(&mut self, number: usize, role: Role, access: &Access) {
        if let Some(&site) = self.plan.places[number].sites.get(&role) {
            self.touch(site, access);
        }
    }
}
