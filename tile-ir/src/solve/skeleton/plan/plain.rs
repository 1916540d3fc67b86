//! Expressions that are numbers and nothing else.

use crate::arena::EntityId as _;
use crate::kernel::{ExprKind, Kernel, Type};
use crate::op::BinaryOp;

/// By expression: whether it is sums, products and the like of literals and variables, all of
/// them indices, of which no launch is asked whether it wraps (`exact`).
pub(super) fn of(kernel: &Kernel, exact: &[bool]) -> Vec<bool> {
    let mut plain: Vec<bool> = Vec::with_capacity(kernel.exprs.len());
    // An operand has a smaller id than its user.
    for (id, expr) in kernel.exprs.iter() {
        let is_plain = match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Var(_) => true,
            ExprKind::Binary { op, lhs, rhs } => {
                is_total(*op)
                    && !exact[id.index()]
                    && [lhs, rhs].iter().all(|operand| plain[operand.index()])
            }
            ExprKind::Load(_)
            | ExprKind::Unary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Cast(_)
            | ExprKind::Uniform(_)
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => false,
        };
        plain.push(is_plain && expr.ty == Type::Index);
    }
    plain
}

/// Whether an operator has a result for indices (of divisions: by what is above 0).
fn is_total(op: BinaryOp) -> bool {
    match op {
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Min
        | BinaryOp::Max => true,
        BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Pow
        | BinaryOp::Atan2
        | BinaryOp::Hypot
        | BinaryOp::Copysign => false,
    }
}
