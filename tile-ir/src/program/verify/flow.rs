//! Flow: what is read was set before, on every path, and is in scope.
//!
//! A variable is in scope from its declaration to the end of the list that
//! declares it; one declared without a value is set by an assignment. A fragment
//! is in scope everywhere. A loop may run no iteration, unless its bounds show
//! that it runs one. What a branch sets is set again in a later branch on the
//! same condition, while nothing that the condition reads has been assigned.

use std::collections::BTreeSet;

use super::expr::evaluated;
use super::{Place, Verifier};
use crate::op::BinaryOp;
use crate::program::{
    ArgSource, ExprId, ExprKind, FragmentId, Literal, LoopRange, Stmt, StmtKind, VarId,
};

pub(super) fn verify_flow(cx: &mut Verifier<'_>) {
    let kernel = cx.kernel;
    let mut state = State::default();
    for axis in &kernel.grid {
        state.visible.insert(axis.var);
        state.counters.insert(axis.var);
        state.vars.insert(axis.var);
    }
    let mut number = 0;
    list(cx, &kernel.body, &mut state, &mut number);
}

/// What holds at a place, whichever path led there.
#[derive(Clone, Default)]
struct State {
    visible: BTreeSet<VarId>,
    /// Counters of the enclosing loops and of the grid: nothing assigns them.
    counters: BTreeSet<VarId>,
    vars: BTreeSet<VarId>,
    fragments: BTreeSet<FragmentId>,
    /// Fragments that are set where a condition held.
    where_held: Vec<(ExprId, BTreeSet<FragmentId>)>,
}

impl State {
    /// What holds whichever of two paths was taken.
    fn join(&mut self, other: &Self) {
        self.vars.retain(|var| other.vars.contains(var));
        self.fragments.retain(|fragment| other.fragments.contains(fragment));
        self.where_held.retain(|held| other.where_held.contains(held));
    }

    /// The variable has another value from here on.
    fn forget(&mut self, cx: &Verifier<'_>, var: VarId) {
        self.where_held.retain(|(cond, _)| !reads(cx, *cond, var));
    }

    /// The fragments that are set where `cond` holds, on top of the others.
    fn assume(&mut self, cond: ExprId) {
        for (held, fragments) in &self.where_held {
            if *held == cond {
                self.fragments.extend(fragments);
            }
        }
    }
}

fn list(cx: &mut Verifier<'_>, stmts: &[Stmt], state: &mut State, number: &mut usize) {
    let outside = state.visible.clone();
    for stmt in stmts {
        cx.place = Place::Stmt(*number);
        *number += 1;
        stmt.kind.for_each_expr(&mut |expr| verify_uses(cx, expr, state));
        verify_stmt(cx, stmt, state, number);
    }
    state.vars.retain(|var| outside.contains(var));
    state.visible = outside;
}

fn verify_stmt(cx: &mut Verifier<'_>, stmt: &Stmt, state: &mut State, number: &mut usize) {
    match &stmt.kind {
        StmtKind::Let { var, value } => {
            declare(cx, *var, state);
            if value.is_some() {
                state.vars.insert(*var);
            }
        }
        StmtKind::Shuffle { var, .. } | StmtKind::Ballot { var, .. } => {
            declare(cx, *var, state);
            state.vars.insert(*var);
        }
        StmtKind::Assign { var, .. } => {
            let name = &cx.kernel.vars[*var].name;
            let (is_visible, is_counter) =
                (state.visible.contains(var), state.counters.contains(var));
            cx.require(is_visible, || format!("`{name}` is not declared here"));
            cx.require(!is_counter, || format!("the counter `{name}` is assigned"));
            state.vars.insert(*var);
            state.forget(cx, *var);
        }
        StmtKind::SetFragment { fragment, .. } => {
            state.fragments.insert(*fragment);
        }
        StmtKind::Items { body, .. } => list(cx, body, state, number),
        StmtKind::For { var, range, body, .. } => {
            forget_assigned(cx, body, state);
            let runs = runs_at_least_once(cx, range);
            let mut inside = state.clone();
            declare(cx, *var, &mut inside);
            inside.vars.insert(*var);
            inside.counters.insert(*var);
            list(cx, body, &mut inside, number);
            if runs {
                state.vars.extend(inside.vars.into_iter().filter(|other| other != var));
                state.fragments.extend(inside.fragments);
            }
        }
        StmtKind::While { body, .. } => {
            forget_assigned(cx, body, state);
            list(cx, body, &mut state.clone(), number);
        }
        StmtKind::If { cond, then, otherwise } => {
            let mut other = state.clone();
            state.assume(*cond);
            list(cx, then, state, number);
            list(cx, otherwise, &mut other, number);
            let set = state.fragments.difference(&other.fragments).copied().collect();
            state.join(&other);
            if is_of_variables(cx, *cond) {
                state.where_held.push((*cond, set));
            }
        }
        StmtKind::Atomic { old, .. } => {
            if let Some(old) = *old {
                declare(cx, old, state);
                state.vars.insert(old);
            }
        }
        StmtKind::Store { .. }
        | StmtKind::Copy { .. }
        | StmtKind::Commit(_)
        | StmtKind::Wait { .. }
        | StmtKind::Assume(_)
        | StmtKind::Barrier(_)
        | StmtKind::WarpBarrier => {}
    }
}

/// Conditions hold of one iteration: those that a body changes are forgotten.
fn forget_assigned(cx: &Verifier<'_>, body: &[Stmt], state: &mut State) {
    for stmt in body {
        if let StmtKind::Assign { var, .. } = &stmt.kind {
            state.forget(cx, *var);
        }
        stmt.kind.bodies().into_iter().for_each(|body| forget_assigned(cx, body, state));
    }
}

/// Whether an expression's value depends on nothing but variables.
fn is_of_variables(cx: &Verifier<'_>, id: ExprId) -> bool {
    let kind = &cx.expr(id).kind;
    let mut depends = !matches!(kind, ExprKind::Load(_) | ExprKind::Fragment(_));
    kind.for_each_operand(&mut |operand| depends = depends && is_of_variables(cx, operand));
    depends
}

fn reads(cx: &Verifier<'_>, id: ExprId, var: VarId) -> bool {
    let kind = &cx.expr(id).kind;
    let mut found = matches!(kind, ExprKind::Var(read) if *read == var);
    kind.for_each_operand(&mut |operand| found = found || reads(cx, operand, var));
    found
}

fn declare(cx: &mut Verifier<'_>, var: VarId, state: &mut State) {
    let is_new = state.visible.insert(var);
    state.vars.remove(&var);
    let name = &cx.kernel.vars[var].name;
    cx.require(is_new, || format!("`{name}` is declared here already"));
}

fn verify_uses(cx: &mut Verifier<'_>, expr: ExprId, state: &State) {
    for id in evaluated(cx, expr) {
        match cx.expr(id).kind {
            ExprKind::Var(var) => {
                let name = &cx.kernel.vars[var].name;
                if !state.visible.contains(&var) {
                    cx.fault(format!("`{name}` is read where it is not declared"));
                } else if !state.vars.contains(&var) {
                    cx.fault(format!("`{name}` is read and may not have been set"));
                }
            }
            ExprKind::Fragment(fragment) => {
                let name = &cx.kernel.fragments[fragment].name;
                cx.require(state.fragments.contains(&fragment), || {
                    format!("the fragment `{name}` is read and may not have been set")
                });
            }
            _ => {}
        }
    }
}

/// Whether the bounds of a loop show that it runs an iteration.
fn runs_at_least_once(cx: &Verifier<'_>, range: &LoopRange) -> bool {
    match *range {
        LoopRange::Between { start, end, step, .. } => {
            let known = (literal(cx, start), least(cx, end), literal(cx, step));
            matches!(known, (Some(start), Some(end), Some(step)) if start < end && step > 0)
        }
        LoopRange::Halving(n) | LoopRange::Doubling(n) => least(cx, n).is_some_and(|n| n >= 2),
    }
}

fn literal(cx: &Verifier<'_>, id: ExprId) -> Option<i128> {
    match cx.expr(id).kind {
        ExprKind::Literal(Literal::Int(value)) => Some(value),
        _ => None,
    }
}

/// A number that an index is never below, `None` where none is known.
fn least(cx: &Verifier<'_>, id: ExprId) -> Option<i128> {
    match cx.expr(id).kind {
        ExprKind::Literal(Literal::Int(value)) => Some(value),
        ExprKind::Arg(arg) => match cx.kernel.args[arg].source {
            ArgSource::Dim(_) => Some(0),
            ArgSource::Scalar(_) | ArgSource::Stride { .. } => None,
        },
        ExprKind::Var(var) => cx.kernel.grid.iter().any(|axis| axis.var == var).then_some(0),
        ExprKind::Coord { .. } | ExprKind::CeilDiv { .. } => Some(0),
        ExprKind::Cast(operand) if cx.ty(operand).is_index() => least(cx, operand),
        ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => {
            Some(least(cx, lhs)?.saturating_add(least(cx, rhs)?))
        }
        ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => {
            let (lhs, rhs) = (least(cx, lhs)?, least(cx, rhs)?);
            (lhs >= 0 && rhs >= 0).then(|| lhs.saturating_mul(rhs))
        }
        _ => None,
    }
}
