//! What statements write, and what they read.

use std::collections::BTreeSet;

use crate::program::{ExprId, ExprKind, FragmentId, ProgramKernel, Stmt, StmtKind, Target, VarId};

/// What statements write, or what they read.
#[derive(Default)]
pub(super) struct Touched {
    pub(super) arrays: BTreeSet<Target>,
    pub(super) vars: BTreeSet<VarId>,
    pub(super) fragments: BTreeSet<FragmentId>,
    pub(super) orders_memory: bool,
}

impl Touched {
    /// What statements write.
    pub(super) fn of(stmts: &[Stmt]) -> Self {
        let mut touched = Self::default();
        touched.writes_of(stmts);
        touched
    }

    fn writes_of(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let { var, .. }
                | StmtKind::Assign { var, .. }
                | StmtKind::Shuffle { var, .. }
                | StmtKind::Ballot { var, .. }
                | StmtKind::For { var, .. } => self.vars.extend([*var]),
                StmtKind::SetFragment { fragment, .. } => self.fragments.extend([*fragment]),
                StmtKind::Atomic { access, old, .. } => {
                    self.arrays.insert(access.target);
                    self.vars.extend(old);
                }
                StmtKind::Store { access, .. } | StmtKind::Copy { dst: access, .. } => {
                    self.arrays.insert(access.target);
                }
                StmtKind::Commit(_)
                | StmtKind::Wait { .. }
                | StmtKind::Barrier(_)
                | StmtKind::WarpBarrier => {
                    self.orders_memory = true;
                }
                StmtKind::Items { .. }
                | StmtKind::While { .. }
                | StmtKind::If { .. }
                | StmtKind::Assume(_) => {}
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.writes_of(body));
        }
    }

    /// Adds what a statement reads.
    pub(super) fn reads_of(&mut self, kernel: &ProgramKernel, stmt: &Stmt) {
        stmt.kind.for_each_expr(&mut |expr| self.reads_in(kernel, expr));
        for stmt in stmt.kind.bodies().into_iter().flatten() {
            self.reads_of(kernel, stmt);
        }
    }

    fn reads_in(&mut self, kernel: &ProgramKernel, expr: ExprId) {
        match &kernel.exprs[expr].kind {
            ExprKind::Load(access) => self.arrays.extend([access.target]),
            ExprKind::Var(var) => self.vars.extend([*var]),
            ExprKind::Fragment(fragment) => self.fragments.extend([*fragment]),
            _ => {}
        }
        kernel.exprs[expr].kind.for_each_operand(&mut |operand| self.reads_in(kernel, operand));
    }
}
