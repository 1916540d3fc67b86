//! Expressions that are numbers and nothing else.

use super::super::eval::quick;
use crate::arena::EntityId as _;
use crate::kernel::{ExprKind, Kernel, Type};

/// By expression: whether it is sums, products and the like of literals and variables, all of
/// them indices, of which no launch is asked whether it wraps (`exact`).
pub(super) fn of(kernel: &Kernel, exact: &[bool]) -> Vec<bool> {
    let mut plain: Vec<bool> = Vec::with_capacity(kernel.exprs.len());
    // An operand has a smaller id than its user.
    for (id, expr) in kernel.exprs.iter() {
        let is_plain = match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Var(_) => true,
            ExprKind::Binary { op, lhs, rhs } => {
                // Of divisions: by what is above 0.
                quick(*op, 1, 1).is_some()
                    && !exact[id.index()]
                    && [lhs, rhs].iter().all(|operand| plain[operand.index()])
            }
            _ => false,
        };
        plain.push(is_plain && expr.ty == Type::Index);
    }
    plain
}
