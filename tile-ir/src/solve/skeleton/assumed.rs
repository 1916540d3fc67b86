//! Scalars and dimensions as the kernel assumes them to be.
//!
//! What is tried for a scalar is small. `assume(pitch >= 16 * tiles(W, 16))` excludes that, and
//! `assume(width == 512)` nearly all: where no run fulfils an assumption, nothing is seen at
//! all. So a scalar, or a dimension, of which a number is assumed as the least one is put there,
//! or a little above; one of which it is assumed as the largest is put there, or a little below; and one
//! that is assumed to be a number is that number; one that is assumed to be a multiple, or to
//! leave a rest, is the next number that does. Where a launch may have few values
//! ([`few_values`]), they are taken one after the other; after the first, one that is no power
//! of two, where most are: masks and halves are right for those alone.

use std::collections::{BTreeMap, BTreeSet};

use super::plain::Plain;
use super::sizes::Sizes;
use super::wished::Wishes;
use crate::arena::EntityId as _;
use crate::check::few_values;
use crate::kernel::{ExprId, ExprKind, Kernel, Literal, VarId, VarKind, eval_index};
use crate::op::{BinaryOp, CompareOp, LogicOp, UnaryOp};

/// Where sizes are put before they are run.
pub(super) struct Put<'a> {
    plain: Plain<'a>,
    /// Conditions that the author assumes, and sizes decide.
    pub(super) assumptions: BTreeSet<ExprId>,
    /// Scalars and dimensions of which these leave few values.
    few: BTreeMap<VarId, Vec<i128>>,
}

impl<'a> Put<'a> {
    pub(super) fn of(kernel: &'a Kernel, assumptions: &BTreeSet<ExprId>) -> Self {
        let few = match assumptions.is_empty() {
            true => BTreeMap::new(),
            false => few_values(kernel),
        };
        Self { plain: Plain::of(kernel), assumptions: assumptions.clone(), few }
    }

    /// Sizes as the kernel assumes them to be.
    pub(super) fn at(&self, mut sizes: Sizes) -> Sizes {
        for assumption in &self.assumptions {
            sizes.assume(&self.plain, *assumption);
        }
        for (var, values) in &self.few {
            sizes.choose(self.plain.kernel, *var, values);
        }
        sizes
    }
}

/// Where sizes are put in runs for which something is wished.
#[derive(Clone, Copy)]
pub(super) struct Placing<'a> {
    pub(super) put: &'a Put<'a>,
    pub(super) wishes: &'a Wishes,
}

impl Placing<'_> {
    /// Sizes as is wished for, as far as the kernel does not say otherwise.
    pub(super) fn at(self, sizes: Sizes) -> Sizes {
        let mut sizes = self.put.at(sizes);
        if self.wishes.conditions.is_empty() {
            return sizes;
        }
        for (condition, holds) in &self.wishes.conditions {
            sizes.wish(&self.put.plain, *condition, *holds);
        }
        self.put.at(sizes)
    }
}

impl Sizes {
    /// Gives a scalar one of the values that it may have, if it does not have one yet: the
    /// next ones by other data.
    fn choose(&mut self, kernel: &Kernel, var: VarId, values: &[i128]) {
        if !matches!(kernel.vars[var].kind, VarKind::Scalar(_)) {
            return;
        }
        let Some(Some(now)) = self.values.get_mut(var.index()) else { return };
        if !values.contains(&i128::from(*now)) {
            let is_odd_one = |value: &i128| value.count_ones() > 1;
            let odd_one = values.iter().skip(1).position(is_odd_one).map_or(0, |at| at + 1);
            let at = match self.seed as usize % values.len().max(1) {
                1 if odd_one > 0 => odd_one,
                at if (2..=odd_one).contains(&at) => at - 1,
                at => at,
            };
            let value = values.get(at).and_then(|value| i64::try_from(*value).ok());
            *now = value.unwrap_or(*now);
        }
    }

    fn assume(&mut self, plain: &Plain<'_>, condition: ExprId) {
        let kind = &plain.kernel.exprs[condition].kind;
        if let ExprKind::Logic { op: LogicOp::And, lhs, rhs } = *kind {
            [lhs, rhs].into_iter().for_each(|part| self.assume(plain, part));
        }
        let ExprKind::Compare { op, lhs, rhs } = *kind else { return };
        self.compare(plain, op, (lhs, rhs));
        self.compare(plain, op.mirrored(), (rhs, lhs));
        if op == CompareOp::Eq {
            self.leave_rest(plain, (lhs, rhs), 0);
            self.leave_rest(plain, (rhs, lhs), 0);
        }
    }

    /// Puts scalars where a condition holds, or does not; of alternatives one or the other.
    fn wish(&mut self, plain: &Plain<'_>, condition: ExprId, holds: bool) {
        let kernel = plain.kernel;
        let condition = plain.resolved(condition);
        match kernel.exprs[condition].kind {
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.wish(plain, operand, !holds),
            ExprKind::Logic { op, lhs, rhs } if (op == LogicOp::And) == holds => {
                [lhs, rhs].into_iter().for_each(|part| self.wish(plain, part, holds));
            }
            ExprKind::Logic { lhs, rhs, .. } => {
                let one = if self.seed.is_multiple_of(2) { lhs } else { rhs };
                self.wish(plain, one, holds);
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let op = if holds { op } else { op.negated() };
                let (lhs, rhs) = (plain.resolved(lhs), plain.resolved(rhs));
                self.compare(plain, op, (lhs, rhs));
                self.compare(plain, op.mirrored(), (rhs, lhs));
                if let CompareOp::Eq | CompareOp::Ne = op {
                    let further = i128::from(op == CompareOp::Ne);
                    self.leave_rest(plain, (lhs, rhs), further);
                    self.leave_rest(plain, (rhs, lhs), further);
                }
                if op == CompareOp::Ne {
                    self.differ(plain, (lhs, rhs));
                    self.differ(plain, (rhs, lhs));
                }
            }
            ExprKind::Var(var) if plain.parameter(condition).is_some() => {
                if let Some(Some(now)) = self.values.get_mut(var.index()) {
                    *now = i64::from(holds);
                }
            }
            _ => {}
        }
    }

    /// Puts a scalar that is something else to the number after it, or before it.
    fn differ(&mut self, plain: &Plain<'_>, (one, other): (ExprId, ExprId)) {
        let way = if self.seed.is_multiple_of(2) { CompareOp::Gt } else { CompareOp::Lt };
        let Some(given) = plain.parameter(one) else { return };
        let value = |var: VarId| self.values.get(var.index()).copied().flatten().map(i128::from);
        if value(given).is_some() && value(given) == number(plain.kernel, other, &value) {
            self.compare(plain, way, (one, other));
            self.compare(plain, CompareOp::Gt, (one, other));
        }
    }

    /// Puts a scalar of which `whole` is a remainder, or the last bits, at the next number of
    /// which that is `rest`, or so much `further`.
    fn leave_rest(&mut self, plain: &Plain<'_>, (whole, rest): (ExprId, ExprId), further: i128) {
        let ExprKind::Binary { op, lhs, rhs } = plain.kernel.exprs[whole].kind else { return };
        let Some(given) = plain.parameter(lhs) else { return };
        let value = |var: VarId| self.values.get(var.index()).copied().flatten().map(i128::from);
        let by = match (op, eval_index(plain.kernel, rhs, &value)) {
            (BinaryOp::Rem, Some(by)) => by,
            (BinaryOp::And, Some(mask)) if mask.count_ones() == mask.trailing_ones() => mask + 1,
            _ => return,
        };
        let Some(rest) = eval_index(plain.kernel, rest, &value) else { return };
        let rest = if further == 0 { rest } else { (rest + further).rem_euclid(by.max(1)) };
        let Some(Some(now)) = self.values.get_mut(given.index()) else { return };
        let next = |now: i64| i128::from(now) + (rest - i128::from(now)).rem_euclid(by);
        if *now < 0 || !(1..=i128::from(u32::MAX)).contains(&by) || !(0..by).contains(&rest) {
            return;
        }
        let next = Some(next(*now)).filter(|at| *at <= range_of(plain.kernel, given).1);
        *now = next.and_then(|next| i64::try_from(next).ok()).unwrap_or(*now);
    }

    /// Puts a scalar where it compares so with something else, if it does not yet.
    fn compare(&mut self, plain: &Plain<'_>, op: CompareOp, (one, other): (ExprId, ExprId)) {
        let Some(given) = plain.parameter(one) else { return };
        let value = |var: VarId| self.values.get(var.index()).copied().flatten().map(i128::from);
        let Some(other) = number(plain.kernel, other, &value) else { return };
        let Some(Some(now)) = self.values.get_mut(given.index()) else { return };
        if op.holds(i128::from(*now), other) {
            return;
        }
        let room = i128::from(self.seed % 3);
        let wanted = match op {
            CompareOp::Eq => Some(other),
            CompareOp::Ge => other.checked_add(room),
            CompareOp::Gt => other.checked_add(room + 1),
            CompareOp::Le => other.checked_sub(room),
            CompareOp::Lt => other.checked_sub(room + 1),
            CompareOp::Ne => None,
        };
        let (min, max) = range_of(plain.kernel, given);
        let wanted = wanted.filter(|at| (min..=max).contains(at));
        if let Some(wanted) = wanted.and_then(|wanted| i64::try_from(wanted).ok()) {
            *now = wanted;
        }
    }
}

/// A whole number that an expression is at some sizes; of a fraction the one below it.
fn number(kernel: &Kernel, expr: ExprId, value: &dyn Fn(VarId) -> Option<i128>) -> Option<i128> {
    match kernel.exprs[expr].kind {
        ExprKind::Literal(Literal::Float(value)) => Some(value.floor() as i128),
        _ => eval_index(kernel, expr, value),
    }
}

/// The largest dimension that is tried.
const MAX_DIM: i128 = 1 << 20;

/// From where to where a parameter or dimension goes.
fn range_of(kernel: &Kernel, given: VarId) -> (i128, i128) {
    kernel.vars[given].ty.integer_range().unwrap_or((0, MAX_DIM))
}
