//! Equalities in which no unknown has the factor 1 or -1.
//!
//! Of `a*x + rest = 0`, `a` the smallest factor, take both sides modulo `a + 1`: there `a` is
//! -1, so `x` is what the other factors leave, and a multiple of `a + 1`, which is an unknown
//! of its own. With that put in for `x`, the equality divides by `a + 1` and the other factors
//! are smaller by a third at the least; so after a few turns one of them is 1. `257*t = 256*k`
//! becomes `t = 256*s` that way. (W. Pugh, The Omega Test, Supercomputing 1991, section 2.2.)

use super::linear::Row;

/// Factors beyond which it is not tried.
const MAX_FACTOR: i128 = 1 << 60;

/// What an unknown of `equality` is by way of the unknown `other`, which is new: a row that is
/// 0, and that unknown with its factor there, which is 1 or -1. `None` where numbers are too
/// large, or there is no unknown.
pub(in super::super) fn substitution(equality: &Row, other: usize) -> Option<(Row, (usize, i128))> {
    let (unknown, factor) =
        equality.factors.iter().copied().min_by_key(|(_, factor)| factor.unsigned_abs())?;
    if equality.factors.iter().any(|(_, factor)| factor.abs() > MAX_FACTOR)
        || equality.constant.abs() > MAX_FACTOR
    {
        return None;
    }
    let modulus = factor.abs() + 1;
    let left = |number: i128| {
        // The remainder of least amount.
        let rest = number.rem_euclid(modulus);
        if 2 * rest >= modulus { rest - modulus } else { rest }
    };
    let with_new = equality.factors.iter().map(|(unknown, factor)| (*unknown, left(*factor)));
    let mut factors: Vec<(usize, i128)> = with_new.filter(|(_, factor)| *factor != 0).collect();
    factors.push((other, modulus));
    Some((Row { factors, constant: left(equality.constant) }, (unknown, left(factor))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_factor_becomes_one() {
        let equality = Row { factors: vec![(0, 7), (1, -12), (2, 31)], constant: 17 };
        let (row, (unknown, factor)) = substitution(&equality, 3).unwrap();
        // Modulo 8: 7 is -1, -12 is 4 or -4, 31 is -1, 17 is 1.
        assert_eq!(row, Row { factors: vec![(0, -1), (1, -4), (2, -1), (3, 8)], constant: 1 });
        assert_eq!((unknown, factor), (0, -1));
    }
}
