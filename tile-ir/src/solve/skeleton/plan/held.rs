//! Tiles whose integers are followed, where nothing is asked but which cells are read
//! unwritten.
//!
//! `n[t] = cnt[i];` is asked for by others: `for k in 0..n[o] { sum += s[o, k]; }`. Where it is
//! proved that nothing collides, what a cell holds is what was last stored there, in whatever
//! order work-items run. Tiles that atomics update hold what the order of the updates says, and
//! are not followed.

use std::collections::BTreeSet;

use super::locals::collect_updated;
use crate::kernel::{ArrayRef, ElemType, Kernel, TileId};

/// The tiles that may be followed, and of which of them the values matter.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Held {
    may_be: BTreeSet<TileId>,
    needed: BTreeSet<TileId>,
}

impl Held {
    /// The tiles of integers that stores alone change.
    pub(super) fn of(kernel: &Kernel) -> Self {
        let mut updated = BTreeSet::new();
        collect_updated(&kernel.body, &mut updated);
        let may_be = |tile: &TileId| {
            let array = ArrayRef::Tile(*tile);
            let is_integer = match kernel.element_type(array) {
                ElemType::Concrete(dtype) => dtype.is_integer(),
                _ => false,
            };
            is_integer && !kernel.is_local(array) && !updated.contains(&array)
        };
        Self { may_be: kernel.tiles.ids().filter(may_be).collect(), needed: BTreeSet::new() }
    }

    /// An element's value matters.
    pub(super) fn need(&mut self, array: ArrayRef) {
        if let ArrayRef::Tile(tile) = array
            && self.may_be.contains(&tile)
        {
            self.needed.insert(tile);
        }
    }

    /// Whether what an array holds matters, and is followed.
    pub(super) fn follows(&self, array: ArrayRef) -> bool {
        matches!(array, ArrayRef::Tile(tile) if self.needed.contains(&tile))
    }
}
