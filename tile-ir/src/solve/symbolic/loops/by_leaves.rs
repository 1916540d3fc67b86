//! Limits that an iteration keeps on each way through it.
//!
//! `if left_a { if left_b { if x < y { a += 1; } else { b += 1; } } else { a += 1; } } else { … }`
//! leaves in `a` a choice of a choice of a choice, of which a single question goes through all
//! conditions anew in each case. What the variable is at the end of a way through them is one of
//! the arms in which the choices end, and the conditions on the way to that arm hold there. So a
//! limit that each arm keeps under its conditions is kept.
//!
//! # What it rests on
//!
//! - A choice is its one arm where its condition holds, and the other where that does not: one of
//!   the two is so. A part of a condition that is not known may hold in either.
//! - Each arm is looked at, or none: of a value of more arms than are asked about nothing is said.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::walk::Walk;
use super::bounded::Tried;

/// Most arms of a value.
const MAX_LEAVES: usize = 16;

impl Walk<'_> {
    /// Whether it is seen that `broken` holds of none of the arms of a value at the end of an
    /// iteration; `false` of a value that is no choice.
    pub(super) fn is_seldom_in_each(
        &self,
        tried: &Tried,
        value: &Poly,
        broken: &dyn Fn(&Poly) -> Formula,
    ) -> bool {
        let Some(leaves) = self.cases(value, MAX_LEAVES) else { return false };
        leaves.len() > 1
            && leaves
                .iter()
                .all(|leaf| self.is_seldom_in(tried, leaf.holds().and(broken(&leaf.value))))
    }
}
