//! Tiles of counters whose cells have all been set to 0, by one store or by several that follow
//! each other: `for k in (t..256).step_by(64) { count[k] = 0; }` ([`super::reached`]). What was
//! counted before is gone.
//!
//! # What it rests on
//!
//! - Nothing else sets the tile between the stores, or after them, and nothing updates it between
//!   them.
//! - The stores are in the loops around who asks, and maybe in more.
//! - That they come before the updates in time is the business of the race rules.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::algebra::symbol::Sharing;
use super::super::walk::Walk;
use crate::kernel::{ArrayRef, TileId};

impl Walk<'_> {
    /// How many places in the text had updated a tile when all of its cells were set to 0, in this
    /// iteration of the loops around, where `n_sets` places have set it since the beginning.
    pub(in super::super) fn cleared_before(
        &mut self,
        tile: TileId,
        n_sets: usize,
    ) -> Option<usize> {
        let mut all = self.held.settings.get(&tile)?.clone();
        all.retain(|setting| setting.value == Poly::default());
        let last = all.iter().rposition(|clearing| clearing.n_sets == n_sets)?;
        let n_updates = all[last].n_updates;
        let extents = self.extents(ArrayRef::Tile(tile));
        let cell: Vec<Poly> = extents
            .iter()
            .map(|extent| {
                let symbol = self.symbol(Sharing::Private, Some(0), None);
                self.symbols.add_facts(symbol, Formula::lt(&Poly::unknown(symbol), extent));
                Poly::unknown(symbol)
            })
            .collect();
        let mut missed = Vec::new();
        for (n, clearing) in all[..=last].iter().rev().enumerate() {
            if clearing.n_sets + n != n_sets || clearing.n_updates != n_updates {
                break;
            }
            let Some(passed) = self.missed_by(&clearing.reach, &cell, &self.loops) else { break };
            missed.push(passed);
            if self.is_none_here(&[Formula::All(missed.clone())]) {
                return Some(n_updates);
            }
        }
        None
    }
}
