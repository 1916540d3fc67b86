//! What follows from rows of products when a sum is taken out of them.
//!
//! The last group of tiles has `M - 8*g` rows, and `(M - 8*g) * n <= p` and
//! `p < (M - 8*g) * N` put `n` below `N`. The weight is no product here, but what is known
//! to be positive. So let `P` be a sum of which a row says that it is at least 1, and let
//! another row be `C * P + light >= 0`: where `light` is below 0, `C` is at least 1; where it
//! is below `P`, at least 0.
//!
//! A row is written by `P` by putting in, for an unknown that `P` has once, what `P` and the
//! others leave of it.

use std::collections::BTreeSet;

use super::super::algebra::poly::{Poly, Unknown};
use super::digits::{Bounds, is_less};
use super::ranges::Ranges;

/// Sums that are taken out.
const MAX_SUMS: usize = 4;

/// Terms of a row out of which one is taken, and of the sum.
const MAX_TERMS: usize = 8;

/// What follows from rows, all at least 0, by the sums that are positive.
pub(in super::super) fn divided(
    at_least: &BTreeSet<Poly>,
    ranges: &Ranges,
    bounds: &Bounds,
) -> Vec<Poly> {
    let products = |row: &&Poly| !row.is_linear() && row.terms().len() <= MAX_TERMS;
    let sums = at_least.iter().filter_map(positive_sum).take(MAX_SUMS);
    let found = sums.flat_map(|sum| {
        let rows = at_least.iter().filter(products);
        rows.filter_map(move |row| divide(row, &sum, ranges, bounds)).collect::<Vec<_>>()
    });
    found.collect()
}

/// The sum of which a row says that it is at least 1, if it is one of unknowns of either sign.
fn positive_sum(row: &Poly) -> Option<Poly> {
    let sum = row.plus(1);
    let terms = || sum.terms().iter();
    let is_mixed = terms().any(|(_, factor)| *factor > 0) && terms().any(|(_, factor)| *factor < 0);
    let is_sum = row.is_linear() && sum.constant_term() == 0 && terms().count() <= MAX_TERMS;
    // Of sums of single unknowns all that is used is known from their bounds.
    let has_number = terms().any(|(_, factor)| factor.unsigned_abs() > 1);
    (is_sum && is_mixed && has_number).then_some(sum)
}

/// What follows from `row` by a positive sum.
fn divide(row: &Poly, sum: &Poly, ranges: &Ranges, bounds: &Bounds) -> Option<Poly> {
    if !sum.unknowns().all(|unknown| row.mentions(unknown)) {
        return None;
    }
    bounds.note_use();
    let (heavy, light) = parts(row, sum)?;
    if heavy.as_constant().is_some() {
        return None;
    }
    if is_less(&light, &Poly::default(), ranges, bounds) {
        Some(heavy.plus(-1))
    } else if is_less(&light, sum, ranges, bounds) {
        Some(heavy)
    } else {
        None
    }
}

/// A polynomial as a multiple of a sum, and the rest, if that is shorter.
fn parts(poly: &Poly, sum: &Poly) -> Option<(Poly, Poly)> {
    let name: Unknown = poly.unknowns().chain(sum.unknowns()).max()?.checked_add(1)?;
    let (unknown, factor) = sum.terms().iter().find_map(|(product, factor)| {
        let ([unknown], 1 | -1) = (product.as_slice(), *factor) else { return None };
        Some((*unknown, *factor))
    })?;
    // sum = factor * unknown + rest, so unknown = factor * (sum - rest).
    let rest = sum.sub(&Poly::unknown(unknown).scaled(factor));
    let value = Poly::unknown(name).sub(&rest).scaled(factor);
    let by_name = poly.replace(&|other| (other == unknown).then(|| value.clone()));
    let heavy = by_name.cofactor(name);
    let light = by_name.sub(&heavy.mul(&Poly::unknown(name)));
    let is_whole = !heavy.is_lost() && !light.is_lost() && !heavy.mentions(name);
    (is_whole && light.terms().len() < poly.terms().len()).then_some((heavy, light))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_positive_sum_is_taken_out() {
        let [m, g, n, size] = [0, 1, 2, 3].map(Poly::unknown);
        let sum = m.sub(&g.scaled(8));
        let row = sum.mul(&size.sub(&n)).plus(-1);
        let rows = BTreeSet::from([sum.plus(-1), row]);
        let (ranges, bounds) = (Ranges::of(rows.iter()), Bounds::of(rows.iter()));
        assert_eq!(divided(&rows, &ranges, &bounds), [size.sub(&n).plus(-1)]);
        // It may be 0.
        let row = sum.mul(&size.sub(&n)).plus(-1);
        let rows = BTreeSet::from([sum.clone(), row]);
        assert_eq!(divided(&rows, &ranges, &bounds), []);
    }

    #[test]
    fn what_is_left_may_be_of_the_size_of_the_sum() {
        let [m, g, n, size] = [0, 1, 2, 3].map(Poly::unknown);
        let sum = m.sub(&g.scaled(8));
        let row = sum.mul(&size.sub(&n)).add(&sum).plus(-1);
        let rows = BTreeSet::from([sum.plus(-1), row]);
        let (ranges, bounds) = (Ranges::of(rows.iter()), Bounds::of(rows.iter()));
        assert_eq!(divided(&rows, &ranges, &bounds), [size.sub(&n)]);
    }
}
