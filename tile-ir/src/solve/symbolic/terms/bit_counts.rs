//! Counts of the bits of numbers that are known, and of powers of two of any size.
//!
//! Of a number that is known, its bits are counted. Let `p` be a power of two that its type
//! holds, the `e`-th: it has `e` zeros below its one bit and `width - 1 - e` above it; `p - 1`
//! has `e` ones, and above them `width - e` zeros. Two to the power of `e` is `p` again, so
//! that `t >> p.trailing_zeros()` is `t / p`.
//!
//! Of any other number the count is one symbol, the same wherever it is asked. Where the number is
//! not 0, there are fewer zeros at either end than it has bits.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::algebra::symbol::Sharing;
use super::super::walk::Walk;
use super::integers::range_of;
use crate::kernel::Type;
use crate::op::MathFn;
use crate::span::SpanId;

impl Walk<'_> {
    /// `func`, which counts bits, of a number of a type, where it is known.
    pub(in super::super) fn known_count(
        &mut self,
        func: MathFn,
        number: &Poly,
        ty: Type,
        span: SpanId,
    ) -> Option<Poly> {
        let (min, max) = range_of(ty)?;
        let width = (max - min).count_ones();
        if let Some(number) = number.as_constant() {
            return func.counted(number, width).map(|count| Poly::constant(count.into()));
        }
        let width = Poly::constant(width.into());
        let most = i128::from(max.count_ones());
        match func {
            MathFn::CountOnes if self.is_power(number) => Some(Poly::constant(1)),
            MathFn::CountOnes => self.exponent_of(&number.plus(1), most, span),
            MathFn::TrailingZeros => self.exponent_of(number, most - 1, span),
            MathFn::LeadingZeros => match self.exponent_of(number, most - 1, span) {
                Some(exponent) => Some(width.plus(-1).sub(&exponent)),
                None => Some(width.sub(&self.exponent_of(&number.plus(1), most, span)?)),
            },
            _ => None,
        }
    }

    /// `func`, which counts bits, of a number of so many of them of which nothing is known.
    pub(in super::super) fn count_of_bits(
        &mut self,
        func: MathFn,
        (bits, width): (&Poly, i128),
        span: SpanId,
    ) -> Poly {
        let key = (func, bits.clone(), width);
        if let Some(symbol) = self.bit_counts.get(&key) {
            return Poly::unknown(*symbol);
        }
        let symbol = self.counted_symbol(Sharing::Function(bits.unknowns().collect()), width, span);
        self.bit_counts.insert(key, symbol);
        let (count, none) = (Poly::unknown(symbol), Poly::default());
        if func != MathFn::CountOnes {
            let all = Poly::constant(width);
            let is_none = Formula::eq(bits, &none).and(Formula::eq(&count, &all));
            let is_some = Formula::ne(bits, &none).and(Formula::lt(&count, &all));
            self.symbols.add_facts(symbol, is_none.or(is_some));
        }
        if func == MathFn::CountOnes && self.is_no_power(bits) {
            self.symbols.set_least(symbol, 2);
        }
        count
    }

    /// Which power of two a value is, where it is one, and the `most`-th at most.
    fn exponent_of(&mut self, power: &Poly, most: i128, span: SpanId) -> Option<Poly> {
        if power.is_lost() || !self.is_power(power) {
            return None;
        }
        let largest = self.high(power).filter(|high| (1..1 << 62).contains(high));
        let most = largest.map_or(most, |high| most.min(high.ilog2().into()));
        let known = self.exponents.iter().find(|(_, of)| **of == (power.clone(), most));
        if let Some((exponent, _)) = known {
            return Some(Poly::unknown(*exponent));
        }
        let sharing = Sharing::Function(power.unknowns().collect());
        let exponent = self.counted_symbol(sharing, most, span);
        self.exponents.insert(exponent, (power.clone(), most));
        Some(Poly::unknown(exponent))
    }

    /// Two to the power of a value, where that is the exponent of a power that is known.
    pub(in super::super) fn power_again(&self, exponent: &Poly) -> Option<Poly> {
        let [(product, 1)] = exponent.terms() else { return None };
        let [exponent] = product.as_slice() else { return None };
        self.exponents.get(exponent).map(|(power, _)| power.clone())
    }
}
