//! What is a multiple of a number, whatever integers its unknowns are.
//!
//! `i * (i + 1) / 2` leaves no rest, of no `i`, nor does `i * (2 * n - i - 1) / 2`: so it
//! is the same however it is rounded, and whatever its sign.
//!
//! Modulo a prime `p`, `x^p` is `x` (Fermat), so each power is one below `p`; a polynomial
//! of which then nothing is left is a multiple of `p`. One of different primes is one of
//! their product.

use std::collections::BTreeMap;

use super::poly::{Monomial, Poly, Unknown};

/// The primes of which powers are reduced.
const PRIMES: [i128; 3] = [2, 3, 5];

/// `poly / divisor`, as a polynomial and a rest that is to be divided still; `None` where
/// it need not be a multiple. The rest has no factors below 0, nor any from `divisor` on.
pub(in super::super) fn multiple(poly: &Poly, divisor: i128) -> Option<(Poly, Poly)> {
    if poly.is_lost() || divisor < 2 {
        return None;
    }
    let (mut whole, mut rest) = (Poly::default(), Poly::default());
    for (product, factor) in poly.terms() {
        let term = Poly::product(*product);
        whole = whole.add(&term.scaled(factor.div_euclid(divisor)));
        rest = rest.add(&term.scaled(factor.rem_euclid(divisor)));
    }
    let is_one = rest.terms().is_empty() || is_multiple(&rest, divisor);
    (is_one && !whole.is_lost() && !rest.is_lost()).then_some((whole, rest))
}

/// Whether each prime of a number that has none twice divides a polynomial.
fn is_multiple(poly: &Poly, divisor: i128) -> bool {
    let mut left = divisor;
    for prime in PRIMES {
        if left % prime == 0 {
            left /= prime;
            if !is_multiple_of_prime(poly, prime) {
                return false;
            }
        }
    }
    left == 1
}

fn is_multiple_of_prime(poly: &Poly, prime: i128) -> bool {
    let mut sums: BTreeMap<Monomial, i128> = BTreeMap::new();
    for (product, factor) in poly.terms() {
        let sum = sums.entry(reduced(product, prime)).or_default();
        *sum = (*sum + factor.rem_euclid(prime)) % prime;
    }
    sums.values().all(|sum| *sum == 0)
}

/// The product modulo a prime: of each unknown, as many less as `prime - 1` goes into all
/// but one.
fn reduced(product: &Monomial, prime: i128) -> Monomial {
    let mut seen: BTreeMap<Unknown, i128> = BTreeMap::new();
    let powers = product.iter().fold(BTreeMap::new(), |mut powers: BTreeMap<_, i128>, unknown| {
        *powers.entry(*unknown).or_default() += 1;
        powers
    });
    product.filtered(|unknown| {
        let at = seen.entry(unknown).or_default();
        *at += 1;
        powers.get(&unknown).is_some_and(|power| *at <= (power - 1) % (prime - 1) + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x() -> Poly {
        Poly::unknown(0)
    }

    #[test]
    fn one_of_two_that_follow_is_even() {
        let next = x().mul(&x().plus(1));
        assert_eq!(multiple(&next, 2), Some((Poly::default(), next.clone())));
        let before = x().mul(&x().plus(-1));
        assert_eq!(multiple(&before, 2), Some((x().negated(), next)));
        assert_eq!(multiple(&x().mul(&x().plus(2)), 2), None);
        assert_eq!(multiple(&x().mul(&x().plus(1)), 4), None);
    }

    #[test]
    fn of_three_that_follow_one_is_a_multiple_of_three() {
        let three = x().mul(&x().plus(1)).mul(&x().plus(2));
        assert!(multiple(&three, 6).is_some());
        assert!(multiple(&three, 12).is_none());
        assert!(multiple(&x().mul(&x().plus(1)), 3).is_none());
    }

    #[test]
    fn of_two_unknowns() {
        // x * (2*y - x - 1)
        let row = x().mul(&Poly::unknown(1).scaled(2).sub(&x()).plus(-1));
        assert!(multiple(&row, 2).is_some());
        // x * (y - x - 1)
        assert!(multiple(&x().mul(&Poly::unknown(1).sub(&x()).plus(-1)), 2).is_none());
    }
}
