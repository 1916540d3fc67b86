//! Ranks that a loop counts, taken from the order of atomic updates for the proof.
//!
//! ```text
//! s[t] = d; h[t] = 0; barrier;
//! atomic h[d] += 1;
//! barrier; …                                      // the cells become where each key's places begin
//! let mut r = h[d];
//! for i in 0..t { if s[i] == d { r += 1; } }
//! out[r] = …;
//! ```
//!
//! The loop counts the work-items before the own one that have its key. So many have raised the
//! key's cell before, if the work-items raise it in their order. They may: atomic updates of a
//! barrier interval are made in any order. So what the loop counts is what the own update has found
//! in the cell, less what was there before all of them:
//!
//! ```text
//! barrier; let before = h[d]; barrier;
//! let old = atomic h[d] += 1;
//! barrier; …
//! let mut r = h[d];
//! for i in 0..t { if s[i] == d { rank += 1; } }   // into a variable of its own
//! r += old - before;
//! ```
//!
//! Where the cells are seen to begin with 0 ([`cleared`]), nothing is read before.
//!
//! That kernel does all that the other may do, and more, since there the updates may come in another
//! order too. And of the old values of atomic updates the proof knows that no two are alike.
//!
//! # What it rests on
//!
//! - All work-items of the block run the list of statements in which all this stands, together: it
//!   has a barrier. So each stores its key once before the loop, and raises its cell once.
//! - The tile of keys is stored by that one statement alone, each work-item in its own cell, before
//!   a barrier behind which the loop reads it; and two keys are alike where the cells are ([`keys`]).
//! - Nothing else touches the tile of counts between the two barriers around the update, nobody asks
//!   for what the update has found, and nobody waits for others there. So in whatever order the
//!   updates are made, the kernel does the same, and they may be made in each.
//! - The one barrier that is put in stands behind another one, and nothing but a read that is put
//!   in, and what reads nothing that is ever written, between both: so it orders nothing that was
//!   not in order.
//! - The count goes round in its type as the difference does.

mod cleared;
mod counting;
mod keys;

use std::collections::BTreeSet;

use self::counting::Counting;
use self::keys::Keys;
use super::agreed::turns::like;
use super::interval::literal;
use super::{Exact, uniformity};
use crate::exchange::Group;
use crate::kernel::{
    Access, ArrayRef, Expr, ExprId, ExprKind, Kernel, Literal, Place, Stmt, StmtKind, TileSpace,
    Type, Var, VarId, VarKind, any_stmt, any_subexpr, copy_expr,
};
use crate::op::{AtomicOp, BinaryOp};
use crate::span::SpanId;

/// The kernel with such ranks taken from atomic updates, if it has one.
pub(super) fn taken(kernel: &Kernel) -> Option<Kernel> {
    let is_update = &mut |kind: &StmtKind| matches!(kind, StmtKind::Atomic { .. });
    if kernel.block.as_ref()?.len() != 1 || !any_stmt(&kernel.body, is_update) {
        return None;
    }
    let mut out = kernel.clone();
    let mut body = std::mem::take(&mut out.body);
    let is_changed = list((kernel, true), &mut out, &mut body);
    out.body = body;
    let asks_alike = || Exact::of(&out).is_asked_of(&out, &Exact::of(kernel), kernel);
    (is_changed && asks_alike()).then_some(out)
}

/// Writes the ranks of a list and of those in it, which is one of `kernel`, or all of its body;
/// whether there was one.
fn list((kernel, is_all): (&Kernel, bool), out: &mut Kernel, stmts: &mut Vec<Stmt>) -> bool {
    let mut is_changed = false;
    if stmts.iter().any(is_barrier)
        && let Some(rank) = Rank::of((kernel, is_all), stmts)
    {
        rank.write(out, stmts);
        is_changed = true;
    }
    for stmt in stmts {
        for body in stmt.kind.bodies_mut() {
            is_changed |= list((kernel, false), out, body);
        }
    }
    is_changed
}

/// Whether a statement is a barrier of the block.
fn is_barrier(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Barrier => true,
        StmtKind::Exchange { op, .. } => op.group() == Group::Block,
        _ => false,
    }
}

/// A rank and the update that it is taken from, in one list.
struct Rank {
    /// Where the loop is that counts it.
    counted_at: usize,
    counting: Counting,
    /// Where the update is.
    updated_at: usize,
    /// Where the cell is read before, if it is not known to be 0.
    before: Option<Before>,
}

/// Where a cell is read that is raised later.
struct Before {
    /// The barrier behind which it is.
    barrier_at: usize,
    /// What declares a name behind that, and may as well do so directly behind it.
    early: Vec<usize>,
}

impl Rank {
    fn of((kernel, is_all): (&Kernel, bool), stmts: &[Stmt]) -> Option<Self> {
        let countings = stmts
            .iter()
            .enumerate()
            .filter_map(|(at, stmt)| Some((at, Counting::of(kernel, stmt)?)));
        let countings: Vec<(usize, Counting)> = countings.collect();
        if countings.is_empty() {
            return None;
        }
        let uniform = uniformity(kernel);
        countings.into_iter().find_map(|(at, counting)| {
            let updates = 0..stmts.len();
            let (updated_at, before) = updates.into_iter().find_map(|updated_at| {
                let keys = Keys::of((kernel, &uniform), stmts, [at, updated_at], counting.keys)?;
                let access = raised(kernel, &stmts[updated_at])?;
                let (barrier_at, next) = alone(kernel, stmts, (updated_at, access.array))?;
                let is_kept = at > next || !names_between(kernel, stmts, (at, next), counting.var);
                if !is_kept || !keys.are_those_of(&counting, access) {
                    return None;
                }
                if cleared::begins_with_none((kernel, is_all), &stmts[..barrier_at], access.array) {
                    return Some((updated_at, None));
                }
                let early = keys.early(stmts, (barrier_at, updated_at), access)?;
                Some((updated_at, Some(Before { barrier_at, early })))
            })?;
            Some(Self { counted_at: at, counting, updated_at, before })
        })
    }

    fn write(self, kernel: &mut Kernel, stmts: &mut Vec<Stmt>) {
        let Self { counted_at, counting, updated_at, before } = self;
        let StmtKind::Atomic { access, value: one, .. } = stmts[updated_at].kind.clone() else {
            return;
        };
        let Expr { ty: held, span, .. } = kernel.exprs[one];
        let at = |stmt: &Stmt, kind| Stmt { kind, span: stmt.span, head: stmt.head };
        let old = declare(kernel, "old", (held, span));
        let mut found = like(kernel, one, ExprKind::Var(old));
        let read = before.as_ref().map(|_| {
            let before = declare(kernel, "before", (held, span));
            let rhs = like(kernel, one, ExprKind::Var(before));
            found = like(kernel, one, ExprKind::Binary { op: BinaryOp::Sub, lhs: found, rhs });
            let indices = access.indices.iter();
            let indices =
                indices.map(|index| copy_expr(kernel, *index, &mut |_, _| None)).collect();
            let read = like(kernel, one, ExprKind::Load(Access { indices, ..access.clone() }));
            at(&stmts[updated_at], StmtKind::Let { var: before, init: Some(read) })
        });
        let rank = kernel.vars[counting.var].clone();
        let ty = rank.ty;
        let rank = kernel.vars.push(Var { kind: VarKind::Let { mutable: true }, ..rank });
        if held != ty {
            found = kernel.exprs.push(Expr { kind: ExprKind::Cast(found), ty, span });
        }
        let place = Place::Var(counting.var);
        let add = StmtKind::Update { place, op: BinaryOp::Add, value: found };
        let none = Expr { kind: ExprKind::Literal(Literal::Int(0)), ty, span };
        let none = kernel.exprs.push(none);
        let Before { barrier_at, early } =
            before.unwrap_or(Before { barrier_at: usize::MAX, early: Vec::new() });
        let mut out = Vec::with_capacity(stmts.len() + 4);
        for (number, stmt) in stmts.iter().enumerate() {
            if early.contains(&number) {
                continue;
            }
            let mut own = stmt.clone();
            if number == counted_at {
                out.push(at(stmt, StmtKind::Let { var: rank, init: Some(none) }));
                counting.count_into(kernel, &mut own, rank);
            }
            match &mut own.kind {
                StmtKind::Atomic { old: found, .. } if number == updated_at => *found = Some(old),
                _ => {}
            }
            out.push(own);
            if number == barrier_at {
                out.extend(early.iter().map(|early| stmts[*early].clone()));
                out.extend(read.clone());
                out.push(at(stmt, StmtKind::Barrier));
            }
            if number == counted_at.max(updated_at) {
                out.push(at(&stmts[counted_at], add.clone()));
            }
        }
        *stmts = out;
    }
}

/// A variable that is given once.
fn declare(kernel: &mut Kernel, name: &str, (ty, span): (Type, SpanId)) -> VarId {
    let kind = VarKind::Let { mutable: false };
    kernel.vars.push(Var { name: name.to_owned(), ty, kind, accumulator: false, span })
}

/// The cell that a statement raises by one, if it is one of a shared tile and nobody asks for what
/// was there.
fn raised<'a>(kernel: &Kernel, stmt: &'a Stmt) -> Option<&'a Access> {
    let StmtKind::Atomic { access, op: AtomicOp::Add, expected: None, value, old } = &stmt.kind
    else {
        return None;
    };
    let ArrayRef::Tile(tile) = access.array else { return None };
    let is_asked =
        old.is_some_and(|old| kernel.exprs.values().any(|expr| expr.kind == ExprKind::Var(old)));
    let is_one = literal(kernel, *value) == Some(1);
    let is_shared = kernel.tiles[tile].space == TileSpace::Shared;
    (is_one && is_shared && !is_asked).then_some(access)
}

/// The barriers before and behind an update, if nothing else between both touches its array, and
/// nothing there depends on who comes first.
fn alone(
    kernel: &Kernel,
    stmts: &[Stmt],
    (updated_at, array): (usize, ArrayRef),
) -> Option<(usize, usize)> {
    let before = stmts[..updated_at].iter().rposition(is_barrier)?;
    let behind = updated_at + 1 + stmts[updated_at + 1..].iter().position(is_barrier)?;
    // The operand of a sum of the block is computed before it is a barrier.
    let mut others = (before + 1..=behind).filter(|at| *at != updated_at);
    let is_alone = !others.any(|at| touches(kernel, &stmts[at], array) || is_in_turn(&stmts[at]));
    is_alone.then_some((before, behind))
}

/// Whether work-items may wait for each other in a statement, or find out who came first.
fn is_in_turn(stmt: &Stmt) -> bool {
    any_stmt(std::slice::from_ref(stmt), &mut |kind| {
        matches!(kind, StmtKind::While { .. } | StmtKind::Atomic { old: Some(_), .. })
    })
}

/// Whether a statement, or one inside of it, reads or writes an array.
fn touches(kernel: &Kernel, stmt: &Stmt, array: ArrayRef) -> bool {
    let is_read = |kind: &ExprKind| matches!(kind, ExprKind::Load(of) if of.array == array);
    any_stmt(std::slice::from_ref(stmt), &mut |kind| {
        let reads = |expr: ExprId| any_subexpr(kernel, expr, &mut |kind| is_read(kind));
        kind.written() == Some(array) || kind.exprs().into_iter().any(reads)
    })
}

/// Whether a variable is named behind one statement of a list, up to another one.
fn names_between(kernel: &Kernel, stmts: &[Stmt], (from, to): (usize, usize), var: VarId) -> bool {
    any_stmt(&stmts[from + 1..=to.max(from)], &mut |kind| {
        let sets = match kind {
            StmtKind::Let { var: of, .. }
            | StmtKind::Assign { var: of, .. }
            | StmtKind::Update { place: Place::Var(of), .. } => *of == var,
            _ => false,
        };
        let is_var = |kind: &ExprKind| *kind == ExprKind::Var(var);
        let names = |expr: ExprId| any_subexpr(kernel, expr, &mut |kind| is_var(kind));
        sets || kind.exprs().into_iter().any(names)
    })
}

/// The variables that a statement declares for those behind it in its list.
fn declared(stmt: &Stmt) -> Option<VarId> {
    match &stmt.kind {
        StmtKind::Let { var, .. } | StmtKind::Exchange { var, .. } => Some(*var),
        StmtKind::Atomic { old, .. } => *old,
        _ => None,
    }
}

/// The variables that expressions name.
fn named(kernel: &Kernel, exprs: &[ExprId]) -> BTreeSet<VarId> {
    let mut vars = BTreeSet::new();
    for expr in exprs {
        any_subexpr(kernel, *expr, &mut |kind| {
            if let ExprKind::Var(var) = kind {
                vars.insert(*var);
            }
            false
        });
    }
    vars
}

/// How many bits an integer has that a type is of.
fn bits_of(ty: Type) -> Option<u32> {
    match ty {
        Type::Index => Some(64),
        Type::BOOL => Some(1),
        Type::Scalar(_) => ty.integer_range().map(|(min, max)| (max - min).count_ones()),
    }
}
