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

use super::meets;
use crate::arena::EntityId as _;
use crate::kernel::{
    Access, Expr, ExprId, ExprKind, Kernel, LoopRange, Place, Stmt, StmtKind, Type, Var, VarId,
    VarKind, any_stmt, any_subexpr, copy_expr,
};
use crate::op::{BinaryOp, CompareOp, LogicOp};

/// Cuts the loops of a kernel that may be cut so; whether there was one. `values` says of
/// expressions whether they are the same for all.
pub(super) fn cut(kernel: &mut Kernel, values: &[bool]) -> bool {
    let mut body = std::mem::take(&mut kernel.body);
    let is_changed = list(kernel, values, &mut body);
    kernel.body = body;
    is_changed
}

fn list(kernel: &mut Kernel, values: &[bool], stmts: &mut Vec<Stmt>) -> bool {
    let mut is_changed = false;
    let mut out = Vec::with_capacity(stmts.len());
    for mut stmt in std::mem::take(stmts) {
        for body in stmt.kind.bodies_mut() {
            is_changed |= list(kernel, values, body);
        }
        match parts(kernel, values, &stmt) {
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
fn parts(kernel: &mut Kernel, values: &[bool], stmt: &Stmt) -> Option<[Stmt; 4]> {
    let StmtKind::For { var, range, body } = &stmt.kind else { return None };
    let LoopRange::Between { start, end, step: None, reversed: false } = *range else {
        return None;
    };
    let is_own = [start, end].iter().any(|bound| !values.get(bound.index()).is_some_and(|is| *is));
    if !is_own || !meets(kernel, stmt) || !may_be_twice(body) {
        return None;
    }
    let limit = limit(kernel, *var, body)?;
    let is_common = values.get(limit.index()).is_some_and(|is| *is);
    let turns = Turns { var: *var, limit };
    if !is_common || !is_fixed(kernel, limit, body) || !turns.covers(kernel, body) {
        return None;
    }
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
    let body = turns.copied(kernel, body, &mut BTreeMap::from([(*var, later)]));
    let rest = StmtKind::For { var: later, range: between(from, to), body };
    Some([
        at(StmtKind::Let { var: first, init: Some(start) }),
        at(StmtKind::Let { var: last, init: Some(end) }),
        at(all),
        at(rest),
    ])
}

fn declare(kernel: &mut Kernel, of: VarId, name: String, is_counter: bool) -> VarId {
    let span = kernel.vars[of].span;
    let kind = if is_counter { VarKind::Loop } else { VarKind::Let { mutable: false } };
    kernel.vars.push(Var { name, ty: Type::Index, kind, accumulator: false, span })
}

/// An expression of the same type and place as another one.
fn like(kernel: &mut Kernel, expr: ExprId, kind: ExprKind) -> ExprId {
    let Expr { ty, span, .. } = kernel.exprs[expr];
    kernel.exprs.push(Expr { kind, ty, span })
}

/// Whether statements may stand twice: they declare nothing that has a place of its own, and
/// nothing is known of a loop by its place.
fn may_be_twice(stmts: &[Stmt]) -> bool {
    !any_stmt(stmts, &mut |kind| {
        matches!(
            kind,
            StmtKind::LetArray { .. }
                | StmtKind::Atomic { old: Some(_), .. }
                | StmtKind::Exchange { .. }
                | StmtKind::Each { .. }
                | StmtKind::Phase { .. }
                | StmtKind::While { .. }
        )
    })
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
struct Turns {
    var: VarId,
    limit: ExprId,
}

impl Turns {
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

    /// The statements again, with variables of their own, as they are in later turns.
    fn copied(
        &self,
        kernel: &mut Kernel,
        stmts: &[Stmt],
        own: &mut BTreeMap<VarId, VarId>,
    ) -> Vec<Stmt> {
        stmts
            .iter()
            .map(|stmt| Stmt { kind: self.copy(kernel, &stmt.kind, own), ..*stmt })
            .collect()
    }

    fn copy(
        &self,
        kernel: &mut Kernel,
        kind: &StmtKind,
        own: &mut BTreeMap<VarId, VarId>,
    ) -> StmtKind {
        let named = |var: &VarId, own: &BTreeMap<VarId, VarId>| *own.get(var).unwrap_or(var);
        let expr = |kernel: &mut Kernel, expr: ExprId, own: &BTreeMap<VarId, VarId>| {
            copy_renamed(kernel, expr, own)
        };
        let place = |kernel: &mut Kernel, access: &Access, own: &BTreeMap<VarId, VarId>| {
            let indices = access.indices.iter().map(|index| expr(kernel, *index, own)).collect();
            Access { indices, ..access.clone() }
        };
        match kind {
            StmtKind::Let { var, init } => {
                let var = again(kernel, *var, own);
                StmtKind::Let { var, init: init.map(|init| expr(kernel, init, own)) }
            }
            StmtKind::Assign { var, value } => {
                StmtKind::Assign { var: named(var, own), value: expr(kernel, *value, own) }
            }
            StmtKind::Store { access, value } => StmtKind::Store {
                access: place(kernel, access, own),
                value: expr(kernel, *value, own),
            },
            StmtKind::Update { place: at, op, value } => {
                let at = match at {
                    Place::Var(var) => Place::Var(named(var, own)),
                    Place::Element(access) => Place::Element(place(kernel, access, own)),
                };
                StmtKind::Update { place: at, op: *op, value: expr(kernel, *value, own) }
            }
            StmtKind::Atomic { access, op, expected, value, old } => StmtKind::Atomic {
                access: place(kernel, access, own),
                op: *op,
                expected: expected.map(|expected| expr(kernel, expected, own)),
                value: expr(kernel, *value, own),
                old: *old,
            },
            StmtKind::For { var, range, body } => {
                let mut range = *range;
                match &mut range {
                    LoopRange::Between { start, end, step, .. } => {
                        for bound in [Some(start), Some(end), step.as_mut()].into_iter().flatten() {
                            *bound = expr(kernel, *bound, own);
                        }
                    }
                    LoopRange::Halving(n) | LoopRange::Doubling(n) => *n = expr(kernel, *n, own),
                }
                let var = again(kernel, *var, own);
                StmtKind::For { var, range, body: self.copied(kernel, body, own) }
            }
            StmtKind::While { cond, body } => StmtKind::While {
                cond: expr(kernel, *cond, own),
                body: self.copied(kernel, body, own),
            },
            StmtKind::If { cond, then, otherwise } => {
                let is_over = self.asks(kernel, *cond);
                StmtKind::If {
                    cond: expr(kernel, *cond, own),
                    then: if is_over { Vec::new() } else { self.copied(kernel, then, own) },
                    otherwise: self.copied(kernel, otherwise, own),
                }
            }
            StmtKind::Assume { cond } => StmtKind::Assume { cond: expr(kernel, *cond, own) },
            // Of these there are none outside of what is left out.
            StmtKind::LetArray { .. }
            | StmtKind::Each { .. }
            | StmtKind::Phase { .. }
            | StmtKind::Exchange { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => kind.clone(),
        }
    }
}

/// Another variable in a variable's place.
fn again(kernel: &mut Kernel, var: VarId, own: &mut BTreeMap<VarId, VarId>) -> VarId {
    let copy = kernel.vars[var].clone();
    let copy = kernel.vars.push(copy);
    own.insert(var, copy);
    copy
}

fn copy_renamed(kernel: &mut Kernel, expr: ExprId, own: &BTreeMap<VarId, VarId>) -> ExprId {
    let span = kernel.exprs[expr].span;
    copy_expr(kernel, expr, &mut |kernel, var| {
        let copy = *own.get(&var)?;
        let ty = kernel.vars[var].ty;
        Some(kernel.exprs.push(Expr { kind: ExprKind::Var(copy), ty, span }))
    })
}
