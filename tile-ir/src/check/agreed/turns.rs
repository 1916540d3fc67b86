//! Loops of lengths of their own, in which all meet in the first turns.
//!
//! ```text
//! for i in 0..2 + t { …; if i < 2 { barrier; } … }
//! ```
//!
//! A loop is the turns below a number and, after them, those from it on: in the former all meet
//! if all run as many, which is asked of them as of any loop; in the latter nobody meets, since
//! the condition under which they would fails.
//!
//! ```text
//! let i_end = 2 + t;
//! for i in 0..min(i_end, 2) { …; if i < 2 { barrier; } … }
//! for i in max(0, 2)..i_end { …; if i < 2 { } … }
//! ```
//!
//! The bounds are computed once, before both; the number is one for the whole block, is made of
//! no loads, and the loop changes nothing that it is made of. Turns are run in rising order, one
//! after the other. So each work-item does what it did, in the order in which it did.

use std::collections::{BTreeMap, BTreeSet};

use super::copies::{Copies, may_be_twice};
use super::meets;
use crate::arena::EntityId as _;
use crate::kernel::{
    Expr, ExprId, ExprKind, Kernel, LoopRange, Place, Stmt, StmtKind, Type, Var, VarId, VarKind,
    any_stmt, any_subexpr, copy_expr,
};
use crate::op::{BinaryOp, CompareOp, LogicOp};

/// Cuts the loops of a kernel that may be cut so; whether there was one. `values` says of
/// expressions whether they are the same for all.
pub(super) fn cut(kernel: &mut Kernel, values: &[bool]) -> bool {
    replace(kernel, &|kernel, stmt| parts(kernel, values, stmt))
}

/// What is to stand in a statement's place, if not that itself.
pub(in crate::check) type Parts<'a> = &'a dyn Fn(&mut Kernel, &Stmt) -> Option<Vec<Stmt>>;

/// Puts others in the place of statements, inner ones first; whether there was one.
pub(in crate::check) fn replace(kernel: &mut Kernel, parts: Parts<'_>) -> bool {
    let mut body = std::mem::take(&mut kernel.body);
    let is_changed = list(kernel, parts, &mut body);
    kernel.body = body;
    is_changed
}

fn list(kernel: &mut Kernel, parts: Parts<'_>, stmts: &mut Vec<Stmt>) -> bool {
    let mut is_changed = false;
    let mut out = Vec::with_capacity(stmts.len());
    for mut stmt in std::mem::take(stmts) {
        for body in stmt.kind.bodies_mut() {
            is_changed |= list(kernel, parts, body);
        }
        match parts(kernel, &stmt) {
            Some(parts) => {
                out.extend(parts);
                is_changed = true;
            }
            None => out.push(stmt),
        }
    }
    *stmts = out;
    is_changed
}

/// The two parts of a loop, and what stands before them.
fn parts(kernel: &mut Kernel, values: &[bool], stmt: &Stmt) -> Option<Vec<Stmt>> {
    let StmtKind::For { var, range, body } = &stmt.kind else { return None };
    let LoopRange::Between { start, end, step: None, reversed: false } = *range else {
        return None;
    };
    let is_own = [start, end].iter().any(|bound| !values.get(bound.index()).is_some_and(|is| *is));
    if !is_own || !meets(kernel, stmt) || !may_be_twice(body) {
        return None;
    }
    let turns = Turns::of((kernel, values), *var, body)?;
    let limit = turns.limit;
    let at = |kind| Stmt { kind, span: stmt.span, head: stmt.head };
    let name = kernel.vars[*var].name.clone();
    let [first, last] =
        ["from", "end"].map(|word| declare(kernel, *var, format!("{name}_{word}"), false));
    let bound = |kernel: &mut Kernel, op, var| {
        let lhs = like(kernel, limit, ExprKind::Var(var));
        let rhs = copy_expr(kernel, limit, &mut |_, _| None);
        like(kernel, limit, ExprKind::Binary { op, lhs, rhs })
    };
    let between = |start, end| LoopRange::Between { start, end, step: None, reversed: false };
    let (from, to) =
        (like(kernel, start, ExprKind::Var(first)), bound(kernel, BinaryOp::Min, last));
    let all = StmtKind::For { var: *var, range: between(from, to), body: body.clone() };
    let (from, to) = (bound(kernel, BinaryOp::Max, first), like(kernel, end, ExprKind::Var(last)));
    let later = declare(kernel, *var, name, true);
    let body = turns.later(kernel, body, later);
    let rest = StmtKind::For { var: later, range: between(from, to), body };
    Some(vec![
        at(StmtKind::Let { var: first, init: Some(start) }),
        at(StmtKind::Let { var: last, init: Some(end) }),
        at(all),
        at(rest),
    ])
}

pub(in crate::check) fn declare(
    kernel: &mut Kernel,
    of: VarId,
    name: String,
    is_counter: bool,
) -> VarId {
    let span = kernel.vars[of].span;
    let kind = if is_counter { VarKind::Loop } else { VarKind::Let { mutable: false } };
    kernel.vars.push(Var { name, ty: Type::Index, kind, accumulator: false, span })
}

/// An expression of the same type and place as another one.
pub(in crate::check) fn like(kernel: &mut Kernel, expr: ExprId, kind: ExprKind) -> ExprId {
    let Expr { ty, span, .. } = kernel.exprs[expr];
    kernel.exprs.push(Expr { kind, ty, span })
}

/// What the counter is to be less than for some condition to hold.
fn limit(kernel: &Kernel, var: VarId, stmts: &[Stmt]) -> Option<ExprId> {
    stmts.iter().find_map(|stmt| {
        if let StmtKind::If { cond, .. } = stmt.kind
            && stmt.has_meeting()
            && let Some(limit) = limit_in(kernel, var, cond)
        {
            return Some(limit);
        }
        stmt.kind.bodies().into_iter().find_map(|body| limit(kernel, var, body))
    })
}

fn limit_in(kernel: &Kernel, var: VarId, cond: ExprId) -> Option<ExprId> {
    let is_var = |expr: ExprId| kernel.exprs[expr].kind == ExprKind::Var(var);
    match kernel.exprs[cond].kind {
        ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
            limit_in(kernel, var, lhs).or_else(|| limit_in(kernel, var, rhs))
        }
        ExprKind::Compare { op: CompareOp::Lt, lhs, rhs } if is_var(lhs) => Some(rhs),
        ExprKind::Compare { op: CompareOp::Gt, lhs, rhs } if is_var(rhs) => Some(lhs),
        _ => None,
    }
    .filter(|limit| kernel.exprs[*limit].ty == Type::Index)
}

/// Whether an expression has one value before statements and wherever in them.
fn is_fixed(kernel: &Kernel, expr: ExprId, stmts: &[Stmt]) -> bool {
    let mut set = BTreeSet::new();
    any_stmt(stmts, &mut |kind| {
        match kind {
            StmtKind::Let { var, .. }
            | StmtKind::Assign { var, .. }
            | StmtKind::Update { place: Place::Var(var), .. }
            | StmtKind::For { var, .. } => {
                set.insert(*var);
            }
            _ => {}
        }
        false
    });
    !any_subexpr(kernel, expr, &mut |kind| match kind {
        ExprKind::Var(var) => set.contains(var),
        ExprKind::Load(_) | ExprKind::Uniform(_) => true,
        _ => false,
    })
}

/// The turns of a loop's counter below a number.
pub(super) struct Turns {
    pub(super) var: VarId,
    pub(super) limit: ExprId,
}

impl Turns {
    /// Those in which alone work-items meet in a body, by a number that all know.
    pub(super) fn of(
        (kernel, values): (&Kernel, &[bool]),
        var: VarId,
        body: &[Stmt],
    ) -> Option<Self> {
        let limit = limit(kernel, var, body)?;
        let is_common = values.get(limit.index()).is_some_and(|is| *is);
        let turns = Self { var, limit };
        let names = |kind: &ExprKind| *kind == ExprKind::Var(var);
        let is_one = is_common && !any_subexpr(kernel, limit, &mut |kind| names(kind));
        let are_these = is_one && is_fixed(kernel, limit, body) && turns.covers(kernel, body);
        are_these.then_some(turns)
    }

    /// Whether a condition holds in these turns alone.
    fn asks(&self, kernel: &Kernel, cond: ExprId) -> bool {
        limit_in(kernel, self.var, cond).is_some_and(|limit| kernel.is_same(limit, self.limit))
    }

    /// Whether nobody meets in statements but under such a condition.
    fn covers(&self, kernel: &Kernel, stmts: &[Stmt]) -> bool {
        stmts.iter().all(|stmt| match &stmt.kind {
            _ if !meets(kernel, stmt) => true,
            StmtKind::If { cond, otherwise, .. } if self.asks(kernel, *cond) => {
                self.covers(kernel, otherwise)
            }
            StmtKind::If { then, otherwise, .. } => {
                self.covers(kernel, then) && self.covers(kernel, otherwise)
            }
            StmtKind::For { body, .. } => self.covers(kernel, body),
            _ => false,
        })
    }

    /// The body as it is in later turns, with another counter.
    pub(super) fn later(&self, kernel: &mut Kernel, body: &[Stmt], later: VarId) -> Vec<Stmt> {
        let copies = Copies { is_over: &|kernel, cond| self.asks(kernel, cond) };
        copies.of(kernel, body, &mut BTreeMap::from([(self.var, later)]))
    }
}
