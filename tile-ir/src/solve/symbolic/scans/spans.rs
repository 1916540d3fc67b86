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
//! # What it rests on
//!
//! - Both sides are in one block, in the same iterations of the loops around the scan, so that all
//!   of the block has come by, and each with one number of its own. The scan is of the whole
//!   block.
//! - What is added is not negative, and `n` at least what each adds.
//! - Work-items are numbered from 0 on, without gaps, as the scan goes.
//! - Sums do not leave the range of their type, as those of any scan do not ([`super`]).

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::pairs::by_spans::Valued;
use super::super::pairs::flow::Distance;
use super::super::pairs::instance::{Builder, Meeting};
use super::super::pairs::ranks::times;
use super::super::walk::{Site, Walk};
use super::{Over, Sum};
use crate::exchange::Group;

/// A kind of spans, of which each work-item has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Spans {
    /// What gives each work-item what those before it have added.
    scan: Unknown,
    /// Of which number it is what the scan leaves, times the work-item's.
    rest_of: Option<i128>,
    /// Whether they go down.
    is_down: bool,
    /// Where the first one begins; of those that go down, the opposite of it.
    start: Poly,
}

impl Walk<'_> {
    /// In which kind of spans a value lies where an access is made, if both sides of a meeting are
    /// in the same iteration of these loops.
    pub(in super::super) fn spans_of(
        &self,
        site: &Site,
        (holds, value): &Valued,
        shared: &[LoopId],
    ) -> Option<Spans> {
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
            let start = self.first_start(&rest, shared)?;
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
    fn first_start(&self, value: &Poly, shared: &[LoopId]) -> Option<Poly> {
        let (together, paths) = (Distance::Same(shared.to_vec()), Default::default());
        let builder = Builder::new(self, Meeting::InBlock(&together, &paths));
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
    pub(in super::super) fn lie_behind(&self, [one, other]: [&Spans; 2]) -> bool {
        let Some(items) = &self.item_count else { return false };
        let rooms = match one.is_down == other.is_down {
            true => self.rooms_between([one, other], items),
            // From `start` on, and down from `-start`.
            false => {
                let starts = one.start.add(&other.start);
                let all = self.most_of_both([one, other], items);
                let below = all.map(|all| starts.add(&all).negated().plus(1));
                [starts.plus(-1)].into_iter().chain(below).collect()
            }
        };
        let is_room = |room: &Poly| room.as_constant().is_some_and(|room| room >= 0);
        let is_never_less = |room: &Poly| {
            room.as_constant().is_none()
                && self.is_never(&Formula::AtLeast(room.negated().plus(-1)))
        };
        rooms.iter().any(is_room) || rooms.iter().any(is_never_less)
    }

    /// Whether all spans of a kind lie between 0 and an extent.
    pub(in super::super) fn lie_below(&self, spans: &Spans, extent: &Poly) -> bool {
        let Some(items) = &self.item_count else { return false };
        let is_natural = |room: &Poly| match room.as_constant() {
            Some(room) => room >= 0,
            None => self.high(&room.negated()).is_some_and(|below| below <= 0),
        };
        // From `start` on, or from `-start` down.
        let (first, rest) = match spans.is_down {
            false => (spans.start.clone(), extent.sub(&spans.start)),
            true => (extent.add(&spans.start).plus(-1), spans.start.negated().plus(1)),
        };
        let mut ends = self.added_in_spans(spans, items).into_iter();
        is_natural(&first) && ends.any(|all| is_natural(&rest.sub(&all)))
    }

    /// How far the start of one of two kinds of spans that go one way lies behind the last span
    /// of the other one, which begins before it, of each bound.
    fn rooms_between(&self, [one, other]: [&Spans; 2], items: &Poly) -> Vec<Poly> {
        let ways = [(one, other), (other, one)].into_iter();
        let room = |(first, second): (&Spans, &Spans)| {
            let between = second.start.sub(&first.start);
            let all = self.added_in_spans(first, items).into_iter();
            all.map(move |all| between.sub(&all)).collect::<Vec<Poly>>()
        };
        ways.flat_map(room).collect()
    }

    /// What all work-items have added at most, of which a kind of spans is.
    fn added_in_spans(&self, spans: &Spans, items: &Poly) -> Vec<Poly> {
        let Some(sum) = self.sums.get(&spans.scan) else { return Vec::new() };
        let is_whole = |total: &Unknown| self.sums.get(total).is_some_and(|of| of.within.is_none());
        let totals = self.totals(sum).filter(is_whole).map(Poly::unknown);
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

impl Walk<'_> {
    /// Whether an unknown is what a scan of the block gives.
    pub(in super::super) fn is_scan_of_block(&self, unknown: Unknown) -> bool {
        self.sums.get(&unknown).is_some_and(Sum::is_scan_of_block)
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
