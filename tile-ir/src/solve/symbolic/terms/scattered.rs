//! Bits of a number, each at a place of its own: Morton order, bit reversal, interleaving.
//!
//! Of `(x | (x >> 1)) & 0x3333…` arithmetic shows little. But each bit of it is a bit of
//! `x`, or 0. Two values whose bits come from the same places are equal only where those
//! bits are; so if all bits of a number are somewhere, the numbers are equal too.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::algebra::symbol::{Obstacle, Sharing};
use super::super::walk::{Value, Walk};
use super::integers::range_of;
use crate::kernel::Type;
use crate::op::BinaryOp;
use crate::span::SpanId;

/// Most values of a kernel whose bits are followed.
const MAX_VALUES: usize = 128;

/// A bit that may be 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bit {
    /// The bit of this number of a natural.
    Of(Poly, u32),
    /// One of which nothing is known.
    Mixed,
}

/// Where the bits of a natural come from, by their places; the others are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Scattered {
    bits: BTreeMap<u32, Bit>,
    /// How many bits the numbers have that they come from.
    widths: BTreeMap<Poly, u32>,
}

impl Scattered {
    /// The numbers of which all bits are somewhere.
    fn whole(&self) -> impl Iterator<Item = &Poly> {
        self.widths.iter().filter_map(|(source, width)| {
            let of_source = |bit: &Bit| match bit {
                Bit::Of(of, number) if of == source => Some(*number),
                Bit::Of(..) | Bit::Mixed => None,
            };
            let found: BTreeSet<u32> = self.bits.values().filter_map(of_source).collect();
            (0..*width).all(|number| found.contains(&number)).then_some(source)
        })
    }

    /// With all bits at other places of so many; `None` where one that is lost would have
    /// made the number negative.
    fn moved(&self, places: i64, (width, is_signed): (u32, bool)) -> Option<Self> {
        let mut bits = BTreeMap::new();
        for (at, bit) in &self.bits {
            let at = i64::from(*at) + places;
            match u32::try_from(at) {
                Ok(at) if at < width => drop(bits.insert(at, bit.clone())),
                Ok(_) if is_signed => return None,
                Ok(_) | Err(_) => {}
            }
        }
        Some(Self { bits, widths: self.widths.clone() })
    }

    fn masked(&self, mask: i128) -> Self {
        let is_kept = |at: u32| mask.checked_shr(at).is_some_and(|rest| rest & 1 == 1);
        let kept = self.bits.iter().filter(|(at, _)| is_kept(**at));
        let bits = kept.map(|(at, bit)| (*at, bit.clone())).collect();
        Self { bits, widths: self.widths.clone() }
    }

    /// The bits of both. Of what both have at one place nothing is known; a sum may carry
    /// there, and then there is none.
    fn joined(&self, other: &Self, op: BinaryOp) -> Option<Self> {
        let mut out = self.clone();
        for (source, width) in &other.widths {
            let known = out.widths.entry(source.clone()).or_default();
            *known = (*known).max(*width);
        }
        for (at, bit) in &other.bits {
            match out.bits.get(at) {
                Some(_) if op == BinaryOp::Add => return None,
                Some(own) if own == bit && op == BinaryOp::Or => {}
                Some(_) => drop(out.bits.insert(*at, Bit::Mixed)),
                None => drop(out.bits.insert(*at, bit.clone())),
            }
        }
        Some(out)
    }
}

impl Walk<'_> {
    /// Where the bits of an operator's result come from, if that is followed.
    ///
    /// A factor, or a sum, is followed of what has been taken apart before.
    pub(in super::super) fn scattered(
        &self,
        op: BinaryOp,
        (lhs, rhs): (&Value, &Value),
        ty: Type,
    ) -> Option<Scattered> {
        let (Value::Int(lhs), Value::Int(rhs)) = (lhs, rhs) else { return None };
        let (width, is_signed) = places_of(ty)?;
        let is_known = |value: &Poly| self.scattered.contains_key(value);
        let (value, constant) = match (lhs.as_constant(), rhs.as_constant()) {
            (None, constant) => (lhs, constant),
            (Some(constant), None) => (rhs, Some(constant)),
            (Some(_), Some(_)) => return None,
        };
        match (op, constant) {
            (BinaryOp::And, Some(mask)) if mask >= 0 => {
                Some(self.bits_of(value, width)?.masked(mask))
            }
            (BinaryOp::Shl | BinaryOp::Shr, Some(places)) if value == lhs => {
                let places =
                    i64::try_from(places).ok().filter(|at| (0..width.into()).contains(at))?;
                let places = if op == BinaryOp::Shl { places } else { -places };
                self.bits_of(value, width)?.moved(places, (width, is_signed))
            }
            (BinaryOp::Mul, Some(factor)) if factor.count_ones() == 1 && factor > 0 => {
                let places = factor.trailing_zeros().into();
                self.scattered.get(value)?.moved(places, (width, is_signed))
            }
            (BinaryOp::Or | BinaryOp::Xor, None) => {
                self.bits_of(lhs, width)?.joined(&self.bits_of(rhs, width)?, op)
            }
            (BinaryOp::Add, None) if is_known(lhs) || is_known(rhs) => {
                self.bits_of(lhs, width)?.joined(&self.bits_of(rhs, width)?, op)
            }
            _ => None,
        }
    }

    /// The bits of a natural: its own, if no others are known.
    fn bits_of(&self, value: &Poly, width: u32) -> Option<Scattered> {
        if let Some(known) = self.scattered.get(value) {
            return Some(known.clone());
        }
        if value.is_lost() || value.as_constant().is_some() || !self.is_natural(value) {
            return None;
        }
        let own = self.width_of(value, width);
        let bits = (0..own).map(|at| (at, Bit::Of(value.clone(), at))).collect();
        Some(Scattered { bits, widths: BTreeMap::from([(value.clone(), own)]) })
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
        let most = of.bits.keys().fold(0, |most, at| most | 1_i128 << at);
        self.symbols.add_facts(unknown, Formula::le(&value, &Poly::constant(most)));
        if !is_mixed {
            self.by_bits.insert(of.clone(), unknown);
        }
        value
    }

    /// The numbers that are equal where these two values are, by their bits.
    pub(in super::super) fn equal_by_bits(&self, left: &Poly, right: &Poly) -> Vec<Poly> {
        match (self.scattered.get(left), self.scattered.get(right)) {
            (Some(left), Some(right)) if left == right => left.whole().cloned().collect(),
            _ => Vec::new(),
        }
    }
}

/// The places of a type's naturals, and whether it has other numbers.
fn places_of(ty: Type) -> Option<(u32, bool)> {
    match ty {
        Type::Index => Some((62, true)),
        Type::Scalar(_) => range_of(ty).map(|(min, max)| (max.count_ones(), min < 0)),
    }
}
