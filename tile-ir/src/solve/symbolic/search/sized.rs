//! What is positive by several bounds together.
//!
//! Rows of `B - 2*n` elements have at least one where `n <= x` and `x < B - n`, though no
//! bound says so alone. The linear test does, and then it is a bound like others; a sum
//! becomes an unknown of its own by that, so that products with it are products of two.

use std::collections::BTreeSet;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Monomial, Poly, Unknown};
use super::system::System;

/// Sums and unknowns of one system that are asked about.
const MAX_ASKED: usize = 8;

/// Differences of which products are asserted, where no equality has products.
const MAX_GAPS: usize = 4;

/// Terms of a bound that is multiplied.
const MAX_BOUND: usize = 4;

/// What has been asked about.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Asked {
    factors: Vec<Poly>,
    /// Whether this is the second time.
    is_again: bool,
}

impl Asked {
    fn has(&self, factor: &Poly) -> bool {
        self.factors.contains(factor) || self.factors.contains(&factor.negated())
    }
}

impl System {
    /// The same system, in which it is asked; `None` where nothing is multiplied.
    pub(in super::super) fn with_factors(&self) -> Option<Self> {
        let is_product = self.zeros().any(|zero| !zero.is_linear())
            || self.choices.iter().flatten().any(Formula::bounds_products);
        is_product.then(|| {
            let mut system = self.clone();
            system.asked = Some(Asked::default());
            system
        })
    }

    /// What equalities multiply unknowns with: unknowns that no bound shows to be natural,
    /// and sums; those that have not been asked about.
    pub(in super::super) fn unsized_factors(&self) -> Vec<Poly> {
        let Some(asked) = &self.asked else { return Vec::new() };
        let ranges = self.ranges();
        let is_natural = |unknown: &Unknown| ranges.low(*unknown).is_some_and(|low| low >= 0);
        let mut out: Vec<Poly> = Vec::new();
        for zero in self.zeros().filter(|zero| !zero.is_linear()) {
            for unknown in multiplied([zero].into_iter()) {
                let own = (!is_natural(&unknown)).then(|| Poly::unknown(unknown));
                let sum = Some(zero.cofactor(unknown).primitive());
                for factor in own.into_iter().chain(sum) {
                    let is_new = !out.contains(&factor) && !out.contains(&factor.negated());
                    let is_open = factor.is_linear() && !factor.terms().is_empty();
                    if is_new && is_open && factor.as_constant().is_none() && !asked.has(&factor) {
                        out.push(factor);
                    }
                }
            }
        }
        if self.zeros().all(Poly::is_linear) {
            // What equalities have replaced stands in bounds.
            let unknowns = multiplied(self.at_least.iter()).into_iter();
            let open = unknowns.filter(|unknown| !is_natural(unknown));
            out.extend(open.map(Poly::unknown).filter(|factor| !asked.has(factor)));
        }
        out.truncate(MAX_ASKED.saturating_sub(asked.factors.len()));
        out
    }

    /// Notes that a factor is asked about.
    pub(in super::super) fn note_asked(&mut self, factor: &Poly) {
        self.asked.iter_mut().for_each(|asked| asked.factors.push(factor.clone()));
    }

    /// Whether factors are to be asked about once more.
    pub(in super::super) fn ask_again(&mut self) -> bool {
        self.asked.as_mut().is_some_and(|asked| {
            asked.factors.clear();
            !std::mem::replace(&mut asked.is_again, true)
        })
    }

    /// Says of the products of differences that are known to be positive what follows from
    /// what is known by now of the others in them. Whether that is anything.
    pub(in super::super) fn multiply_decided(&mut self) -> bool {
        let before = self.at_least.len();
        if self.zeros().all(Poly::is_linear) {
            let is_gap = |row: &&Poly| {
                matches!(row.terms(), [(none, -1), (one, 1 | -1), (other, 1 | -1)]
                    if none.is_empty() && one.len() == 1 && other.len() == 1)
            };
            let gaps: Vec<Poly> = self.at_least.iter().filter(is_gap).cloned().collect();
            for gap in gaps.iter().take(MAX_GAPS) {
                *self = self.with_positive(&gap.plus(1));
            }
            self.multiply_bounds();
        }
        for split in self.splits() {
            for side in [split.negated(), split] {
                if self.at_least.contains(&side.plus(-1)) {
                    *self = self.with_positive(&side);
                }
            }
        }
        self.at_least.len() > before
    }

    /// The same system where a factor is not positive.
    pub(in super::super) fn without_positive(&self, factor: &Poly) -> Self {
        let mut case = self.clone();
        case.assert_at_least(&factor.negated());
        case
    }

    /// Takes a factor for positive, and for an unknown of its own.
    pub(in super::super) fn set_positive(&mut self, factor: &Poly) {
        self.assert_at_least(&factor.plus(-1));
        let once = factor.terms().iter().find_map(|(product, times)| match product.as_slice() {
            [unknown] if times.abs() == 1 => Some((*unknown, *times)),
            _ => None,
        });
        let is_sum = factor.terms().len() > 1;
        if let (true, Some((unknown, times)), Some(size)) = (is_sum, once, self.unused()) {
            self.name_factor(factor, (unknown, times), size);
        }
    }

    /// Multiplies bounds of what bounds multiply with a positive unknown, with that. Whether
    /// there was one.
    pub(in super::super) fn multiply_bounds(&mut self) -> bool {
        let ranges = self.ranges();
        let terms = self.at_least.iter().flat_map(|row| row.terms());
        let products: BTreeSet<Monomial> =
            terms.map(|(product, _)| *product).filter(|product| product.len() > 1).collect();
        let factors: BTreeSet<Unknown> =
            products.iter().flat_map(|product| product.iter().copied()).collect();
        let is_positive = |unknown: &&Unknown| ranges.low(**unknown).is_some_and(|low| low > 0);
        let mut out = Vec::new();
        for factor in factors.iter().filter(is_positive).take(MAX_GAPS) {
            let of = Poly::unknown(*factor);
            let is_multiplied = |product: &Monomial| {
                let whole = Poly::product(*product).mul(&of);
                whole.terms().iter().any(|(whole, _)| products.contains(whole))
            };
            let is_bound = |row: &&Poly| {
                row.terms().len() <= MAX_BOUND
                    && !row.mentions(*factor)
                    && row.terms().iter().any(|(own, _)| !own.is_empty() && is_multiplied(own))
            };
            let bounds = self.at_least.iter().filter(is_bound).map(|row| row.mul(&of));
            out.extend(bounds.filter(|bound| !bound.is_lost()));
        }
        out.iter().for_each(|bound| self.assert_at_least(bound));
        !out.is_empty()
    }

    /// Has `factor = size`, and replaces an unknown by what that makes of it.
    fn name_factor(&mut self, factor: &Poly, (unknown, times): (Unknown, i128), size: Unknown) {
        let rest = factor.sub(&Poly::unknown(unknown).scaled(times));
        let value = Poly::unknown(size).sub(&rest).scaled(times);
        if !value.is_lost() {
            self.replace(unknown, &value);
        }
    }
}

/// The unknowns that are multiplied with others in some of these.
fn multiplied<'a>(polys: impl Iterator<Item = &'a Poly>) -> BTreeSet<Unknown> {
    let products = polys.flat_map(Poly::terms).filter(|(product, _)| product.len() > 1);
    products.flat_map(|(product, _)| product.iter().copied()).collect()
}
