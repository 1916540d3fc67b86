//! Polynomials with integer coefficients over numbered unknowns.
//!
//! Arithmetic that would leave 128 bits, or grow past any index that people
//! write, gives a *lost* polynomial: one of which nothing is known. A constraint
//! on a lost polynomial says nothing and may be dropped, which only ever makes a
//! proof fail. So does what would reach the least number of 128 bits: every factor can
//! be negated.

use std::cmp::Ordering;

pub(in super::super) use super::monomial::{Monomial, Unknown};
use super::wide::times;
pub(in super::super) use crate::kernel::gcd;

/// Sums of more products than this are lost.
const MAX_TERMS: usize = 96;

/// A sum of products of unknowns, each with its factor, or a lost value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Poly {
    /// By product, rising, its factor, not 0.
    terms: Vec<(Monomial, i128)>,
    lost: bool,
}

/// A factor that can be negated.
fn within(factor: Option<i128>) -> Option<i128> {
    factor.filter(|factor| *factor != i128::MIN)
}

fn product_of(one: i128, other: i128) -> Option<i128> {
    within(times(one, other))
}

fn sum_of(one: i128, other: i128) -> Option<i128> {
    within(one.checked_add(other))
}

impl Poly {
    pub(in super::super) fn constant(value: i128) -> Self {
        match value {
            0 => Self::default(),
            i128::MIN => Self::lost(),
            _ => Self { terms: vec![(Monomial::default(), value)], lost: false },
        }
    }

    pub(in super::super) fn unknown(unknown: Unknown) -> Self {
        Self { terms: vec![(Monomial::unknown(unknown), 1)], lost: false }
    }

    pub(in super::super) fn product(monomial: Monomial) -> Self {
        Self { terms: vec![(monomial, 1)], lost: false }
    }

    pub(in super::super) fn lost() -> Self {
        Self { terms: Vec::new(), lost: true }
    }

    /// Whether nothing is known of it.
    pub(in super::super) fn is_lost(&self) -> bool {
        self.lost
    }

    /// By product, rising, its factor; none is 0.
    pub(in super::super) fn terms(&self) -> &[(Monomial, i128)] {
        &self.terms
    }

    pub(in super::super) fn as_constant(&self) -> Option<i128> {
        match self.terms.as_slice() {
            _ if self.lost => None,
            [] => Some(0),
            [(product, factor)] if product.is_empty() => Some(*factor),
            _ => None,
        }
    }

    /// What is added to the products.
    pub(in super::super) fn constant_term(&self) -> i128 {
        match self.terms.first() {
            Some((product, factor)) if product.is_empty() => *factor,
            Some(_) | None => 0,
        }
    }

    /// Whether no product has two unknowns.
    pub(in super::super) fn is_linear(&self) -> bool {
        !self.lost && self.terms.iter().all(|(product, _)| product.len() <= 1)
    }

    /// The unknowns in it, with repetitions.
    pub(in super::super) fn unknowns(&self) -> impl Iterator<Item = Unknown> {
        self.terms.iter().flat_map(|(product, _)| product.iter().copied())
    }

    pub(in super::super) fn mentions(&self, unknown: Unknown) -> bool {
        for (product, _) in &self.terms {
            for other in product.as_slice() {
                if *other == unknown {
                    return true;
                }
            }
        }
        false
    }

    /// The unknown that this is, alone.
    fn as_unknown(&self) -> Option<Unknown> {
        match self.terms.as_slice() {
            [(product, 1)] => match product.as_slice() {
                [unknown] => Some(*unknown),
                _ => None,
            },
            _ => None,
        }
    }

    pub(in super::super) fn add(&self, other: &Self) -> Self {
        self.combined(other, 1)
    }

    pub(in super::super) fn sub(&self, other: &Self) -> Self {
        self.combined(other, -1)
    }

    pub(in super::super) fn plus(&self, value: i128) -> Self {
        self.add(&Self::constant(value))
    }

    pub(in super::super) fn negated(&self) -> Self {
        self.scaled(-1)
    }

    pub(in super::super) fn scaled(&self, by: i128) -> Self {
        if by == 0 || self.lost {
            return Self { terms: Vec::new(), lost: self.lost };
        }
        let mut scaled = self.clone();
        for (_, factor) in &mut scaled.terms {
            match product_of(*factor, by) {
                Some(product) => *factor = product,
                None => return Self::lost(),
            }
        }
        scaled
    }

    /// By a number that divides all factors.
    pub(in super::super) fn divided(&self, by: i128) -> Self {
        let terms = self.terms.iter().map(|(product, factor)| (*product, factor / by));
        Self { terms: terms.collect(), lost: self.lost }
    }

    /// `self + factor * other`, both sorted.
    fn combined(&self, other: &Self, factor: i128) -> Self {
        if self.lost || other.lost {
            return Self::lost();
        }
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let mut left = self.terms.as_slice();
        for (theirs, value) in &other.terms {
            let Some(mut sum) = product_of(*value, factor) else { return Self::lost() };
            while let [(mine, own), after @ ..] = left {
                match mine.cmp(theirs) {
                    Ordering::Less => terms.push((*mine, *own)),
                    Ordering::Equal => {
                        let Some(both) = sum_of(sum, *own) else { return Self::lost() };
                        sum = both;
                    }
                    Ordering::Greater => break,
                }
                left = after;
            }
            if sum != 0 {
                terms.push((*theirs, sum));
            }
        }
        terms.extend_from_slice(left);
        if terms.len() > MAX_TERMS {
            return Self::lost();
        }
        Self { terms, lost: false }
    }

    pub(in super::super) fn mul(&self, other: &Self) -> Self {
        if self.lost || other.lost {
            return Self::lost();
        }
        let mut products: Vec<(Monomial, i128)> =
            Vec::with_capacity(self.terms.len() * other.terms.len());
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                match left.times(right).zip(product_of(*a, *b)) {
                    Some(term) => products.push(term),
                    None => return Self::lost(),
                }
            }
        }
        Self::of_products(products)
    }

    /// Multiplied by one product.
    pub(in super::super) fn times(&self, by: &Monomial, factor: i128) -> Self {
        if self.lost || by.is_empty() {
            return self.scaled(factor);
        }
        let mut products = Vec::with_capacity(self.terms.len());
        for (product, own) in &self.terms {
            match product.times(by).zip(product_of(*own, factor)) {
                Some(term) => products.push(term),
                None => return Self::lost(),
            }
        }
        Self::of_products(products)
    }

    /// All terms but the one at a position.
    pub(in super::super) fn without_term(&self, at: usize) -> Self {
        let mut terms = Vec::with_capacity(self.terms.len());
        terms.extend_from_slice(&self.terms[..at]);
        terms.extend_from_slice(&self.terms[at + 1..]);
        Self { terms, lost: self.lost }
    }

    /// The sum of products, in any order.
    pub(in super::super) fn of_products(mut products: Vec<(Monomial, i128)>) -> Self {
        if !is_rising(&products) {
            products.sort_unstable_by_key(|(product, _)| *product);
        }
        let mut terms: Vec<(Monomial, i128)> = Vec::with_capacity(products.len());
        for (product, factor) in products {
            match terms.last_mut() {
                Some((last, sum)) if *last == product => match sum_of(*sum, factor) {
                    Some(both) => *sum = both,
                    None => return Self::lost(),
                },
                Some(_) | None => terms.push((product, factor)),
            }
        }
        terms.retain(|(_, factor)| *factor != 0);
        if terms.len() > MAX_TERMS {
            return Self::lost();
        }
        Self { terms, lost: false }
    }

    /// Replaces the unknowns for which `with` gives a value.
    pub(in super::super) fn replace(&self, with: &dyn Fn(Unknown) -> Option<Poly>) -> Self {
        if self.lost {
            return Self::lost();
        }
        let mut kept = Vec::with_capacity(self.terms.len());
        let mut out = Self::default();
        for (product, factor) in &self.terms {
            let (mut rest, mut values) = (Monomial::default(), Vec::new());
            for unknown in product.as_slice() {
                let value = with(*unknown);
                let renamed = value.as_ref().map_or(Some(*unknown), Self::as_unknown);
                match (renamed, value) {
                    // There is room: it had as many.
                    (Some(other), _) => rest.insert(other).unwrap_or_default(),
                    (None, value) => values.extend(value),
                }
            }
            if values.is_empty() {
                kept.push((rest, *factor));
                continue;
            }
            let rest = Self { terms: vec![(rest, *factor)], lost: false };
            out = out.add(&values.iter().fold(rest, |term, value| term.mul(value)));
        }
        let kept = Self::of_products(kept);
        if out.terms.is_empty() && !out.lost { kept } else { kept.add(&out) }
    }

    /// What `unknown` is multiplied with: `C` of `C * unknown + rest`, one power
    /// of it taken out of each product that has it.
    pub(in super::super) fn cofactor(&self, unknown: Unknown) -> Self {
        let mut out = Self::default();
        for (product, factor) in &self.terms {
            if let Some(at) = product.iter().position(|other| *other == unknown) {
                let mut rest = *product;
                rest.remove(at);
                out = out.add(&Self::product(rest).scaled(*factor));
            }
        }
        out
    }

    /// The greatest common divisor of the factors of products with unknowns; 0
    /// where there are none.
    pub(in super::super) fn content(&self) -> i128 {
        let products = self.terms.iter().filter(|(product, _)| !product.is_empty());
        products.fold(0, |g, (_, factor)| gcd(g, *factor))
    }

    /// Without the number and the unknowns that all products have in common.
    pub(in super::super) fn primitive(&self) -> Self {
        let Some((first, _)) = self.terms.first() else { return self.clone() };
        let divisor = self.terms.iter().fold(0, |g, (_, factor)| gcd(g, *factor)).max(1);
        let mut common = *first;
        for (product, _) in &self.terms {
            common = intersection(&common, product);
        }
        let terms = self.terms.iter().map(|(product, factor)| {
            let mut rest = *product;
            for unknown in common.iter() {
                if let Ok(at) = rest.binary_search(unknown) {
                    rest.remove(at);
                }
            }
            (rest, factor / divisor)
        });
        let mut terms: Vec<_> = terms.collect();
        terms.sort_unstable();
        Self { terms, lost: self.lost }
    }
}

/// Whether each product is larger than the one before.
fn is_rising(products: &[(Monomial, i128)]) -> bool {
    let mut before: Option<&Monomial> = None;
    for (product, _) in products {
        if before.is_some_and(|before| before >= product) {
            return false;
        }
        before = Some(product);
    }
    true
}

/// What two products have in common.
pub(in super::super) fn intersection(left: &Monomial, right: &Monomial) -> Monomial {
    let mut rest = *right;
    left.filtered(|unknown| match rest.binary_search(&unknown) {
        Ok(at) => rest.remove(at) == unknown,
        Err(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x() -> Poly {
        Poly::unknown(0)
    }

    fn y() -> Poly {
        Poly::unknown(1)
    }

    #[test]
    fn sums_and_products_cancel() {
        let square = x().add(&y()).mul(&x().sub(&y()));
        assert_eq!(square, x().mul(&x()).sub(&y().mul(&y())));
        assert_eq!(square.sub(&square).as_constant(), Some(0));
    }

    #[test]
    fn every_factor_can_be_negated() {
        let half = x().scaled(-(1 << 126));
        assert!(!half.is_lost() && half.add(&half).is_lost() && half.scaled(2).is_lost());
        assert!(half.mul(&Poly::constant(2)).is_lost() && Poly::constant(i128::MIN).is_lost());
    }

    #[test]
    fn replacing_multiplies_out() {
        let value = x().mul(&y()).replace(&|u| (u == 0).then(|| y().plus(1)));
        assert_eq!(value, y().mul(&y()).add(&y()));
    }

    #[test]
    fn cofactors_and_contents() {
        let poly = x().mul(&y()).scaled(6).add(&y().scaled(4)).plus(3);
        assert_eq!(poly.cofactor(1), x().scaled(6).plus(4));
        assert_eq!(poly.content(), 2);
        let common = x().mul(&y()).mul(&y()).scaled(6).sub(&x().mul(&y()).scaled(4));
        assert_eq!(common.primitive(), y().scaled(3).plus(-2));
    }

    #[test]
    fn overflow_is_lost() {
        let huge = Poly::constant(i128::MAX);
        assert!(huge.plus(1).is_lost());
        assert!(huge.mul(&huge).is_lost());
        assert!(huge.mul(&huge).add(&x()).is_lost());
        assert_eq!(huge.plus(1).as_constant(), None);
    }
}
