//! Shares of a length that are cut where quotients say.
//!
//! `t * N / B..(t + 1) * N / B` are `B` pieces of `N`, each of which begins where the one
//! before it ends. No inequality of products says so, but dividing by one number keeps the
//! order: of two dividends whose difference is `m * c`, the signs of `m` and `c` tell which
//! quotient is no less than the other. And a share is no more than the whole: `m * c / B` of
//! `c` up to `B` is at most `m`.

use super::super::algebra::formula::Formula;
use super::super::algebra::monomial::Monomial;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::terms::value::Function;
use super::super::walk::Walk;
use super::instance::{Builder, Side};

/// Most quotients of a side that are compared.
const MAX_QUOTIENTS: usize = 3;

/// A quotient, as one side sees it.
struct Share {
    /// How it is rounded.
    function: Function,
    dividend: Poly,
    divisor: Poly,
    quotient: Poly,
}

impl Walk<'_> {
    /// What the quotient of naturals is at most, where the dividend is a share of it.
    pub(in super::super) fn whole_of(&self, dividend: &Poly, divisor: &Poly) -> Option<Poly> {
        if divisor.as_constant().is_some() {
            return None;
        }
        common(dividend).into_iter().find_map(|unknown| {
            let whole = Poly::unknown(unknown);
            let part = without(dividend, &[unknown])?;
            let is_share = part.as_constant().is_none()
                && self.symbols.low(&whole).is_some_and(|low| low >= 0)
                && self.is_never(&Formula::lt(divisor, &part));
            is_share.then_some(whole)
        })
    }
}

impl Builder<'_> {
    /// Adds in which order quotients of both sides by one divisor are.
    pub(in super::super) fn order_shares(&mut self) {
        let [first, second] = [Side::First, Side::Second].map(|side| self.shares(side));
        for one in &first {
            let is_alike =
                |other: &&Share| (other.function, &other.divisor) == (one.function, &one.divisor);
            for other in second.iter().filter(is_alike) {
                self.order(one, other);
            }
        }
    }

    fn order(&mut self, one: &Share, other: &Share) {
        let difference = one.dividend.sub(&other.dividend);
        let common = common(&difference);
        let Some(cofactor) = without(&difference, &common).filter(|_| !common.is_empty()) else {
            return;
        };
        let signed: Vec<Unknown> =
            common.iter().copied().filter(|unknown| !self.is_natural_copy(*unknown)).collect();
        // The sign of what all have in common is that of one unknown, or it is not negative.
        let sign = match signed.as_slice() {
            [] => Poly::constant(1),
            [unknown] => Poly::unknown(*unknown),
            _ => return,
        };
        let zero = Poly::default();
        let (is_above, is_below) = (Formula::lt(&zero, &sign), Formula::lt(&sign, &zero));
        let (is_more, is_less) = (Formula::lt(&zero, &cofactor), Formula::lt(&cofactor, &zero));
        let no_more = Formula::le(&one.quotient, &other.quotient);
        let no_less = Formula::le(&other.quotient, &one.quotient);
        for (turned, more, less) in
            [(&is_below, &is_more, &is_less), (&is_above, &is_less, &is_more)]
        {
            self.system.assert(&turned.clone().or(more.clone()).or(no_more.clone()));
            self.system.assert(&turned.clone().or(less.clone()).or(no_less.clone()));
        }
    }

    /// The quotients that a side mentions whose dividends are multiples of something that
    /// is no number.
    fn shares(&mut self, side: Side) -> Vec<Share> {
        let walk = self.walk;
        let is_share = |lhs: &Poly, rhs: &Poly| {
            rhs.as_constant().is_none()
                && walk.symbols.low(rhs).is_some_and(|low| low >= 0)
                && !common(lhs).is_empty()
        };
        let mut shares = Vec::new();
        for ((function, lhs, rhs), symbol) in &walk.functions {
            let is_quotient = matches!(function, Function::Quotient | Function::Floor);
            if is_quotient && self.seen.contains(&(*symbol, side)) && is_share(lhs, rhs) {
                let [dividend, divisor, quotient] =
                    [lhs, rhs, &Poly::unknown(*symbol)].map(|part| self.on(side, part));
                shares.push(Share { function: *function, dividend, divisor, quotient });
            }
        }
        shares.truncate(MAX_QUOTIENTS);
        shares
    }
}

/// The unknowns that all products have in common, each as often as it is in all.
fn common(poly: &Poly) -> Vec<Unknown> {
    let mut products = poly.terms().iter().map(|(product, _)| product);
    let Some(first) = products.next() else { return Vec::new() };
    products.fold(first.as_slice().to_vec(), |common, product| shared(&common, product))
}

fn shared(unknowns: &[Unknown], product: &Monomial) -> Vec<Unknown> {
    let mut rest: Vec<Unknown> = product.as_slice().to_vec();
    let mut shared = Vec::new();
    for unknown in unknowns {
        if let Some(at) = rest.iter().position(|other| other == unknown) {
            shared.push(rest.remove(at));
        }
    }
    shared
}

/// `poly` divided by unknowns that all of its products have.
fn without(poly: &Poly, unknowns: &[Unknown]) -> Option<Poly> {
    let mut out = Poly::default();
    for (product, factor) in poly.terms() {
        let mut rest = *product;
        for unknown in unknowns {
            let at = rest.iter().position(|other| other == unknown)?;
            rest.remove(at);
        }
        out = out.add(&Poly::product(rest).scaled(*factor));
    }
    (!out.is_lost()).then_some(out)
}
