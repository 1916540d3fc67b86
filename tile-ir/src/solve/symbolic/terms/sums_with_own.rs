//! Sums that have a work-item's own number in them, less that number.
//!
//! ```text
//! let own = s[t];
//! let mut sum = own;
//! for d in doubling(32) { let o = shuffle_up(sum, d); if t >= d { sum += o; } }
//! s[t] = sum - own;
//! ```
//!
//! `sum` begins as `own`, and nothing is done to it but that numbers are added which are not
//! negative. So it is no less than `own` wherever both are known: `own` never changes, and stands
//! before `sum`. The same is so of what a `scan_sum` or `reduce_sum` of `own` gives, in which all
//! others are not negative either.

use crate::exchange::{ExchangeOp, Reduction};
use crate::kernel::{ExprId, ExprKind, Kernel, Place, StmtKind, VarId, VarKind, any_stmt};
use crate::op::BinaryOp;

/// Whether a variable is a sum that has another one in it, and otherwise numbers that `is_natural`
/// says are not negative.
pub(super) fn has_in_it(
    kernel: &Kernel,
    (sum, own): (ExprId, ExprId),
    is_natural: &dyn Fn(ExprId) -> bool,
) -> bool {
    let (ExprKind::Var(sum), ExprKind::Var(own)) =
        (&kernel.exprs[sum].kind, &kernel.exprs[own].kind)
    else {
        return false;
    };
    let is_fixed = kernel.vars[*own].kind == VarKind::Let { mutable: false };
    is_fixed && begins_as(kernel, *sum, *own, is_natural) && only_rises(kernel, *sum, is_natural)
}

/// Whether a variable is declared as another one, or as a sum of all work-items' ones.
fn begins_as(kernel: &Kernel, sum: VarId, own: VarId, is_natural: &dyn Fn(ExprId) -> bool) -> bool {
    let is_own = |value: ExprId| kernel.exprs[value].kind == ExprKind::Var(own);
    any_stmt(&kernel.body, &mut |kind| match kind {
        StmtKind::Let { var, init: Some(init) } => *var == sum && is_own(*init),
        StmtKind::Exchange { var, op, value, .. } => {
            let adds = matches!(
                op,
                ExchangeOp::Scan { exclusive: false }
                    | ExchangeOp::Reduce(Reduction::Sum)
                    | ExchangeOp::WarpReduce(Reduction::Sum)
            );
            *var == sum && adds && is_own(*value) && is_natural(*value)
        }
        _ => false,
    })
}

/// Whether nothing is done to a variable but that naturals are added.
fn only_rises(kernel: &Kernel, sum: VarId, is_natural: &dyn Fn(ExprId) -> bool) -> bool {
    !any_stmt(&kernel.body, &mut |kind| match kind {
        StmtKind::Assign { var, .. } => *var == sum,
        StmtKind::Update { place: Place::Var(var), op, value } => {
            *var == sum && !(*op == BinaryOp::Add && is_natural(*value))
        }
        StmtKind::Atomic { old, .. } => *old == Some(sum),
        _ => false,
    })
}
