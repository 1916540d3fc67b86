//! `&` and `|` on indices that are not negative.
//!
//! A mask of literal bits is a sum of quotients, one for each run of ones: `x & 24` is `8 * (x
//! / 8 - 4 * (x / 32))`, and `x & !24` is what that leaves. Operands that have no bit in
//! common are added. Of a power of two of any size ([`super::powers`]) a mask of one less is a
//! remainder, of a number of either sign what its quotient, rounded down, leaves; and one of all
//! other bits leaves the last multiple. `x & (x - 1)` is less than `x`, but for 0.

use std::collections::BTreeSet;

use super::super::algebra::formula::Formula;
use super::super::algebra::monomial::Monomial;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::walk::Walk;
use super::value::Function;
use crate::op::BinaryOp;
use crate::span::SpanId;

/// Runs of ones in a mask that is followed.
const MAX_RUNS: usize = 4;

impl Walk<'_> {
    /// `lhs & rhs`.
    pub(in super::super) fn bit_and(
        &mut self,
        lhs: &Poly,
        rhs: &Poly,
        at: (SpanId, BinaryOp),
    ) -> Option<Poly> {
        let (lhs, rhs) = if lhs.as_constant().is_some() { (rhs, lhs) } else { (lhs, rhs) };
        if lhs.is_lost() || rhs.is_lost() {
            return None;
        }
        if lhs == rhs {
            return Some(lhs.clone());
        }
        if rhs.as_constant() == Some(1)
            && let Some(bit) = self.last_bit(lhs, at)
        {
            return Some(bit);
        }
        match rhs.as_constant() {
            Some(mask) if mask >= 0 => return self.masked(lhs, mask, at),
            // Of all bits from one on, what the others leave.
            Some(mask) => return Some(lhs.sub(&self.masked(lhs, !mask, at)?)),
            None => {}
        }
        for (value, mask) in [(lhs, rhs), (rhs, lhs)] {
            if let Some(multiple) = self.last_multiple(value, mask, at) {
                return Some(multiple);
            }
        }
        for (value, mask) in [(lhs, rhs), (rhs, lhs)] {
            let power = mask.plus(1);
            if !self.is_power(&power) {
                continue;
            }
            if self.is_natural(value) {
                self.note_last_multiple(value, &power, at);
                return self.remainder(value, &power, at);
            }
            let above = self.floor(value, &power, at)?;
            return Some(value.sub(&above.mul(&power)));
        }
        for (value, less) in [(lhs, rhs), (rhs, lhs)] {
            if self.is_natural(value) && self.is_one_less(less, value) {
                return Some(self.without_lowest_bit(value, less, at));
            }
        }
        if !self.is_natural(lhs) {
            return None;
        }
        for (value, bit) in [(lhs, rhs), (rhs, lhs)] {
            if self.is_power(bit) && self.is_natural(value) {
                return self.single_bit(value, bit, at);
            }
        }
        self.is_natural(rhs).then(|| {
            let least = self.least_in_common(lhs, rhs);
            self.function(Function::And, lhs, rhs, Some(least), at, |value| {
                Formula::le(value, lhs).and(Formula::le(value, rhs))
            })
        })
    }

    /// Whether `less` is one less than `value`, but for the range of a type.
    pub(in super::super) fn is_one_less(&self, less: &Poly, value: &Poly) -> bool {
        let rest = less.sub(value).plus(1);
        !rest.is_lost()
            && rest.terms().iter().all(|(product, _)| match product.as_slice() {
                [turns] => self.is_turns(*turns),
                _ => false,
            })
    }

    /// `value & (value - 1)` of a natural: its lowest bit is gone; 0 stays what it is.
    fn without_lowest_bit(&mut self, value: &Poly, less: &Poly, at: (SpanId, BinaryOp)) -> Poly {
        let least = self.least_in_common(value, less);
        self.function(Function::And, value, less, Some(least), at, |rest| {
            let none = Formula::eq(value, &Poly::default()).and(Formula::Zero(rest.clone()));
            let some = Formula::AtLeast(value.plus(-1)).and(Formula::lt(rest, value));
            none.or(some)
        })
    }

    /// `value & mask` of a natural and a mask of all bits from a power of two of any size
    /// on, as `!(power - 1)` is: the last multiple of the power.
    fn last_multiple(&mut self, value: &Poly, mask: &Poly, at: (SpanId, BinaryOp)) -> Option<Poly> {
        let end = mask.constant_term();
        let power = mask.plus(-end).negated();
        if power.as_constant().is_some() || !self.is_power(&power) || !self.is_natural(value) {
            return None;
        }
        // Without a sign the mask ends where its type does.
        let is_within = |high: i128| end.count_ones() == 1 && high < end;
        if end != 0 && !self.high(value).is_some_and(is_within) {
            return None;
        }
        let rest = self.remainder(value, &power, at)?;
        Some(value.sub(&rest))
    }

    /// Of a natural of 32 bits: the multiples of a power of two that it has end where
    /// these bits do.
    pub(in super::super) fn note_last_multiple(
        &mut self,
        value: &Poly,
        power: &Poly,
        at: (SpanId, BinaryOp),
    ) {
        if power.as_constant().is_some() || !self.is_power(power) || !self.is_natural(value) {
            return;
        }
        let end = Poly::constant(1 << 31);
        let Some(quotient) = self.quotient(value, power, at) else { return };
        if !self.is_never(&Formula::le(&end, value)) {
            return;
        }
        let within = Formula::le(&quotient.plus(1).mul(power), &end);
        let larger = Formula::lt(&end, power);
        for unknown in quotient.unknowns() {
            self.symbols.add_facts(unknown, within.clone().or(larger.clone()));
        }
    }

    /// `value & bit` of a natural and a power of two of any size: the bit where the
    /// quotient is odd, else 0.
    fn single_bit(&mut self, value: &Poly, bit: &Poly, at: (SpanId, BinaryOp)) -> Option<Poly> {
        let above = self.quotient(value, bit, at)?;
        let half = self.quotient(&above, &Poly::constant(2), at)?;
        let rest = above.sub(&half.scaled(2));
        Some(self.function(Function::And, value, bit, Some(0), at, |found| {
            let even = Formula::Zero(found.clone()).and(Formula::Zero(rest.clone()));
            let odd = Formula::eq(found, bit).and(Formula::Zero(rest.plus(-1)));
            even.or(odd)
        }))
    }

    /// `value & mask` of a natural mask.
    fn masked(&mut self, value: &Poly, mask: i128, at: (SpanId, BinaryOp)) -> Option<Poly> {
        let known = self.possible_bits(value).filter(|_| self.is_natural(value));
        if known.is_some_and(|known| known & mask == known) {
            return Some(value.clone());
        }
        let mask = known.map_or(mask, |known| known & mask);
        let mut out = Poly::default();
        let mut rest = mask;
        for _ in 0..MAX_RUNS {
            if rest == 0 {
                break;
            }
            let low = rest.trailing_zeros();
            let length = (rest >> low).trailing_ones();
            let [first, after] =
                [low, low + length].map(|place| 1_i128.checked_shl(place).map(Poly::constant));
            let above = self.floor(value, &first?, at)?;
            // Without a sign a mask may end where the type does.
            let beyond = match self.is_unwrapped_below(value, low + length) {
                true => Poly::default(),
                false => self.floor(value, &after?, at)?,
            };
            let run = above.sub(&beyond.scaled(1 << length));
            self.note_weight(&run, &Poly::constant(1 << low));
            self.note_weight(&beyond, &Poly::constant(1 << (low + length)));
            out = out.add(&run.scaled(1 << low));
            rest &= !(((1 << length) - 1) << low);
        }
        if rest != 0 || out.is_lost() {
            return None;
        }
        self.bits.insert(out.clone(), mask);
        Some(out)
    }

    /// `lhs | rhs`.
    pub(in super::super) fn bit_or(
        &mut self,
        lhs: &Poly,
        rhs: &Poly,
        at: (SpanId, BinaryOp),
    ) -> Option<Poly> {
        let (lhs, rhs) = if lhs.as_constant().is_some() { (rhs, lhs) } else { (lhs, rhs) };
        if let Some(sum) = self.or_sum(lhs, rhs).or_else(|| self.or_sum(rhs, lhs)) {
            let most = self.joined_bits(lhs, rhs);
            self.note_bits(&sum, most);
            return Some(sum);
        }
        if !self.is_natural(lhs) || !self.is_natural(rhs) {
            return None;
        }
        if rhs.as_constant() == Some(0) || lhs == rhs {
            return Some(lhs.clone());
        }
        let mut common = self.common_bits(lhs, rhs, at);
        if common.is_none() && self.is_power(rhs) {
            common = self.single_bit(lhs, rhs, at);
        }
        let most = self.joined_bits(lhs, rhs);
        let sum = lhs.add(rhs);
        if common == Some(Poly::default()) {
            self.note_bits(&sum, most);
            return Some(sum);
        }
        let joined = self.function(Function::Or, lhs, rhs, Some(0), at, |value| match common {
            Some(common) => Formula::eq(value, &sum.sub(&common)),
            None => {
                let least = Formula::le(lhs, value).and(Formula::le(rhs, value));
                least.and(Formula::le(value, &sum)).and(most_of(value, most))
            }
        });
        self.note_bits(&joined, most);
        Some(joined)
    }

    /// `value | rest` where that is the sum of the two: `value`, which may be negative,
    /// lacks the bits that `rest` has. It is a multiple of a power of two of any size of
    /// which `rest` is below, or `rest` is one bit, which it lacks.
    fn or_sum(&self, value: &Poly, rest: &Poly) -> Option<Poly> {
        if self.powers.is_empty() || value.is_lost() || value.as_constant().is_some() {
            return None;
        }
        let is_beside = self.is_power(rest) && self.lacks_bit(value, rest)
            || self.is_natural(rest) && self.is_multiple_above(value, rest);
        is_beside.then(|| value.add(rest))
    }

    /// Whether a value is a multiple of a power of two of any size that `rest` is below.
    fn is_multiple_above(&self, value: &Poly, rest: &Poly) -> bool {
        let places = places(value).unwrap_or(0).min(62);
        let is_single = |unknown: &Unknown| self.powers.contains(unknown);
        let powers: BTreeSet<Unknown> = value.unknowns().filter(is_single).collect();
        let all = match value.terms() {
            [(product, _)] => Some(product.filtered(|unknown| self.powers.contains(&unknown))),
            _ => None,
        };
        let all = all.filter(|all| all.len() > 1).map(Poly::product);
        all.into_iter().chain(powers.into_iter().map(Poly::unknown)).any(|power| {
            let power = power.scaled(1 << places);
            let reaches = Formula::le(&power, rest);
            self.is_multiple(value, &power)
                && (self.is_never(&reaches) || self.is_never_here(&power.add(rest), reaches))
        })
    }

    /// Whether all terms of a value are multiples of a power of two: they have it as a
    /// factor, or are multiples of a number that it is not above.
    fn is_multiple(&self, value: &Poly, power: &Poly) -> bool {
        let [(unknowns, times)] = power.terms() else { return false };
        value.terms().iter().all(|(product, factor)| {
            let has_it =
                factor % times == 0 && unknowns.iter().all(|unknown| product.contains(unknown));
            has_it || {
                let number = Poly::constant(1 << factor.trailing_zeros().min(126));
                let is_larger = Formula::lt(&number, power);
                self.is_never(&is_larger) || self.is_never_here(power, is_larger)
            }
        })
    }

    /// Whether a value lacks a bit of any place; or it is another bit and what lacks both.
    fn lacks_bit(&self, value: &Poly, bit: &Poly) -> bool {
        let is_beside = |other: Unknown| {
            let other = Poly::unknown(other);
            let rest = value.sub(&other);
            !rest.is_lost()
                && self.is_power(&other)
                && self.lacks(&rest, bit)
                && self.lacks(&rest, &other)
                && self.is_never(&Formula::eq(&other, bit))
        };
        let is_single = |(product, factor): &(Monomial, i128)| match product.as_slice() {
            [other] if *factor == 1 => Some(*other),
            _ => None,
        };
        self.lacks(value, bit) || value.terms().iter().filter_map(is_single).any(is_beside)
    }

    /// Whether a value lacks a bit of any place: it is a multiple of twice that, and a
    /// remainder by it.
    fn lacks(&self, value: &Poly, bit: &Poly) -> bool {
        self.functions.iter().any(|((function, whole, by), quotient)| {
            let rest = whole.sub(&by.mul(&Poly::unknown(*quotient)));
            let multiple = value.sub(&rest);
            *function == Function::Quotient
                && by == bit
                && !multiple.is_lost()
                && self.is_natural(whole)
                && self.is_multiple(&multiple, &bit.scaled(2))
        })
    }

    /// `lhs & rhs` of two naturals, where it is a sum of parts of them.
    pub(in super::super) fn common_bits(
        &mut self,
        lhs: &Poly,
        rhs: &Poly,
        at: (SpanId, BinaryOp),
    ) -> Option<Poly> {
        let end_below = |low: Option<i128>, high: &Poly| {
            low.zip(places(high)).is_some_and(|(low, places)| low.checked_shr(places) == Some(0))
        };
        match (self.possible_bits(lhs), self.possible_bits(rhs)) {
            (Some(left), Some(right)) if left & right == 0 => Some(Poly::default()),
            (left, right) if end_below(left, rhs) || end_below(right, lhs) => Some(Poly::default()),
            _ => self.masked(lhs, rhs.as_constant()?, at),
        }
    }

    /// The bits that `lhs | rhs` and `lhs ^ rhs` can have.
    pub(in super::super) fn joined_bits(&self, lhs: &Poly, rhs: &Poly) -> Option<i128> {
        Some(self.possible_bits(lhs)? | self.possible_bits(rhs)?)
    }

    /// The bits that a sum of several values can have, where it was made of their bits.
    pub(in super::super) fn sum_of_bits(&self, sum: &Poly) -> Option<i128> {
        if sum.terms().len() < 2 { None } else { self.bits.get(sum).copied() }
    }

    /// Notes the bits of a sum of naturals that have none in common.
    pub(in super::super) fn note_sum_of_bits(&mut self, lhs: &Poly, rhs: &Poly) {
        if self.bits.is_empty() {
            return;
        }
        if let (Some(left), Some(right)) = (self.noted_bits(lhs), self.noted_bits(rhs))
            && left & right == 0
        {
            self.bits.insert(lhs.add(rhs), left | right);
        }
    }

    /// The bits that a value is known to have at most by what it is made of.
    fn noted_bits(&self, value: &Poly) -> Option<i128> {
        if let Some(constant) = value.as_constant() {
            return (constant >= 0).then_some(constant);
        }
        if let Some(bits) = self.bits.get(value) {
            return Some(*bits);
        }
        let places = places(value).filter(|places| *places > 0)?;
        let bits = self.noted_bits(&value.divided(1_i128.checked_shl(places)?))?;
        bits.checked_shl(places).filter(|bits| *bits >= 0)
    }

    pub(in super::super) fn note_bits(&mut self, value: &Poly, bits: Option<i128>) {
        if let Some(bits) = bits {
            self.bits.insert(value.clone(), bits);
        }
    }

    /// The bits that a natural can have, where it is bounded.
    pub(in super::super) fn possible_bits(&self, value: &Poly) -> Option<i128> {
        if let Some(constant) = value.as_constant() {
            return (constant >= 0).then_some(constant);
        }
        if let Some(bits) = self.bits.get(value) {
            return Some(*bits);
        }
        let places = places(value)?;
        if places > 0 {
            let value = value.divided(1_i128.checked_shl(places)?);
            return self.possible_bits(&value)?.checked_shl(places).filter(|bits| *bits >= 0);
        }
        let high = self.high(value).filter(|high| (0..1 << 62).contains(high))?;
        Some((1 << (128 - high.leading_zeros())) - 1)
    }
}

/// How many of a value's last bits are 0, by its factors.
fn places(value: &Poly) -> Option<u32> {
    value.terms().iter().map(|(_, factor)| factor.trailing_zeros()).min()
}

/// That `value` has no bits but these.
pub(in super::super) fn most_of(value: &Poly, bits: Option<i128>) -> Formula {
    bits.map_or(Formula::True, |bits| {
        let high = (1_i128 << (128 - bits.leading_zeros()).min(126)) - 1;
        Formula::le(value, &Poly::constant(high))
    })
}
