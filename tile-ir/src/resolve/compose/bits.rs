//! Functions of the bits of integers, and the distance of two numbers.

use super::{Composed, Shared, integer, require};
use crate::diag::{Code, Diagnostic};
use crate::dtype::DType;
use crate::kernel::{ElemType, ExprId, ExprKind, Type};
use crate::op::{BinaryOp, CompareOp, LogicOp, MathFn, UnaryOp};
use crate::resolve::Resolver;
use crate::resolve::call::arguments;
use crate::resolve::convert::{Conversion, convert, unify_operands};
use crate::resolve::exchange::U32;
use crate::resolve::expr::{push_binary, resolve_expr, resolve_shift_count};
use crate::resolve::operate::{Obligation, Operation};
use crate::resolve::types::{Openness, Ty};
use crate::span::SpanId;
use crate::syntax::{Expr, Name};

/// Lowers a call; `None` where the arguments are too many or too few. Operands are taken
/// as they are, and the result is converted.
pub(super) fn resolve_bits(
    cx: &mut Resolver,
    composed: Composed,
    (func, span): (&Name, SpanId),
    args: &[Expr],
    conversion: Conversion,
) -> Option<ExprId> {
    let value = match composed {
        Composed::AbsDiff => {
            let operands = arguments(cx, func, args)?;
            distance(cx, operands, (func, span), conversion)
        }
        Composed::RotateLeft | Composed::RotateRight => {
            let [x, n] = arguments(cx, func, args)?;
            rotated(cx, composed, (x, n), (func, span))
        }
        _ => {
            let [x] = arguments(cx, func, args)?;
            let x = resolve_expr(cx, x, Conversion::None);
            counted(cx, composed, x, (func, span))
        }
    };
    Some(convert(cx, value, conversion))
}

/// The integer type that a value is of, `i32` of a number that says none. `None` where
/// that depends on a type parameter, or it is none.
fn integer_type(cx: &Resolver, ty: Ty) -> Option<DType> {
    match cx.infer.resolve(ty) {
        Ty::Known(Type::Scalar(ElemType::Concrete(dtype))) => Some(dtype),
        Ty::Infer(_) if cx.infer.openness(ty) == Some(Openness::Integer) => Some(DType::I32),
        Ty::Known(_) | Ty::Infer(_) | Ty::Poison => None,
    }
    .filter(|dtype| dtype.is_integer())
}

/// The unsigned type of as many bits.
const fn unsigned(dtype: DType) -> DType {
    match dtype {
        DType::I8 => DType::U8,
        DType::I16 => DType::U16,
        DType::I32 => DType::U32,
        DType::I64 => DType::U64,
        DType::Bool
        | DType::U8
        | DType::U16
        | DType::U32
        | DType::U64
        | DType::F16
        | DType::BF16
        | DType::F32
        | DType::F64 => dtype,
    }
}

fn known(dtype: DType) -> Ty {
    Ty::scalar(ElemType::Concrete(dtype))
}

/// Makes `id`, of an integer type, another one.
fn cast(cx: &mut Resolver, id: ExprId, from: DType, to: DType) -> ExprId {
    if from == to {
        return id;
    }
    let span = cx.kernel.exprs[id].span;
    cx.push(ExprKind::Cast(id), known(to), span)
}

/// Reports a function of an integer type that is not known.
fn refuse(cx: &mut Resolver, func: &Name, ty: Ty) {
    let Some(ty) = cx.infer.settle(ty) else { return };
    let message = format!("`{}` has no `{}`", cx.kernel.type_name(ty), func.text);
    cx.diags.push(
        Diagnostic::error(Code::UnsupportedOperation, func.span, message)
            .help("it is of a known integer type: convert with `as` first, `(x as u32)`"),
    );
}

fn distance(
    cx: &mut Resolver,
    operands: [&Expr; 2],
    (func, span): (&Name, SpanId),
    conversion: Conversion,
) -> ExprId {
    // Of positions the distance is one, whatever integers stand beside them.
    let conversion = if conversion == Conversion::ToIndex { conversion } else { Conversion::None };
    let [a, b] = operands.map(|operand| resolve_expr(cx, operand, conversion));
    let ty = unify_operands(cx, a, b, "`abs_diff`", span);
    let dtype = integer_type(cx, ty);
    if dtype.is_none() && ty != Ty::INDEX {
        refuse(cx, func, ty);
        return cx.push_poison(span);
    }
    if let Some(dtype) = dtype {
        // A number that says no type is taken at its word.
        cx.infer.unify(&cx.kernel, ty, known(dtype));
    }
    let (mut a, mut b) = (Shared::new(cx, "a", a), Shared::new(cx, "b", b));
    let [first, second] = [a.take(cx), b.take(cx)];
    let most = push_binary(cx, BinaryOp::Max, first, second, span);
    let [first, second] = [a.take(cx), b.take(cx)];
    let least = push_binary(cx, BinaryOp::Min, first, second, span);
    let difference = push_binary(cx, BinaryOp::Sub, most, least, span);
    match dtype {
        Some(dtype) => cast(cx, difference, dtype, unsigned(dtype)),
        None => difference,
    }
}

fn rotated(
    cx: &mut Resolver,
    composed: Composed,
    (x, count): (&Expr, &Expr),
    (func, span): (&Name, SpanId),
) -> ExprId {
    let x = resolve_expr(cx, x, Conversion::None);
    let ty = cx.type_of(x);
    let Some(dtype) = integer_type(cx, ty) else {
        refuse(cx, func, ty);
        return cx.push_poison(span);
    };
    cx.infer.unify(&cx.kernel, ty, known(dtype));
    let bits = unsigned(dtype);
    let width = i128::from(bits.size_bytes()) * 8;
    let x = cast(cx, x, dtype, bits);
    let count = resolve_shift_count(cx, count, known(bits));
    let last = integer(cx, width - 1, known(bits), span);
    // Below the width, so that what is left of it does not wrap.
    let count = push_binary(cx, BinaryOp::And, count, last, span);
    let (mut x, mut count) = (Shared::new(cx, "x", x), Shared::new(cx, "n", count));
    let [near, far] = match composed {
        Composed::RotateLeft => [BinaryOp::Shl, BinaryOp::Shr],
        _ => [BinaryOp::Shr, BinaryOp::Shl],
    };
    let (value, places) = (x.take(cx), count.take(cx));
    let moved = push_binary(cx, near, value, places, span);
    let (value, places) = (x.take(cx), count.take(cx));
    let whole = integer(cx, width, known(bits), span);
    // Of 0 places the width, which is 0 again.
    let rest = push_binary(cx, BinaryOp::Sub, whole, places, span);
    let around = push_binary(cx, far, value, rest, span);
    let joined = push_binary(cx, BinaryOp::Or, moved, around, span);
    cast(cx, joined, bits, dtype)
}

/// Counts of the bits that are 1 or 0, and whether one alone is 1.
fn counted(
    cx: &mut Resolver,
    composed: Composed,
    x: ExprId,
    (func, span): (&Name, SpanId),
) -> ExprId {
    if composed == Composed::IsPowerOfTwo {
        return is_power_of_two(cx, x, (func, span));
    }
    count_of(cx, composed, x, (func, span))
}

/// Whether a number is above 0 and one alone of its bits is 1.
fn is_power_of_two(cx: &mut Resolver, x: ExprId, at: (&Name, SpanId)) -> ExprId {
    let (_, span) = at;
    let ty = cx.type_of(x);
    if integer_type(cx, ty).is_some_and(|dtype| dtype == unsigned(dtype)) {
        return is_of_one_bit(cx, x, at);
    }
    let mut x = Shared::new(cx, "x", x);
    let (zero, own) = (integer(cx, 0, ty, span), x.take(cx));
    let is_above = ExprKind::Compare { op: CompareOp::Lt, lhs: zero, rhs: own };
    let is_above = cx.push(is_above, Ty::BOOL, span);
    let own = x.take(cx);
    let is_of_one_bit = is_of_one_bit(cx, own, at);
    let both = ExprKind::Logic { op: LogicOp::And, lhs: is_above, rhs: is_of_one_bit };
    cx.push(both, Ty::BOOL, span)
}

/// Whether one alone of a number's bits is 1.
fn is_of_one_bit(cx: &mut Resolver, x: ExprId, at: (&Name, SpanId)) -> ExprId {
    let (_, span) = at;
    let count = count_of(cx, Composed::IsPowerOfTwo, x, at);
    let one = integer(cx, 1, U32, span);
    cx.push(ExprKind::Compare { op: CompareOp::Eq, lhs: count, rhs: one }, Ty::BOOL, span)
}

/// Counts of the bits that are 1 or 0.
fn count_of(
    cx: &mut Resolver,
    composed: Composed,
    x: ExprId,
    (func, span): (&Name, SpanId),
) -> ExprId {
    let ty = cx.type_of(x);
    let (math, complements) = match composed {
        Composed::LeadingOnes => (MathFn::LeadingZeros, true),
        Composed::TrailingOnes => (MathFn::TrailingZeros, true),
        Composed::CountZeros => (MathFn::CountOnes, true),
        _ => (MathFn::CountOnes, false),
    };
    require(cx, Operation::Math(math), ty, func.span);
    let arg = match complements {
        true => {
            let operation = Operation::Unary(UnaryOp::Not);
            cx.obligations.push(Obligation { operation, ty, span });
            cx.push(ExprKind::Unary { op: UnaryOp::Not, operand: x }, ty, span)
        }
        false => x,
    };
    let count = cx.push(ExprKind::Math { func: math, arg }, ty, span);
    cx.push(ExprKind::Cast(count), U32, span)
}
