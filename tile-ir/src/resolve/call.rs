//! Built-in functions, in both forms: `min(a, b)` and `a.min(b)`.

use super::compose::{self, Composed};
use super::convert::{Conversion, convert};
use super::exchange::U32;
use super::expr::{check_rank, push_binary, resolve_expr, resolve_index};
use super::operate::{Obligation, Operation};
use super::scope::resolve_array;
use super::types::Ty;
use super::{Resolver, exchange, foreign, function, suggest};
use crate::diag::{Code, Diagnostic};
use crate::exchange::ExchangeOp;
use crate::kernel::{ArrayRef, ExprId, ExprKind, Order};
use crate::op::{BinaryOp, MathFn};
use crate::span::SpanId;
use crate::syntax::{self, Expr, Name};

/// Lowers a call, applying `conversion` to the leaves of arithmetic ones.
pub(super) fn resolve_call(
    cx: &mut Resolver,
    func: &Name,
    args: &[Expr],
    span: SpanId,
    conversion: Conversion,
) -> ExprId {
    match func.text.as_str() {
        "min" => resolve_extremum(cx, BinaryOp::Min, func, args, span, conversion),
        "max" => resolve_extremum(cx, BinaryOp::Max, func, args, span, conversion),
        "tiles" => {
            let id = resolve_tiles(cx, func, args, span);
            convert(cx, id, conversion)
        }
        "uniform" => resolve_uniform(cx, func, args, span, conversion),
        "in_bounds" => {
            let id = resolve_in_bounds(cx, func, args, span);
            convert(cx, id, conversion)
        }
        name => {
            if let Some(index) = function::find_function(cx, name) {
                return function::resolve_function_call(cx, index, func, args, span, conversion);
            }
            if let Some(op) = ExchangeOp::from_name(name) {
                let id = exchange::resolve_exchange(cx, op, func, args, span);
                return convert(cx, id, conversion);
            }
            if let Some(math) = MathFn::from_name(name) {
                return resolve_math(cx, math, func, args, span, conversion);
            }
            if let Some(op) = BinaryOp::from_float_function(name) {
                return resolve_of_two(cx, op, func, args, span, conversion);
            }
            if let Some(composed) = Composed::from_name(name) {
                return compose::resolve_composed(cx, composed, (func, span), args, conversion);
            }
            report_unknown(cx, func);
            cx.push_poison(span)
        }
    }
}

fn resolve_extremum(
    cx: &mut Resolver,
    op: BinaryOp,
    func: &Name,
    args: &[Expr],
    span: SpanId,
    conversion: Conversion,
) -> ExprId {
    let Some([lhs, rhs]) = arguments(cx, func, args) else { return cx.push_poison(span) };
    let lhs = resolve_expr(cx, lhs, conversion);
    let rhs = resolve_expr(cx, rhs, conversion);
    push_binary(cx, op, lhs, rhs, span)
}

fn resolve_math(
    cx: &mut Resolver,
    math: MathFn,
    func: &Name,
    args: &[Expr],
    span: SpanId,
    conversion: Conversion,
) -> ExprId {
    let Some([arg]) = arguments(cx, func, args) else { return cx.push_poison(span) };
    // Bits are those of the number as it is; how many there are is another number.
    let of_bits = math.is_integer_only();
    let arg = resolve_expr(cx, arg, if of_bits { Conversion::None } else { conversion });
    let ty = cx.type_of(arg);
    if math.is_float_only() {
        cx.infer.require_float(ty);
    }
    cx.obligations.push(Obligation { operation: Operation::Math(math), ty, span: func.span });
    let value = cx.push(ExprKind::Math { func: math, arg }, ty, span);
    match of_bits {
        // As in Rust, a count is a `u32`.
        true if math.is_count() => {
            let count = cx.push(ExprKind::Cast(value), U32, span);
            convert(cx, count, conversion)
        }
        true => convert(cx, value, conversion),
        false => value,
    }
}

/// `pow(a, b)` and its relatives; of integers `pow` is made of products.
fn resolve_of_two(
    cx: &mut Resolver,
    op: BinaryOp,
    func: &Name,
    args: &[Expr],
    span: SpanId,
    conversion: Conversion,
) -> ExprId {
    let Some([lhs, rhs]) = arguments(cx, func, args) else { return cx.push_poison(span) };
    let left = resolve_expr(cx, lhs, conversion);
    if op == BinaryOp::Pow && compose::is_integer(cx, left) {
        return compose::resolve_power(cx, left, (func, rhs), span);
    }
    let right = resolve_expr(cx, rhs, conversion);
    let ty = cx.type_of(left);
    cx.infer.require_float(ty);
    push_binary(cx, op, left, right, span)
}

fn resolve_uniform(
    cx: &mut Resolver,
    func: &Name,
    args: &[Expr],
    span: SpanId,
    conversion: Conversion,
) -> ExprId {
    let Some([value]) = arguments(cx, func, args) else { return cx.push_poison(span) };
    let value = resolve_expr(cx, value, conversion);
    let ty = cx.type_of(value);
    cx.push(ExprKind::Uniform(value), ty, span)
}

fn resolve_tiles(cx: &mut Resolver, func: &Name, args: &[Expr], span: SpanId) -> ExprId {
    let Some([extent, tile]) = arguments(cx, func, args) else { return cx.push_poison(span) };
    let extent = resolve_index(cx, extent);
    let tile = resolve_index(cx, tile);
    cx.push(ExprKind::Tiles { extent, tile }, Ty::INDEX, span)
}

fn resolve_in_bounds(cx: &mut Resolver, func: &Name, args: &[Expr], span: SpanId) -> ExprId {
    let Some([element]) = arguments(cx, func, args) else { return cx.push_poison(span) };
    let syntax::ExprKind::Index { array, indices } = &element.kind else {
        let message = "`in_bounds` asks about an element of a tensor: `in_bounds(a[i, j])`";
        cx.error(Code::MisusedName, element.span, message);
        return cx.push_poison(span);
    };
    let array_ref = resolve_array(cx, array);
    let indices: Vec<ExprId> = indices.iter().map(|index| resolve_index(cx, index)).collect();
    match array_ref {
        Some(ArrayRef::Tensor(tensor)) => {
            if !check_rank(cx, array, ArrayRef::Tensor(tensor), indices.len(), element.span) {
                return cx.push_poison(span);
            }
            cx.push(ExprKind::InBounds { tensor, indices }, Ty::BOOL, span)
        }
        Some(ArrayRef::Tile(_)) => {
            cx.diags.push(
                Diagnostic::error(
                    Code::MisusedName,
                    array.span,
                    format!("`{}` is a tile; `in_bounds` asks about tensors", array.text),
                )
                .note("an index that leaves a tile is an error, so there is nothing to ask"),
            );
            cx.push_poison(span)
        }
        None => cx.push_poison(span),
    }
}

/// The arguments, if there are as many as the function takes.
pub(super) fn arguments<'e, const N: usize>(
    cx: &mut Resolver,
    func: &Name,
    args: &'e [Expr],
) -> Option<[&'e Expr; N]> {
    let given: Vec<&Expr> = args.iter().collect();
    if let Ok(args) = <[&Expr; N]>::try_from(given) {
        return Some(args);
    }
    let plural = if N == 1 { "" } else { "s" };
    let message =
        format!("`{}` takes {N} argument{plural}, and {} given", func.text, are(args.len()));
    cx.error(Code::UnsupportedOperation, func.span, message);
    None
}

fn are(n: usize) -> String {
    if n == 1 { "1 is".to_owned() } else { format!("{n} are") }
}

/// The names of the language's functions.
fn built_in() -> impl Iterator<Item = &'static str> {
    let math = MathFn::ALL.into_iter().map(MathFn::name);
    let others = ["min", "max", "tiles", "in_bounds", "uniform"];
    let of_two = BinaryOp::FLOAT_FUNCTIONS.into_iter().map(BinaryOp::symbol);
    let composed = Composed::NAMES.into_iter().map(|(name, _)| name);
    math.chain(others)
        .chain(["ln"])
        .chain(of_two)
        .chain(composed)
        .chain(ExchangeOp::ALL.into_iter().map(ExchangeOp::name))
}

/// Whether the language has a function, or a sequence, of that name.
pub fn is_built_in(name: &str) -> bool {
    built_in().any(|known| known == name)
        || Order::of_name(name).is_some()
        || matches!(name, "halving" | "doubling" | "atomic")
}

fn report_unknown(cx: &mut Resolver, func: &Name) {
    let name = &func.text;
    if Order::of_name(name).is_some() {
        let message = format!("`{name}(…)` is no value");
        let diagnostic = Diagnostic::error(Code::MisusedName, func.span, message);
        cx.diags.push(diagnostic.help(format!("it stands alone: `assume({name}(a));`")));
        return;
    }
    if matches!(name.as_str(), "halving" | "doubling") {
        let diagnostic = Diagnostic::error(
            Code::MisusedName,
            func.span,
            format!("`{name}(…)` is a sequence of loop counters, not a value"),
        );
        cx.diags.push(diagnostic.help(format!("write it in a loop: `for s in {name}(n)`")));
        return;
    }
    let library = cx.library.clone();
    let mut known: Vec<&str> = built_in().collect();
    known.extend(library.functions.iter().map(|function| function.name.text.as_str()));
    let diagnostic =
        Diagnostic::error(Code::UnknownName, func.span, format!("there is no function `{name}`"));
    let help = match (foreign::instead_of(name), suggest::nearest(name, known)) {
        (Some(help), _) => help,
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => format!(
            "functions of your own stand beside the kernel: `fn {name}<T: Float>(x: T) -> T {{ … }}`"
        ),
    };
    cx.diags.push(diagnostic.help(help));
}
