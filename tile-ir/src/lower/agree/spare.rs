//! Variables that nobody reads once their twins are read instead.

use std::collections::BTreeSet;

use super::deciders;
use crate::kernel::{ExprId, ExprKind, Kernel, Place, Stmt, StmtKind, VarId};

/// Removes those of `vars` that nothing else is computed from.
pub(super) fn remove_unread(kernel: &mut Kernel, vars: &BTreeSet<VarId>) {
    let mut read = BTreeSet::new();
    loop {
        let before = read.len();
        collect(kernel, &kernel.body, vars, &mut read);
        if read.len() == before {
            break;
        }
    }
    let spare: BTreeSet<VarId> = vars.difference(&read).copied().collect();
    remove(&mut kernel.body, &spare);
}

/// The variables that are read, but for those that only values of unread `vars`
/// are computed from.
fn collect(kernel: &Kernel, stmts: &[Stmt], vars: &BTreeSet<VarId>, read: &mut BTreeSet<VarId>) {
    for stmt in stmts {
        let used: Vec<ExprId> = match &stmt.kind {
            StmtKind::Let { var, .. }
            | StmtKind::Assign { var, .. }
            | StmtKind::Update { place: Place::Var(var), .. }
                if vars.contains(var) && !read.contains(var) =>
            {
                Vec::new()
            }
            StmtKind::Let { init, .. } | StmtKind::LetArray { init, .. } => {
                init.iter().copied().collect()
            }
            StmtKind::Assign { value, .. }
            | StmtKind::Update { place: Place::Var(_), value, .. } => vec![*value],
            StmtKind::Exchange { value, lane, .. } => [*value].into_iter().chain(*lane).collect(),
            StmtKind::Store { access, value }
            | StmtKind::Update { place: Place::Element(access), value, .. } => {
                access.indices.iter().copied().chain([*value]).collect()
            }
            StmtKind::Atomic { access, expected, value, .. } => {
                access.indices.iter().chain(expected).copied().chain([*value]).collect()
            }
            StmtKind::Each { .. }
            | StmtKind::Phase { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => deciders(&stmt.kind),
            StmtKind::Assume { cond } => vec![*cond],
            StmtKind::Distinct { values, .. } => values.clone(),
        };
        used.into_iter().for_each(|id| collect_vars(kernel, id, read));
        stmt.kind.bodies().into_iter().for_each(|body| collect(kernel, body, vars, read));
    }
}

fn collect_vars(kernel: &Kernel, id: ExprId, read: &mut BTreeSet<VarId>) {
    if let ExprKind::Var(var) = kernel.exprs[id].kind {
        read.insert(var);
    }
    kernel.exprs[id].kind.operands().into_iter().for_each(|id| collect_vars(kernel, id, read));
}

fn remove(stmts: &mut Vec<Stmt>, spare: &BTreeSet<VarId>) {
    stmts.retain(|stmt| match &stmt.kind {
        StmtKind::Let { var, .. }
        | StmtKind::Assign { var, .. }
        | StmtKind::Update { place: Place::Var(var), .. } => !spare.contains(var),
        StmtKind::Update { place: Place::Element(_), .. }
        | StmtKind::LetArray { .. }
        | StmtKind::Store { .. }
        | StmtKind::Atomic { .. }
        | StmtKind::Exchange { .. }
        | StmtKind::Each { .. }
        | StmtKind::Phase { .. }
        | StmtKind::For { .. }
        | StmtKind::While { .. }
        | StmtKind::If { .. }
        | StmtKind::Assume { .. }
        | StmtKind::Distinct { .. }
        | StmtKind::Barrier
        | StmtKind::WarpBarrier => true,
    });
    for stmt in stmts {
        stmt.kind.bodies_mut().into_iter().for_each(|body| remove(body, spare));
    }
}
