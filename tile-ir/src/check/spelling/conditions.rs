//! Conditions, each in one of the ways in which it may be written.
//!
//! - `!` stands before nothing that has an opposite: `!(i >= 2)` is `i < 2`, `!(a && b)` is
//!   `!a || !b`. Of floats only `==` and `!=` are opposites: where one is no number, neither `<` nor
//!   `>=` holds.
//! - What varies more stands to the left: `0.5 < v` is `v > 0.5`.
//! - Integers are compared with literals by `<` and `>=`, and by `> 0` and `<= 0`: `i <= 1` is
//!   `i < 2`, `i > 5` is `i >= 6`.
//! - Of conditions that all hold, or of which one does, those that read nothing stand in order.
//!   What reads an array is asked where it was asked, or more often.
//! - Of two values that a condition chooses between, what is taken where it holds stands first.
//! - `a & b` of conditions that read nothing is `a && b`, and `c == true` is `c`.

use std::cmp::Reverse;

use super::order::Weight;
use crate::kernel::{
    ElemType, Expr, ExprId, ExprKind, Kernel, Literal, Type, any_subexpr, copy_expr_but,
};
use crate::op::{BinaryOp, CompareOp, LogicOp, UnaryOp};

/// An expression with its conditions written so.
pub(super) fn written(kernel: &mut Kernel, expr: ExprId) -> ExprId {
    copy_expr_but(kernel, expr, &mut |kernel, part| match kernel.exprs[part].kind {
        _ if kernel.exprs[part].ty == Type::BOOL => Some(asked(kernel, (part, true))),
        ExprKind::Select { cond, then, otherwise } => {
            let arms = [then, otherwise].map(|arm| written(kernel, arm));
            Some(chosen(kernel, part, (cond, arms)))
        }
        _ => None,
    })
}

/// A choice, of what is taken where its condition holds first.
fn chosen(
    kernel: &mut Kernel,
    choice: ExprId,
    (cond, [then, otherwise]): (ExprId, [ExprId; 2]),
) -> ExprId {
    let cond = asked(kernel, (cond, true));
    let kind = match is_negative(kernel, cond) {
        true => {
            let cond = asked(kernel, (cond, false));
            ExprKind::Select { cond, then: otherwise, otherwise: then }
        }
        false => ExprKind::Select { cond, then, otherwise },
    };
    like(kernel, choice, kind)
}

/// That a condition holds, or does not.
pub(super) fn asked(kernel: &mut Kernel, (cond, holds): (ExprId, bool)) -> ExprId {
    match kernel.exprs[cond].kind {
        ExprKind::Literal(Literal::Bool(value)) => {
            like(kernel, cond, ExprKind::Literal(Literal::Bool(value == holds)))
        }
        ExprKind::Unary { op: UnaryOp::Not, operand } => asked(kernel, (operand, !holds)),
        ExprKind::Compare { op, lhs, rhs } => compared(kernel, (cond, holds), (op, lhs, rhs)),
        ExprKind::Logic { op, .. } => all_or_one(kernel, (cond, holds), op),
        ExprKind::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), lhs, rhs }
            if [lhs, rhs].iter().all(|side| is_movable(kernel, *side)) =>
        {
            let op = if op == BinaryOp::And { LogicOp::And } else { LogicOp::Or };
            let same = like(kernel, cond, ExprKind::Logic { op, lhs, rhs });
            all_or_one(kernel, (same, holds), op)
        }
        ExprKind::Select { cond: of, then, otherwise } => {
            let arms = [then, otherwise].map(|arm| asked(kernel, (arm, holds)));
            chosen(kernel, cond, (of, arms))
        }
        ExprKind::Uniform(of) => {
            let of = asked(kernel, (of, holds));
            like(kernel, cond, ExprKind::Uniform(of))
        }
        _ => {
            let same = copy_expr_but(kernel, cond, &mut |kernel, part| {
                (part != cond).then(|| written(kernel, part))
            });
            if holds { same } else { not(kernel, same) }
        }
    }
}

/// Two conditions that are to hold, the second asked where the first does.
pub(super) fn both(kernel: &mut Kernel, [lhs, rhs]: [ExprId; 2]) -> ExprId {
    let both = like(kernel, lhs, ExprKind::Logic { op: LogicOp::And, lhs, rhs });
    asked(kernel, (both, true))
}

/// Whether it is said of a condition that it does not hold.
pub(super) fn is_negative(kernel: &Kernel, cond: ExprId) -> bool {
    match kernel.exprs[cond].kind {
        ExprKind::Unary { op: UnaryOp::Not, .. } => true,
        ExprKind::Compare { op, lhs, .. } => {
            matches!(op, CompareOp::Ge | CompareOp::Le | CompareOp::Ne)
                && has_opposite(kernel, (op, lhs))
        }
        ExprKind::Logic { op: LogicOp::Or, lhs, rhs } => {
            [lhs, rhs].iter().all(|side| is_negative(kernel, *side))
        }
        _ => false,
    }
}

/// A comparison.
fn compared(
    kernel: &mut Kernel,
    (cond, holds): (ExprId, bool),
    (op, lhs, rhs): (CompareOp, ExprId, ExprId),
) -> ExprId {
    for (side, other) in [(lhs, rhs), (rhs, lhs)] {
        if let ExprKind::Literal(Literal::Bool(value)) = kernel.exprs[side].kind
            && matches!(op, CompareOp::Eq | CompareOp::Ne)
        {
            return asked(kernel, (other, (value == (op == CompareOp::Eq)) == holds));
        }
    }
    let is_kept = !holds && !has_opposite(kernel, (op, lhs));
    let mut op = if holds || is_kept { op } else { op.negated() };
    let [mut lhs, mut rhs] = [lhs, rhs].map(|side| written(kernel, side));
    if Weight::of(kernel, lhs) < Weight::of(kernel, rhs) {
        (op, lhs, rhs) = (op.mirrored(), rhs, lhs);
    }
    let (op, rhs) = beside_literal(kernel, (op, rhs));
    let same = like(kernel, cond, ExprKind::Compare { op, lhs, rhs });
    if is_kept { not(kernel, same) } else { same }
}

/// A comparison of integers with a literal, by the one next to it where that is as good.
fn beside_literal(kernel: &mut Kernel, (op, rhs): (CompareOp, ExprId)) -> (CompareOp, ExprId) {
    let ExprKind::Literal(Literal::Int(number)) = kernel.exprs[rhs].kind else { return (op, rhs) };
    let ty = kernel.exprs[rhs].ty;
    let max = match ty.integer_range() {
        Some((_, max)) => max,
        None if ty == Type::Index => i128::from(i64::MAX),
        None => return (op, rhs),
    };
    let (op, number) = match op {
        CompareOp::Ge if number == 1 => (CompareOp::Gt, 0),
        CompareOp::Lt if number == 1 => (CompareOp::Le, 0),
        CompareOp::Gt if number != 0 && number < max => (CompareOp::Ge, number + 1),
        CompareOp::Le if number != 0 && number < max => (CompareOp::Lt, number + 1),
        _ => return (op, rhs),
    };
    (op, like(kernel, rhs, ExprKind::Literal(Literal::Int(number))))
}

/// Whether what does not hold of two values is what another comparison says.
fn has_opposite(kernel: &Kernel, (op, lhs): (CompareOp, ExprId)) -> bool {
    let is_total = match kernel.exprs[lhs].ty {
        Type::Index => true,
        Type::Scalar(ElemType::Concrete(dtype)) => !dtype.is_float(),
        Type::Scalar(ElemType::Param(_) | ElemType::Acc(_)) => false,
    };
    is_total || matches!(op, CompareOp::Eq | CompareOp::Ne)
}

/// Conditions that are to hold together, or of which one is to.
fn all_or_one(kernel: &mut Kernel, (cond, holds): (ExprId, bool), op: LogicOp) -> ExprId {
    let mut parts = Vec::new();
    collect(kernel, (cond, holds), op, &mut parts);
    let mut parts: Vec<ExprId> = parts.into_iter().map(|part| asked(kernel, part)).collect();
    let weights: Vec<(bool, Weight)> =
        parts.iter().map(|part| (is_movable(kernel, *part), Weight::of(kernel, *part))).collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    for run in order.chunk_by_mut(|one, next| weights[*one].0 && weights[*next].0) {
        run.sort_by_key(|at| Reverse(&weights[*at].1));
    }
    parts = order.into_iter().map(|at| parts[at]).collect();
    let is_and = (op == LogicOp::And) == holds;
    let op = if is_and { LogicOp::And } else { LogicOp::Or };
    let all =
        parts.into_iter().reduce(|lhs, rhs| like(kernel, cond, ExprKind::Logic { op, lhs, rhs }));
    all.unwrap_or(cond)
}

/// The parts of a chain of conditions, in the order in which they are asked.
fn collect(
    kernel: &Kernel,
    (cond, holds): (ExprId, bool),
    of: LogicOp,
    out: &mut Vec<(ExprId, bool)>,
) {
    match kernel.exprs[cond].kind {
        ExprKind::Logic { op, lhs, rhs } if op == of => {
            collect(kernel, (lhs, holds), of, out);
            collect(kernel, (rhs, holds), of, out);
        }
        ExprKind::Unary { op: UnaryOp::Not, operand } => {
            let other = if of == LogicOp::And { LogicOp::Or } else { LogicOp::And };
            collect(kernel, (operand, !holds), other, out);
        }
        _ => out.push((cond, holds)),
    }
}

/// Whether it does not matter how often a condition is asked.
fn is_movable(kernel: &Kernel, cond: ExprId) -> bool {
    !any_subexpr(kernel, cond, &mut |kind| matches!(kind, ExprKind::Load(_) | ExprKind::Uniform(_)))
}

fn not(kernel: &mut Kernel, operand: ExprId) -> ExprId {
    like(kernel, operand, ExprKind::Unary { op: UnaryOp::Not, operand })
}

/// An expression of the same type and place as another one.
fn like(kernel: &mut Kernel, expr: ExprId, kind: ExprKind) -> ExprId {
    let Expr { ty, span, .. } = kernel.exprs[expr];
    kernel.exprs.push(Expr { kind, ty, span })
}
