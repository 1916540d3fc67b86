//! Loops that some leave, be it behind the last turn in which all meet.
//!
//! ```text
//! for i in 0..10 { if i < 5 { barrier; … } … if i >= 4 && a[t] > 0 { break; } … }
//! ```
//!
//! The turns in which all meet are those below a number, or all that there are. Of these the
//! last one stands by itself: who leaves the loop in it misses none of its meetings that stand
//! before that. In the turns before it nobody may leave, of which it is asked as of any
//! condition, and in those after it nobody meets.
//!
//! ```text
//! let i_past = min(10, 5);
//! for i in 0..i_past - 1 { if i < 5 { barrier; … } … if i >= 4 && a[t] > 0 { break; } … }
//! if 0 < i_past { let i = i_past - 1; … }
//! for i in max(0, 5)..10 { if i < 5 { } … }
//! ```
//!
//! There are no jumps left in a kernel: that a work-item has left, a variable says, of which
//! each turn asks ([`crate::kernel::Exit`]). So the same variable says it in all three parts.
//! Turns are run in rising order, one after the other, each once.

use std::collections::{BTreeMap, BTreeSet};

use super::copies::{Copies, may_be_twice};
use super::turns::{Turns, declare, like, replace};
use super::{meets, sets};
use crate::arena::EntityId as _;
use crate::kernel::{
    ExprId, ExprKind, Kernel, Literal, LoopRange, Stmt, StmtKind, Type, VarId, any_stmt,
    any_subexpr, copy_expr,
};
use crate::op::{BinaryOp, CompareOp};

/// Cuts the loops of a kernel that some leave; whether there was one. `values` says of
/// expressions whether they are the same for all.
pub(super) fn cut(kernel: &mut Kernel, values: &[bool]) -> bool {
    replace(kernel, &|kernel, stmt| parts(kernel, values, stmt))
}

/// The parts of a loop, and what stands before them.
fn parts(kernel: &mut Kernel, values: &[bool], stmt: &Stmt) -> Option<Vec<Stmt>> {
    let StmtKind::For { var, range, body } = &stmt.kind else { return None };
    let LoopRange::Between { start, end, step: None, reversed: false } = *range else {
        return None;
    };
    if !meets(kernel, stmt) || !may_be_twice(body) || !some_leave(kernel, values, stmt) {
        return None;
    }
    let turns = Turns::of((kernel, values), *var, body);
    let limit = turns.as_ref().map(|turns| turns.limit);
    let at = |kind| Stmt { kind, span: stmt.span, head: stmt.head };
    let name = kernel.vars[*var].name.clone();
    let [first, last, past] =
        ["from", "end", "past"].map(|word| declare(kernel, *var, format!("{name}_{word}"), false));
    let of = |kernel: &mut Kernel, var| like(kernel, end, ExprKind::Var(var));
    let bound = |kernel: &mut Kernel, op, var, limit| {
        let lhs = of(kernel, var);
        let rhs = copy_expr(kernel, limit, &mut |_, _| None);
        like(kernel, end, ExprKind::Binary { op, lhs, rhs })
    };
    let until = match limit {
        Some(limit) => bound(kernel, BinaryOp::Min, last, limit),
        None => of(kernel, last),
    };
    let between = |start, end| LoopRange::Between { start, end, step: None, reversed: false };
    let (from, to) = (of(kernel, first), before(kernel, end, past));
    let mut out = vec![
        at(StmtKind::Let { var: first, init: Some(start) }),
        at(StmtKind::Let { var: last, init: Some(end) }),
        at(StmtKind::Let { var: past, init: Some(until) }),
        at(StmtKind::For { var: *var, range: between(from, to), body: body.clone() }),
        at(last_turn(kernel, (*var, end), (first, past), stmt, body)),
    ];
    if let Some(turns) = turns {
        let from = bound(kernel, BinaryOp::Max, first, turns.limit);
        let to = of(kernel, last);
        let later = declare(kernel, *var, name, true);
        let body = turns.later(kernel, body, later);
        out.push(at(StmtKind::For { var: later, range: between(from, to), body }));
    }
    Some(out)
}

/// The turn before `past`, if there is one from `first` on.
fn last_turn(
    kernel: &mut Kernel,
    (var, of): (VarId, ExprId),
    (first, past): (VarId, VarId),
    like_loop: &Stmt,
    body: &[Stmt],
) -> StmtKind {
    // Nobody need read it.
    let name = format!("_{}", kernel.vars[var].name.trim_start_matches('_'));
    let own = declare(kernel, var, name, false);
    let turn = before(kernel, of, past);
    let kind = StmtKind::Let { var: own, init: Some(turn) };
    let mut then = vec![Stmt { kind, span: like_loop.span, head: like_loop.head }];
    let copies = Copies { is_over: &|_, _| false };
    then.extend(copies.of(kernel, body, &mut BTreeMap::from([(var, own)])));
    let [lhs, rhs] = [first, past].map(|var| like(kernel, of, ExprKind::Var(var)));
    let kind = ExprKind::Compare { op: CompareOp::Lt, lhs, rhs };
    let cond = like(kernel, of, kind);
    kernel.exprs[cond].ty = Type::BOOL;
    StmtKind::If { cond, then, otherwise: Vec::new() }
}

/// One less than a variable.
fn before(kernel: &mut Kernel, of: ExprId, var: VarId) -> ExprId {
    let lhs = like(kernel, of, ExprKind::Var(var));
    let rhs = like(kernel, of, ExprKind::Literal(Literal::Int(1)));
    like(kernel, of, ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs })
}

/// Whether some leave a loop, and not all together: in it a variable is set that says so, and
/// asked where it differs.
fn some_leave(kernel: &Kernel, values: &[bool], stmt: &Stmt) -> bool {
    let flags = kernel.exits.iter().filter_map(|exit| exit.flag);
    let set: BTreeSet<VarId> = flags.filter(|flag| sets(stmt, &BTreeSet::from([*flag]))).collect();
    let asks = |cond: ExprId| {
        any_subexpr(
            kernel,
            cond,
            &mut |kind| matches!(kind, ExprKind::Var(var) if set.contains(var)),
        )
    };
    any_stmt(std::slice::from_ref(stmt), &mut |kind| {
        let StmtKind::If { cond, .. } = kind else { return false };
        !values.get(cond.index()).is_some_and(|is| *is) && asks(*cond)
    })
}
