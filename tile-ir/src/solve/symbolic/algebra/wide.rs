//! Arithmetic of 128 bits on numbers that are mostly short: where they are, it takes an
//! instruction or two in place of a call.

/// The product; `None` where it leaves 128 bits.
pub(in super::super) fn times(one: i128, other: i128) -> Option<i128> {
    match (i64::try_from(one), i64::try_from(other)) {
        // Of 64 bits each, they stay within 128.
        (Ok(_), Ok(_)) => Some(one.wrapping_mul(other)),
        (_, _) => one.checked_mul(other),
    }
}

/// The quotient rounded down; `by` is positive.
pub(in super::super) fn floor_div(value: i128, by: i128) -> i128 {
    match (i64::try_from(value), i64::try_from(by)) {
        (Ok(value), Ok(1)) => value.into(),
        (Ok(value), Ok(by)) => value.div_euclid(by).into(),
        (_, _) => value.div_euclid(by),
    }
}

/// The quotient rounded up; `by` is positive.
pub(in super::super) fn ceil_div(value: i128, by: i128) -> i128 {
    let floor = floor_div(value, by);
    let is_whole = by == 1 || floor.wrapping_mul(by) == value;
    if is_whole { floor } else { floor + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: i128 = i64::MAX as i128 + 1;

    #[test]
    fn products_are_those_of_128_bits() {
        assert_eq!(times(-3, 4), Some(-12));
        assert_eq!(times(i64::MIN.into(), i64::MIN.into()), Some(1 << 126));
        assert_eq!(times(LARGE, LARGE), Some(1 << 126));
        assert_eq!(times(i128::MAX, 2), None);
    }

    #[test]
    fn quotients_are_rounded() {
        for (value, by, floor, ceil) in [
            (7, 2, 3, 4),
            (-7, 2, -4, -3),
            (6, 2, 3, 3),
            (-5, 1, -5, -5),
            (2 * LARGE + 1, 2, LARGE, LARGE + 1),
            (-2 * LARGE - 1, LARGE, -3, -2),
            (i128::MIN, 1, i128::MIN, i128::MIN),
        ] {
            assert_eq!(
                (floor_div(value, by), ceil_div(value, by)),
                (floor, ceil),
                "{value} / {by}"
            );
        }
    }
}
