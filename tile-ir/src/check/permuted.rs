//! Tiles of as many cells as there are work-items, to which each of them writes one.
//!
//! Where data says which (a rank, a place in an order), no run tells that none is left
//! out, but a proof does that no two are the same ([`crate::solve::symbolic`]).

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::poly::{Bounds, Poly};
use super::uniform::Uniformity;
use crate::kernel::{ExprId, Kernel, TileId};
use crate::solve::symbolic::one_to_one;
use crate::span::SpanId;

/// The stores that do so; which, is asked at most once.
pub(super) struct Permuted<'a> {
    kernel: &'a Kernel,
    uniformity: &'a Uniformity,
    stores: OnceCell<BTreeSet<SpanId>>,
}

impl<'a> Permuted<'a> {
    /// Those of a kernel.
    pub(super) fn of(kernel: &'a Kernel, uniformity: &'a Uniformity) -> Self {
        Self { kernel, uniformity, stores: OnceCell::new() }
    }

    /// Whether one of these stores, which all work-items make, leaves no cell of `tile` out.
    pub(super) fn fill(&self, tile: TileId, stores: &BTreeSet<SpanId>) -> bool {
        if stores.is_empty() || !self.has_as_many(tile) {
            return false;
        }
        let known = self.stores.get_or_init(|| one_to_one(self.kernel, self.uniformity));
        stores.iter().any(|store| known.contains(store))
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
