//! Stores by which the work-items of a block each write a cell of their own.

use std::collections::BTreeSet;

use super::flow::Distance;
use super::formula::Formula;
use super::instance::Meeting;
use super::walk::{Site, Walk, Worker, walk};
use crate::check::Uniformity;
use crate::kernel::{AccessKind, ArrayRef, Kernel};
use crate::span::SpanId;

/// The stores to tiles of which every one is inside, and no two that work-items make
/// together are of one cell: of as many cells as there are work-items, none is left out.
pub(crate) fn one_to_one(kernel: &Kernel, uniformity: &Uniformity) -> BTreeSet<SpanId> {
    let walk = walk(kernel, uniformity);
    let mut found = BTreeSet::new();
    let mut others = BTreeSet::new();
    for site in &walk.sites {
        let is_store = matches!(site.array, ArrayRef::Tile(_))
            && site.kind == AccessKind::Write
            && matches!(site.worker, Worker::Item);
        if is_store && walk.is_inside(site) && walk.is_injective(site) {
            found.insert(site.span);
        } else {
            others.insert(site.span);
        }
    }
    found.retain(|span| !others.contains(span));
    found
}

impl Walk<'_> {
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

    /// Whether in one iteration of the loops around no two work-items make it at one cell.
    fn is_injective(&self, site: &Site) -> bool {
        let together = Distance::Same(site.loops.clone());
        self.is_disjoint(site, site, Meeting::InBlock(&together, &Default::default()))
    }
}
