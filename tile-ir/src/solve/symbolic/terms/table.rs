//! Values that the coordinates of a work-item alone decide, for blocks of literal
//! size: tried for all of them.
//!
//! Of `tx ^ (tx >> 1)` arithmetic shows little. But a block of literal extents has
//! few work-items: that different ones have different values, which is what an
//! index needs, is seen by computing them.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::pairs::instance::{Builder, Side};
use super::super::walk::Walk;
use super::value::Function;

/// Most points that are tried for one value.
const MAX_POINTS: i128 = 1024;
/// Most values that are compared with each other in one system.
const MAX_VALUES: usize = 4;

/// A value of bits, for every point of the coordinates that decide it.
#[derive(Clone, Debug)]
struct Table {
    of: BTreeSet<Unknown>,
    /// By value, the points that have it, each as the coordinates in `of`.
    points: BTreeMap<i128, Vec<Vec<i128>>>,
}

impl Walk<'_> {
    fn table(&self, symbol: Unknown) -> Option<Table> {
        let mut of = BTreeSet::new();
        self.coordinates(&Poly::unknown(symbol), &mut of)?;
        let mut extents = Vec::new();
        for axis in &of {
            extents.push(self.high(&Poly::unknown(*axis))?.checked_add(1)?);
        }
        let count = extents.iter().try_fold(1_i128, |count, extent| count.checked_mul(*extent))?;
        if !(1..=MAX_POINTS).contains(&count) {
            return None;
        }
        let mut points: BTreeMap<i128, Vec<Vec<i128>>> = BTreeMap::new();
        for number in 0..count {
            let mut rest = number;
            let mut point = Vec::with_capacity(extents.len());
            for extent in &extents {
                point.push(rest % extent);
                rest /= extent;
            }
            let at: BTreeMap<Unknown, i128> =
                of.iter().copied().zip(point.iter().copied()).collect();
            let value = self.at_point(&Poly::unknown(symbol), &at)?;
            points.entry(value).or_default().push(point);
        }
        Some(Table { of, points })
    }

    /// The coordinates of the block's domain that decide `value`, if nothing else
    /// does.
    fn coordinates(&self, value: &Poly, out: &mut BTreeSet<Unknown>) -> Option<()> {
        if value.is_lost() {
            return None;
        }
        for unknown in value.unknowns() {
            if self.block.iter().flatten().any(|(_, axis)| *axis == unknown) {
                out.insert(unknown);
                continue;
            }
            let (_, lhs, rhs) = self.function_of(unknown)?;
            self.coordinates(lhs, out)?;
            self.coordinates(rhs, out)?;
        }
        Some(())
    }

    fn at_point(&self, value: &Poly, at: &BTreeMap<Unknown, i128>) -> Option<i128> {
        let mut sum = 0_i128;
        for (product, factor) in value.terms() {
            let mut term = *factor;
            for unknown in product.iter() {
                let digit = match at.get(unknown) {
                    Some(digit) => *digit,
                    None => {
                        let (function, lhs, rhs) = self.function_of(*unknown)?;
                        apply(*function, self.at_point(lhs, at)?, self.at_point(rhs, at)?)?
                    }
                };
                term = term.checked_mul(digit)?;
            }
            sum = sum.checked_add(term)?;
        }
        Some(sum)
    }
}

/// A function's value.
pub(in super::super) fn apply(function: Function, lhs: i128, rhs: i128) -> Option<i128> {
    match function {
        Function::Quotient => Some(lhs.checked_div(rhs).unwrap_or(0)),
        Function::Floor => (rhs > 0).then(|| lhs.div_euclid(rhs)),
        Function::Remainder => Some(lhs.checked_rem(rhs).unwrap_or(0)),
        Function::ExclusiveOr => Some(lhs ^ rhs),
        Function::And => Some(lhs & rhs),
        Function::Or => Some(lhs | rhs),
        Function::Power => (0..63).contains(&lhs).then(|| 1 << lhs),
        Function::Min => Some(lhs.min(rhs)),
        Function::Max => Some(lhs.max(rhs)),
        Function::Tiles | Function::UnsignedTurns | Function::SignedTurns | Function::Narrowed => {
            None
        }
    }
}

impl Builder<'_> {
    /// Adds which values of bits can be equal on both sides, and where.
    pub(in super::super) fn relate_tables(&mut self) {
        let walk = self.walk;
        let mut bits: Vec<(Unknown, [&Poly; 2])> = Vec::new();
        for ((function, lhs, rhs), symbol) in &walk.functions {
            let is_of_bits =
                matches!(function, Function::ExclusiveOr | Function::And | Function::Or);
            let is_seen = [Side::First, Side::Second]
                .iter()
                .any(|side| self.seen.contains(&(*symbol, *side)));
            if is_of_bits && is_seen {
                bits.push((*symbol, [lhs, rhs]));
            }
        }
        // What others are made of comes last: of a whole its parts tell little.
        let is_part = |symbol: Unknown| {
            bits.iter().flat_map(|(_, operands)| operands).any(|operand| operand.mentions(symbol))
        };
        let (parts, wholes): (Vec<_>, Vec<_>) =
            bits.iter().map(|(symbol, _)| *symbol).partition(|symbol| is_part(*symbol));
        let tables = wholes.into_iter().chain(parts);
        let tables = tables.filter_map(|symbol| Some((symbol, walk.table(symbol)?)));
        let tables: Vec<(Unknown, Table)> = tables.take(MAX_VALUES).collect();
        for (first, one) in &tables {
            for (second, two) in &tables {
                let seen = |symbol, side| self.seen.contains(&(symbol, side));
                if seen(*first, Side::First) && seen(*second, Side::Second) && one.of == two.of {
                    self.compare((*first, one), (*second, two));
                }
            }
        }
    }

    /// That two values are equal at most where the coordinates are.
    fn compare(&mut self, (first, one): (Unknown, &Table), (second, two): (Unknown, &Table)) {
        let common =
            one.points.iter().filter_map(|(value, points)| Some((points, two.points.get(value)?)));
        let mut is_apart = true;
        for (left, right) in common {
            if left.iter().any(|point| right.iter().any(|other| other != point)) {
                return;
            }
            is_apart = false;
        }
        let left = self.on(Side::First, &Poly::unknown(first));
        let right = self.on(Side::Second, &Poly::unknown(second));
        let differ = Formula::ne(&left, &right);
        if is_apart {
            self.system.assert(&differ);
            return;
        }
        let axes: Vec<Formula> = one
            .of
            .iter()
            .map(|axis| {
                let axis = Poly::unknown(*axis);
                Formula::eq(&self.on(Side::First, &axis), &self.on(Side::Second, &axis))
            })
            .collect();
        self.system.assert(&differ.or(Formula::All(axes)));
    }
}
