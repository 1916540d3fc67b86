//! Accesses that are disjoint by the bits of their indices.
//!
//! Where an index puts the bits of numbers elsewhere, or adds them modulo 2, two that are
//! equal come of numbers that are equal ([`super::super::terms::scattered`]): the numbers are
//! asked for in place of the index, of which arithmetic knows much and needs nothing. What
//! both sides share, as a scalar's bits in `i ^ (i >> 1) ^ k`, they have in common anyway.
//!
//! Where one index is a number `i` and the other one its bits in another order, that is undone
//! by being done twice, as a reversal is, then of `r(i) = j` comes `i = r(j)`: of those that
//! exchange `a[i]` and `a[r(i)]` where `i < r(i)`, no two have one element.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::scans::prefix::single;
use super::super::terms::inside::without;
use super::super::terms::scattered::{Scattered, equal_by_bits};
use super::super::walk::{Site, Walk};
use super::instance::{Meeting, Side};

/// Of how many parts of a kernel's effort a pair of accesses takes one at most.
const PART: u64 = 32;

impl Walk<'_> {
    /// Whether two accesses are disjoint by the bits of their indices.
    pub(in super::super) fn is_disjoint_by_bits(
        &self,
        sites: [&Site; 2],
        meeting: Meeting<'_>,
    ) -> bool {
        let bits = sites.map(|site| self.bits_of_indices(site));
        if bits.iter().flatten().all(Option::is_none) {
            return false;
        }
        let Some(mut builder) = self.hands(sites, meeting) else { return true };
        let is_shared = |of: &Poly| of.unknowns().all(|unknown| builder.is_shared(unknown));
        let mut equal: Vec<[Poly; 2]> = Vec::new();
        let (mut is_found, mut is_undone) = (false, false);
        for (axis, both) in bits[0].iter().zip(&bits[1]).enumerate() {
            let numbers = equal_by_bits([*both.0, *both.1], &is_shared);
            let pair = sites.map(|site| site.indices[axis].clone());
            let undone = undone([*both.0, *both.1], &pair);
            is_found |= !numbers.is_empty() || undone.is_some();
            is_undone |= undone.is_some();
            if numbers.is_empty() {
                equal.push(pair);
            }
            equal.extend(undone);
            equal.extend(numbers.into_iter().map(|of| [of.clone(), of]));
        }
        is_found && {
            let own = |at: usize| match is_undone {
                true => sites[at].clone(),
                false => self.with_own_guards(&Site {
                    indices: equal.iter().map(|pair| pair[at].clone()).collect(),
                    ..sites[at].clone()
                }),
            };
            equal.iter().for_each(|[left, right]| builder.assert_equal(left, right));
            for (at, side) in [Side::First, Side::Second].into_iter().enumerate() {
                own(at).guards.iter().for_each(|guard| {
                    builder.assert(side, guard);
                    builder.assert(side, &self.least_of(guard));
                });
            }
            if builder.system.is_empty_of_fractions(&self.effort) {
                return true;
            }
            let systems = builder.systems();
            self.effort.within_part(PART, || {
                systems.iter().all(|system| system.has_no_solution(&self.effort))
            })
        }
    }

    /// From where on the numbers are of which a condition speaks.
    fn least_of(&self, condition: &Formula) -> Formula {
        let mut asked = Vec::new();
        condition.collect_unknowns(&mut asked);
        let least = |unknown: Unknown| {
            let of = Poly::unknown(unknown);
            self.symbols.low(&of).map(|low| Formula::le(&Poly::constant(low), &of))
        };
        Formula::All(asked.into_iter().filter_map(least).collect())
    }

    /// Where the bits of an access's indices come from, as far as that is known; of one that is
    /// taken for exact too, since it has not wrapped where the access is made.
    fn bits_of_indices(&self, site: &Site) -> Vec<Option<&Scattered>> {
        let mut zeros = Vec::new();
        site.guards.iter().for_each(|guard| guard.collect_zeros(&mut zeros));
        let turns: Vec<Unknown> =
            zeros.iter().filter_map(single).filter(|of| self.is_turns(*of)).collect();
        let exact = |value: &Poly| turns.iter().fold(value.clone(), |of, turn| without(&of, *turn));
        let of_index = |index: &Poly| {
            let wrapped = || {
                let mut found = self.scattered.iter().filter(|_| !turns.is_empty());
                found.find(|(value, _)| exact(value) == *index).map(|(_, bits)| bits)
            };
            self.scattered.get(index).or_else(wrapped)
        };
        site.indices.iter().map(of_index).collect()
    }
}

/// What else is equal where two indices are of which one is a number, and the other one is made
/// of its bits so that the same done twice is the number itself.
fn undone(bits: [Option<&Scattered>; 2], [left, right]: &[Poly; 2]) -> Option<[Poly; 2]> {
    let is_made_of = |bits: Option<&Scattered>, number: &Poly| {
        bits.and_then(Scattered::undone_by_itself).is_some_and(|of| of == number)
    };
    let is_found = is_made_of(bits[0], right) || is_made_of(bits[1], left);
    is_found.then(|| [right.clone(), left.clone()])
}
