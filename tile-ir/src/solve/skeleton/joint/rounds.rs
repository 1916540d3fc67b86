//! Loops that go on for as many rounds as a tile has places.
//!
//! Of `for base in (0..C).step_by(64) { … s[slot, t] …; slot += 1; }` the ninth round leaves a
//! tile of eight rows: `C` is then above 512, which no small size is. So of each loop that changes
//! whole numbers it is asked that it has as many rounds as the kernel's tiles have elements along
//! an axis, and as many as the numbers of its text say, and some more.

use std::collections::BTreeSet;

use super::super::amounts::is_whole;
use super::super::sizes::Sizes;
use super::goals::{Collected, Goal, Goals, READER, Side, once_each};
use super::guess::Guess;
use super::text::Text;
use crate::check::{Way, assigned_in, ends_of, step_in};
use crate::kernel::{ExprId, ExprKind, Kernel, Literal, LoopRange, Stmt, StmtKind, VarId};
use crate::op::{BinaryOp, CompareOp};

/// Numbers of rounds that are asked for.
const MAX_COUNTS: usize = 8;

/// The largest number of rounds.
const MAX_ROUNDS: i128 = 300;

/// How often each number of places is gone through: a place may be left every few rounds only.
const MAX_TIMES: i128 = 4;

/// The largest number of rounds where what they count is divided.
const MAX_DIVIDED: i128 = 4096;

/// How deep conditions are looked into.
const MAX_DEPTH: u32 = 12;

/// What has to hold for each loop that carries numbers to have many rounds, at sizes like the first
/// of these.
pub(in super::super) fn many_rounds(text: &Text<'_>, starts: &[Sizes]) -> Vec<Goals> {
    let Some(sizes) = starts.first() else { return Vec::new() };
    let guess = Guess::of(text, sizes.clone());
    let loops = Loops { collected: &Collected::of(text, false), guess: &guess };
    let mut found = Vec::new();
    loops.visit(&guess.kernel().body, &counts(&guess), &mut found);
    once_each(found.into_iter())
}

/// How many rounds are asked for, in rising order.
fn counts(guess: &Guess<'_, '_>) -> Vec<i128> {
    let kernel = guess.kernel();
    let extents = kernel.tiles.values().flat_map(|tile| &tile.extents);
    let extents = extents.filter_map(|extent| guess.value(*extent, READER)?.whole());
    let extents: Vec<i128> = extents.collect();
    let literals = kernel.exprs.values().filter_map(|expr| match expr.kind {
        ExprKind::Literal(Literal::Int(value)) => Some(value),
        _ => None,
    });
    let places: BTreeSet<i128> = extents
        .iter()
        .copied()
        .chain(literals)
        .filter(|count| (2..MAX_ROUNDS).contains(count))
        .collect();
    let mut counts: BTreeSet<i128> = places.iter().map(|count| count + 2).collect();
    if let Some(fewest) = places.first() {
        counts.insert((MAX_TIMES * (fewest + 2)).min(MAX_ROUNDS));
    }
    let counts: Vec<i128> = counts.into_iter().collect();
    // The most, and those that cost little.
    let skipped = counts.len().saturating_sub(1).max(MAX_COUNTS - 1);
    let few = counts.iter().take(MAX_COUNTS - 1);
    let mut found: Vec<i128> = few.chain(counts.iter().skip(skipped)).copied().collect();
    found.extend(divided_counts(kernel, &extents));
    found
}

/// How many rounds bring what they count beyond the last place once it is divided: at least and at
/// most, `s[k / 4]` of eight places in 36.
fn divided_counts(kernel: &Kernel, extents: &[i128]) -> BTreeSet<i128> {
    let divisors = kernel.exprs.values().filter_map(|expr| {
        let ExprKind::Binary { op, rhs, .. } = expr.kind else { return None };
        let ExprKind::Literal(Literal::Int(by)) = kernel.exprs[rhs].kind else { return None };
        match op {
            BinaryOp::Div => Some(by),
            BinaryOp::Shr => 1_i128.checked_shl(u32::try_from(by).ok()?),
            _ => None,
        }
    });
    let counts: BTreeSet<i128> = divisors
        .filter(|by| (2..=MAX_DIVIDED).contains(by))
        .flat_map(|by| extents.iter().map(move |places| (places + 1).saturating_mul(by)))
        .filter(|count| (2..=MAX_DIVIDED).contains(count))
        .collect();
    counts.first().into_iter().chain(counts.last()).copied().collect()
}

struct Loops<'c, 't, 'a> {
    collected: &'c Collected<'c>,
    guess: &'c Guess<'t, 'a>,
}

impl Loops<'_, '_, '_> {
    fn visit(&self, stmts: &[Stmt], counts: &[i128], found: &mut Vec<Goals>) {
        for stmt in stmts {
            let is_whole = |var: &VarId| is_whole(self.kernel().vars[*var].ty);
            let carries = || assigned_in(std::slice::from_ref(stmt)).iter().any(is_whole);
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
                self.reaches(end, self.number(start)?, (step, count))
            }
            StmtKind::While { cond, body } => self.of_while(*cond, body, count),
            _ => None,
        }
    }

    /// The same of a counter that is compared: up to a bound, or down to one.
    fn of_while(&self, cond: ExprId, body: &[Stmt], count: i128) -> Option<Goal> {
        ends_of(self.kernel(), cond).into_iter().find_map(|(var, end)| {
            let bound = end.alone()?;
            let first = *self.collected.text.values.vars.get(&var)?.first()?;
            let (way, by) = self.step(var, body).filter(|(way, _)| *way == end.way)?;
            let (end, from) = match way {
                Way::Up => (bound, first),
                Way::Down => (first, bound),
            };
            self.reaches(end, self.number(from)?, (by, count))
        })
    }

    /// That an expression of a launch is so many steps away from a number.
    fn reaches(&self, end: ExprId, from: i128, (step, count): (i128, i128)) -> Option<Goal> {
        if step <= 0 || !self.collected.names_launch(end, MAX_DEPTH) {
            return None;
        }
        let number = step.checked_mul(count)?.checked_add(from)?;
        Some(Goal::of(CompareOp::Ge, Side::Expr(end), Side::Number(number), READER))
    }

    fn number(&self, expr: ExprId) -> Option<i128> {
        self.guess.value(expr, READER)?.whole()
    }

    /// How far up a loop's body steps a counter, the first time, or how far down.
    fn step(&self, var: VarId, body: &[Stmt]) -> Option<(Way, i128)> {
        body.iter().find_map(|stmt| match step_in(self.kernel(), stmt) {
            Some((of, (way, by))) if of == var => match (way, self.number(by)?) {
                (Way::Up, by @ ..0) => Some((Way::Down, -by)),
                (Way::Down, by @ ..0) => Some((Way::Up, -by)),
                step => Some(step),
            },
            _ => stmt.kind.bodies().into_iter().find_map(|body| self.step(var, body)),
        })
    }
}
