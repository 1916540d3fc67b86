//! Conditions that hold for everybody who comes by, or for nobody.
//!
//! ```text
//! for i in 0..2 + t { …; if t >= 4 { barrier; } }     // in a block of 4
//! if t < n { if t >= 8 { return; } … }                // in a block of 8
//! ```
//!
//! Whoever comes by, and however often: what is not run is left out, and what is run stands
//! under no condition. So it does not matter whether all come by together.

use super::first::each_stmt;
use super::question::{Rest, only_answer};
use crate::kernel::{Expr, ExprId, ExprKind, Kernel, Literal, StmtKind};

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
