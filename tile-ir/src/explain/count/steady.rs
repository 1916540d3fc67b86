//! Values that grow steadily with a counter.
//!
//! A value is *steady* if there are a period P and a distance D with
//! value(t + P) = value(t) + D for all iterations t. Sums of steady values, their
//! products with what does not change, and their quotients and remainders by
//! constants are steady. Minima and choices are one or the other operand; which of
//! them, the comparison says, whose outcome is part of the trace.

use std::collections::BTreeSet;

use crate::kernel::{self, gcd};

/// Periods beyond this are as good as none.
const LONGEST: i128 = 1 << 12;
/// Distances that a value may have.
const MOST_DISTANCES: usize = 8;

/// A steady value: its period in iterations, and what it may change by meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Steady {
    pub(super) period: i128,
    distances: BTreeSet<i128>,
    /// Divides every change from one iteration to another; 0 of what does not change.
    grain: i128,
}

impl Steady {
    pub(super) fn constant() -> Self {
        Self::counter(0)
    }

    /// What grows by so much in each iteration.
    pub(super) fn counter(step: i128) -> Self {
        Self { period: 1, distances: [step].into(), grain: step.abs() }
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
        let grain = gcd(self.grain, other.grain);
        (distances.len() <= MOST_DISTANCES).then_some(Self { period, distances, grain })
    }

    pub(super) fn scaled(&self, factor: i128) -> Self {
        let distances = self.distances.iter().map(|d| d * factor).collect();
        Self { period: self.period, distances, grain: self.grain * factor.abs() }
    }

    /// A number of iterations after each of which it has moved by a multiple of `unit`.
    pub(super) fn moves_by(&self, unit: i128) -> Option<i128> {
        if self.grain % unit == 0 { Some(1) } else { self.period_of(unit) }
    }

    /// After how many iterations it has moved by a multiple of `unit`, in whole periods.
    fn period_of(&self, unit: i128) -> Option<i128> {
        self.distances.iter().try_fold(self.period, |period, distance| {
            let moved = unit / gcd(unit, distance.rem_euclid(unit));
            lcm(period, moved.checked_mul(self.period)?)
        })
    }
}

pub(super) fn lcm(a: i128, b: i128) -> Option<i128> {
    Some(kernel::lcm(a, b)).filter(|lcm| *lcm <= LONGEST)
}

/// One or the other.
pub(super) fn either(one: &Steady, other: &Steady) -> Option<Steady> {
    let period = lcm(one.period, other.period)?;
    let distances: BTreeSet<i128> = one.over(period).union(&other.over(period)).copied().collect();
    let grain = gcd(one.grain, other.grain);
    (distances.len() <= MOST_DISTANCES).then_some(Steady { period, distances, grain })
}

/// The period after which a value has moved by a multiple of `unit`.
fn aligned(value: &Steady, unit: i128) -> Option<Steady> {
    let period = value.period_of(unit)?;
    Some(Steady { period, distances: value.over(period), grain: value.grain })
}

/// Divided by a constant.
pub(super) fn divided(value: &Steady, divisor: i128) -> Option<Steady> {
    if divisor <= 0 {
        return None;
    }
    let value = aligned(value, divisor)?;
    let distances = value.distances.iter().map(|distance| distance / divisor).collect();
    let grain = if value.grain % divisor == 0 { value.grain / divisor } else { 1 };
    Some(Steady { period: value.period, distances, grain })
}

/// What remains of a division by a constant.
pub(super) fn remainder(value: &Steady, divisor: i128) -> Option<Steady> {
    if divisor <= 0 {
        return None;
    }
    let value = aligned(value, divisor)?;
    Some(Steady { grain: gcd(value.grain, divisor), distances: [0].into(), ..value })
}

#[cfg(test)]
mod tests {
    use super::{Steady, divided, either, remainder};

    #[test]
    fn rows_come_back_to_a_sector() {
        // Elements of 4 bytes, one or sixteen on in each iteration; sectors of 32.
        assert_eq!(Steady::counter(1).scaled(4).moves_by(32), Some(8));
        assert_eq!(Steady::counter(16).scaled(4).moves_by(32), Some(1));
        assert_eq!(Steady::counter(1001).scaled(4).moves_by(32), Some(8));
    }

    #[test]
    fn quotients_and_remainders() {
        let ring = remainder(&Steady::counter(1), 3).unwrap();
        assert_eq!(ring, Steady { period: 3, distances: [0].into(), grain: 1 });
        let halves = divided(&Steady::counter(2), 4);
        assert_eq!(halves, Some(Steady { period: 2, distances: [1].into(), grain: 1 }));
        assert_eq!(divided(&Steady::counter(1), 0), None);
        // A place in a ring of three buffers beside the counter itself.
        let sum = Steady::counter(8).with(&ring, |a, b| a + b).unwrap();
        assert_eq!(sum, Steady { period: 3, distances: [24].into(), grain: 1 });
    }

    #[test]
    fn a_ring_moves_by_whole_buffers() {
        let ring = remainder(&Steady::counter(1), 3).unwrap();
        assert_eq!(ring.scaled(512).moves_by(4), Some(1));
        // Of three bytes each, only all of the ring is a whole number of words.
        assert_eq!(ring.scaled(3).moves_by(4), Some(3));
        assert_eq!(divided(&Steady::counter(8), 4).unwrap().scaled(2).moves_by(4), Some(1));
    }

    #[test]
    fn one_or_the_other() {
        let both = either(&Steady::counter(4), &Steady::counter(6)).unwrap();
        assert_eq!(both.moves_by(8), Some(4));
    }

    #[test]
    fn what_moves_by_whole_units_does_so_from_any_iteration_to_the_next() {
        let mut rng = fastrand::Rng::with_seed(5);
        for _ in 0..2000 {
            let (step, divisor, factor) = (rng.i128(1..9), rng.i128(1..9), rng.i128(1..9));
            let is_quotient = rng.bool();
            let of = |turn: i128| {
                let at = step * turn + 3;
                factor * if is_quotient { at / divisor } else { at % divisor } + 2 * turn
            };
            let counter = Steady::counter(step);
            let part =
                if is_quotient { divided(&counter, divisor) } else { remainder(&counter, divisor) };
            let sum = part.unwrap().scaled(factor).with(&Steady::counter(2), |a, b| a + b).unwrap();
            for unit in [2, 3, 4, 8] {
                let period = sum.moves_by(unit).unwrap();
                let moved = |turn: i128| of(turn + period) - of(turn);
                assert!((0..50).all(|turn| moved(turn) % unit == 0), "{sum:?} {unit}");
            }
        }
    }
}
