//! Loops in some rounds of which alone the work-items meet, written out for the proof.
//!
//! ```text
//! for r in 0..n { if r % 2 == 0 { barrier; } … }
//! ```
//!
//! Of two rounds it depends on both, and on all between, whether they are of one barrier
//! interval. Where a condition under which work-items meet is made of the loop's counter and
//! literals, it comes out alike in every so many rounds, but for the first ones. So the first
//! rounds stand by themselves, and of the others as many follow each other as come out
//! differently; in each the condition is decided:
//!
//! ```text
//! let r_end = n;
//! for r in 0..tiles(r_end - 0, 2) {
//!     let r = 2 * r + 0; barrier; …
//!     if 2 * r + 1 < r_end { let r = 2 * r + 1; … }
//! }
//! ```
//!
//! Each round is run once, after the one before it. So what is proved of the kernel that is
//! written so holds of the one that it was made of, if no number is taken not to wrap there of
//! which a launch of the latter is not asked ([`Exact`]).

mod outcome;

use std::collections::BTreeMap;

use self::outcome::Counter;
use super::Exact;
use super::agreed::copies::{Copies, may_be_twice};
use super::agreed::turns::{declare, like, replace};
use crate::kernel::{
    ExprId, ExprKind, Kernel, Literal, LoopRange, Stmt, StmtKind, Type, VarId, eval_index,
};
use crate::op::{BinaryOp, CompareOp};

/// Rounds that are written out of one loop.
const MAX_ROUNDS: i128 = 8;

/// The kernel with such loops written out, if it has one.
pub(super) fn written_out(kernel: &Kernel) -> Option<Kernel> {
    let mut out = kernel.clone();
    let is_changed = replace(&mut out, &|kernel, stmt| {
        Rounds::of(kernel, stmt).map(|rounds| rounds.write(kernel))
    });
    let asks_alike = || Exact::of(&out).is_asked_of(&out, &Exact::of(kernel), kernel);
    (is_changed && asks_alike()).then_some(out)
}

/// A loop and the rounds that it is written out in.
struct Rounds<'a> {
    stmt: &'a Stmt,
    var: VarId,
    body: &'a [Stmt],
    /// The counter's first value.
    start: i128,
    /// What it does not reach, which is computed once, and the variable that then has it.
    end: (ExprId, VarId),
    /// How many rounds stand by themselves.
    first: i128,
    /// After how many of the others conditions come out as before.
    period: i128,
}

impl<'a> Rounds<'a> {
    fn of(kernel: &mut Kernel, stmt: &'a Stmt) -> Option<Self> {
        let StmtKind::For { var, range, body } = &stmt.kind else { return None };
        let LoopRange::Between { start, end, step: None, reversed: false } = *range else {
            return None;
        };
        let start = eval_index(kernel, start, &|_| None).filter(|start| *start >= 0)?;
        let of_all = Counter::of(kernel, *var, body).outcome(body)?;
        let first = (of_all.least - start).max(0);
        if first.saturating_add(of_all.period) > MAX_ROUNDS || !may_be_twice(body) {
            return None;
        }
        let name = format!("{}_end", kernel.vars[*var].name);
        let end = (end, declare(kernel, *var, name, false));
        Some(Self { stmt, var: *var, body, start, end, first, period: of_all.period })
    }

    /// What stands in the loop's place.
    fn write(&self, kernel: &mut Kernel) -> Vec<Stmt> {
        let kind = StmtKind::Let { var: self.end.1, init: Some(self.end.0) };
        let mut out = vec![Stmt { kind, ..self.place() }];
        for number in self.start..self.start + self.first {
            let turn = self.literal(kernel, number);
            let stmts = self.round(kernel, turn, number);
            let turn = self.literal(kernel, number);
            out.push(self.if_reached(kernel, turn, stmts));
        }
        let others = self.start + self.first;
        let name = kernel.vars[self.var].name.clone();
        let counter = declare(kernel, self.var, name, true);
        let [from, rest] = [others, others].map(|number| self.literal(kernel, number));
        if self.period == 1 {
            let turn = self.like(kernel, ExprKind::Var(counter));
            let body = self.round(kernel, turn, others);
            let end = self.end(kernel);
            out.push(self.counted(counter, (from, end), body));
            return out;
        }
        let mut body = Vec::new();
        for number in others..others + self.period {
            let turn = self.turn(kernel, counter, number);
            let mut stmts = self.round(kernel, turn, number);
            if number > others {
                let turn = self.turn(kernel, counter, number);
                stmts = vec![self.if_reached(kernel, turn, stmts)];
            }
            body.extend(stmts);
        }
        let lhs = self.end(kernel);
        let extent = self.like(kernel, ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs: rest });
        let tile = self.literal(kernel, self.period);
        let none = self.literal(kernel, 0);
        let end = self.like(kernel, ExprKind::Tiles { extent, tile });
        out.push(self.counted(counter, (none, end), body));
        out
    }

    /// The counter's value in a round: so many after `counter` times the period.
    fn turn(&self, kernel: &mut Kernel, counter: VarId, number: i128) -> ExprId {
        let (lhs, rhs) =
            (self.literal(kernel, self.period), self.like(kernel, ExprKind::Var(counter)));
        let lhs = self.like(kernel, ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs });
        let rhs = self.literal(kernel, number);
        self.like(kernel, ExprKind::Binary { op: BinaryOp::Add, lhs, rhs })
    }

    /// The body where the counter is `turn`, and conditions come out as they do for `number`.
    fn round(&self, kernel: &mut Kernel, turn: ExprId, number: i128) -> Vec<Stmt> {
        let name = kernel.vars[self.var].name.clone();
        let own = declare(kernel, self.var, name, false);
        let body = Counter::of(kernel, self.var, self.body).decided(self.body, number);
        let copies = Copies { is_over: &|_, _| false };
        let kind = StmtKind::Let { var: own, init: Some(turn) };
        let mut out = vec![Stmt { kind, ..self.place() }];
        out.extend(copies.of(kernel, &body, &mut BTreeMap::from([(self.var, own)])));
        out
    }

    fn if_reached(&self, kernel: &mut Kernel, turn: ExprId, then: Vec<Stmt>) -> Stmt {
        let rhs = self.end(kernel);
        let cond = self.like(kernel, ExprKind::Compare { op: CompareOp::Lt, lhs: turn, rhs });
        kernel.exprs[cond].ty = Type::BOOL;
        Stmt { kind: StmtKind::If { cond, then, otherwise: Vec::new() }, ..self.place() }
    }

    fn counted(&self, var: VarId, (start, end): (ExprId, ExprId), body: Vec<Stmt>) -> Stmt {
        let range = LoopRange::Between { start, end, step: None, reversed: false };
        Stmt { kind: StmtKind::For { var, range, body }, ..self.place() }
    }

    /// A statement where the loop stands.
    fn place(&self) -> Stmt {
        Stmt { kind: StmtKind::Barrier, span: self.stmt.span, head: self.stmt.head }
    }

    fn end(&self, kernel: &mut Kernel) -> ExprId {
        self.like(kernel, ExprKind::Var(self.end.1))
    }

    fn literal(&self, kernel: &mut Kernel, number: i128) -> ExprId {
        self.like(kernel, ExprKind::Literal(Literal::Int(number)))
    }

    fn like(&self, kernel: &mut Kernel, kind: ExprKind) -> ExprId {
        like(kernel, self.end.0, kind)
    }
}
