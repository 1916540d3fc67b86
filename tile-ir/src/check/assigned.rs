//! The variables that statements assign.

use crate::kernel::{Place, Stmt, StmtKind, VarId};

/// The variables that statements assign, at any depth.
pub(crate) fn assigned_in(stmts: &[Stmt]) -> Vec<VarId> {
    let mut out = Vec::new();
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Assign { var, .. } | StmtKind::Update { place: Place::Var(var), .. } => {
                out.push(*var);
            }
            StmtKind::Let { .. }
            | StmtKind::LetArray { .. }
            | StmtKind::Store { .. }
            | StmtKind::Atomic { .. }
            | StmtKind::Update { place: Place::Element(_), .. }
            | StmtKind::Each { .. }
            | StmtKind::Phase { .. }
            | StmtKind::For { .. }
            | StmtKind::Exchange { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Distinct { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => {}
        }
        for body in stmt.kind.bodies() {
            out.extend(assigned_in(body));
        }
    }
    out
}
