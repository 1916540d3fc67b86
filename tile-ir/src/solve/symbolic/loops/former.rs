//! Variables that hold what the former round has made.
//!
//! `for r in 0..n { old = cur; cur = t + 256 * (r + 1); … a[old] … }`: what a round leaves in
//! `cur` its number alone says, and what the loop does not change. So at the head of round `r`
//! it is what that makes of `r - 1`, and at the head of the first what was there before the loop.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::walk::Walk;

impl Walk<'_> {
    /// Says of a variable that was `first` before a loop, is `at` where an iteration starts and
    /// `end` after it, what the former iteration has made of it, if its number says that.
    pub(super) fn note_former(&mut self, id: LoopId, (first, at, end): (&Poly, Unknown, &Poly)) {
        let number = self.all_loops[id.0].number;
        let is_told = |of: Unknown| of == number || !self.symbols.is_inside(of, id);
        if first.is_lost() || end.is_lost() || !end.unknowns().all(is_told) {
            return;
        }
        let count = Poly::unknown(number);
        let former = end.replace(&|of| (of == number).then(|| count.plus(-1)));
        let at_start = end.replace(&|of| (of == number).then(|| Poly::constant(-1)));
        if former.is_lost() || at_start.is_lost() {
            return;
        }
        let own = Poly::unknown(at);
        let is_former = Formula::eq(&own, &former);
        let known = if at_start == *first {
            is_former
        } else {
            let is_first = Formula::Zero(count.clone()).and(Formula::eq(&own, first));
            is_first.or(Formula::AtLeast(count.plus(-1)).and(is_former))
        };
        self.symbols.add_facts(at, known);
    }
}
