//! Places that lie in spans which a scan gives each work-item: how a radix sort splits its keys.
//!
//! A work-item has `n` keys, of which `c` have a bit that is not set. The exclusive scan `e` of
//! `c` gives it places from `e` on for these. All of them fill the places below the sum `all`, and
//! the others go behind: of the `n * t` keys before its own `e` are below, so that its own others
//! have places from `all + n * t - e` on. Which key goes where has `2^n` cases; but whichever it
//! is, a work-item's places lie in two spans of its own: `c` from `e` on, and `n - c` from
//! `all + n * t - e` on. That a place does is asked of one access alone, in which a key's flags
//! are numbers between 0 and 1, and no case of theirs is looked into.
//!
//! A span begins at a *start*, which is one for the block, and so far from it as all work-items
//! before have added: of a scan `e`, or of the rest `n * t - e`, which is the scan of `n - c`.
//! So no two work-items have a place of one kind of span in common, and all of a kind lie between
//! its start and as far as all have added together. Of two kinds it is asked whether these lie
//! behind one another. A span may go down from its start: the places are `start - e` then, and
//! before that.
//!
//! What is made of such places one to one is disjoint with them, as `(r & 3) * 256 + r / 4`
//! ([`super::super::pairs::ranks`]).
//!
//! # What it rests on
//!
//! - Both sides are in one block, in the same iterations of the loops around the scan, so that all
//!   of the block has come by, and each with one number of its own. The scan is of the whole
//!   block.
//! - What is added is not negative, and `n` at least what each adds.
//! - Work-items are numbered from 0 on, without gaps, as the scan goes.
//! - Sums do not leave the range of their type, as those of any scan do not ([`super`]).

use std::cell::RefCell;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::pairs::by_values::Valued;
use super::super::pairs::instance::{Builder, Meeting};
use super::super::pairs::ranks::times;
use super::super::search::linear::Effort;
use super::super::walk::{Site, Walk, Worker};
use super::{Over, Sum};
use crate::exchange::Group;

/// Of how many parts of a kernel's effort what is asked of one pair takes one.
const PART: u64 = 24;

/// A kind of spans, of which each work-item has one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Spans {
    /// What gives each work-item what those before it have added.
    scan: Unknown,
    /// Of which number it is what the scan leaves, times the work-item's.
    rest_of: Option<i128>,
    /// Whether they go down.
    is_down: bool,
    /// Where the first one begins; of those that go down, the opposite of it.
    start: Poly,
}

/// What is asked of one access: of a value, under these conditions, where both sides of a meeting
/// are in the same iteration of these loops.
type Question = (Poly, Vec<Formula>, Vec<LoopId>);

/// What has been found, and what may still be spent, besides what other proofs may.
#[derive(Debug)]
pub(in super::super) struct Found {
    answers: RefCell<Vec<(Question, Option<Vec<Spans>>)>>,
    effort: Effort,
}

impl Default for Found {
    fn default() -> Self {
        Self { answers: RefCell::default(), effort: Effort::of_kernel().half().half() }
    }
}

impl Walk<'_> {
    /// What `prove` says where it spends no more than a part of what is set aside for this.
    fn within_spans(&self, prove: impl FnOnce() -> bool) -> bool {
        self.effort.exchanged(&self.spans.effort, || self.effort.within_part(PART, prove))
    }

    /// Whether two accesses of one block are disjoint since the places of each work-item lie in
    /// spans of its own.
    pub(in super::super) fn is_apart_by_spans(
        &self,
        sites: [&Site; 2],
        meeting: Meeting<'_>,
    ) -> bool {
        let are_items = sites.iter().all(|site| site.worker == Worker::Item);
        if self.sums.is_empty() || !are_items || meeting.shared_loops().is_none() {
            return false;
        }
        let axes = sites[0].indices.len().min(sites[1].indices.len());
        self.within_spans(|| {
            (0..axes).any(|axis| {
                let indices = sites.map(|site| &site.indices[axis]);
                self.are_apart_by_spans(sites, meeting, indices)
                    || self.are_made_of_spans(sites, meeting, axis)
            })
        })
    }

    /// Whether an index, or a number of which it is made, is among values of which each is made
    /// of a scan.
    pub(in super::super) fn is_spread(&self, index: &Poly) -> bool {
        let is_of_scan = |(_, value): &Valued| {
            value.unknowns().any(|of| self.sums.get(&of).is_some_and(Sum::is_scan_of_block))
        };
        !self.sums.is_empty()
            && self.values_by_choices(index).is_some_and(|values| values.iter().all(is_of_scan))
    }

    /// Whether one work-item never makes both accesses at one cell, since both places are
    /// made of a scan, or since what they are made of one to one is.
    pub(in super::super) fn part_by_spans(&self, sites: [&Site; 2]) -> bool {
        let axes = sites[0].indices.len().min(sites[1].indices.len());
        let are_spread = |numbers: [&Poly; 2]| numbers.iter().all(|of| self.is_spread(of));
        !self.sums.is_empty()
            && self.within_spans(|| {
                (0..axes).any(|axis| {
                    let indices = sites.map(|site| &site.indices[axis]);
                    let differ = |[one, other]: &[Poly; 2]| {
                        let numbers = [one, other];
                        are_spread(numbers)
                            && self.differ_by_values(sites, numbers)
                            && self.have_places_of(sites, axis, numbers)
                    };
                    let numbers = self.numbers_of_both(sites, axis);
                    numbers.iter().any(differ)
                        || numbers.is_empty()
                            && are_spread(indices)
                            && self.differ_by_values(sites, indices)
                })
            })
    }

    /// The numbers of which an index of one access is made, with those of the other one's.
    fn numbers_of_both(&self, sites: [&Site; 2], axis: usize) -> Vec<[Poly; 2]> {
        let [ours, theirs] = sites.map(|site| self.numbers_in(&site.indices[axis]));
        let with = |one: &Poly| theirs.iter().map(|other| [one.clone(), other.clone()]).collect();
        ours.iter().flat_map::<Vec<[Poly; 2]>, _>(with).collect()
    }

    /// Whether it is so of numbers of which the indices are made one to one.
    fn are_made_of_spans(&self, sites: [&Site; 2], meeting: Meeting<'_>, axis: usize) -> bool {
        self.numbers_of_both(sites, axis).iter().any(|[one, other]| {
            if std::env::var_os("DBG").is_some() { let e0=self.effort.half(); let a=self.are_apart_by_spans(sites, meeting, [one, other]); let e1=self.effort.half(); let b=self.have_places_of(sites, axis, [one, other]); eprintln!("MADE {one:?} {other:?} {a} {b} {e0:?} {e1:?} {:?}", self.effort.half()); return a&&b; }
            self.are_apart_by_spans(sites, meeting, [one, other])
                && self.have_places_of(sites, axis, [one, other])
        })
    }

    /// Whether two work-items, each at one of these accesses, never have one number there.
    fn are_apart_by_spans(
        &self,
        sites: [&Site; 2],
        meeting: Meeting<'_>,
        values: [&Poly; 2],
    ) -> bool {
        let of = |side: usize| self.spans_of((sites[side], values[side]), meeting);
        let Some(ours) = of(0).filter(|spans| !spans.is_empty()) else { return false };
        let Some(theirs) = of(1).filter(|spans| !spans.is_empty()) else { return false };
        let mut both = ours.iter().flat_map(|one| theirs.iter().map(move |other| (one, other)));
        both.all(|(one, other)| one == other || self.lie_behind([one, other]))
    }

    /// In which kinds of spans a value lies where an access is made; `None` where that is not
    /// seen.
    fn spans_of(&self, (site, value): (&Site, &Poly), meeting: Meeting<'_>) -> Option<Vec<Spans>> {
        if !self.is_spread(value) {
            return None;
        }
        let shared = meeting.shared_loops()?.to_vec();
        let question = (value.clone(), site.guards.clone(), shared);
        let answers = &self.spans.answers;
        let known = answers.borrow().iter().find(|known| known.0 == question).cloned();
        if let Some((_, answer)) = known {
            return answer;
        }
        let found = |valued: &Valued| { let r = self.spans_of_value(site, valued, meeting); if std::env::var_os("DBG").is_some() { eprintln!(" SPAN {valued:?} {r:?} left {:?} guards {:?}", self.effort, site.guards); } r };
        let answer: Option<Vec<Spans>> = self.values_by_choices(value)?.iter().map(found).collect();
        answers.borrow_mut().push((question, answer.clone()));
        answer
    }

    /// In which kind of spans a value lies where an access is made.
    fn spans_of_value(
        &self,
        site: &Site,
        (holds, value): &Valued,
        meeting: Meeting<'_>,
    ) -> Option<Spans> {
        let shared = meeting.shared_loops()?;
        let scans = self.sums.iter().filter(|(scan, sum)| {
            sum.is_scan_of_block()
                && sum.loops.iter().all(|id| shared.contains(id))
                && value.mentions(**scan)
        });
        let ways = scans.flat_map(|scan| [(scan, false), (scan, true)]);
        ways.into_iter().find_map(|((scan, sum), is_down)| {
            let value = if is_down { value.negated() } else { value.clone() };
            let (before, rest_of) = self.added_before((*scan, sum), &value)?;
            let rest = value.sub(&before);
            let start = self.first_start(&rest, meeting)?;
            let place = rest.sub(&start);
            let width = sum.width(rest_of);
            let outside = Formula::lt(&place, &Poly::default()).or(Formula::le(&width, &place));
            let made = Formula::All(site.guards.clone()).and(holds.clone());
            let spans = Spans { scan: *scan, rest_of, is_down, start };
            self.is_never(&made.and(outside)).then_some(spans)
        })
    }

    /// What those before a work-item have added, of which a value is made: of the scan, or of the
    /// rest of which number.
    fn added_before(
        &self,
        (scan, sum): (Unknown, &Sum),
        value: &Poly,
    ) -> Option<(Poly, Option<i128>)> {
        let given = Poly::unknown(scan);
        let before = if sum.over == Over::UpTo { given.sub(&sum.of) } else { given };
        let number = self.item_number.as_ref()?;
        match value.cofactor(scan).as_constant()? {
            1 => {
                let is_scan = times(&value.sub(&before), number)? == 0;
                is_scan.then_some((before, None))
            }
            -1 => {
                let n = times(&value.add(&before), number)?;
                let is_rest = n > 0 && sum.most.is_some_and(|most| most <= n);
                is_rest.then(|| (number.scaled(n).sub(&before), Some(n)))
            }
            _ => None,
        }
    }

    /// What of a value the block has in common, with the least that is added to that.
    fn first_start(&self, value: &Poly, meeting: Meeting<'_>) -> Option<Poly> {
        let builder = Builder::new(self, meeting);
        let own = value.terms().iter().fold(Poly::default(), |own, (product, factor)| {
            let is_shared = product.iter().all(|unknown| builder.is_shared(*unknown));
            if is_shared { own } else { own.add(&Poly::product(*product).scaled(*factor)) }
        });
        let (rest, less) = self.apart_from_digits(&own);
        let low = self.high(&rest.negated()).and_then(i128::checked_neg);
        let start = value.sub(&own).plus(low.map_or(0, |low| low.saturating_sub(less)));
        (!start.is_lost()).then_some(start)
    }

    /// Whether all spans of one kind lie behind all of another one.
    fn lie_behind(&self, [one, other]: [&Spans; 2]) -> bool {
        let Some(items) = &self.item_count else { return false };
        let is_at_most = |least: &Poly, most: &Poly| match most.sub(least).as_constant() {
            Some(room) => room >= 0,
            None => self.is_never(&Formula::lt(most, least)),
        };
        let ends = |of: &Spans| {
            let totals = self.added_by_all(of, items);
            totals.into_iter().map(|total| of.start.add(&total)).collect::<Vec<Poly>>()
        };
        let is_behind =
            |one: &Spans, other: &Spans| ends(one).iter().any(|end| is_at_most(end, &other.start));
        if one.is_down == other.is_down {
            return is_behind(one, other) || is_behind(other, one);
        }
        // From `start` on, and down from `-start`.
        let starts = one.start.add(&other.start);
        let all = self.most_of_both([one, other], items);
        is_at_most(&Poly::constant(1), &starts)
            || all.is_some_and(|all| is_at_most(&starts.add(&all), &Poly::constant(1)))
    }

    /// What all work-items have added at most, of which a kind of spans is.
    fn added_by_all(&self, spans: &Spans, items: &Poly) -> Vec<Poly> {
        let Some(sum) = self.sums.get(&spans.scan) else { return Vec::new() };
        let totals = self.totals(sum).map(Poly::unknown);
        match spans.rest_of {
            None => totals.chain(sum.most.map(|most| items.scaled(most))).collect(),
            Some(n) => {
                totals.map(|total| items.scaled(n).sub(&total)).chain([items.scaled(n)]).collect()
            }
        }
    }

    /// What all work-items have added at most, of two kinds of spans together.
    fn most_of_both(&self, both: [&Spans; 2], items: &Poly) -> Option<Poly> {
        let [one, other] = both.map(|spans| self.sums.get(&spans.scan));
        let [one, other] = [one?.width(both[0].rest_of), other?.width(both[1].rest_of)];
        let width = one.add(&other);
        let each = both.iter().filter_map(|spans| self.sums.get(&spans.scan)?.most);
        let most = width.as_constant().or(each.max())?;
        let is_more = Formula::lt(&Poly::constant(most), &width);
        self.is_never(&is_more).then(|| items.scaled(most))
    }
}

impl Sum {
    /// Whether it is the sum over those of the whole block that come before a work-item, or up
    /// to it.
    fn is_scan_of_block(&self) -> bool {
        self.over != Over::All && self.group == Group::Block && self.within.is_none()
    }

    /// How long a work-item's span is.
    fn width(&self, rest_of: Option<i128>) -> Poly {
        rest_of.map_or_else(|| self.of.clone(), |n| self.of.negated().plus(n))
    }
}
