//! Scalars as large as the kernel assumes them to be.
//!
//! What is tried for a scalar is small. `assume(pitch >= 16 * tiles(W, 16))` excludes that:
//! where no run fulfils an assumption, nothing is seen at all. So a scalar of which a
//! number is assumed as the least one is put there, or a little above.

use std::collections::BTreeSet;

use super::sizes::Sizes;
use crate::arena::EntityId as _;
use crate::kernel::{ExprId, ExprKind, Kernel, VarId, VarKind, eval_index};
use crate::op::{CompareOp, LogicOp};

impl Sizes {
    /// Raises scalars to what `assumptions` say that they are at least.
    pub(super) fn raised(mut self, kernel: &Kernel, assumptions: &BTreeSet<ExprId>) -> Self {
        for assumption in assumptions {
            self.raise(kernel, *assumption);
        }
        self
    }

    fn raise(&mut self, kernel: &Kernel, condition: ExprId) {
        let kind = &kernel.exprs[condition].kind;
        if let ExprKind::Logic { op: LogicOp::And, lhs, rhs } = *kind {
            [lhs, rhs].into_iter().for_each(|part| self.raise(kernel, part));
        }
        let ExprKind::Compare { op, lhs, rhs } = *kind else { return };
        let (larger, smaller, above) = match op {
            CompareOp::Ge => (lhs, rhs, 0),
            CompareOp::Gt => (lhs, rhs, 1),
            CompareOp::Le => (rhs, lhs, 0),
            CompareOp::Lt => (rhs, lhs, 1),
            CompareOp::Eq | CompareOp::Ne => return,
        };
        let Some(scalar) = scalar(kernel, larger) else { return };
        let value = |var: VarId| self.values.get(var.index()).copied().flatten().map(i128::from);
        let least = eval_index(kernel, smaller, &value).and_then(|least| {
            let room = i128::from(self.seed % 3);
            i64::try_from(least.checked_add(above)?.checked_add(room)?).ok()
        });
        if let (Some(least), Some(Some(now))) = (least, self.values.get_mut(scalar.index()))
            && *now < least
        {
            *now = least;
        }
    }
}

/// The scalar parameter that an expression is, alone.
fn scalar(kernel: &Kernel, expr: ExprId) -> Option<VarId> {
    let kind = &kernel.exprs[expr].kind;
    if let ExprKind::Cast(operand) = *kind {
        return scalar(kernel, operand);
    }
    let ExprKind::Var(var) = *kind else { return None };
    matches!(kernel.vars[var].kind, VarKind::Scalar(_)).then_some(var)
}
