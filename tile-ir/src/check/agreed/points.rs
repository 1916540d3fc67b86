//! What work-items agree on, computed for each of a block: where the axes of block and
//! grid and tile parameters of few values decide it.

use std::collections::BTreeMap;

use super::{Parting, asked};
use crate::check::points::{Computed, points};
use crate::config::{block_extents, tile_value};
use crate::kernel::{
    ExprId, ExprKind, Kernel, TileDomain, VarId, VarKind, any_subexpr, ceil_div, eval_index,
    immutable_lets,
};

/// Most work-items, of all blocks and sizes together, for which something is computed.
const MAX_POINTS: u64 = 1 << 15;

/// Whether in each block, at every admissible size, all work-items find one answer, or run
/// as many rounds.
pub(super) fn agree(kernel: &Kernel, parting: Parting) -> bool {
    let Some(exprs) = asked(&kernel.body, parting) else { return false };
    let is_loop = matches!(parting, Parting::For(_));
    let lets = immutable_lets(&kernel.body, kernel);
    let block = kernel.block.as_deref().unwrap_or_default();
    let is_point = |var| block.iter().chain(&kernel.grid).any(|axis| axis.var == var);
    let Some(computed) = Computed::of(kernel, &lets, &exprs, &is_point) else { return false };
    let blocks = kernel.grid.iter().filter(|axis| names(kernel, &lets, &exprs, axis.var));
    let blocks: Vec<(VarId, ExprId)> = blocks.map(|axis| (axis.var, axis.extent)).collect();
    let items = block.iter().map(|axis| axis.extent);
    let extents: Vec<ExprId> = blocks.iter().map(|(_, extent)| *extent).chain(items).collect();
    if !extents.iter().all(|extent| is_listed(kernel, *extent)) {
        return false;
    }
    let Some(sizes) = computed.sizes(&extents) else { return false };
    let mut left = MAX_POINTS;
    sizes.iter().all(|tiles| {
        let extent = |(var, extent): &(VarId, ExprId)| {
            let value = eval_index(kernel, *extent, &|var| tile_value(kernel, tiles, var))?;
            Some((*var, u64::try_from(value).ok()?))
        };
        let Some(blocks) = blocks.iter().map(extent).collect::<Option<Vec<_>>>() else {
            return false;
        };
        let extents = block_extents(kernel, tiles).into_iter().map(u64::from);
        let items: Vec<(VarId, u64)> = block.iter().map(|axis| axis.var).zip(extents).collect();
        let count = blocks.iter().chain(&items).try_fold(1u64, |n, (_, by)| n.checked_mul(*by));
        let is_affordable = count.is_some_and(|count| count <= left);
        left = left.saturating_sub(count.unwrap_or(left));
        is_affordable && points(&blocks).all(|at| agree_in(&computed, (tiles, at), &items, is_loop))
    })
}

/// Whether the work-items of one block agree.
fn agree_in(
    computed: &Computed<'_>,
    (tiles, at): (&[u32], BTreeMap<VarId, i128>),
    items: &[(VarId, u64)],
    is_loop: bool,
) -> bool {
    let mut common = None;
    points(items).all(|mut point| {
        point.extend(&at);
        let Some(values) = computed.at(tiles, &point) else { return false };
        let answer = match (is_loop, values.as_slice()) {
            (false, [cond]) => *cond,
            (true, [start, end]) => (end - start).max(0),
            (true, [start, end, step]) => ceil_div(end - start, *step),
            _ => return false,
        };
        *common.get_or_insert(answer) == answer
    })
}

/// Whether expressions rest on a variable.
fn names(kernel: &Kernel, lets: &BTreeMap<VarId, ExprId>, exprs: &[ExprId], var: VarId) -> bool {
    exprs.iter().any(|expr| {
        any_subexpr(kernel, *expr, &mut |kind| match kind {
            ExprKind::Var(own) => {
                *own == var || lets.get(own).is_some_and(|init| names(kernel, lets, &[*init], var))
            }
            _ => false,
        })
    })
}

/// Whether tile parameters whose values are few, and literals, are all that it is made of.
fn is_listed(kernel: &Kernel, extent: ExprId) -> bool {
    !any_subexpr(kernel, extent, &mut |kind| match kind {
        ExprKind::Var(var) => match kernel.vars[*var].kind {
            VarKind::TileParam(param) => {
                matches!(kernel.tile_params[param].domain, TileDomain::Any)
            }
            _ => true,
        },
        ExprKind::Load(_) | ExprKind::Math { .. } | ExprKind::InBounds { .. } => true,
        _ => false,
    })
}
