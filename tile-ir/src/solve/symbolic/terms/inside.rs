//! Indices of 32 bits, inside of what they index.
//!
//! `let lo = i / h * 2 * h + i % h;` may wrap: far beyond what there is to access. Where
//! an access to a tensor is made, its indices are inside; so if a number that has wrapped
//! never is, the index is what it is without wrapping. Of tiles it is asked whether they
//! are inside.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::walk::{Site, Walk};
use crate::kernel::ArrayRef;

impl Walk<'_> {
    /// Takes for exact what has not wrapped where an access is made.
    pub(in super::super) fn exact_inside(&self, site: &mut Site) {
        if matches!(site.array, ArrayRef::Tile(_)) {
            return;
        }
        for turns in self.turns_in(&site.indices) {
            let of_turns = Poly::unknown(turns);
            let [some, none] =
                [Formula::ne, Formula::eq].map(|relation| relation(&of_turns, &Poly::default()));
            if self.is_never(&self.is_made(site).and(some)) {
                site.guards.push(none);
                for index in &mut site.indices {
                    *index = without(index, turns);
                }
            }
        }
    }

    /// What says in indices how often something has left the range of its type.
    fn turns_in(&self, indices: &[Poly]) -> Vec<Unknown> {
        let of = indices.iter().flat_map(|index| index.terms());
        let mut turns: Vec<Unknown> = of
            .filter_map(|(product, _)| match product.as_slice() {
                [unknown] if self.is_turns(*unknown) => Some(*unknown),
                _ => None,
            })
            .collect();
        turns.dedup();
        turns
    }
}

/// `value` where `none` is 0.
pub(in super::super) fn without(value: &Poly, none: Unknown) -> Poly {
    let terms = value.terms().iter().filter(|(product, _)| product.as_slice() == [none]);
    terms.fold(value.clone(), |rest, (_, factor)| rest.sub(&Poly::unknown(none).scaled(*factor)))
}
