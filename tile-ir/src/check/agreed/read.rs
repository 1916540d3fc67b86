//! Elements that all work-items of a block read at one place are one value.
//!
//! ```text
//! loop {
//!     …
//!     barrier;
//!     if more[0] == 0 { break; }      // becomes `uniform(more[0]) == 0`
//!     barrier;
//!     …
//! }
//! ```
//!
//! Let all work-items of a block come by a load at an index that is the same for all. Each reads
//! the element between the same two barriers as the others, so that who writes it there races
//! with another one that reads it: a kernel in which two of them find different values has a
//! race, and one before them, since until they part all is as the text says. That is what
//! `uniform(…)` says, and the race rules see to it as they do there: to them it is a read by
//! every work-item.
//!
//! Loads are asked for that decide whether work-items meet, or of which a `uniform(…)` of the text
//! speaks, by way of variables and exits too: `let first = s[0]; … uniform(first)`. Those that not
//! all come by, or not at one index, are left as they are.

use std::collections::BTreeSet;

use super::assigned::Assigned;
use super::collect_deciding;
use crate::arena::EntityId as _;
use crate::check::flow::{self, Collective};
use crate::check::fold::Folds;
use crate::check::uniform::WrittenTensors;
use crate::exchange::Group;
use crate::kernel::{ArrayRef, Expr, ExprId, ExprKind, Kernel, Stmt, VarId, copy_expr_but};
use crate::span::SpanId;

/// The kernel in which `uniform` stands around the loads that decide whether work-items meet and
/// that all of a block come by; `None` where there are none. `values` says of an expression
/// whether it is the same for all.
pub(super) fn by_all(kernel: &Kernel, values: &[bool]) -> Option<Kernel> {
    let mut loads = deciding_loads(kernel, values);
    while !loads.is_empty() {
        let (now, said) = said_of(kernel, &loads);
        let refused = refused(&now);
        let is_right = |said: &Said| !refused.contains(&said.span);
        if said.iter().all(is_right) {
            return Some(now);
        }
        said.iter().filter(|said| !is_right(said)).for_each(|said| {
            loads.remove(&said.load);
        });
    }
    None
}

/// A load around which `uniform` stands.
struct Said {
    /// As the kernel had it.
    load: ExprId,
    span: SpanId,
}

/// Where `uniform` stands though not all come by or what it is said of differs.
fn refused(kernel: &Kernel) -> BTreeSet<SpanId> {
    let folds = Folds::of(kernel);
    let flow = flow::analyse(kernel, &|condition| folds.get(condition), Group::Block);
    let apart = flow.divergent.iter().filter(|found| found.collective == Collective::Uniform);
    let differing = flow.not_uniform.iter().map(|found| kernel.exprs[found.operand].span);
    apart.map(|found| found.head).chain(differing).collect()
}

/// Loads of tiles, and of tensors that the kernel writes, on whose values it rests whether
/// work-items meet.
fn deciding_loads(kernel: &Kernel, values: &[bool]) -> BTreeSet<ExprId> {
    let mut assigned = Assigned::default();
    assigned.add(&kernel.body);
    let mut vars: BTreeSet<VarId> = kernel.exits.iter().filter_map(|exit| exit.flag).collect();
    loop {
        let mut exprs: Vec<ExprId> = spoken_of(kernel, values).collect();
        collect_deciding((kernel, values, &vars), &kernel.body, &mut exprs);
        let behind = assigned.behind(kernel, &exprs);
        if behind.is_subset(&vars) {
            exprs.extend(assigned.values_of(&vars));
            let written = WrittenTensors::of(kernel);
            let mut loads = BTreeSet::new();
            exprs.iter().for_each(|expr| collect_loads((kernel, &written), *expr, &mut loads));
            return loads;
        }
        vars.extend(behind);
    }
}

/// What a `uniform(…)` of the text speaks of and may differ.
fn spoken_of(kernel: &Kernel, values: &[bool]) -> impl Iterator<Item = ExprId> {
    kernel.exprs.values().filter_map(|expr| match expr.kind {
        ExprKind::Uniform(operand) => Some(operand).filter(|operand| !values[operand.index()]),
        _ => None,
    })
}

fn collect_loads(
    (kernel, written): (&Kernel, &WrittenTensors),
    expr: ExprId,
    out: &mut BTreeSet<ExprId>,
) {
    let kind = &kernel.exprs[expr].kind;
    if matches!(kind, ExprKind::Uniform(_)) {
        return;
    }
    if let ExprKind::Load(access) = kind {
        let may_change = match access.array {
            ArrayRef::Tile(_) => !kernel.is_local(access.array),
            ArrayRef::Tensor(tensor) => written.contains(tensor),
        };
        if may_change {
            out.insert(expr);
        }
    }
    let operands = kind.operands().into_iter();
    operands.for_each(|operand| collect_loads((kernel, written), operand, out));
}

/// The kernel with `uniform` around these loads.
fn said_of(kernel: &Kernel, loads: &BTreeSet<ExprId>) -> (Kernel, Vec<Said>) {
    let mut now = kernel.clone();
    let mut said = Vec::new();
    let mut body = std::mem::take(&mut now.body);
    say_in(&mut now, &mut body, loads, &mut said);
    now.body = body;
    (now, said)
}

fn say_in(kernel: &mut Kernel, stmts: &mut [Stmt], loads: &BTreeSet<ExprId>, said: &mut Vec<Said>) {
    for stmt in stmts {
        for expr in stmt.kind.exprs_mut() {
            if holds_any(kernel, *expr, loads) {
                *expr = say(kernel, *expr, loads, said);
            }
        }
        let bodies = stmt.kind.bodies_mut().into_iter();
        bodies.for_each(|body| say_in(kernel, body, loads, said));
    }
}

/// Whether an expression is one of these or holds one.
fn holds_any(kernel: &Kernel, expr: ExprId, loads: &BTreeSet<ExprId>) -> bool {
    let mut operands = kernel.exprs[expr].kind.operands().into_iter();
    loads.contains(&expr) || operands.any(|operand| holds_any(kernel, operand, loads))
}

/// A copy of an expression with `uniform` around the loads in it.
fn say(
    kernel: &mut Kernel,
    expr: ExprId,
    loads: &BTreeSet<ExprId>,
    said: &mut Vec<Said>,
) -> ExprId {
    copy_expr_but(kernel, expr, &mut |kernel, load| {
        if !loads.contains(&load) {
            return None;
        }
        let inner = loads.iter().copied().filter(|other| *other != load).collect();
        let operand = say(kernel, load, &inner, said);
        let Expr { ty, span, .. } = kernel.exprs[load];
        said.push(Said { load, span });
        Some(kernel.exprs.push(Expr { kind: ExprKind::Uniform(operand), ty, span }))
    })
}
