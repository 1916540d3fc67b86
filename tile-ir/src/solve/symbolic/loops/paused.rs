//! Variables to which an iteration of a loop adds a step, or nothing.
//!
//! `if at < n { …; at += 64; }` moves on while it is inside, and others move on by data. How
//! often, conditions say that the loop itself changes; but no more often than there have
//! been iterations, and each time by the same. So the variable is its first value and
//! `c` steps, with `0 <= c <= i` at the start of the iteration of number `i`, whatever the
//! conditions are.
//!
//! That is so before the first iteration, where `c` is 0, and each one that adds the step
//! makes one more of `c`. The step is one that no iteration changes, and what is added is
//! exact: where the variable may wrap by it, its value is another one than these, and
//! nothing is said. Nor is it of steps of 1, which leave no gaps: there is no more to tell
//! of them than bounds do.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::walk::Walk;

/// Choices within choices that are followed.
const MAX_CHOICES: u32 = 3;

impl Walk<'_> {
    /// Says of a variable that was `first` before a loop, is `at` where an iteration starts
    /// and `end` after it, how far it has got, if iterations add a step or nothing.
    pub(in super::super) fn note_paused(
        &mut self,
        id: LoopId,
        (first, at, end): (&Poly, Unknown, &Poly),
    ) {
        let own = Poly::unknown(at);
        let mut step = None;
        if first.is_lost() || !self.adds_at_most(end, &own, MAX_CHOICES, &mut step) {
            return;
        }
        let Some(step) = step else { return };
        let is_unit = step.as_constant().is_some_and(|by| by.abs() == 1);
        if is_unit || step.unknowns().any(|unknown| self.symbols.is_inside(unknown, id)) {
            return;
        }
        let number = Poly::unknown(self.all_loops[id.0].number);
        let count = Poly::unknown(self.symbol(Sharing::Private, Some(0), None));
        let so_far = Formula::eq(&own, &first.add(&count.mul(&step)));
        let fact = Formula::within(&count, &number.plus(1)).and(so_far);
        self.symbols.add_facts(at, fact);
    }

    /// Whether a value is `own`, or more by one `step`, the same in all cases; finds that.
    fn adds_at_most(&self, end: &Poly, own: &Poly, depth: u32, step: &mut Option<Poly>) -> bool {
        let by = end.sub(own);
        if by.is_lost() {
            return false;
        }
        if by == Poly::default() {
            return true;
        }
        if own.unknowns().all(|unknown| !by.mentions(unknown)) && self.choice_in(&by).is_none() {
            return *step.get_or_insert_with(|| by.clone()) == by;
        }
        let (Some((choice, arms)), Some(depth)) = (self.choice_in(end), depth.checked_sub(1))
        else {
            return false;
        };
        let rest = end.sub(&Poly::unknown(choice));
        arms.iter().all(|arm| self.adds_at_most(&arm.add(&rest), own, depth, step))
    }

    /// A choice that is added once to a value, and what it is between.
    fn choice_in(&self, value: &Poly) -> Option<(Unknown, [Poly; 2])> {
        value.terms().iter().find_map(|(product, factor)| {
            let ([unknown], 1) = (product.as_slice(), *factor) else { return None };
            let of = self.choice_of(*unknown);
            of.map(|(_, then, otherwise)| (*unknown, [then.clone(), otherwise.clone()]))
        })
    }
}
