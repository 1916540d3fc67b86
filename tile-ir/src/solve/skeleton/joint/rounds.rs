//! Loops that go on for as many rounds as a tile has places.
//!
//! Of `for base in (0..C).step_by(64) { … s[slot, t] …; slot += 1; }` the ninth round leaves a
//! tile of eight rows: `C` is then above 512, which no small size is. So of each loop that changes
//! whole numbers it is asked that it has as many rounds as the kernel's tiles have elements along
//! an axis, and as many as the numbers of its text say, and some more.

use std::collections::BTreeSet;

use super::super::amounts::is_whole;
use super::super::sizes::Sizes;
use super::goals::{Collected, Goal, Goals, READER, Side};
use super::guess::Guess;
use crate::kernel::{ExprId, ExprKind, Kernel, Literal, LoopRange, Place, Stmt, StmtKind, VarId};
use crate::op::{BinaryOp, CompareOp, LogicOp};

/// Numbers of rounds that are asked for.
const MAX_COUNTS: usize = 8;

/// The largest number of rounds.
const MAX_ROUNDS: i128 = 300;

/// How often each number of places is gone through: a place may be left every few rounds only.
const MAX_TIMES: i128 = 4;

/// How deep conditions are looked into.
const MAX_DEPTH: u32 = 12;

/// What has to hold for each loop that carries numbers to have many rounds.
pub(super) fn rounds(collected: &Collected<'_>, sizes: &Sizes) -> Vec<Goals> {
    let guess = Guess::of(collected.text, sizes.clone());
    let loops = Loops { collected, guess: &guess };
    let mut found = Vec::new();
    let counts = counts(&guess);
    loops.visit(&guess.kernel().body, &counts, &mut found);
    found
}

/// How many rounds are asked for, in rising order.
fn counts(guess: &Guess<'_, '_>) -> Vec<i128> {
    let kernel = guess.kernel();
    let extents = kernel.tiles.values().flat_map(|tile| &tile.extents);
    let extents = extents.filter_map(|extent| guess.value(*extent, READER)?.whole());
    let literals = kernel.exprs.values().filter_map(|expr| match expr.kind {
        ExprKind::Literal(Literal::Int(value)) => Some(value),
        _ => None,
    });
    let places: BTreeSet<i128> =
        extents.chain(literals).filter(|count| (2..MAX_ROUNDS).contains(count)).collect();
    let mut counts: BTreeSet<i128> = places.iter().map(|count| count + 2).collect();
    if let Some(fewest) = places.first() {
        counts.insert((MAX_TIMES * (fewest + 2)).min(MAX_ROUNDS));
    }
    let counts: Vec<i128> = counts.into_iter().collect();
    // The most, and those that cost little.
    let skipped = counts.len().saturating_sub(1).max(MAX_COUNTS - 1);
    let few = counts.iter().take(MAX_COUNTS - 1);
    few.chain(counts.iter().skip(skipped)).copied().collect()
}

struct Loops<'c, 't, 'a> {
    collected: &'c Collected<'t>,
    guess: &'c Guess<'t, 'a>,
}

impl Loops<'_, '_, '_> {
    fn visit(&self, stmts: &[Stmt], counts: &[i128], found: &mut Vec<Goals>) {
        for stmt in stmts {
            let carries =
                || stmt.kind.bodies().into_iter().any(|body| changes(self.kernel(), body));
            if stmt.kind.is_loop() && carries() {
                let ways =
                    counts.iter().filter_map(|count| Some(vec![self.of_loop(stmt, *count)?]));
                found.extend(ways);
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.visit(body, counts, found));
        }
    }

    fn kernel(&self) -> &Kernel {
        self.guess.kernel()
    }

    /// That a loop has so many rounds, if a launch says how many it has.
    fn of_loop(&self, stmt: &Stmt, count: i128) -> Option<Goal> {
        match &stmt.kind {
            StmtKind::Phase { range, .. } | StmtKind::For { range, .. } => {
                let LoopRange::Between { start, end, step, .. } = *range else { return None };
                let step = step.map_or(Some(1), |step| self.number(step))?;
                self.reaches((end, CompareOp::Ge), self.number(start)?, (step, count))
            }
            StmtKind::While { cond, body } => self.of_while(*cond, body, count),
            _ => None,
        }
    }

    /// The same of a counter that is compared: up to a bound, or down to one.
    fn of_while(&self, cond: ExprId, body: &[Stmt], count: i128) -> Option<Goal> {
        match self.kernel().exprs[cond].kind {
            ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
                self.of_while(lhs, body, count).or_else(|| self.of_while(rhs, body, count))
            }
            ExprKind::Compare { op, lhs, rhs } => [(lhs, op, rhs), (rhs, op.mirrored(), lhs)]
                .into_iter()
                .find_map(|(counter, op, bound)| {
                    let ExprKind::Var(var) = self.kernel().exprs[counter].kind else { return None };
                    let first = *self.collected.text.values.vars.get(&var)?.first()?;
                    let step = self.step(var, body)?;
                    match op {
                        CompareOp::Lt | CompareOp::Le if step > 0 => {
                            self.reaches((bound, CompareOp::Ge), self.number(first)?, (step, count))
                        }
                        CompareOp::Gt | CompareOp::Ge if step < 0 => self.reaches(
                            (first, CompareOp::Ge),
                            self.number(bound)?,
                            (-step, count),
                        ),
                        _ => None,
                    }
                }),
            _ => None,
        }
    }

    /// That an expression of a launch is so many steps away from a number.
    fn reaches(
        &self,
        (end, op): (ExprId, CompareOp),
        from: i128,
        (step, count): (i128, i128),
    ) -> Option<Goal> {
        if step <= 0 || !self.collected.names_launch(end, MAX_DEPTH) {
            return None;
        }
        let number = step.checked_mul(count)?.checked_add(from)?;
        Some(Goal::of(op, Side::Expr(end), Side::Number(number), READER))
    }

    fn number(&self, expr: ExprId) -> Option<i128> {
        self.guess.value(expr, READER)?.whole()
    }

    /// By how much a loop's body changes a counter, the first time.
    fn step(&self, var: VarId, body: &[Stmt]) -> Option<i128> {
        body.iter().find_map(|stmt| match &stmt.kind {
            StmtKind::Update { place: Place::Var(of), op, value } if *of == var => match op {
                BinaryOp::Add => self.number(*value),
                BinaryOp::Sub => Some(-self.number(*value)?),
                _ => None,
            },
            kind => kind.bodies().into_iter().find_map(|body| self.step(var, body)),
        })
    }
}

/// Whether whole numbers or flags of variables are changed.
fn changes(kernel: &Kernel, stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| {
        let var = match &stmt.kind {
            StmtKind::Update { place: Place::Var(var), .. } | StmtKind::Assign { var, .. } => {
                Some(*var)
            }
            _ => None,
        };
        var.is_some_and(|var| is_whole(kernel.vars[var].ty))
            || stmt.kind.bodies().into_iter().any(|body| changes(kernel, body))
    })
}
