//! Shared tiles and the loops that the whole block shares out: `load`, `each`.

use super::convert::{Conversion, expect_stored};
use super::expr::{check_rank, element_type, resolve_expr, resolve_index};
use super::scope::{Binding, Collective, Naming, resolve_array};
use super::stmt::resolve_stmts;
use super::types::Ty;
use super::{Resolver, type_expr};
use crate::diag::{Code, Diagnostic};
use crate::dtype::DType;
use crate::kernel::{
    Access, ArrayRef, Axis, EachOrigin, ElemType, ExprId, ExprKind, Stmt, StmtKind, Tile,
    TileSpace, VarKind, eval_index,
};
use crate::span::SpanId;
use crate::syntax::{self, EachAxis, Expr, Name, TypeExpr};

/// The most axes that a tensor or tile may have.
pub(super) const MAX_RANK: usize = 6;

/// `shared s: [T; A, B];`
pub(super) fn declare_shared(
    cx: &mut Resolver,
    name: &Name,
    elem: &TypeExpr,
    extents: &[Expr],
    head: SpanId,
) {
    refuse_in_collective(cx, "shared", head);
    let elem = type_expr::resolve_elem(cx, elem, "a tile");
    let naming = std::mem::replace(&mut cx.naming, Naming::TileParams("the extents of a tile"));
    let extents: Vec<ExprId> = extents.iter().map(|extent| resolve_index(cx, extent)).collect();
    cx.naming = naming;
    check_axes(cx, name, extents.len());
    check_extents(cx, name, &extents);
    let tile = cx.kernel.tiles.push(Tile {
        name: name.text.clone(),
        space: TileSpace::Shared,
        elem: elem.unwrap_or(ElemType::Concrete(DType::Bool)),
        extents,
        span: name.span,
    });
    if elem.is_none() {
        cx.poisoned.push(ArrayRef::Tile(tile));
    }
    cx.scopes.declare(&name.text, Binding::Tile(tile));
}

/// Reports an array with no axes or too many.
pub(super) fn check_axes(cx: &mut Resolver, name: &Name, rank: usize) {
    if !(1..=MAX_RANK).contains(&rank) {
        let message = format!("`{}` has {rank} axes; 1 to {MAX_RANK} are possible", name.text);
        cx.error(Code::RankMismatch, name.span, message);
    }
}

/// Reports extents whose numbers leave an array without an element.
pub(super) fn check_extents(cx: &mut Resolver, name: &Name, extents: &[ExprId]) {
    let known = |extent: &&ExprId| !matches!(cx.type_of(**extent), Ty::Poison);
    let known: Vec<&ExprId> = extents.iter().filter(known).collect();
    for extent in known {
        let length = eval_index(&cx.kernel, *extent, &|_| None);
        if let Some(length) = length.filter(|length| *length < 1) {
            let message =
                format!("an extent is at least 1, and this one of `{}` is {length}", name.text);
            cx.error(Code::BadHeader, cx.kernel.exprs[*extent].span, message);
        }
    }
}

/// `load s[i, k] = e;`
pub(super) fn resolve_load_stmt(
    cx: &mut Resolver,
    tile: &Name,
    indices: &[Name],
    value: &Expr,
    stmt: &syntax::Stmt,
) -> Option<StmtKind> {
    refuse_in_collective(cx, "load", stmt.head);
    let tile_ref = resolve_array(cx, tile).filter(|array| is_tile(cx, tile, *array));
    let fits = tile_ref.is_some_and(|array| check_rank(cx, tile, array, indices.len(), tile.span));
    let extents: Vec<ExprId> = match tile_ref {
        Some(array) if fits => cx.kernel.extents(array).to_vec(),
        Some(_) | None => indices.iter().map(|index| cx.push_poison(index.span)).collect(),
    };
    let extents = extents.into_iter().zip(indices).map(|(extent, name)| (name, extent)).collect();
    let elem = tile_ref.and_then(|array| element_type(cx, array));
    let outer = std::mem::take(&mut cx.hoisted);
    let (axes, (value, cells)) = within_collective(cx, "load", stmt.head, extents, |cx, axes| {
        let value = resolve_expr(cx, value, Conversion::None);
        let value = match elem {
            Some(elem) => expect_stored(cx, value, elem, &format!("`{}`", tile.text)),
            None => value,
        };
        let cells = axes.iter().zip(indices);
        let cells =
            cells.map(|(axis, name)| cx.push(ExprKind::Var(axis.var), Ty::INDEX, name.span));
        (value, cells.collect())
    });
    let mut body = std::mem::replace(&mut cx.hoisted, outer);
    let access = Access { array: tile_ref?, indices: cells, span: tile.span };
    let kind = StmtKind::Store { access, value };
    body.push(Stmt { kind, span: stmt.span, head: stmt.head });
    // What a function's arguments are comes before, at each point.
    let origin = if body.len() == 1 { EachOrigin::Load } else { EachOrigin::Each };
    fits.then_some(StmtKind::Each { axes, body, origin })
}

fn is_tile(cx: &mut Resolver, name: &Name, array: ArrayRef) -> bool {
    match array {
        ArrayRef::Tile(_) if !cx.kernel.is_local(array) => true,
        ArrayRef::Tile(_) => {
            cx.diags.push(
                Diagnostic::error(
                    Code::MisusedName,
                    name.span,
                    format!("`{}` is one work-item's array; `load` fills a shared tile", name.text),
                )
                .help("fill it in a loop of the work-item's own, or declare it as `shared`"),
            );
            false
        }
        ArrayRef::Tensor(_) => {
            cx.diags.push(
                Diagnostic::error(
                    Code::MisusedName,
                    name.span,
                    format!("`{}` is a tensor; `load` fills a shared tile", name.text),
                )
                .help("write a tensor with an assignment, or in `each`"),
            );
            false
        }
    }
}

/// `each (i, j) in (A, B) { … }`
pub(super) fn resolve_each(
    cx: &mut Resolver,
    axes: &[EachAxis],
    body: &[syntax::Stmt],
    head: SpanId,
) -> Option<StmtKind> {
    refuse_in_collective(cx, "each", head);
    let naming = std::mem::replace(&mut cx.naming, Naming::TileParams("the extents of `each`"));
    let extents = axes.iter().map(|axis| (&axis.name, resolve_index(cx, &axis.extent))).collect();
    cx.naming = naming;
    let (axes, body) =
        within_collective(cx, "each", head, extents, |cx, _| resolve_stmts(cx, body));
    Some(StmtKind::Each { axes, body, origin: EachOrigin::Each })
}

/// Runs `lower` with fresh axes in force, inside a collective statement.
fn within_collective<R>(
    cx: &mut Resolver,
    word: &'static str,
    head: SpanId,
    extents: Vec<(&Name, ExprId)>,
    lower: impl FnOnce(&mut Resolver, &[Axis]) -> R,
) -> (Vec<Axis>, R) {
    let outer = cx.collective;
    cx.collective = outer.or(Some(Collective { word, depth: cx.scopes.depth(), span: head }));
    cx.scopes.enter();
    let mut axes: Vec<Axis> = Vec::new();
    for (position, (name, extent)) in extents.iter().enumerate() {
        if extents[..position].iter().any(|(earlier, _)| earlier.text == name.text) {
            let message = format!("`{}` names two indices of one `{word}`", name.text);
            cx.error(Code::DuplicateName, name.span, message);
        }
        axes.push(Axis { var: cx.declare_var(name, Ty::INDEX, VarKind::Each), extent: *extent });
    }
    cx.scopes.enter();
    let result = lower(cx, &axes);
    cx.scopes.leave();
    cx.scopes.leave();
    cx.collective = outer;
    (axes, result)
}

/// Reports a statement of the whole block inside `load` or `each`.
pub(super) fn refuse_in_collective(cx: &mut Resolver, word: &str, span: SpanId) {
    let Some(collective) = cx.collective else { return };
    let outer = collective.word;
    cx.diags.push(
        Diagnostic::error(
            Code::Divergence,
            span,
            format!("`{word}` concerns the whole block and cannot stand inside `{outer}`"),
        )
        .note(format!("each point of the `{outer}` around it runs on one thread")),
    );
}

/// Whether `name` is declared outside of the `each` that stands around.
pub(super) fn is_outside_collective(cx: &Resolver, name: &Name) -> bool {
    let Some(collective) = cx.collective else { return false };
    cx.scopes.lookup(&name.text).is_some_and(|(_, depth)| depth < collective.depth)
}

/// Says that the points of an `each` cannot change one common variable.
pub(super) fn report_shared_variable(cx: &mut Resolver, name: &Name, declared: SpanId) {
    let Some(collective) = cx.collective else { return };
    let (text, word) = (&name.text, collective.word);
    cx.diags.push(
        Diagnostic::error(
            Code::NotAssignable,
            name.span,
            format!(
                "`{text}` is one value for the whole block; inside `{word}` it can only be read"
            ),
        )
        .label(declared, format!("`{text}` is declared here"))
        .help("write to a tile or a tensor"),
    );
}
