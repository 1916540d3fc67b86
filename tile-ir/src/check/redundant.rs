//! TK0402: a barrier that orders nothing (a warning).
//!
//! A barrier is taken out of the kernel. If it is then still proved that no two
//! work-items of a block use one element unordered, at any admissible size
//! ([`crate::solve::symbolic`]), the barrier was not needed. Where that is not
//! proved nothing is said. Of several barriers of which any one could go, as
//! many are named as can go together, later ones first.
//!
//! Asked only of kernels that have no error, whose barriers therefore stand in
//! uniform control flow.

use super::Uniformity;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::kernel::{Kernel, Stmt, StmtKind, Within, any_stmt};
use crate::solve::symbolic::Proofs;
use crate::span::SpanId;

/// Warns of barriers that can go.
/// Something may be proved of the kernel already.
pub(super) fn check_redundant(
    kernel: &Kernel,
    uniformity: &Uniformity,
    mut proofs: Proofs,
    diags: &mut Diagnostics,
) {
    let mut barriers = Vec::new();
    collect(&kernel.body, &mut barriers);
    // One that stands in several turns of a loop is one.
    let mut seen = Vec::new();
    barriers.retain(|barrier| {
        let is_new = !seen.contains(barrier);
        seen.push(*barrier);
        is_new
    });
    barriers.retain(|barrier| !says_what_differs(&kernel.body, *barrier));
    let mut needed = kernel.clone();
    let mut spare = Vec::new();
    for barrier in barriers.into_iter().rev() {
        let mut without = needed.clone();
        remove(&mut without.body, barrier);
        if proofs.are_complete(&without, uniformity) {
            needed = without;
            spare.push(barrier);
        }
    }
    for barrier in spare.into_iter().rev() {
        let message = "this `barrier;` orders nothing";
        diags.push(
            Diagnostic::warning(Code::RedundantBarrier, barrier, message)
                .note(
                    "proved for all tile sizes: between the barriers before and after it no \
                     work-item uses what another one writes",
                )
                .help("remove it"),
        );
    }
}

/// The barriers, in program order.
fn collect(stmts: &[Stmt], out: &mut Vec<SpanId>) {
    for stmt in stmts {
        if matches!(stmt.kind, StmtKind::Barrier) {
            out.push(stmt.head);
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect(body, out));
    }
}

/// Whether it says to which round of a loop an assumption of places within the block belongs:
/// without it more would be assumed.
fn says_what_differs(stmts: &[Stmt], barrier: SpanId) -> bool {
    let is_said =
        |kind: &StmtKind| matches!(kind, StmtKind::Distinct { within: Within::Block, .. });
    stmts.iter().any(|stmt| {
        let bodies = stmt.kind.bodies();
        let is_loop = !matches!(stmt.kind, StmtKind::If { .. });
        let mut inside = Vec::new();
        bodies.iter().for_each(|body| collect(body, &mut inside));
        let is_said = || bodies.iter().any(|body| any_stmt(body, &mut |kind| is_said(kind)));
        is_loop && inside.contains(&barrier) && is_said()
            || bodies.into_iter().any(|body| says_what_differs(body, barrier))
    })
}

fn remove(stmts: &mut Vec<Stmt>, barrier: SpanId) {
    stmts.retain(|stmt| !(matches!(stmt.kind, StmtKind::Barrier) && stmt.head == barrier));
    for stmt in stmts {
        match &mut stmt.kind {
            StmtKind::Each { body, .. }
            | StmtKind::Phase { body, .. }
            | StmtKind::For { body, .. }
            | StmtKind::While { body, .. } => remove(body, barrier),
            StmtKind::If { then, otherwise, .. } => {
                remove(then, barrier);
                remove(otherwise, barrier);
            }
            StmtKind::Let { .. }
            | StmtKind::LetArray { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Store { .. }
            | StmtKind::Atomic { .. }
            | StmtKind::Update { .. }
            | StmtKind::Exchange { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Distinct { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => {}
        }
    }
}
