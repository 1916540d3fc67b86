//! Questions about accesses whose places lie in spans that a scan gives each work-item
//! ([`super::super::scans::spans`]).
//!
//! `let r = if bit == 1 { below } else { all + 4 * t - below };` is one of two values, each in
//! spans of its own kind. So two work-items are never at one place, if spans of one kind are all
//! of others, and spans of two kinds lie behind one another. Of one work-item's two places in
//! spans of one kind it is asked whether they are equal. And all places lie between the ends of
//! their spans.
//!
//! What is made of such places one to one is disjoint with them, as `(r & 3) * 256 + r / 4`
//! ([`super::ranks`]).

use std::cell::RefCell;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::algebra::symbol::LoopId;
use super::super::scans::spans::Spans;
use super::super::search::linear::Effort;
use super::super::walk::{Site, Walk, Worker};
use super::instance::Meeting;

/// Of how many parts of a kernel's effort what is asked of one pair takes one.
const PART: u64 = 24;

/// Values of one index that are looked at.
const MAX_VALUES: usize = 8;

/// A value that an index has where something holds.
pub(in super::super) type Valued = (Formula, Poly);

/// What is asked of one access: of a value, under these conditions, where both sides of a meeting
/// are in the same iteration of these loops.
type Question = (Poly, Vec<Formula>, Vec<LoopId>);

/// The values that something may have, and in which kind of spans each of them lies.
type Spread = Vec<(Valued, Spans)>;

/// What has been found, and what may still be spent, besides what other proofs may.
#[derive(Debug)]
pub(in super::super) struct BySpans {
    spread: RefCell<Vec<(Question, Option<Spread>)>>,
    /// Whether one work-item never has one value of both.
    parted: RefCell<Vec<([Question; 2], bool)>>,
    effort: Effort,
}

impl Default for BySpans {
    fn default() -> Self {
        let effort = Effort::of_kernel().half().half();
        Self { spread: RefCell::default(), parted: RefCell::default(), effort }
    }
}

impl Walk<'_> {
    /// Whether two accesses of one block are disjoint since the places of each work-item, or
    /// what they are made of one to one, lie in spans of its own.
    pub(in super::super) fn is_apart_by_spans(
        &self,
        sites: [&Site; 2],
        meeting: Meeting<'_>,
    ) -> bool {
        let are_items = sites.iter().all(|site| site.worker == Worker::Item);
        let Some(shared) = meeting.shared_loops().filter(|_| are_items) else { return false };
        self.by_spans(sites, &|numbers| {
            let [one, other] = [0, 1].map(|at| self.spread(sites[at], numbers[at], shared));
            one.zip(other).is_some_and(|(one, other)| {
                let mut both =
                    one.iter().flat_map(|(_, one)| other.iter().map(move |of| (one, &of.1)));
                both.all(|(one, other)| one == other || self.lie_behind([one, other]))
            })
        })
    }

    /// Whether one work-item never makes both accesses at one cell, in one iteration of the loops
    /// around, since its places, or what they are made of one to one, differ.
    pub(in super::super) fn part_by_spans(&self, sites: [&Site; 2]) -> bool {
        let loops = &sites[0].loops;
        let question =
            |site: &Site, value: &Poly| (value.clone(), site.guards.clone(), loops.clone());
        sites[1].loops == *loops
            && self.by_spans(sites, &|numbers| {
                let questions = [0, 1].map(|at| question(sites[at], numbers[at]));
                let parted = &self.by_spans.parted;
                let known = parted.borrow().iter().find(|of| of.0 == questions).map(|of| of.1);
                known.unwrap_or_else(|| {
                    let differ = self.differ_by_spans(sites, numbers);
                    parted.borrow_mut().push((questions, differ));
                    differ
                })
            })
    }

    /// Whether one work-item's numbers differ, where it makes both accesses.
    fn differ_by_spans(&self, sites: [&Site; 2], numbers: [&Poly; 2]) -> bool {
        let spread = |at: usize| self.spread(sites[at], numbers[at], &sites[at].loops);
        let (Some(ours), Some(theirs)) = (spread(0), spread(1)) else { return false };
        let made = sites.iter().flat_map(|site| site.guards.iter().cloned());
        let made = Formula::All(made.collect());
        let mut both = ours.iter().flat_map(|one| theirs.iter().map(move |other| (one, other)));
        both.all(|(((holds, value), one), ((theirs, their), other))| {
            let together = || made.clone().and(holds.clone()).and(theirs.clone());
            one != other && self.lie_behind([one, other])
                || self.is_never(&together().and(Formula::eq(value, their)))
        })
    }

    /// Whether the value of an index, or of a number of which it is made, is seen to lie below an
    /// extent where an access is made.
    pub(in super::super) fn lies_in_spans(&self, site: &Site, value: &Poly, extent: &Poly) -> bool {
        let found = || self.spread(site, value, &site.loops);
        self.is_spread(value)
            && found().is_some_and(|found| found.iter().all(|(_, of)| self.lie_below(of, extent)))
    }

    /// Whether something holds of the indices of two accesses along one axis, or of numbers of
    /// which both are made one to one.
    fn by_spans(&self, sites: [&Site; 2], holds: &dyn Fn([&Poly; 2]) -> bool) -> bool {
        let axes = sites[0].indices.len().min(sites[1].indices.len());
        let holds_along = |axis: usize| {
            let indices = sites.map(|site| &site.indices[axis]);
            let numbers = indices.map(|index| self.numbers_in(index));
            let mut both =
                numbers[0].iter().flat_map(|one| numbers[1].iter().map(move |of| [one, of]));
            let are_spread = |numbers: [&Poly; 2]| numbers.iter().all(|of| self.is_spread(of));
            are_spread(indices) && holds(indices)
                || both.any(|numbers| {
                    are_spread(numbers)
                        && holds(numbers)
                        && self.have_places_of(sites, axis, numbers)
                })
        };
        !self.sums.is_empty()
            && self.effort.exchanged(&self.by_spans.effort, || {
                self.effort.within_part(PART, || (0..axes).any(holds_along))
            })
    }

    /// The values that something may have where an access is made, each with the kind of spans in
    /// which it lies; `None` where that is not seen.
    fn spread(&self, site: &Site, value: &Poly, shared: &[LoopId]) -> Option<Spread> {
        let question = (value.clone(), site.guards.clone(), shared.to_vec());
        let answers = &self.by_spans.spread;
        let known = answers.borrow().iter().find(|known| known.0 == question).cloned();
        if let Some((_, answer)) = known {
            return answer;
        }
        let found = |valued: Valued| {
            let spans = self.spans_of(site, &valued, shared)?;
            Some((valued, spans))
        };
        let answer: Option<Spread> =
            self.values_by_choices(value)?.into_iter().map(found).collect();
        answers.borrow_mut().push((question, answer.clone()));
        answer
    }

    /// Whether something is among values of which each is made of a scan, itself or one of its
    /// opposite.
    fn is_spread(&self, value: &Poly) -> bool {
        let is_of_scan = |(_, value): &Valued| {
            value.unknowns().any(|of| {
                let factor = || value.cofactor(of).as_constant();
                self.is_scan_of_block(of) && matches!(factor(), Some(1 | -1))
            })
        };
        !self.sums.is_empty()
            && self.values_by_choices(value).is_some_and(|values| values.iter().all(is_of_scan))
    }

    /// The values among which choices leave an index, each with what holds then; `None` where
    /// they are many. A choice between two numbers stays as it is.
    fn values_by_choices(&self, index: &Poly) -> Option<Vec<Valued>> {
        let (mut open, mut found) = (vec![(Formula::True, index.clone())], Vec::new());
        while let Some((holds, value)) = open.pop() {
            let choice = value.unknowns().find_map(|unknown| {
                let choice = self.choice_of(unknown)?;
                let is_number = choice.1.as_constant().and(choice.2.as_constant()).is_some();
                (!is_number).then_some((unknown, choice))
            });
            let Some((unknown, (cond, then, otherwise))) = choice else {
                found.push((holds, value));
                continue;
            };
            let with = |of: &Poly| value.replace(&|other| (other == unknown).then(|| of.clone()));
            open.push((holds.clone().and(cond.yes.clone()), with(then)));
            open.push((holds.and(cond.no.clone()), with(otherwise)));
            if open.len() + found.len() > MAX_VALUES {
                return None;
            }
        }
        found.iter().all(|(_, value)| !value.is_lost()).then_some(found)
    }
}
