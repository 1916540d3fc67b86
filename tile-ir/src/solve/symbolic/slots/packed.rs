//! Tiles that work-items fill from 0 on, each taking the next cell: what is read of
//! them below the number of cells taken has been written.
//!
//! A work-item takes a cell in one of two ways:
//!
//! - by the old value of a counter in a tile, which starts at 0, or at as many as have been stored
//!   before ([`super::begun`]), and to which nothing is done but that 1 is added. Who adds stores in the cell, so whatever is found in the
//!   counter is no more than the cells taken. So it is with each cell of a tile, or with one
//!   at numbers: what is done to others at numbers is of no matter to it. It may also be set
//!   to 0 again, or to less than was found in it ([`super::lowered`]);
//! - by a scan of flags over the block. Who has the flag stores in the cell, so that the
//!   sum of all flags is the number of cells taken.
//!
//! The cells lie along an axis, or in rows of one ([`super::lanes`]).
//!
//! So it is with the places that who counts gets of prefix sums ([`super::placed`]).
//!
//! Where every work-item takes one cell by a counter, as many are taken as there are work-items.
//!
//! That the store is not made while the cell is read is the business of the race rules. It is over
//! where it comes before the read in the text, and so does one of an earlier round where the cell is
//! taken further on in the text than it is read. But a cell that has been taken before the read may
//! not be stored after it.

use std::collections::BTreeMap;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::Obstacle;
use super::super::scans::Sum;
use super::super::terms::numbered::Number;
use super::super::walk::{Site, Walk, Worker};
use super::lanes::Lane;
use super::slot::Slot;
use crate::kernel::{AccessKind, ArrayRef, ExprKind};

/// A store to the cell that a work-item takes.
pub(in super::super) struct Packing {
    site: usize,
    /// Where the places are that it takes.
    lane: Lane,
    taken: Taken,
    /// The counter's cell, where others of its tile hold something else.
    cell: Option<Vec<Poly>>,
    /// Of all that goes up the counter.
    turns: Vec<Turn>,
}

/// Where a work-item takes a cell, and where it first stores there.
#[derive(Clone, Copy)]
struct Turn {
    update: usize,
    store: usize,
}

impl Turn {
    /// Whether a read that is made after the update is made after the store too.
    fn is_over_at(self, read: usize) -> bool {
        self.store < read || read < self.update
    }
}

/// How a cell is taken.
enum Taken {
    /// By this old value of a counter.
    Counted(Unknown, Slot),
    /// By a scan of flags.
    Scanned(Sum),
}

impl Walk<'_> {
    /// The stores that whoever takes a cell makes to it.
    pub(in super::super) fn packings(&self) -> Vec<Packing> {
        let is_store = |site: &&Site| {
            site.kind == AccessKind::Write && matches!(site.array, ArrayRef::Tile(_))
        };
        let stores = self.sites.iter().enumerate().filter(|(_, site)| is_store(site));
        let mut found: Vec<Packing> = stores
            .flat_map(|(id, site)| (0..site.indices.len()).map(move |axis| (id, axis)))
            .filter_map(|(site, axis)| {
                let counted = self.counted_place(site, axis);
                let scanned = || Some((Lane::along(axis), self.scanned_place(site, axis)?));
                let (lane, taken) = counted.or_else(scanned)?;
                Some(Packing { site, lane, taken, cell: None, turns: Vec::new() })
            })
            .collect();
        // Of which cells it is known that all is taken so: of all, or of one.
        let of_cell = |packing: &Packing| match &packing.taken {
            Taken::Counted(_, slot) => {
                let own = are_numbers(slot.indices()).then(|| slot.indices().to_vec());
                let mut cells = std::iter::once(None).chain(own.map(Some));
                cells.find_map(|cell| {
                    let turns = self.all_turns(&found, (packing, slot), cell.as_deref())?;
                    Some((cell, turns))
                })
            }
            Taken::Scanned(_) => Some((None, Vec::new())),
        };
        let known: Vec<_> = found.iter().map(of_cell).collect();
        let packings = found.drain(..).zip(known);
        packings
            .filter_map(|(packing, known)| {
                known.map(|(cell, turns)| Packing { cell, turns, ..packing })
            })
            .collect()
    }

    /// A store to the cell of a counter's old value, which is made wherever that was taken
    /// and is a cell of the tile.
    fn counted_place(&self, id: usize, axis: usize) -> Option<(Lane, Taken)> {
        let site = &self.sites[id];
        let mut parts = site.indices[axis].terms().iter().filter_map(|(product, factor)| {
            let [old] = product.as_slice() else { return None };
            (*factor == 1).then_some((*old, self.slots.get(old)?))
        });
        let (old, slot) = parts.next()?;
        let lane = Lane::of(&site.indices, axis, (old, slot.indices()))?;
        let extent = self.extents_of_arrays.get(self.kernel.extents(site.array).get(axis)?)?;
        let is_cell = Formula::within(&site.indices[axis], extent);
        let is_cell = is_cell.and(lane.has(&Poly::unknown(old)));
        let is_it = slot.counts_by_1()
            && slot.is_taken_in(&site.loops)
            && self.is_made_where(id, (slot.unmade().len(), is_cell));
        is_it.then(|| (lane, Taken::Counted(old, slot.clone())))
    }

    /// A store to the cell that a scan of flags gives, which is made wherever there is a
    /// flag.
    fn scanned_place(&self, id: usize, axis: usize) -> Option<Taken> {
        let site = &self.sites[id];
        let sum = self.flags_before(&site.indices[axis], &site.loops)?;
        let has_flag = Formula::AtLeast(sum.of().plus(-1));
        self.is_made_where(id, (sum.depth(), has_flag)).then(|| Taken::Scanned(sum.clone()))
    }

    /// Whether who is past the first guards of an access, where `holds` does, makes it.
    fn is_made_where(&self, id: usize, (depth, holds): (usize, Formula)) -> bool {
        let guards = self.sites[id].guards.iter().take(depth).cloned();
        let comes_by = holds.and(Formula::All(guards.collect()));
        self.passing(id, depth).into_iter().all(|case| self.is_never(&comes_by.clone().and(case)))
    }

    /// All updates of a counter in a tile, if they are made by who stores in the cell taken of one
    /// array, and it starts at 0: of a cell, or of each of its tile.
    fn all_turns(
        &self,
        all: &[Packing],
        (one, slot): (&Packing, &Slot),
        cell: Option<&[Poly]>,
    ) -> Option<Vec<Turn>> {
        let (array, counter) = (self.sites[one.site].array, slot.array());
        let is_other = |at: &[Poly]| cell.is_some_and(|cell| are_numbers(at) && at != cell);
        let is_update = |site: &&Site| {
            site.array == counter && site.kind == AccessKind::Atomic && !is_other(&site.indices)
        };
        let mut stores: BTreeMap<Unknown, usize> = BTreeMap::new();
        for other in all {
            let Taken::Counted(old, slot) = &other.taken else { continue };
            let store = &self.sites[other.site];
            let is_of_array = store.array == array && other.lane == one.lane;
            let is_its_own =
                other.lane.slot_at(&store.indices, slot.indices()) == Some(Poly::unknown(*old));
            if is_of_array && is_its_own && slot.array() == counter && !is_other(slot.indices()) {
                stores.entry(*old).or_insert(other.site);
            }
        }
        let is_known = matches!(counter, ArrayRef::Tile(_))
            && self.begins_with_stored((counter, cell), (array, &one.lane))
            && self.sites.iter().filter(is_update).count() == stores.len();
        let turn = |(old, store): (Unknown, usize)| {
            let (span, _) = self.symbols.get(old)?.obstacle?;
            let is_it = |site: &Site| site.kind == AccessKind::Atomic && site.span == span;
            let update = self.sites.get(..store)?.iter().rposition(is_it)?;
            Some(Turn { update, store })
        };
        is_known.then(|| stores.into_iter().map(turn).collect()).flatten()
    }

    /// Whether before a read each work-item of the block has taken one cell of the tile by the
    /// one update of a counter, whatever data is.
    pub(in super::super) fn takes_one_each(&self, packings: &[Packing], read: usize) -> bool {
        packings.iter().any(|packing| {
            let Taken::Counted(_, slot) = &packing.taken else { return false };
            let store = &self.sites[packing.site];
            let of_counter = self.sites.iter().filter(|site| site.array == slot.array());
            let is_update = |site: &&Site| site.kind == AccessKind::Atomic;
            store.array == self.sites[read].array
                && packing.site < read
                && store.worker == Worker::Item
                && store.loops.is_empty()
                && store.guards.is_empty()
                && slot.unmade().is_empty()
                && slot.indices().iter().all(|index| index.as_constant().is_some())
                && !packing.lane.is_row()
                && self.rest(packing.site, packing.lane.axis).is_empty()
                && of_counter.filter(is_update).count() == 1
        })
    }

    /// The other indices of an access.
    fn rest(&self, id: usize, axis: usize) -> Vec<Poly> {
        let mut rest = self.sites[id].indices.clone();
        rest.remove(axis);
        rest
    }

    /// Whether what a read finds is a cell that has been taken.
    pub(in super::super) fn is_below(&self, packing: &Packing, id: usize) -> bool {
        let (store, read) = (&self.sites[packing.site], &self.sites[id]);
        if store.array != read.array {
            return false;
        }
        let guards = Formula::All(read.guards.clone());
        let is_within = |count: Unknown, slot: &Poly| {
            let beyond = Formula::le(&Poly::unknown(count), slot).or(packing.lane.lacks(slot));
            self.is_never(&guards.clone().and(beyond))
        };
        match &packing.taken {
            Taken::Counted(_, slot) => {
                let mut counts = self
                    .counts(slot.array())
                    .filter(|(_, at)| packing.cell.as_ref().is_none_or(|cell| *at == cell));
                packing.turns.iter().all(|turn| turn.is_over_at(id))
                    && counts.any(|(count, at)| {
                        let slot = packing.lane.slot_at(&read.indices, at);
                        slot.is_some_and(|slot| is_within(count, &slot))
                    })
            }
            Taken::Scanned(sum) => {
                let rest = self.rest(id, packing.lane.axis);
                let slot = &read.indices[packing.lane.axis];
                let is_agreed = rest.iter().all(|index| self.is_agreed(index));
                is_agreed
                    && rest == self.rest(packing.site, packing.lane.axis)
                    && packing.site < id
                    && read.loops.starts_with(&store.loops)
                    && self.is_past(id, packing.site, sum.depth())
                    && self.totals(sum).any(|total| is_within(total, slot))
            }
        }
    }

    /// Whether all whose number is not above that of the cell that is read have taken a cell by
    /// the counter, and so as many.
    pub(in super::super) fn is_counted_up_to(
        &self,
        all: &[Packing],
        (packing, id): (&Packing, usize),
        number: Option<&Number>,
    ) -> bool {
        let (store, read) = (&self.sites[packing.site], &self.sites[id]);
        let (Taken::Counted(_, slot), Some(number)) = (&packing.taken, number) else {
            return false;
        };
        let ArrayRef::Tile(counter) = slot.array() else { return false };
        let loops = store.loops.as_slice();
        let is_before = |other: &Packing| match &other.taken {
            Taken::Counted(_, of) if of.array() == slot.array() => {
                other.site < id && of.indices() == slot.indices() && of.is_taken_in(loops)
            }
            Taken::Counted(..) | Taken::Scanned(_) => true,
        };
        let raises = self.raises_in(counter);
        let made = Formula::All(read.guards.clone());
        store.array == read.array
            && store.worker == Worker::Item
            && !packing.lane.is_row()
            && self.rest(id, packing.lane.axis).is_empty()
            && slot.indices().iter().all(|index| index.as_constant().is_some())
            && all.iter().all(is_before)
            && self.counters.n_updates(slot.array()) == raises.len()
            && self.are_of_whole_block(loops)
            && read.loops.starts_with(loops)
            && self.have_counted_up_to(
                (&read.indices[packing.lane.axis], &made),
                (&raises, loops),
                number,
            )
    }

    /// Whether who makes an access is past the first guards of another one too.
    fn is_past(&self, id: usize, other: usize, depth: usize) -> bool {
        let first = |id: usize| self.sites[id].guards.get(..depth);
        first(id) == first(other)
            && first(id).is_some_and(|guards| guards.iter().all(Formula::is_exact))
    }

    /// What is read in the cells of a tile, and in which.
    fn counts(&self, counter: ArrayRef) -> impl Iterator<Item = (Unknown, &Vec<Poly>)> {
        let reads = self
            .sites
            .iter()
            .filter(move |site| site.array == counter && site.kind == AccessKind::Read);
        reads.flat_map(|site| {
            let is_here = |expr: &&crate::kernel::Expr| match &expr.kind {
                ExprKind::Load(access) => access.span == site.span,
                _ => false,
            };
            let span = self.kernel.exprs.values().find(is_here).map(|expr| expr.span);
            let values = span.into_iter().flat_map(|span| self.symbols.of((span, Obstacle::Load)));
            values.map(|value| (value, &site.indices))
        })
    }
}

/// Whether these are all numbers.
pub(super) fn are_numbers(at: &[Poly]) -> bool {
    at.iter().all(|index| index.as_constant().is_some())
}
