//! Between which numbers unknowns lie, by passing bounds along constraints.

use super::poly::{Monomial, Poly, Unknown};

/// Constraints are gone through this often at most: bounds can creep for ever.
const MAX_ROUNDS: usize = 5;

/// From `low` to `high`, where they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) low: Option<i128>,
    pub(super) high: Option<i128>,
}

impl Range {
    fn exactly(value: i128) -> Self {
        Self { low: Some(value), high: Some(value) }
    }

    fn scaled(self, by: i128) -> Self {
        let times = |side: Option<i128>| side.and_then(|value| value.checked_mul(by));
        let (a, b) = (times(self.low), times(self.high));
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
pub(super) struct Ranges(Vec<Range>);

/// Unknowns of higher numbers are not followed.
const MAX_UNKNOWNS: usize = 1 << 16;

impl Ranges {
    /// What follows from these being at least 0.
    pub(super) fn of<'a>(at_least: impl Iterator<Item = &'a Poly> + Clone) -> Self {
        let mut ranges = Self::default();
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for poly in at_least.clone() {
                changed |= ranges.learn(poly);
            }
            if !changed {
                break;
            }
        }
        ranges
    }

    /// Whether some unknown has no number left.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().any(|range| range.low.zip(range.high).is_some_and(|(low, high)| low > high))
    }

    /// What an unknown is at least.
    pub(super) fn low(&self, unknown: Unknown) -> Option<i128> {
        self.get(unknown).low
    }

    /// Between which numbers an unknown lies.
    pub(super) fn get(&self, unknown: Unknown) -> Range {
        self.0.get(unknown as usize).copied().unwrap_or_default()
    }

    /// Between which numbers a polynomial lies.
    pub(super) fn of_poly(&self, poly: &Poly) -> Range {
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
                let times = |a: Option<i128>, b: Option<i128>| a?.checked_mul(b?);
                let first = ranges.next().unwrap_or_default();
                ranges.fold(first, |all, one| Range {
                    low: times(all.low, one.low),
                    high: times(all.high, one.high),
                })
            }
        }
    }

    /// Takes in that `poly` is at least 0.
    fn learn(&mut self, poly: &Poly) -> bool {
        let high_of =
            |(product, factor): &(Monomial, i128)| self.of_product(product).scaled(*factor).high;
        let highs: Vec<Option<i128>> = poly.terms().iter().map(high_of).collect();
        let n_open = highs.iter().filter(|high| high.is_none()).count();
        let mut known = highs.iter().flatten();
        let sum = known.try_fold(0_i128, |sum, high| sum.checked_add(*high));
        // Where two terms may be of any size, nothing is known of either.
        let Some(sum) = sum.filter(|_| n_open < 2) else { return false };
        let mut changed = false;
        for ((product, factor), own) in poly.terms().iter().zip(&highs) {
            if product.is_empty() || (n_open == 1 && own.is_some()) {
                continue;
            }
            let Some(high) = sum.checked_sub(own.unwrap_or(0)) else { continue };
            // factor * product >= -high
            changed |= match (product.as_slice(), *factor > 0) {
                ([unknown], true) => high
                    .checked_neg()
                    .is_some_and(|least| self.raise(*unknown, ceil_div(least, *factor))),
                ([unknown], false) => {
                    factor.checked_neg().is_some_and(|by| self.lower(*unknown, high.div_euclid(by)))
                }
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

/// Rounded up; `by` is positive.
fn ceil_div(value: i128, by: i128) -> i128 {
    value.div_euclid(by) + i128::from(value.rem_euclid(by) != 0)
}
