//! Variables that come back to what they were: `if src == 0 { src = T; dst = 0; } else { src = 0;
//! dst = T; }`.
//!
//! Let what an iteration leaves in some variables be made of what it finds in them, and of what
//! the loop does not change, and let it be known at each step which of its choices it makes. Then
//! from what they were before the loop, what they are in the first iterations follows, one by
//! one; and once they are what they were in an earlier one, they go on from there as they did. So
//! in iteration `n` they are what they were in the one of the few that has the same number but for
//! a multiple of the period.
//!
//! # What it rests on
//!
//! - A choice is decided by putting in what the variables are: one of its two conditions is seen
//!   never to hold, at all sizes. Any other number that depends on them is not known again.
//! - What they are is taken as it is at the end of an iteration, brought into the range of its
//!   type.

use std::collections::BTreeMap;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::walk::Walk;
use super::together::Changed;
use crate::op::BinaryOp;

/// Iterations until the variables are what they were.
const MAX_STATES: usize = 5;

/// Variables of one loop that are followed.
const MAX_VARIABLES: usize = 6;

/// Choices within each other that are decided.
const MAX_CHOICES: u32 = 4;

/// By symbol at the head of an iteration, what it is there.
type State = BTreeMap<Unknown, Poly>;

impl Walk<'_> {
    /// Notes of the variables that a loop changes what they are in each iteration, of those that
    /// come back.
    pub(super) fn note_recurring(&mut self, id: LoopId, changed: &[Changed]) {
        let is_known = |of: &&Changed| {
            let known: Vec<Unknown> = changed.iter().map(|of| of.at).collect();
            let is_lost = of.first.is_lost() || of.head.is_lost() || of.end.is_lost();
            !is_lost && self.is_told_by(&of.end, &known, (id, MAX_CHOICES))
        };
        let mut open: Vec<&Changed> = changed.iter().filter(is_known).take(MAX_VARIABLES).collect();
        let (states, back) = loop {
            self.keep_told(id, &mut open);
            if open.is_empty() {
                return;
            }
            match self.states(&open) {
                Ok(found) => break found,
                Err(at) => open.retain(|of| of.at != at),
            }
        };
        let number = Poly::unknown(self.all_loops[id.0].number);
        let place = (self.all_loops[id.0].head, BinaryOp::Div);
        let (Ok(start), Ok(period)) = (i128::try_from(back), i128::try_from(states.len() - back))
        else {
            return;
        };
        let since = number.plus(-start);
        let turns = match period {
            1 => Some(since.clone()),
            _ => self.floor(&since, &Poly::constant(period), place),
        };
        let Some(turns) = turns else { return };
        let comes = |n: i128| match n < start {
            true => Formula::Zero(number.plus(-n)),
            false => {
                let is_it = Formula::eq(&since, &turns.scaled(period).plus(n - start));
                Formula::AtLeast(since.clone()).and(is_it)
            }
        };
        for of in open {
            let own = Poly::unknown(of.at);
            let cases = (0..).zip(&states).map(|(n, state)| {
                let value = state.get(&of.at).map(|value| Formula::eq(&own, value));
                comes(n).and(value.unwrap_or(Formula::Unknown))
            });
            self.symbols.add_facts(of.at, Formula::Any(cases.collect()));
        }
    }

    /// Keeps of variables those that are made of each other, and not anew in each iteration.
    fn keep_told(&self, id: LoopId, open: &mut Vec<&Changed>) {
        loop {
            let before = open.len();
            let known: Vec<Unknown> = open.iter().map(|of| of.at).collect();
            open.retain(|of| self.is_told_by(&of.end, &known, (id, MAX_CHOICES)));
            if open.len() == before {
                return;
            }
        }
    }

    /// Whether a value is made of these symbols, of what the loop does not change, and of choices
    /// between such by conditions on such.
    fn is_told_by(&self, value: &Poly, known: &[Unknown], (id, depth): (LoopId, u32)) -> bool {
        value.unknowns().all(|unknown| {
            if known.contains(&unknown) || !self.symbols.is_inside(unknown, id) {
                return true;
            }
            let (Some((cond, then, otherwise)), Some(depth)) =
                (self.choice_of(unknown), depth.checked_sub(1))
            else {
                return false;
            };
            let mut asked = Vec::new();
            [&cond.yes, &cond.no].into_iter().for_each(|part| part.collect_unknowns(&mut asked));
            asked.iter().all(|of| self.is_told_by(&Poly::unknown(*of), known, (id, depth)))
                && [then, otherwise].into_iter().all(|arm| self.is_told_by(arm, known, (id, depth)))
        })
    }

    /// What variables are in the first iterations until they come back, and to which of them; or
    /// the variable of which that is not known.
    fn states(&self, open: &[&Changed]) -> Result<(Vec<State>, usize), Unknown> {
        let mut last: State = open.iter().map(|of| (of.at, of.value(&of.first))).collect();
        let mut states: Vec<State> = Vec::new();
        loop {
            let mut next = State::new();
            for of in open {
                let end = self.in_state(&of.end, &last, MAX_CHOICES).ok_or(of.at)?;
                next.insert(of.at, of.value(&end));
            }
            states.push(last);
            if let Some(back) = states.iter().position(|state| *state == next) {
                return Ok((states, back));
            }
            if states.len() == MAX_STATES {
                // One that does not come back keeps the others from it.
                let goes_on = |of: &&&Changed| {
                    let value = next.get(&of.at);
                    !states.iter().any(|state| state.get(&of.at) == value)
                };
                let first = open.iter().find(goes_on).or(open.first());
                return first.map_or(Ok((Vec::new(), 0)), |of| Err(of.at));
            }
            last = next;
        }
    }

    /// A value where symbols are what a state says; `None` where a choice is not decided.
    fn in_state(&self, value: &Poly, state: &State, depth: u32) -> Option<Poly> {
        let mut put = BTreeMap::new();
        for unknown in value.unknowns() {
            if let Some(known) = state.get(&unknown) {
                put.insert(unknown, known.clone());
            } else if self.depends_on(unknown, state)
                && let Some((cond, then, otherwise)) = self.choice_of(unknown)
            {
                let depth = depth.checked_sub(1)?;
                let comes_up = |part: &Formula| self.comes_up_in(part, state, depth);
                let arm = match (comes_up(&cond.yes)?, comes_up(&cond.no)?) {
                    (_, false) => then,
                    (false, true) => otherwise,
                    (true, true) => return None,
                };
                put.insert(unknown, self.in_state(arm, state, depth)?);
            }
        }
        let value = value.replace(&|unknown| put.get(&unknown).cloned());
        (!value.is_lost()).then_some(value)
    }

    /// Whether a condition may hold in a state.
    fn comes_up_in(&self, cond: &Formula, state: &State, depth: u32) -> Option<bool> {
        let mut asked = Vec::new();
        cond.collect_unknowns(&mut asked);
        let mut put = BTreeMap::new();
        for unknown in asked {
            put.insert(unknown, self.in_state(&Poly::unknown(unknown), state, depth)?);
        }
        Some(!self.is_never(&cond.replace(&|unknown| put.get(&unknown).cloned())))
    }

    /// Whether a symbol is a choice that a state decides, or is made of one.
    fn depends_on(&self, unknown: Unknown, state: &State) -> bool {
        let Some((cond, then, otherwise)) = self.choice_of(unknown) else { return false };
        let mut of: Vec<Unknown> = then.unknowns().chain(otherwise.unknowns()).collect();
        [&cond.yes, &cond.no].into_iter().for_each(|part| part.collect_unknowns(&mut of));
        of.into_iter().any(|of| state.contains_key(&of) || self.depends_on(of, state))
    }
}

impl Changed {
    /// What its symbol is where the variable is this at the head of an iteration.
    fn value(&self, of: &Poly) -> Poly {
        of.sub(&self.head.sub(&Poly::unknown(self.at)))
    }
}
