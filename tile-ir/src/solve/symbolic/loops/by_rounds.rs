//! Between which numbers a variable is by how often a loop has gone round.
//!
//! `for i in 0..8 { if a[i] > 0 { s[8 * t + j] = a[i]; j += 1; } }` adds 1 or nothing in each
//! round, as data decides: before round `i`, `j` is no more than what it was before the loop and
//! `i`, so that the place is one of the work-item's own eight. So it is said of what each round
//! changes by one of a few numbers: of the least and of the greatest of them, as many as there
//! were rounds. What is added may be bits of a number, `n += (a[i] >> d) & 1;`, which are no less
//! than none and no more than all, or a number that is not negative and of which it is known what
//! it is at most, `at += reduce_sum(flag);`. Of a variable that may wrap by that it is not said.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::scans::prefix::single;
use super::super::terms::integers::range_of;
use super::super::walk::Walk;
use crate::kernel::Type;

/// Choices one within the other that say what is added.
const MAX_CHOICES: u32 = 4;

/// The least and the greatest number that a round adds.
pub(in super::super) type Added = (i128, i128);

impl Walk<'_> {
    /// Says of a variable that was `first` before a loop, is `at` where an iteration starts and
    /// `end` after it, between which numbers it is, if each adds one of a few.
    pub(in super::super) fn note_rounds(
        &mut self,
        (id, ty): (LoopId, Type),
        (first, at, end): (&Poly, Unknown, &Poly),
    ) -> Option<Added> {
        if first.is_lost() || end.is_lost() {
            return None;
        }
        let own = Poly::unknown(at);
        let exact = self.before_wrapping(end, ty);
        let added = self.added_to(&own, exact.as_ref().unwrap_or(end), (ty, MAX_CHOICES))?;
        let number = Poly::unknown(self.all_loops[id.0].number);
        if let Some(known) = self.between_in_rounds((at, ty), first, (&number, added)) {
            self.symbols.add_facts(at, known);
        }
        Some(added)
    }

    /// The same of a variable that is `value` after a loop of so many rounds, or of none where that
    /// is below 0, which nobody leaves: who does has its value from the midst of a round.
    pub(in super::super) fn leave_rounds(
        &mut self,
        (first, value): (&Poly, &Poly),
        (rounds, added): (&Poly, Added),
        ty: Type,
    ) {
        let Some(after) = single(value).filter(|_| !rounds.is_lost()) else { return };
        let Some(known) = self.between_in_rounds((after, ty), first, (rounds, added)) else {
            return;
        };
        let known = match self.is_natural(rounds) {
            true => known,
            false => {
                let none = Formula::lt(rounds, &Poly::default());
                let some = Formula::AtLeast(rounds.clone());
                some.and(known).or(none.and(Formula::eq(value, first)))
            }
        };
        self.symbols.add_facts(after, known);
    }

    /// That a variable lies where so many rounds can have brought it from `first`, if it has not
    /// wrapped by that.
    fn between_in_rounds(
        &mut self,
        (of, ty): (Unknown, Type),
        first: &Poly,
        (rounds, added): (&Poly, Added),
    ) -> Option<Formula> {
        let value = Poly::unknown(of);
        let [low, high] = [added.0, added.1].map(|by| first.add(&rounds.scaled(by)));
        let wraps = range_of(ty).map_or(Formula::False, |(min, max)| {
            let beyond = Formula::lt(&Poly::constant(max), &high);
            Formula::lt(&low, &Poly::constant(min)).or(beyond)
        });
        (wraps == Formula::False || self.is_never(&wraps))
            .then(|| Formula::le(&low, &value).and(Formula::le(&value, &high)))
    }

    /// What a step is at most that is not negative: the sum of a block's flags, the lanes of a ballot.
    fn most_of_naturals(&self, step: &Poly) -> Option<i128> {
        if step.is_lost() || !self.is_natural(step) { None } else { self.most_anywhere(step) }
    }

    /// The least and the greatest number by which an iteration that begins with `own` may end,
    /// before what it ends with wraps.
    fn added_to(&self, own: &Poly, end: &Poly, (ty, depth): (Type, u32)) -> Option<Added> {
        let exact = self.before_wrapping(end, ty);
        let end = exact.as_ref().unwrap_or(end);
        if let Some(number) = end.sub(own).as_constant() {
            return Some((number, number));
        }
        if let Some(bits) = self.sum_of_bits(&end.sub(own)) {
            return Some((0, bits));
        }
        let depth = depth.checked_sub(1)?;
        let of_choice = |choice: Unknown, own: &Poly| {
            let (_, then, otherwise) = self.choice_of(choice)?;
            let [one, other] = [then, otherwise].map(|end| self.added_to(own, end, (ty, depth)));
            let (one, other) = (one?, other?);
            Some((one.0.min(other.0), one.1.max(other.1)))
        };
        let rest = end.sub(own);
        single(end)
            .and_then(|choice| of_choice(choice, own))
            .or_else(|| of_choice(single(&rest)?, &Poly::default()))
            .or_else(|| Some((0, self.most_of_naturals(&rest)?)))
    }
}
