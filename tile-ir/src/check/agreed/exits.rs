//! Exits in a row, each of which some may take, become one.
//!
//! ```text
//! if i == 1 && t == 0 { break; }
//! if i == 1 && t == 1 { break; }     // of a block of two both leave
//! ```
//!
//! is `if a { f = true; } else { if b { f = true; } else { … } }`, where what follows an exit
//! stands in its other arm, and that is `if a || b { f = true; } else { … }`: `b` is computed
//! where `a` does not hold, and the same is done where either does.

use crate::kernel::{Expr, ExprKind, Kernel, Literal, Stmt, StmtKind};
use crate::op::LogicOp;

/// Makes one of them. Whether there were some.
pub(super) fn merge(kernel: &mut Kernel) -> bool {
    let mut body = std::mem::take(&mut kernel.body);
    let is_changed = list(kernel, &mut body);
    kernel.body = body;
    is_changed
}

fn list(kernel: &mut Kernel, stmts: &mut [Stmt]) -> bool {
    let mut is_changed = false;
    for stmt in stmts {
        for body in stmt.kind.bodies_mut() {
            is_changed |= list(kernel, body);
        }
        is_changed |= join(kernel, stmt).is_some();
    }
    is_changed
}

/// Takes the exit that a statement's other arm begins with into its own.
fn join(kernel: &mut Kernel, stmt: &mut Stmt) -> Option<()> {
    let StmtKind::If { cond, then, otherwise } = &mut stmt.kind else { return None };
    let [Stmt { kind: StmtKind::If { cond: next, then: also, otherwise: rest }, .. }] =
        otherwise.as_slice()
    else {
        return None;
    };
    if !are_one_exit(kernel, then, also) {
        return None;
    }
    let Expr { ty, span, .. } = kernel.exprs[*cond];
    let kind = ExprKind::Logic { op: LogicOp::Or, lhs: *cond, rhs: *next };
    *cond = kernel.exprs.push(Expr { kind, ty, span });
    *otherwise = rest.clone();
    Some(())
}

/// Whether two arms do no more than leave, in the same way.
fn are_one_exit(kernel: &Kernel, one: &[Stmt], other: &[Stmt]) -> bool {
    let is_set = |value| kernel.exprs[value].kind == ExprKind::Literal(Literal::Bool(true));
    match (one, other) {
        ([], []) => true,
        (
            [Stmt { kind: StmtKind::Assign { var, value }, .. }],
            [Stmt { kind: StmtKind::Assign { var: also, value: other }, .. }],
        ) => var == also && is_set(*value) && is_set(*other),
        _ => false,
    }
}
