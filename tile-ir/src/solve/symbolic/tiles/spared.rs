//! Cells that a store leaves as they are.
//!
//! `if lane == 0 { c[w] = ones; c[W + w] = zeros; }` stores in two rows of cells. What a
//! work-item knows of its cell of the first row it knows after the second store, too: that is
//! made in a cell by the one work-item whose number the cell tells ([`super::storer`]), and of
//! the cells of the first row there is none. So it is with `if w == 0 && lane >= W { c[lane] = 0; }`.
//!
//! # What it rests on
//!
//! - Whoever has stored in the known cell is told by where it is, and of each there is shown that
//!   it does not come by, or is not there.
//! - Both stores are in the same iterations of the loops around: what others store in other ones
//!   is parted by a barrier, at which loops are the block's, or is a race, and reported.

use super::super::algebra::poly::Poly;
use super::super::walk::Walk;
use super::held::{Content, Held};
use crate::kernel::TileId;
use crate::span::SpanId;

/// Cells of which it is kept what they hold.
const MAX_KEPT: usize = 8;

impl Walk<'_> {
    /// What is known of cells of a tile, of those that nobody stores in here.
    pub(super) fn spared(
        &mut self,
        (tile, before): (TileId, Option<Content>),
        at: &[Poly],
        span: SpanId,
    ) -> Vec<Held> {
        let Some(Content::Held(mut held)) = before else { return Vec::new() };
        held.truncate(MAX_KEPT);
        held.retain(|held| {
            let cell = self.indices_of(tile, &held.at);
            self.is_stored_by_nobody((at, span), &cell)
        });
        held
    }
}
