//! Shifts, and powers of two of any size.
//!
//! A shift by an unknown number of places multiplies by an unknown power of two, or divides by
//! it; to the left so of negative numbers too, whose lowest bits are those of a number that is
//! larger by a power of two which is beyond the type. The symbol of such a power is at least
//! 1; of exponents that differ by a number, one power is a multiple of the other. So it is where
//! conditions say that one exponent is the larger: with `s < r`, `1 << r` is `2 * (1 << s)` times
//! a power of two. And `1 << (s + r)` is the product of `1 << s` and `1 << r`, where these are known.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::scans::prefix::single;
use super::super::walk::Walk;
use super::integers::range_of;
use super::value::Function;
use crate::kernel::Type;
use crate::op::BinaryOp;
use crate::span::SpanId;

/// Powers that are known of which it is asked whether one is smaller.
const MAX_KNOWN: usize = 3;

impl Walk<'_> {
    /// `lhs << rhs` or `lhs >> rhs`, before it is brought into the range of `ty`.
    pub(in super::super) fn shifted(
        &mut self,
        lhs: &Poly,
        rhs: &Poly,
        ty: Type,
        at: (SpanId, BinaryOp),
    ) -> Option<Poly> {
        if lhs.is_lost() {
            return None;
        }
        // From the width on, counts begin again from 0.
        let width = range_of(ty).map_or(63, |(min, max)| (max - min).count_ones());
        let power = match rhs.as_constant() {
            Some(places) if (0..width.min(63).into()).contains(&places) => {
                Poly::constant(1 << places)
            }
            None => {
                let places = self.count(rhs, ty, at)?;
                self.power(&places, ty, at)
            }
            Some(_) => return None,
        };
        if at.1 == BinaryOp::Shl {
            self.note_weight(lhs, &power);
            return Some(lhs.mul(&power));
        }
        self.note_last_multiple(lhs, &power, at);
        let above = self.floor(lhs, &power, at)?;
        if let (Some(places), Some(bits)) = (rhs.as_constant(), self.possible_bits(lhs)) {
            self.note_bits(&above, (self.is_natural(lhs)).then_some(bits >> places));
        }
        Some(above)
    }

    /// By how many places it is shifted, if 1 of a type stays what it is: counts begin
    /// again from 0 at the type's width.
    fn count(&mut self, value: &Poly, ty: Type, at: (SpanId, BinaryOp)) -> Option<Poly> {
        if value.is_lost() {
            return None;
        }
        if self.is_count(value, ty) {
            return Some(value.clone());
        }
        let (min, max) = range_of(ty)?;
        if !self.is_natural(value) {
            return None;
        }
        let width = Poly::constant((max - min).count_ones().into());
        let rest = self.remainder(value, &width, (at.0, BinaryOp::Rem))?;
        self.is_count(&rest, ty).then_some(rest)
    }

    /// Whether a value is a number of places by which 1 of a type can be shifted and
    /// stay what it is.
    fn is_count(&self, value: &Poly, ty: Type) -> bool {
        let negative = Formula::lt(value, &Poly::default());
        match most_places(ty) {
            None => self.is_natural(value) || self.is_never_here(value, negative),
            Some(most) => {
                let beyond = negative.or(Formula::lt(&Poly::constant(most), value));
                self.is_never(&beyond) || self.is_never_here(value, beyond)
            }
        }
    }

    /// Two to the power of `exponent`, which is natural, and such that 1 of the type stays
    /// what it is: of exponents that differ by a number, one is a multiple of the other.
    pub(in super::super) fn power(
        &mut self,
        exponent: &Poly,
        ty: Type,
        at: (SpanId, BinaryOp),
    ) -> Poly {
        let more = exponent.constant_term();
        let least = exponent.plus(-more);
        let is_natural = |walk: &Self| {
            let negative = Formula::lt(&least, &Poly::default());
            walk.is_natural(&least) || walk.is_never_here(&least, negative)
        };
        if (1..62).contains(&more) && is_natural(self) {
            return self.power(&least, ty, at).scaled(1 << more);
        }
        if let Some(power) = self.power_of_sum(exponent) {
            return power;
        }
        if let Some(power) = self.power_beyond(exponent, ty, at) {
            return power;
        }
        let power = self.single_power(exponent, ty, at);
        if (-61..0).contains(&more) {
            // What is larger may be beyond the type, yet it is a number.
            let larger = self.single_power(&least, Type::Index, at);
            let same = Formula::eq(&power.scaled(1 << -more), &larger);
            let known = Formula::lt(exponent, &Poly::default()).or(same);
            power.unknowns().for_each(|unknown| self.symbols.add_facts(unknown, known.clone()));
        }
        power
    }

    /// Two to the power of a sum of naturals, where those of all of them are known.
    fn power_of_sum(&self, exponent: &Poly) -> Option<Poly> {
        if exponent.terms().len() < 2 {
            return None;
        }
        exponent.terms().iter().try_fold(Poly::constant(1), |power, (product, factor)| {
            let [_] = product.as_slice() else { return None };
            let of = Poly::product(*product);
            let known = self.known_power(&of).filter(|_| *factor == 1 && self.is_natural(&of))?;
            Some(power.mul(&known))
        })
    }

    /// The power of two of an exponent, if it is known.
    fn known_power(&self, exponent: &Poly) -> Option<Poly> {
        let key = (Function::Power, exponent.clone(), Poly::default());
        self.functions.get(&key).map(|power| Poly::unknown(*power))
    }

    /// Two to the power of an exponent that is larger, where the walk is, than one whose power is
    /// known: a multiple of that.
    fn power_beyond(&mut self, exponent: &Poly, ty: Type, at: (SpanId, BinaryOp)) -> Option<Poly> {
        single(exponent)?;
        if self.known_power(exponent).is_some() {
            return None;
        }
        let known: Vec<(Poly, Unknown)> = self
            .functions
            .iter()
            .filter(|((function, of, _), _)| *function == Function::Power && single(of).is_some())
            .map(|((_, of, _), power)| (of.clone(), *power))
            .take(MAX_KNOWN)
            .collect();
        known.into_iter().find_map(|(of, power)| {
            let more = exponent.sub(&of).plus(-1);
            let is_less = Formula::lt(&more, &Poly::default());
            if !self.is_never_here(&more, is_less) || !self.is_natural_here(&of) {
                return None;
            }
            let beyond = self.single_power(&more, ty, at);
            let power = Poly::unknown(power).scaled(2).mul(&beyond);
            if let Some(most) = most_places(ty) {
                let stays = Formula::le(&power, &Poly::constant(1 << most));
                let is_more = Formula::lt(&Poly::constant(most), exponent);
                let known =
                    Formula::Any(vec![Formula::lt(&more, &Poly::default()), is_more, stays]);
                beyond.unknowns().for_each(|of| self.symbols.add_facts(of, known.clone()));
            }
            Some(power)
        })
    }

    fn single_power(&mut self, exponent: &Poly, ty: Type, at: (SpanId, BinaryOp)) -> Poly {
        if let Some(power) = self.power_again(exponent) {
            return power;
        }
        let none = Poly::default();
        let power = self.function(Function::Power, exponent, &none, Some(1), at, |power| {
            Formula::le(&Poly::constant(1), power)
        });
        if let Some(most) = self.high(exponent).filter(|high| (0..62).contains(high)) {
            let bound = Formula::le(&power, &Poly::constant(1 << most));
            power.unknowns().for_each(|unknown| self.symbols.add_facts(unknown, bound.clone()));
        }
        if let Some(most) = most_places(ty) {
            let stays = Formula::le(&power, &Poly::constant(1 << most));
            let more = Formula::lt(&Poly::constant(most), exponent);
            let known = if self.is_never(&more) { stays } else { more.or(stays) };
            power.unknowns().for_each(|unknown| self.symbols.add_facts(unknown, known.clone()));
        }
        self.powers.extend(power.unknowns());
        power
    }

    /// Whether a value is a power of two, at all sizes.
    pub(in super::super) fn is_power(&self, value: &Poly) -> bool {
        let [(product, factor)] = value.terms() else { return false };
        *factor > 0
            && factor.count_ones() == 1
            && product.iter().all(|unknown| self.powers.contains(unknown))
    }
}

/// The most places by which 1 of a type can be shifted; of an index, that is no
/// matter.
fn most_places(ty: Type) -> Option<i128> {
    range_of(ty).map(|(_, max)| i128::from(max.count_ones()) - 1)
}
