//! The values of a loop counter, as numbers.

/// A loop whose bounds are known.
#[derive(Clone, Copy, Debug)]
pub(super) enum Counter {
    Between { start: i64, end: i64, step: i64, reversed: bool },
    Halving(i64),
    Doubling(i64),
}

impl Counter {
    /// The value of an iteration, counted from 0; `None` after the last.
    pub(super) fn value(self, trip: i64) -> Option<i64> {
        match self {
            Self::Between { start, end, step, reversed } => {
                if step <= 0 || end <= start {
                    return None;
                }
                let trips = end.abs_diff(start).div_ceil(step.unsigned_abs()).cast_signed();
                let trip = if reversed { trips - 1 - trip } else { trip };
                (0..trips).contains(&trip).then(|| start.wrapping_add(step.wrapping_mul(trip)))
            }
            Self::Halving(n) => {
                let value = n.checked_shr(u32::try_from(trip + 1).ok()?).unwrap_or(0);
                (value > 0).then_some(value)
            }
            Self::Doubling(n) => {
                let value = 1i64.checked_shl(u32::try_from(trip).ok()?).unwrap_or(i64::MAX);
                (value > 0 && value < n).then_some(value)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Counter;

    fn check(counter: Counter, expect: &[i64]) {
        let values: Vec<i64> = (0..).map_while(|trip| counter.value(trip)).collect();
        assert_eq!(values, expect);
    }

    #[test]
    fn values_of_each_form() {
        let between = |start, end, step, reversed| Counter::Between { start, end, step, reversed };
        check(between(2, 9, 3, false), &[2, 5, 8]);
        check(between(2, 9, 3, true), &[8, 5, 2]);
        check(between(-4, -1, 1, false), &[-4, -3, -2]);
        check(between(5, 5, 1, false), &[]);
        check(between(0, 9, 0, false), &[]);
        check(between(0, 9, -1, true), &[]);
        for (n, halving, doubling) in [
            (-3, &[][..], &[][..]),
            (1, &[], &[]),
            (2, &[1], &[1]),
            (7, &[3, 1], &[1, 2, 4]),
            (9, &[4, 2, 1], &[1, 2, 4, 8]),
        ] {
            check(Counter::Halving(n), halving);
            check(Counter::Doubling(n), doubling);
        }
    }
}
