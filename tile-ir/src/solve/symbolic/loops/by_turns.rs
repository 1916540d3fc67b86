//! By how many turns what goes round a length has gone, before a loop and in each of its rounds.
//!
//! Let a variable be `first` before a loop, one of `0..length`, and let each iteration add `by`
//! and leave what is left of that by the length ([`super::around`], [`super::cycled`]). Then in
//! iteration `n` it is `w - length * T` of any `w` that differs from `first + n * by` by a multiple
//! of the length, where `T` is `w / length`, rounded down: of the numbers that differ from `w` by
//! multiples one alone is in `0..length`. So `first` may be taken without the turns that it has
//! gone already: of `x = (cell + n - 1) % n` it is `cell - 1`, and places of rounds are told apart
//! by `cell`, of which more is known than of the turns of turns.
//!
//! What an iteration leaves is the same of the next one: `w + by - length * T'`, where `T'` is
//! `(w + by) / length`. Where the iteration divides by the length to see it, its quotient is
//! `T' - T`, but for the lengths that it adds before.
//!
//! # What it rests on
//!
//! - Both are said where the variable is one of `0..length` at the head of each iteration, and
//!   where an iteration that finds one of these leaves one: who asks has seen to that.
//! - A number of 32 bits does not leave its range between, or what it leaves it by is a multiple of
//!   the length. It is said not to leave it only where that has been seen.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::scans::prefix::single;
use super::super::terms::value::Function;
use super::super::walk::Walk;
use crate::op::BinaryOp;
use crate::span::SpanId;

/// How often the length may be added before an iteration divides by it.
const MAX_TIMES: i128 = 4;

/// What goes round: it is `whole - length * turns` at the head of an iteration, which adds `by`.
pub(super) struct Round<'r> {
    pub(super) whole: &'r Poly,
    pub(super) turns: &'r Poly,
    pub(super) by: &'r Poly,
    pub(super) length: &'r Poly,
    /// Where what is said of it need not hold.
    pub(super) unless: &'r Formula,
}

impl Walk<'_> {
    /// A value without the turns round a length that it has been divided by, and then without any
    /// multiples of the length that are plain to see.
    pub(in super::super) fn without_past_turns(&self, value: &Poly, length: &Poly) -> Poly {
        if let Some(gone) = self.before_turn(value, length) {
            return self.without_past_turns(&gone, length);
        }
        if !value.unknowns().any(|of| self.divides_by(of, length)) {
            return value.clone();
        }
        let kept = value.terms().iter().filter(|(product, factor)| {
            let is_multiple = match (length.as_constant(), length.terms()) {
                (Some(number), _) => factor.checked_rem(number) == Some(0),
                (None, [(own, times)]) => product.without(own).is_some() && factor % times == 0,
                (None, _) => product.iter().any(|of| {
                    self.divides_by(*of, length) && value.cofactor(*of) == length.negated()
                }),
            };
            !is_multiple
        });
        let rest = kept.fold(Poly::default(), |sum, (product, factor)| {
            sum.add(&Poly::product(*product).scaled(*factor))
        });
        if rest.is_lost() { value.clone() } else { rest }
    }

    /// What a choice between a value and one that is a length less, or 0 where the value is the
    /// length, goes on from: `if at == length { 0 } else { at }`.
    fn before_turn(&self, value: &Poly, length: &Poly) -> Option<Poly> {
        let (cond, then, otherwise) = self.choices.get(&single(value)?)?;
        let differs_by_turn =
            |gap: &Poly| [length.clone(), length.negated(), Poly::default()].contains(gap);
        [(&cond.yes, then, otherwise), (&cond.no, otherwise, then)].into_iter().find_map(
            |(holds, taken, other)| {
                let gap = taken.sub(other);
                let mut zeros = vec![Poly::default()];
                holds.collect_zeros(&mut zeros);
                let is_turn = |zero: &Poly| {
                    differs_by_turn(&gap.add(zero)) || differs_by_turn(&gap.sub(zero))
                };
                (!gap.is_lost() && zeros.iter().any(is_turn)).then(|| other.clone())
            },
        )
    }

    /// Whether an unknown is a quotient by a length.
    fn divides_by(&self, unknown: Unknown, length: &Poly) -> bool {
        matches!(self.function_of(unknown),
            Some((Function::Quotient | Function::Floor, _, by)) if by == length)
    }

    /// Says of what an iteration leaves, `end`, that it is what the next one finds.
    pub(super) fn note_next_turn(
        &mut self,
        (at, end): (Unknown, &Poly),
        round: &Round<'_>,
        head: SpanId,
    ) {
        let next = round.whole.add(round.by);
        let is_made = end.unknowns().any(|of| of != at);
        if next.is_lost() || !is_made {
            return;
        }
        let Some(turns) = self.floor(&next, round.length, (head, BinaryOp::Div)) else { return };
        let left = next.sub(&turns.mul(round.length));
        if left.is_lost() {
            return;
        }
        let gone = turns.sub(round.turns);
        match self.divided_to_leave(end, round.length) {
            Some((quotient, divided)) => self.note_quotient((at, quotient), &divided, &gone, round),
            None => {
                let Some(last) = end.unknowns().max() else { return };
                self.symbols.add_facts(last, Formula::eq(end, &left).or(round.unless.clone()));
            }
        }
    }

    /// The quotient by a length that an iteration takes off, and of what it is one.
    fn divided_to_leave(&self, end: &Poly, length: &Poly) -> Option<(Unknown, Poly)> {
        end.unknowns().find_map(|quotient| {
            let (_, divided, _) =
                self.function_of(quotient).filter(|_| self.divides_by(quotient, length))?;
            let rest = divided.sub(&length.mul(&Poly::unknown(quotient)));
            (!rest.is_lost() && rest == *end).then(|| (quotient, divided.clone()))
        })
    }

    /// Says of the quotient of what is `divided`, `at` with what is added, how many turns it is
    /// that have `gone` by.
    fn note_quotient(
        &mut self,
        (at, quotient): (Unknown, Unknown),
        divided: &Poly,
        gone: &Poly,
        round: &Round<'_>,
    ) {
        let range = divided.unknowns().find(|of| self.is_turns(*of));
        let exact = match range {
            Some(range) => {
                let rest = divided.sub(&Poly::unknown(range).mul(&divided.cofactor(range)));
                let Some(exact) = self.kept_in_range(range, rest, (at, round)) else { return };
                self.symbols
                    .add_facts(range, Formula::Zero(Poly::unknown(range)).or(round.unless.clone()));
                exact
            }
            None => divided.clone(),
        };
        let added = exact.sub(&Poly::unknown(at)).sub(round.by);
        let is_added = |times: &i128| !added.is_lost() && added == round.length.scaled(*times);
        if let Some(times) = (-MAX_TIMES..=MAX_TIMES).find(is_added) {
            let known = Formula::eq(&Poly::unknown(quotient), &gone.plus(times));
            self.symbols.add_facts(quotient, known.or(round.unless.clone()));
        }
    }

    /// An exact number that is seen not to leave the range of its type where `at` is one of the
    /// length's numbers; `range` says how often it does.
    fn kept_in_range(
        &self,
        range: Unknown,
        exact: Poly,
        (at, round): (Unknown, &Round<'_>),
    ) -> Option<Poly> {
        let (function, own, size) = self.function_of(range)?;
        let size = size.as_constant()?;
        let least = if *function == Function::SignedTurns { -size / 2 } else { 0 };
        let beyond = Formula::lt(&exact, &Poly::constant(least))
            .or(Formula::le(&Poly::constant(least + size), &exact));
        let is_inside = Formula::within(&Poly::unknown(at), round.length);
        (*own == exact && self.is_never(&is_inside.and(beyond))).then_some(exact)
    }
}
