//! Statements that count alike for all items, and need not be gone through for each.

use super::Detail;
use super::machine::Machine;
use crate::arena::EntityId as _;
use crate::program::{ExprId, ExprKind, Stmt, StmtKind};

impl Machine<'_> {
    /// Whether nothing that is counted in statements depends on the item.
    pub(super) fn is_plain(&self, body: &[Stmt], first: usize) -> bool {
        let n = self.n_stmts(body, first);
        let places = &self.plan.places[first..first + n];
        let quiet = places.iter().all(|place| {
            place.branch.is_none() && place.sites.values().all(|&site| self.is_steady_site(site))
        });
        quiet
            && body.iter().all(|stmt| match &stmt.kind {
                StmtKind::Store { access, value } => {
                    self.are_steady(&access.indices) && self.is_steady(*value)
                }
                StmtKind::Copy { dst, src, .. } => {
                    self.are_steady(&dst.indices) && self.are_steady(&src.indices)
                }
                StmtKind::Let { var, value } => {
                    !self.plan.is_needed(*var) && value.is_none_or(|value| self.is_steady(value))
                }
                StmtKind::Assign { var, value } => {
                    !self.plan.is_needed(*var) && self.is_steady(*value)
                }
                StmtKind::SetFragment { fragment, value } => {
                    !self.plan.is_needed_fragment(*fragment) && self.is_steady(*value)
                }
                StmtKind::Atomic { .. }
                | StmtKind::Items { .. }
                | StmtKind::For { .. }
                | StmtKind::While { .. }
                | StmtKind::If { .. }
                | StmtKind::Commit(_)
                | StmtKind::Wait { .. }
                | StmtKind::Assume(_)
                | StmtKind::Barrier(_)
                | StmtKind::Shuffle { .. }
                | StmtKind::Ballot { .. }
                | StmtKind::WarpBarrier => false,
            })
    }

    /// Whether an access counts alike for all items.
    fn is_steady_site(&self, site: usize) -> bool {
        let access = self.plan.sites[site].access;
        match self.detail {
            Detail::All => false,
            Detail::Elems | Detail::Strides => !access.is_guarded() && self.is_looked_at[site],
            Detail::Of(_) | Detail::In(_) | Detail::NoAccesses => {
                self.detail.leaves_out(self.plan.kernel, access.target)
            }
        }
    }

    fn are_steady(&self, exprs: &[ExprId]) -> bool {
        exprs.iter().all(|&expr| self.is_steady(expr))
    }

    /// Whether as much of an expression is counted in whatever lanes it runs.
    fn is_steady(&self, expr: ExprId) -> bool {
        if !self.plan.counted[expr.index()] {
            return true;
        }
        let kind = &self.plan.kernel.exprs[expr].kind;
        let mut steady = !matches!(kind, ExprKind::Select { .. } | ExprKind::Logic { .. });
        kind.for_each_operand(&mut |operand| steady = steady && self.is_steady(operand));
        steady
    }
}
