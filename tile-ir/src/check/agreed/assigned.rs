//! What statements set variables to, and the variables that values rest on by way of that.

use std::collections::BTreeSet;

use crate::kernel::{ExprId, ExprKind, Kernel, Place, Stmt, StmtKind, VarId};

/// Variables with what they are set to, each as often as it is.
#[derive(Default)]
pub(super) struct Assigned(Vec<(VarId, ExprId)>);

impl Assigned {
    /// Adds what statements set.
    pub(super) fn add(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt.kind {
                StmtKind::Assign { var, value }
                | StmtKind::Update { place: Place::Var(var), value, .. }
                | StmtKind::Let { var, init: Some(value) } => self.0.push((var, value)),
                StmtKind::Let { init: None, .. }
                | StmtKind::LetArray { .. }
                | StmtKind::Store { .. }
                | StmtKind::Update { place: Place::Element(_), .. }
                | StmtKind::Atomic { .. }
                | StmtKind::Exchange { .. }
                | StmtKind::Each { .. }
                | StmtKind::Phase { .. }
                | StmtKind::For { .. }
                | StmtKind::While { .. }
                | StmtKind::If { .. }
                | StmtKind::Assume { .. }
                | StmtKind::Distinct { .. }
                | StmtKind::Barrier
                | StmtKind::WarpBarrier => {}
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.add(body));
        }
    }

    /// Whether a variable is set.
    pub(super) fn has(&self, var: VarId) -> bool {
        self.0.iter().any(|(own, _)| *own == var)
    }

    /// What these variables are set to.
    pub(super) fn values_of(&self, vars: &BTreeSet<VarId>) -> Vec<ExprId> {
        let of_them = self.0.iter().filter(|(var, _)| vars.contains(var));
        of_them.map(|(_, value)| *value).collect()
    }

    /// The variables that expressions rest on, by way of what is set here too.
    pub(super) fn behind(&self, kernel: &Kernel, exprs: &[ExprId]) -> BTreeSet<VarId> {
        let (mut seen, mut open) = (BTreeSet::new(), exprs.to_vec());
        while let Some(expr) = open.pop() {
            let kind = &kernel.exprs[expr].kind;
            open.extend(kind.operands());
            if let ExprKind::Var(var) = *kind
                && seen.insert(var)
            {
                open.extend(self.0.iter().filter(|(own, _)| *own == var).map(|(_, value)| *value));
            }
        }
        seen
    }
}
