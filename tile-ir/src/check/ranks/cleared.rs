//! Tiles that are cleared before work-items count in them.
//!
//! ```text
//! h[t] = 0; barrier; atomic h[d] += 1;
//! for q in (t..256).step_by(64) { h[q] = 0; }
//! ```
//!
//! Where the statements before the count are all that the kernel has run, and store nothing but 0
//! in the tile, it holds nothing else: that it is written at all before it is counted in is asked
//! of each kernel. In a loop, what the round before has left must be cleared: so the last statement
//! before the count that writes in the tile clears all of it, be it that each work-item clears the
//! cell of its number, and there are as many, or that they go over the cells in strides.

use crate::check::interval::literal;
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, LoopRange, Stmt, StmtKind, VarId, any_stmt,
};

/// Whether all cells of an array that are written at all hold 0 behind statements and a barrier.
/// `is_all`: the kernel begins with them.
pub(super) fn begins_with_none(
    (kernel, is_all): (&Kernel, bool),
    stmts: &[Stmt],
    array: ArrayRef,
) -> bool {
    let clears = |kind: &StmtKind| match kind {
        StmtKind::Store { value, .. } => literal(kernel, *value) == Some(0),
        _ => false,
    };
    let is_other = &mut |kind: &StmtKind| kind.written() == Some(array) && !clears(kind);
    let is_cleared_once = is_all && !any_stmt(stmts, is_other);
    let writes = |stmt: &&Stmt| {
        any_stmt(std::slice::from_ref(*stmt), &mut |kind| kind.written() == Some(array))
    };
    is_cleared_once
        || stmts.iter().rev().find(writes).is_some_and(|stmt| clears_all(kernel, stmt, array))
}

/// Whether the work-items of a block clear an array by a statement.
fn clears_all(kernel: &Kernel, stmt: &Stmt, array: ArrayRef) -> bool {
    let (Some([axis]), [extent]) = (kernel.block.as_deref(), kernel.extents(array)) else {
        return false;
    };
    let is_var = |expr: ExprId, var: VarId| kernel.exprs[expr].kind == ExprKind::Var(var);
    let clears = |stmt: &Stmt, var: VarId| match &stmt.kind {
        StmtKind::Store { access: Access { array: of, indices, .. }, value } => {
            *of == array
                && indices.iter().all(|index| is_var(*index, var))
                && literal(kernel, *value) == Some(0)
        }
        _ => false,
    };
    match &stmt.kind {
        StmtKind::Store { .. } => clears(stmt, axis.var) && kernel.is_same(*extent, axis.extent),
        StmtKind::For {
            var,
            range: LoopRange::Between { start, end, step: Some(step), .. },
            body,
        } => {
            is_var(*start, axis.var)
                && kernel.is_same(*end, *extent)
                && kernel.is_same(*step, axis.extent)
                && body.len() == 1
                && clears(&body[0], *var)
        }
        _ => false,
    }
}
