//! Conditions that hold for everybody who comes by, or for nobody.
//!
//! ```text
//! for i in 0..2 + t { …; if t >= 4 { barrier; } }     // in a block of 4
//! if t < n { if t >= 8 { return; } … }                // in a block of 8
//! ```
//!
//! Whoever comes by, and however often: what is not run is left out, and what is run stands
//! under no condition. So it does not matter whether all come by together.
//!
//! What a condition reads that the kernel writes is read still, by `let _cond = …;` in its
//! place: that it always holds may rest on what is stored there, which is so only where no
//! other rule finds fault with the reads. Until the first access that races, the condition is
//! what it was proved to be, so that the arm that is left out is none to race.

use super::super::fold::Folds;
use super::super::uniform::WrittenTensors;
use super::first::each_stmt;
use super::question::{Rest, only_answer};
use crate::kernel::{
    ArrayRef, Expr, ExprId, ExprKind, Kernel, Literal, Stmt, StmtKind, Var, VarId, VarKind,
    any_subexpr,
};

/// The kernel in which the condition of an `if` is what it always is, and on what that
/// rests.
pub(super) fn settled(kernel: &Kernel, cond: ExprId) -> Option<(Kernel, Rest)> {
    let (holds, rest) = only_answer(kernel, cond)?;
    let mut next = kernel.clone();
    let Expr { ty, span, .. } = next.exprs[cond];
    let kind = ExprKind::Literal(Literal::Bool(holds));
    let always = next.exprs.push(Expr { kind, ty, span });
    let mut body = std::mem::take(&mut next.body);
    each_stmt(&mut body, &mut |stmt| {
        if let StmtKind::If { cond: own, then, otherwise } = &mut stmt.kind
            && *own == cond
        {
            *own = always;
            if holds { otherwise.clear() } else { then.clear() }
        }
    });
    if reads(kernel, cond) {
        let kind = VarKind::Let { mutable: false };
        let name = "_cond".to_owned();
        let var = next.vars.push(Var { name, ty, kind, accumulator: false, span });
        put_before(&mut body, always, (var, cond));
    }
    next.body = body;
    Some((next, rest))
}

/// Whether an expression reads what the kernel sets: elements of arrays, or variables.
fn reads(kernel: &Kernel, expr: ExprId) -> bool {
    let written = WrittenTensors::of(kernel);
    any_subexpr(kernel, expr, &mut |kind| match kind {
        ExprKind::Load(access) => match access.array {
            ArrayRef::Tensor(tensor) => written.contains(tensor),
            ArrayRef::Tile(_) => true,
        },
        ExprKind::Var(var) => matches!(kernel.vars[*var].kind, VarKind::Let { .. }),
        _ => false,
    })
}

/// Sets a variable to a value before each `if` with this condition.
fn put_before(stmts: &mut Vec<Stmt>, cond: ExprId, (var, value): (VarId, ExprId)) {
    let is_it = |stmt: &Stmt| matches!(stmt.kind, StmtKind::If { cond: own, .. } if own == cond);
    if let Some(at) = stmts.iter().position(is_it) {
        let (span, head) = (stmts[at].span, stmts[at].head);
        stmts.insert(at, Stmt { kind: StmtKind::Let { var, init: Some(value) }, span, head });
        return;
    }
    for stmt in stmts {
        stmt.kind.bodies_mut().into_iter().for_each(|body| put_before(body, cond, (var, value)));
    }
}

/// Leaves out meetings that the sizes let nobody come to. Whether there was one.
pub(super) fn leave_out(kernel: &mut Kernel) -> bool {
    let folds = Folds::of(kernel);
    let mut is_changed = false;
    each_stmt(&mut kernel.body, &mut |stmt| {
        let StmtKind::If { cond, then, otherwise } = &mut stmt.kind else { return };
        let Some(holds) = folds.get(*cond) else { return };
        let dead = if holds { otherwise } else { then };
        if dead.iter().any(Stmt::has_meeting) {
            dead.clear();
            is_changed = true;
        }
    });
    is_changed
}
