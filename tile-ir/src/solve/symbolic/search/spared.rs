//! Equalities by which a factor would be replaced, though something else may be.
//!
//! Where `s[t + gap]` meets `s[u]`, `u = t + gap`. Of `t / gap` and `u / gap` it is known what
//! `gap` times the quotients are. With `u - t` put in for `gap` these become products of sums, in
//! which nobody sees digits any more; with `t + gap` put in for `u` they stay what they are, and
//! a distance `number + 1` becomes a size of its own. Either is a change of unknowns, and each
//! solution is one of the other system.

use std::collections::BTreeSet;

use super::super::algebra::poly::{Poly, Unknown};
use super::system::System;

impl System {
    /// The same system, in which an unknown that nothing multiplies is replaced by what an
    /// equality says of it, rather than a factor; `None` where there is no such equality.
    pub(super) fn with_spared_factor(&self) -> Option<Self> {
        let factors = self.factors();
        let linear = self.zeros().filter(|zero| zero.is_linear());
        let (place, factor) = linear.filter_map(|zero| spared(zero, &factors)).next()?;
        let mut system = self.clone();
        let times = place.value.cofactor(factor).constant_term();
        let beyond = times * place.value.constant_term();
        system.replace(place.unknown, &place.value);
        if let (Some(size), true) = (system.unused(), beyond > 0) {
            system.replace(factor, &Poly::unknown(size).plus(-beyond));
        }
        Some(system)
    }

    /// The unknowns that are multiplied with others in constraints that are no choices.
    fn factors(&self) -> BTreeSet<Unknown> {
        let terms = self.zeros().chain(self.at_least.iter()).flat_map(Poly::terms);
        let products = terms.filter(|(product, _)| product.len() > 1);
        products.flat_map(|(product, _)| product.iter().copied()).collect()
    }
}

/// What replaces an unknown.
struct Definition {
    unknown: Unknown,
    value: Poly,
}

/// What a linear equality says of an unknown that is no factor, if it has a factor too that it
/// says something of, and that factor: it stands in the value once.
fn spared(zero: &Poly, factors: &BTreeSet<Unknown>) -> Option<(Definition, Unknown)> {
    let single = |is_factor: bool| {
        zero.terms().iter().find_map(|(product, times)| match product.as_slice() {
            [unknown] if times.abs() == 1 && factors.contains(unknown) == is_factor => {
                Some((*unknown, *times))
            }
            _ => None,
        })
    };
    let ((factor, _), (unknown, times)) = (single(true)?, single(false)?);
    let rest = zero.sub(&Poly::unknown(unknown).scaled(times));
    let value = rest.scaled(-times);
    (!value.is_lost()).then_some((Definition { unknown, value }, factor))
}
