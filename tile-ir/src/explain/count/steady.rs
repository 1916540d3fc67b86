//! Values that grow steadily with a counter.
//!
//! A value is *steady* if there are a period P and a distance D with
//! value(t + P) = value(t) + D for all iterations t. Sums of steady values, their
//! products with what does not change, and their quotients and remainders by
//! constants are steady. Minima and choices are one or the other operand; which of
//! them, the comparison says, whose outcome is part of the trace.

use std::collections::BTreeSet;

use crate::kernel::gcd;

/// Periods beyond this are as good as none.
const LONGEST: i128 = 1 << 12;
/// Distances that a value may have.
const MOST_DISTANCES: usize = 8;

/// A steady value: its period in iterations, and what it may change by meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Steady {
    pub(super) period: i128,
    distances: BTreeSet<i128>,
}

impl Steady {
    pub(super) fn constant() -> Self {
        Self::new(1, [0].into())
    }

    pub(super) fn new(period: i128, distances: BTreeSet<i128>) -> Self {
        Self { period, distances }
    }

    pub(super) fn is_constant(&self) -> bool {
        self.period == 1 && self.distances.iter().all(|distance| *distance == 0)
    }

    /// The same over a multiple of its period.
    fn over(&self, period: i128) -> BTreeSet<i128> {
        self.distances.iter().map(|distance| distance * (period / self.period)).collect()
    }

    pub(super) fn with(&self, other: &Self, f: impl Fn(i128, i128) -> i128) -> Option<Self> {
        let period = lcm(self.period, other.period)?;
        let (a, b) = (self.over(period), other.over(period));
        let distances: BTreeSet<i128> =
            a.iter().flat_map(|a| b.iter().map(|b| f(*a, *b)).collect::<Vec<_>>()).collect();
        (distances.len() <= MOST_DISTANCES).then_some(Self::new(period, distances))
    }

    pub(super) fn scaled(&self, factor: i128) -> Self {
        Self::new(self.period, self.distances.iter().map(|d| d * factor).collect())
    }

    /// After how many iterations it has moved by a multiple of `unit`.
    pub(super) fn period_of(&self, unit: i128) -> Option<i128> {
        self.distances.iter().try_fold(self.period, |period, distance| {
            let moved = unit / gcd(unit, distance.rem_euclid(unit));
            lcm(period, moved.checked_mul(self.period)?)
        })
    }
}

pub(super) fn lcm(a: i128, b: i128) -> Option<i128> {
    let lcm = a / gcd(a, b).max(1) * b;
    (lcm <= LONGEST).then_some(lcm)
}

/// One or the other.
pub(super) fn either(one: &Steady, other: &Steady) -> Option<Steady> {
    let period = lcm(one.period, other.period)?;
    let distances: BTreeSet<i128> = one.over(period).union(&other.over(period)).copied().collect();
    (distances.len() <= MOST_DISTANCES).then_some(Steady::new(period, distances))
}

/// The period after which a value has moved by a multiple of `unit`.
fn aligned(value: &Steady, unit: i128) -> Option<Steady> {
    let period = value.period_of(unit)?;
    Some(Steady::new(period, value.over(period)))
}

/// Divided by a constant.
pub(super) fn divided(value: &Steady, divisor: i128) -> Option<Steady> {
    if divisor <= 0 {
        return None;
    }
    let value = aligned(value, divisor)?;
    let distances = value.distances.iter().map(|distance| distance / divisor).collect();
    Some(Steady::new(value.period, distances))
}

/// What remains of a division by a constant.
pub(super) fn remainder(value: &Steady, divisor: i128) -> Option<Steady> {
    if divisor <= 0 {
        return None;
    }
    let value = aligned(value, divisor)?;
    Some(Steady::new(value.period, [0].into()))
}

#[cfg(test)]
mod tests {
    use super::{Steady, divided, either, remainder};

    fn counter(step: i128) -> Steady {
        Steady::new(1, [step].into())
    }

    #[test]
    fn rows_come_back_to_a_sector() {
        // Elements of 4 bytes, one or sixteen on in each iteration; sectors of 32.
        assert_eq!(counter(1).scaled(4).period_of(32), Some(8));
        assert_eq!(counter(16).scaled(4).period_of(32), Some(1));
        assert_eq!(counter(1001).scaled(4).period_of(32), Some(8));
    }

    #[test]
    fn quotients_and_remainders() {
        assert_eq!(remainder(&counter(1), 3), Some(Steady::new(3, [0].into())));
        assert_eq!(divided(&counter(2), 4), Some(Steady::new(2, [1].into())));
        assert_eq!(divided(&counter(1), 0), None);
        // A place in a ring of three buffers beside the counter itself.
        let ring = remainder(&counter(1), 3).unwrap();
        let sum = counter(8).with(&ring, |a, b| a + b).unwrap();
        assert_eq!(sum, Steady::new(3, [24].into()));
    }

    #[test]
    fn one_or_the_other() {
        let both = either(&counter(4), &counter(6)).unwrap();
        assert_eq!(both.period_of(8), Some(4));
    }
}
