//! Variables to which each round adds one of a few numbers that leave one rest.
//!
//! `j += 13; if j >= 81 { j -= 81; }` adds 13 or -68, which differ by 81. So after `r` rounds `j`
//! is `first + 13 * r`, but for a multiple of 81: with `first` below 81 it is the rest of that,
//! counted without a division.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown, gcd};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::walk::Walk;

/// Cases of what is added.
const MAX_CASES: usize = 8;

impl Walk<'_> {
    /// Says of a variable that was `first` before a loop, is `at` where an iteration starts and
    /// `end` after it, of what it is a multiple beyond what equal rounds add.
    pub(super) fn note_congruent(&mut self, id: LoopId, (first, at, end): (&Poly, Unknown, &Poly)) {
        if first.is_lost() || end.is_lost() {
            return;
        }
        let own = Poly::unknown(at);
        let Some(cases) = self.cases(&end.sub(&own), MAX_CASES) else { return };
        let added: Option<Vec<i128>> = cases.iter().map(|case| case.value.as_constant()).collect();
        // Where it may wrap it is no number.
        let Some(added) = added else { return };
        let Some(by) = added.iter().copied().min_by_key(|by: &i128| by.abs()) else { return };
        let rest = added.iter().fold(0, |rest, other| gcd(rest, other - by));
        // Multiples that all are of one number are a matter of rotations.
        if rest < 2 || by % rest == 0 {
            return;
        }
        let number = Poly::unknown(self.all_loops[id.0].number);
        let times = Poly::unknown(self.symbol(Sharing::Private, None, None));
        let value = first.add(&number.scaled(by)).add(&times.scaled(rest));
        self.symbols.add_facts(at, Formula::eq(&own, &value));
    }
}
