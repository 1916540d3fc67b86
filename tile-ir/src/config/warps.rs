//! Kernels in which the work-items of a warp do something together: a warp's
//! items must be a warp's threads, so each thread takes one item, in order.

use super::{AxisItems, tile_value};
use crate::exchange::Group;
use crate::kernel::{Kernel, Stmt, StmtKind, any_stmt, eval_index};

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

fn concerns_warps(stmts: &[Stmt]) -> bool {
    any_stmt(stmts, &mut |kind| match kind {
        StmtKind::WarpBarrier => true,
        StmtKind::Exchange { op, .. } => op.group() == Group::Warp,
        StmtKind::Let { .. }
        | StmtKind::LetArray { .. }
        | StmtKind::Assign { .. }
        | StmtKind::Store { .. }
        | StmtKind::Update { .. }
        | StmtKind::Atomic { .. }
        | StmtKind::Each { .. }
        | StmtKind::Phase { .. }
        | StmtKind::For { .. }
        | StmtKind::While { .. }
        | StmtKind::If { .. }
        | StmtKind::Assume { .. }
        | StmtKind::Barrier => false,
    })
}
