//! Variables that go round a length: `at = (at + by) % length`.
//!
//! Let each iteration add `by` to a variable, and a multiple of `length`, whichever; and let it
//! leave one of `0..length` where it has found one of these. If the variable was one of them
//! before the loop, `first`, then so it is at the head of each iteration, and in iteration `n` it
//! differs from `first + n * by` by a multiple of `length`. Of the numbers that do, one is in
//! `0..length`: it is what a division of `first + n * by` by `length`, rounded down, does not take.
//!
//! So it is however it is said: by a division, by a mask, `if at == length { at = 0; }`,
//! `if at >= length { at -= length; }`, or downwards, `if at == 0 { at = length; } at -= 1;`, and
//! more than once in an iteration.
//!
//! # What it rests on
//!
//! - `by` and `length` are numbers that the loop does not change.
//! - What an iteration adds is seen in each case of the choices that it makes; in a case in which
//!   the variable is known, of what it is there.
//! - A case in which a number of 32 bits would leave its range is seen not to come up from a
//!   number of `0..length`; or `length` divides the size of that range.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::terms::value::Function;
use super::super::walk::Walk;
use super::by_turns::Round;
use super::cases::Case;
use crate::op::BinaryOp;

/// Cases of an iteration.
const MAX_CASES: usize = 12;

/// Lengths that are tried.
const MAX_LENGTHS: usize = 4;

/// How often the length may be added in one case.
const MAX_TIMES: i128 = 4;

/// A length that a variable goes round, and by how much in an iteration.
struct Cycle {
    by: Poly,
    length: Poly,
}

impl Walk<'_> {
    /// Says of a variable that was `first` before a loop, is `at` where an iteration starts and
    /// `end` after it, what it is in each one, if it goes round.
    pub(super) fn note_around(&mut self, id: LoopId, (first, at, end): (&Poly, Unknown, &Poly)) {
        if first.is_lost() || end.is_lost() {
            return;
        }
        let Some(cases) = self.cases(end, MAX_CASES) else { return };
        let lengths = self.lengths((id, at), &cases);
        let cycle = lengths.into_iter().find_map(|length| {
            let by = self.added_round((id, at), &cases, &length)?;
            let cycle = Cycle { by, length };
            self.stays_round((at, end), &cycle).then_some(cycle)
        });
        let Some(Cycle { by, length }) = cycle else { return };
        let is_outside = outside(first, &length);
        let is_never = self.is_never(&is_outside);
        if !is_never && !self.is_never_here(first, is_outside.clone()) {
            return;
        }
        let number = Poly::unknown(self.all_loops[id.0].number);
        let whole = self.without_past_turns(first, &length).add(&number.mul(&by));
        let head = self.all_loops[id.0].head;
        let place = (head, BinaryOp::Div);
        if whole.is_lost() {
            return;
        }
        let Some(turns) = self.floor(&whole, &length, place) else { return };
        let rest = whole.sub(&turns.mul(&length));
        if rest.is_lost() {
            return;
        }
        let own = Poly::unknown(at);
        let unless = if is_never { Formula::False } else { is_outside };
        self.symbols.add_facts(at, Formula::eq(&own, &rest).or(unless.clone()));
        let round =
            Round { whole: &whole, turns: &turns, by: &by, length: &length, unless: &unless };
        self.note_next_turn((at, end), &round, head);
    }

    /// What may be the length: by what is divided, and what two cases differ by.
    fn lengths(&self, (id, at): (LoopId, Unknown), cases: &[Case]) -> Vec<Poly> {
        let mut out: Vec<Poly> = Vec::new();
        let mut try_length = |length: Poly| {
            let is_fixed = length.unknowns().all(|unknown| !self.symbols.is_inside(unknown, id));
            let is_length = |length: &Poly| {
                self.symbols.low(length).is_some_and(|low| low >= 0)
                    && length.as_constant().is_none_or(|number| number > 1)
            };
            if is_fixed && !length.is_lost() && is_length(&length) && !out.contains(&length) {
                out.push(length);
            }
        };
        for case in cases {
            for unknown in case.value.unknowns() {
                if let Some((Function::Quotient | Function::Floor, _, by)) =
                    self.function_of(unknown)
                {
                    try_length(by.clone());
                }
            }
        }
        let added: Vec<Poly> = cases
            .iter()
            .filter_map(|case| case.added(&self.without_turns_of(&case.value), at))
            .collect();
        for (n, one) in added.iter().enumerate() {
            for other in &added[..n] {
                try_length(one.sub(other));
                try_length(other.sub(one));
            }
        }
        out.truncate(MAX_LENGTHS);
        out
    }

    /// What each case adds but for multiples of the length; `None` where they do not add one
    /// number.
    fn added_round(
        &self,
        (id, at): (LoopId, Unknown),
        cases: &[Case],
        length: &Poly,
    ) -> Option<Poly> {
        let mut by: Option<Poly> = None;
        for case in cases {
            let Some(added) = self.added_in((case, id, at), length) else {
                if self.comes_up((case, at), length) {
                    return None;
                }
                continue;
            };
            let near = |times: i128| {
                let added = added.sub(&length.scaled(times));
                added.as_constant().is_some().then_some(added)
            };
            let added = [0, 1, -1].into_iter().find_map(near).unwrap_or(added);
            match &by {
                None => by = Some(added),
                Some(by) => {
                    let rest = added.sub(by);
                    let is_multiple = |times: i128| rest == length.scaled(times) && !rest.is_lost();
                    if !(-MAX_TIMES..=MAX_TIMES).any(is_multiple) {
                        return None;
                    }
                }
            }
        }
        by.filter(|by| *by != Poly::default())
    }

    /// The same of one case.
    fn added_in(&self, (case, id, at): (&Case, LoopId, Unknown), length: &Poly) -> Option<Poly> {
        let end = self.before_range((case, at), length)?;
        let added = self.without_multiples(&case.added(&end, at)?, length)?;
        (!self.is_changed_by(added.unknowns(), id)).then_some(added)
    }

    /// Whether an iteration that finds one of `0..length` may come to a case.
    fn comes_up(&self, (case, at): (&Case, Unknown), length: &Poly) -> bool {
        let is_inside = Formula::within(&Poly::unknown(at), length);
        !self.is_never(&case.holds().and(is_inside))
    }

    /// Whether an iteration that finds one of `0..length` leaves one.
    fn stays_round(&self, (at, end): (Unknown, &Poly), cycle: &Cycle) -> bool {
        let is_inside = Formula::within(&Poly::unknown(at), &cycle.length);
        self.is_never(&is_inside.and(outside(end, &cycle.length)))
    }

    /// What a variable would be at the end of a case without the range of its type, of which it
    /// does not leave it, or which is a multiple of the length.
    fn before_range(&self, (case, at): (&Case, Unknown), length: &Poly) -> Option<Poly> {
        let mut end = case.value.clone();
        for unknown in case.value.unknowns() {
            let (size, exact, least) = match self.function_of(unknown) {
                Some((Function::UnsignedTurns, exact, size)) => (size.as_constant()?, exact, 0),
                Some((Function::SignedTurns, exact, size)) => {
                    let size = size.as_constant()?;
                    (size, exact, -size / 2)
                }
                _ => continue,
            };
            let divides = length.as_constant().is_some_and(|length| size % length == 0);
            let beyond = Formula::lt(exact, &Poly::constant(least))
                .or(Formula::le(&Poly::constant(least + size), exact));
            let is_inside = Formula::within(&Poly::unknown(at), length);
            let comes_up = case.holds().and(is_inside).and(beyond);
            if !divides && !self.is_never(&comes_up) {
                return None;
            }
            let factor = end.cofactor(unknown);
            if factor.as_constant().is_none_or(|factor| factor % size != 0) {
                return None;
            }
            end = end.sub(&Poly::unknown(unknown).mul(&factor));
        }
        Some(end)
    }

    /// A value without the turns of its type's range, to see what it differs by.
    fn without_turns_of(&self, value: &Poly) -> Poly {
        let turns = value.unknowns().filter(|unknown| self.is_turns(*unknown));
        turns.fold(value.clone(), |rest, turns| {
            rest.sub(&Poly::unknown(turns).mul(&rest.cofactor(turns)))
        })
    }

    /// A value without the multiples of the length that quotients are of it.
    fn without_multiples(&self, value: &Poly, length: &Poly) -> Option<Poly> {
        value.unknowns().try_fold(value.clone(), |rest, unknown| {
            let is_quotient = matches!(self.function_of(unknown),
                Some((Function::Quotient | Function::Floor, _, by)) if by == length);
            if !is_quotient {
                return Some(rest);
            }
            let factor = rest.cofactor(unknown);
            let is_multiple =
                |times: &i128| factor == length.scaled(*times) || factor == Poly::default();
            (-MAX_TIMES..=MAX_TIMES).find(is_multiple)?;
            Some(rest.sub(&Poly::unknown(unknown).mul(&factor)))
        })
    }
}

impl Case {
    /// What is added to the variable that leaves it `end`: as it is, or of what it is known to be
    /// in this case.
    fn added(&self, end: &Poly, at: Unknown) -> Option<Poly> {
        let added = end.sub(&Poly::unknown(at));
        if added.is_lost() {
            return None;
        }
        if !added.mentions(at) {
            return Some(added);
        }
        let mut zeros = Vec::new();
        self.conds.iter().for_each(|cond| cond.yes.collect_zeros(&mut zeros));
        zeros.into_iter().find_map(|zero| {
            let sign = zero.cofactor(at).as_constant().filter(|factor| factor.abs() == 1)?;
            let value = Poly::unknown(at).sub(&zero.scaled(sign));
            let added = added.replace(&|unknown| (unknown == at).then(|| value.clone()));
            (!added.is_lost() && !added.mentions(at)).then_some(added)
        })
    }
}

/// That a value is none of `0..length`.
fn outside(value: &Poly, length: &Poly) -> Formula {
    Formula::lt(value, &Poly::default()).or(Formula::le(length, value))
}
