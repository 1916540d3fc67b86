//! Stores by which the work-items of a block each write cells of their own: one, or as
//! many as each has elements to put in order.

use std::collections::BTreeMap;

use super::super::algebra::formula::Formula;
use super::super::algebra::symbol::LoopId;
use super::super::walk::begin::walk_stores;
use super::super::walk::{Site, Walk, Worker};
use super::flow::Distance;
use super::instance::{Builder, Meeting, Side};
use crate::check::Uniformity;
use crate::kernel::{AccessKind, ArrayRef, Kernel};
use crate::span::SpanId;

/// The reads of tiles before which all work-items have stored, each in cells of its own and
/// inside, and in how many each has: of so many times as many cells as there are work-items,
/// none is left out. Rounds of short loops that update tiles are walked one by one where
/// `walks_updates`.
pub(crate) fn one_to_one(
    kernel: &Kernel,
    uniformity: &Uniformity,
    walks_updates: bool,
) -> BTreeMap<SpanId, usize> {
    let walk = walk_stores(kernel, uniformity, walks_updates);
    let packings = walk.packings();
    let mut found: BTreeMap<SpanId, usize> = BTreeMap::new();
    for (id, read) in walk.tile_reads() {
        let depths = 0..=read.loops.len();
        let asked = Asked { read: id, of: Iteration::Own };
        let count_in = |depth: usize| {
            let stores = walk.stores_in_loops(read.array, id, &read.loops[..depth]);
            walk.count_own(&stores, asked)
        };
        let count = depths.map(count_in).max();
        let taken = usize::from(walk.takes_one_each(&packings, id));
        let least = found.entry(read.span).or_insert(usize::MAX);
        *least = (*least).min(count.unwrap_or(0).max(taken));
    }
    found.retain(|_, count| *count > 0);
    found
}

/// Of which iteration stores are that come before a read.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Asked {
    /// The read.
    pub(in super::super) read: usize,
    pub(in super::super) of: Iteration,
}

/// An iteration of a loop around stores.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Iteration {
    /// The one of the read.
    Own,
    /// Any one of this loop.
    Any(LoopId),
    /// The one of this loop before that of the read.
    Before(LoopId),
}

impl Iteration {
    /// The loop of which it is another one than that of the read.
    fn other(self) -> Option<LoopId> {
        match self {
            Self::Own => None,
            Self::Any(id) | Self::Before(id) => Some(id),
        }
    }
}

/// Most cells that a work-item has of its own.
const MAX_OWN: usize = 16;

impl Walk<'_> {
    /// The reads of tiles, by number.
    pub(in super::super) fn tile_reads(&self) -> impl Iterator<Item = (usize, &Site)> {
        let is_read =
            |site: &Site| site.kind == AccessKind::Read && matches!(site.array, ArrayRef::Tile(_));
        self.sites.iter().enumerate().filter(move |(_, site)| is_read(site))
    }

    /// The stores of work-items in an array, of so many accesses in the text.
    pub(in super::super) fn stores_of_items(
        &self,
        array: ArrayRef,
        accesses: std::ops::Range<usize>,
    ) -> impl DoubleEndedIterator<Item = usize> {
        accesses.filter(move |id| {
            let site = &self.sites[*id];
            site.array == array && site.kind == AccessKind::Write && site.worker == Worker::Item
        })
    }

    /// The same, of those in these loops and in no other.
    pub(in super::super) fn stores_in_loops(
        &self,
        array: ArrayRef,
        end: usize,
        loops: &[LoopId],
    ) -> Vec<usize> {
        self.stores_of_items(array, 0..end).filter(|id| self.sites[*id].loops == loops).collect()
    }

    /// In how many cells of its own each work-item has stored before a read: by the most stores
    /// that follow each other and go together. What was written before or behind them is written
    /// too.
    pub(in super::super) fn count_own(&self, stores: &[usize], asked: Asked) -> usize {
        let rounds = self.rounds(stores, asked);
        if rounds.len() > MAX_OWN {
            return 0;
        }
        let (mut most, mut from) = (0, 0);
        for (to, round) in rounds.iter().enumerate() {
            if !self.are_one_to_one(round) {
                from = to + 1;
                continue;
            }
            let is_beside = |earlier: &&Vec<usize>| self.are_cells_of_others(earlier, round);
            let beside = rounds[from..to].iter().rev().take_while(is_beside).count();
            from = to - beside;
            most = most.max(beside + 1);
        }
        most
    }

    /// Whether no two work-items, and no work-item alone, make one of the first and one of the
    /// second stores at one cell.
    fn are_cells_of_others(&self, first: &[usize], second: &[usize]) -> bool {
        let mut both = first.iter().flat_map(|one| second.iter().map(move |other| (*one, *other)));
        both.all(|(one, other)| {
            self.are_apart(&self.sites[one], &self.sites[other]) && self.part(one, other)
        })
    }

    /// The stores, cut where every work-item has made one of those that follow each other;
    /// none where some are left.
    fn rounds(&self, stores: &[usize], asked: Asked) -> Vec<Vec<usize>> {
        let (mut rounds, mut open) = (Vec::new(), Vec::new());
        for store in stores {
            open.push(*store);
            if self.is_by_all(&open, asked) {
                rounds.push(std::mem::take(&mut open));
            }
        }
        match rounds.last_mut() {
            Some(last) => last.append(&mut open),
            None if self.is_by_all(&open, asked) => rounds.push(open),
            None => {}
        }
        rounds
    }

    /// Whether one work-item never makes both at one cell, in one iteration of the loops
    /// around.
    pub(in super::super) fn part(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.sites[one], &self.sites[other]);
        if self.part_by_spans([one, other]) {
            return true;
        }
        let same = one.indices.iter().zip(&other.indices);
        let same = same.map(|(left, right)| Formula::eq(left, right));
        let made = one.guards.iter().chain(&other.guards).cloned();
        let together = Distance::Same(one.loops.clone());
        let paths = Default::default();
        let mut builder = Builder::new(self, Meeting::InBlock(&together, &paths));
        builder.assert(Side::First, &Formula::All(made.chain(same).collect()));
        builder.part_own_slots();
        builder.have_no_solution()
    }

    /// Whether every work-item of a block in which the read is made has made one of the
    /// stores: nobody has been through fewer iterations of the loops around. What is known of who
    /// comes by holds in any iteration of a loop, if it is asked of another one, as long as
    /// nothing in the loop decides it.
    fn is_by_all(&self, stores: &[usize], Asked { read, of }: Asked) -> bool {
        let is_of_block = |id: &LoopId| self.all_loops[id.0].is_of_block;
        if !stores.iter().all(|id| self.sites[*id].loops.iter().all(is_of_block)) {
            return false;
        }
        let guards = |id: usize| self.sites[id].guards.as_slice();
        // What the block agrees on holds for all of it.
        let is_known = |guard: &&Formula| {
            let is_steady = of.other().is_none_or(|id| !self.is_decided_inside(guard, id));
            self.is_decided_by_block(guard) && is_steady
        };
        let is_of_all = |n: &usize| {
            let guard = guards(read).get(*n);
            let is_of_store = |id: &usize| guards(*id).get(*n) == guard;
            guard.as_ref().is_some_and(is_known) && stores.iter().all(is_of_store)
        };
        let depth = (0..).take_while(is_of_all).count();
        let passed = stores.iter().map(|id| Formula::Any(self.passing(*id, depth)).folded());
        let comes_by = guards(read).iter().filter(is_known).cloned();
        let passed = Formula::All(comes_by.chain(passed).collect());
        // All of the block are in the iterations of the read.
        let of_block = self.sites[read].loops.iter().filter(|id| is_of_block(id));
        let mut builder = Builder::new(self, Meeting::BetweenBlocks);
        builder.made.extend(self.made.iter().map(|old| (*old, Side::First)));
        builder.assert(Side::First, &passed);
        builder.mention_rounds_of(Side::First, of_block.clone());
        if builder.have_no_solution() {
            return true;
        }
        let Iteration::Before(id) = of else { return false };
        // An iteration before that of the read, of which it is known that it is made.
        let around = self.sites[read].loops.iter().copied().take_while(|of| *of != id).collect();
        let (distance, paths) = (Distance::Next(around, id), Default::default());
        let mut builder = Builder::new(self, Meeting::InBlock(&distance, &paths));
        builder.made.extend(self.sites[read].made.iter().map(|old| (*old, Side::Second)));
        builder.assert(Side::Second, &self.is_made(&self.sites[read]));
        builder.mention_rounds_of(Side::Second, of_block);
        builder.assert(Side::First, &passed);
        builder.have_no_solution()
    }

    /// Who is past the first guards of an access and does not make it: one of these holds.
    pub(in super::super) fn passing(&self, id: usize, depth: usize) -> Vec<Formula> {
        let opposites = self.opposites.as_ref().and_then(|opposites| opposites.get(id));
        let Some(opposites) = opposites.and_then(|opposites| opposites.get(depth..)) else {
            return vec![Formula::Unknown];
        };
        let guards = &self.sites[id].guards;
        let cases = opposites.iter().enumerate().map(|(n, opposite)| {
            let until = guards.get(depth..depth + n).unwrap_or_default().to_vec();
            Formula::All(until).and(opposite.clone())
        });
        cases.collect()
    }

    /// Whether a condition may come out differently in two iterations of a loop.
    fn is_decided_inside(&self, formula: &Formula, id: LoopId) -> bool {
        let is_outside = |unknown| !self.symbols.is_inside(unknown, id);
        !formula.is_made_of(&|value| value.unknowns().all(is_outside))
    }

    /// Whether in one iteration of the loops around no two work-items make them at one cell,
    /// and none outside.
    fn are_one_to_one(&self, stores: &[usize]) -> bool {
        stores.iter().enumerate().all(|(n, id)| {
            let store = &self.sites[*id];
            self.is_inside(store)
                && stores[n..].iter().all(|other| self.are_apart(store, &self.sites[*other]))
        })
    }

    /// Whether an access is inside of its array whenever it is made, or in the first iteration of
    /// the loops around, if nothing in them decides that it is made: what that one has written
    /// stays.
    fn is_inside(&self, site: &Site) -> bool {
        let made = Formula::All(site.guards.clone());
        let is_steady =
            |guard: &Formula| site.loops.iter().all(|id| !self.is_decided_inside(guard, *id));
        let at_first = || self.first(&site.loops).fold(made.clone(), Formula::and);
        self.is_inside_where(site, &made)
            || !site.loops.is_empty()
                && site.guards.iter().all(is_steady)
                && self.is_inside_where(site, &at_first())
    }

    fn is_inside_where(&self, site: &Site, made: &Formula) -> bool {
        let axes = site.indices.iter().zip(self.kernel.extents(site.array)).enumerate();
        axes.into_iter().all(|(axis, (index, extent))| {
            self.extents_of_arrays.get(extent).is_some_and(|extent| {
                let outside =
                    Formula::lt(index, &Default::default()).or(Formula::le(extent, index));
                self.lies_in_spans(site, index, extent)
                    || self.is_never(&made.clone().and(outside))
                    || self.is_place_below(site, axis, extent)
            })
        })
    }

    /// Whether in one iteration of the loops around no two work-items make them at one cell.
    pub(in super::super) fn are_apart(&self, one: &Site, other: &Site) -> bool {
        let together = Distance::Same(one.loops.clone());
        self.is_disjoint(one, other, Meeting::InBlock(&together, &Default::default()))
    }
}
