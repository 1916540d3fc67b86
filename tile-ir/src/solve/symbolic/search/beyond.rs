//! Sizes of which only how far they are beyond another one is multiplied.
//!
//! A filter of `k` columns fits into a row of `w` at `w - k + 1` places. Where pictures are laid
//! out by that, and not by `w`, products of such sums have many terms, in which nobody sees digits
//! any more. With `w = places + k - 1` put in, they are products of `places` again. It is a change
//! of unknowns: that there is at least one place is what bounds say of `w`, and each other number
//! of places has its `w`.

use std::collections::BTreeSet;

use super::super::algebra::poly::{Poly, Unknown};
use super::system::System;

/// Terms of equalities with products below which they are as short as they need to be.
const MIN_TERMS: usize = 12;

/// Differences that are tried.
const MAX_TRIED: usize = 8;

impl System {
    /// Counts a size from another one, if equalities are shorter then. Whether there is such a
    /// one.
    pub(in super::super) fn count_from_another(&mut self) -> bool {
        let products: Vec<&Poly> = self.zeros().filter(|zero| !zero.is_linear()).collect();
        let before = n_terms(&products);
        if before < MIN_TERMS {
            return false;
        }
        let multiplied: BTreeSet<Unknown> = products
            .iter()
            .flat_map(|zero| zero.terms())
            .filter(|(product, _)| product.len() > 1)
            .flat_map(|(product, _)| product.iter().copied())
            .collect();
        let differences = self.at_least.iter().filter_map(difference);
        let mut tried = differences
            .filter(|(pair, _)| pair.iter().all(|unknown| multiplied.contains(unknown)))
            .take(MAX_TRIED);
        let found = tried.find(|([size, _], value)| {
            let with = |unknown| (unknown == *size).then(|| value.clone());
            let after: Vec<Poly> = products.iter().map(|zero| zero.replace(&with)).collect();
            !after.iter().any(Poly::is_lost) && n_terms(&after.iter().collect::<Vec<_>>()) < before
        });
        self.work += before;
        let Some(([size, _], value)) = found else { return false };
        self.replace(size, &value);
        true
    }
}

fn n_terms(polys: &[&Poly]) -> usize {
    polys.iter().map(|poly| poly.terms().len()).sum()
}

/// The unknowns of which the first is no less than the second and a number, where `row` is at
/// least 0; and what the first is when it stands for how far it is beyond that, from 1.
fn difference(row: &Poly) -> Option<([Unknown; 2], Poly)> {
    let mut unknowns = row.terms().iter().filter(|(product, _)| !product.is_empty());
    let (one, other) = (unknowns.next()?, unknowns.next()?);
    let (size, other) = match ((one.0.as_slice(), one.1), (other.0.as_slice(), other.1)) {
        (([one], 1), ([other], -1)) | (([other], -1), ([one], 1)) => (*one, *other),
        _ => return None,
    };
    if unknowns.next().is_some() {
        return None;
    }
    // beyond = row + 1, and row = size - other + number.
    let number = row.constant_term();
    let value = Poly::unknown(size).add(&Poly::unknown(other)).plus(-1 - number);
    (!value.is_lost()).then_some(([size, other], value))
}
