//! Pairs of variables of which each round doubles one and halves the other.
//!
//! `while d > 0 { …; offset <<= 1; d >>= 1; }` goes up a tree, and `while d < n { offset >>= 1; …;
//! d <<= 1; }` comes down again: that `offset` is not 0 on the way down rests on what both were on
//! the way up.
//!
//! # What is known
//!
//! Let `x` be `x0` before the loop and doubled by each round, and `y` be `y0` and halved, rounded
//! down, none of them negative. After `r` rounds `x = x0 * 2^r`, and `y` is the quotient of `y0` by
//! `2^r`. If `y` is at least 1, then `2^r <= y0`, so that `x <= x0 * y0`. If it is 0, then
//! `2^r >= y0 + 1`, so that `x >= x0 * (y0 + 1)`.
//!
//! If `y0` is a power of two, it is halved without a rest as long as it is above 1. So `y` is at
//! least 2 and `x * y = x0 * y0`, by which `2 * x <= x0 * y0`; or it is 1 and `x = x0 * y0`; or it
//! is 0 and `x >= 2 * x0 * y0`.
//!
//! In either case `x` is no less than `x0`, and `y` no more than `y0`. Each round begins with an `x`
//! that its type and the loop's condition keep below some number: behind the loop it is at most
//! twice that, or `x0` still.
//!
//! # What it rests on
//!
//! - Whoever comes to the end of a round has doubled and halved, whatever jumps it has made on the
//!   way: else what it has there is not twice what it had, nor half of it. So behind the loop too
//!   the two have been changed equally often.
//! - What is twice as much at the end of a round has not wrapped: a value that may have is not a
//!   multiple of what it was.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::scans::prefix::single;
use super::super::terms::value::Function;
use super::super::walk::{Value, Walk};
use super::together::Changed;
use crate::kernel::VarId;

/// Most pairs of one loop of which this is said.
const MAX_PAIRS: usize = 4;

/// A variable that each round doubles, and one that it halves.
pub(in super::super) struct Opposed {
    doubled: Scaled,
    halved: Scaled,
    /// Whether the one that is halved was a power of two.
    is_power: bool,
    /// What the one that is doubled is at most where a round begins.
    most: Option<i128>,
}

/// A variable, and what it was before the loop.
struct Scaled {
    var: VarId,
    first: Poly,
}

impl Scaled {
    fn of(changed: &Changed) -> Self {
        Self { var: changed.var, first: changed.first.clone() }
    }
}

impl Opposed {
    /// What is known of them after any number of rounds.
    fn known(&self, doubled: &Poly, halved: &Poly) -> Option<Formula> {
        let (first, whole) = (&self.doubled.first, &self.halved.first);
        let product = first.mul(whole);
        let both = doubled.mul(halved);
        let cases = match self.is_power {
            true => vec![
                Formula::All(vec![
                    Formula::AtLeast(halved.plus(-2)),
                    Formula::le(&doubled.scaled(2), &product),
                    Formula::eq(&both, &product),
                ]),
                Formula::eq(halved, &Poly::constant(1)).and(Formula::eq(doubled, &product)),
                Formula::Zero(halved.clone()).and(Formula::le(&product.scaled(2), doubled)),
            ],
            false => vec![
                Formula::AtLeast(halved.plus(-1)).and(Formula::le(doubled, &product)),
                Formula::Zero(halved.clone()).and(Formula::le(&product.add(first), doubled)),
            ],
        };
        let is_lost = product.is_lost() || both.is_lost() || product.add(first).is_lost();
        let beside = Formula::le(first, doubled).and(Formula::le(halved, whole));
        (!is_lost).then(|| beside.and(Formula::Any(cases)))
    }
}

impl Walk<'_> {
    /// Notes of which variables each round doubles one and halves the other, and what they are
    /// together at the head of one.
    pub(super) fn note_opposed(&mut self, changed: &[Changed]) -> Vec<Opposed> {
        let doubled: Vec<&Changed> = changed.iter().filter(|of| self.is_doubled(of)).collect();
        if doubled.is_empty() {
            return Vec::new();
        }
        let halved: Vec<&Changed> =
            changed.iter().filter(|of| self.is_halved_by_each(of)).collect();
        let pairs = doubled.iter().flat_map(|one| halved.iter().map(move |other| (*one, *other)));
        let mut out = Vec::new();
        for (doubled, halved) in pairs.take(MAX_PAIRS) {
            let opposed = Opposed {
                doubled: Scaled::of(doubled),
                halved: Scaled::of(halved),
                is_power: self.is_power(&halved.first),
                most: self.high(&doubled.head),
            };
            let Some(known) = opposed.known(&doubled.head, &halved.head) else { continue };
            self.symbols.add_facts(doubled.at, known.clone());
            self.symbols.add_facts(halved.at, known);
            out.push(opposed);
        }
        out
    }

    /// Adds what they are together behind the loop.
    pub(super) fn leave_opposed(&mut self, opposed: &[Opposed]) {
        for of in opposed {
            let values = [&of.doubled, &of.halved].map(|of| match self.env.get(&of.var) {
                Some(Value::Int(value)) => Some((value.clone(), single(value)?)),
                Some(Value::Cond(_) | Value::Other) | None => None,
            });
            let [Some((doubled, one)), Some((halved, other))] = values else { continue };
            if let Some(mut known) = of.known(&doubled, &halved) {
                if let Some(twice) = of.most.and_then(|most| most.checked_mul(2)) {
                    let is_below = Formula::le(&doubled, &Poly::constant(twice));
                    known = known.and(is_below.or(Formula::eq(&doubled, &of.doubled.first)));
                }
                self.symbols.add_facts(one, known.clone());
                self.symbols.add_facts(other, known);
            }
        }
    }

    /// Whether a variable was not negative and each round doubles it.
    fn is_doubled(&self, of: &Changed) -> bool {
        of.end == of.head.scaled(2) && self.is_scaled(of)
    }

    /// Whether a variable was not negative and each round halves it, rounded down.
    fn is_halved_by_each(&self, of: &Changed) -> bool {
        let is_half = |end: &Poly| match single(end).and_then(|end| self.function_of(end)) {
            Some((Function::Quotient, whole, by)) => *whole == of.head && *by == Poly::constant(2),
            Some(_) | None => false,
        };
        is_half(&of.end) && self.is_scaled(of)
    }

    fn is_scaled(&self, of: &Changed) -> bool {
        let is_lost = of.first.is_lost() || of.end.is_lost();
        !is_lost && of.head == Poly::unknown(of.at) && self.is_natural(&of.first)
    }
}
