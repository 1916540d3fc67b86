//! Flags by which a loop goes on, turned round for the proof.
//!
//! ```text
//! let mut go = true;
//! while go { … go = e; if go { barrier; } }
//! ```
//!
//! In the round in which the flag falls the block leaves the loop, and whoever asks for it knows
//! that. Of a flag that is first `false` and is only ever set the proof follows this (as of what
//! a `break` sets, [`crate::kernel::Exit`]). So the flag above becomes one that is set in place
//! of it, and is asked the other way round:
//!
//! ```text
//! let mut done = false;
//! while !done { … if !e { done = true; } if !done { barrier; } }
//! ```
//!
//! It does the same where the flag still holds wherever an expression is assigned to it: no
//! other assignment may stand in the loop, and that one is made once in a round.

use std::collections::BTreeSet;

use crate::kernel::{
    Expr, ExprId, ExprKind, Kernel, Literal, Place, Stmt, StmtKind, VarId, any_stmt,
};
use crate::op::{LogicOp, UnaryOp};

/// The kernel with such flags turned round, and expressions set by conditions; if it has one.
pub(super) fn turned(kernel: &Kernel) -> Option<Kernel> {
    let mut asked = BTreeSet::new();
    collect(kernel, &kernel.body, &mut asked);
    let flags: Vec<Flag> =
        asked.iter().filter_map(|(var, goes_on)| Flag::of(kernel, (*var, *goes_on))).collect();
    if flags.is_empty() {
        return None;
    }
    let mut out = kernel.clone();
    flags.iter().for_each(|flag| flag.turn(&mut out));
    Some(out)
}

/// The variables that the conditions of `while`s ask for, and whether that they hold.
fn collect(kernel: &Kernel, stmts: &[Stmt], out: &mut BTreeSet<(VarId, bool)>) {
    for stmt in stmts {
        if let StmtKind::While { cond, .. } = stmt.kind {
            asked(kernel, cond, out);
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect(kernel, body, out));
    }
}

/// Adds those of one condition.
fn asked(kernel: &Kernel, cond: ExprId, out: &mut BTreeSet<(VarId, bool)>) {
    match kernel.exprs[cond].kind {
        ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
            [lhs, rhs].into_iter().for_each(|side| asked(kernel, side, out));
        }
        ExprKind::Var(var) => {
            out.insert((var, true));
        }
        ExprKind::Unary { op: UnaryOp::Not, operand } => {
            if let ExprKind::Var(var) = kernel.exprs[operand].kind {
                out.insert((var, false));
            }
        }
        _ => {}
    }
}

/// A flag of one loop.
struct Flag {
    var: VarId,
    /// Whether the loop goes on while it holds.
    goes_on: bool,
}

impl Flag {
    /// A variable, if it is one whose loop ends as soon as it changes.
    fn of(kernel: &Kernel, (var, goes_on): (VarId, bool)) -> Option<Self> {
        let flag = Self { var, goes_on };
        let all = all_assigned(&kernel.body, var);
        let sets_otherwise = any_stmt(&kernel.body, &mut |kind| match kind {
            StmtKind::Let { var: other, init } => {
                *other == var && !init.is_some_and(|init| is_literal(kernel, init, goes_on))
            }
            StmtKind::Update { place: Place::Var(other), .. }
            | StmtKind::Exchange { var: other, .. } => *other == var,
            StmtKind::Atomic { old, .. } => *old == Some(var),
            _ => false,
        });
        let is_of_one_loop = any_stmt(&kernel.body, &mut |kind| {
            let StmtKind::While { cond, body } = kind else { return false };
            let mut own = BTreeSet::new();
            asked(kernel, *cond, &mut own);
            let inside = all_assigned(body, var);
            own.contains(&(var, goes_on))
                && inside.len() == all.len()
                && flag.falls(kernel, &inside)
        });
        let is_set = |(value, _): &(ExprId, bool)| is_literal(kernel, *value, true);
        // What is only ever set is followed as it is.
        let is_followed = !goes_on && all.iter().all(is_set);
        (!sets_otherwise && is_of_one_loop && !is_followed).then_some(flag)
    }

    /// Whether all that a round assigns makes it fall, or the one assignment is an expression,
    /// and made no more than once.
    fn falls(&self, kernel: &Kernel, assigned: &[(ExprId, bool)]) -> bool {
        let falls = |(value, _): &(ExprId, bool)| is_literal(kernel, *value, !self.goes_on);
        assigned.iter().all(falls) || matches!(assigned, [(_, false)])
    }

    fn turn(&self, kernel: &mut Kernel) {
        let mut body = std::mem::take(&mut kernel.body);
        self.set(kernel, &mut body);
        kernel.body = body;
        if self.goes_on {
            self.ask_otherwise(kernel);
        }
    }

    /// Each use becomes one of what the variable is no longer.
    fn ask_otherwise(&self, kernel: &mut Kernel) {
        let uses = kernel.exprs.iter().filter(|(_, expr)| expr.kind == ExprKind::Var(self.var));
        let uses: Vec<ExprId> = uses.map(|(id, _)| id).collect();
        for id in uses {
            let own = kernel.exprs[id].clone();
            let operand = kernel.exprs.push(own);
            kernel.exprs[id].kind = ExprKind::Unary { op: UnaryOp::Not, operand };
        }
    }

    /// Makes declarations and assignments those of a flag that is set.
    fn set(&self, kernel: &mut Kernel, stmts: &mut [Stmt]) {
        for stmt in stmts {
            match &mut stmt.kind {
                StmtKind::Let { var, init: Some(init) } if *var == self.var => {
                    *init = literal(kernel, *init, false);
                }
                StmtKind::Assign { var, value } if *var == self.var => {
                    let value = *value;
                    stmt.kind = self.assigned(kernel, stmt, value);
                }
                kind => kind.bodies_mut().into_iter().for_each(|body| self.set(kernel, body)),
            }
        }
    }

    /// What stands in the place of `flag = value;`.
    fn assigned(&self, kernel: &mut Kernel, stmt: &Stmt, value: ExprId) -> StmtKind {
        let assign = StmtKind::Assign { var: self.var, value: literal(kernel, value, true) };
        if is_literal(kernel, value, !self.goes_on) {
            return assign;
        }
        let cond = if self.goes_on { negated(kernel, value) } else { value };
        let then = vec![Stmt { kind: assign, span: stmt.span, head: stmt.head }];
        StmtKind::If { cond, then, otherwise: Vec::new() }
    }
}

fn is_literal(kernel: &Kernel, expr: ExprId, value: bool) -> bool {
    kernel.exprs[expr].kind == ExprKind::Literal(Literal::Bool(value))
}

/// A literal where another expression stands.
fn literal(kernel: &mut Kernel, at: ExprId, value: bool) -> ExprId {
    let Expr { ty, span, .. } = kernel.exprs[at];
    kernel.exprs.push(Expr { kind: ExprKind::Literal(Literal::Bool(value)), ty, span })
}

fn negated(kernel: &mut Kernel, operand: ExprId) -> ExprId {
    let Expr { ty, span, .. } = kernel.exprs[operand];
    kernel.exprs.push(Expr { kind: ExprKind::Unary { op: UnaryOp::Not, operand }, ty, span })
}

/// What is assigned to a variable, and whether that stands in a loop.
fn assigned(stmts: &[Stmt], var: VarId, in_loop: bool, out: &mut Vec<(ExprId, bool)>) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Assign { var: other, value } if *other == var => out.push((*value, in_loop)),
            kind => {
                let in_loop = in_loop || !matches!(kind, StmtKind::If { .. });
                kind.bodies().into_iter().for_each(|body| assigned(body, var, in_loop, out));
            }
        }
    }
}

/// The same, of some statements.
fn all_assigned(stmts: &[Stmt], var: VarId) -> Vec<(ExprId, bool)> {
    let mut all = Vec::new();
    assigned(stmts, var, false, &mut all);
    all
}
