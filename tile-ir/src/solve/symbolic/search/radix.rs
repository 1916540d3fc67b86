//! Equalities whose terms are digits of different weight.
//!
//! Let `g` divide some factors of `sum = 0` and not the others. The others then
//! sum to a multiple of `g`, and where their bounds admit few multiples, each is
//! a case: of `64*bx + tx = 64*bx' + tx'` with `tx, tx' < 64` only 0 is left, so
//! that `tx = tx'` and `bx = bx'`. Indices of any mixed radix come apart this way,
//! digit by digit, the lightest first.

use super::super::algebra::poly::{Poly, gcd};
use super::ranges::Ranges;

/// Most cases that an equality is cut into.
const MAX_CASES: i128 = 3;

/// What becomes of an equality.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Cut {
    /// It cannot hold.
    Never,
    /// It holds where, in one of these cases, both are 0.
    Cases(Vec<(Poly, Poly)>),
}

/// Whether an equality could come apart.
pub(in super::super) fn is_candidate(poly: &Poly) -> bool {
    let mut factors = poly.terms().iter().filter(|(product, _)| !product.is_empty());
    let Some((_, first)) = factors.next() else { return false };
    factors.any(|(_, factor)| factor.unsigned_abs() != first.unsigned_abs())
}

/// Cuts `poly = 0` into the fewest cases that a weight gives.
pub(in super::super) fn cut(poly: &Poly, ranges: &Ranges) -> Option<Cut> {
    let mut best: Option<Vec<(Poly, Poly)>> = None;
    for weight in weights(poly) {
        let (mut heavy, mut light) = (Poly::default(), Poly::default());
        for (product, factor) in poly.terms() {
            let term = Poly::product(*product).scaled(*factor);
            let is_heavy = !product.is_empty() && factor % weight == 0;
            let part = if is_heavy { &mut heavy } else { &mut light };
            *part = part.add(&term);
        }
        if heavy.is_lost() || light.is_lost() || light.as_constant().is_some() {
            continue;
        }
        let range = ranges.of_poly(&light);
        let (Some(low), Some(high)) = (range.low, range.high) else { continue };
        let first = low.div_euclid(weight) + i128::from(low.rem_euclid(weight) != 0);
        let last = high.div_euclid(weight);
        if first > last {
            return Some(Cut::Never);
        }
        if last - first >= MAX_CASES {
            continue;
        }
        if best.as_ref().is_none_or(|best| best.len() as i128 > last - first + 1) {
            let case = |times: i128| {
                let value = Poly::constant(times * weight);
                (light.sub(&value), heavy.add(&value))
            };
            best = Some((first..=last).map(case).collect());
        }
    }
    best.map(Cut::Cases)
}

/// The weights to try: factors, and what the largest ones have in common.
fn weights(poly: &Poly) -> Vec<i128> {
    let factors = poly.terms().iter().filter(|(product, _)| !product.is_empty());
    let mut factors: Vec<i128> = factors.filter_map(|(_, factor)| factor.checked_abs()).collect();
    factors.sort_unstable_by(|a, b| b.cmp(a));
    factors.dedup();
    let mut weights = Vec::new();
    let mut common = 0;
    for factor in factors {
        common = gcd(common, factor);
        for weight in [common, factor] {
            if weight > 1 && !weights.contains(&weight) {
                weights.push(weight);
            }
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unknowns 0, 1, … from 0 up to these.
    fn ranges(last: &[i128]) -> Ranges {
        let bounds: Vec<Poly> = last
            .iter()
            .enumerate()
            .flat_map(|(unknown, last)| {
                let value = Poly::unknown(unknown as u32);
                [value.clone(), value.negated().plus(*last)]
            })
            .collect();
        Ranges::of(bounds.iter())
    }

    fn sum(factors: &[i128]) -> Poly {
        let terms = factors.iter().enumerate();
        terms.fold(Poly::default(), |sum, (unknown, factor)| {
            sum.add(&Poly::unknown(unknown as u32).scaled(*factor))
        })
    }

    #[test]
    fn digits_come_apart() {
        let equality = sum(&[64, 1, -64, -1]);
        let cut = cut(&equality, &ranges(&[100, 63, 100, 63]));
        assert_eq!(cut, Some(Cut::Cases(vec![(sum(&[0, 1, 0, -1]), sum(&[64, 0, -64]))])));
    }

    #[test]
    fn a_digit_that_is_too_large_has_cases() {
        let equality = sum(&[64, 1, -64, -1]);
        let Some(Cut::Cases(cases)) = cut(&equality, &ranges(&[100, 64, 100, 64])) else {
            panic!("no cases");
        };
        assert_eq!(cases.len(), 3);
    }

    #[test]
    fn what_no_multiple_meets_cannot_be() {
        let equality = sum(&[8, 1]).plus(1);
        assert_eq!(cut(&equality, &ranges(&[9, 6])), Some(Cut::Never));
        assert_ne!(cut(&equality, &ranges(&[9, 7])), Some(Cut::Never));
    }
}
