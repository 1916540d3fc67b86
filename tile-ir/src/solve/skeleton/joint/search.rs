//! The search for a launch: what does not hold yet is mended, one at a time.

use std::collections::BTreeSet;

use super::super::amounts::is_whole;
use super::super::data::Number;
use super::super::preimages::{arguments, operands};
use super::super::sizes::Sizes;
use super::super::spans::Spans;
use super::Launch;
use super::dice::Dice;
use super::goals::{Goal, READER, Side, Who};
use super::guess::{Guess, wrapped};
use super::linear::{self, Unknown};
use super::made::{Taken, doubts};
use super::near::{MOST, is_of_type, near};
use super::text::Text;
use crate::arena::EntityId as _;
use crate::kernel::{Access, ArrayRef, ExprId, ExprKind, LoopRange, VarId, VarKind};
use crate::op::{BinaryOp, CompareOp, UnaryOp};

/// How often something is mended, from the same start and of another one.
const MAX_STEPS: u32 = 96;
const STARTS: usize = 3;

/// After how many steps all sums are looked at together.
const OF_SUMS: u32 = 24;

/// One of how many times what is made of a side is far away from what it is compared with.
const FAR_AWAY: usize = 5;

/// One of how many times another element is looked for in place of another value of it, and
/// below which.
const OTHER_ELEMENT: usize = 6;
const MOST_OTHER: usize = 4;

/// How close to a float another one is looked for, as a part of it.
const CLOSE: [f64; 4] = [-1e-3, 1e-3, -1e-6, 1e-6];

/// A number that is lost when it is added to others.
const TINY: f64 = 1e-30;

/// How deep it is looked for what to change.
const MAX_DEPTH: u32 = 24;

/// Launches from these sizes on at which all goals hold, of those that are looked at.
pub(in super::super) fn find<'t>(
    text: &'t Text<'_>,
    goals: &[Goal],
    starts: &'t [Sizes],
) -> impl Iterator<Item = Launch> + use<'t> {
    let (searches, loads) = searches(text, goals, (starts, None));
    searches.map(move |search| search.launch(&loads))
}

/// The same, where any number that a loop or an exchange makes may be taken for some.
pub(in super::super) fn find_with_made<'t>(
    text: &'t Text<'_>,
    goals: &[Goal],
    (starts, spans): (&'t [Sizes], &'t Spans<'_>),
) -> impl Iterator<Item = Launch> + use<'t> {
    let taken = Some(Taken::default());
    let (searches, loads) = searches(text, goals, (starts, taken));
    searches.filter_map(move |search| {
        let doubts = doubts(&search.guess, spans)?;
        Some(Launch { doubts, ..search.launch(&loads) })
    })
}

/// Searches that have come to their end with all goals, and the loads that these are made of.
fn searches<'t, 'a>(
    text: &'t Text<'a>,
    goals: &[Goal],
    (starts, taken): (&'t [Sizes], Option<Taken>),
) -> (impl Iterator<Item = Search<'t, 'a>> + use<'t, 'a>, BTreeSet<(ExprId, Who)>) {
    let mut goals = goals.to_vec();
    // Where nothing is said of writes, it may be sizes that leave cells out.
    let is_of_reader = goals.iter().all(|goal| [goal.lhs.1, goal.rhs.1] == [READER; 2]);
    let count = if is_of_reader { STARTS.max(starts.len()) } else { STARTS };
    let loads = bounds(text, &mut goals);
    let searches = (0..count).zip(starts.iter().cycle()).filter_map(move |(number, start)| {
        let dice = Dice::of(number as i64);
        let mut search = Search { guess: Guess::of(text, start.clone()), dice };
        search.guess.taken.clone_from(&taken);
        // The one that reads may be in a later round.
        let rounds = text.rounds.keys();
        search.guess.coordinates.extend(rounds.map(|var| ((*var, READER), number as i128)));
        search.run(&goals).then_some(search)
    });
    (searches, loads)
}

/// Adds that coordinates stay below their ends, and elements that are loaded inside of their
/// tensors; gives these loads.
fn bounds(text: &Text<'_>, goals: &mut Vec<Goal>) -> BTreeSet<(ExprId, Who)> {
    let kernel = text.plain.kernel;
    let mut loads = BTreeSet::new();
    let sides = |goal: &Goal| [goal.lhs, goal.rhs].into_iter().filter_map(expr_of);
    let mut open: Vec<(ExprId, Who)> = goals.iter().flat_map(sides).collect();
    let mut seen = BTreeSet::new();
    while let Some((expr, who)) = open.pop() {
        if !seen.insert((expr, who)) {
            continue;
        }
        let kind = &kernel.exprs[expr].kind;
        let mut own: Vec<Goal> = Vec::new();
        match kind {
            ExprKind::Load(access) => {
                if let ArrayRef::Tensor(tensor) = access.array {
                    loads.insert((expr, who));
                    let ends = access.indices.iter().zip(&kernel.tensors[tensor].extents);
                    own.extend(ends.flat_map(|(index, extent)| {
                        let index = Side::Expr(*index);
                        [
                            Goal::of(CompareOp::Lt, index, Side::Expr(*extent), who),
                            Goal::of(CompareOp::Ge, index, Side::Number(0), who),
                        ]
                    }));
                } else {
                    let stored = text.stored.get(&expr).into_iter().flatten();
                    open.extend(stored.map(|value| (*value, who)));
                }
            }
            ExprKind::Var(var) => {
                let at = Side::Var(*var);
                let end = text.extents.get(var);
                own.extend(end.map(|end| Goal::of(CompareOp::Lt, at, Side::Expr(*end), who)));
                if let Some(LoopRange::Between { start, end, .. }) = text.rounds.get(var) {
                    own.push(Goal::of(CompareOp::Ge, at, Side::Expr(*start), who));
                    own.push(Goal::of(CompareOp::Lt, at, Side::Expr(*end), who));
                }
                let set = text.values.vars.get(var).into_iter().flatten();
                open.extend(set.map(|value| (*value, who)));
            }
            _ => {}
        }
        open.extend(kind.operands().into_iter().map(|operand| (operand, who)));
        open.extend(own.iter().flat_map(sides));
        for goal in own {
            if !goals.contains(&goal) {
                goals.push(goal);
            }
        }
    }
    loads
}

fn expr_of((side, who): (Side, Who)) -> Option<(ExprId, Who)> {
    match side {
        Side::Expr(expr) => Some((expr, who)),
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
        for step in 0..MAX_STEPS {
            let open: Vec<&Goal> = goals.iter().filter(|goal| !self.guess.holds(goal)).collect();
            if self.guess.text.is_exhausted() {
                return false;
            }
            if open.is_empty() {
                match self.guess.off_round() {
                    Some((at, round)) => self.guess.coordinates.insert(at, round),
                    None => return true,
                };
                continue;
            }
            if step % OF_SUMS == OF_SUMS - 1 {
                self.mend_sums(goals);
                continue;
            }
            let goal = open[self.dice.below(open.len())];
            self.mend(goal);
        }
        false
    }

    /// Changes all that sums are made of, so that what is said of them may hold at once.
    fn mend_sums(&mut self, goals: &[Goal]) {
        let effort = &self.guess.text.effort;
        let Some(point) = linear::point(&self.guess, goals, (&mut self.dice, effort)) else {
            return;
        };
        for (unknown, number) in &point.numbers {
            if let Unknown::Var(var, who) = unknown {
                self.set((*var, *who), Number::Int(*number), MAX_DEPTH);
            }
        }
        for (unknown, number) in &point.numbers {
            for (load, who) in point.loads.get(unknown).into_iter().flatten() {
                let ExprKind::Load(access) = &self.guess.kernel().exprs[*load].kind else {
                    continue;
                };
                if let Some(element) = self.guess.element(access, *who) {
                    self.guess.given.elements.insert(element, Number::Int(*number));
                }
            }
        }
    }

    /// Changes something so that a goal may hold.
    fn mend(&mut self, goal: &Goal) {
        let (side, other, op) = match self.dice.below(2) {
            0 => (goal.lhs, goal.rhs, goal.op),
            _ => (goal.rhs, goal.lhs, goal.op.mirrored()),
        };
        let Some(other) = self.guess.side(other) else { return };
        let mut all = self.targets(side.0, other);
        all.retain(|number| number.compares(op, other) == goal.holds);
        let Some(target) = self.dice.one_of(&all) else { return };
        match side {
            (Side::Expr(expr), who) => self.seek((expr, who), target, MAX_DEPTH),
            (Side::Var(var), who) => self.set((var, who), target, MAX_DEPTH),
            (Side::Number(_), _) => {}
        }
    }

    /// What a side may be made, that is compared with a number: near it, and now and then far
    /// away from it.
    fn targets(&mut self, side: Side, other: Number) -> Vec<Number> {
        let mut near = other.around();
        if let Number::Float(value) = other {
            near.extend(CLOSE.map(|by| Number::Float(value + value.abs() * by)));
        }
        if self.dice.below(FAR_AWAY) > 0 {
            return near;
        }
        let kernel = self.guess.kernel();
        let ty = match side {
            Side::Expr(expr) => kernel.exprs[expr].ty,
            Side::Var(var) => kernel.vars[var].ty,
            Side::Number(_) => return near,
        };
        let Some(whole) = other.whole().filter(|_| is_whole(ty)) else {
            let real = other.real();
            return [
                real / 2.0,
                real * 2.0,
                -real,
                real + TINY,
                real - TINY,
                f64::NAN,
                f64::INFINITY,
            ]
            .map(Number::Float)
            .to_vec();
        };
        let by = 1 << self.dice.below(8);
        let ends = ty.integer_range().map_or([0, MOST], |(least, most)| [least, most]);
        let far = [whole.saturating_sub(by), whole.saturating_add(by)];
        far.into_iter().chain(ends).map(Number::Int).collect()
    }

    /// Changes something that an expression is made of, so that it may be this number.
    fn seek(&mut self, (expr, who): (ExprId, Who), target: Number, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let kernel = self.guess.kernel();
        match &kernel.exprs[expr].kind {
            ExprKind::Load(access) => self.seek_element((expr, who), access, target, depth),
            ExprKind::Var(var) => self.set((*var, who), target, depth),
            ExprKind::Cast(operand) | ExprKind::Uniform(operand) => {
                self.seek((*operand, who), target, depth);
            }
            ExprKind::Unary { op, operand } => {
                let target = match (op, target) {
                    (UnaryOp::Not, Number::Int(target)) => Number::Int(i128::from(target == 0)),
                    _ => target.negated(),
                };
                self.seek((*operand, who), target, depth);
            }
            ExprKind::Math { func, arg } => {
                let all = match target.whole() {
                    Some(count @ 0..64) if func.is_count() => {
                        vec![Number::Int((1 << count) - 1), Number::Int(1 << count)]
                    }
                    _ => arguments(*func, target),
                };
                if let Some(target) = self.dice.one_of(&all) {
                    self.seek((*arg, who), target, depth);
                }
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let is_first = self.dice.below(2) == 0;
                let (part, other) = if is_first { (*lhs, *rhs) } else { (*rhs, *lhs) };
                let Some(other) = self.guess.value(other, who) else { return };
                let mut all = operands(*op, (target, other), is_first);
                if *op == BinaryOp::Mul && kernel.is_same(*lhs, *rhs) {
                    all = vec![Number::Float(target.real().max(0.0).sqrt())];
                }
                let is_either = matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Mul);
                if (is_first || is_either)
                    && let Some(now) = self.guess.value(part, who)
                {
                    all.extend(near(*op, (target, other), now));
                }
                if let Some(target) = self.dice.one_of(&all) {
                    self.seek((part, who), target, depth);
                }
            }
            ExprKind::Select { cond, then, otherwise } => {
                let holds = self.guess.value(*cond, who).and_then(Number::whole);
                let arm = if holds == Some(0) { *otherwise } else { *then };
                self.seek((arm, who), target, depth);
            }
            ExprKind::Tiles { extent, tile } => {
                let tile = self.guess.value(*tile, who).and_then(Number::whole);
                if let (Some(tile), Some(count)) = (tile, target.whole()) {
                    self.seek((*extent, who), Number::Int(tile.saturating_mul(count)), depth);
                }
            }
            ExprKind::Literal(_)
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::InBounds { .. } => {}
        }
    }

    /// The same of an element: of a tensor it is given, of a tile what is stored there.
    fn seek_element(
        &mut self,
        (load, who): (ExprId, Who),
        access: &Access,
        target: Number,
        depth: u32,
    ) {
        if let ArrayRef::Tensor(_) = access.array {
            let ty = self.guess.kernel().exprs[load].ty;
            let target = wrapped(target, ty);
            if self.dice.below(OTHER_ELEMENT) == 0 {
                let at = Number::Int(self.dice.below(MOST_OTHER) as i128);
                let nth = self.dice.below(access.indices.len());
                if let Some(index) = access.indices.get(nth) {
                    self.seek((*index, who), at, depth);
                }
            } else if let Some(element) = self.guess.element(access, who)
                && is_of_type(target, ty)
            {
                self.guess.given.elements.insert(element, target);
            }
            return;
        }
        if self.guess.is_taken_of(access.array) {
            let element = self.guess.element(access, who);
            let target = wrapped(target, self.guess.kernel().exprs[load].ty);
            if let Some((element, taken)) = element.zip(self.guess.taken.as_mut()) {
                taken.elements.insert(element, target);
            }
            return;
        }
        let count = self.guess.text.stored.get(&load).map_or(0, Vec::len);
        let chosen = self.dice.below(count);
        self.guess.of_tiles.insert((load, who), chosen);
        if let Some(value) = self.guess.stored(load, who) {
            self.seek((value, who), target, depth);
        }
    }

    /// Makes a variable this number, or what it is set to.
    fn set(&mut self, (var, who): (VarId, Who), target: Number, depth: u32) {
        let kernel = self.guess.kernel();
        let (kind, ty) = (kernel.vars[var].kind, kernel.vars[var].ty);
        let target = wrapped(target, ty);
        match (kind, target.whole()) {
            (VarKind::Let { .. }, _) if self.guess.is_taken(var) => {
                if let Some(taken) = self.guess.taken.as_mut().filter(|_| is_of_type(target, ty)) {
                    taken.vars.insert(var, target);
                }
            }
            (VarKind::Let { .. }, _) => {
                let count = self.guess.text.values.vars.get(&var).map_or(0, Vec::len);
                let chosen = self.dice.below(count);
                self.guess.of_vars.insert((var, who), chosen);
                if let Some(value) = self.guess.set(var, who) {
                    self.seek((value, who), target, depth);
                }
            }
            (VarKind::TileParam(param), Some(value)) => {
                // The next one that there is.
                let mut values = kernel.tile_params[param].domain.values();
                if let Some(value) = values.find(|own| i128::from(*own) >= value)
                    && let Some(sizes) = self.guess.with_tile(var, value.into())
                {
                    self.guess.sizes = sizes;
                }
            }
            (VarKind::Dim, Some(value)) if (0..=MOST).contains(&value) => {
                self.guess.sizes.values[var.index()] = i64::try_from(value).ok();
            }
            (VarKind::Scalar(_), Some(value)) if is_of_type(target, ty) => {
                if let Ok(value) = i64::try_from(value) {
                    self.guess.sizes.values[var.index()] = Some(value);
                    self.guess.given.scalars.remove(&var);
                }
            }
            (VarKind::Scalar(_), None) if !is_whole(ty) => {
                self.guess.sizes.values[var.index()] = Some(target.real() as i64);
                self.guess.given.scalars.insert(var, target.real());
            }
            (VarKind::Grid | VarKind::Block | VarKind::Each | VarKind::Loop, Some(value))
                if (0..=MOST).contains(&value)
                    || kind == VarKind::Loop && (-MOST..0).contains(&value) =>
            {
                let at = self.guess.at(var, who);
                self.guess.coordinates.insert(at, value);
            }
            _ => {}
        }
    }

    fn launch(self, loads: &BTreeSet<(ExprId, Who)>) -> Launch {
        let mut guess = self.guess;
        let kernel = guess.kernel();
        let at = |var: VarId| guess.coordinates.get(&guess.at(var, READER)).copied().unwrap_or(0);
        let block = kernel.grid.iter().map(|axis| at(axis.var) as i64).collect();
        let elements = loads.iter().filter_map(|(load, who)| {
            let ExprKind::Load(access) = &kernel.exprs[*load].kind else { return None };
            Some((guess.element(access, *who)?, guess.value(*load, *who)?))
        });
        let elements: Vec<_> = elements.collect();
        guess.given.elements.extend(elements);
        Launch { block, sizes: guess.sizes, given: guess.given, doubts: None }
    }
}
