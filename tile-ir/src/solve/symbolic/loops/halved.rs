//! Strides that a loop halves.
//!
//! In each iteration of `while stride > 0 { …; stride /= 2; }` the stride is a power of two,
//! if what it is before the loop is one or what halving has left of one
//! ([`crate::solve::halving`]): then `t & (stride - 1)` is a remainder. It is not one after
//! the loop, where it is 0, unless somebody has left before.
//!
//! That is said of iterations that are entered, so of nothing but what stands in them: the
//! condition at the head is not asked of who goes on, and of who does not nothing is known
//! but that the stride is not negative.
//!
//! So it is of any index that is never negative and of which the loop asks whether it is above 0,
//! `while gap > 0 { …; gap = gap * 10 / 13; }`: in an iteration it is at least 1.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::terms::value::Function;
use super::super::walk::{Value, Walk};
use crate::kernel::{ExprId, Stmt, Type, VarId};
use crate::solve::doubling::{self, Doubling};
use crate::solve::halving;

/// Places of the largest power of two below which a value is looked for.
const MAX_PLACES: u32 = 30;

/// The variables of which a loop makes powers of two.
#[derive(Debug, Default)]
pub(in super::super) struct Scaled {
    /// It doubles them, and does not wrap them.
    pub(in super::super) doubled: BTreeMap<VarId, Doubling>,
    /// It halves them while they are above 0.
    pub(in super::super) halved: BTreeSet<VarId>,
    /// No iteration begins where they are 0, of those that are not negative.
    pub(in super::super) above: BTreeSet<VarId>,
}

impl Walk<'_> {
    /// What a loop that goes on while `cond` holds scales.
    pub(in super::super) fn scaled(&self, cond: ExprId, body: &[Stmt]) -> Scaled {
        let mut halved = halving::falling(self.kernel, cond, body);
        let is_begun = |first: &Value| matches!(first, Value::Int(first) if self.is_halved(first));
        halved.retain(|var| self.env.get(var).is_some_and(is_begun));
        let is_above = |var: &VarId| {
            self.type_of(*var) == Type::Index && halving::is_above_zero(self.kernel, cond, *var)
        };
        let above = self.env.keys().copied().filter(is_above).collect();
        let mut doubled = doubling::rising(self.kernel, cond, body);
        for (var, doubling) in self.doubled_in_time(cond, body) {
            doubled.entry(var).or_insert(doubling);
        }
        Scaled { doubled, halved, above }
    }

    /// The variables that a loop doubles once in each iteration, while another one is above 0
    /// that it halves.
    ///
    /// In the `n`-th iteration that is entered, from 0 on, what is halved is still 1 at least,
    /// so that it was `2^n` at least. Hence what is doubled is no more than what both were
    /// before the loop, multiplied with each other; if twice that is of its type it does not
    /// wrap.
    fn doubled_in_time(&self, cond: ExprId, body: &[Stmt]) -> BTreeMap<VarId, Doubling> {
        let mut doubled = doubling::doubled(self.kernel, body);
        doubled.retain(|_, doubling| doubling.is_steady);
        if doubled.is_empty() {
            return doubled;
        }
        let high = |var: &VarId| match self.env.get(var) {
            Some(Value::Int(first)) if !first.is_lost() => self.power_above(first),
            Some(Value::Int(_) | Value::Cond(_) | Value::Other) | None => None,
        };
        let falling = halving::falling_steadily(self.kernel, cond, body);
        let Some(rounds) = falling.iter().filter_map(high).min() else { return BTreeMap::new() };
        let factor = |var: &VarId| {
            let most = high(var)?.max(1).checked_mul(rounds.max(1))?;
            let (_, max) = doubling::range(self.kernel, *var)?;
            Some(max / most).filter(|factor| *factor > 1)
        };
        let bounded = doubled.into_iter().filter_map(|(var, doubling)| {
            Some((var, Doubling { factor: factor(&var)?, ..doubling }))
        });
        bounded.collect()
    }

    /// A number that a value is not above where the walk is: what is known of it, or a power
    /// of two.
    fn power_above(&self, value: &Poly) -> Option<i128> {
        let high = self.high(value);
        if high.is_some_and(|high| high < 1 << MAX_PLACES) {
            return high;
        }
        let is_above = |places: u32| {
            let beyond = Formula::lt(&Poly::constant(1 << places), value);
            !self.is_never(&beyond) && !self.is_never_here(value, beyond)
        };
        let (mut low, mut most) = (0, MAX_PLACES);
        if is_above(most) {
            return high;
        }
        while low < most {
            let places = low.midpoint(most);
            if is_above(places) { low = places + 1 } else { most = places }
        }
        Some(1 << most)
    }

    /// Whether a value is a power of two, or a quotient of one by another.
    fn is_halved(&self, value: &Poly) -> bool {
        if self.is_power(value) {
            return true;
        }
        let [(product, 1)] = value.terms() else { return false };
        let [unknown] = product.as_slice() else { return false };
        let of = self.function_of(*unknown);
        of.is_some_and(|(function, whole, by)| {
            *function == Function::Quotient && self.is_power(whole) && self.is_power(by)
        })
    }
}
