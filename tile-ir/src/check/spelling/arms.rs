//! What is done where a condition holds, first.
//!
//! `if i >= 2 { A } else { B }` becomes `if i < 2 { B } else { A }`, and `if c { } else { B }`
//! becomes `if !c { B }`. What alone stands under a condition, and under another one there, stands
//! under both: `if a { if b { A } }` becomes `if a && b { A }`. Flags are asked by themselves, as are
//! those of jumps ([`crate::kernel::Exit`]).

use super::conditions::{asked, both, is_negative, written};
use crate::kernel::{ExprId, ExprKind, Kernel, Stmt, StmtKind, Type, VarKind, any_subexpr};

/// Writes the conditions of a kernel, and what stands under them, in one way.
pub(super) fn put_first(kernel: &mut Kernel) {
    let mut body = std::mem::take(&mut kernel.body);
    list(kernel, &mut body);
    kernel.body = body;
}

fn list(kernel: &mut Kernel, stmts: &mut [Stmt]) {
    for stmt in stmts {
        if !matches!(stmt.kind, StmtKind::Assume { .. } | StmtKind::Distinct { .. }) {
            for expr in stmt.kind.exprs_mut() {
                *expr = written(kernel, *expr);
            }
        }
        if let StmtKind::If { cond, then, otherwise } = &mut stmt.kind {
            let is_turned =
                !otherwise.is_empty() && (then.is_empty() || is_negative(kernel, *cond));
            if is_turned {
                *cond = asked(kernel, (*cond, false));
                std::mem::swap(then, otherwise);
            }
        }
        stmt.kind.bodies_mut().into_iter().for_each(|body| list(kernel, body));
        under_both(kernel, stmt);
    }
}

/// Puts what stands under two conditions, one inside the other, under both.
fn under_both(kernel: &mut Kernel, stmt: &mut Stmt) {
    let StmtKind::If { cond, then, otherwise } = &mut stmt.kind else { return };
    if let [Stmt { kind: StmtKind::If { cond: next, then: inner, otherwise: rest }, .. }] =
        then.as_mut_slice()
        && otherwise.is_empty()
        && rest.is_empty()
        && ![*cond, *next].iter().any(|cond| asks_flag(kernel, *cond))
    {
        *cond = both(kernel, [*cond, *next]);
        *then = std::mem::take(inner);
    }
}

/// Whether a condition asks for a variable that says that something has happened.
fn asks_flag(kernel: &Kernel, cond: ExprId) -> bool {
    any_subexpr(kernel, cond, &mut |kind| match kind {
        ExprKind::Var(var) => {
            let var = &kernel.vars[*var];
            var.ty == Type::BOOL && var.kind == VarKind::Let { mutable: true }
        }
        _ => false,
    })
}
