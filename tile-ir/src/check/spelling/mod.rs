//! Kernels in one spelling, for those that no rule sees through as they stand.
//!
//! ```text
//! let late = 2 <= i; if late { s[t] += 1; } else { barrier; }
//! if i < 2 { barrier; } else { s[t] += 1; }
//! ```
//!
//! Both do the same, but many a rule asks for a comparison, where the former has a name, and for
//! what stands in its first arm. So a kernel that is refused, not because something is wrong for
//! certain but because nothing shows that it is right, is checked once more as it would be written
//! without names for conditions ([`names`]), with conditions in one way ([`conditions`]) and what is
//! done where they hold first ([`arms`]). It is this kernel then that is embedded and run. What is
//! said of one that is refused still, is said of what the author wrote.
//!
//! # Why it means the same
//!
//! Each work-item runs the same statements with the same numbers, in the same order, and reads
//! what it read, or that and more. So what is proved to race nowhere in the one races nowhere in
//! the other. No number is computed that was not, but for literals.

mod arms;
mod conditions;
mod names;
mod order;

use std::collections::BTreeSet;

use crate::arena::EntityId as _;
use crate::diag::{Code, Diagnostics, Severity};
use crate::kernel::{ExprId, ExprKind, Kernel, Literal, Stmt, Type, print_kernel};

/// Whether a kernel with these errors may be right.
pub(super) fn may_be_right(found: &Diagnostics) -> bool {
    found
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .all(|found| !matches!(found.code, Code::SharedRace | Code::GlobalRace | Code::BlockRace))
}

/// The kernel in this spelling, if that is another one.
pub(super) fn respelled(kernel: &Kernel) -> Option<Kernel> {
    let mut out = kernel.clone();
    names::put_in(&mut out);
    arms::put_first(&mut out);
    leave_out(kernel, &mut out);
    (print_kernel(kernel) != print_kernel(&out)).then_some(out)
}

/// Makes literals of the expressions that nothing evaluates any more: rules ask of all that there
/// are.
pub(super) fn leave_out(before: &Kernel, now: &mut Kernel) {
    let (mut old, mut live) = (BTreeSet::new(), BTreeSet::new());
    collect(before, &before.body, &mut old);
    collect(now, &now.body, &mut live);
    let of_body = |id: ExprId| id.index() >= before.exprs.len() || old.contains(&id);
    for (id, expr) in now.exprs.iter_mut() {
        if of_body(id) && !live.contains(&id) {
            let literal = match expr.ty == Type::BOOL {
                true => Literal::Bool(false),
                false => Literal::Int(0),
            };
            expr.kind = ExprKind::Literal(literal);
        }
    }
}

/// Adds all expressions that statements evaluate.
fn collect(kernel: &Kernel, stmts: &[Stmt], out: &mut BTreeSet<ExprId>) {
    for stmt in stmts {
        let mut open = stmt.kind.exprs();
        while let Some(expr) = open.pop() {
            out.insert(expr);
            open.extend(kernel.exprs[expr].kind.operands());
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect(kernel, body, out));
    }
}
