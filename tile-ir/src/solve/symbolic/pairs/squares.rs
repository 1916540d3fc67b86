//! Indices that grow faster than what they are made of: `i * i`, the rows of a
//! packed triangle at `i * (i + 1) / 2`.
//!
//! Of a value that is multiplied with itself, the copies of the two sides are
//! compared: they are equal, or one is larger, by a *gap* of at least 1. A gap is
//! a linear fact; what makes squares tractable is that its products with whatever
//! else is not negative are facts too: with the sum of both values it gives the
//! difference of their squares.
//!
//! Whatever an integer is, its product with itself or with the next one is not negative.

use std::collections::BTreeSet;

use super::super::algebra::poly::{Monomial, Poly, Unknown};
use super::super::algebra::symbol::Sharing;
use super::super::scans::prefix::single;
use super::super::search::system::System;
use super::super::walk::Walk;
use super::instance::{Builder, Side};

/// Values that are followed, of one kernel.
const MAX_VALUES: usize = 3;

/// Limits of a value that is compared.
const MAX_ROOMS: usize = 2;

impl Walk<'_> {
    /// Notes a value of work-items that is multiplied with itself, but for a number
    /// or a size that is added.
    pub(in super::super) fn note_square(&mut self, lhs: &Poly, rhs: &Poly) {
        if lhs.is_lost() || rhs.is_lost() {
            return;
        }
        if matches!(lhs.sub(rhs).as_constant(), Some(-1..=1)) {
            self.naturals.extend(Some(lhs.mul(rhs)).filter(|product| !product.is_lost()));
        }
        if self.squares.len() == MAX_VALUES {
            return;
        }
        let is_of_launch = |unknown| {
            self.symbols.get(unknown).is_some_and(|symbol| symbol.sharing == Sharing::Launch)
        };
        let whole = |side: &Poly| root(&side.plus(-side.constant_term()));
        let own = |side: &Poly| {
            let is_own =
                |(product, _): &&(Monomial, i128)| !product.iter().copied().all(is_of_launch);
            root(
                &side
                    .terms()
                    .iter()
                    .filter(is_own)
                    .fold(Poly::default(), |sum, (product, factor)| {
                        sum.add(&Poly::product(*product).scaled(*factor))
                    }),
            )
        };
        // Of `i * (2 * n - i - 1)` and `(n - i) * (n - i)` it is `i`.
        let roots = [[lhs, rhs].map(whole), [lhs, rhs].map(own)].into_iter();
        let mut common = roots.filter(|[left, right]| left == right).map(|[root, _]| root);
        self.squares.extend(
            common.find(|root| !root.unknowns().all(is_of_launch) && self.is_natural(root)),
        );
    }
}

/// A value that a sum is a multiple of, and that rises with what it is made of.
fn root(sum: &Poly) -> Poly {
    // Of one product nothing is left without what all have in common.
    let root = match sum.terms() {
        [(_, factor)] => sum.divided(factor.abs()),
        _ => sum.primitive(),
    };
    let rises = root.terms().iter().all(|(_, factor)| *factor > 0);
    if rises { root } else { root.negated() }
}

impl Builder<'_> {
    /// Has the copies compared of each value whose square either side uses.
    pub(in super::super) fn compare_squares(&mut self) {
        let walk = self.walk;
        let seen: BTreeSet<Unknown> = self.seen.iter().map(|(unknown, _)| *unknown).collect();
        for root in &walk.squares {
            if root.unknowns().all(|unknown| seen.contains(&unknown)) {
                let left = self.on(Side::First, root);
                let right = self.on(Side::Second, root);
                self.system.compare(left, right);
            }
        }
    }
}

impl System {
    /// Has two naturals compared.
    pub(in super::super) fn compare(&mut self, left: Poly, right: Poly) {
        if left != right && !left.is_lost() && !right.is_lost() {
            self.compared.push([left, right]);
        }
    }

    /// Whether naturals are left to be compared.
    pub(in super::super) fn is_to_compare(&self) -> bool {
        !self.compared.is_empty()
    }

    /// The cases of the next two naturals that are to be compared, and whose squares
    /// are in the system: the first one is larger, the second one is, they are equal.
    pub(in super::super) fn next_comparison(&mut self) -> Option<[Self; 3]> {
        let [left, right] = self.compared.pop()?;
        let own: BTreeSet<Unknown> = left.unknowns().chain(right.unknowns()).collect();
        let is_square = |product: &&Monomial| product.iter().all(|unknown| own.contains(unknown));
        let degree = left.terms().iter().map(|(product, _)| product.len()).max().unwrap_or(0);
        if !self.products().iter().filter(|product| product.len() > degree).any(is_square) {
            return self.next_comparison();
        }
        let larger = |pair: [&Poly; 2]| {
            let mut case = self.clone();
            let mut pair = pair.map(Poly::clone);
            for at in 0..2 {
                case.name(&mut pair, at);
            }
            let [one, other] = pair;
            let gap = one.sub(&other).plus(-1);
            case.assert_at_least(&gap);
            // Of `gap >= 0` and what is natural the product is natural too.
            let rooms = case.rooms_above(&one, &other);
            let own = (!rooms.is_empty()).then_some(&gap);
            for natural in rooms.iter().chain([&one, &other]).chain(own) {
                case.assert_at_least(&gap.mul(natural));
            }
            case
        };
        let mut equal = self.clone();
        equal.facts.push(left.sub(&right));
        equal.combine_equalities();
        Some([larger([&left, &right]), larger([&right, &left]), equal])
    }

    /// Has one of two values as an unknown of its own.
    fn name(&mut self, pair: &mut [Poly; 2], at: usize) {
        let value = pair[at].clone();
        let once = value.terms().iter().find_map(|(product, factor)| match product.as_slice() {
            [unknown] if *factor == 1 => {
                let uses = value.unknowns().filter(|other| other == unknown).count();
                (uses == 1).then_some(*unknown)
            }
            _ => None,
        });
        let (Some(unknown), Some(name)) = (once, self.unused()) else { return };
        if value.terms().len() > 1 {
            let rest = value.sub(&Poly::unknown(unknown));
            let replacement = Poly::unknown(name).sub(&rest);
            self.replace(unknown, &replacement);
            let with = |other: Unknown| (other == unknown).then(|| replacement.clone());
            *pair = pair.each_ref().map(|poly| poly.replace(&with));
        }
    }

    /// How far a value is from sizes that limit it, where a size multiplies it and the
    /// other value too.
    fn rooms_above(&self, value: &Poly, other: &Poly) -> Vec<Poly> {
        let Some(own) = single(value) else { return Vec::new() };
        let other = single(other);
        let products = self.products();
        let multiplies = |size: Unknown, value: Unknown| {
            products.iter().any(|product| has_both(product, value, size))
        };
        let is_limit = |row: &Poly| {
            row.unknowns().any(|size| {
                let is_theirs = other.is_none_or(|other| multiplies(size, other));
                size != own && multiplies(size, own) && is_theirs
            })
        };
        let above = |unknown: Unknown| self.at_least.iter().filter(move |row| ends(row, unknown));
        let direct = above(own).cloned();
        // Through what lies between the value and its limit.
        let steps = above(own).flat_map(|row| {
            let between = row.unknowns().filter(move |unknown| *unknown != own);
            between.flat_map(move |unknown| above(unknown).map(|further| row.add(further)))
        });
        let is_room = |row: &Poly| row.is_linear() && is_limit(row);
        let mut rooms: Vec<Poly> = direct.chain(steps).filter(is_room).collect();
        rooms.sort_by_key(|room| room.terms().len());
        rooms.dedup();
        rooms.truncate(MAX_ROOMS);
        rooms
    }
}

/// Whether two unknowns are among the factors of a product.
fn has_both(product: &Monomial, one: Unknown, other: Unknown) -> bool {
    product.contains(&one) && product.contains(&other)
}

/// Whether a row that is at least 0 says what an unknown is at most.
fn ends(row: &Poly, unknown: Unknown) -> bool {
    let is_end =
        |(product, factor): &(Monomial, i128)| *factor == -1 && product.as_slice() == [unknown];
    let uses = row.unknowns().filter(|other| *other == unknown).count();
    uses == 1 && row.terms().iter().any(is_end)
}
