//! The value of an index expression or condition once its variables are known.

use super::{ExprId, ExprKind, Kernel, Literal, Type, VarId};
use crate::op::{BinaryOp, LogicOp, UnaryOp};

/// The value of `expr`, of type index or `bool` (0 or 1), where `var` knows
/// every variable in it.
///
/// Indices are exact: `None` where a variable is unknown, the expression reads
/// memory, is of another type, or leaves 128 bits.
pub fn eval_index(
    kernel: &Kernel,
    expr: ExprId,
    var: &dyn Fn(VarId) -> Option<i128>,
) -> Option<i128> {
    let is_var = |operand| matches!(kernel.exprs[operand].kind, ExprKind::Var(_));
    eval_index_of(kernel, expr, &|leaf| match kernel.exprs[leaf].kind {
        ExprKind::Var(id) => var(id),
        // A scalar that `var` knows, as an index.
        ExprKind::Cast(operand) if kernel.exprs[leaf].ty == Type::Index && is_var(operand) => {
            eval_index(kernel, operand, var)
        }
        _ => None,
    })
}

/// The value of `expr` where `leaf` says what variables, casts and what is read or looked
/// up in tables are; `None` where it does not know one that the value rests on, and where
/// a number leaves the range of its type.
pub(crate) fn eval_index_of(
    kernel: &Kernel,
    expr: ExprId,
    leaf: &dyn Fn(ExprId) -> Option<i128>,
) -> Option<i128> {
    let eval = |id| eval_index_of(kernel, id, leaf);
    let exact = |value: i128| fits(kernel.exprs[expr].ty, value).then_some(value);
    match &kernel.exprs.get(expr)?.kind {
        ExprKind::Literal(Literal::Int(value)) => Some(*value),
        ExprKind::Literal(Literal::Bool(value)) => Some(i128::from(*value)),
        ExprKind::Literal(Literal::Float(_) | Literal::Named(_)) => None,
        ExprKind::Unary { op: UnaryOp::Neg, operand } => {
            eval(*operand)?.checked_neg().and_then(exact)
        }
        ExprKind::Unary { op: UnaryOp::Not, operand } => Some(i128::from(eval(*operand)? == 0)),
        ExprKind::Binary { op, lhs, rhs } => {
            eval_index_binary(*op, eval(*lhs)?, eval(*rhs)?).and_then(exact)
        }
        ExprKind::Compare { op, lhs, rhs } => Some(i128::from(op.holds(eval(*lhs)?, eval(*rhs)?))),
        ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
            if eval(*lhs)? == 0 {
                Some(0)
            } else {
                eval(*rhs)
            }
        }
        ExprKind::Logic { op: LogicOp::Or, lhs, rhs } => {
            if eval(*lhs)? != 0 {
                Some(1)
            } else {
                eval(*rhs)
            }
        }
        ExprKind::Select { cond, then, otherwise } => {
            if eval(*cond)? != 0 {
                eval(*then)
            } else {
                eval(*otherwise)
            }
        }
        ExprKind::Tiles { extent, tile } => Some(ceil_div(eval(*extent)?, eval(*tile)?)),
        ExprKind::Uniform(operand) => eval(*operand),
        ExprKind::Var(_)
        | ExprKind::Cast(_)
        | ExprKind::Load(_)
        | ExprKind::Math { .. }
        | ExprKind::InBounds { .. } => leaf(expr),
    }
}

/// Whether an integer type holds a number; of a type parameter nothing is known.
pub(crate) fn fits(ty: Type, value: i128) -> bool {
    ty.integer_range().is_none_or(|(low, high)| (low..=high).contains(&value))
}

/// The greatest common divisor, at least 0; 1 where a number cannot be negated (a
/// divisor that never misleads). Everything divides 0.
pub(crate) fn gcd(a: i128, b: i128) -> i128 {
    let (Some(mut a), Some(mut b)) = (a.checked_abs(), b.checked_abs()) else { return 1 };
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The least common multiple of two positive numbers, or the largest number where it is
/// larger.
pub(crate) fn lcm(a: i128, b: i128) -> i128 {
    (a / gcd(a, b).max(1)).saturating_mul(b)
}

/// `ceil(n / d)` as `tiles` has it: 0 where `n` is not positive or `d` is not.
pub fn ceil_div(n: i128, d: i128) -> i128 {
    if n <= 0 || d <= 0 { 0 } else { (n - 1) / d + 1 }
}

/// A binary operator on exact indices. Division by 0 gives 0. `None` where the
/// result leaves 128 bits, or a bit operator meets a negative operand.
pub fn eval_index_binary(op: BinaryOp, lhs: i128, rhs: i128) -> Option<i128> {
    let bits = lhs >= 0 && rhs >= 0;
    match op {
        BinaryOp::Add => lhs.checked_add(rhs),
        BinaryOp::Sub => lhs.checked_sub(rhs),
        BinaryOp::Mul => lhs.checked_mul(rhs),
        BinaryOp::Div => Some(lhs.checked_div(rhs).unwrap_or(0)),
        BinaryOp::Rem => Some(lhs.checked_rem(rhs).unwrap_or(0)),
        BinaryOp::And => bits.then_some(lhs & rhs),
        BinaryOp::Or => bits.then_some(lhs | rhs),
        BinaryOp::Xor => bits.then_some(lhs ^ rhs),
        BinaryOp::Shl => (bits && rhs < 64).then(|| lhs.checked_mul(1 << rhs))?,
        BinaryOp::Shr => (bits && rhs < 64).then(|| lhs >> rhs),
        BinaryOp::Min => Some(lhs.min(rhs)),
        BinaryOp::Max => Some(lhs.max(rhs)),
        BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot | BinaryOp::Copysign => None,
    }
}
