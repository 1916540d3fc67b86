//! Loops of which each round brings a number nearer to their end, whatever memory holds.
//!
//! `while p >= 0 { … if found { p = -1; } else { p -= 1; } }` ends: on each way through the body
//! `p` goes down, or is set to a number at which the condition does not hold. So it is with
//! each part of a condition that `&&` joins.

use super::assigned::assigned_in;
use crate::kernel::{
    ExprId, ExprKind, Kernel, Place, Stmt, StmtKind, VarId, any_subexpr, number_in_text,
};
use crate::op::{BinaryOp, CompareOp, LogicOp};

/// Whether each round of a loop brings it nearer to its end.
pub(super) fn is_steady(kernel: &Kernel, cond: ExprId, body: &[Stmt]) -> bool {
    match kernel.exprs[cond].kind {
        ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
            is_steady(kernel, lhs, body) || is_steady(kernel, rhs, body)
        }
        ExprKind::Compare { op, lhs, rhs } => {
            [(op, lhs, rhs), (op.mirrored(), rhs, lhs)].into_iter().any(|(op, side, end)| {
                let ExprKind::Var(var) = kernel.exprs[side].kind else { return false };
                let way = Way { kernel, var, op, end };
                way.is_fixed(body) && way.does_only_so(body) && way.is_gone(body)
            })
        }
        _ => false,
    }
}

/// A variable that is compared with the end that it goes to.
struct Way<'a> {
    kernel: &'a Kernel,
    var: VarId,
    op: CompareOp,
    end: ExprId,
}

impl Way<'_> {
    /// Whether the end is one number in all rounds.
    fn is_fixed(&self, body: &[Stmt]) -> bool {
        let assigned: Vec<VarId> = assigned_in(body).into_iter().collect();
        !any_subexpr(self.kernel, self.end, &mut |kind| match kind {
            ExprKind::Load(_) => true,
            ExprKind::Var(var) => assigned.contains(var),
            _ => false,
        })
    }

    /// Whether all that is done to the variable brings it nearer to the end.
    fn does_only_so(&self, stmts: &[Stmt]) -> bool {
        stmts.iter().all(|stmt| {
            (!self.sets(stmt) || self.goes(stmt))
                && stmt.kind.bodies().into_iter().all(|body| self.does_only_so(body))
        })
    }

    /// Whether somebody who comes by some statements is sure to go nearer.
    fn is_gone(&self, stmts: &[Stmt]) -> bool {
        stmts.iter().any(|stmt| match &stmt.kind {
            StmtKind::If { then, otherwise, .. } => self.is_gone(then) && self.is_gone(otherwise),
            _ => self.goes(stmt),
        })
    }

    fn sets(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Assign { var, .. } | StmtKind::Update { place: Place::Var(var), .. } => {
                *var == self.var
            }
            StmtKind::Atomic { old, .. } => *old == Some(self.var),
            StmtKind::Exchange { var, .. } => *var == self.var,
            _ => false,
        }
    }

    /// Whether a statement brings the variable nearer to the end, or beyond it.
    fn goes(&self, stmt: &Stmt) -> bool {
        match stmt.kind {
            StmtKind::Update { place: Place::Var(var), op, value } if var == self.var => {
                self.is_step(op, value)
            }
            StmtKind::Assign { var, value } if var == self.var => {
                self.is_beyond(value)
                    || match self.kernel.exprs[value].kind {
                        ExprKind::Binary { op, lhs, rhs } => {
                            self.kernel.exprs[lhs].kind == ExprKind::Var(var)
                                && self.is_step(op, rhs)
                        }
                        _ => false,
                    }
            }
            _ => false,
        }
    }

    fn is_step(&self, op: BinaryOp, by: ExprId) -> bool {
        let Some(by) = number_in_text(self.kernel, by) else { return false };
        let by = match op {
            BinaryOp::Add => by,
            BinaryOp::Sub => -by,
            _ => return false,
        };
        match self.op {
            CompareOp::Gt | CompareOp::Ge => by < 0,
            CompareOp::Lt | CompareOp::Le => by > 0,
            CompareOp::Eq | CompareOp::Ne => false,
        }
    }

    /// Whether a value is a number at which the condition does not hold.
    fn is_beyond(&self, value: ExprId) -> bool {
        let numbers = number_in_text(self.kernel, value).zip(number_in_text(self.kernel, self.end));
        numbers.is_some_and(|(value, end)| !self.op.holds(value, end))
    }
}
