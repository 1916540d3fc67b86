//! What has been written on every path.

use std::collections::{BTreeMap, BTreeSet};

use super::conditional::Conditional;
use super::elected::Elections;
use crate::check::poly::Poly;
use crate::kernel::{TileId, VarId};

/// What was written on every path so far.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) assigned: BTreeSet<VarId>,
    /// Assigned where a condition holds, or does not.
    pub(super) conditional: BTreeSet<Conditional>,
    /// Assigned on some path.
    pub(super) maybe_assigned: BTreeSet<VarId>,
    pub(super) tiles: BTreeMap<TileId, Written>,
    /// Flags that hold what was stored in them: nobody has updated them since.
    pub(super) fresh: BTreeSet<TileId>,
    /// Whose numbers cells hold.
    pub(super) elections: Elections,
}

/// The cells of a tile that were written.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    /// All of them.
    pub(super) whole: bool,
    /// All of them, if one of these stores fills the tile, by number.
    pub(super) covers: BTreeSet<usize>,
    /// Those with these indices, by this very work-item or point.
    pub(super) own: BTreeSet<Vec<Poly>>,
    /// Those with these indices, which are the same for the whole block.
    pub(super) common: BTreeSet<Vec<Poly>>,
}

impl State {
    /// What holds whichever of two paths was taken.
    pub(super) fn join(&mut self, other: Self) {
        self.join_conditional(&other);
        self.assigned.retain(|var| other.assigned.contains(var));
        self.maybe_assigned.extend(other.maybe_assigned);
        self.fresh.retain(|tile| other.fresh.contains(tile));
        self.elections.join(&other.elections);
        for (tile, written) in &mut self.tiles {
            let Some(others) = other.tiles.get(tile) else {
                *written = Written::default();
                continue;
            };
            let covers =
                |set: &BTreeSet<Vec<Poly>>, cell: &Vec<Poly>| others.whole || set.contains(cell);
            if written.whole && !others.whole {
                *written = others.clone();
            } else {
                let has = |number: &usize| others.whole || others.covers.contains(number);
                written.covers.retain(has);
                written.own.retain(|cell| covers(&others.own, cell));
                written.common.retain(|cell| covers(&others.common, cell));
            }
        }
    }

    /// A counter or a point's index ends: cells named by it are named no more.
    pub(super) fn end_var(&mut self, var: VarId) {
        for written in self.tiles.values_mut() {
            written.own.retain(|cell| !cell.iter().any(|index| index.mentions(var)));
            written.common.retain(|cell| !cell.iter().any(|index| index.mentions(var)));
        }
    }
}
