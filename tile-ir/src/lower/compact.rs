//! Compact: drops the expressions that nothing uses any more.

use crate::arena::{Arena, EntityId as _};
use crate::program::{Access, ExprId, ExprKind, LoopRange, ProgramKernel, Stmt, StmtKind};

/// Drops what a pass has replaced; the others keep their order. No other table
/// changes.
pub(super) fn drop_unused_exprs(kernel: &mut ProgramKernel) {
    let used = used(kernel);
    let mut new_ids = vec![None; used.len()];
    let mut kept = Arena::new();
    for (id, expr) in kernel.exprs.iter().filter(|(id, _)| used[id.index()]) {
        let mut expr = expr.clone();
        // Operands have smaller ids: theirs are known.
        each_operand(&mut expr.kind, &mut |operand| renumber(&new_ids, operand));
        new_ids[id.index()] = Some(kept.push(expr));
    }
    kernel.exprs = kept;
    let mut renumber = |id: &mut ExprId| renumber(&new_ids, id);
    kernel.grid.iter_mut().for_each(|axis| renumber(&mut axis.extent));
    for (_, buffer) in kernel.buffers.iter_mut() {
        buffer.extents.iter_mut().chain(&mut buffer.strides).for_each(&mut renumber);
    }
    each_expr_in(&mut kernel.body, &mut renumber);
}

fn renumber(new_ids: &[Option<ExprId>], id: &mut ExprId) {
    if let Some(Some(new)) = new_ids.get(id.index()) {
        *id = *new;
    }
}

/// Whether an expression stands in the tables or in a statement, by id.
fn used(kernel: &ProgramKernel) -> Vec<bool> {
    let mut open: Vec<ExprId> = kernel.grid.iter().map(|axis| axis.extent).collect();
    for buffer in kernel.buffers.values() {
        open.extend(buffer.extents.iter().chain(&buffer.strides));
    }
    let mut stmts: Vec<&Stmt> = kernel.body.iter().collect();
    while let Some(stmt) = stmts.pop() {
        stmt.kind.for_each_expr(&mut |id| open.push(id));
        stmts.extend(stmt.kind.bodies().into_iter().flatten());
    }
    let mut used = vec![false; kernel.exprs.len()];
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut used[id.index()], true) {
            kernel.exprs[id].kind.for_each_operand(&mut |operand| open.push(operand));
        }
    }
    used
}

fn each_expr_in(stmts: &mut [Stmt], f: &mut impl FnMut(&mut ExprId)) {
    for stmt in stmts {
        match &mut stmt.kind {
            StmtKind::Let { value, .. } => value.iter_mut().for_each(&mut *f),
            StmtKind::Assign { value, .. } | StmtKind::SetFragment { value, .. } => f(value),
            StmtKind::Store { access, value } => {
                each_in_access(access, f);
                f(value);
            }
            StmtKind::Atomic { access, expected, value, .. } => {
                each_in_access(access, f);
                expected.iter_mut().chain([value]).for_each(&mut *f);
            }
            StmtKind::Copy { dst, src, .. } => {
                each_in_access(dst, f);
                each_in_access(src, f);
            }
            StmtKind::For { range, .. } => match range {
                LoopRange::Between { start, end, step, .. } => {
                    [start, end, step].into_iter().for_each(&mut *f);
                }
                LoopRange::Halving(n) | LoopRange::Doubling(n) => f(n),
            },
            StmtKind::While { cond, .. }
            | StmtKind::If { cond, .. }
            | StmtKind::Ballot { cond, .. } => f(cond),
            StmtKind::Shuffle { value, lane, .. } => {
                f(value);
                f(lane);
            }
            StmtKind::Assume(fact) => fact.exprs_mut().for_each(&mut *f),
            StmtKind::Items { .. }
            | StmtKind::Commit(_)
            | StmtKind::Wait { .. }
            | StmtKind::Barrier(_)
            | StmtKind::WarpBarrier => {}
        }
        for body in stmt.kind.bodies_mut() {
            each_expr_in(body, f);
        }
    }
}

fn each_in_access(access: &mut Access, f: &mut impl FnMut(&mut ExprId)) {
    access.slot.iter_mut().chain(&mut access.indices).chain(&mut access.pad).for_each(f);
}

pub(super) fn each_operand(kind: &mut ExprKind, f: &mut impl FnMut(&mut ExprId)) {
    match kind {
        ExprKind::Literal(_)
        | ExprKind::Var(_)
        | ExprKind::Arg(_)
        | ExprKind::Coord { .. }
        | ExprKind::Fragment(_) => {}
        ExprKind::Load(access) => each_in_access(access, f),
        ExprKind::Unary { operand, .. } | ExprKind::Cast(operand) => f(operand),
        ExprKind::Math { arg, .. } => f(arg),
        ExprKind::Binary { lhs, rhs, .. }
        | ExprKind::Compare { lhs, rhs, .. }
        | ExprKind::Logic { lhs, rhs, .. }
        | ExprKind::CeilDiv { n: lhs, d: rhs } => [lhs, rhs].into_iter().for_each(f),
        ExprKind::Fma { a, b, c } => [a, b, c].into_iter().for_each(f),
        ExprKind::Select { cond, then, otherwise } => {
            [cond, then, otherwise].into_iter().for_each(f);
        }
        ExprKind::InBounds { indices, .. } => indices.iter_mut().for_each(f),
    }
}
