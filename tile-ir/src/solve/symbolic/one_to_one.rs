//! Stores by which the work-items of a block each write a cell of their own.

use std::collections::BTreeSet;

use super::flow::Distance;
use super::formula::Formula;
use super::instance::Meeting;
use super::walk::{Site, Walk, Worker, walk_stores};
use crate::check::Uniformity;
use crate::kernel::{AccessKind, ArrayRef, Kernel};
use crate::span::SpanId;

/// The reads of tiles before which all work-items have stored, each in a cell of its own
/// and inside: of as many cells as there are work-items, none is left out.
pub(crate) fn one_to_one(kernel: &Kernel, uniformity: &Uniformity) -> BTreeSet<SpanId> {
    let walk = walk_stores(kernel, uniformity);
    let (mut found, mut others) = (BTreeSet::new(), BTreeSet::new());
    for (id, read) in walk.tile_reads() {
        let is_found = (0..=read.loops.len()).any(|depth| {
            let stores = walk.stores_before(id, depth);
            !stores.is_empty() && walk.is_by_all(&stores, id) && walk.are_one_to_one(&stores)
        });
        (if is_found { &mut found } else { &mut others }).insert(read.span);
    }
    found.retain(|span| !others.contains(span));
    found
}

impl Walk<'_> {
    /// The reads of tiles, by number.
    pub(super) fn tile_reads(&self) -> impl Iterator<Item = (usize, &Site)> {
        let is_read =
            |site: &Site| site.kind == AccessKind::Read && matches!(site.array, ArrayRef::Tile(_));
        self.sites.iter().enumerate().filter(move |(_, site)| is_read(site))
    }

    /// What work-items store in a tile, in so many of the loops around a read, before it.
    fn stores_before(&self, read: usize, depth: usize) -> Vec<usize> {
        let site = &self.sites[read];
        let is_store = |id: &usize| {
            let store = &self.sites[*id];
            store.array == site.array
                && store.kind == AccessKind::Write
                && store.worker == Worker::Item
                && store.loops == site.loops[..depth]
        };
        (0..read).filter(is_store).collect()
    }

    /// Whether every work-item of a block in which the read is made has made one of the
    /// stores.
    fn is_by_all(&self, stores: &[usize], read: usize) -> bool {
        let guards = |id: usize| self.sites[id].guards.as_slice();
        let is_of_all = |n: &usize| {
            let guard = guards(read).get(*n);
            let is_known = |guard: &Formula| guard.is_exact() && self.is_agreed_on(guard);
            guard.is_some_and(is_known) && stores.iter().all(|id| guards(*id).get(*n) == guard)
        };
        let depth = (0..).take_while(is_of_all).count();
        let passed = stores.iter().map(|id| Formula::Any(self.passing(*id, depth)).folded());
        let comes_by = guards(read)[..depth].iter().cloned();
        self.is_never(&Formula::All(comes_by.chain(passed).collect()))
    }

    /// Who is past the first guards of an access and does not make it: one of these holds.
    pub(super) fn passing(&self, id: usize, depth: usize) -> Vec<Formula> {
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

    fn is_agreed_on(&self, formula: &Formula) -> bool {
        let mut unknowns = Vec::new();
        formula.collect_unknowns(&mut unknowns);
        !unknowns.into_iter().any(|unknown| self.is_private(unknown))
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

    /// Whether an access is inside of its array whenever it is made.
    fn is_inside(&self, site: &Site) -> bool {
        let made = Formula::All(site.guards.clone());
        site.indices.iter().zip(self.kernel.extents(site.array)).all(|(index, extent)| {
            self.extents_of_arrays.get(extent).is_some_and(|extent| {
                let outside =
                    Formula::lt(index, &Default::default()).or(Formula::le(extent, index));
                self.is_never(&made.clone().and(outside))
            })
        })
    }

    /// Whether in one iteration of the loops around no two work-items make them at one cell.
    fn are_apart(&self, one: &Site, other: &Site) -> bool {
        let together = Distance::Same(one.loops.clone());
        self.is_disjoint(one, other, Meeting::InBlock(&together, &Default::default()))
    }
}
