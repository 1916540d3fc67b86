//! Loops that count by hand, as `for` loops for the proof.
//!
//! ```text
//! let mut j = 0;
//! while j < k { out[p] = 0.0; p += n; j += 1; }
//! ```
//!
//! How often a `for` loop runs its bounds say where it begins; how often this one does is known
//! where it is left. A loop around it, in whose rounds `p` goes on by `k * n` then, is followed only
//! where that is known before. So the loop is written as `for i in j..k { … }`, with `i` in the
//! place of `j`.
//!
//! # Why it means the same
//!
//! `j` goes on by 1 at the end of each round and is not changed elsewhere in it, and what it is less
//! than stays what it is: so no `j` wraps, and the rounds are those of the counter. Nobody reads `j`
//! but the loop itself. No number may be taken not to wrap of which a launch of the kernel as it
//! stands is not asked ([`Exact`]).

use std::collections::{BTreeMap, BTreeSet};

use super::Exact;
use super::agreed::turns::replace;
use super::assigned::assigned_in;
use super::interval::literal;
use super::strided::Strided;
use crate::kernel::{
    ExprId, ExprKind, Kernel, LoopRange, Place, Stmt, StmtKind, Var, VarId, VarKind, any_stmt,
    any_subexpr,
};

/// The kernel with such loops as `for` loops, if one stands in another loop and changes more than
/// its counter.
pub(super) fn written(kernel: &Kernel) -> Option<Kernel> {
    if !has_carrying(kernel, &kernel.body, false) {
        return None;
    }
    let reads = reads_in(kernel, &kernel.body);
    let mut out = kernel.clone();
    let is_changed = replace(&mut out, &|kernel, stmt| {
        let StmtKind::While { cond, body } = &stmt.kind else { return None };
        let found = counting(kernel, *cond, body)?;
        let is_own =
            reads_in(kernel, std::slice::from_ref(stmt)).get(&found.var) == reads.get(&found.var);
        is_own.then(|| vec![Stmt { kind: counted(kernel, &found), ..stmt.clone() }])
    });
    let asks_alike = || Exact::of(&out).is_asked_of(&out, &Exact::of(kernel), kernel);
    (is_changed && asks_alike()).then_some(out)
}

/// Whether statements, that stand in a loop or not, have such a loop in another one which changes
/// more than its counter.
fn has_carrying(kernel: &Kernel, stmts: &[Stmt], in_loop: bool) -> bool {
    stmts.iter().any(|stmt| {
        if let StmtKind::While { cond, body } = &stmt.kind
            && let Some(found) = counting(kernel, *cond, body).filter(|_| in_loop)
            && !assigned_in(found.body).is_empty()
        {
            return true;
        }
        let in_loop = in_loop || stmt.kind.is_loop();
        stmt.kind.bodies().into_iter().any(|body| has_carrying(kernel, body, in_loop))
    })
}

/// A loop that counts by 1 to what stays what it is.
fn counting<'a>(kernel: &Kernel, cond: ExprId, body: &'a [Stmt]) -> Option<Strided<'a>> {
    let found = Strided::of(kernel, cond, body)?;
    let changed = assigned_in(body);
    let changes = |kind: &ExprKind| match kind {
        ExprKind::Var(var) => changed.contains(var),
        ExprKind::Load(_) => true,
        _ => false,
    };
    let is_fixed = !any_subexpr(kernel, found.bounds.1, &mut |kind| changes(kind));
    (is_fixed && literal(kernel, found.step) == Some(1)).then_some(found)
}

/// How often statements read each variable.
fn reads_in(kernel: &Kernel, stmts: &[Stmt]) -> BTreeMap<VarId, usize> {
    let mut reads = BTreeMap::new();
    any_stmt(stmts, &mut |kind| {
        if let StmtKind::Update { place: Place::Var(var), .. } = kind {
            *reads.entry(*var).or_default() += 1;
        }
        let mut open = kind.exprs();
        while let Some(expr) = open.pop() {
            if let ExprKind::Var(var) = kernel.exprs[expr].kind {
                *reads.entry(var).or_default() += 1;
            }
            open.extend(kernel.exprs[expr].kind.operands());
        }
        false
    });
    reads
}

/// The loop, with a counter of its own.
fn counted(kernel: &mut Kernel, found: &Strided<'_>) -> StmtKind {
    let of = &kernel.vars[found.var];
    let (name, ty, span) = (of.name.clone(), of.ty, of.span);
    let kind = VarKind::Loop;
    let var = kernel.vars.push(Var { name, ty, kind, accumulator: false, span });
    for expr in exprs_in(kernel, found.body) {
        if kernel.exprs[expr].kind == ExprKind::Var(found.var) {
            kernel.exprs[expr].kind = ExprKind::Var(var);
        }
    }
    let (start, end) = found.bounds;
    let range = LoopRange::Between { start, end, step: None, reversed: false };
    StmtKind::For { var, range, body: found.body.to_vec() }
}

/// All expressions that statements evaluate.
fn exprs_in(kernel: &Kernel, stmts: &[Stmt]) -> BTreeSet<ExprId> {
    let mut found = BTreeSet::new();
    any_stmt(stmts, &mut |kind| {
        let mut open = kind.exprs();
        while let Some(expr) = open.pop() {
            if found.insert(expr) {
                open.extend(kernel.exprs[expr].kind.operands());
            }
        }
        false
    });
    found
}
