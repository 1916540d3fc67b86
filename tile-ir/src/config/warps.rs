//! Kernels in which the work-items of a warp do something together: a warp's
//! items must be a warp's threads, so each thread takes one item, in order.

use super::{AxisItems, tile_value};
use crate::kernel::{Kernel, concerns_warps, eval_index};

/// The only layout of the block domain that such a kernel has; `None` of other
/// kernels.
pub(super) fn warp_layout(kernel: &Kernel, tiles: &[u32]) -> Option<Vec<AxisItems>> {
    if !concerns_warps(&kernel.body) {
        return None;
    }
    let items = kernel.block.iter().flatten().map(|axis| {
        let extent = eval_index(kernel, axis.extent, &|var| tile_value(kernel, tiles, var));
        AxisItems::strided(extent.and_then(|extent| u32::try_from(extent).ok()).unwrap_or(1).max(1))
    });
    Some(items.collect())
}
