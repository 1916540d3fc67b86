//! Rows of tiles that a block fills one after the other: two buffers of a sort that take turns.
//!
//! `s[1 - from, rank] = key; barrier;` fills a row of `s` in each iteration, if each work-item has
//! a `rank` of its own and there are as many as places in a row. So `s[from, t]` finds only what
//! was stored: in the first iteration what was before the loop, and in each later one what the
//! iteration before has stored, of which the row is the same.
//!
//! A row is what the block agrees on in the stores' indices: other axes, and the part of an index
//! that is one for all, as `64 * (i % 2)` of `64 * (i % 2) + rank`.
//!
//! # What it rests on
//!
//! - Each work-item of the block makes one of the stores, in every iteration of the loop in
//!   question ([`mod@super::one_to_one`]). What has been written once stays so.
//! - A read is in an iteration, so the one before it has been run to its end; and it is behind a
//!   loop that has an iteration at all, so that the first one has been.
//! - That the stores are over when the cell is read is the business of the race rules.

use std::collections::BTreeSet;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Monomial, Poly};
use super::super::algebra::symbol::LoopId;
use super::super::walk::begin::walk_stores;
use super::super::walk::{Site, Walk};
use super::flow::{Distance, Path};
use super::instance::{Builder, Meeting, Side};
use super::one_to_one::{Asked, Iteration};
use crate::check::Uniformity;
use crate::kernel::{AccessKind, Kernel};
use crate::span::SpanId;

/// Of how many parts of all effort a question takes one at most.
const PART: u64 = 16;

/// The reads of tiles that find nothing but what was stored in a row that was filled.
pub(crate) fn row_by_row(kernel: &Kernel, uniformity: &Uniformity) -> BTreeSet<SpanId> {
    let mut walk = walk_stores(kernel, uniformity, false);
    let Some((_, items)) = walk.number_of_items() else { return BTreeSet::new() };
    let (mut found, mut others) = (BTreeSet::new(), BTreeSet::new());
    for (id, site) in walk.tile_reads() {
        let is_filled = !others.contains(&site.span) && walk.is_in_filled_row(id, &items);
        (if is_filled { &mut found } else { &mut others }).insert(site.span);
    }
    found.retain(|span| !others.contains(span));
    found
}

/// Cells that a block fills in an iteration of some loops: of one axis so many from a place on, at
/// places of the others on which it agrees.
struct Filled {
    indices: Vec<Poly>,
    axis: usize,
    count: Poly,
}

impl Filled {
    /// The cases in which a cell is none of these.
    fn outside(&self, cell: &[Poly]) -> Formula {
        let both = self.indices.iter().zip(cell).enumerate();
        let case = |(axis, (own, index)): (usize, (&Poly, &Poly))| match axis == self.axis {
            true => Formula::lt(index, own).or(Formula::le(&own.add(&self.count), index)),
            false => Formula::ne(own, index),
        };
        Formula::Any(both.map(case).collect())
    }
}

/// What is filled before a read.
struct Before {
    /// In the same iterations of the loops around.
    here: Vec<Filled>,
    /// In the iteration of a loop around before that of the read.
    around: Vec<(LoopId, Filled)>,
    /// In each iteration of a loop that has ended, and that has one.
    ended: Vec<(LoopId, Filled)>,
}

/// An iteration that a loop has had.
#[derive(Clone, Copy, Debug)]
enum Round {
    First,
    Last,
}

impl Walk<'_> {
    /// Whether a read finds a cell that a block has filled.
    fn is_in_filled_row(&self, read: usize, items: &Poly) -> bool {
        let before = self.filled_before(read, items);
        let rounds: &[Round] = match before.ended.is_empty() {
            true => &[Round::First],
            false => &[Round::First, Round::Last],
        };
        let is_filled = |first_of| {
            rounds.iter().any(|round| self.is_filled_here((read, &before), first_of, *round))
        };
        let is_by_turns = |(id, filled): &(LoopId, Filled)| {
            self.is_filled_a_round_ago((read, &before), (*id, filled)) && is_filled(Some(*id))
        };
        is_filled(None) || before.around.iter().any(is_by_turns)
    }

    /// What work-items fill of a tile before a read of it.
    fn filled_before(&self, read: usize, items: &Poly) -> Before {
        let site = &self.sites[read];
        let mut found = Before { here: Vec::new(), around: Vec::new(), ended: Vec::new() };
        for loops in self.loops_of_stores(site) {
            let filled = |end: usize, of: Iteration| {
                let stores = self.stores_in_loops(site.array, end, &loops);
                self.filled_by(&stores, Asked { read, of }, items)
            };
            if site.loops.starts_with(&loops) {
                found.here.extend(filled(read, Iteration::Own));
                if let Some(id) = loops.last() {
                    let before = filled(self.sites.len(), Iteration::Before(*id));
                    found.around.extend(before.map(|of| (*id, of)));
                }
            } else if let Some((id, around)) = loops.split_last()
                && site.loops.starts_with(around)
                && self.has_a_round(*id)
            {
                found.ended.extend(filled(read, Iteration::Any(*id)).map(|of| (*id, of)));
            }
        }
        found
    }

    /// The loops around the stores in an array that is read.
    fn loops_of_stores(&self, read: &Site) -> Vec<Vec<LoopId>> {
        let mut all: Vec<Vec<LoopId>> = Vec::new();
        for store in &self.sites {
            let is_one = store.array == read.array && store.kind == AccessKind::Write;
            if is_one && !all.contains(&store.loops) {
                all.push(store.loops.clone());
            }
        }
        all
    }

    /// Whether a loop has an iteration wherever the block comes by.
    fn has_a_round(&self, id: LoopId) -> bool {
        let length = self.all_loops[id.0].length.as_ref();
        length.is_some_and(|length| self.is_never(&Formula::le(length, &Poly::default())))
    }

    /// The cells that work-items fill by stores in an iteration.
    fn filled_by(&self, stores: &[usize], asked: Asked, items: &Poly) -> Option<Filled> {
        let first = &self.sites[*stores.first()?].indices;
        let is_own = |index: &&Poly| self.own_part(index) != Poly::default();
        let axis = first.iter().position(|index| is_own(&index))?;
        let mut indices = first.clone();
        indices[axis] = indices[axis].sub(&self.own_part(&indices[axis]));
        let is_in_row = |store: &usize| {
            let own = self.sites[*store].indices.iter().zip(&indices).enumerate();
            own.filter(|(other, _)| *other != axis)
                .all(|(_, (index, row))| !is_own(&index) && index == row)
        };
        if indices.iter().any(Poly::is_lost) || !stores.iter().all(is_in_row) {
            return None;
        }
        let each = self.count_own(stores, asked);
        let count = items.scaled(i128::try_from(each).ok().filter(|each| *each > 0)?);
        let is_within = |store: &usize| {
            let site = &self.sites[*store];
            let place = site.indices[axis].sub(&indices[axis]);
            let outside = Formula::lt(&place, &Poly::default()).or(Formula::le(&count, &place));
            self.is_never(&Formula::All(site.guards.clone()).and(outside))
        };
        stores.iter().all(is_within).then(|| Filled { indices, axis, count: count.clone() })
    }

    /// The part of an index that the block does not agree on.
    fn own_part(&self, index: &Poly) -> Poly {
        let is_own = |of: &Monomial| of.iter().any(|unknown| self.is_private(*unknown));
        let terms = index.terms().iter().filter(|(product, _)| is_own(product));
        terms.fold(Poly::default(), |sum, (product, factor)| {
            sum.add(&Poly::product(*product).scaled(*factor))
        })
    }

    /// That a loop is in this iteration.
    fn is_in_round(&self, id: LoopId, round: Round) -> Vec<Formula> {
        let found = &self.all_loops[id.0];
        let number = Poly::unknown(found.number);
        match (round, &found.length) {
            (Round::First, _) => {
                found.at_first.iter().cloned().chain([Formula::Zero(number)]).collect()
            }
            (Round::Last, Some(length)) if found.is_whole => {
                vec![Formula::eq(&number.plus(1), length)]
            }
            (Round::Last, _) => vec![Formula::Zero(number)],
        }
    }

    /// Whether a read finds what was filled in its own iteration or in this one of a loop that
    /// has ended; in the first iteration of a loop around, if one is named.
    fn is_filled_here(
        &self,
        (read, before): (usize, &Before),
        first_of: Option<LoopId>,
        round: Round,
    ) -> bool {
        let distance = Distance::Same(self.sites[read].loops.clone());
        let paths = [Path::default(), Path::default()];
        let mut builder = Builder::new(self, Meeting::InBlock(&distance, &paths));
        if let Some(id) = first_of {
            let at_first = self.is_in_round(id, Round::First);
            at_first.iter().for_each(|holds| builder.assert(Side::Second, holds));
        }
        self.never_misses(builder, (read, before, round), None)
    }

    /// Whether a read finds what the iteration before has filled.
    fn is_filled_a_round_ago(
        &self,
        (read, before): (usize, &Before),
        (id, filled): (LoopId, &Filled),
    ) -> bool {
        let around = self.sites[read].loops.iter().copied().take_while(|of| *of != id).collect();
        let distance = Distance::Next(around, id);
        let paths = [Path::default(), Path::default()];
        let builder = Builder::new(self, Meeting::InBlock(&distance, &paths));
        self.never_misses(builder, (read, before, Round::First), Some(filled))
    }

    /// Whether a read, which the second side makes, never misses all that is filled: `also`
    /// where the first side is, which is in this iteration of each loop that has ended.
    fn never_misses(
        &self,
        mut builder: Builder<'_>,
        (read, before, round): (usize, &Before, Round),
        also: Option<&Filled>,
    ) -> bool {
        let site = &self.sites[read];
        builder.made.extend(site.made.iter().map(|old| (*old, Side::Second)));
        builder.assert(Side::Second, &self.is_made(site));
        for filled in &before.here {
            builder.assert(Side::Second, &filled.outside(&site.indices));
        }
        for (id, _) in &before.ended {
            let is_in_it = self.is_in_round(*id, round);
            is_in_it.iter().for_each(|holds| builder.assert(Side::First, holds));
        }
        let ended = before.ended.iter().map(|(_, filled)| filled);
        for filled in ended.chain(also) {
            let cell: Vec<Poly> =
                site.indices.iter().map(|index| builder.on(Side::Second, index)).collect();
            let [indices, count] = [filled.indices.clone(), vec![filled.count.clone()]]
                .map(|of| of.iter().map(|of| builder.on(Side::First, of)).collect::<Vec<Poly>>());
            let count = count.into_iter().next().unwrap_or_else(Poly::lost);
            let outside = Filled { indices, axis: filled.axis, count }.outside(&cell);
            builder.system.assert(&outside.replace(&|_| None));
        }
        let systems = builder.systems();
        self.effort
            .within_part(PART, || systems.iter().all(|system| system.has_no_solution(&self.effort)))
    }
}
