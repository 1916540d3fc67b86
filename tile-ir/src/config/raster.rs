//! The order in which a launch's blocks run, from what they read.

use crate::kernel::{Access, ArrayRef, ExprId, ExprKind, Kernel, StmtKind, VarId, any_stmt};

/// Bands of the grid that share operands in L2.
const RASTER_ROWS: u32 = 8;
/// Bands of a grid whose blocks read and write apart. Blocks below each other write to
/// neighbouring parts of the same rows, and the L2 cache puts their sectors together:
/// transposes of 8191 x 8193 f16 on an H200 take 0.93 of the time that they take in bands
/// of 16.
const WIDE_RASTER_ROWS: u32 = 64;

/// Rows of blocks per band of the grid.
pub(super) fn raster_rows(kernel: &Kernel) -> u32 {
    match kernel.grid.len() {
        0 | 1 => 1,
        _ if blocks_share_operands(kernel) => RASTER_ROWS,
        _ => WIDE_RASTER_ROWS,
    }
}

/// Whether several blocks read the same elements: an access to a tensor does not
/// depend on one of the grid's coordinates.
fn blocks_share_operands(kernel: &Kernel) -> bool {
    let is_shared = |access: &Access| {
        let mut named = Vec::new();
        access.indices.iter().for_each(|&index| vars_behind(kernel, index, &mut named));
        matches!(access.array, ArrayRef::Tensor(_))
            && kernel.grid.iter().any(|axis| !named.contains(&axis.var))
    };
    kernel.exprs.values().any(|expr| match &expr.kind {
        ExprKind::Load(access) => is_shared(access),
        _ => false,
    })
}

/// The variables that an expression is computed of, through `let`s.
fn vars_behind(kernel: &Kernel, id: ExprId, found: &mut Vec<VarId>) {
    if let ExprKind::Var(var) = kernel.exprs[id].kind
        && !found.contains(&var)
    {
        found.push(var);
        any_stmt(&kernel.body, &mut |kind| {
            if let StmtKind::Let { var: declared, init: Some(init) } = kind
                && *declared == var
            {
                vars_behind(kernel, *init, found);
            }
            false
        });
    }
    let operands = kernel.exprs[id].kind.operands();
    operands.into_iter().for_each(|operand| vars_behind(kernel, operand, found));
}
