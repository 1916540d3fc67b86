//! What both arms of a condition set alike is set behind it.
//!
//! ```text
//! if a[t] > 0 { …; i += 1; } else { i += 1; }     // becomes
//! if a[t] > 0 { … }                  i += 1;
//! ```
//!
//! Whichever arm a work-item runs, it sets the same variable to the same next, and last in the
//! arm. Only what is made of variables and numbers is moved, so no access changes its place.

use crate::kernel::{ExprId, ExprKind, Kernel, Place, Stmt, StmtKind, any_subexpr};

/// Moves it. Whether there was something.
pub(super) fn move_out(kernel: &mut Kernel) -> bool {
    let mut body = std::mem::take(&mut kernel.body);
    let is_changed = list(kernel, &mut body);
    kernel.body = body;
    is_changed
}

fn list(kernel: &Kernel, stmts: &mut Vec<Stmt>) -> bool {
    let mut is_changed = false;
    let mut at = 0;
    while let Some(stmt) = stmts.get_mut(at) {
        at += 1;
        for body in stmt.kind.bodies_mut() {
            is_changed |= list(kernel, body);
        }
        let StmtKind::If { then, otherwise, .. } = &mut stmt.kind else { continue };
        let mut moved = Vec::new();
        while let (Some(one), Some(other)) = (then.last(), otherwise.last())
            && is_alike(kernel, &one.kind, &other.kind)
        {
            otherwise.pop();
            moved.extend(then.pop());
        }
        is_changed |= !moved.is_empty();
        moved.into_iter().for_each(|stmt| stmts.insert(at, stmt));
    }
    is_changed
}

/// Whether two statements set one variable alike.
fn is_alike(kernel: &Kernel, one: &StmtKind, other: &StmtKind) -> bool {
    let is_same = |a: ExprId, b: ExprId| kernel.is_same(a, b) && is_of_variables(kernel, a);
    match (one, other) {
        (
            StmtKind::Assign { var, value },
            StmtKind::Assign { var: other_var, value: other_value },
        ) => var == other_var && is_same(*value, *other_value),
        (
            StmtKind::Update { place: Place::Var(var), op, value },
            StmtKind::Update { place: Place::Var(other_var), op: other_op, value: other_value },
        ) => (var, op) == (other_var, other_op) && is_same(*value, *other_value),
        _ => false,
    }
}

fn is_of_variables(kernel: &Kernel, expr: ExprId) -> bool {
    !any_subexpr(kernel, expr, &mut |kind| {
        matches!(kind, ExprKind::Load(_) | ExprKind::Uniform(_) | ExprKind::InBounds { .. })
    })
}
