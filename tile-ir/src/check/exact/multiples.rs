//! Multiples of a divisor: what is divided by a number and multiplied by it again.
//!
//! `a / p * p` lies between 0 and `a`, whatever `p` is: division rounds towards 0, and by 0 it
//! gives 0. `tiles(a, p) * p` is below `a + p` where `a` is above 0, and 0 elsewhere. So a
//! multiple goes no further than that, though the quotient goes as far as `a`, and `p` may be as
//! large as its type.

use super::sources::Sources;
use crate::check::interval::Range;
use crate::kernel::{ExprId, ExprKind, Kernel, VarKind};
use crate::op::BinaryOp;

/// How far a product goes of which one factor is a quotient by the other; `None` of others, and
/// where it is not known how far the parts go.
pub(super) fn multiple(
    kernel: &Kernel,
    sources: &Sources,
    expr: ExprId,
    of: &dyn Fn(ExprId) -> Option<Range>,
) -> Option<Range> {
    let ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } = kernel.exprs[expr].kind else {
        return None;
    };
    let is_divisor =
        |one: ExprId, other: ExprId| kernel.is_same(one, other) && is_fixed(kernel, one);
    [(lhs, rhs), (rhs, lhs)].into_iter().find_map(|(quotient, factor)| {
        match kernel.exprs[meant(kernel, sources, quotient)].kind {
            ExprKind::Binary { op: BinaryOp::Div, lhs, rhs } if is_divisor(rhs, factor) => {
                let (low, high) = of(lhs)?;
                Some((low.min(0), high.max(0)))
            }
            ExprKind::Tiles { extent, tile } if is_divisor(tile, factor) => {
                let most = of(extent)?.1.max(0).saturating_add(of(tile)?.1.max(0));
                Some((0, most))
            }
            _ => None,
        }
    })
}

/// What a name stands for that is given once.
pub(super) fn meant(kernel: &Kernel, sources: &Sources, expr: ExprId) -> ExprId {
    match kernel.exprs[expr].kind {
        ExprKind::Var(var) => sources.lets.get(&var).copied().unwrap_or(expr),
        _ => expr,
    }
}

/// Whether a number is the same wherever it is written within the scope of its names: nothing in
/// it is read or assigned again.
pub(super) fn is_fixed(kernel: &Kernel, expr: ExprId) -> bool {
    match &kernel.exprs[expr].kind {
        ExprKind::Var(var) => kernel.vars[*var].kind != VarKind::Let { mutable: true },
        ExprKind::Load(_) => false,
        kind => kind.operands().iter().all(|part| is_fixed(kernel, *part)),
    }
}
