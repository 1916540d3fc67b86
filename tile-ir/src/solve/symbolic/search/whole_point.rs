//! Whole numbers that fulfil bounds on sums: branch and bound (A. Land and A. Doig, An automatic
//! method of solving discrete programming problems, Econometrica 28, 1960).
//!
//! The simplex method finds numbers that need not be whole. Of one that is not, the next whole
//! number below and the one above bound it each in a system of their own, until all are whole.
//!
//! What is found fulfils the bounds. Nothing found says nothing: it is given up after
//! [`MAX_SYSTEMS`].

use std::collections::BTreeMap;

use super::linear::{Effort, Row};
use super::simplex;

/// Systems that are solved for one point.
const MAX_SYSTEMS: u32 = 48;

/// Whole numbers, by unknown, that make all of these at least 0, if some are found soon. What
/// bounds nothing is not named.
pub(in crate::solve) fn whole_point(
    at_least: &[Row],
    effort: &Effort,
) -> Option<BTreeMap<usize, i128>> {
    let mut open = vec![at_least.to_vec()];
    for _ in 0..MAX_SYSTEMS {
        let rows = open.pop()?;
        let Some(point) = simplex::point(&rows, effort) else { continue };
        let Some((unknown, number)) =
            point.iter().find(|(_, number)| number.whole_number().is_none())
        else {
            let whole =
                point.into_iter().map(|(unknown, number)| Some((unknown, number.whole_number()?)));
            return whole.collect();
        };
        let below = number.floor();
        let bounds = [(1, below.checked_add(1)?.checked_neg()?), (-1, below)];
        open.extend(bounds.map(|(factor, constant)| {
            let bound = Row { factors: vec![(*unknown, factor)], constant };
            rows.iter().cloned().chain([bound]).collect()
        }));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(at_least: &[(&[(usize, i128)], i128)]) -> Option<Vec<i128>> {
        let rows: Vec<Row> = at_least
            .iter()
            .map(|(factors, constant)| Row { factors: factors.to_vec(), constant: *constant })
            .collect();
        let point = whole_point(&rows, &Effort::of_kernel())?;
        for row in &rows {
            let sum = row.factors.iter().map(|(unknown, factor)| factor * point[unknown]);
            assert!(sum.sum::<i128>() + row.constant >= 0, "{row:?} of {point:?}");
        }
        Some(point.into_values().collect())
    }

    #[test]
    fn two_equations_have_their_point() {
        // 3p + q = 1000, p - q = 12
        let found = point(&[
            (&[(0, 3), (1, 1)], -1000),
            (&[(0, -3), (1, -1)], 1000),
            (&[(0, 1), (1, -1)], -12),
            (&[(0, -1), (1, 1)], 12),
        ]);
        assert_eq!(found, Some(vec![253, 241]));
    }

    #[test]
    fn points_between_whole_numbers_are_left() {
        // 2p + 4q = 5 has none; 7p - 12q = 1 has, past p = 1 and q = 0.
        let equal = |factors: &[(usize, i128)], sum: i128| {
            let negated: Vec<_> = factors.iter().map(|(of, factor)| (*of, -factor)).collect();
            point(&[(factors, -sum), (&negated, sum), (&[(0, 1)], -1), (&[(1, 1)], 0)])
        };
        assert_eq!(equal(&[(0, 2), (1, 4)], 5), None);
        assert_eq!(equal(&[(0, 7), (1, -12)], 1), Some(vec![7, 4]));
    }

    #[test]
    fn contradictions_have_none() {
        assert_eq!(point(&[(&[(0, 1)], -3), (&[(0, -1)], 2)]), None);
    }
}
