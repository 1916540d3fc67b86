//! Variables of which the text asks whether they are below a number of the launch.
//!
//! Of `c` that is loaded a launch says nothing. Of `i * classes + c` it does, where `c` is below
//! `classes` and not below 0, as conditions say: then the sum goes as far as it does with `classes`
//! in the place of `c`.

use std::collections::BTreeMap;

use super::sources::{Sources, Width};
use crate::check::interval::literal;
use crate::kernel::{ExprId, ExprKind, Kernel, VarId};
use crate::op::CompareOp;

/// With what each variable is compared that is set once and that no launch bounds, if a launch
/// bounds that: of several the first that is no literal.
pub(super) fn limits(kernel: &Kernel, sources: &Sources) -> BTreeMap<VarId, ExprId> {
    let mut limits: BTreeMap<VarId, ExprId> = BTreeMap::new();
    for expr in kernel.exprs.values() {
        let ExprKind::Compare { op, lhs, rhs } = expr.kind else { continue };
        if matches!(op, CompareOp::Eq | CompareOp::Ne) {
            continue;
        }
        for (of, by) in [(lhs, rhs), (rhs, lhs)] {
            let ExprKind::Var(var) = kernel.exprs[of].kind else { continue };
            if !is_open(kernel, sources, var) || !sources.is_bounded(kernel, by) {
                continue;
            }
            let limit = limits.entry(var).or_insert(by);
            if literal(kernel, *limit).is_some() {
                *limit = by;
            }
        }
    }
    limits
}

/// Whether a variable is set once, to what no launch bounds.
fn is_open(kernel: &Kernel, sources: &Sources, var: VarId) -> bool {
    let is_open = |init: &ExprId| {
        !sources.is_bounded(kernel, *init) && sources.beside(kernel, *init).is_none()
    };
    Width::of(kernel.vars[var].ty).is_some() && sources.lets.get(&var).is_some_and(is_open)
}
