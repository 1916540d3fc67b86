//! Loops that add no more in a round than an earlier loop has counted in it.
//!
//! `for k in 0..4 { n += (a[4 * t + k] > 0) as u32; }` counts what `let p = scan_sum_exclusive(n);`
//! then finds a place for, and `for k in 0..4 { if a[4 * t + k] > 0 { c[p] = …; p += 1; } }` writes
//! it there. Each round of the second loop adds to `p` no more than the same round of the first
//! one has added to `n`. So before a round, `p` has gone no further from where it began than `n`
//! has, less what that round adds: the place is within the run of the work-item's own. Where each
//! round adds as much as the same round has before, and all add a number at most, it is known too
//! how little is left: of zeros and ones that are parted, the places of the zeros.
//!
//! What a block goes on by in a round, `from += reduce_sum((x > 0) as u32);`, is what its
//! work-items add in that round together: no more than they have counted, if each of them adds no
//! more than it has. So it comes no further than by `reduce_sum(n)`.
//!
//! # What it rests on
//!
//! - The first loop has a counter, or asks for what goes as one does, and nobody leaves it before
//!   its end: each of its rounds has been made, and a round adds what is not negative.
//! - Rounds of one number are compared, by one work-item in the same iterations of the loops
//!   around the first. That the second one adds no more is proved of what both texts say, with
//!   nothing known to be one value in both but elements of tensors that are never written, cells of
//!   a tile in one version ([`super::super::tiles::reread`]), and what is made of these alike.
//! - Sums over a block are those of all of its work-items, which come by in the same rounds. Whether
//!   the first loop has made a round is the same for all of them.
//! - The first count begins with a small number, and does not leave the range of its type, which
//!   is one of 32 bits and more, as counters do not ([`super::slot`]). Nor do sums of such counts
//!   that a tile's cells hold ([`super::super::scans::prefix`]). What the second one adds may
//!   wrap: it is less then.

use std::collections::BTreeSet;

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::monomial::Monomial;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::loops::Carried;
use super::super::scans::prefix::single;
use super::super::terms::integers::range_of;
use super::super::terms::loaded::Element;
use super::super::walk::{Value, Walk};
use crate::kernel::Type;

/// Choices one within the other that say what is added.
const MAX_CHOICES: u32 = 4;

/// Cases of what is added that are compared.
const MAX_CASES: usize = 6;

/// Values within values that are made alike in both loops.
const MAX_DEPTH: u32 = 5;

/// Counts of earlier loops that one is compared with.
const MAX_COUNTS: usize = 4;

/// What a round counts at most that counts, and does not add up data.
const MAX_COUNTED: i128 = 64;

/// The longest step in numbers with which a counter is taken not to wrap.
const MAX_STEP: i128 = 1 << 20;

/// By what is so where a round adds this: all cases that there are.
type Cases = Vec<(Formula, Poly)>;

/// What each round of a loop adds to a variable.
#[derive(Clone, Debug)]
pub(in super::super) struct Rounds {
    id: LoopId,
    first: Poly,
    cases: Cases,
}

/// What a loop has counted to its end.
#[derive(Clone, Debug)]
pub(in super::super) struct Recount {
    rounds: Rounds,
    /// Where there was no round of a number.
    beyond: Formula,
    /// How many rounds there were, if that is known.
    length: Option<Poly>,
    /// What the variable is after them.
    value: Poly,
    /// The loops around, and what holds there.
    around: Vec<LoopId>,
    guards: Vec<Formula>,
}

impl Walk<'_> {
    /// What rounds add to a variable that was `first` before a loop, is `at` where a round starts
    /// and `end` after it, if that is never negative.
    pub(in super::super) fn rounds_added(
        &self,
        (id, ty): (LoopId, Type),
        (first, at, end): (&Poly, Unknown, &Poly),
    ) -> Option<Rounds> {
        let is_wide = range_of(ty).is_none_or(|(_, max)| max >= i32::MAX.into());
        if !is_wide || first.is_lost() || end.is_lost() {
            return None;
        }
        let cases = self.added_by_case((&Poly::unknown(at), end), ty, MAX_CHOICES)?;
        let is_short = |added: &Poly| match added.as_constant() {
            Some(number) => (0..=MAX_STEP).contains(&number),
            None => self.is_natural(added),
        };
        let are_known = cases.iter().all(|(_, added)| !added.mentions(at) && is_short(added));
        let is_free = cases.iter().all(|(case, _)| {
            let mut asked = Vec::new();
            case.collect_unknowns(&mut asked);
            !asked.contains(&at)
        });
        (are_known && is_free && cases.len() <= MAX_CASES).then(|| Rounds {
            id,
            first: first.clone(),
            cases,
        })
    }

    /// What a round that begins with `own` and ends with `end` adds, by cases.
    fn added_by_case(&self, (own, end): (&Poly, &Poly), ty: Type, depth: u32) -> Option<Cases> {
        let exact = self.before_wrapping(end, ty);
        let end = exact.as_ref().unwrap_or(end);
        let added = end.sub(own);
        if added.as_constant().is_some() {
            return Some(vec![(Formula::True, added)]);
        }
        let depth = depth.checked_sub(1)?;
        let chosen = |(product, factor): &(Monomial, i128)| {
            let [choice] = product.as_slice() else { return None };
            let parts = self.choice_of(*choice)?;
            (*factor == 1).then_some((*choice, parts))
        };
        let Some((choice, (Cond { yes, no }, then, otherwise))) =
            added.terms().iter().find_map(chosen)
        else {
            return Some(vec![(Formula::True, added)]);
        };
        let rest = end.sub(&Poly::unknown(choice));
        let mut cases = Vec::new();
        for (cond, value) in [(yes, then), (no, otherwise)] {
            let inner = self.added_by_case((own, &value.add(&rest)), ty, depth)?;
            cases.extend(inner.into_iter().map(|(case, added)| (cond.clone().and(case), added)));
        }
        Some(cases)
    }

    /// Notes that what has counted by ones or small numbers in a loop is not below 0.
    fn leave_counts(&mut self, carried: &[Carried]) {
        for Carried { var, rounds, .. } in carried {
            let Some(Rounds { first, cases, .. }) = rounds else { continue };
            let is_small = |added: &Poly| {
                added.as_constant().is_some_and(|added| (0..=MAX_COUNTED).contains(&added))
            };
            let is_count = is_small(first) && cases.iter().all(|(_, added)| is_small(added));
            if let Some(Value::Int(value)) = self.env.get(var)
                && let Some(count) = single(value).filter(|_| is_count)
            {
                let known = Formula::AtLeast(Poly::unknown(count));
                self.symbols.add_facts(count, known);
            }
        }
    }

    /// Notes what variables have counted in a loop, which has gone to its end.
    pub(in super::super) fn leave_recounts(&mut self, carried: &[Carried]) {
        self.leave_counts(carried);
        for Carried { var, rounds, .. } in carried {
            if let (Some(rounds), Some(Value::Int(value))) = (rounds, self.env.get(var))
                && rounds.first.as_constant().is_some_and(|first| (0..=MAX_STEP).contains(&first))
                && single(value).is_some()
                && let Some(beyond) = self.all_loops[rounds.id.0].beyond.clone()
            {
                let (length, value) = (self.all_loops[rounds.id.0].length.clone(), value.clone());
                let (around, guards) = (self.loops.clone(), self.guards.clone());
                let rounds = rounds.clone();
                self.recounts.push(Recount { rounds, beyond, length, value, around, guards });
            }
        }
    }

    /// Says of a variable that is `at` where a round of the innermost loop starts that it has gone
    /// no further than one that an earlier loop has counted up by no less.
    pub(in super::super) fn note_recounted(&mut self, rounds: &Rounds, (at, ty): (Unknown, Type)) {
        let Some((_, outer)) = self.loops.split_last() else { return };
        let number = Poly::unknown(self.all_loops[rounds.id.0].number);
        let is_of_both = |count: &&Recount| {
            outer.starts_with(&count.around) && self.guards.starts_with(&count.guards)
        };
        let mut facts = Vec::new();
        for count in self.recounts.iter().rev().filter(is_of_both).take(MAX_COUNTS) {
            let own = self.all_loops[count.rounds.id.0].number;
            let is_later = count.beyond.replace(&|of| (of == own).then(|| number.clone()));
            if let Some(block) = self.counted_by_block(count, rounds, ty) {
                let wraps = self.may_wrap(&block.end(rounds), ty);
                facts.push(block.end_of_run(rounds, (is_later, wraps), at));
            } else if self.adds_no_less(count, rounds, Order::EarlierFirst) {
                let later = &self.all_loops[rounds.id.0];
                let has_more = later.counter.is_none() || later.beyond.as_ref() != Some(&is_later);
                let is_later = if has_more { is_later } else { Formula::False };
                let wraps = self.may_wrap_from(count, rounds, ty);
                facts.push(count.end_of_run(rounds, (is_later, wraps.clone()), at));
                if let (Some(most), Some(length)) =
                    (self.most_of_round(&count.rounds), &count.length)
                    && self.adds_no_less(count, rounds, Order::LaterFirst)
                {
                    let left = length.sub(&number);
                    facts.push(count.rest_of_run(rounds, (&left, wraps), (at, most)));
                }
            }
        }
        facts.into_iter().for_each(|fact| self.symbols.add_facts(at, fact));
    }

    /// What a block has counted together, if a later loop adds in each round the sum over the
    /// block of what is no more than what each work-item has counted in that round.
    fn counted_by_block(&self, count: &Recount, later: &Rounds, ty: Type) -> Option<Recount> {
        let [(Formula::True, added)] = later.cases.as_slice() else { return None };
        let own = self.added_by_all(single(added)?, &self.loops)?;
        let all = self.total_over_block(&count.value, &count.around)?;
        let cases = self.added_by_case((&Poly::default(), own), ty, MAX_CHOICES)?;
        let own = Rounds { cases, ..later.clone() };
        let mut asked = Vec::new();
        count.beyond.collect_unknowns(&mut asked);
        let number = self.all_loops[count.rounds.id.0].number;
        let are_together = asked
            .into_iter()
            .all(|unknown| unknown == number || self.is_agreed(&Poly::unknown(unknown)));
        let is_from_0 = count.rounds.first == Poly::default();
        (are_together && is_from_0 && self.adds_no_less(count, &own, Order::EarlierFirst))
            .then(|| Recount { value: Poly::unknown(all), ..count.clone() })
    }

    /// Where the end of a run is beyond its type, if that may be here.
    fn may_wrap(&self, end: &Poly, ty: Type) -> Formula {
        let Some((_, max)) = range_of(ty) else { return Formula::False };
        let wraps = Formula::lt(&Poly::constant(max), end);
        if self.is_none_here(std::slice::from_ref(&wraps)) { Formula::False } else { wraps }
    }

    /// The same of a run that begins at what a cell holds of sums of what was counted: these do
    /// not leave their type.
    fn may_wrap_from(&self, count: &Recount, later: &Rounds, ty: Type) -> Formula {
        let wraps = self.may_wrap(&count.end(later), ty);
        let room = self.room_of_sum(&later.first, &count.value);
        let is_roomy = room.is_some_and(|room| self.is_none_here(&[room.and(wraps.clone())]));
        if is_roomy { Formula::False } else { wraps }
    }

    /// What a round adds at most: a number, or a flag.
    fn most_of_round(&self, rounds: &Rounds) -> Option<i128> {
        let is_flag = |case: &Formula, added: &Poly| {
            self.is_never(&case.clone().and(Formula::AtLeast(added.plus(-2))))
        };
        rounds.cases.iter().try_fold(0, |most, (case, added)| {
            let own = added.as_constant().or_else(|| is_flag(case, added).then_some(1))?;
            Some(own.max(most))
        })
    }

    /// Whether a round of the one loop never adds less than the same round of the other.
    fn adds_no_less(&self, count: &Recount, later: &Rounds, order: Order) -> bool {
        let translation = Translation::of(self, &[count.rounds.id], &[later.id]);
        let Some(earlier) = translation.cases(&count.rounds.cases) else { return false };
        let mut less = earlier.iter().flat_map(|(case, added)| {
            later.cases.iter().filter_map(move |(other, more)| {
                let (added, more) = match order {
                    Order::EarlierFirst => (added, more),
                    Order::LaterFirst => (more, added),
                };
                let gap = more.sub(added).as_constant();
                let is_less = || Formula::lt(added, more);
                gap.is_none_or(|gap| gap > 0)
                    .then(|| Formula::All(vec![case.clone(), other.clone(), is_less()]))
            })
        });
        less.all(|less| self.is_never(&less.replace(&|_| None)))
    }
}

/// Which of two loops is asked to add no less than the other.
#[derive(Clone, Copy, Debug)]
enum Order {
    EarlierFirst,
    LaterFirst,
}

impl Recount {
    /// What a later loop's variable is at most: as far on from where it begins as was counted.
    fn end(&self, later: &Rounds) -> Poly {
        later.first.add(&self.value.sub(&self.rounds.first))
    }

    /// That a variable has not stayed behind what was counted, where each round of both loops
    /// adds as much: the rounds before have brought it as far as the count was, and the
    /// count's own rounds, of which so many are `left`, have each added `most` at most. Where
    /// the end is of its type, it has not wrapped.
    fn rest_of_run(
        &self,
        later: &Rounds,
        (left, wraps): (&Poly, Formula),
        (at, most): (Unknown, i128),
    ) -> Formula {
        let (own, end) = (Poly::unknown(at), self.end(later));
        let after = left.plus(-1).scaled(most);
        let rest = |(case, added): &(Formula, Poly)| {
            case.clone().and(Formula::le(&end, &own.add(added).add(&after)))
        };
        let mut cases = vec![Formula::le(left, &Poly::default()), wraps];
        cases.extend(later.cases.iter().map(rest));
        Formula::Any(cases).replace(&|_| None)
    }

    /// That a variable to which a later loop adds has gone no further than what was counted,
    /// where a round starts that the earlier loop has made too. Where the end of that is of its
    /// type, it has not wrapped, and has not gone back.
    fn end_of_run(
        &self,
        later: &Rounds,
        (is_later, wraps): (Formula, Formula),
        at: Unknown,
    ) -> Formula {
        let (own, end) = (Poly::unknown(at), self.end(later));
        let goes_up = wraps.or(Formula::le(&later.first, &own));
        let known = within_run(&later.cases, (&own, &end));
        is_later.or(known.and(goes_up)).replace(&|_| None)
    }
}

/// That a round which starts with `own`, and adds what these cases say, brings it no further than
/// to `end`. Of numbers that is said one by one: the least is added in any case, and as much as
/// another one where no case holds that adds less.
fn within_run(cases: &[(Formula, Poly)], (own, end): (&Poly, &Poly)) -> Formula {
    let numbers: Option<BTreeSet<i128>> =
        cases.iter().map(|(_, added)| added.as_constant()).collect();
    let Some(numbers) = numbers else {
        let within =
            |(case, added): &(Formula, Poly)| case.clone().and(Formula::le(&own.add(added), end));
        return Formula::Any(cases.iter().map(within).collect());
    };
    let adds_less = |than: i128| {
        let less =
            cases.iter().filter(move |(_, added)| added.as_constant().is_some_and(|of| of < than));
        less.map(|(case, _)| case.clone())
    };
    let adds = |number: &i128| {
        let within = Formula::le(&own.plus(*number), end);
        adds_less(*number).fold(within, Formula::or)
    };
    Formula::All(numbers.iter().map(adds).collect())
}

/// What is one value in two loops, in rounds of one number; so of loops inside of each other.
pub(in super::super) struct Translation<'a, 'w> {
    walk: &'a Walk<'w>,
    /// The outermost loop from which it is translated.
    id: Option<LoopId>,
    /// The numbers of the rounds, in those loops and in the others.
    numbers: Vec<[Unknown; 2]>,
}

impl<'a, 'w> Translation<'a, 'w> {
    /// Of as many loops as others, each inside of the one before it.
    pub(in super::super) fn of(walk: &'a Walk<'w>, from: &[LoopId], to: &[LoopId]) -> Self {
        let number = |id: &LoopId| walk.all_loops[id.0].number;
        let numbers = from.iter().zip(to).map(|(from, to)| [number(from), number(to)]).collect();
        Self { walk, id: from.first().copied(), numbers }
    }

    /// What a condition is in the other loops.
    pub(in super::super) fn of_formula(&self, formula: &Formula) -> Option<Formula> {
        self.formula(formula, MAX_DEPTH)
    }

    /// What a value is in the other loops.
    pub(in super::super) fn of_poly(&self, poly: &Poly) -> Option<Poly> {
        self.poly(poly, MAX_DEPTH)
    }

    fn cases(&self, cases: &[(Formula, Poly)]) -> Option<Cases> {
        let one = |(case, added): &(Formula, Poly)| {
            Some((self.formula(case, MAX_DEPTH)?, self.poly(added, MAX_DEPTH)?))
        };
        cases.iter().map(one).collect()
    }

    fn formula(&self, formula: &Formula, depth: u32) -> Option<Formula> {
        let mut of = Vec::new();
        formula.collect_unknowns(&mut of);
        let to: Option<Vec<(Unknown, Poly)>> =
            of.into_iter().map(|of| Some((of, self.unknown(of, depth)?))).collect();
        let to = to?;
        Some(
            formula
                .replace(&|of| to.iter().find(|(from, _)| *from == of).map(|(_, to)| to.clone())),
        )
    }

    fn poly(&self, poly: &Poly, depth: u32) -> Option<Poly> {
        let to: Option<Vec<(Unknown, Poly)>> =
            poly.unknowns().map(|of| Some((of, self.unknown(of, depth)?))).collect();
        let to = to?;
        Some(poly.replace(&|of| to.iter().find(|(from, _)| *from == of).map(|(_, to)| to.clone())))
    }

    /// What an unknown is in the other loop.
    fn unknown(&self, of: Unknown, depth: u32) -> Option<Poly> {
        let walk = self.walk;
        if let Some([_, to]) = self.numbers.iter().find(|[from, _]| *from == of) {
            return Some(Poly::unknown(*to));
        }
        if !self.id.is_some_and(|id| walk.symbols.is_inside(of, id)) {
            return Some(Poly::unknown(of));
        }
        let depth = depth.checked_sub(1)?;
        self.element(of, depth)
            .or_else(|| self.cell(of, depth))
            .or_else(|| self.own_cell(of, depth))
            .or_else(|| self.function(of, depth))
            .or_else(|| self.choice(of, depth))
            .or_else(|| walk.named_again(of, &|value| self.poly(value, depth)))
            .map(Poly::unknown)
    }

    fn element(&self, of: Unknown, depth: u32) -> Option<Unknown> {
        let element = self.walk.elements.get(&of)?;
        let at: Option<Vec<Poly>> =
            element.indices.iter().map(|index| self.poly(index, depth)).collect();
        let at = at?;
        let is_it = |other: &Element| {
            other.tensor == element.tensor && other.pad == element.pad && other.indices == at
        };
        self.walk.elements.iter().find(|(_, other)| is_it(other)).map(|(symbol, _)| *symbol)
    }

    /// The same cell of a tile in the same version.
    fn cell(&self, of: Unknown, depth: u32) -> Option<Unknown> {
        self.walk.reread.places_of(of).find_map(|(version, at)| {
            let at: Option<Vec<Poly>> = at.iter().map(|index| self.poly(index, depth)).collect();
            self.walk.reread.symbol_at(version, &at?)
        })
    }

    /// The same cell of a local array, as it was left.
    fn own_cell(&self, of: Unknown, depth: u32) -> Option<Unknown> {
        let own = &self.walk.own_arrays;
        own.places_of(of).find_map(|cell| {
            let cell = own.translated(cell, &|index| self.poly(index, depth))?;
            own.symbol_in(&cell)
        })
    }

    fn function(&self, of: Unknown, depth: u32) -> Option<Unknown> {
        let (function, one, other) = self.walk.function_of(of)?;
        let key = (*function, self.poly(one, depth)?, self.poly(other, depth)?);
        self.walk.functions.get(&key).copied()
    }

    fn choice(&self, of: Unknown, depth: u32) -> Option<Unknown> {
        let (cond, then, otherwise) = self.walk.choices.get(&of)?;
        let parts = (
            Cond { yes: self.formula(&cond.yes, depth)?, no: self.formula(&cond.no, depth)? },
            self.poly(then, depth)?,
            self.poly(otherwise, depth)?,
        );
        let mut choices = self.walk.choices.iter();
        choices.find(|(_, other)| **other == parts).map(|(symbol, _)| *symbol)
    }
}
