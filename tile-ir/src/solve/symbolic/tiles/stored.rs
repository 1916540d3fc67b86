//! Reads of a tile's cell in which somebody has stored, as the conditions around both say.
//!
//! After `if y < N { s[t] = …; }` of `y = b * 32 + t` nobody who asks `k < 32 && b * 32 + k <
//! N` finds a cell `s[k]` that is not written: the work-item whose cell it is is past the same
//! condition. So whatever `k` is, and however far the tile is filled, for each read it is
//! asked whether its cell may be missed by all stores before it in the text
//! ([`super::reached`]). It may also be one that a work-item has taken
//! ([`super::super::slots::packed`]), or of those that who counted has filled
//! ([`super::super::slots::placed`]).
//!
//! A store in an `each` is one of its points, of which there is one for each of the loop's numbers
//! wherever the block comes by.
//!
//! That the stores are over when the cell is read is the business of the race rules.

use std::collections::BTreeSet;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::pairs::instance::{Builder, Side};
use super::super::pairs::wrapping::wrapped_in;
use super::super::slots::packed::Packing;
use super::super::slots::placed::Filling;
use super::super::walk::begin::{walk_limited_stores, walk_stores, walk_unwrapped_stores};
use super::super::walk::{Site, Walk, Worker};
use super::reached::Reach;
use crate::check::Uniformity;
use crate::kernel::{AccessKind, ArrayRef, Kernel, TileId};
use crate::span::SpanId;

/// Most stores of a tile that are looked at.
const MAX_STORES: usize = 16;

/// Of how many parts of a kernel's effort it may take one to see that a cell is missed by none of
/// some stores, and by none of all.
const PART: u64 = 16;
const LAST_PART: u64 = 4;

/// The reads and updates of tiles that find nothing but what a work-item has stored. Rounds of
/// short loops that update tiles are walked one by one where `walks_updates`.
pub(crate) fn stored(
    kernel: &Kernel,
    uniformity: &Uniformity,
    walks_updates: bool,
) -> BTreeSet<SpanId> {
    stored_in(walk_stores(kernel, uniformity, walks_updates))
}

/// The same where it is asked between which values loops keep what they set by data, as the place
/// of a binary search, which costs more than it mostly tells.
pub(crate) fn stored_within_limits(kernel: &Kernel, uniformity: &Uniformity) -> BTreeSet<SpanId> {
    stored_in(walk_limited_stores(kernel, uniformity))
}

/// The number that may wrap, where that alone keeps a read of a tile from being shown to find
/// nothing but what a work-item has stored.
pub(crate) fn number_that_unstores(
    kernel: &Kernel,
    uniformity: &Uniformity,
    (tile, read): (TileId, SpanId),
) -> Option<SpanId> {
    let walk = walk_stores(kernel, uniformity, false);
    let number = wrapped_in(&walk, &|site| site.array == ArrayRef::Tile(tile))?;
    let unwrapped = stored_in(walk_unwrapped_stores(kernel, uniformity));
    unwrapped.contains(&read).then_some(number)
}

fn stored_in(mut walk: Walk<'_>) -> BTreeSet<SpanId> {
    let (number, axes) = (walk.number_of_item(), walk.axes_of_worker());
    let (packings, fillings) = (walk.packings(), walk.fillings());
    let (mut found, mut others) = (BTreeSet::new(), BTreeSet::new());
    let is_read_of_tile =
        |site: &Site| site.kind != AccessKind::Write && matches!(site.array, ArrayRef::Tile(_));
    for (id, site) in walk.sites.iter().enumerate().filter(|(_, site)| is_read_of_tile(site)) {
        let is_packed = |packing: &Packing| {
            walk.is_below(packing, id)
                || walk.is_counted_up_to(&packings, (packing, id), number.as_ref())
        };
        let is_filled = |of: &Filling| walk.is_filled_below(of, id, number.as_ref());
        let is_taken = site.kind == AccessKind::Read
            && (packings.iter().any(is_packed) || fillings.iter().any(is_filled));
        let is_written = is_taken || walk.is_stored_before(id, &axes);
        (if is_written { &mut found } else { &mut others }).insert(site.span);
    }
    found.retain(|span| !others.contains(span));
    found
}

/// The axes of the block, with their extents.
pub(in super::super) type Axes = Vec<(Unknown, Poly)>;

impl Walk<'_> {
    /// Whether some work-item has stored in the cell that a read finds.
    pub(in super::super) fn is_stored_before(&self, read: usize, axes: &Axes) -> bool {
        let site = &self.sites[read];
        let mut missed = Vec::new();
        let is_store = |store: &usize| {
            let store = &self.sites[*store];
            store.array == site.array && store.kind == AccessKind::Write
        };
        let never_missed = |missed: &[Formula], part: u64| {
            let mut builder = Builder::alone(self, site);
            builder.mention_rounds([site; 2]);
            builder.assert(Side::First, &Formula::All(missed.to_vec()));
            builder.have_none_within(part)
        };
        for store in (0..read).rev().filter(is_store).take(MAX_STORES) {
            let Some(by) = self.missed_by_site(store, read, axes) else { continue };
            missed.push(by);
            if never_missed(&missed, PART) {
                return true;
            }
        }
        !missed.is_empty() && never_missed(&missed, LAST_PART)
    }

    /// Where a store has not been made in the cell that a read finds.
    fn missed_by_site(
        &self,
        store: usize,
        read: usize,
        axes: &[(Unknown, Poly)],
    ) -> Option<Formula> {
        let (store, passed) = (&self.sites[store], self.opposites.as_ref()?.get(store)?);
        let read = &self.sites[read];
        let axes = match &store.worker {
            Worker::Item => axes,
            // Where there are no points nobody stores.
            Worker::Point { each, .. } => self.axes_of_points(*each).filter(|axes| {
                let is_named = |axis: Unknown| store.indices.iter().any(|of| of.mentions(axis));
                let has_points = |of: &Poly| self.symbols.low(of).is_some_and(|low| low > 0);
                axes.iter().all(|(axis, extent)| is_named(*axis) || has_points(extent))
            })?,
            Worker::Body | Worker::Thread => return None,
        };
        let both = store.loops.iter().zip(&read.loops);
        let around = both.take_while(|(one, other)| one == other).count();
        let picked =
            axes.iter().filter_map(|(axis, _)| Some((*axis, self.fixed_by(&store.guards, *axis)?)));
        let reach = Reach {
            at: store.indices.clone(),
            axes: axes.to_vec(),
            picked: picked.collect(),
            passed: passed.clone(),
            loops: store.loops.clone(),
        };
        self.missed_by(&reach, &read.indices, store.loops.get(..around)?)
    }
}
