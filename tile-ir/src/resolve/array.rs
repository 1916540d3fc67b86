//! Local arrays: `let mut x: [f32; 4] = [0; 4];`

use super::convert::{Conversion, expect_stored};
use super::each::check_axes;
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
        Some(ArrayInit::List { values, span }) => {
            require_length(cx, name, &extents, values.len(), *span);
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
    for (position, value) in (1..).zip(others) {
        let access = element(cx, tile, position, name.span);
        out.push(at(StmtKind::Store { access, value }));
    }
    cx.scopes.declare(&name.text, Binding::Tile(tile));
}

fn element(cx: &mut Resolver, tile: TileId, position: i128, span: SpanId) -> Access {
    let literal = ExprKind::Literal(Literal::Int(position));
    let index = cx.push(literal, Ty::INDEX, span);
    Access { array: ArrayRef::Tile(tile), indices: vec![index], span }
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

/// Reports a list of elements that is not as long as its array.
fn require_length(cx: &mut Resolver, name: &Name, extents: &[ExprId], given: usize, span: SpanId) {
    let length = match extents {
        [extent] => eval_index(&cx.kernel, *extent, &|_| None),
        _ => None,
    };
    if length == Some(given as i128) {
        return;
    }
    let message = match length {
        Some(length) => format!("`{}` has {length} elements, and {given} are given", name.text),
        None => format!("how many elements `{}` has is not a number in the text", name.text),
    };
    cx.diags.push(
        Diagnostic::error(Code::TypeMismatch, span, message)
            .help("all elements alike are written `[e; N]`"),
    );
}
