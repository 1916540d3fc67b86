//! The search for a launch: what does not hold yet is mended, one at a time.

use std::collections::BTreeSet;

use super::super::amounts::is_whole;
use super::super::data::Number;
use super::super::hash::Hash;
use super::super::preimages::{arguments, operands};
use super::super::sizes::Sizes;
use super::Launch;
use super::goals::{Goal, Side};
use super::guess::{Guess, Text};
use crate::arena::EntityId as _;
use crate::kernel::{ArrayRef, ExprId, ExprKind, LoopRange, Type, VarId, VarKind};
use crate::op::{BinaryOp, CompareOp, UnaryOp};

/// How often something is mended, from the same start and of another one.
const MAX_STEPS: u32 = 96;
const STARTS: i64 = 3;

/// How deep it is looked for what to change.
const MAX_DEPTH: u32 = 24;

/// More than any dimension, or any number of blocks, that is looked at.
const MOST: i128 = 1 << 24;

/// A launch from these sizes on at which all goals hold, of those that are looked at.
pub(in super::super) fn find(text: &Text<'_>, goals: &[Goal], start: &Sizes) -> Option<Launch> {
    let mut goals = goals.to_vec();
    let loads = bounds(text, &mut goals);
    (0..STARTS).find_map(|number| {
        let mut search = Search { guess: Guess::of(text, start.clone()), dice: Dice::of(number) };
        let zeros = loads.iter().map(|load| (*load, Number::Int(0)));
        search.guess.loads.extend(zeros);
        search.run(&goals).then(|| search.launch())
    })
}

/// Adds that coordinates stay below their ends, and elements that are loaded inside of their
/// tensors; gives these.
fn bounds(text: &Text<'_>, goals: &mut Vec<Goal>) -> BTreeSet<ExprId> {
    let mut loads = BTreeSet::new();
    let kernel = text.plain.kernel;
    let mut open: Vec<ExprId> = Vec::new();
    let named = |goal: &Goal| [goal.lhs, goal.rhs].into_iter().filter_map(expr_of);
    goals.iter().for_each(|goal| open.extend(named(goal)));
    let mut seen = BTreeSet::new();
    while let Some(expr) = open.pop() {
        if !seen.insert(expr) {
            continue;
        }
        let kind = &kernel.exprs[expr].kind;
        let mut own: Vec<Goal> = Vec::new();
        loads.extend(text.loads.get(&expr));
        match kind {
            ExprKind::Load(access) => {
                if let ArrayRef::Tensor(tensor) = access.array {
                    let ends = access.indices.iter().zip(&kernel.tensors[tensor].extents);
                    own.extend(ends.map(|(index, extent)| {
                        Goal::of(CompareOp::Lt, Side::Expr(*index), Side::Expr(*extent))
                    }));
                } else {
                    open.extend(text.stored.get(&expr).into_iter().flatten());
                }
            }
            ExprKind::Var(var) => {
                let at = Side::Var(*var);
                let end = text.extents.get(var);
                own.extend(end.map(|end| Goal::of(CompareOp::Lt, at, Side::Expr(*end))));
                if let Some(LoopRange::Between { start, end, .. }) = text.rounds.get(var) {
                    own.push(Goal::of(CompareOp::Ge, at, Side::Expr(*start)));
                    own.push(Goal::of(CompareOp::Lt, at, Side::Expr(*end)));
                }
                open.extend(text.values.vars.get(var).into_iter().flatten());
            }
            _ => {}
        }
        open.extend(kind.operands());
        own.iter().for_each(|goal| open.extend(named(goal)));
        for goal in own {
            if !goals.contains(&goal) {
                goals.push(goal);
            }
        }
    }
    loads
}

fn expr_of(side: Side) -> Option<ExprId> {
    match side {
        Side::Expr(expr) => Some(expr),
        Side::Var(_) | Side::Number(_) => None,
    }
}

struct Search<'t, 'a> {
    guess: Guess<'t, 'a>,
    dice: Dice,
}

impl Search<'_, '_> {
    /// Whether all goals hold in the end.
    fn run(&mut self, goals: &[Goal]) -> bool {
        for _ in 0..MAX_STEPS {
            let open: Vec<&Goal> = goals.iter().filter(|goal| !self.guess.holds(goal)).collect();
            if open.is_empty() {
                return true;
            }
            let goal = open[self.dice.below(open.len())];
            self.mend(goal);
        }
        false
    }

    /// Changes something so that a goal may hold.
    fn mend(&mut self, goal: &Goal) {
        let (side, other, op) = match self.dice.below(2) {
            0 => (goal.lhs, goal.rhs, goal.op),
            _ => (goal.rhs, goal.lhs, goal.op.mirrored()),
        };
        let Some(other) = self.guess.side(other) else { return };
        let near = other.around().into_iter().filter(|number| number.compares(op, other));
        let near: Vec<Number> = near.collect();
        if near.is_empty() {
            return;
        }
        let target = near[self.dice.below(near.len())];
        match side {
            Side::Expr(expr) => self.seek(expr, target, MAX_DEPTH),
            Side::Var(var) => self.set(var, target, MAX_DEPTH),
            Side::Number(_) => {}
        }
    }

    /// Changes something that an expression is made of, so that it may be this number.
    fn seek(&mut self, expr: ExprId, target: Number, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let kernel = self.guess.kernel();
        match &kernel.exprs[expr].kind {
            ExprKind::Load(_) => {
                if let Some(load) = self.guess.text.loads.get(&expr) {
                    if is_of_type(target, kernel.exprs[expr].ty) {
                        self.guess.loads.insert(*load, target);
                    }
                } else {
                    let count = self.guess.text.stored.get(&expr).map_or(0, Vec::len);
                    let chosen = self.dice.below(count.max(1));
                    self.guess.of_tiles.insert(expr, chosen);
                    let stored = self.guess.stored(expr);
                    stored.into_iter().for_each(|value| self.seek(value, target, depth));
                }
            }
            ExprKind::Var(var) => self.set(*var, target, depth),
            ExprKind::Cast(operand) | ExprKind::Uniform(operand) => {
                self.seek(*operand, target, depth);
            }
            ExprKind::Unary { op, operand } => {
                let target = match (op, target) {
                    (UnaryOp::Not, Number::Int(target)) => Number::Int(i128::from(target == 0)),
                    _ => target.negated(),
                };
                self.seek(*operand, target, depth);
            }
            ExprKind::Math { func, arg } => {
                let all = arguments(*func, target);
                if !all.is_empty() {
                    let target = all[self.dice.below(all.len())];
                    self.seek(*arg, target, depth);
                }
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let is_first = self.dice.below(2) == 0;
                let (part, other) = if is_first { (*lhs, *rhs) } else { (*rhs, *lhs) };
                let Some(other) = self.guess.value(other) else { return };
                let mut all = operands(*op, (target, other), is_first);
                if is_first && let Some(now) = self.guess.value(part) {
                    all.extend(left(*op, (target, other), now));
                }
                if !all.is_empty() {
                    let target = all[self.dice.below(all.len())];
                    self.seek(part, target, depth);
                }
            }
            ExprKind::Select { cond, then, otherwise } => {
                let holds = self.guess.value(*cond).and_then(Number::whole);
                let arm = if holds == Some(0) { *otherwise } else { *then };
                self.seek(arm, target, depth);
            }
            ExprKind::Tiles { extent, tile } => {
                let tile = self.guess.value(*tile).and_then(Number::whole);
                if let (Some(tile), Some(count)) = (tile, target.whole()) {
                    self.seek(*extent, Number::Int(tile.saturating_mul(count)), depth);
                }
            }
            ExprKind::Literal(_)
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::InBounds { .. } => {}
        }
    }

    /// Makes a variable this number, or what it is set to.
    fn set(&mut self, var: VarId, target: Number, depth: u32) {
        let kernel = self.guess.kernel();
        let kind = kernel.vars[var].kind;
        if let VarKind::Let { .. } = kind {
            let count = self.guess.text.values.vars.get(&var).map_or(0, Vec::len);
            let chosen = self.dice.below(count.max(1));
            self.guess.of_vars.insert(var, chosen);
            self.guess.set(var).into_iter().for_each(|value| self.seek(value, target, depth));
            return;
        }
        // Of scalars only whole numbers are run.
        let round = [f64::floor, f64::ceil][self.dice.below(2)];
        let rounded = Number::Float(round(target.real())).whole();
        let Some(value) = target.whole().or(rounded.filter(|_| !is_whole(kernel.vars[var].ty)))
        else {
            return;
        };
        match kind {
            VarKind::TileParam(_) => {
                if let Some(sizes) = self.guess.with_tile(var, value) {
                    self.guess.sizes = sizes;
                }
            }
            VarKind::Dim if (0..=MOST).contains(&value) => {
                self.guess.sizes.values[var.index()] = i64::try_from(value).ok();
            }
            VarKind::Scalar(_) if is_of_type(target, kernel.vars[var].ty) => {
                let value = i64::try_from(value).ok();
                self.guess.sizes.values[var.index()] =
                    value.or(self.guess.sizes.values[var.index()]);
            }
            VarKind::Grid | VarKind::Block | VarKind::Each | VarKind::Loop
                if (0..=MOST).contains(&value) =>
            {
                self.guess.coordinates.insert(var, value);
            }
            _ => {}
        }
    }

    fn launch(self) -> Launch {
        let guess = self.guess;
        let at = |var: &VarId| guess.coordinates.get(var).copied().unwrap_or(0);
        let block = guess.kernel().grid.iter().map(|axis| at(&axis.var) as i64).collect();
        let loads = guess.text.loads.iter();
        let loads = loads.filter_map(|(load, same)| Some((*load, *guess.loads.get(same)?)));
        Launch { block, loads: loads.collect(), sizes: guess.sizes }
    }
}

/// Numbers near one of which that is left of a division, or under a mask of low bits.
fn left(op: BinaryOp, (target, other): (Number, Number), now: Number) -> Vec<Number> {
    let (Some(target), Some(other), Some(now)) = (target.whole(), other.whole(), now.whole())
    else {
        return Vec::new();
    };
    let by = match op {
        BinaryOp::Rem => other,
        BinaryOp::And if other.count_ones() == other.trailing_ones() => other.saturating_add(1),
        _ => return Vec::new(),
    };
    let Some(first) = now.checked_rem(by).map(|left| now - left) else { return Vec::new() };
    let near = [first, first.saturating_add(by)].map(|first| first.saturating_add(target));
    near.map(Number::Int).to_vec()
}

/// Whether a type has a number.
fn is_of_type(number: Number, ty: Type) -> bool {
    let range = match ty {
        Type::Index => Some((0, MOST)),
        Type::BOOL => Some((0, 1)),
        ty => ty.integer_range(),
    };
    match (range, number.whole()) {
        (Some((least, most)), Some(number)) => least <= number && number <= most,
        (Some(_), None) => false,
        (None, _) => true,
    }
}

/// Choices that are the same in every run.
struct Dice(Hash);

impl Dice {
    fn of(seed: i64) -> Self {
        let mut hash = Hash::default();
        hash.add(seed);
        Self(hash)
    }

    fn below(&mut self, count: usize) -> usize {
        self.0.add(1);
        self.0.finish() as usize % count.max(1)
    }
}
