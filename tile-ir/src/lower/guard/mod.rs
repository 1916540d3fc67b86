//! Guard: deletes the comparisons of accesses that are provably true, and the
//! conditions that are: `in_bounds(..)`, and comparisons of indices such as `i < N`.
//!
//! An index is bounded by a linear form over the launch's arguments: each
//! coordinate and counter takes its end of range, the grid's counters with the
//! facts that the launch has about its dimensions (`n` is a multiple of `t`, so
//! `b < ceil(n / t)` gives `b * t <= n - t`). The comparison `index < extent`
//! goes where the bound minus the extent is a negative constant. What that does not say
//! may follow from the conditions under which the access is made (`facts`).

mod bounds;
mod facts;
mod sum;

use std::collections::BTreeMap;

use self::bounds::{Bounds, End};
use self::facts::Facts;
use self::sum::Linear;
use crate::kernel;
use crate::op::LogicOp;
use crate::program::{
    Access, AxisGuard, ExprId, ExprKind, Literal, ProgramKernel, Stmt, StmtKind, Target,
};

/// Deletes what is proved, given a divisor of each dimension. Guarantees that
/// no access leaves its array: only comparisons that always hold are deleted.
pub(super) fn delete_proved_guards(kernel: &mut ProgramKernel, divisors: &[(kernel::VarId, u32)]) {
    let mut bounds = Bounds::of(kernel, divisors);
    let exprs: Vec<ExprId> = kernel.exprs.ids().collect();
    for id in exprs {
        match kernel.exprs[id].kind.clone() {
            ExprKind::Load(mut access) => {
                prove(kernel, &bounds, &Facts::default(), &mut access);
                kernel.exprs[id].kind = ExprKind::Load(access);
            }
            ExprKind::InBounds { buffer, indices } => {
                let target = Target::Buffer(buffer);
                let is_inside = |(axis, &index): (usize, &ExprId)| {
                    let place = (target, axis, index);
                    let guard =
                        unproved(kernel, &bounds, &Facts::default(), place, AxisGuard::BOTH);
                    !guard.any()
                };
                if indices.iter().enumerate().all(is_inside) {
                    kernel.exprs[id].kind = ExprKind::Literal(Literal::Bool(true));
                }
            }
            ExprKind::Compare { op, lhs, rhs } if bounds.always(kernel, op, lhs, rhs) => {
                kernel.exprs[id].kind = ExprKind::Literal(Literal::Bool(true));
            }
            _ => {}
        }
    }
    fold_conditions(kernel);
    let mut body = std::mem::take(&mut kernel.body);
    let mut needed = Needed::new();
    prove_in(kernel, &mut bounds, &mut Facts::default(), &mut body, &mut needed);
    for (id, guards) in needed {
        if let ExprKind::Load(access) = &mut kernel.exprs[id].kind {
            keep_needed(access, guards);
        }
    }
    kernel.body = without_idle_conditions(kernel, body);
}

/// Of loads, the comparisons that some statement needs in which they stand.
type Needed = BTreeMap<ExprId, Vec<AxisGuard>>;

/// Leaves out what always holds in an `&&`, and of a choice that always falls one
/// way the other one.
pub(super) fn fold_conditions(kernel: &mut ProgramKernel) {
    let ids: Vec<ExprId> = kernel.exprs.ids().collect();
    let holds = |kernel: &ProgramKernel, id: ExprId| {
        kernel.exprs[id].kind == ExprKind::Literal(Literal::Bool(true))
    };
    // What holds parts of others may come before them.
    let mut folded = true;
    while std::mem::take(&mut folded) {
        for &id in &ids {
            let rest = match kernel.exprs[id].kind {
                ExprKind::Logic { op: LogicOp::And, lhs, rhs } if holds(kernel, lhs) => rhs,
                ExprKind::Logic { op: LogicOp::And, lhs, rhs } if holds(kernel, rhs) => lhs,
                ExprKind::Select { cond, then, .. } if holds(kernel, cond) => then,
                _ => continue,
            };
            kernel.exprs[id].kind = kernel.exprs[rest].kind.clone();
            folded = true;
        }
    }
}

/// Statements with what is in conditionals that always hold in their place.
pub(super) fn without_idle_conditions(kernel: &ProgramKernel, stmts: Vec<Stmt>) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in stmts {
        for body in stmt.kind.bodies_mut() {
            *body = without_idle_conditions(kernel, std::mem::take(body));
        }
        let holds =
            |cond: ExprId| kernel.exprs[cond].kind == ExprKind::Literal(Literal::Bool(true));
        match stmt.kind {
            StmtKind::If { cond, then, .. } if holds(cond) => out.extend(then),
            _ => out.push(stmt),
        }
    }
    out
}

fn prove_in(
    kernel: &ProgramKernel,
    bounds: &mut Bounds,
    facts: &mut Facts,
    stmts: &mut [Stmt],
    needed: &mut Needed,
) {
    for stmt in stmts {
        stmt.kind.for_each_expr(&mut |id| note_needed(kernel, bounds, facts, id, needed));
        if let StmtKind::Copy { src, .. } = &mut stmt.kind {
            prove(kernel, bounds, facts, src);
        }
        if let Some(access) = stmt.kind.written_accesses_mut() {
            prove(kernel, bounds, facts, access);
        }
        if let StmtKind::If { cond, then, otherwise } = &mut stmt.kind {
            let known = (bounds.narrowed.clone(), facts.clone());
            bounds.assume(kernel, *cond);
            facts.assume(kernel, bounds, *cond);
            prove_in(kernel, bounds, facts, then, needed);
            (bounds.narrowed, *facts) = known;
            prove_in(kernel, bounds, facts, otherwise, needed);
            continue;
        }
        let known = facts.clone();
        match &stmt.kind {
            StmtKind::Items { .. } => facts.forget_items(),
            StmtKind::For { var, .. } => facts.forget_counter(*var),
            _ => {}
        }
        for body in stmt.kind.bodies_mut() {
            prove_in(kernel, bounds, facts, body, needed);
        }
        *facts = known;
    }
}

/// Notes which comparisons the loads in an expression need where it stands.
fn note_needed(
    kernel: &ProgramKernel,
    bounds: &Bounds,
    facts: &Facts,
    id: ExprId,
    needed: &mut Needed,
) {
    let kind = &kernel.exprs[id].kind;
    if let ExprKind::Load(access) = kind
        && access.is_guarded()
    {
        let guards = unproved_of(kernel, bounds, facts, access);
        let all = needed.entry(id).or_insert_with(|| vec![AxisGuard::default(); guards.len()]);
        for (all, guard) in all.iter_mut().zip(guards) {
            all.lower |= guard.lower;
            all.upper |= guard.upper;
        }
    }
    kind.for_each_operand(&mut |operand| note_needed(kernel, bounds, facts, operand, needed));
}

fn prove(kernel: &ProgramKernel, bounds: &Bounds, facts: &Facts, access: &mut Access) {
    let guards = unproved_of(kernel, bounds, facts, access);
    keep_needed(access, guards);
}

fn keep_needed(access: &mut Access, guards: Vec<AxisGuard>) {
    for (guard, needed) in access.guards.iter_mut().zip(guards) {
        *guard = needed;
    }
    if !access.is_guarded() {
        access.pad = None;
    }
}

/// The comparisons of an access's guards that are not proved, by axis.
fn unproved_of(
    kernel: &ProgramKernel,
    bounds: &Bounds,
    facts: &Facts,
    access: &Access,
) -> Vec<AxisGuard> {
    let axes = access.indices.iter().zip(&access.guards).enumerate();
    let guards = axes.map(|(axis, (&index, &guard))| {
        unproved(kernel, bounds, facts, (access.target, axis, index), guard)
    });
    guards.collect()
}

/// The comparisons of a guard that are not proved.
fn unproved(
    kernel: &ProgramKernel,
    bounds: &Bounds,
    facts: &Facts,
    (target, axis, index): (Target, usize, ExprId),
    guard: AxisGuard,
) -> AxisGuard {
    let lower = guard.lower && {
        let least = bounds.linear(kernel, index, End::Least);
        !least.is_some_and(|form| form.is_natural()) && !facts.is_natural(kernel, bounds, index)
    };
    let upper = guard.upper && {
        let most = bounds.linear(kernel, index, End::Most);
        let extent = match target {
            Target::Buffer(id) => {
                let extent = kernel.buffers[id].extents[axis];
                bounds.linear(kernel, extent, End::Least)
            }
            Target::Tile(id) => Some(Linear::constant(i128::from(kernel.tiles[id].extents[axis]))),
        };
        let apart = most.zip(extent).and_then(|(most, extent)| most.plus(&extent, -1));
        !apart.is_some_and(|apart| apart.is_negative_constant())
            && !facts.is_below(kernel, bounds, (target, axis), index)
    };
    AxisGuard { lower, upper }
}
