//! Bits of a number, each at a place of its own: Morton order, bit reversal, interleaving.
//!
//! Of `(x | (x >> 1)) & 0x3333…` arithmetic shows little. But each bit of it is a bit of
//! `x`, or 0. Two values whose bits come from the same places are equal only where those
//! bits are; so if all bits of a number are somewhere, the numbers are equal too.
//!
//! So it is of sums without carry: each bit of `x ^ (x >> 1)`, the Gray code, is the sum of
//! two bits of `x`, modulo 2. From sums that are equal on both sides the bits follow that
//! these equations determine ([`super::bit_sums`]).

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::algebra::symbol::{Obstacle, Sharing};
use super::super::walk::{Value, Walk};
use super::bit_sums::{BitOf, determined};
use super::integers::range_of;
use crate::kernel::Type;
use crate::op::BinaryOp;
use crate::span::SpanId;

/// Most values of a kernel whose bits are followed.
const MAX_VALUES: usize = 512;

/// As many bits as a natural has at most that is not made of other ones: those of an index.
const INDEX_BITS: u32 = 62;

/// A bit that may be 1 and may be 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bit {
    /// The sum, modulo 2, of bits of these numbers of naturals: at least one.
    Sum(BTreeSet<BitOf>),
    /// One of which nothing is known.
    Mixed,
}

/// Where the bits of a natural come from, by their places; the others are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Scattered {
    bits: BTreeMap<u32, Bit>,
    /// The places at which 1 is added, modulo 2: those of no other bit are 1.
    ones: i128,
    /// How many bits the numbers have that they come from.
    widths: BTreeMap<Poly, u32>,
}

impl Scattered {
    /// The numbers of which all bits are known where this one is, and those are of which
    /// `is_known` holds; these are left out.
    fn whole(&self, is_known: &dyn Fn(&Poly) -> bool) -> Vec<Poly> {
        let known: BTreeSet<&Poly> = self.widths.keys().filter(|of| is_known(of)).collect();
        let sums = self.bits.values().filter_map(|bit| match bit {
            Bit::Sum(sum) => Some(sum.iter().filter(|(of, _)| !known.contains(of)).cloned()),
            Bit::Mixed => None,
        });
        let sums: Vec<BTreeSet<BitOf>> = sums.map(Iterator::collect).collect();
        let found = determined(&sums);
        let is_found = |(source, width): &(&Poly, &u32)| {
            !known.contains(source)
                && (0..**width).all(|number| found.contains(&((*source).clone(), number)))
        };
        self.widths.iter().filter(is_found).map(|(source, _)| source.clone()).collect()
    }

    /// The number of which these are the bits, so that the same done with what comes of it gives
    /// the number again, if what comes of it is such a number.
    pub(in super::super) fn undone_by_itself(&self) -> Option<&Poly> {
        let mut sources = self.widths.iter();
        let (Some((source, width)), None) = (sources.next(), sources.next()) else { return None };
        let none = BTreeSet::new();
        let sum_at = |at: u32| match self.bits.get(&at) {
            Some(Bit::Sum(sum)) => Some(sum),
            Some(Bit::Mixed) => None,
            None => Some(&none),
        };
        let twice = |at: u32| {
            let through = |sum: BTreeSet<BitOf>, (_, of): &BitOf| Some(&sum ^ sum_at(*of)?);
            sum_at(at)?.iter().try_fold(BTreeSet::new(), through)
        };
        // What comes of it has no more bits than the number: those beyond are 0.
        let beyond = self.bits.keys().filter(|at| *at >= width).map(|at| sum_at(*at).cloned());
        let zeros = determined(&beyond.collect::<Option<Vec<_>>>()?);
        let is_same = |at: u32| {
            let own: BTreeSet<BitOf> =
                (at < *width).then(|| (source.clone(), at)).into_iter().collect();
            twice(at).is_some_and(|bits| (&bits ^ &own).is_subset(&zeros))
        };
        let all = (0..*width).chain(self.bits.keys().copied());
        (self.ones == 0 && all.into_iter().all(is_same)).then_some(source)
    }

    /// With all bits at other places of so many; `None` where one that is lost would have
    /// made the number negative.
    fn moved(&self, places: i64, (width, is_signed): (u32, bool)) -> Option<Self> {
        let mut out = Self { widths: self.widths.clone(), ..Self::default() };
        for at in self.places() {
            let to = i64::from(at) + places;
            match u32::try_from(to) {
                Ok(to) if to < width => {
                    out.bits.extend(self.bits.get(&at).map(|bit| (to, bit.clone())));
                    out.ones |= i128::from(has(self.ones, at)) << to;
                }
                Ok(_) if is_signed => return None,
                Ok(_) | Err(_) => {}
            }
        }
        Some(out)
    }

    /// The places at which a bit may be 1.
    fn places(&self) -> impl Iterator<Item = u32> {
        (0..i128::BITS).filter(|at| has(self.ones, *at) || self.bits.contains_key(at))
    }

    fn masked(&self, mask: i128) -> Self {
        let kept = self.bits.iter().filter(|(at, _)| has(mask, **at));
        let bits = kept.map(|(at, bit)| (*at, bit.clone())).collect();
        Self { bits, ones: self.ones & mask, widths: self.widths.clone() }
    }

    /// With all bits of so many in the other order.
    fn reversed(&self, width: u32) -> Option<Self> {
        let mut out = Self { widths: self.widths.clone(), ..Self::default() };
        for at in self.places() {
            let to = (width - 1).checked_sub(at)?;
            out.bits.extend(self.bits.get(&at).map(|bit| (to, bit.clone())));
            out.ones |= i128::from(has(self.ones, at)) << to;
        }
        Some(out)
    }

    /// With these bits turned over.
    fn flipped(mut self, places: i128) -> Self {
        self.ones ^= places;
        self
    }

    /// With these bits at 1.
    fn set(self, places: i128) -> Self {
        let mut out = self.masked(!places);
        out.ones |= places;
        out
    }

    /// The bits of both. Of what both have at one place nothing is known; a sum may carry
    /// there, and then there is none.
    fn joined(&self, other: &Self, op: BinaryOp) -> Option<Self> {
        let mut out = self.clone();
        for (source, width) in &other.widths {
            let known = out.widths.entry(source.clone()).or_default();
            *known = (*known).max(*width);
        }
        for at in other.places() {
            match op {
                BinaryOp::Xor => out.add(at, other),
                _ if !self.places().any(|own| own == at) => out.add(at, other),
                BinaryOp::Or if self.is_same_at(at, other) => {}
                BinaryOp::Or => {
                    out.bits.insert(at, Bit::Mixed);
                    out.ones &= !(1 << at);
                }
                _ => return None,
            }
        }
        Some(out)
    }

    /// Whether both have the same bit at a place.
    fn is_same_at(&self, at: u32, other: &Self) -> bool {
        let is_known = self.bits.get(&at) != Some(&Bit::Mixed);
        let ones = has(self.ones, at) == has(other.ones, at);
        is_known && ones && self.bits.get(&at) == other.bits.get(&at)
    }

    /// Adds the other's bit at a place to the own one, modulo 2.
    fn add(&mut self, at: u32, other: &Self) {
        self.ones ^= other.ones & (1 << at);
        let sum = match (self.bits.remove(&at), other.bits.get(&at)) {
            (None, None) => return,
            (Some(bit), None) => bit,
            (None, Some(bit)) => bit.clone(),
            (Some(Bit::Sum(own)), Some(Bit::Sum(other))) => Bit::Sum(&own ^ other),
            (Some(_), Some(_)) => Bit::Mixed,
        };
        if !matches!(&sum, Bit::Sum(of) if of.is_empty()) {
            self.bits.insert(at, sum);
        }
    }
}

/// Whether a number has a bit.
fn has(number: i128, at: u32) -> bool {
    number >> at & 1 == 1
}

impl Walk<'_> {
    /// Where the bits of an operator's result come from, if that is followed, and whether the
    /// result has not wrapped, since no bit is lost.
    ///
    /// A factor, or a sum, is followed of what has been taken apart before.
    pub(in super::super) fn scattered(
        &self,
        op: BinaryOp,
        (lhs, rhs): (&Value, &Value),
        ty: Type,
    ) -> Option<(Scattered, bool)> {
        let (Value::Int(lhs), Value::Int(rhs)) = (lhs, rhs) else { return None };
        let (width, is_signed) = places_of(ty)?;
        let is_known = |value: &Poly| self.scattered.contains_key(value);
        let (value, constant) = match (lhs.as_constant(), rhs.as_constant()) {
            (None, constant) => (lhs, constant),
            (Some(constant), None) => (rhs, Some(constant)),
            (Some(_), Some(_)) => return None,
        };
        let moved = |bits: Scattered, places: i64| {
            let moved = bits.moved(places, (width, is_signed))?;
            let keeps_all = moved.places().count() == bits.places().count();
            Some((moved, keeps_all))
        };
        let result = match (op, constant) {
            (BinaryOp::Shl | BinaryOp::Shr, Some(places)) if value == lhs => {
                let places =
                    i64::try_from(places).ok().filter(|at| (0..width.into()).contains(at))?;
                let places = if op == BinaryOp::Shl { places } else { -places };
                return moved(self.bits_of(value, width)?, places);
            }
            (BinaryOp::Mul, Some(factor)) if factor.count_ones() == 1 && factor > 0 => {
                let places = factor.trailing_zeros().into();
                return moved(self.scattered.get(value)?.clone(), places);
            }
            (BinaryOp::And, Some(mask)) if mask >= 0 => self.bits_of(value, width)?.masked(mask),
            (BinaryOp::Xor, Some(ones)) if ones >= 0 => self.bits_of(value, width)?.flipped(ones),
            (BinaryOp::Or, Some(ones)) if ones >= 0 => self.bits_of(value, width)?.set(ones),
            (BinaryOp::Or | BinaryOp::Xor, None) => {
                self.bits_of(lhs, width)?.joined(&self.bits_of(rhs, width)?, op)?
            }
            (BinaryOp::Add, None) if is_known(lhs) || is_known(rhs) => {
                self.bits_of(lhs, width)?.joined(&self.bits_of(rhs, width)?, op)?
            }
            _ => return None,
        };
        Some((result, op == BinaryOp::Add))
    }

    /// The bits of a natural of a type without a sign, in the other order.
    pub(in super::super) fn reversed_bits(
        &mut self,
        value: &Poly,
        ty: Type,
        span: SpanId,
    ) -> Option<Value> {
        let (width, is_signed) = places_of(ty)?;
        let of = self.bits_of(value, width).filter(|_| !is_signed)?.reversed(width)?;
        self.with_bits(None, of, (span, BinaryOp::Or))
    }

    /// The bits of a natural: its own, if no others are known.
    fn bits_of(&self, value: &Poly, width: u32) -> Option<Scattered> {
        if let Some(known) = self.scattered.get(value) {
            return Some(known.clone());
        }
        if value.is_lost() || value.as_constant().is_some() || !self.is_natural(value) {
            return None;
        }
        let own = self.width_of(value, width.min(INDEX_BITS));
        let bit = |at| Bit::Sum(BTreeSet::from([(value.clone(), at)]));
        let bits = (0..own).map(|at| (at, bit(at))).collect();
        Some(Scattered { bits, ones: 0, widths: BTreeMap::from([(value.clone(), own)]) })
    }

    /// So many bits a natural has at most, by its range or by what holds here.
    fn width_of(&self, value: &Poly, width: u32) -> u32 {
        let bits = |high: i128| 128 - high.leading_zeros();
        let by_range = self.high(value).filter(|high| *high >= 0).map(bits);
        // With so many bits it may be larger, and with so many it is not.
        let (mut fails, mut holds) = (0, by_range.map_or(width, |bits| bits.min(width)));
        if self.guards_of(value).is_empty() {
            return holds;
        }
        while fails + 1 < holds {
            let middle = (fails + holds) / 2;
            let beyond = Formula::le(&Poly::constant(1 << middle), value);
            if self.is_never_here(value, beyond) { holds = middle } else { fails = middle }
        }
        holds
    }

    /// An operator's result whose bits come from there: what is known of it, or a value that
    /// is the same for the same places.
    pub(in super::super) fn with_bits(
        &mut self,
        known: Option<Value>,
        of: Scattered,
        at: (SpanId, BinaryOp),
    ) -> Option<Value> {
        if self.scattered.len() >= MAX_VALUES {
            return known;
        }
        let value = match known {
            Some(Value::Int(value)) => value,
            Some(Value::Cond(_) | Value::Other) => return known,
            None => self.of_bits(&of, at),
        };
        if value.as_constant().is_none() && !value.is_lost() {
            self.scattered.insert(value.clone(), of);
        }
        Some(Value::Int(value))
    }

    fn of_bits(&mut self, of: &Scattered, (span, op): (SpanId, BinaryOp)) -> Poly {
        if let Some(known) = self.by_bits.get(of) {
            return Poly::unknown(*known);
        }
        let is_mixed = of.bits.values().any(|bit| *bit == Bit::Mixed);
        let sharing = if is_mixed {
            Sharing::Private
        } else {
            Sharing::Function(of.widths.keys().flat_map(Poly::unknowns).collect())
        };
        let unknown = self.symbol(sharing, Some(0), Some((span, Obstacle::Operator(op))));
        let value = Poly::unknown(unknown);
        let most = of.places().fold(0, |most, at| most | 1_i128 << at);
        self.symbols.add_facts(unknown, Formula::le(&value, &Poly::constant(most)));
        if !is_mixed {
            self.by_bits.insert(of.clone(), unknown);
        }
        value
    }
}

/// The numbers that are equal where two values are, by their bits, if those are that `is_shared`
/// holds of. Those are not among them.
pub(in super::super) fn equal_by_bits(
    both: [Option<&Scattered>; 2],
    is_shared: &dyn Fn(&Poly) -> bool,
) -> Vec<Poly> {
    match both {
        [Some(left), Some(right)] if left == right => left.whole(is_shared),
        _ => Vec::new(),
    }
}

/// The places of a type's naturals, and whether it has other numbers. An index is exact: its
/// bits may be moved beyond those that one has.
fn places_of(ty: Type) -> Option<(u32, bool)> {
    match ty {
        Type::Index => Some((2 * INDEX_BITS, true)),
        Type::Scalar(_) => range_of(ty).map(|(min, max)| (max.count_ones(), min < 0)),
    }
}
