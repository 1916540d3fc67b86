//! When conditions on a loop's counter come out alike.
//!
//! `r % 3 == 1`, `r & 1 == 0 && r > 0`: what is made of a counter and literals alone comes out
//! as so many rounds before, if the counter is compared with literals and divided by them only,
//! from the round on in which it is beyond all that it is compared with.

use std::collections::BTreeMap;

use crate::check::interval::literal;
use crate::kernel::{
    ExprId, ExprKind, Kernel, Literal, Stmt, StmtKind, VarId, eval_index, immutable_lets, lcm,
};
use crate::op::{BinaryOp, UnaryOp};

/// From which counter on conditions come out as so many before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The first of them.
    pub(super) least: i128,
    /// How many.
    pub(super) period: i128,
}

/// A number that is made of a counter.
enum Number {
    /// The counter, and so much.
    Counter(i128),
    /// What comes again.
    Turning(Outcome),
}

const ALWAYS: Outcome = Outcome { least: 0, period: 1 };

impl Outcome {
    /// Of both.
    pub(super) fn and(self, other: Self) -> Self {
        Self { least: self.least.max(other.least), period: lcm(self.period, other.period) }
    }
}

/// The counter of a loop, and the conditions under which work-items meet in it.
pub(super) struct Counter<'a> {
    kernel: &'a Kernel,
    var: VarId,
    lets: BTreeMap<VarId, ExprId>,
}

impl<'a> Counter<'a> {
    /// Of the loop with this body.
    pub(super) fn of(kernel: &'a Kernel, var: VarId, body: &[Stmt]) -> Self {
        Self { kernel, var, lets: immutable_lets(body, kernel) }
    }

    /// When those conditions in statements come out alike that are made of the counter; `None`
    /// where there are none.
    pub(super) fn outcome(&self, stmts: &[Stmt]) -> Option<Outcome> {
        let of_stmt = |stmt: &Stmt| {
            let own = met_under(stmt).and_then(|cond| self.of_condition(cond));
            let inner = stmt.kind.bodies().into_iter().filter_map(|body| self.outcome(body));
            own.into_iter().chain(inner).reduce(Outcome::and)
        };
        stmts.iter().filter_map(of_stmt).reduce(Outcome::and)
    }

    /// Of a condition that is made of the counter; `None` where it is made of anything else, or
    /// not of it at all.
    fn of_condition(&self, cond: ExprId) -> Option<Outcome> {
        match self.number(cond)? {
            Number::Turning(outcome) if outcome != ALWAYS => Some(outcome),
            Number::Turning(_) | Number::Counter(_) => None,
        }
    }

    fn number(&self, expr: ExprId) -> Option<Number> {
        let both = |lhs: ExprId, rhs: ExprId| match (self.number(lhs)?, self.number(rhs)?) {
            (Number::Turning(lhs), Number::Turning(rhs)) => Some(Number::Turning(lhs.and(rhs))),
            _ => None,
        };
        let literal = |part: ExprId| literal(self.kernel, part);
        match self.kernel.exprs[expr].kind {
            ExprKind::Literal(Literal::Int(_) | Literal::Bool(_)) => Some(Number::Turning(ALWAYS)),
            ExprKind::Var(var) if var == self.var => Some(Number::Counter(0)),
            ExprKind::Var(var) => self.number(*self.lets.get(&var)?),
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                self.number(operand).filter(|of| matches!(of, Number::Turning(_)))
            }
            ExprKind::Binary { op, lhs, rhs } => match (self.number(lhs)?, self.number(rhs)?) {
                (Number::Counter(by), Number::Turning(_)) => on_counter(op, by, literal(rhs)?),
                (Number::Turning(_), Number::Counter(by)) => {
                    let is_same = matches!(op, BinaryOp::Add | BinaryOp::And);
                    is_same.then(|| on_counter(op, by, literal(lhs)?)).flatten()
                }
                _ => both(lhs, rhs),
            },
            ExprKind::Compare { lhs, rhs, .. } => match (self.number(lhs)?, self.number(rhs)?) {
                (Number::Counter(by), Number::Turning(_)) => beyond(literal(rhs)?, by),
                (Number::Turning(_), Number::Counter(by)) => beyond(literal(lhs)?, by),
                _ => both(lhs, rhs),
            },
            ExprKind::Logic { lhs, rhs, .. } => both(lhs, rhs),
            _ => None,
        }
    }

    /// Statements in which those conditions are decided as they are at a number of the counter.
    pub(super) fn decided(&self, stmts: &[Stmt], number: i128) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            let met = met_under(stmt).filter(|cond| self.of_condition(*cond).is_some());
            if let StmtKind::If { then, otherwise, .. } = &stmt.kind
                && let Some(outcome) = met.and_then(|cond| self.at(cond, number))
            {
                let arm = if outcome == 0 { otherwise } else { then };
                out.extend(self.decided(arm, number));
                continue;
            }
            let mut stmt = stmt.clone();
            for body in stmt.kind.bodies_mut() {
                *body = self.decided(body, number);
            }
            out.push(stmt);
        }
        out
    }

    /// What is made of the counter, at a number of it.
    fn at(&self, expr: ExprId, number: i128) -> Option<i128> {
        eval_index(self.kernel, expr, &|var| {
            if var == self.var { Some(number) } else { self.at(*self.lets.get(&var)?, number) }
        })
    }
}

/// The condition under which work-items meet in a statement.
fn met_under(stmt: &Stmt) -> Option<ExprId> {
    let StmtKind::If { cond, .. } = stmt.kind else { return None };
    stmt.has_meeting().then_some(cond)
}

/// What an operator makes of a counter and `by` with a literal.
fn on_counter(op: BinaryOp, by: i128, number: i128) -> Option<Number> {
    let least = (-by).max(0);
    let turning = |period| Some(Number::Turning(Outcome { least, period }));
    match op {
        BinaryOp::Add => Some(Number::Counter(by.checked_add(number)?)),
        BinaryOp::Sub => Some(Number::Counter(by.checked_sub(number)?)),
        BinaryOp::Rem if number > 0 => turning(number),
        BinaryOp::And if (0..1 << 16).contains(&number) => {
            turning((number + 1).unsigned_abs().next_power_of_two().try_into().ok()?)
        }
        _ => None,
    }
}

/// Of a comparison of a counter and `by` with a number: alike for all beyond it.
fn beyond(number: i128, by: i128) -> Option<Number> {
    let least = number.checked_sub(by)?.checked_add(1)?.max(0);
    Some(Number::Turning(Outcome { least, period: 1 }))
}
