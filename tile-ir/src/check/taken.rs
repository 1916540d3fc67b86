//! Tiles to which each work-item writes the cells that it takes.
//!
//! Where data says which (a rank, a place in an order, a slot of a queue), no run tells
//! that none is left out, but a proof does ([`crate::solve::symbolic`]): that no two are the
//! same, where there are as many cells as work-items, or as many for each; that cells are
//! taken one after the other, where no more are read than were taken; that each iteration of a
//! loop fills a row, and what is read is of one that was filled. So it is where data says which
//! cell is read: that somebody has stored there follows from the conditions around both.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::poly::{Bounds, Poly};
use super::uniform::Uniformity;
use crate::kernel::{Access, ExprId, Kernel, StmtKind, TileId, any_stmt};
use crate::solve::symbolic::{
    has_loops_of_updates, number_that_unstores, one_to_one, row_by_row, stored,
    stored_within_limits,
};
use crate::span::SpanId;

/// Most cells for each work-item.
const MAX_EACH: usize = 16;

/// The reads of such tiles; which, is asked at most once.
pub(super) struct Taken<'a> {
    kernel: &'a Kernel,
    uniformity: &'a Uniformity,
    /// Where loops are followed as they are, and where rounds of short ones that update tiles are
    /// walked one by one, which shows what each round takes.
    shown: [Shown; 2],
    /// Those in rows that were filled.
    row_by_row: OnceCell<BTreeSet<SpanId>>,
    /// Those of cells that conditions, and what loops keep between limits, say are stored in.
    within_limits: OnceCell<BTreeSet<SpanId>>,
}

/// What one way to follow a kernel shows.
#[derive(Default)]
struct Shown {
    /// The reads before which each work-item has written cells of its own, and how many.
    one_to_one: OnceCell<BTreeMap<SpanId, usize>>,
    /// Those of cells that somebody has taken, or that conditions say are stored in.
    stored: OnceCell<BTreeSet<SpanId>>,
}

impl<'a> Taken<'a> {
    /// Those of a kernel.
    pub(super) fn of(kernel: &'a Kernel, uniformity: &'a Uniformity) -> Self {
        Self {
            kernel,
            uniformity,
            shown: Default::default(),
            row_by_row: OnceCell::new(),
            within_limits: OnceCell::new(),
        }
    }

    /// Whether a read of `tile` finds only what work-items have written.
    pub(super) fn is_written(&self, tile: TileId, read: &Access) -> bool {
        let row_by_row = || row_by_row(self.kernel, self.uniformity);
        self.is_shown(false, tile, read)
            || self.row_by_row.get_or_init(row_by_row).contains(&read.span)
            || has_loops_of_updates(self.kernel) && self.is_shown(true, tile, read)
    }

    /// The same, by what loops keep between limits too: it costs more than it mostly tells, so it
    /// is asked of what a run has found alone.
    pub(super) fn is_written_within_limits(&self, read: &Access) -> bool {
        let within_limits = || stored_within_limits(self.kernel, self.uniformity);
        has_loops(self.kernel) && self.within_limits.get_or_init(within_limits).contains(&read.span)
    }

    /// The number that may wrap, where that alone keeps it from being shown.
    pub(super) fn wrapped(&self, tile: TileId, read: &Access) -> Option<SpanId> {
        number_that_unstores(self.kernel, self.uniformity, (tile, read.span))
    }

    /// Whether it is so as far as one way to follow the kernel shows.
    fn is_shown(&self, walks_updates: bool, tile: TileId, read: &Access) -> bool {
        let shown = &self.shown[usize::from(walks_updates)];
        let one_to_one = || one_to_one(self.kernel, self.uniformity, walks_updates);
        let stored = || stored(self.kernel, self.uniformity, walks_updates);
        (1..=MAX_EACH).any(|each| self.has_as_many(tile, each))
            && shown
                .one_to_one
                .get_or_init(one_to_one)
                .get(&read.span)
                .is_some_and(|count| self.has_as_many(tile, *count))
            || shown.stored.get_or_init(stored).contains(&read.span)
    }

    /// Whether a tile has as many cells as a block has work-items, or so many for each.
    fn has_as_many(&self, tile: TileId, each: usize) -> bool {
        let Some((items, cells)) = self.counts(tile) else { return false };
        let each = i128::try_from(each).unwrap_or(0);
        cells == items.mul(&Poly::constant(each))
    }

    /// How many work-items a block has, and how many cells a tile.
    fn counts(&self, tile: TileId) -> Option<(Poly, Poly)> {
        let block = self.kernel.block.as_ref()?;
        let mut bounds = Bounds::new(self.kernel);
        let mut product = |extents: &mut dyn Iterator<Item = ExprId>| {
            extents.fold(Poly::constant(1), |product, extent| product.mul(&bounds.poly(extent)))
        };
        let items = product(&mut block.iter().map(|axis| axis.extent));
        Some((items, product(&mut self.kernel.tiles[tile].extents.iter().copied())))
    }
}

/// Whether a kernel has loops: what they set may have limits.
fn has_loops(kernel: &Kernel) -> bool {
    any_stmt(&kernel.body, &mut StmtKind::is_loop)
}
