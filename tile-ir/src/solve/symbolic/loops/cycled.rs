//! Variables that go round by the same number in each iteration: `at = (at + by) & (length - 1)`.
//!
//! Let `first`, what the variable was before the loop, be one of `0..length`, and let each
//! iteration leave what a division of `at + by` by `length`, rounded down, does not take. Then
//! in iteration `n` it is what that of `first + n * by` does not take: so it is in the first
//! one, and what is added to a rest by a number may be added before the division. Where all of
//! `first + n * by` are below `length` that is no rest but the number itself.
//!
//! `at += by; if at >= length { at -= length; }` is the same of a step up to `length`, and
//! `at += 1; if at == length { at = 0; }` too. Here the length is a number; [`super::around`] asks of
//! any other, and of other ways to say it, for which more is to prove.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::scans::prefix::single;
use super::super::terms::integers::range_of;
use super::super::walk::Walk;
use super::by_turns::Round;
use crate::kernel::Type;
use crate::op::BinaryOp;

impl Walk<'_> {
    /// Says of a variable that was `first` before a loop, is `at` where an iteration starts and
    /// `end` after it, what it is in each one, if it goes round by numbers; whether it does.
    pub(in super::super) fn note_cycled(
        &mut self,
        (id, ty): (LoopId, Type),
        (first, at, end): (&Poly, Unknown, &Poly),
    ) -> bool {
        if first.is_lost() || end.is_lost() {
            return false;
        }
        let own = Poly::unknown(at);
        let found = self.by_division(&own, end, ty).or_else(|| self.by_choice(&own, end, ty));
        let Some((by, length)) = found else { return false };
        let round = Poly::constant(length);
        let is_outside = Formula::lt(first, &Poly::default()).or(Formula::le(&round, first));
        if !self.is_never(&is_outside) && !self.is_never_here(first, is_outside) {
            return false;
        }
        let number = Poly::unknown(self.all_loops[id.0].number);
        let whole = self.without_past_turns(first, &round).add(&number.scaled(by));
        let head = self.all_loops[id.0].head;
        let place = (head, BinaryOp::Div);
        let Some(turns) = self.floor(&whole, &round, place) else { return false };
        let rest = whole.sub(&turns.scaled(length));
        if !rest.is_lost() {
            self.symbols.add_facts(at, Formula::eq(&own, &rest));
            let round = Round {
                whole: &whole,
                turns: &turns,
                by: &Poly::constant(by),
                length: &round,
                unless: &Formula::False,
            };
            self.note_next_turn((at, end), &round, head);
        }
        true
    }

    /// What is added, and by what is divided, where the rest of a division is left.
    fn by_division(&self, own: &Poly, end: &Poly, ty: Type) -> Option<(i128, i128)> {
        end.terms().iter().find_map(|(product, factor)| {
            let [turns] = product.as_slice() else { return None };
            let (whole, length) = self.rounded_down(*turns)?;
            let length = length.as_constant().filter(|length| *factor == -length)?;
            let by = self.exactly(whole, ty).sub(own).as_constant()?;
            // Turns of the type's range are multiples of a power of two.
            let keeps = length.count_ones() == 1 && length <= 1 << 31 || has_room(ty, by, length);
            let is_rest = end.add(&Poly::unknown(*turns).scaled(length)) == *whole;
            (is_rest && keeps && length > 1).then_some((by, length))
        })
    }

    /// The same where a condition says whether it has gone round.
    fn by_choice(&self, own: &Poly, end: &Poly, ty: Type) -> Option<(i128, i128)> {
        let (cond, then, otherwise) = self.choices.get(&single(end)?)?;
        let arms = [(&cond.yes, &cond.no, then, otherwise), (&cond.no, &cond.yes, otherwise, then)];
        arms.into_iter().find_map(|(goes_round, goes_on, start, next)| {
            let exact = self.exactly(next, ty);
            let by = exact.sub(own).as_constant()?;
            let length = self.length_asked(goes_round, next, &exact)?;
            let round = Poly::constant(length);
            let start = self.exactly(start, ty);
            let is_back = [next, &exact].iter().any(|next| start == next.plus(-length));
            let is_0 = by == 1 && start == Poly::default();
            let asks = |yes: &Formula, no: &Formula| goes_round == yes && goes_on == no;
            let is_asked = [next, &exact].iter().any(|next| {
                let is_one =
                    by == 1 && asks(&Formula::eq(next, &round), &Formula::ne(next, &round));
                is_one || asks(&Formula::le(&round, next), &Formula::lt(next, &round))
            });
            let is_round = is_asked && (is_back || is_0) && length > 1;
            (is_round && (0..=length).contains(&by) && has_room(ty, by, length))
                .then_some((by, length))
        })
    }

    /// The number that a condition asks of `next` whether it has come there.
    fn length_asked(&self, cond: &Formula, next: &Poly, exact: &Poly) -> Option<i128> {
        let (Formula::AtLeast(bound) | Formula::Zero(bound)) = cond else { return None };
        let ends = [next.sub(bound), next.add(bound), exact.sub(bound), exact.add(bound)];
        ends.iter().find_map(Poly::as_constant)
    }

    /// A value before it was brought into the range of its type.
    fn exactly(&self, value: &Poly, ty: Type) -> Poly {
        self.before_wrapping(value, ty).unwrap_or_else(|| value.clone())
    }
}

/// Whether a type has what is below `length` with `by` more: then nothing wraps.
fn has_room(ty: Type, by: i128, length: i128) -> bool {
    let room = |(_, max): (i128, i128)| by >= 0 && by <= max && length <= max - by;
    range_of(ty).is_none_or(room)
}
