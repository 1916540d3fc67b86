//! Tables and header: parameters, domains, extents, axes.

use super::Verifier;
use super::expr::mentions;
use crate::arena::EntityId as _;
use crate::kernel::{
    ArrayRef, Axis, Edge, ExprId, ExprKind, Param, TileDomain, TileParamId, Type, VarId, VarKind,
};
use crate::syntax::TensorSpace;

/// The most axes that an array may have.
const MAX_RANK: usize = 6;

/// Every id in the tables is in range.
pub(super) fn verify_ids(cx: &mut Verifier<'_>) {
    let kernel = cx.kernel;
    for (id, var) in kernel.vars.iter() {
        let known = match var.kind {
            VarKind::TileParam(param) => kernel.tile_params.get(param).is_some(),
            VarKind::Scalar(scalar) => kernel.scalars.get(scalar).is_some(),
            VarKind::Dim
            | VarKind::Grid
            | VarKind::Block
            | VarKind::Each
            | VarKind::Loop
            | VarKind::Let { .. } => true,
        };
        let typed = cx.has_type(var.ty);
        cx.require(known && typed, || format!("{id} refers to what does not exist"));
    }
    for param in &kernel.params {
        let known = match *param {
            Param::Tensor(id) => kernel.tensors.get(id).is_some(),
            Param::Scalar(id) => kernel.scalars.get(id).is_some(),
        };
        cx.require(known, || "a parameter does not exist".to_owned());
    }
    for (id, tensor) in kernel.tensors.iter() {
        let pad = match tensor.edge {
            Edge::DefaultPad | Edge::Rule(_) => None,
            Edge::Pad(value) => Some(value),
        };
        let known = tensor.extents.iter().chain(&pad).all(|expr| cx.has_expr(*expr));
        let known = known && cx.has_elem(tensor.elem);
        cx.require(known, || format!("{id} refers to what does not exist"));
    }
    for (id, scalar) in kernel.scalars.iter() {
        let known = cx.has_var(scalar.var) && cx.has_elem(scalar.elem);
        cx.require(known, || format!("{id} refers to what does not exist"));
    }
    for (id, param) in kernel.tile_params.iter() {
        let value = match &param.domain {
            TileDomain::Equal(value) => Some(*value),
            TileDomain::Any
            | TileDomain::Range { .. }
            | TileDomain::Pow2 { .. }
            | TileDomain::List(_) => None,
        };
        let known = cx.has_var(param.var) && value.is_none_or(|value| cx.has_expr(value));
        cx.require(known, || format!("{id} refers to what does not exist"));
    }
    for (id, tile) in kernel.tiles.iter() {
        let known = cx.has_elem(tile.elem) && tile.extents.iter().all(|expr| cx.has_expr(*expr));
        cx.require(known, || format!("{id} refers to what does not exist"));
    }
    let axes = kernel.grid.iter().chain(kernel.block.iter().flatten());
    let known = axes.clone().all(|axis| cx.has_var(axis.var) && cx.has_expr(axis.extent))
        && kernel.constraints.iter().all(|cond| cx.has_expr(*cond));
    cx.require(known, || "the header refers to what does not exist".to_owned());
}

/// The header's rules, ids being in range.
pub(super) fn verify_header(cx: &mut Verifier<'_>) {
    verify_params(cx);
    verify_tile_params(cx);
    verify_vars(cx);
    let kernel = cx.kernel;
    for cond in &kernel.constraints {
        cx.require_type(*cond, Type::BOOL, "a condition on tile sizes");
        verify_mentions(cx, *cond, "a condition on tile sizes", is_tile_param);
    }
    for axis in &kernel.grid {
        let is_grid = cx.var(axis.var).kind == VarKind::Grid;
        cx.require(is_grid, || format!("{} is no axis of the grid", axis.var));
        verify_extent(cx, axis.extent, "an extent of the grid", is_dim_or_tile_param);
    }
    verify_block(cx);
    for (id, tile) in kernel.tiles.iter() {
        verify_rank(cx, &id.to_string(), tile.extents.len());
        for extent in &tile.extents {
            verify_extent(cx, *extent, "an extent of a tile", is_tile_param);
        }
    }
}

fn verify_block(cx: &mut Verifier<'_>) {
    let Some(axes) = &cx.kernel.block else { return };
    cx.require(!axes.is_empty(), || "the block has no axis".to_owned());
    for axis in axes {
        let is_block = cx.var(axis.var).kind == VarKind::Block;
        cx.require(is_block, || format!("{} is no axis of the block", axis.var));
        verify_extent(cx, axis.extent, "an extent of the block", is_tile_param);
    }
}

/// The extents of an `each`.
pub(super) fn verify_each_axes(cx: &mut Verifier<'_>, axes: &[Axis]) {
    cx.require(!axes.is_empty(), || "an `each` has no axis".to_owned());
    for axis in axes {
        verify_extent(cx, axis.extent, "an extent of `each`", is_tile_param);
    }
}

fn verify_params(cx: &mut Verifier<'_>) {
    let kernel = cx.kernel;
    let tensors = kernel.params.iter().filter(|param| matches!(param, Param::Tensor(_))).count();
    let distinct = kernel
        .params
        .iter()
        .enumerate()
        .all(|(position, param)| !kernel.params[..position].contains(param));
    let complete =
        tensors == kernel.tensors.len() && kernel.params.len() - tensors == kernel.scalars.len();
    cx.require(distinct && complete, || "the signature names a parameter twice or not".to_owned());
    for (id, tensor) in kernel.tensors.iter() {
        verify_rank(cx, &id.to_string(), tensor.extents.len());
        let may_be_written = tensor.space == TensorSpace::Global || !tensor.mutable;
        cx.require(may_be_written, || format!("{id} is mutable in constant memory"));
        for extent in &tensor.extents {
            verify_extent(cx, *extent, "an extent of a tensor", is_dim_or_tile_param);
        }
        if let Edge::Pad(value) = tensor.edge {
            cx.require_type(value, Type::Scalar(tensor.elem), "a pad value");
            verify_mentions(cx, value, "a pad value", |_| false);
        }
    }
    for (id, scalar) in kernel.scalars.iter() {
        let var = cx.var(scalar.var);
        let fits = var.kind == VarKind::Scalar(id) && var.ty == Type::Scalar(scalar.elem);
        cx.require(fits, || format!("{id} and its variable {} do not agree", scalar.var));
    }
}

fn verify_rank(cx: &mut Verifier<'_>, array: &str, rank: usize) {
    cx.require((1..=MAX_RANK).contains(&rank), || format!("{array} has {rank} axes"));
}

fn verify_tile_params(cx: &mut Verifier<'_>) {
    for (id, param) in cx.kernel.tile_params.iter() {
        let fits = cx.var(param.var).kind == VarKind::TileParam(id);
        cx.require(fits, || format!("{id} and its variable {} do not agree", param.var));
        let good = match &param.domain {
            TileDomain::Any => true,
            TileDomain::Range { min, max, step } => 1 <= *min && min <= max && 1 <= *step,
            TileDomain::Pow2 { min, max } => {
                min.is_power_of_two() && max.is_power_of_two() && min <= max
            }
            TileDomain::List(values) => {
                values.first().is_some_and(|first| *first >= 1) && values.is_sorted_by(|a, b| a < b)
            }
            TileDomain::Equal(value) => {
                cx.require_type(*value, Type::Index, "the size of a tile parameter");
                verify_mentions(
                    cx,
                    *value,
                    "the size of a tile parameter",
                    |kind| matches!(kind, VarKind::TileParam(other) if is_before(other, id)),
                );
                true
            }
        };
        cx.require(good, || format!("{id} has a domain without sense"));
    }
}

fn is_before(a: TileParamId, b: TileParamId) -> bool {
    a.index() < b.index()
}

/// Variables that a table owns are owned once; all but values are indices.
fn verify_vars(cx: &mut Verifier<'_>) {
    let kernel = cx.kernel;
    for (id, var) in kernel.vars.iter() {
        let owners = match var.kind {
            VarKind::Dim => Some(count_plain(cx, id).min(1)),
            VarKind::TileParam(param) => Some(usize::from(kernel.tile_params[param].var == id)),
            VarKind::Scalar(scalar) => Some(usize::from(kernel.scalars[scalar].var == id)),
            VarKind::Grid => Some(kernel.grid.iter().filter(|axis| axis.var == id).count()),
            VarKind::Block => {
                Some(kernel.block.iter().flatten().filter(|axis| axis.var == id).count())
            }
            VarKind::Each | VarKind::Loop | VarKind::Let { .. } => None,
        };
        cx.require(owners.is_none_or(|owners| owners == 1), || {
            format!("{id} has another number of declarations than one")
        });
        let is_value = matches!(var.kind, VarKind::Scalar(_) | VarKind::Let { .. });
        cx.require(is_value || var.ty == Type::Index, || format!("{id} is no index"));
        let may_accumulate = matches!(var.kind, VarKind::Let { .. }) || !var.accumulator;
        cx.require(may_accumulate, || format!("{id} is an accumulator, and no `let`"));
    }
}

/// How often a dimension stands plain among the tensors' extents.
fn count_plain(cx: &Verifier<'_>, dim: VarId) -> usize {
    let arrays = cx.kernel.tensors.ids().map(ArrayRef::Tensor);
    let extents = arrays.flat_map(|array| cx.kernel.extents(array));
    extents.filter(|extent| cx.expr(**extent).kind == ExprKind::Var(dim)).count()
}

fn verify_extent(cx: &mut Verifier<'_>, id: ExprId, what: &str, allowed: fn(VarKind) -> bool) {
    cx.require_type(id, Type::Index, what);
    verify_mentions(cx, id, what, allowed);
}

/// Reports variables that `what` may not name, and reads.
fn verify_mentions(
    cx: &mut Verifier<'_>,
    id: ExprId,
    what: &str,
    allowed: impl Fn(VarKind) -> bool,
) {
    let (vars, reads) = mentions(cx.kernel, id);
    cx.require(!reads, || format!("{id}, {what}, reads an array"));
    for var in vars {
        let fits = allowed(cx.var(var).kind);
        cx.require(fits, || format!("{id}, {what}, names {var}"));
    }
}

fn is_tile_param(kind: VarKind) -> bool {
    matches!(kind, VarKind::TileParam(_))
}

fn is_dim_or_tile_param(kind: VarKind) -> bool {
    matches!(kind, VarKind::TileParam(_) | VarKind::Dim)
}
