//! Loop counters where values are needed.
//!
//! A counter is an `index`. Where the loop's bounds are integers of one type, as in
//! `for k in 0..n` with `n: i32`, Rust's counter would have that type, and every value of
//! it is one of that type. So it, and what is computed of it and of literals alone, may
//! stand as a value of that type without `as`: `acc += a[k] * (k + 1)`. The computation
//! is then that of the type, which wraps. A counter between literals is of any integer
//! type that holds its values.

use super::Resolver;
use super::convert::push_cast;
use super::expr::push_binary;
use super::types::Ty;
use crate::dtype::DType;
use crate::kernel::{ElemType, ExprId, ExprKind, Kernel, Literal, Type, VarId};
use crate::op::{BinaryOp, UnaryOp};

/// Least and greatest value, and the type if anything but literals says one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    least: i128,
    greatest: i128,
    dtype: Option<DType>,
}

/// What is counted from `start` to below `end`, if both are of one integer type.
pub(super) fn between(cx: &Resolver, start: ExprId, end: ExprId) -> Option<Counted> {
    let (start, end) = (counted(cx, start)?, counted(cx, end)?);
    let dtype = one_type(start.dtype, end.dtype)?;
    Some(Counted { least: start.least, greatest: end.greatest - 1, dtype })
}

/// What a bound may be, in the exact arithmetic of indices.
fn counted(cx: &Resolver, id: ExprId) -> Option<Counted> {
    match &cx.kernel.exprs[id].kind {
        ExprKind::Literal(Literal::Int(value)) => {
            Some(Counted { least: *value, greatest: *value, dtype: None })
        }
        ExprKind::Var(var) => counter(cx, *var),
        ExprKind::Cast(operand) if is_implied(&cx.kernel, id, *operand) => {
            let Ty::Known(ty) = cx.type_of(*operand) else { return None };
            let dtype = integer(ty)?;
            let (least, greatest) = dtype.integer_range()?;
            Some(Counted { least, greatest, dtype: Some(dtype) })
        }
        ExprKind::Unary { op: UnaryOp::Neg, operand } => {
            let Counted { least, greatest, dtype } = counted(cx, *operand)?;
            Some(Counted { least: greatest.checked_neg()?, greatest: least.checked_neg()?, dtype })
        }
        ExprKind::Binary { op, lhs, rhs } => {
            let (lhs, rhs) = (counted(cx, *lhs)?, counted(cx, *rhs)?);
            let dtype = one_type(lhs.dtype, rhs.dtype)?;
            let (least, greatest) = made_of(*op, lhs, rhs)?;
            Some(Counted { least, greatest, dtype })
        }
        ExprKind::Select { then, otherwise, .. } => {
            let (then, otherwise) = (counted(cx, *then)?, counted(cx, *otherwise)?);
            let dtype = one_type(then.dtype, otherwise.dtype)?;
            let least = then.least.min(otherwise.least);
            Some(Counted { least, greatest: then.greatest.max(otherwise.greatest), dtype })
        }
        _ => None,
    }
}

/// Between which numbers lies what an operator makes of two; nothing where that is not asked.
fn made_of(op: BinaryOp, lhs: Counted, rhs: Counted) -> Option<(i128, i128)> {
    match op {
        BinaryOp::Add => {
            Some((lhs.least.checked_add(rhs.least)?, lhs.greatest.checked_add(rhs.greatest)?))
        }
        BinaryOp::Sub => {
            Some((lhs.least.checked_sub(rhs.greatest)?, lhs.greatest.checked_sub(rhs.least)?))
        }
        BinaryOp::Min => Some((lhs.least.min(rhs.least), lhs.greatest.min(rhs.greatest))),
        BinaryOp::Max => Some((lhs.least.max(rhs.least), lhs.greatest.max(rhs.greatest))),
        // By 1 or more, it comes closer to 0.
        BinaryOp::Div if rhs.least >= 1 => Some((lhs.least.min(0), lhs.greatest.max(0))),
        BinaryOp::Shr if rhs.least >= 0 => Some((lhs.least.min(-1), lhs.greatest.max(0))),
        _ => None,
    }
}

/// Whether the text does not show the conversion: its span is the operand's.
fn is_implied(kernel: &Kernel, id: ExprId, operand: ExprId) -> bool {
    kernel.exprs[id].span == kernel.exprs[operand].span
}

/// The type of both, where they do not contradict each other.
fn one_type(a: Option<DType>, b: Option<DType>) -> Option<Option<DType>> {
    match (a, b) {
        (Some(a), Some(b)) => (a == b).then_some(Some(a)),
        (one, other) => Some(one.or(other)),
    }
}

fn counter(cx: &Resolver, var: VarId) -> Option<Counted> {
    cx.counters.iter().find(|(counter, _)| *counter == var).map(|(_, counted)| *counted)
}

const fn integer(ty: Type) -> Option<DType> {
    match ty {
        Type::Scalar(ElemType::Concrete(dtype)) if dtype.is_integer() => Some(dtype),
        Type::Scalar(_) | Type::Index => None,
    }
}

/// `id`, an index, as a value of type `ty`, if counters of that type and literals are
/// all that stands in it.
pub(super) fn as_value(cx: &mut Resolver, id: ExprId, ty: Ty) -> Option<ExprId> {
    let Ty::Known(known) = ty else { return None };
    let dtype = integer(known)?;
    let counts = cx.type_of(id) == Ty::INDEX && is_value(cx, id, dtype) == Some(true);
    counts.then(|| make_value(cx, id, known))
}

/// Whether a counter stands in `id`; nothing where anything stands there that has no
/// value of the type.
fn is_value(cx: &Resolver, id: ExprId, dtype: DType) -> Option<bool> {
    let (least, greatest) = dtype.integer_range()?;
    match &cx.kernel.exprs[id].kind {
        ExprKind::Literal(Literal::Int(value)) => {
            (least..=greatest).contains(value).then_some(false)
        }
        ExprKind::Var(var) => {
            let counted = counter(cx, *var)?;
            let is_of = counted.dtype.is_none_or(|of| of == dtype);
            (is_of && least <= counted.least && counted.greatest <= greatest).then_some(true)
        }
        ExprKind::Unary { op: UnaryOp::Neg, operand } => is_value(cx, *operand, dtype),
        ExprKind::Binary { lhs, rhs, .. } => {
            Some(is_value(cx, *lhs, dtype)? | is_value(cx, *rhs, dtype)?)
        }
        _ => None,
    }
}

/// What [`is_value`] admits, made anew: an expression is an operand of one other.
fn make_value(cx: &mut Resolver, id: ExprId, ty: Type) -> ExprId {
    let span = cx.kernel.exprs[id].span;
    match cx.kernel.exprs[id].kind {
        ExprKind::Literal(Literal::Int(value)) => {
            cx.push(ExprKind::Literal(Literal::Int(value)), Ty::Known(ty), span)
        }
        ExprKind::Unary { op, operand } => {
            let operand = make_value(cx, operand, ty);
            cx.push(ExprKind::Unary { op, operand }, Ty::Known(ty), span)
        }
        ExprKind::Binary { op, lhs, rhs } => {
            let (lhs, rhs) = (make_value(cx, lhs, ty), make_value(cx, rhs, ty));
            push_binary(cx, op, lhs, rhs, span)
        }
        _ => {
            let counter = cx.kernel.exprs[id].kind.clone();
            let counter = cx.push(counter, Ty::INDEX, span);
            push_cast(cx, counter, ty)
        }
    }
}
