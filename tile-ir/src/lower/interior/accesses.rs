//! What items touch, and what their text asks of places.

use std::collections::BTreeMap;

use crate::op::CompareOp;
use crate::program::{Access, BufferId, ExprId, ExprKind, ProgramKernel, Stmt, StmtKind};

/// The accesses of some statements.
#[derive(Default)]
pub(super) struct Accesses {
    /// Those of expressions, in the order of their ids.
    pub(super) loads: BTreeMap<ExprId, Access>,
    /// Those of statements.
    others: Vec<Access>,
    /// What is asked of indices: whether they are inside of a buffer.
    pub(super) conditions: BTreeMap<ExprId, (BufferId, Vec<ExprId>)>,
    /// Comparisons of indices, `<` or `<=`, the smaller side first.
    pub(super) comparisons: BTreeMap<ExprId, (CompareOp, ExprId, ExprId)>,
}

impl Accesses {
    pub(super) fn of(kernel: &ProgramKernel, body: &[Stmt]) -> Self {
        let mut found = Self::default();
        found.collect(kernel, body);
        found
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Access> {
        self.loads.values().chain(&self.others)
    }

    fn collect(&mut self, kernel: &ProgramKernel, body: &[Stmt]) {
        for stmt in body {
            stmt.kind.for_each_expr(&mut |expr| self.loads_in(kernel, expr));
            match &stmt.kind {
                StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => {
                    self.others.push(access.clone());
                }
                StmtKind::Copy { dst, src, .. } => {
                    self.others.extend([dst.clone(), src.clone()]);
                }
                kind => kind.bodies().into_iter().for_each(|body| self.collect(kernel, body)),
            }
        }
    }

    fn loads_in(&mut self, kernel: &ProgramKernel, expr: ExprId) {
        let kind = &kernel.exprs[expr].kind;
        match kind {
            ExprKind::Load(access) => {
                self.loads.insert(expr, access.clone());
                // What stands for an element that is outside is read at the edges alone.
                let places = access.slot.iter().chain(&access.indices);
                places.for_each(|&index| self.loads_in(kernel, index));
                return;
            }
            ExprKind::InBounds { buffer, indices } => {
                self.conditions.insert(expr, (*buffer, indices.clone()));
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let comparison = match op {
                    CompareOp::Lt | CompareOp::Le => (*op, *lhs, *rhs),
                    CompareOp::Gt => (CompareOp::Lt, *rhs, *lhs),
                    CompareOp::Ge => (CompareOp::Le, *rhs, *lhs),
                    CompareOp::Eq | CompareOp::Ne => return,
                };
                self.comparisons.insert(expr, comparison);
            }
            _ => {}
        }
        kind.for_each_operand(&mut |operand| self.loads_in(kernel, operand));
    }
}
