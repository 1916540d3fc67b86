//! Between which numbers unknowns lie, by passing bounds along constraints.

use super::super::algebra::poly::{Monomial, Poly, Unknown};
use super::super::algebra::wide::{ceil_div, floor_div, times};

/// Constraints are gone through this often at most: bounds can creep for ever.
const MAX_ROUNDS: usize = 5;

/// From `low` to `high`, where they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Range {
    pub(in super::super) low: Option<i128>,
    pub(in super::super) high: Option<i128>,
}

impl Range {
    fn exactly(value: i128) -> Self {
        Self { low: Some(value), high: Some(value) }
    }

    fn scaled(self, by: i128) -> Self {
        let scaled = |side: Option<i128>| side.and_then(|value| times(value, by));
        let (a, b) = (scaled(self.low), scaled(self.high));
        if by < 0 { Self { low: b, high: a } } else { Self { low: a, high: b } }
    }

    fn plus(self, other: Self) -> Self {
        let sum = |a: Option<i128>, b: Option<i128>| a?.checked_add(b?);
        Self { low: sum(self.low, other.low), high: sum(self.high, other.high) }
    }

    fn is_natural(self) -> bool {
        self.low.is_some_and(|low| low >= 0)
    }
}

/// The ranges of all unknowns, by number.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Ranges(Vec<Range>);

/// Unknowns of higher numbers are not followed.
const MAX_UNKNOWNS: usize = 1 << 16;

impl Ranges {
    /// What follows from these being at least 0.
    pub(in super::super) fn of<'a>(at_least: impl Iterator<Item = &'a Poly> + Clone) -> Self {
        let (mut ranges, mut highs) = (Self::default(), Vec::new());
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for poly in at_least.clone() {
                changed |= ranges.learn(poly, &mut highs);
            }
            if !changed {
                break;
            }
        }
        ranges
    }

    /// Whether some unknown has no number left.
    pub(in super::super) fn is_empty(&self) -> bool {
        self.0.iter().any(|range| range.low.zip(range.high).is_some_and(|(low, high)| low > high))
    }

    /// What an unknown is at least.
    pub(in super::super) fn low(&self, unknown: Unknown) -> Option<i128> {
        self.get(unknown).low
    }

    /// Between which numbers an unknown lies.
    pub(in super::super) fn get(&self, unknown: Unknown) -> Range {
        self.0.get(unknown as usize).copied().unwrap_or_default()
    }

    /// Between which numbers a polynomial lies.
    pub(in super::super) fn of_poly(&self, poly: &Poly) -> Range {
        if poly.is_lost() {
            return Range::default();
        }
        let terms = poly.terms().iter();
        terms.fold(Range::exactly(0), |sum, (product, factor)| {
            sum.plus(self.of_product(product).scaled(*factor))
        })
    }

    /// Products of what may be negative are not followed.
    fn of_product(&self, product: &Monomial) -> Range {
        match product.as_slice() {
            [] => Range::exactly(1),
            [unknown] => self.get(*unknown),
            unknowns => {
                let mut ranges = unknowns.iter().map(|unknown| self.get(*unknown));
                if !ranges.clone().all(Range::is_natural) {
                    return Range::default();
                }
                let both = |a: Option<i128>, b: Option<i128>| times(a?, b?);
                let first = ranges.next().unwrap_or_default();
                ranges.fold(first, |all, one| Range {
                    low: both(all.low, one.low),
                    high: both(all.high, one.high),
                })
            }
        }
    }

    /// Takes in that `poly` is at least 0; `highs` is room for what its terms are at most.
    fn learn(&mut self, poly: &Poly, highs: &mut Vec<Option<i128>>) -> bool {
        highs.clear();
        let (mut sum, mut n_open) = (0_i128, 0);
        for (product, factor) in poly.terms() {
            let high = self.high_of(product, *factor);
            match high {
                None => n_open += 1,
                Some(high) => match sum.checked_add(high) {
                    Some(more) => sum = more,
                    None => return false,
                },
            }
            // Where two terms may be of any size, nothing is known of either.
            if n_open == 2 {
                return false;
            }
            highs.push(high);
        }
        let mut changed = false;
        for ((product, factor), own) in poly.terms().iter().zip(highs.iter()) {
            if product.is_empty() || (n_open == 1 && own.is_some()) {
                continue;
            }
            let Some(high) = sum.checked_sub(own.unwrap_or(0)) else { continue };
            // factor * product >= -high
            changed |= match (product.as_slice(), *factor > 0) {
                ([unknown], true) => match high.checked_neg() {
                    Some(least) => self.raise(*unknown, ceil_div(least, *factor)),
                    None => false,
                },
                ([unknown], false) => match factor.checked_neg() {
                    Some(by) => self.lower(*unknown, floor_div(high, by)),
                    None => false,
                },
                // A product of naturals that is positive has positive factors.
                (unknowns, true) if high < 0 => {
                    let natural = unknowns.iter().all(|unknown| self.get(*unknown).is_natural());
                    natural
                        && unknowns.iter().fold(false, |any, unknown| self.raise(*unknown, 1) | any)
                }
                (_, _) => false,
            };
        }
        changed
    }

    /// What a term is at most.
    fn high_of(&self, product: &Monomial, factor: i128) -> Option<i128> {
        let range = self.of_product(product);
        let side = if factor < 0 { range.low } else { range.high };
        times(side?, factor)
    }

    fn entry(&mut self, unknown: Unknown) -> Option<&mut Range> {
        let at = unknown as usize;
        if at >= self.0.len() && at < MAX_UNKNOWNS {
            self.0.resize(at + 1, Range::default());
        }
        self.0.get_mut(at)
    }

    fn raise(&mut self, unknown: Unknown, low: i128) -> bool {
        let Some(range) = self.entry(unknown) else { return false };
        let better = range.low.is_none_or(|known| known < low);
        if better {
            range.low = Some(low);
        }
        better
    }

    fn lower(&mut self, unknown: Unknown, high: i128) -> bool {
        let Some(range) = self.entry(unknown) else { return false };
        let better = range.high.is_none_or(|known| known > high);
        if better {
            range.high = Some(high);
        }
        better
    }
}
