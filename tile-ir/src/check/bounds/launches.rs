//! Launches that are looked for because an access leaves its tile there.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::Accesses;
use super::uses::Use;
use crate::kernel::{ArrayRef, Kernel, TileId};
use crate::solve::skeleton::{Stray, leaving};
use crate::span::SpanId;

/// The accesses that nothing shows to stay in their tiles, and those that leave these; of each
/// tile they are looked for once.
pub(super) struct Launches<'a> {
    kernel: &'a Kernel,
    open: BTreeMap<TileId, (BTreeSet<SpanId>, OnceCell<Vec<Stray>>)>,
}

impl<'a> Launches<'a> {
    pub(super) fn of(accesses: &Accesses<'a>) -> Self {
        let mut open: BTreeMap<TileId, (BTreeSet<SpanId>, OnceCell<Vec<Stray>>)> = BTreeMap::new();
        for (used, _) in accesses.found.iter().filter(|(_, stays)| !stays) {
            if let ArrayRef::Tile(tile) = used.access.array {
                open.entry(tile).or_default().0.insert(used.access.span);
            }
        }
        Self { kernel: accesses.kernel, open }
    }

    /// How an access leaves its tile, if a launch is found at which it does.
    pub(super) fn stray(&self, used: &Use<'_>) -> Option<&Stray> {
        let ArrayRef::Tile(tile) = used.access.array else { return None };
        let (accesses, found) = self.open.get(&tile)?;
        let strays = found.get_or_init(|| leaving(self.kernel, tile, accesses));
        strays.iter().find(|stray| stray.site.span == used.access.span)
    }
}
