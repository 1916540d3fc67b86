//! Expressions.

use super::convert::{self, Conversion, convert, expect_type, unify_operands, with_counters};
use super::exchange::{Conditional, conditionally};
use super::operate::{Obligation, Operation};
use super::scope::{Binding, describe_kind, resolve_array, resolve_name};
use super::types::Ty;
use super::{Resolver, call, edge, function, literal, type_expr};
use crate::diag::{Code, Diagnostic};
use crate::kernel::{Access, ArrayRef, ElemType, ExprId, ExprKind, Type, VarKind};
use crate::op::{BinaryOp, CompareOp, LogicOp, UnaryOp};
use crate::span::SpanId;
use crate::syntax::{self, Expr, Name};

/// Lowers an expression, applying `conversion` to its leaves.
pub(super) fn resolve_expr(cx: &mut Resolver, expr: &Expr, conversion: Conversion) -> ExprId {
    let span = expr.span;
    match &expr.kind {
        syntax::ExprKind::Literal(value) => {
            let id = literal::resolve_literal(cx, value, false, span);
            convert(cx, id, conversion)
        }
        syntax::ExprKind::Path(path) => {
            let id = literal::resolve_path(cx, path, span);
            convert(cx, id, conversion)
        }
        syntax::ExprKind::Name(name) => {
            let id = resolve_value(cx, name);
            convert(cx, id, conversion)
        }
        syntax::ExprKind::Index { array, indices } => {
            let id = resolve_load(cx, array, indices, span);
            convert(cx, id, conversion)
        }
        syntax::ExprKind::Unary { op, operand } => {
            resolve_unary(cx, *op, operand, span, conversion)
        }
        syntax::ExprKind::Binary { op, lhs, rhs } => {
            let left = resolve_expr(cx, lhs, conversion);
            if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
                return resolve_shift(cx, *op, left, rhs, span);
            }
            let right = resolve_expr(cx, rhs, conversion);
            push_binary(cx, *op, left, right, span)
        }
        syntax::ExprKind::Compare { op, lhs, rhs } => {
            let id = resolve_compare(cx, *op, lhs, rhs, span);
            convert(cx, id, conversion)
        }
        syntax::ExprKind::Logic { op, lhs, rhs } => {
            let place = format!("an operand of `{}`", op.symbol());
            let operand = |cx: &mut Resolver, operand| {
                let id = resolve_expr(cx, operand, Conversion::None);
                expect_type(cx, id, Ty::BOOL, &place)
            };
            let lhs = operand(cx, lhs);
            let path = (lhs, *op == LogicOp::And);
            let rhs = conditionally(cx, Conditional::Logic(*op), path, |cx| operand(cx, rhs));
            let id = cx.push(ExprKind::Logic { op: *op, lhs, rhs }, Ty::BOOL, span);
            convert(cx, id, conversion)
        }
        syntax::ExprKind::Cast { operand, ty } => {
            let id = resolve_cast(cx, operand, ty, span);
            convert(cx, id, conversion)
        }
        syntax::ExprKind::Call { func, args } | syntax::ExprKind::Method { func, args } => {
            call::resolve_call(cx, func, args, span, conversion)
        }
        syntax::ExprKind::If { cond, then, otherwise } => {
            let cond = resolve_condition(cx, cond);
            let [then, otherwise] = [(then, true), (otherwise, false)].map(|(arm, holds)| {
                conditionally(cx, Conditional::Arm, (cond, holds), |cx| {
                    resolve_expr(cx, arm, conversion)
                })
            });
            let [then, otherwise] = with_counters(cx, [then, otherwise]);
            let ty = unify_operands(cx, then, otherwise, "`if`", span);
            cx.push(ExprKind::Select { cond, then, otherwise }, ty, span)
        }
        syntax::ExprKind::Block { lets, value } => {
            cx.scopes.enter();
            function::bind_lets(cx, lets, value);
            let id = resolve_expr(cx, value, conversion);
            cx.scopes.leave();
            id
        }
    }
}

/// An expression in an index position, a loop bound or an extent.
pub(super) fn resolve_index(cx: &mut Resolver, expr: &Expr) -> ExprId {
    let id = resolve_expr(cx, expr, Conversion::ToIndex);
    expect_type(cx, id, Ty::INDEX, "this place")
}

/// An expression of type `bool`.
pub(super) fn resolve_condition(cx: &mut Resolver, expr: &Expr) -> ExprId {
    let id = resolve_expr(cx, expr, Conversion::None);
    expect_type(cx, id, Ty::BOOL, "the condition")
}

/// A name used for its value.
fn resolve_value(cx: &mut Resolver, name: &Name) -> ExprId {
    let array = match resolve_name(cx, name) {
        Some(Binding::Var(var)) => {
            let ty = cx.var_type(var);
            return cx.push(ExprKind::Var(var), ty, name.span);
        }
        Some(Binding::Tensor(tensor)) => ArrayRef::Tensor(tensor),
        Some(Binding::Tile(tile)) => ArrayRef::Tile(tile),
        Some(Binding::Const(position)) => return function::resolve_const(cx, position, name.span),
        Some(Binding::Value(position)) => {
            return function::resolve_bound(cx, position, name.span);
        }
        None => return cx.push_poison(name.span),
    };
    report_bare_array(cx, name, array);
    cx.push_poison(name.span)
}

/// Says that an array has no value, only its elements have.
pub(super) fn report_bare_array(cx: &mut Resolver, name: &Name, array: ArrayRef) {
    let what = match cx.kernel.array_word(array) {
        "array" => "an array",
        "tile" => "a tile",
        _ => "a tensor",
    };
    let letters = ["i", "j", "k", "l", "m", "n"];
    let rank = cx.kernel.extents(array).len().min(letters.len());
    cx.diags.push(
        Diagnostic::error(
            Code::MisusedName,
            name.span,
            format!("`{}` is {what}, which has no value of its own", name.text),
        )
        .help(format!("name an element: `{}[{}]`", name.text, letters[..rank].join(", "))),
    );
}

/// The access `array[indices]`; `None` where it was reported.
pub(super) fn resolve_access(
    cx: &mut Resolver,
    array: &Name,
    indices: &[Expr],
    span: SpanId,
) -> Option<Access> {
    let array_ref = resolve_array(cx, array);
    let ids: Vec<ExprId> = indices.iter().map(|index| resolve_index(cx, index)).collect();
    let array_ref = array_ref?;
    check_rank(cx, array, array_ref, ids.len(), span).then_some(Access {
        array: array_ref,
        indices: ids,
        span,
    })
}

/// Reports another number of indices than the array has axes.
pub(super) fn check_rank(
    cx: &mut Resolver,
    name: &Name,
    array: ArrayRef,
    given: usize,
    span: SpanId,
) -> bool {
    let (rank, declared) = match array {
        ArrayRef::Tensor(id) => (cx.kernel.tensors[id].extents.len(), cx.kernel.tensors[id].span),
        ArrayRef::Tile(id) => (cx.kernel.tiles[id].extents.len(), cx.kernel.tiles[id].span),
    };
    if rank == given {
        return true;
    }
    let (axes, indices) = (count(rank, "axis", "axes"), count(given, "index", "indices"));
    cx.diags.push(
        Diagnostic::error(
            Code::RankMismatch,
            span,
            format!("`{}` has {axes}, and {indices} given", name.text),
        )
        .label(declared, format!("`{}` is declared here", name.text)),
    );
    false
}

fn count(n: usize, one: &str, many: &str) -> String {
    let word = if n == 1 { one } else { many };
    match word {
        "index" => format!("{n} index is"),
        "indices" => format!("{n} indices are"),
        _ => format!("{n} {word}"),
    }
}

/// The type of an array's elements.
pub(super) fn element_type(cx: &Resolver, array: ArrayRef) -> Option<ElemType> {
    if cx.poisoned.contains(&array) { None } else { Some(cx.kernel.element_type(array)) }
}

fn resolve_load(cx: &mut Resolver, array: &Name, indices: &[Expr], span: SpanId) -> ExprId {
    match resolve_access(cx, array, indices, span) {
        Some(access) => {
            let ty = element_type(cx, access.array).map_or(Ty::Poison, Ty::scalar);
            edge::resolve_read(cx, access, ty)
        }
        None => cx.push_poison(span),
    }
}

fn resolve_unary(
    cx: &mut Resolver,
    op: UnaryOp,
    operand: &Expr,
    span: SpanId,
    conversion: Conversion,
) -> ExprId {
    if let (UnaryOp::Neg, syntax::ExprKind::Literal(value)) = (op, &operand.kind)
        && !matches!(value, syntax::Literal::Bool(_))
    {
        let id = literal::resolve_literal(cx, value, true, span);
        return convert(cx, id, conversion);
    }
    // An index has no last bit: what has one is inverted as it is, and then an index.
    let is_own = (op, conversion) == (UnaryOp::Not, Conversion::ToIndex);
    let inner = if is_own { Conversion::None } else { conversion };
    let operand = resolve_expr(cx, operand, inner);
    let ty = cx.type_of(operand);
    cx.obligations.push(Obligation { operation: Operation::Unary(op), ty, span });
    let inverted = cx.push(ExprKind::Unary { op, operand }, ty, span);
    if is_own { convert(cx, inverted, conversion) } else { inverted }
}

/// `lhs op rhs` of operands that are lowered already.
pub(super) fn push_binary(
    cx: &mut Resolver,
    op: BinaryOp,
    lhs: ExprId,
    rhs: ExprId,
    span: SpanId,
) -> ExprId {
    let [lhs, rhs] = with_counters(cx, [lhs, rhs]);
    let ty = unify_operands(cx, lhs, rhs, &format!("`{op}`"), span);
    cx.obligations.push(Obligation { operation: Operation::Binary(op), ty, span });
    cx.push(ExprKind::Binary { op, lhs, rhs }, ty, span)
}

/// A shift: the count may be of any integer type, as in Rust.
fn resolve_shift(
    cx: &mut Resolver,
    op: BinaryOp,
    lhs: ExprId,
    count: &Expr,
    span: SpanId,
) -> ExprId {
    let ty = cx.type_of(lhs);
    let rhs = resolve_shift_count(cx, count, ty);
    push_binary(cx, op, lhs, rhs, span)
}

/// A shift's count, converted to the shifted value's type `ty`.
pub(super) fn resolve_shift_count(cx: &mut Resolver, count: &Expr, ty: Ty) -> ExprId {
    if ty == Ty::INDEX {
        return resolve_expr(cx, count, Conversion::ToIndex);
    }
    let id = resolve_expr(cx, count, Conversion::None);
    convert::integer_as(cx, id, ty)
}

fn resolve_compare(
    cx: &mut Resolver,
    op: CompareOp,
    lhs: &Expr,
    rhs: &Expr,
    span: SpanId,
) -> ExprId {
    let with_index = seems_index(cx, lhs) || seems_index(cx, rhs);
    let conversion = if with_index { Conversion::ToIndex } else { Conversion::None };
    let lhs = resolve_expr(cx, lhs, conversion);
    let rhs = resolve_expr(cx, rhs, conversion);
    let ty = unify_operands(cx, lhs, rhs, &format!("`{}`", op.symbol()), span);
    cx.obligations.push(Obligation { operation: Operation::Compare(op), ty, span });
    cx.push(ExprKind::Compare { op, lhs, rhs }, Ty::BOOL, span)
}

/// Whether an expression will have type `index`, as far as can be told before it
/// is lowered: a value of that type stands in it outside of conversions.
fn seems_index(cx: &Resolver, expr: &Expr) -> bool {
    match &expr.kind {
        syntax::ExprKind::Name(name) => match cx.scopes.lookup(&name.text) {
            Some((Binding::Var(var), _)) => cx.var_type(var) == Ty::INDEX,
            Some((Binding::Const(position), _)) => function::is_index_const(cx, position),
            Some((Binding::Value(position), _)) => function::bound_type(cx, position) == Ty::INDEX,
            Some((Binding::Tensor(_) | Binding::Tile(_), _)) | None => false,
        },
        syntax::ExprKind::Unary { operand, .. } => seems_index(cx, operand),
        syntax::ExprKind::Binary { lhs, rhs, .. } => seems_index(cx, lhs) || seems_index(cx, rhs),
        syntax::ExprKind::If { then, otherwise, .. } => {
            seems_index(cx, then) || seems_index(cx, otherwise)
        }
        syntax::ExprKind::Block { lets, value } => {
            let named = |item: &syntax::ValueLet| function::uses_in(value, &item.name.text) > 0;
            let mut lets = lets.iter().filter(|item| named(item));
            seems_index(cx, value) || lets.any(|item| seems_index(cx, &item.value))
        }
        syntax::ExprKind::Cast { ty, .. } => {
            matches!(&ty.kind, syntax::TypeExprKind::Name(name) if name.text == "index")
        }
        syntax::ExprKind::Call { func, args } | syntax::ExprKind::Method { func, args } => {
            match func.text.as_str() {
                "tiles" => true,
                "min" | "max" | "abs" | "uniform" | "clamp" | "mul_add" | "fma" | "rem_euclid"
                | "div_euclid" => args.iter().any(|arg| seems_index(cx, arg)),
                name => function::find_function(cx, name)
                    .is_some_and(|index| function::gives_index(cx, index)),
            }
        }
        syntax::ExprKind::Literal(_)
        | syntax::ExprKind::Path(_)
        | syntax::ExprKind::Index { .. }
        | syntax::ExprKind::Compare { .. }
        | syntax::ExprKind::Logic { .. } => false,
    }
}

fn resolve_cast(cx: &mut Resolver, operand: &Expr, ty: &syntax::TypeExpr, span: SpanId) -> ExprId {
    let id = resolve_expr(cx, operand, Conversion::None);
    let target = type_expr::resolve_type(cx, ty);
    let from = cx.type_of(id);
    // `2 as f32` is a literal of that type, as it is in Rust.
    let is_literal = matches!(cx.kernel.exprs[id].kind, ExprKind::Literal(_));
    if is_literal
        && matches!(from, Ty::Infer(_))
        && cx.infer.unify(&cx.kernel, from, target).is_some()
    {
        return id;
    }
    let operation = Operation::Cast { operand: id, target };
    cx.obligations.push(Obligation { operation, ty: from, span });
    cx.push(ExprKind::Cast(id), target, span)
}

/// What an assignment to a name that is no variable is told.
pub(super) fn report_not_assignable(cx: &mut Resolver, name: &Name, kind: VarKind) {
    let message = format!("`{}` is {} and cannot be assigned", name.text, describe_kind(kind));
    cx.error(Code::NotAssignable, name.span, message);
}

/// The scalar type of a known type.
pub(super) fn scalar_of(ty: Ty) -> Option<ElemType> {
    match ty {
        Ty::Known(Type::Scalar(elem)) => Some(elem),
        Ty::Known(Type::Index) | Ty::Infer(_) | Ty::Poison => None,
    }
}
