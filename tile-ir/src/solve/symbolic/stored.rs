//! Reads of a tile's cell in which, as the conditions around both say, somebody has stored.
//!
//! After `if y < N { s[t] = …; }` of `y = b * 32 + t` nobody who asks `k < 32 && b * 32 + k < N`
//! finds a cell `s[k]` that is not written: the work-item whose cell it is is past the same
//! condition. So whatever `k` is, and however far the tile is filled, for each read it is asked
//! whether its cell may be missed by all stores before it in the text ([`super::reached`]).
//!
//! That the stores are over when the cell is read is the business of the race rules.

use super::formula::Formula;
use super::instance::{Builder, Side};
use super::poly::{Poly, Unknown};
use super::reached::Reach;
use super::walk::{Walk, Worker};
use crate::kernel::AccessKind;

/// Most stores of a tile that are looked at.
const MAX_STORES: usize = 16;

/// The axes of the block, with their extents.
pub(super) type Axes = Vec<(Unknown, Poly)>;

impl Walk<'_> {
    /// Whether some work-item has stored in the cell that a read finds.
    pub(super) fn is_stored_before(&self, read: usize, axes: &Axes) -> bool {
        let site = &self.sites[read];
        let is_store = |id: &usize| {
            let store = &self.sites[*id];
            store.array == site.array
                && store.kind == AccessKind::Write
                && store.worker == Worker::Item
        };
        let mut missed = Vec::new();
        for store in (0..read).rev().filter(is_store).take(MAX_STORES) {
            let Some(by) = self.missed_by_site(store, read, axes) else { continue };
            missed.push(by);
            let mut builder = Builder::alone(self, site);
            builder.mention_rounds([site; 2]);
            builder.assert(Side::First, &Formula::All(missed.clone()));
            if builder.have_no_solution() {
                return true;
            }
        }
        false
    }

    /// Where a store has not been made in the cell that a read finds.
    fn missed_by_site(&self, store: usize, read: usize, axes: &Axes) -> Option<Formula> {
        let (store, passed) = (&self.sites[store], self.opposites.as_ref()?.get(store)?);
        let read = &self.sites[read];
        let both = store.loops.iter().zip(&read.loops);
        let around = both.take_while(|(one, other)| one == other).count();
        let picked =
            axes.iter().filter_map(|(axis, _)| Some((*axis, self.fixed_by(&store.guards, *axis)?)));
        let reach = Reach {
            at: store.indices.clone(),
            axes: axes.clone(),
            picked: picked.collect(),
            passed: passed.clone(),
            loops: store.loops.clone(),
        };
        self.missed_by(&reach, &read.indices, store.loops.get(..around)?)
    }
}
