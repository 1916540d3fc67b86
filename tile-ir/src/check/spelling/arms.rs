//! What is done where a condition holds, first.
//!
//! `if i >= 2 { A } else { B }` becomes `if i < 2 { B } else { A }`, and `if c { } else { B }`
//! becomes `if !c { B }`.

use super::conditions::{asked, is_negative, written};
use crate::kernel::{Kernel, Stmt, StmtKind};

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
    }
}
