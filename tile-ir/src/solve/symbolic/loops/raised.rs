//! Pairs of variables whose sum, or difference, each round raises by one number.
//!
//! `while a < n && b < m { if x[a] < y[b] { a += 1; } else { b += 1; } o += 1; }` raises one of two
//! variables in each round: together they are what they were before, and as many as there were
//! rounds. So it is of two to which, whatever conditions say, a round adds one number in all, or
//! between which it adds one number to what they differ by.
//!
//! Of a merge that ends by `break`, where neither list has anything left, the round that leaves
//! raises none. But no round begins behind that one: so at the head of each round the sum has been
//! raised as often as there were rounds before, and behind the loop as often as rounds were begun,
//! or once less.
//!
//! # What it rests on
//!
//! - Each case of what a round adds, by the conditions on its way, is that number, or one in which
//!   nobody goes on: that is proved of the conditions and of the variables that say who has left.
//! - Who has left a `while` begins no round of it. A counter goes on without those who have left, so
//!   of counted loops each case must be that number.
//! - What the variables are is taken as it is, wrapped where it may wrap: a round that wraps one adds
//!   no number.

use std::collections::BTreeSet;

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::Poly;
use super::super::algebra::symbol::LoopId;
use super::super::walk::{Value, Walk};
use super::Carried;
use super::cases::Case;
use super::together::Changed;
use crate::kernel::VarId;

/// Most cases of what a round adds.
const MAX_CASES: usize = 16;

/// Two variables whose sum each round raises by one number.
#[derive(Clone, Debug)]
pub(in super::super) struct Raised {
    pair: [VarId; 2],
    /// 1 of their sum, -1 of their difference.
    sign: i128,
    /// What it was before the loop.
    first: Poly,
    by: i128,
    /// Whether it may stay what it was in a round in which somebody leaves.
    may_stay: bool,
}

impl Raised {
    fn of(&self, one: &Poly, other: &Poly) -> Poly {
        one.add(&other.scaled(self.sign))
    }

    /// That it is this behind a loop of which so many rounds were begun.
    fn is_after(&self, value: &Poly, begun: &Poly) -> Formula {
        let raised = |rounds: &Poly| Formula::eq(value, &self.first.add(&rounds.scaled(self.by)));
        let all = raised(begun);
        match self.may_stay {
            true => {
                let some = Formula::le(&Poly::constant(1), begun);
                all.or(some.and(raised(&begun.plus(-1))))
            }
            false => all,
        }
    }
}

impl Walk<'_> {
    /// Where the work-item goes on at the end of a round of a `while` that begins none where one of
    /// these variables is set.
    pub(super) fn stays_at_end(&self, clear: &BTreeSet<VarId>) -> Option<Formula> {
        let stays = |flag: &VarId| match self.env.get(flag) {
            Some(Value::Cond(Cond { no, .. })) => no.clone(),
            Some(Value::Int(_) | Value::Other) | None => Formula::Unknown,
        };
        (!clear.is_empty()).then(|| Formula::All(clear.iter().map(stays).collect()))
    }

    /// Notes by how much each round raises the sum of two variables, or their difference.
    pub(super) fn note_both(
        &mut self,
        id: LoopId,
        [one, other]: [&Changed; 2],
        goes_on: Option<&Formula>,
    ) -> Option<Raised> {
        let number = self.all_loops[id.0].number;
        let mut found = None;
        for sign in [1, -1] {
            let both = |one: &Poly, other: &Poly| one.add(&other.scaled(sign));
            let (first, head) = (both(&one.first, &other.first), both(&one.head, &other.head));
            let added = both(&one.end, &other.end).sub(&head);
            if first.is_lost() {
                continue;
            }
            let Some((by, left)) = self.added_where_it_goes_on(&added, goes_on) else { continue };
            let now = first.add(&Poly::unknown(number).scaled(by));
            let known = Formula::eq(&head, &now);
            self.symbols.add_facts(one.at, known.clone());
            if goes_on.is_some() {
                // Nothing around need speak of the variables.
                self.symbols.add_facts(number, known);
            }
            let pair = [one.var, other.var];
            let may_stay = left.contains(&Some(0));
            if left.iter().all(|left| [Some(0), Some(by)].contains(left)) {
                found = Some(Raised { pair, sign, first, by, may_stay });
            }
        }
        found
    }

    /// The number that a round adds of which it is known only by cases what it adds, if it does in
    /// all of them in which somebody goes on; and what the others add.
    fn added_where_it_goes_on(
        &self,
        added: &Poly,
        goes_on: Option<&Formula>,
    ) -> Option<(i128, Vec<Option<i128>>)> {
        let cases = self.cases(added, MAX_CASES)?;
        let mut tried = Vec::new();
        for by in cases.iter().filter_map(|case| case.value.as_constant()) {
            if tried.contains(&by) {
                continue;
            }
            tried.push(by);
            let mut others = cases.iter().filter(|case| case.value.as_constant() != Some(by));
            let is_left = |case: &Case| {
                goes_on.is_some_and(|goes_on| self.is_seldom(&case.holds().and(goes_on.clone())))
            };
            if others.clone().all(is_left) {
                return Some((by, others.by_ref().map(|case| case.value.as_constant()).collect()));
            }
        }
        None
    }

    /// Says of variables behind a loop by how much rounds have raised them together.
    pub(super) fn leave_raised(&mut self, carried: &[Carried]) {
        for (raised, begun) in carried.iter().flat_map(|of| &of.raised) {
            let values = raised.pair.map(|var| match self.env.get(&var) {
                Some(Value::Int(value)) => value.clone(),
                Some(Value::Cond(_) | Value::Other) | None => Poly::lost(),
            });
            let value = raised.of(&values[0], &values[1]);
            if value.is_lost() {
                continue;
            }
            let known = raised.is_after(&value, begun);
            let symbols = begun.unknowns().chain(value.unknowns().max());
            symbols.for_each(|symbol| self.symbols.add_facts(symbol, known.clone()));
        }
    }
}
