//! Local arrays: `let mut x: [f32; 4] = [0; 4];`

use super::convert::{Conversion, expect_stored};
use super::each::{check_axes, check_extents};
use super::expr::{resolve_expr, resolve_index};
use super::scope::{Binding, Naming};
use super::types::Ty;
use super::{Resolver, type_expr};
use crate::diag::{Code, Diagnostic};
use crate::dtype::DType;
use crate::kernel::{
    Access, ArrayRef, ElemType, ExprId, ExprKind, Literal, Stmt, StmtKind, Tile, TileId, TileSpace,
    eval_index, print_expr,
};
use crate::row_major;
use crate::span::SpanId;
use crate::syntax::{self, ArrayInit, Expr, Name, TypeExpr};

/// Declares an array, and the statements that give its elements their first
/// values.
pub(super) fn declare_array(
    cx: &mut Resolver,
    (name, mutable): (&Name, bool),
    elem: &TypeExpr,
    extents: &[Expr],
    init: Option<&ArrayInit>,
    (stmt, out): (&syntax::Stmt, &mut Vec<Stmt>),
) {
    let elem = type_expr::resolve_elem(cx, elem, "an array");
    let extents = resolve_extents(cx, extents);
    check_axes(cx, name, extents.len());
    check_extents(cx, name, &extents);
    // Its first elements are computed before its name is in force.
    let stored = |cx: &mut Resolver, value: &Expr| {
        let value = resolve_expr(cx, value, Conversion::None);
        match elem {
            Some(elem) => expect_stored(cx, value, elem, &format!("`{}`", name.text)),
            None => value,
        }
    };
    let (all, others) = match init {
        None => (None, Vec::new()),
        Some(ArrayInit::Repeat { value, extents: again, span }) => {
            let value = stored(cx, value);
            let again = resolve_extents(cx, again);
            require_extents(cx, name, (&extents, &again), *span);
            (Some(value), Vec::new())
        }
        Some(ArrayInit::List { values, lengths, span }) => {
            require_lengths(cx, name, &extents, lengths, *span);
            // The first one for all; the others are put in their places after.
            let mut values: Vec<ExprId> = values.iter().map(|value| stored(cx, value)).collect();
            let others = values.split_off(values.len().min(1));
            (values.pop(), others)
        }
    };
    let tile = cx.kernel.tiles.push(Tile {
        name: name.text.clone(),
        space: TileSpace::Local { mutable },
        elem: elem.unwrap_or(ElemType::Concrete(DType::Bool)),
        extents,
        span: name.span,
    });
    if elem.is_none() {
        cx.poisoned.push(ArrayRef::Tile(tile));
    }
    let at = |kind| Stmt { kind, span: stmt.span, head: stmt.head };
    out.push(at(StmtKind::LetArray { tile, init: all }));
    let lengths = match init {
        Some(ArrayInit::List { lengths, .. }) => lengths.as_slice(),
        _ => &[],
    };
    for (number, value) in (1..).zip(others) {
        let access = element(cx, tile, &row_major::position(lengths, number), name.span);
        out.push(at(StmtKind::Store { access, value }));
    }
    cx.scopes.declare(&name.text, Binding::Tile(tile));
}

fn element(cx: &mut Resolver, tile: TileId, place: &[usize], span: SpanId) -> Access {
    let index = |&index: &usize| {
        let literal = ExprKind::Literal(Literal::Int(index as i128));
        cx.push(literal, Ty::INDEX, span)
    };
    Access { array: ArrayRef::Tile(tile), indices: place.iter().map(index).collect(), span }
}

fn resolve_extents(cx: &mut Resolver, extents: &[Expr]) -> Vec<ExprId> {
    let naming = std::mem::replace(&mut cx.naming, Naming::TileParams("the extents of an array"));
    let extents = extents.iter().map(|extent| resolve_index(cx, extent)).collect();
    cx.naming = naming;
    extents
}

/// Reports extents that are not written alike in the type and in the value.
fn require_extents(
    cx: &mut Resolver,
    name: &Name,
    (declared, again): (&[ExprId], &[ExprId]),
    span: SpanId,
) {
    let texts = |cx: &Resolver, extents: &[ExprId]| -> Vec<String> {
        extents.iter().map(|extent| print_expr(&cx.kernel, *extent)).collect()
    };
    let (declared, again) = (texts(cx, declared), texts(cx, again));
    if declared != again {
        let (declared, again) = (declared.join(", "), again.join(", "));
        let message = format!("`{}` has the extents `[{declared}]`, not `[{again}]`", name.text);
        cx.error(Code::TypeMismatch, span, message);
    }
}

/// Reports a list of elements that has not the extents of its array.
fn require_lengths(
    cx: &mut Resolver,
    name: &Name,
    extents: &[ExprId],
    given: &[usize],
    span: SpanId,
) {
    let length = |extent: &ExprId| eval_index(&cx.kernel, *extent, &|_| None);
    let known: Option<Vec<i128>> = extents.iter().map(length).collect();
    if known
        .as_ref()
        .is_some_and(|known| known.iter().copied().eq(given.iter().map(|&n| n as i128)))
    {
        return;
    }
    let message = match known.as_deref() {
        Some(known) => {
            format!("`{}` has {} elements, and {} are given", name.text, by(known), by(given))
        }
        None => format!("how many elements `{}` has is not a number in the text", name.text),
    };
    let help = match known.as_deref() {
        Some([_, _, ..]) if given.len() == 1 => "each row has its own brackets, `[[a, b], [c, d]]`",
        _ => "all elements alike are written `[e; N]`",
    };
    cx.diags.push(Diagnostic::error(Code::TypeMismatch, span, message).help(help));
}

/// `2 by 3`.
fn by(lengths: &[impl ToString]) -> String {
    lengths.iter().map(ToString::to_string).collect::<Vec<_>>().join(" by ")
}
