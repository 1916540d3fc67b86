//! Tiles to which each work-item writes the cells that it takes.
//!
//! Where data says which (a rank, a place in an order, a slot of a queue), no run tells
//! that none is left out, but a proof does ([`crate::solve::symbolic`]): that no two are the
//! same, where there are as many cells as work-items; that cells are taken one after the
//! other, where no more are read than were taken.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::poly::{Bounds, Poly};
use super::uniform::Uniformity;
use crate::kernel::{Access, ExprId, Kernel, TileId};
use crate::solve::symbolic::{one_to_one, packed};
use crate::span::SpanId;

/// The reads of such tiles; which, is asked at most once.
pub(super) struct Taken<'a> {
    kernel: &'a Kernel,
    uniformity: &'a Uniformity,
    /// Those before which each work-item has written a cell of its own.
    one_to_one: OnceCell<BTreeSet<SpanId>>,
    /// Those of no more cells than were taken.
    packed: OnceCell<BTreeSet<SpanId>>,
}

impl<'a> Taken<'a> {
    /// Those of a kernel.
    pub(super) fn of(kernel: &'a Kernel, uniformity: &'a Uniformity) -> Self {
        Self { kernel, uniformity, one_to_one: OnceCell::new(), packed: OnceCell::new() }
    }

    /// Whether a read of `tile` finds only what work-items have written.
    pub(super) fn is_written(&self, tile: TileId, read: &Access) -> bool {
        let one_to_one = || one_to_one(self.kernel, self.uniformity);
        let packed = || packed(self.kernel, self.uniformity);
        self.has_as_many(tile) && self.one_to_one.get_or_init(one_to_one).contains(&read.span)
            || self.packed.get_or_init(packed).contains(&read.span)
    }

    /// Whether a tile has as many cells as a block has work-items.
    fn has_as_many(&self, tile: TileId) -> bool {
        let Some(block) = &self.kernel.block else { return false };
        let mut bounds = Bounds::new(self.kernel);
        let mut product = |extents: &mut dyn Iterator<Item = ExprId>| {
            extents.fold(Poly::constant(1), |product, extent| product.mul(&bounds.poly(extent)))
        };
        let items = product(&mut block.iter().map(|axis| axis.extent));
        items == product(&mut self.kernel.tiles[tile].extents.iter().copied())
    }
}
