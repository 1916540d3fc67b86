//! What the work-items of a warp agree on, computed for each work-item of a block.
//!
//! With the block `(ty in 16, tx in 16)` all of a warp have one value of `ty < 2` and of
//! `(ty * 16 + tx) / 32`, though no axis is the same for a warp. Where the axes of the
//! block and tile parameters of few values decide a value, it is computed at every size.

use std::collections::BTreeMap;

use crate::check::points::{Computed, points};
use crate::config::block_extents;
use crate::exchange::WARP_ITEMS;
use crate::kernel::{ExprId, Kernel, VarId};

/// Most work-items, of all sizes together, for which an expression is computed.
const MAX_POINTS: u64 = 1 << 14;

/// Whether an expression has one value for each warp, at every admissible size.
pub(super) fn agree(kernel: &Kernel, lets: &BTreeMap<VarId, ExprId>, expr: ExprId) -> bool {
    let axes = kernel.block.as_deref().unwrap_or_default();
    let is_axis = |var| axes.iter().any(|axis| axis.var == var);
    let exprs = [expr];
    let Some(value) = Computed::of(kernel, lets, &exprs, &is_axis) else { return false };
    let extents: Vec<ExprId> = axes.iter().map(|axis| axis.extent).collect();
    let Some(all) = value.sizes(&extents) else { return false };
    let mut left = MAX_POINTS;
    all.iter().all(|tiles| {
        let extents = block_extents(kernel, tiles).into_iter().map(u64::from);
        let axes: Vec<(VarId, u64)> = axes.iter().map(|axis| axis.var).zip(extents).collect();
        let items = axes.iter().map(|(_, extent)| *extent).product::<u64>();
        let is_affordable = items <= left;
        left = left.saturating_sub(items);
        is_affordable && agree_at(&value, tiles, &axes)
    })
}

/// Whether the work-items of each warp agree at these sizes.
fn agree_at(value: &Computed<'_>, tiles: &[u32], axes: &[(VarId, u64)]) -> bool {
    let mut of_warp = None;
    points(axes).enumerate().all(|(item, point)| {
        let Some(value) = value.at(tiles, &point) else { return false };
        if item % WARP_ITEMS as usize == 0 {
            of_warp = Some(value.clone());
        }
        of_warp == Some(value)
    })
}
