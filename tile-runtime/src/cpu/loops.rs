//! Counted loops: how often they run and what their counter is.
//!
//! Every [`tile_ir::program::LoopRange`] has a number of trips that is known
//! before the loop, and its counter is a function of the trip's number.

/// Trips of `start, start + step, … below end`; none where `step` is not positive.
pub(super) fn trips_between(start: i64, end: i64, step: i64) -> i64 {
    if step <= 0 || end <= start {
        return 0;
    }
    let distance = end.abs_diff(start);
    i64::try_from(distance.div_ceil(step.unsigned_abs())).unwrap_or(i64::MAX)
}

/// The counter of [`trips_between`] at a trip.
pub(super) fn value_between(start: i64, step: i64, trip: i64) -> i64 {
    start.wrapping_add(step.wrapping_mul(trip))
}

/// Trips of `n/2, n/4, …, 1`; none where `n` is below 2.
pub(super) fn trips_halving(n: i64) -> i64 {
    if n < 2 { 0 } else { i64::from(n.ilog2()) }
}

/// The counter of [`trips_halving`] at a trip.
pub(super) fn value_halving(n: i64, trip: i64) -> i64 {
    n >> (trip + 1).clamp(0, 63)
}

/// Trips of `1, 2, 4, … below n`.
pub(super) fn trips_doubling(n: i64) -> i64 {
    if n < 2 { 0 } else { i64::from((n - 1).ilog2()) + 1 }
}

/// The counter of [`trips_doubling`] at a trip.
pub(super) fn value_doubling(trip: i64) -> i64 {
    1 << trip.clamp(0, 62)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(trips: i64, value: impl Fn(i64) -> i64, expect: &[i64]) {
        let values: Vec<i64> = (0..trips).map(value).collect();
        assert_eq!(values, expect);
    }

    #[test]
    fn ranges() {
        check(trips_between(2, 9, 3), |t| value_between(2, 3, t), &[2, 5, 8]);
        check(trips_between(2, 8, 3), |t| value_between(2, 3, t), &[2, 5]);
        check(trips_between(-4, -1, 1), |t| value_between(-4, 1, t), &[-4, -3, -2]);
        check(trips_between(5, 5, 1), |t| value_between(5, 1, t), &[]);
        check(trips_between(0, 9, 0), |t| value_between(0, 0, t), &[]);
        check(trips_between(0, 9, -1), |t| value_between(0, -1, t), &[]);
        check(trips_between(i64::MIN, i64::MAX, i64::MAX), |t| t, &[0, 1, 2]);
    }

    #[test]
    fn halving_and_doubling() {
        for (n, halving, doubling) in [
            (-3, &[][..], &[][..]),
            (0, &[], &[]),
            (1, &[], &[]),
            (2, &[1], &[1]),
            (3, &[1], &[1, 2]),
            (7, &[3, 1], &[1, 2, 4]),
            (8, &[4, 2, 1], &[1, 2, 4]),
            (9, &[4, 2, 1], &[1, 2, 4, 8]),
        ] {
            check(trips_halving(n), |t| value_halving(n, t), halving);
            check(trips_doubling(n), value_doubling, doubling);
        }
        assert_eq!(value_doubling(trips_doubling(i64::MAX) - 1), 1 << 62);
    }
}
