//! Prefetch: the next iteration's operands are loaded while the present ones
//! are used.
//!
//! A loop of the form, its trips constant and unrolled,
//!
//! ```text
//! for k { load fragments; compute }
//! ```
//!
//! becomes, with two buffers of each fragment,
//!
//! ```text
//! load fragments for the first k
//! for k {
//!     load next fragments for k + step    (except in the last iteration)
//!     compute
//!     fragments = next fragments
//! }
//! ```
//!
//! so that a load's latency is hidden behind the computation before it. Once the
//! loop is unrolled the copies are names for registers. What does not depend on
//! the counter is loaded once, before the loop.
//!
//! # When it may
//!
//! The loads at the head of the body set fragments of projections and nothing
//! else; what follows writes nothing that they read, sets none of the fragments,
//! and orders no memory. Then a value is the same one iteration earlier.

use std::collections::{BTreeMap, BTreeSet};

use super::rewrite::Replacement;
use super::touched::Touched;
use crate::config::Config;
use crate::op::{BinaryOp, CompareOp};
use crate::program::{
    Expr, ExprId, ExprKind, Fragment, FragmentId, LoopRange, ProgramKernel, Scope, Stmt, StmtKind,
    Ty, Unroll, VarId,
};

/// Gives the fragments of each loop of that form a second buffer, where `config`
/// asks for it.
pub(super) fn prefetch_fragments(kernel: &mut ProgramKernel, config: &Config) {
    if config.fragment_buffers < 2 {
        return;
    }
    let body = std::mem::take(&mut kernel.body);
    kernel.body = prefetch_in(kernel, body);
}

fn prefetch_in(kernel: &mut ProgramKernel, stmts: Vec<Stmt>) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in stmts {
        if let Some(prefetched) = Operands::of(kernel, &stmt) {
            out.extend(prefetched.rotated(kernel));
            continue;
        }
        for body in stmt.kind.bodies_mut() {
            *body = prefetch_in(kernel, std::mem::take(body));
        }
        out.push(stmt);
    }
    out
}

/// A loop whose operands can be loaded ahead, in parts.
struct Operands {
    var: VarId,
    start: ExprId,
    end: ExprId,
    step: ExprId,
    /// Loads that depend on the counter.
    loads: Vec<Stmt>,
    /// Loads that do not.
    invariant: Vec<Stmt>,
    compute: Vec<Stmt>,
    head: Stmt,
}

impl Operands {
    /// The parts of a loop of the form; `None` where it has another one.
    fn of(kernel: &ProgramKernel, stmt: &Stmt) -> Option<Self> {
        let StmtKind::For { var, range, unroll: Unroll::Full, body } = &stmt.kind else {
            return None;
        };
        let LoopRange::Between { start, end, step, reversed: false } = *range else { return None };
        let known = [start, end, step].map(|expr| kernel.constant(expr));
        let [Some(first), Some(past), Some(by)] = known else { return None };
        if stmt.scope != Scope::Block || by <= 0 || first + by >= past {
            return None;
        }
        let n_loads = body.iter().take_while(|stmt| sets_shared(kernel, stmt)).count();
        let (loads, compute) = body.split_at(n_loads);
        let touched = Touched::of(compute);
        let may_run_ahead = |stmt: &Stmt| {
            let mut reads = Touched::default();
            reads.reads_of(kernel, stmt);
            !touched.orders_memory
                && touched.arrays.is_disjoint(&reads.arrays)
                && touched.vars.is_disjoint(&reads.vars)
                && touched.fragments.is_disjoint(&set_by(stmt))
        };
        if compute.is_empty() || !loads.iter().all(may_run_ahead) {
            return None;
        }
        let depends = |stmt: &&Stmt| {
            let mut reads = Touched::default();
            reads.reads_of(kernel, stmt);
            reads.vars.contains(var)
        };
        let (loads, invariant): (Vec<&Stmt>, Vec<&Stmt>) = loads.iter().partition(depends);
        (n_loads > 0).then(|| Self {
            var: *var,
            start,
            end,
            step,
            loads: loads.into_iter().cloned().collect(),
            invariant: invariant.into_iter().cloned().collect(),
            compute: compute.to_vec(),
            head: stmt.clone(),
        })
    }

    fn rotated(self, kernel: &mut ProgramKernel) -> Vec<Stmt> {
        let StmtKind::For { var, range, unroll, .. } = self.head.kind.clone() else {
            return vec![self.head];
        };
        let first = at(self.var, self.start);
        let mut out = self.invariant.clone();
        out.extend(first.stmts(kernel, &self.loads));

        let ty = kernel.vars[self.var].ty;
        let counter = push(kernel, ExprKind::Var(self.var), ty);
        let sum = ExprKind::Binary { op: BinaryOp::Add, lhs: counter, rhs: self.step };
        let next_k = push(kernel, sum, ty);
        let below = ExprKind::Compare { op: CompareOp::Lt, lhs: next_k, rhs: self.end };
        let has_next = push(kernel, below, Ty::BOOL);
        let next = at(self.var, next_k);
        let (mut ahead, mut moves) = (Vec::new(), Vec::new());
        for stmt in &self.loads {
            let items = next.stmt(kernel, stmt);
            let (load, copy) = buffered(kernel, items);
            ahead.push(load);
            moves.push(copy);
        }
        let mut body = Vec::new();
        if !ahead.is_empty() {
            body.push(self.only_if(has_next, ahead));
        }
        body.extend(self.compute.iter().cloned());
        if !moves.is_empty() {
            body.push(self.only_if(has_next, moves));
        }
        let kind = StmtKind::For { var, range, unroll, body };
        out.push(Stmt { kind, ..self.head });
        out
    }

    fn only_if(&self, cond: ExprId, then: Vec<Stmt>) -> Stmt {
        Stmt { kind: StmtKind::If { cond, then, otherwise: Vec::new() }, ..self.head.clone() }
    }
}

/// The loads of one `Items` into new fragments, and the copies from these to
/// those that were loaded.
fn buffered(kernel: &mut ProgramKernel, items: Stmt) -> (Stmt, Stmt) {
    let (mut load, mut copy) = (items.clone(), items);
    for body in load.kind.bodies_mut() {
        for (stmt, copied) in body.iter_mut().zip(copy.kind.bodies_mut().into_iter().flatten()) {
            let StmtKind::SetFragment { fragment, value } = stmt.kind else { continue };
            let present = &kernel.fragments[fragment];
            let next = Fragment { name: format!("{}_next", present.name), ..present.clone() };
            let ty = next.ty;
            let next = kernel.fragments.push(next);
            stmt.kind = StmtKind::SetFragment { fragment: next, value };
            let value = push(kernel, ExprKind::Fragment(next), ty);
            copied.kind = StmtKind::SetFragment { fragment, value };
        }
    }
    (load, copy)
}

fn at(var: VarId, counter: ExprId) -> Replacement {
    Replacement { vars: BTreeMap::from([(var, counter)]), ..Replacement::default() }
}

/// Whether a statement does nothing but set fragments of a projection's items.
fn sets_shared(kernel: &ProgramKernel, stmt: &Stmt) -> bool {
    let StmtKind::Items { domain, body } = &stmt.kind else { return false };
    let sets = |stmt: &Stmt| matches!(stmt.kind, StmtKind::SetFragment { .. });
    kernel.domains[*domain].projection.is_some() && body.iter().all(sets)
}

fn set_by(items: &Stmt) -> BTreeSet<FragmentId> {
    Touched::of(std::slice::from_ref(items)).fragments
}

fn push(kernel: &mut ProgramKernel, kind: ExprKind, ty: Ty) -> ExprId {
    kernel.exprs.push(Expr { kind, ty })
}
