//! Multiples of a common odd number, modulo a power of two.
//!
//! `t * k & 63` is another place for each `t` below 64 if `k` is odd, whatever it is: modulo
//! a power of two an odd factor can be undone. So of an index `k * n + 64 * x` with a common
//! `k` that is odd, both sides have one place only where their `n` leave the same of 64, and
//! where these lie below 64, only where they are equal.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown, gcd};
use super::super::pairs::instance::Builder;
use super::super::walk::{Site, Walk};
use super::value::Function;

impl Walk<'_> {
    /// The unknown that decides an index of both by a common odd factor, each value of which
    /// has its own place.
    pub(in super::super) fn odd_multiple(
        &self,
        hands: &Builder<'_>,
        sites: [&Site; 2],
        axis: usize,
    ) -> Option<Poly> {
        let index = &sites[0].indices[axis];
        let products = index.terms().iter().filter(|(product, _)| product.len() > 1);
        let mut tried: Vec<Unknown> = products.flat_map(|(product, _)| product.to_vec()).collect();
        tried.sort_unstable();
        tried.dedup();
        let mut tried = tried.into_iter().filter(|unknown| !hands.is_shared(*unknown));
        let made = self.is_made(sites[0]);
        let found = tried.find(|unknown| {
            let Some((times, modulus)) = self.multiple_of(hands, index, *unknown) else {
                return false;
            };
            let end = || self.end_for_both(&Poly::unknown(*unknown), sites, axis);
            self.is_odd_where(&made, &times) && end().is_some_and(|end| end <= modulus)
        });
        found.map(Poly::unknown)
    }

    /// How often `number` is in an index, if both sides have that in common, and a power of
    /// two of which the rest is a multiple, but what they have in common.
    fn multiple_of(
        &self,
        hands: &Builder<'_>,
        index: &Poly,
        number: Unknown,
    ) -> Option<(Poly, i128)> {
        let is_shared = |unknown: &Unknown| hands.is_shared(*unknown);
        let mut times = Poly::default();
        let mut modulus = 0;
        for (product, factor) in index.terms() {
            if product.iter().all(is_shared) {
                continue;
            }
            let others: Vec<Unknown> = product.iter().copied().filter(|of| *of != number).collect();
            if others.len() + 1 == product.len() && others.iter().all(is_shared) {
                let of = |times: Poly, unknown: &Unknown| times.mul(&Poly::unknown(*unknown));
                times = times.add(&others.iter().fold(Poly::constant(*factor), of));
            } else {
                modulus = gcd(modulus, *factor);
            }
        }
        let power = 1 << modulus.trailing_zeros().min(126);
        (modulus != 0 && !index.is_lost()).then_some((times, power))
    }

    /// Whether a value is odd, at all sizes, where `made` holds.
    fn is_odd_where(&self, made: &Formula, value: &Poly) -> bool {
        if value.is_lost() {
            return false;
        }
        let odd = value.terms().iter().filter(|(_, factor)| factor % 2 != 0);
        let rest =
            odd.fold(Poly::default(), |rest, (product, _)| rest.add(&Poly::product(*product)));
        if let Some(rest) = rest.as_constant() {
            return rest % 2 != 0;
        }
        let half = (Function::Quotient, rest.clone(), Poly::constant(2));
        self.functions.get(&half).is_some_and(|half| {
            let is_even = Formula::Zero(rest.sub(&Poly::unknown(*half).scaled(2)));
            self.is_never(&made.clone().and(is_even))
        })
    }
}
