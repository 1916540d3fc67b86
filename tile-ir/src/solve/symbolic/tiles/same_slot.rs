//! Cells in which one work-item hands one slot on: what a block finds in one of them, it finds in
//! the others.
//!
//! ```text
//! if t == 0 { let old = atomic next[0] += 1; at[0] = old; row[0] = old; column[0] = old % 25; }
//! barrier;
//! if at[0] < 475 { … row[0] … column[0] … }
//! ```
//!
//! What bounds `at[0]` bounds `row[0]`, and what is told of the slot in other cells
//! ([`super::relayed`]) is told of the same number.
//!
//! # What it rests on
//!
//! - The same work-item has stored the same old value, as it found it: in a type of the same range.
//! - Both stores are in the same loops, or the slot has been told to the block as one of the loops in
//!   which it was taken, and of these iterations: wherever who reads a cell knows of the slot at all,
//!   the work-item has come by in the present iteration. So a cell in which it may have left an
//!   earlier one is not one of them.

use super::super::algebra::poly::{Poly, Unknown};
use super::super::slots::slot::Slot;
use super::super::walk::Walk;
use super::cells::{ForBlock, Key};
use super::relayed::Item;
use crate::kernel::TileId;

/// An old value, and the coordinates of the work-item that has found it.
pub(super) type Origin = (Unknown, Vec<Poly>);

impl Walk<'_> {
    /// Whose old value a work-item hands on in a cell, if it is sure to be that of the present
    /// iteration for all who know of it.
    pub(super) fn origin_of(
        &mut self,
        (tile, old): (TileId, Unknown),
        (slot, item): (&Slot, &Item),
        is_of_any_iteration: bool,
    ) -> Option<Origin> {
        let known = self.slots.get(&old)?;
        let is_whole = known.is_of_item() && known.step() == slot.step();
        let elements = [self.kernel.tiles[tile].elem, self.kernel.element_type(slot.array())];
        if !is_whole || self.walked != 1 || elements[0] != elements[1] {
            return None;
        }
        let missed = self.block_misses(item)?;
        let is_of_now = missed.is_empty() || !is_of_any_iteration;
        is_of_now.then(|| (old, item.values().cloned().collect()))
    }

    /// What has been found in another cell in which the same slot was handed on, or was told of it.
    pub(super) fn found_beside(&self, key: &Key, for_block: &ForBlock) -> Option<Unknown> {
        let origin = for_block.origin.as_ref()?;
        let is_beside = |(other, of): &(&Key, &ForBlock)| {
            other.3 == key.3 && of.origin.as_ref() == Some(origin)
        };
        let told = self.relayed.get(origin).copied();
        told.or_else(|| {
            let mut beside = self.cells.handed.iter().filter(is_beside);
            beside.find_map(|(_, of)| of.value)
        })
    }
}
