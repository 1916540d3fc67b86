//! Functions that are made of operators: `clamp`, `rem_euclid`, `is_nan`, … What
//! they name several times is evaluated once, as an argument of a function is.
//!
//! | function | is |
//! | --- | --- |
//! | `clamp(x, lo, hi)` | `min(max(x, lo), hi)`: of a NaN `lo` |
//! | `mul_add(a, b, c)`, `fma(a, b, c)` | `a * b + c`: one rounding in `f32` and `f64`, two in 16-bit floats |
//! | `powi(x, n)`, of integers `pow(x, n)` | products by repeated squaring; `n` is written in numbers |
//! | `powf(x, y)` | `pow(x, y)` of floats |
//! | `recip(x)` | `1 / x` |
//! | `rem_euclid(a, n)` | `a % n`, and `abs(n)` more where that is negative; of floats, too |
//! | `div_euclid(a, n)` | `a / n`, of floats `trunc` of it, one less (`n > 0`) or more where `a % n` is negative |
//! | `abs_diff(a, b)` | `max(a, b) - min(a, b)`, of signed integers as the unsigned type |
//! | `rotate_left(x, n)` | `x << n | x >> (width - n % width)`, of the bits as they are; `rotate_right` likewise |
//! | `count_zeros`, `leading_ones`, `trailing_ones` | `count_ones(!x)`, `leading_zeros(!x)`, `trailing_zeros(!x)` |
//! | `is_power_of_two(x)` | `count_ones(x) == 1` |
//! | `is_sign_negative(x)` | `copysign(1, x) < 0` |
//! | `is_nan(x)` | `x != x` |
//! | `is_infinite(x)`, `is_finite(x)` | `abs(x) == INFINITY`, `abs(x) < INFINITY` |

mod bits;

use super::Resolver;
use super::call::arguments;
use super::convert::{Conversion, convert, unify_operands};
use super::domain::constant;
use super::expr::{push_binary, resolve_expr};
use super::function::{Value, copy, name_before, rounded};
use super::operate::{Obligation, Operation};
use super::scope::Naming;
use super::types::{Class, Openness, Ty};
use crate::diag::{Code, Diagnostic};
use crate::kernel::{ExprId, ExprKind, Literal, VarKind};
use crate::op::{BinaryOp, CompareOp, MathFn, NamedConst};
use crate::span::SpanId;
use crate::syntax::{Expr, Name};

/// The largest exponent of a power that is made of products.
const MAX_POWER: i128 = 64;

/// A function that is made of operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Composed {
    Clamp,
    MulAdd,
    Power,
    FloatPower,
    Reciprocal,
    RemEuclid,
    DivEuclid,
    AbsDiff,
    RotateLeft,
    RotateRight,
    CountZeros,
    LeadingOnes,
    TrailingOnes,
    IsPowerOfTwo,
    IsSignNegative,
    IsSignPositive,
    IsNan,
    IsInfinite,
    IsFinite,
}

impl Composed {
    /// Every one with its names.
    pub(super) const NAMES: [(&str, Self); 20] = [
        ("clamp", Self::Clamp),
        ("mul_add", Self::MulAdd),
        ("fma", Self::MulAdd),
        ("powi", Self::Power),
        ("powf", Self::FloatPower),
        ("recip", Self::Reciprocal),
        ("rem_euclid", Self::RemEuclid),
        ("div_euclid", Self::DivEuclid),
        ("abs_diff", Self::AbsDiff),
        ("rotate_left", Self::RotateLeft),
        ("rotate_right", Self::RotateRight),
        ("count_zeros", Self::CountZeros),
        ("leading_ones", Self::LeadingOnes),
        ("trailing_ones", Self::TrailingOnes),
        ("is_power_of_two", Self::IsPowerOfTwo),
        ("is_sign_negative", Self::IsSignNegative),
        ("is_sign_positive", Self::IsSignPositive),
        ("is_nan", Self::IsNan),
        ("is_infinite", Self::IsInfinite),
        ("is_finite", Self::IsFinite),
    ];

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, composed)| composed)
    }
}

/// Lowers a call.
pub(super) fn resolve_composed(
    cx: &mut Resolver,
    composed: Composed,
    (func, span): (&Name, SpanId),
    args: &[Expr],
    conversion: Conversion,
) -> ExprId {
    let made = match composed {
        Composed::Clamp => arguments(cx, func, args).map(|[x, low, high]| {
            let [x, low, high] = [x, low, high].map(|arg| resolve_expr(cx, arg, conversion));
            let low = push_binary(cx, BinaryOp::Max, x, low, span);
            push_binary(cx, BinaryOp::Min, low, high, span)
        }),
        Composed::MulAdd => arguments(cx, func, args).map(|[a, b, c]| {
            let [a, b, c] = [a, b, c].map(|arg| resolve_expr(cx, arg, conversion));
            let product = push_binary(cx, BinaryOp::Mul, a, b, span);
            push_binary(cx, BinaryOp::Add, product, c, span)
        }),
        Composed::Power => arguments(cx, func, args).map(|[x, n]| {
            let x = resolve_expr(cx, x, conversion);
            let ty = cx.type_of(x);
            cx.infer.require_float(ty);
            require(cx, Operation::OfFloats("powi"), ty, func.span);
            resolve_power(cx, x, (func, n), span)
        }),
        Composed::FloatPower => arguments(cx, func, args).map(|[x, y]| {
            let [x, y] = [x, y].map(|arg| resolve_expr(cx, arg, conversion));
            let ty = cx.type_of(x);
            cx.infer.require_float(ty);
            push_binary(cx, BinaryOp::Pow, x, y, span)
        }),
        Composed::Reciprocal => arguments(cx, func, args).map(|[x]| {
            let x = resolve_expr(cx, x, conversion);
            let ty = cx.type_of(x);
            cx.infer.require_float(ty);
            require(cx, Operation::OfFloats("recip"), ty, func.span);
            let one = integer(cx, 1, ty, span);
            push_binary(cx, BinaryOp::Div, one, x, span)
        }),
        Composed::RemEuclid | Composed::DivEuclid => arguments(cx, func, args).map(|[a, n]| {
            let [a, n] = [a, n].map(|arg| resolve_expr(cx, arg, conversion));
            resolve_euclidean(cx, composed, (a, n), (func, span))
        }),
        Composed::AbsDiff
        | Composed::RotateLeft
        | Composed::RotateRight
        | Composed::CountZeros
        | Composed::LeadingOnes
        | Composed::TrailingOnes
        | Composed::IsPowerOfTwo => {
            bits::resolve_bits(cx, composed, (func, span), args, conversion)
        }
        Composed::IsSignNegative
        | Composed::IsSignPositive
        | Composed::IsNan
        | Composed::IsInfinite
        | Composed::IsFinite => arguments(cx, func, args).map(|[x]| {
            let x = resolve_expr(cx, x, Conversion::None);
            let value = resolve_kind(cx, composed, x, (func, span));
            convert(cx, value, conversion)
        }),
    };
    made.unwrap_or_else(|| cx.push_poison(span))
}

fn require(cx: &mut Resolver, operation: Operation, ty: Ty, span: SpanId) {
    cx.obligations.push(Obligation { operation, ty, span });
}

fn integer(cx: &mut Resolver, value: i128, ty: Ty, span: SpanId) -> ExprId {
    cx.push(ExprKind::Literal(Literal::Int(value)), ty, span)
}

/// Whether the expression is known to be an integer or an index.
pub(super) fn is_integer(cx: &Resolver, id: ExprId) -> bool {
    let Ty::Known(ty) = cx.type_of(id) else { return false };
    matches!(Class::of(&cx.kernel, ty), Class::Integer | Class::Index)
}

/// Whether a type is known to be a floating-point type.
fn is_float(cx: &Resolver, ty: Ty) -> bool {
    match cx.infer.resolve(ty) {
        Ty::Known(known) => Class::of(&cx.kernel, known) == Class::Float,
        Ty::Infer(_) => cx.infer.openness(ty) == Some(Openness::Float),
        Ty::Poison => false,
    }
}

/// A value that is used several times.
struct Shared {
    value: Value,
    span: SpanId,
}

impl Shared {
    fn new(cx: &mut Resolver, name: &str, id: ExprId) -> Self {
        let span = cx.kernel.exprs[id].span;
        let kind = &cx.kernel.exprs[id].kind;
        let is_short = matches!(kind, ExprKind::Literal(_) | ExprKind::Var(_));
        let id = rounded(cx, id);
        let named =
            (!is_short && cx.naming == Naming::Body).then(|| name_before(cx, name, id)).flatten();
        Self { value: named.map_or(Value::Expr { id, used: false }, Value::Var), span }
    }

    fn take(&mut self, cx: &mut Resolver) -> ExprId {
        match self.value {
            Value::Expr { id, used: false } => {
                self.value = Value::Expr { id, used: true };
                id
            }
            Value::Expr { id, used: true } => copy(cx, id),
            Value::Var(var) => {
                let ty = cx.var_type(var);
                cx.push(ExprKind::Var(var), ty, self.span)
            }
        }
    }
}

/// `x` to the power of a number.
pub(super) fn resolve_power(
    cx: &mut Resolver,
    x: ExprId,
    (func, exponent): (&Name, &Expr),
    span: SpanId,
) -> ExprId {
    let name = &func.text;
    let Some(n) = constant(cx, exponent) else {
        let message = format!("the exponent of `{name}` is written in numbers");
        let diagnostic = Diagnostic::error(Code::UnsupportedOperation, exponent.span, message);
        cx.diags.push(diagnostic.help(match name.as_str() {
            "powi" => "of another one take `pow(x, n as f32)`",
            _ => "multiply in a loop, or take `pow` of floats",
        }));
        return cx.push_poison(span);
    };
    let is_integer = is_integer(cx, x);
    if n.abs() > MAX_POWER || (n < 0 && is_integer) {
        let least = if is_integer { 0 } else { -MAX_POWER };
        let message = format!("an exponent is {least} to {MAX_POWER} here, and this is {n}");
        cx.error(Code::UnsupportedOperation, exponent.span, message);
        return cx.push_poison(span);
    }
    let ty = cx.type_of(x);
    let power = match n {
        0 => integer(cx, 1, ty, span),
        _ => {
            let x = Shared::new(cx, "x", x);
            power_of(cx, x, n.unsigned_abs(), span)
        }
    };
    if n < 0 {
        let one = integer(cx, 1, ty, span);
        return push_binary(cx, BinaryOp::Div, one, power, span);
    }
    rounded(cx, power)
}

/// `x` to the power of `n`, at least 1: the square of the half, times `x` where
/// `n` is odd.
fn power_of(cx: &mut Resolver, mut x: Shared, n: u128, span: SpanId) -> ExprId {
    let mut power = x.take(cx);
    let bits = 128 - n.leading_zeros();
    for bit in (0..bits - 1).rev() {
        let mut half = Shared::new(cx, "x", power);
        let (a, b) = (half.take(cx), half.take(cx));
        power = push_binary(cx, BinaryOp::Mul, a, b, span);
        if (n >> bit) & 1 == 1 {
            let factor = x.take(cx);
            power = push_binary(cx, BinaryOp::Mul, power, factor, span);
        }
    }
    power
}

/// Remainder that is not negative, and the quotient that belongs to it.
fn resolve_euclidean(
    cx: &mut Resolver,
    composed: Composed,
    (a, n): (ExprId, ExprId),
    (func, span): (&Name, SpanId),
) -> ExprId {
    let name = if composed == Composed::RemEuclid { "rem_euclid" } else { "div_euclid" };
    let ty = unify_operands(cx, a, n, &format!("`{name}`"), span);
    let truncates = composed == Composed::DivEuclid && is_float(cx, ty);
    if composed == Composed::DivEuclid && !truncates {
        require(cx, Operation::OfIntegers(name), ty, func.span);
    }
    let positive = is_positive(cx, n);
    let mut n = Shared::new(cx, "n", n);
    let divisor = n.take(cx);
    if composed == Composed::RemEuclid && ty == Ty::INDEX {
        // Exact as indices are, and without a choice.
        let rest = push_binary(cx, BinaryOp::Rem, a, divisor, span);
        let size = magnitude(cx, &mut n, positive, span);
        let sum = push_binary(cx, BinaryOp::Add, rest, size, span);
        let size = n.take(cx);
        return push_binary(cx, BinaryOp::Rem, sum, size, span);
    }
    if composed == Composed::RemEuclid {
        let rest = push_binary(cx, BinaryOp::Rem, a, divisor, span);
        let mut rest = Shared::new(cx, "rest", rest);
        let cond = is_negative(cx, &mut rest, ty, span);
        let (first, second) = (rest.take(cx), rest.take(cx));
        let size = magnitude(cx, &mut n, positive, span);
        let then = push_binary(cx, BinaryOp::Add, first, size, span);
        return cx.push(ExprKind::Select { cond, then, otherwise: second }, ty, span);
    }
    let mut a = Shared::new(cx, "a", a);
    let dividend = a.take(cx);
    let mut quotient = push_binary(cx, BinaryOp::Div, dividend, divisor, span);
    if truncates {
        quotient = cx.push(ExprKind::Math { func: MathFn::Trunc, arg: quotient }, ty, span);
    }
    let mut quotient = Shared::new(cx, "quotient", quotient);
    let (dividend, divisor) = (a.take(cx), n.take(cx));
    let rest = push_binary(cx, BinaryOp::Rem, dividend, divisor, span);
    let mut rest = Shared::new(cx, "rest", rest);
    let cond = is_negative(cx, &mut rest, ty, span);
    let then = beside_quotient(cx, &mut quotient, &mut n, positive, (ty, span));
    let otherwise = quotient.take(cx);
    cx.push(ExprKind::Select { cond, then, otherwise }, ty, span)
}

/// One less than the quotient, or one more where the divisor is negative.
fn beside_quotient(
    cx: &mut Resolver,
    quotient: &mut Shared,
    n: &mut Shared,
    positive: bool,
    (ty, span): (Ty, SpanId),
) -> ExprId {
    let (whole, one) = (quotient.take(cx), integer(cx, 1, ty, span));
    let less = push_binary(cx, BinaryOp::Sub, whole, one, span);
    if positive {
        return less;
    }
    let cond = is_negative(cx, n, ty, span);
    let (whole, one) = (quotient.take(cx), integer(cx, 1, ty, span));
    let more = push_binary(cx, BinaryOp::Add, whole, one, span);
    cx.push(ExprKind::Select { cond, then: more, otherwise: less }, ty, span)
}

/// Whether a divisor is known to be at least 0: a number, an extent, a size.
fn is_positive(cx: &Resolver, n: ExprId) -> bool {
    match &cx.kernel.exprs[n].kind {
        ExprKind::Literal(Literal::Int(value)) => *value >= 0,
        ExprKind::Var(var) => {
            matches!(cx.kernel.vars[*var].kind, VarKind::Dim | VarKind::TileParam(_))
        }
        _ => false,
    }
}

fn magnitude(cx: &mut Resolver, n: &mut Shared, positive: bool, span: SpanId) -> ExprId {
    let arg = n.take(cx);
    let ty = cx.type_of(arg);
    match positive {
        true => arg,
        false => cx.push(ExprKind::Math { func: MathFn::Abs, arg }, ty, span),
    }
}

fn is_negative(cx: &mut Resolver, value: &mut Shared, ty: Ty, span: SpanId) -> ExprId {
    let (lhs, rhs) = (value.take(cx), integer(cx, 0, ty, span));
    cx.push(ExprKind::Compare { op: CompareOp::Lt, lhs, rhs }, Ty::BOOL, span)
}

/// `is_nan` and its relatives.
fn resolve_kind(
    cx: &mut Resolver,
    composed: Composed,
    x: ExprId,
    (func, span): (&Name, SpanId),
) -> ExprId {
    let ty = cx.type_of(x);
    cx.infer.require_float(ty);
    let (op, name) = match composed {
        Composed::IsNan => (CompareOp::Ne, "is_nan"),
        Composed::IsInfinite => (CompareOp::Eq, "is_infinite"),
        Composed::IsSignNegative => (CompareOp::Lt, "is_sign_negative"),
        Composed::IsSignPositive => (CompareOp::Gt, "is_sign_positive"),
        _ => (CompareOp::Lt, "is_finite"),
    };
    require(cx, Operation::OfFloats(name), ty, func.span);
    let (lhs, rhs) = if composed == Composed::IsNan {
        let mut x = Shared::new(cx, "x", x);
        (x.take(cx), x.take(cx))
    } else if matches!(composed, Composed::IsSignNegative | Composed::IsSignPositive) {
        let one = integer(cx, 1, ty, span);
        let signed = push_binary(cx, BinaryOp::Copysign, one, x, span);
        (signed, integer(cx, 0, ty, span))
    } else {
        let infinity = ExprKind::Literal(Literal::Named(NamedConst::Infinity));
        let size = cx.push(ExprKind::Math { func: MathFn::Abs, arg: x }, ty, span);
        (size, cx.push(infinity, ty, span))
    };
    cx.push(ExprKind::Compare { op, lhs, rhs }, Ty::BOOL, span)
}
