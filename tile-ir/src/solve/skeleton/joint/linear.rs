//! All goals at once, of what is a sum.
//!
//! `if p * 3 + q == 1000 && p - q == 12` holds at one pair of numbers only, and whichever of the
//! goals is mended alone, the other fails. So sides are written as sums of what a launch may
//! choose: scalars, sizes, coordinates and elements. What is no sum is made one as it is now: of
//! a product one factor stays what it is, a quotient is an unknown whose multiple is near the
//! dividend, of a minimum either operand is the smaller. Whole numbers are then looked for that
//! all rows allow ([`whole_point`]).
//!
//! What is found changes the guess, no more: whether the goals hold then is seen there.

use std::collections::{BTreeMap, BTreeSet};

use super::super::amounts::is_whole;
use super::dice::Dice;
use super::goals::{Goal, READER, Side, Who};
use super::guess::Guess;
use super::near::MOST;
use crate::kernel::{Access, ArrayRef, ExprId, ExprKind, Literal, LoopRange, Type, VarId, VarKind};
use crate::op::{BinaryOp, CompareOp, MathFn, UnaryOp};
use crate::solve::symbolic::{Effort, Row, whole_point};

/// How deep expressions are looked into.
const MAX_DEPTH: u32 = 24;

/// Most rows of one system.
const MAX_ROWS: usize = 96;

/// What a launch may choose.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unknown {
    Var(VarId, Who),
    /// An element of a tensor, as indices are now.
    Element(ArrayRef, Vec<i64>),
    /// A quotient, or the number of a round.
    Count(usize),
}

/// Numbers by unknown, and the loads that each element is read by.
pub(super) struct Point {
    pub(super) numbers: Vec<(Unknown, i128)>,
    pub(super) loads: BTreeMap<Unknown, BTreeSet<(ExprId, Who)>>,
}

/// Numbers at which goals may hold all at once.
pub(super) fn point(
    guess: &Guess<'_, '_>,
    goals: &[Goal],
    (dice, effort): (&mut Dice, &Effort),
) -> Option<Point> {
    let mut sums = Sums {
        guess,
        dice,
        unknowns: BTreeMap::new(),
        loads: BTreeMap::new(),
        rows: Vec::new(),
        inside: BTreeSet::new(),
    };
    goals.iter().for_each(|goal| sums.add_goal(goal));
    if sums.rows.len() > MAX_ROWS {
        return None;
    }
    let found = whole_point(&sums.rows, effort)?;
    let number = |(unknown, at): (Unknown, usize)| Some((unknown, *found.get(&at)?));
    let numbers = sums.unknowns.into_iter().filter_map(number).collect();
    Some(Point { numbers, loads: sums.loads })
}

/// `sum of factor * unknown + constant`
#[derive(Clone, Debug, Default)]
struct Sum {
    factors: BTreeMap<usize, i128>,
    constant: i128,
}

impl Sum {
    fn number(constant: i128) -> Self {
        Self { factors: BTreeMap::new(), constant }
    }

    fn unknown(at: usize) -> Self {
        Self { factors: BTreeMap::from([(at, 1)]), constant: 0 }
    }

    /// The number that it is whatever the unknowns are.
    fn as_number(&self) -> Option<i128> {
        self.factors.is_empty().then_some(self.constant)
    }

    fn times(&self, by: i128) -> Option<Self> {
        self.plus_times(-1, self)?.plus_times(by, self)
    }

    /// `self + by * other`
    fn plus_times(&self, by: i128, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(by.checked_mul(other.constant)?)?;
        for (unknown, factor) in &other.factors {
            let own = sum.factors.entry(*unknown).or_insert(0);
            *own = own.checked_add(by.checked_mul(*factor)?)?;
        }
        sum.factors.retain(|_, factor| *factor != 0);
        Some(sum)
    }
}

struct Sums<'g, 't, 'a> {
    guess: &'g Guess<'t, 'a>,
    dice: &'g mut Dice,
    unknowns: BTreeMap<Unknown, usize>,
    loads: BTreeMap<Unknown, BTreeSet<(ExprId, Who)>>,
    /// What is at least 0.
    rows: Vec<Row>,
    /// The variables that are being looked into.
    inside: BTreeSet<(VarId, Who)>,
}

impl Sums<'_, '_, '_> {
    /// What says nothing of sums says nothing here.
    fn add_goal(&mut self, goal: &Goal) {
        let sides = self.side(goal.lhs).zip(self.side(goal.rhs));
        let Some((lhs, rhs)) = sides else { return };
        let op = if goal.holds { goal.op } else { goal.op.negated() };
        self.compare(op, &lhs, &rhs);
    }

    fn compare(&mut self, op: CompareOp, lhs: &Sum, rhs: &Sum) {
        match op {
            CompareOp::Le => self.at_least(rhs, lhs, 0),
            CompareOp::Lt => self.at_least(rhs, lhs, 1),
            CompareOp::Ge => self.at_least(lhs, rhs, 0),
            CompareOp::Gt => self.at_least(lhs, rhs, 1),
            CompareOp::Eq => {
                self.at_least(lhs, rhs, 0);
                self.at_least(rhs, lhs, 0);
            }
            CompareOp::Ne => match self.dice.below(2) {
                0 => self.at_least(lhs, rhs, 1),
                _ => self.at_least(rhs, lhs, 1),
            },
        }
    }

    /// `more >= less + by`
    fn at_least(&mut self, more: &Sum, less: &Sum, by: i128) {
        if let Some(sum) = more.plus_times(-1, less)
            && let Some(constant) = sum.constant.checked_sub(by)
        {
            self.rows.push(Row { factors: sum.factors.into_iter().collect(), constant });
        }
    }

    /// `low <= sum <= high`
    fn between(&mut self, sum: &Sum, (low, high): (i128, i128)) {
        self.at_least(sum, &Sum::number(low), 0);
        self.at_least(&Sum::number(high), sum, 0);
    }

    fn side(&mut self, (side, who): (Side, Who)) -> Option<Sum> {
        match side {
            Side::Number(number) => Some(Sum::number(number)),
            Side::Var(var) => self.var((var, who), MAX_DEPTH),
            Side::Expr(expr) => {
                let sum = self.sum((expr, who), MAX_DEPTH)?;
                if let Some(range) = self.guess.kernel().exprs[expr].ty.integer_range()
                    && sum.factors.len() > 1
                {
                    self.between(&sum, range);
                }
                Some(sum)
            }
        }
    }

    /// What an expression is, or what it is now.
    fn sum(&mut self, (expr, who): (ExprId, Who), depth: u32) -> Option<Sum> {
        if !is_whole(self.guess.kernel().exprs[expr].ty) {
            return None;
        }
        let sum = depth.checked_sub(1).and_then(|depth| self.sum_of((expr, who), depth));
        let now = || self.guess.value(expr, who)?.whole().map(Sum::number);
        sum.or_else(now)
    }

    fn sum_of(&mut self, (expr, who): (ExprId, Who), depth: u32) -> Option<Sum> {
        let kernel = self.guess.kernel();
        let ty = kernel.exprs[expr].ty;
        match &kernel.exprs[expr].kind {
            ExprKind::Literal(Literal::Int(value)) => Some(Sum::number(*value)),
            ExprKind::Var(var) => self.var((*var, who), depth),
            ExprKind::Load(access) => self.load((expr, who), access, depth),
            ExprKind::Cast(operand) | ExprKind::Uniform(operand) => {
                let is_boolean = kernel.exprs[*operand].ty == Type::BOOL;
                if is_boolean { None } else { self.sum((*operand, who), depth) }
            }
            ExprKind::Unary { op: UnaryOp::Neg, operand } => {
                self.sum((*operand, who), depth)?.times(-1)
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let sums = [lhs, rhs].map(|part| self.sum((*part, who), depth));
                let [Some(lhs_sum), Some(rhs_sum)] = sums else { return None };
                let of_one = |at: usize| self.guess.value([*lhs, *rhs][at], who)?.whole();
                let now = [of_one(0), of_one(1)];
                let (lhs, rhs) = self.with_number(*op, (lhs_sum, rhs_sum), now)?;
                self.operation(*op, (&lhs, &rhs), ty)
            }
            ExprKind::Select { cond, then, otherwise } => {
                let holds = self.choose((*cond, who), depth)?;
                self.sum((if holds { *then } else { *otherwise }, who), depth)
            }
            ExprKind::Math { func: MathFn::Abs, arg } => {
                let sum = self.sum((*arg, who), depth)?;
                let sign = if self.dice.below(2) == 0 { 1 } else { -1 };
                let sum = sum.times(sign)?;
                self.at_least(&sum, &Sum::default(), 0);
                Some(sum)
            }
            ExprKind::Tiles { extent, tile } => {
                let tile = self.guess.value(*tile, who)?.whole().filter(|tile| *tile > 0)?;
                let extent = self.sum((*extent, who), depth)?;
                let last = extent.plus_times(1, &Sum::number(tile - 1))?;
                self.quotient(&last, tile, true)
            }
            _ => None,
        }
    }

    /// Of what is no sum of both operands, one stays what it is now, or is some number.
    fn with_number(
        &mut self,
        op: BinaryOp,
        (lhs, rhs): (Sum, Sum),
        now: [Option<i128>; 2],
    ) -> Option<(Sum, Sum)> {
        let is_first = match op {
            BinaryOp::Mul if lhs.as_number().or(rhs.as_number()).is_none() => {
                self.dice.below(2) == 0
            }
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr
                if rhs.as_number().is_none() =>
            {
                false
            }
            _ => return Some((lhs, rhs)),
        };
        let now = now[usize::from(!is_first)]?;
        let number = if now == 0 { 1 + self.dice.below(4) as i128 } else { now };
        self.compare(CompareOp::Eq, if is_first { &lhs } else { &rhs }, &Sum::number(number));
        let number = Sum::number(number);
        Some(if is_first { (number, rhs) } else { (lhs, number) })
    }

    fn operation(&mut self, op: BinaryOp, (lhs, rhs): (&Sum, &Sum), ty: Type) -> Option<Sum> {
        let is_natural = ty.integer_range().is_some_and(|(least, _)| least >= 0);
        let power = |by: i128| u32::try_from(by).ok().filter(|by| *by < 32).map(|by| 1_i128 << by);
        match op {
            BinaryOp::Add => lhs.plus_times(1, rhs),
            BinaryOp::Sub => lhs.plus_times(-1, rhs),
            BinaryOp::Mul => match (lhs.as_number(), rhs.as_number()) {
                (Some(by), _) => rhs.times(by),
                (_, Some(by)) => lhs.times(by),
                (None, None) => None,
            },
            BinaryOp::Shl => lhs.times(power(rhs.as_number()?)?),
            BinaryOp::Shr => self.quotient(lhs, power(rhs.as_number()?)?, true),
            BinaryOp::Div => self.quotient(lhs, rhs.as_number()?, is_natural),
            BinaryOp::Rem => self.rest(lhs, rhs.as_number()?, is_natural),
            BinaryOp::And => {
                let mask = rhs.as_number().or_else(|| lhs.as_number())?;
                let masked = if rhs.as_number().is_some() { lhs } else { rhs };
                let is_low = mask > 0 && mask & mask.checked_add(1)? == 0;
                if is_low { self.rest(masked, mask + 1, true) } else { None }
            }
            BinaryOp::Min | BinaryOp::Max => {
                let (taken, left) = if self.dice.below(2) == 0 { (lhs, rhs) } else { (rhs, lhs) };
                match op {
                    BinaryOp::Min => self.at_least(left, taken, 0),
                    _ => self.at_least(taken, left, 0),
                }
                Some(taken.clone())
            }
            _ => None,
        }
    }

    /// `sum / by`, rounded down or towards 0.
    fn quotient(&mut self, sum: &Sum, by: i128, is_floored: bool) -> Option<Sum> {
        if by <= 0 {
            return None;
        }
        if let Some(number) = sum.as_number() {
            return Some(Sum::number(if is_floored { number.div_euclid(by) } else { number / by }));
        }
        let quotient = self.count();
        let rest = sum.plus_times(-by, &quotient)?;
        if is_floored {
            self.between(&rest, (0, by - 1));
        } else if self.dice.below(2) == 0 {
            self.at_least(sum, &Sum::default(), 0);
            self.between(&rest, (0, by - 1));
        } else {
            self.at_least(&Sum::default(), sum, 0);
            self.between(&rest, (1 - by, 0));
        }
        Some(quotient)
    }

    fn rest(&mut self, sum: &Sum, by: i128, is_floored: bool) -> Option<Sum> {
        let quotient = self.quotient(sum, by, is_floored)?;
        sum.plus_times(-by, &quotient)
    }

    /// How a condition is to come out: as it does now, or else.
    fn choose(&mut self, (cond, who): (ExprId, Who), depth: u32) -> Option<bool> {
        let kernel = self.guess.kernel();
        let cond = self.guess.text.plain.resolved(cond);
        let now = self.guess.value(cond, who)?.whole()? != 0;
        let ExprKind::Compare { op, lhs, rhs } = kernel.exprs[cond].kind else { return Some(now) };
        let [lhs, rhs] = [lhs, rhs].map(|side| self.sum((side, who), depth));
        let Some((lhs, rhs)) = lhs.zip(rhs) else { return Some(now) };
        let holds = now == (self.dice.below(3) > 0);
        self.compare(if holds { op } else { op.negated() }, &lhs, &rhs);
        Some(holds)
    }

    fn load(&mut self, (load, who): (ExprId, Who), access: &Access, depth: u32) -> Option<Sum> {
        let ArrayRef::Tensor(_) = access.array else {
            let stored =
                self.guess.stored(load, who).filter(|_| !self.guess.is_taken_of(access.array))?;
            return self.sum((stored, who), depth);
        };
        let (array, indices) = self.guess.element(access, who)?;
        let unknown = Unknown::Element(array, indices);
        self.loads.entry(unknown.clone()).or_default().insert((load, who));
        Some(self.of_unknown(unknown, self.guess.kernel().exprs[load].ty.integer_range()))
    }

    fn var(&mut self, (var, who): (VarId, Who), depth: u32) -> Option<Sum> {
        let kernel = self.guess.kernel();
        let (kind, ty) = (kernel.vars[var].kind, kernel.vars[var].ty);
        if !is_whole(ty) || ty == Type::BOOL {
            return None;
        }
        match kind {
            VarKind::Let { .. } if self.guess.is_taken(var) => {
                Some(self.of_unknown(Unknown::Var(var, who), ty.integer_range()))
            }
            VarKind::Let { .. } => {
                // What is made of what it was before stays what it is.
                if !self.inside.insert((var, who)) {
                    return None;
                }
                let value = self.guess.set(var, who);
                let sum = value.and_then(|value| self.sum((value, who), depth));
                self.inside.remove(&(var, who));
                sum
            }
            VarKind::TileParam(_) => None,
            VarKind::Scalar(_) => {
                Some(self.of_unknown(Unknown::Var(var, READER), ty.integer_range()))
            }
            VarKind::Dim => Some(self.of_unknown(Unknown::Var(var, READER), Some((0, MOST)))),
            VarKind::Grid | VarKind::Block | VarKind::Each | VarKind::Loop => {
                self.coordinate(self.guess.at(var, who), depth)
            }
        }
    }

    /// A coordinate; of a loop with steps it is in one of its rounds.
    fn coordinate(&mut self, (var, who): (VarId, Who), depth: u32) -> Option<Sum> {
        let unknown = Unknown::Var(var, who);
        let is_known = self.unknowns.contains_key(&unknown);
        let range = match self.guess.text.rounds.get(&var) {
            Some(_) => (-MOST, MOST),
            None => (0, MOST),
        };
        let at = self.of_unknown(unknown, Some(range));
        match self.guess.text.rounds.get(&var) {
            Some(LoopRange::Between { start, step: Some(step), .. }) if !is_known => {
                let step = self.guess.value(*step, who)?.whole()?;
                let start = self.sum((*start, who), depth)?;
                let round = self.count();
                self.at_least(&round, &Sum::default(), 0);
                self.compare(CompareOp::Eq, &start.plus_times(step, &round)?, &at);
            }
            Some(LoopRange::Halving(_) | LoopRange::Doubling(_)) if !is_known => {
                let power = Sum::number(1 << self.dice.below(10));
                self.compare(CompareOp::Eq, &at, &power);
            }
            _ => {}
        }
        Some(at)
    }

    fn count(&mut self) -> Sum {
        let unknown = Unknown::Count(self.unknowns.len());
        self.of_unknown(unknown, None)
    }

    fn of_unknown(&mut self, unknown: Unknown, range: Option<(i128, i128)>) -> Sum {
        let count = self.unknowns.len();
        if let Some(at) = self.unknowns.get(&unknown) {
            return Sum::unknown(*at);
        }
        self.unknowns.insert(unknown, count);
        let sum = Sum::unknown(count);
        if let Some(range) = range {
            self.between(&sum, range);
        }
        sum
    }
}
