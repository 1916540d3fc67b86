//! Counters of shifts: `1 << l` is the same again once `l` has passed a word's bits.

use std::collections::BTreeSet;

use crate::kernel::{ExprId, ExprKind, Kernel, Type, VarId, any_stmt};
use crate::op::BinaryOp;

/// After as many numbers as this, a count of shifts is what it was.
pub(super) const PERIOD: usize = 64;

/// Whether a variable says nothing but by how many places something is shifted.
pub(super) fn only_shifts(kernel: &Kernel, var: VarId) -> bool {
    // What keeps the variable's last bits.
    let mut same: BTreeSet<ExprId> = BTreeSet::new();
    // An operand has a smaller id than its user.
    for (id, expr) in kernel.exprs.iter() {
        let is_integer = expr.ty == Type::Index || expr.ty.integer_range().is_some();
        match expr.kind {
            ExprKind::Var(of) if of == var => {
                same.insert(id);
            }
            ExprKind::Cast(of) if is_integer && same.contains(&of) => {
                same.insert(id);
            }
            ExprKind::Binary { op: BinaryOp::Shl | BinaryOp::Shr, lhs, .. }
                if !same.contains(&lhs) => {}
            ref other if other.operands().iter().any(|operand| same.contains(operand)) => {
                return false;
            }
            _ => {}
        }
    }
    !any_stmt(&kernel.body, &mut |kind| kind.exprs().iter().any(|expr| same.contains(expr)))
}
