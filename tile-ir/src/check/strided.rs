//! Loops that share work out by hand: `while i < n { …; i += s; }`.

use super::assigned::assigned_in;
use crate::kernel::{ExprId, ExprKind, Kernel, Place, Stmt, StmtKind, VarId};
use crate::op::{BinaryOp, CompareOp};

/// A loop that is left where its counter reaches its end, and steps at its end alone.
pub(super) struct Strided<'a> {
    /// The counter.
    pub(super) var: VarId,
    /// Where it is asked for: its value, and what that is below.
    pub(super) bounds: (ExprId, ExprId),
    /// How far it goes.
    pub(super) step: ExprId,
    /// What is done before it goes on.
    pub(super) body: &'a [Stmt],
}

impl<'a> Strided<'a> {
    /// Reads a `while` loop of such a form.
    pub(super) fn of(kernel: &Kernel, cond: ExprId, body: &'a [Stmt]) -> Option<Self> {
        let ExprKind::Compare { op: CompareOp::Lt, lhs, rhs } = kernel.exprs[cond].kind else {
            return None;
        };
        let ExprKind::Var(var) = kernel.exprs[lhs].kind else { return None };
        let (last, body) = body.split_last()?;
        let step = step(kernel, last, var)?;
        (!assigned_in(body).contains(&var)).then_some(Self { var, bounds: (lhs, rhs), step, body })
    }
}

/// By how much a statement increases a variable.
fn step(kernel: &Kernel, stmt: &Stmt, var: VarId) -> Option<ExprId> {
    match stmt.kind {
        StmtKind::Update { place: Place::Var(own), op: BinaryOp::Add, value } if own == var => {
            Some(value)
        }
        StmtKind::Assign { var: own, value } if own == var => {
            let ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } = kernel.exprs[value].kind else {
                return None;
            };
            let is_var = |expr: ExprId| kernel.exprs[expr].kind == ExprKind::Var(var);
            match (is_var(lhs), is_var(rhs)) {
                (true, false) => Some(rhs),
                (false, true) => Some(lhs),
                (true, true) | (false, false) => None,
            }
        }
        _ => None,
    }
}
