//! `^` on indices.
//!
//! By a power of two it flips one bit, which quotients say. Any other is a symbol
//! of which two applications are compared: of `x ^ y = z` any two decide the
//! third. That is what makes `tx ^ d` a permutation, whose lower partner alone
//! works on the pair.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::pairs::instance::{Builder, Side};
use super::super::walk::Walk;
use super::bits::most_of;
use super::value::Function;
use crate::op::BinaryOp;
use crate::span::SpanId;

/// Applications that are compared with each other, in one system.
const MAX_APPLICATIONS: usize = 6;

impl Walk<'_> {
    /// `lhs ^ rhs`.
    pub(in super::super) fn exclusive_or(
        &mut self,
        lhs: &Poly,
        rhs: &Poly,
        at: (SpanId, BinaryOp),
    ) -> Poly {
        let is_turned = lhs.as_constant().is_some() || self.is_power(lhs) && !self.is_power(rhs);
        let (lhs, rhs) = if is_turned { (rhs, lhs) } else { (lhs, rhs) };
        if lhs.is_lost() || rhs.is_lost() {
            return Poly::lost();
        }
        if let (Some(a), Some(b)) = (lhs.as_constant(), rhs.as_constant()) {
            return Poly::constant(a ^ b);
        }
        if lhs == rhs {
            return Poly::default();
        }
        if let Some(flipped) = rhs.as_constant().and_then(|bit| self.flipped(lhs, bit, at)) {
            return flipped;
        }
        // `x ^ (x & (step - 1))` has those bits of `x` no more.
        for (whole, part) in [(lhs, rhs), (rhs, lhs)] {
            if self.is_rest_of(part, whole) {
                return whole.sub(part);
            }
        }
        if !self.is_natural(lhs) || !self.is_natural(rhs) {
            return self.function(Function::ExclusiveOr, lhs, rhs, None, at, |_| Formula::True);
        }
        let common = self.common_bits(lhs, rhs, at);
        let most = self.joined_bits(lhs, rhs);
        let is_bit = self.is_power(rhs);
        let value = self.function(Function::ExclusiveOr, lhs, rhs, Some(0), at, |value| {
            let sum = lhs.add(rhs);
            // What both have, the sum counts twice.
            let known = match common {
                Some(common) => Formula::eq(value, &sum.sub(&common.scaled(2))),
                None if is_bit => Formula::eq(value, &sum).or(Formula::eq(value, &lhs.sub(rhs))),
                None => Formula::le(value, &sum),
            };
            Formula::AtLeast(value.clone()).and(known).and(most_of(value, most))
        });
        self.note_bits(&value, most);
        value
    }

    /// Whether a value is what a power of two leaves of another one, and so its lowest bits.
    fn is_rest_of(&self, part: &Poly, whole: &Poly) -> bool {
        let above = whole.sub(part);
        let [(product, _)] = above.terms() else { return false };
        let is_above = |quotient: Unknown| {
            let of = self.rounded_down(quotient);
            of.is_some_and(|(of, by)| {
                of == whole && self.is_power(by) && Poly::unknown(quotient).mul(by) == above
            })
        };
        self.is_natural(whole) && product.iter().any(|unknown| is_above(*unknown))
    }

    /// `value` with one bit flipped.
    fn flipped(&mut self, value: &Poly, bit: i128, at: (SpanId, BinaryOp)) -> Option<Poly> {
        if bit == 0 {
            return Some(value.clone());
        }
        if bit < 0 || bit.count_ones() != 1 || !self.is_natural(value) {
            return None;
        }
        let above = self.quotient(value, &Poly::constant(bit), at)?;
        let half = self.quotient(&above, &Poly::constant(2), at)?;
        // The bit is `above % 2`; 1 becomes 0, 0 becomes 1.
        let set = above.sub(&half.scaled(2));
        Some(value.plus(bit).sub(&set.scaled(bit.checked_mul(2)?)))
    }
}

impl Builder<'_> {
    /// Adds what two applications of `^` have to do with each other.
    pub(in super::super) fn relate_exclusive_ors(&mut self) {
        let walk = self.walk;
        let mut triples: Vec<[Poly; 3]> = Vec::new();
        for ((function, lhs, rhs), symbol) in &walk.functions {
            if *function != Function::ExclusiveOr {
                continue;
            }
            for side in [Side::First, Side::Second] {
                if self.seen.contains(&(*symbol, side)) {
                    // What is the same for both stands in one place, wherever it is written.
                    let [is_shared, is_other] = [lhs, rhs]
                        .map(|part| part.unknowns().all(|unknown| self.is_shared(unknown)));
                    let parts = if is_shared && !is_other { [rhs, lhs] } else { [lhs, rhs] };
                    let [lhs, rhs] = parts.map(|part| self.on(side, part));
                    let triple = [lhs, rhs, self.on(side, &Poly::unknown(*symbol))];
                    if !triples.contains(&triple) {
                        triples.push(triple);
                    }
                }
            }
        }
        triples.truncate(MAX_APPLICATIONS);
        for (at, one) in triples.iter().enumerate() {
            for [x, y, z] in &triples[at + 1..] {
                // `z ^ y = x` is the same application.
                for other in [[x, y, z], [z, y, x]] {
                    for third in 0..3 {
                        let differ = |part: usize| Formula::ne(&one[part], other[part]);
                        let (a, b) = ((third + 1) % 3, (third + 2) % 3);
                        let same = Formula::eq(&one[third], other[third]);
                        self.system.assert(&differ(a).or(differ(b)).or(same));
                    }
                }
            }
        }
    }
}
