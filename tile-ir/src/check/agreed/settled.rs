//! Conditions that hold for everybody who comes by, or for nobody.
//!
//! ```text
//! for i in 0..2 + t { …; if t >= 4 { barrier; } }     // in a block of 4
//! if t < n { if t >= 8 { return; } … }                // in a block of 8
//! ```
//!
//! Whoever comes by, and however often: what is not run is left out, and what is run stands
//! under no condition. So it does not matter whether all come by together.

use super::super::fold::Folds;
use super::first::each_stmt;
use super::question::{Rest, only_answer};
use crate::kernel::{Expr, ExprId, ExprKind, Kernel, Literal, Stmt, StmtKind};

/// The kernel in which the condition of an `if` is what it always is, and on what that
/// rests.
pub(super) fn settled(kernel: &Kernel, cond: ExprId) -> Option<(Kernel, Rest)> {
    let (holds, rest) = only_answer(kernel, cond)?;
    let mut next = kernel.clone();
    let Expr { ty, span, .. } = next.exprs[cond];
    let kind = ExprKind::Literal(Literal::Bool(holds));
    let always = next.exprs.push(Expr { kind, ty, span });
    let mut body = std::mem::take(&mut next.body);
    each_stmt(&mut body, &mut |stmt| {
        if let StmtKind::If { cond: own, then, otherwise } = &mut stmt.kind
            && *own == cond
        {
            *own = always;
            if holds { otherwise.clear() } else { then.clear() }
        }
    });
    next.body = body;
    Some((next, rest))
}

/// Leaves out meetings that the sizes let nobody come to. Whether there was one.
pub(super) fn leave_out(kernel: &mut Kernel) -> bool {
    let folds = Folds::of(kernel);
    let mut is_changed = false;
    each_stmt(&mut kernel.body, &mut |stmt| {
        let StmtKind::If { cond, then, otherwise } = &mut stmt.kind else { return };
        let Some(holds) = folds.get(*cond) else { return };
        let dead = if holds { otherwise } else { then };
        if dead.iter().any(Stmt::has_meeting) {
            dead.clear();
            is_changed = true;
        }
    });
    is_changed
}
