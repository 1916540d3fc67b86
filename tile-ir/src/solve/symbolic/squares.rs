//! Indices that grow faster than what they are made of: `i * i`, the rows of a
//! packed triangle at `i * (i + 1) / 2`.
//!
//! Of a value that is multiplied with itself, the copies of the two sides are
//! compared: they are equal, or one is larger, by a *gap* of at least 1. A gap is
//! a linear fact; what makes squares tractable is that its products with whatever
//! else is not negative are facts too: with the sum of both values it gives the
//! difference of their squares.

use std::collections::BTreeSet;

use super::instance::{Builder, Side};
use super::poly::{Poly, Unknown};
use super::symbol::Sharing;
use super::walk::Walk;

/// Values that are followed, of one kernel.
const MAX_VALUES: usize = 3;

impl Walk<'_> {
    /// Notes a value of work-items that is multiplied with itself, but for a number
    /// that is added.
    pub(super) fn note_square(&mut self, lhs: &Poly, rhs: &Poly) {
        let root = |side: &Poly| {
            let sum = side.plus(-side.constant_term());
            // Of one product nothing is left without what all have in common.
            let root = match sum.terms() {
                [(_, factor)] => sum.divided(factor.abs()),
                _ => sum.primitive(),
            };
            let rises = root.terms().iter().all(|(_, factor)| *factor > 0);
            if rises { root } else { root.negated() }
        };
        if lhs.is_lost() || rhs.is_lost() || self.squares.len() == MAX_VALUES {
            return;
        }
        let root_of_both = root(lhs);
        let is_of_launch = |unknown| {
            self.symbols.get(unknown).is_some_and(|symbol| symbol.sharing == Sharing::Launch)
        };
        if root_of_both == root(rhs)
            && !root_of_both.unknowns().all(is_of_launch)
            && self.is_natural(&root_of_both)
        {
            self.squares.insert(root_of_both);
        }
    }
}

impl Builder<'_> {
    /// Has the copies compared of each value whose square either side uses.
    pub(super) fn compare_squares(&mut self) {
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
