//! Equalities without what is in them a part of others.
//!
//! Of `q + i = q' + i'`, `2 * q = d * (d + 1)` and `2 * q' = d * (d + 1)` no unknown stands
//! alone but those that the first one is about, and to replace one of these says nothing of
//! the halves. Twice the first one, without both halves, says that `i` is `i'`, and can be cut
//! into digits.

use std::collections::BTreeSet;

use super::super::algebra::poly::{Monomial, Poly, Unknown};
use super::system::System;

/// Most unknowns that one equality loses.
const MAX_LOST: usize = 4;

impl System {
    /// Has what comes of two equalities without such an unknown be 0 too, once. Whether there
    /// was any of which no linear test knows, since it has products.
    pub(in super::super) fn combine_equalities(&mut self) -> bool {
        if std::mem::replace(&mut self.is_combined, true) {
            return false;
        }
        let bounds: BTreeSet<&Poly> = self.at_least.iter().collect();
        let is_zero = |bound: &&&Poly| bounds.contains(&bound.negated());
        let zeros = self.facts.iter().chain(bounds.iter().filter(is_zero).copied());
        let parts_of = |zero: &Poly| {
            let with = |(of, factor)| (of, factor, zero.clone());
            multiples_alone(zero).into_iter().map(with).collect::<Vec<_>>()
        };
        let parts: Vec<(Unknown, i128, Poly)> = zeros.flat_map(parts_of).collect();
        let whole: Vec<Poly> = self.zeros().cloned().collect();
        let mut found: Vec<Poly> = Vec::new();
        for zero in whole {
            let mut rest = zero.clone();
            let mut lost = 0;
            for (unknown, factor, part) in &parts {
                let Some(own) = alone_in(&rest, *unknown) else { continue };
                if *part == zero || lost == MAX_LOST {
                    continue;
                }
                rest = rest.scaled(*factor).sub(&part.scaled(own));
                lost += 1;
            }
            let rest = rest.divided(rest.content().max(1));
            let is_new = !found.contains(&rest) && !found.contains(&rest.negated());
            if lost > 0 && is_new && !rest.is_linear() {
                found.push(rest);
            }
        }
        found.iter().for_each(|zero| self.assert_collision(zero, &Poly::default()));
        !found.is_empty()
    }
}

/// A multiple of `value`, by a number of 2 at least, without an unknown of which one of `zeros`
/// is a multiple; and that number.
pub(in super::super) fn multiplied_out(value: &Poly, zeros: &[Poly]) -> Option<(Poly, i128)> {
    zeros.iter().find_map(|zero| {
        let without = |(unknown, factor): (Unknown, i128)| {
            let own = alone_in(value, unknown)?;
            let whole = value.scaled(factor).sub(&zero.scaled(own));
            let whole = if factor < 0 { whole.negated() } else { whole };
            (!whole.is_lost()).then_some((whole, factor.abs()))
        };
        multiples_alone(zero).into_iter().find_map(without)
    })
}

/// The unknowns of which only multiples are in an equality, and the factors.
fn multiples_alone(zero: &Poly) -> Vec<(Unknown, i128)> {
    let of_term = |(product, factor): &(Monomial, i128)| match product.as_slice() {
        [unknown] if factor.abs() > 1 => alone_in(zero, *unknown).map(|own| (*unknown, own)),
        _ => None,
    };
    zero.terms().iter().filter_map(of_term).collect()
}

/// How often an unknown is in an equality, if it is in no product.
fn alone_in(zero: &Poly, unknown: Unknown) -> Option<i128> {
    let mut found = None;
    for (product, factor) in zero.terms() {
        match product.as_slice() {
            [only] if *only == unknown => found = Some(*factor),
            others if others.contains(&unknown) => return None,
            _ => {}
        }
    }
    found
}
