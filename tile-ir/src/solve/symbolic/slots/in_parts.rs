//! Ranks that work-items count of one list in several additions: in loops one after the other, in
//! variables that are added up later, or at several places of the list in one iteration.
//!
//! `for j in 0..n { if s[j] < x { r += 1; } } for j in 0..t { if s[j] == x { r += 1; } }`, where
//! `x` is `s[t]`: neither loop gives ranks. But together they count who comes first by element and
//! place, each once. So all additions are taken as one count of the places of the list: a place is
//! counted where one of them goes to it and counts what is there. If of two work-items each way one
//! is counted by the other, and what one counts is counted by whom it is counted by, the second has
//! counted more ([`super::tallied`]).
//!
//! # What it rests on
//!
//! - An iteration of a loop goes to one place, `start + number * step`, and there is one of that
//!   number just where the loop's end is not reached: nobody leaves it. What is not such a place is
//!   not counted.
//! - No place is counted twice, by two additions.
//! - All of that is proved of the text's own conditions and bounds, for any integers, of own places
//!   from where one of the loops begins to where one of them ends, which is a case of the two
//!   work-items' meeting.
//! - All loops go through one list as it was when the own element was read: a row of a tensor that
//!   is never written, or of a block's tile in one version. That both work-items go through one row is a
//!   case of their meeting.
//! - Counts of 32 bits and more do not leave the range of their type ([`super::slot`]).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::loops::Carried;
use super::super::pairs::instance::{Builder, Side};
use super::super::scans::prefix::single;
use super::super::terms::congruent::{Array, Read};
use super::super::terms::integers::range_of;
use super::super::walk::{Value, Walk};
use super::counted_places::Ranks;
use super::tallied::{Counted, List};
use crate::kernel::{ArrayRef, Type};

/// Choices one within the other that say whether something is counted.
const MAX_CHOICES: u32 = 4;

/// Most additions that make one count.
const MAX_PIECES: usize = 4;

/// Most counts of which it is asked which of them make ranks together.
const MAX_COUNTS: usize = 5;

/// A list, along one axis of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) array: Array<'static>,
    pub(super) axis: usize,
    /// The indices along the other axes.
    pub(super) others: Vec<Poly>,
}

/// What one addition in a loop counts of a list.
#[derive(Clone, Debug)]
pub(in super::super) struct Piece {
    pub(super) row: Row,
    /// The number of the iteration.
    pub(super) number: Unknown,
    /// Where in the list an iteration goes, and how far it is to where the next one goes.
    pub(super) along: Poly,
    pub(super) step: i128,
    /// There is no iteration where this is not below 0.
    pub(super) beyond: Poly,
    pub(super) counts: Counted,
    /// The values that are the element of the list there.
    pub(super) listed: Vec<Unknown>,
    /// Those that are the own element, and where that is.
    pub(super) read: BTreeSet<Unknown>,
    pub(super) place: Poly,
    /// Of elements that are promised to differ: where the own one is, and below which extents that
    /// must be.
    pub(super) inside: Option<Vec<(Poly, Poly)>>,
}

/// What a variable has counted in a loop.
#[derive(Clone, Debug)]
struct Count {
    around: Vec<LoopId>,
    pieces: Vec<Piece>,
    /// What was in the variable before the loop, and after it.
    first: Poly,
    after: Unknown,
    /// Whether work-items have ranks by it alone.
    is_tally: bool,
}

/// What has been counted in parts.
#[derive(Debug, Default)]
pub(in super::super) struct InParts {
    counts: Vec<Count>,
    /// By the counts that are taken together, whether work-items have ranks by them.
    known: RefCell<BTreeMap<Vec<usize>, Option<Ranks>>>,
}

/// A variable at the head of an iteration and at its end.
type Change<'a> = (&'a Poly, &'a Poly);

impl Walk<'_> {
    /// What a loop counts of a list in a variable that was `first` before it, `at` where an
    /// iteration starts and `end` after that.
    pub(in super::super) fn pieces(
        &self,
        (id, ty): (LoopId, Type),
        (first, at, end): (&Poly, Unknown, &Poly),
    ) -> Option<Vec<Piece>> {
        let is_wide = range_of(ty).is_none_or(|(_, max)| max >= i32::MAX.into());
        let beyond = self.all_loops[id.0].beyond.as_ref()?;
        let Formula::AtLeast(beyond) = beyond else { return None };
        if !is_wide || first.is_lost() || end.is_lost() || beyond.is_lost() {
            return None;
        }
        let mut out = Vec::new();
        let always = Cond { yes: Formula::True, no: Formula::False };
        let change = (&Poly::unknown(at), end);
        self.collect_pieces((id, ty, at), change, (&always, MAX_CHOICES), &mut out)?;
        let is_one = |piece: &Piece| {
            out.first().is_some_and(|one| one.row == piece.row && one.place == piece.place)
        };
        (out.len() <= MAX_PIECES && out.iter().all(is_one)).then_some(out)
    }

    /// Takes what an iteration adds where a condition holds apart into what it counts at one place
    /// of a list each.
    fn collect_pieces(
        &self,
        of: (LoopId, Type, Unknown),
        (own, end): Change<'_>,
        (guard, depth): (&Cond, u32),
        out: &mut Vec<Piece>,
    ) -> Option<()> {
        let (id, ty, at) = of;
        let exact = self.before_wrapping(end, ty);
        let end = exact.as_ref().unwrap_or(end);
        let added = end.sub(own);
        if added.as_constant() == Some(0) {
            return Some(());
        }
        let counts = self.counts_in(ty, (own, end), MAX_CHOICES);
        let counts = counts.map(|counts| counts.under(guard));
        if let Some(piece) = counts.and_then(|counts| self.piece((id, at), counts)) {
            out.push(piece);
            return Some(());
        }
        let depth = depth.checked_sub(1)?;
        if let Some((cond, then, otherwise)) = single(end).and_then(|of| self.choices.get(&of)) {
            if let Some(by) = then.sub(otherwise).as_constant() {
                // What was there before, and this where the condition holds.
                self.collect_pieces(of, (own, otherwise), (guard, depth), out)?;
                let counts = Counted::by(by);
                let counts = Counted::either(cond, counts, Counted::by(0)).under(guard);
                out.push(self.piece((id, at), counts)?);
                return Some(());
            }
            let [yes, no] = [cond.clone(), cond.clone().negated()].map(|of| guard.clone().and(of));
            self.collect_pieces(of, (own, then), (&yes, depth), out)?;
            return self.collect_pieces(of, (own, otherwise), (&no, depth), out);
        }
        let [_, _, ..] = added.terms() else { return None };
        added.terms().iter().try_for_each(|(product, factor)| {
            let part = Poly::product(*product).scaled(*factor);
            let none = Poly::default();
            self.collect_pieces(of, (&none, &part), (guard, depth), out)
        })
    }

    /// What is counted of a list by the iterations of a loop, of each at one place.
    fn piece(&self, (id, at): (LoopId, Unknown), counts: Counted) -> Option<Piece> {
        let [listed, outer] = self.asked_by(&counts, (id, at))?;
        let number = self.all_loops[id.0].number;
        let list = self.list_along(number, &listed)?;
        let own: Vec<(Unknown, Poly)> = outer
            .into_iter()
            .filter_map(|unknown| Some((unknown, self.place_in(&list, unknown)?)))
            .collect();
        let (_, place) = own.first()?;
        if own.iter().any(|(_, other)| other != place) {
            return None;
        }
        let inside = own.iter().find_map(|(unknown, _)| self.extents_of_distinct(*unknown));
        let array = match list.read.array {
            Array::Tensor(tensor) => Array::Tensor(tensor),
            Array::Tile(tile, version) if !self.kernel.is_local(ArrayRef::Tile(tile)) => {
                Array::Tile(tile, version)
            }
            Array::Tile(..) | Array::Written(..) => return None,
        };
        let (axis, mut others) = (list.axis, list.read.at.clone());
        let along = others.remove(axis).clone();
        let others = others.into_iter().cloned().collect();
        let step = along.cofactor(number).as_constant()?;
        let Some(Formula::AtLeast(beyond)) = &self.all_loops[id.0].beyond else { return None };
        let changes = |of: Unknown| of != number && self.symbols.is_inside(of, id);
        if along.unknowns().chain(beyond.unknowns()).any(changes) {
            return None;
        }
        Some(Piece {
            row: Row { array, axis, others },
            number,
            along,
            step,
            beyond: beyond.clone(),
            counts,
            read: own.iter().map(|(unknown, _)| *unknown).collect(),
            place: place.clone(),
            listed,
            inside,
        })
    }

    /// The list to whose elements the iterations of a loop go by equal steps, one each.
    fn list_along(&self, number: Unknown, listed: &[Unknown]) -> Option<List<'_>> {
        let (first, others) = listed.split_first()?;
        let is_of_all = |read: &Read<'_>| {
            others.iter().all(|unknown| {
                let mut reads = self.reads_of(*unknown);
                reads.any(|other| other.array == read.array && other.at == read.at)
            })
        };
        // Not of each element of a tile it is known which one of a tensor has been stored there.
        let is_of_tensor = |read: &Read<'_>| matches!(read.array, Array::Tensor(..));
        let read = self.reads_of(*first).filter(is_of_all).min_by_key(is_of_tensor)?;
        let mut axes = read.at.iter().enumerate().filter(|(_, at)| at.mentions(number));
        let (axis, at) = axes.next()?;
        let step = at.cofactor(number).as_constant().filter(|step| *step != 0);
        let is_row = axes.next().is_none()
            && step.is_some()
            && at.is_linear()
            && read.at.iter().all(|at| !at.is_lost());
        is_row.then_some(List { axis, is_forward: true, read })
    }

    /// Notes what variables have counted in a loop that has come to its end.
    pub(in super::super) fn leave_pieces(&mut self, carried: &[Carried]) {
        for Carried { var, first, pieces, tally, .. } in carried {
            if let (Some(pieces), Some(Value::Int(value))) = (pieces, self.env.get(var))
                && let Some(after) = single(value)
                && !first.is_lost()
            {
                let (around, pieces) = (self.loops.clone(), pieces.clone());
                let (first, is_tally) = (first.clone(), tally.is_some());
                let count = Count { around, pieces, first, after, is_tally };
                self.in_parts.counts.push(count);
            }
        }
    }
}

impl Counted {
    /// The same where a condition holds, else nothing.
    fn under(self, guard: &Cond) -> Self {
        Self::either(guard, self, Self::by(0))
    }
}

impl Builder<'_> {
    /// Adds that what two work-items have counted of one list in parts differs.
    pub(in super::super) fn part_counts(&mut self) {
        let walk = self.walk;
        for set in self.sets_of_counts() {
            let counts = set.iter().filter_map(|at| walk.in_parts.counts.get(*at));
            let sum = counts.clone().fold(Poly::default(), |sum, count| {
                sum.add(&Poly::unknown(count.after)).sub(&count.first)
            });
            let is_seen = |of: Unknown| {
                let mut sides = [Side::First, Side::Second].into_iter();
                self.is_shared(of) || sides.all(|side| self.seen.contains(&(of, side)))
            };
            if sum.is_lost() || !sum.unknowns().all(is_seen) {
                continue;
            }
            let known = walk.in_parts.known.borrow().get(&set).cloned();
            let ranks = known.unwrap_or_else(|| {
                let pieces: Vec<&Piece> = counts.clone().flat_map(|count| &count.pieces).collect();
                let ranks = walk.ranks_by(&pieces);
                walk.in_parts.known.borrow_mut().insert(set.clone(), ranks.clone());
                ranks
            });
            let around = counts.clone().next().map(|count| count.around.as_slice());
            if let (Some(ranks), Some(around)) = (ranks, around)
                && self.have_one_row(&ranks, around)
            {
                self.part_ranks(&ranks, &sum);
            }
        }
    }

    /// The counts of one list that may make ranks together: those of which both sides speak, and
    /// those on which they have gone on.
    fn sets_of_counts(&self) -> Vec<Vec<usize>> {
        let counts = &self.walk.in_parts.counts;
        let mut open: Vec<Unknown> = self.seen.iter().map(|(of, _)| *of).collect();
        let mut found: Vec<usize> = Vec::new();
        while let Some(unknown) = open.pop() {
            for (at, count) in counts.iter().enumerate() {
                if count.after == unknown && !found.contains(&at) && found.len() < MAX_COUNTS {
                    found.push(at);
                    open.extend(count.first.unknowns());
                }
            }
        }
        found.sort_unstable();
        let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
        for at in found {
            let goes_with = |set: &&Vec<usize>| {
                let others = || set.iter().filter_map(|other| counts.get(*other));
                let n_pieces: usize = others().map(|count| count.pieces.len()).sum();
                counts.get(at).is_some_and(|count| {
                    n_pieces + count.pieces.len() <= MAX_PIECES
                        && others().all(|other| other.goes_with(count))
                })
            };
            let with = |set: &Vec<usize>| [set.as_slice(), &[at]].concat();
            let more: Vec<Vec<usize>> = sets.iter().filter(goes_with).map(with).collect();
            sets.extend(more);
        }
        // Of one alone it is said already what it is.
        let is_said = |set: &[usize]| match set {
            [] => true,
            [at] => counts.get(*at).is_none_or(|count| count.is_tally),
            [_, _, ..] => false,
        };
        sets.retain(|set| !is_said(set));
        sets
    }

    /// Whether both sides have gone through one list.
    fn have_one_row(&self, ranks: &Ranks, around: &[LoopId]) -> bool {
        let of_block = |shared: &[LoopId]| around.iter().all(|id| shared.contains(id));
        (!ranks.is_of_block || self.meeting.shared_loops().is_some_and(of_block))
            && ranks.common.iter().all(|of| self.is_shared(*of))
    }

    /// Adds that both sides are one place of a list, or not places of it, or of two lists, or have
    /// counted differently.
    fn part_ranks(&mut self, ranks: &Ranks, sum: &Poly) {
        let sides = [Side::First, Side::Second];
        let [first, second] = sides.map(|side| (self.on(side, sum), self.on(side, &ranks.place)));
        let mut cases = vec![Formula::eq(&first.1, &second.1), Formula::ne(&first.0, &second.0)];
        for (side, place) in sides.into_iter().zip([&first.1, &second.1]) {
            let [low, high] = [&ranks.low, &ranks.high].map(|of| self.on(side, of));
            cases.push(Formula::lt(place, &low));
            cases.push(Formula::le(&high, place));
        }
        for other in &ranks.others {
            let [first, second] = sides.map(|side| self.on(side, other));
            cases.push(Formula::ne(&first, &second));
        }
        for case in self.may_be_equal(&ranks.inside) {
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
        self.system.assert(&Formula::Any(cases).replace(&|_| None));
    }
}

impl Count {
    /// Whether it may be a part of what another one is a part of.
    fn goes_with(&self, other: &Self) -> bool {
        let [one, other_piece] = [&self.pieces, &other.pieces].map(|pieces| pieces.first());
        let is_one = one
            .zip(other_piece)
            .is_some_and(|(one, other)| one.row == other.row && one.place == other.place);
        is_one && self.around == other.around
    }
}
