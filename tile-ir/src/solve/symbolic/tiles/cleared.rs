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
use super::super::walk::{Value, Walk};
use super::reached::Reach;
use crate::kernel::{Access, ArrayRef, TileId};

/// A store of 0.
#[derive(Clone, Debug)]
pub(in super::super) struct Clearing {
    reach: Reach,
    /// How many places in the text have set the tile, this one included.
    n_sets: usize,
    /// How many have updated it before.
    n_updates: usize,
}

impl Walk<'_> {
    /// Notes that 0 is stored in a tile's cell.
    pub(in super::super) fn note_cleared(&mut self, access: &Access, at: &[Poly], value: &Value) {
        let (ArrayRef::Tile(tile), Value::Int(value)) = (access.array, value) else { return };
        let is_counter = self.recording && self.counting.contains(&access.array);
        if !is_counter || *value != Poly::default() || at.iter().any(Poly::is_lost) {
            return;
        }
        let axes = self.axes_of_worker();
        let picked = axes.iter().filter_map(|(axis, _)| Some((*axis, self.fixed_at(*axis)?)));
        let clearing = Clearing {
            reach: Reach {
                at: at.to_vec(),
                picked: picked.collect(),
                axes,
                passed: self.passed_by.clone(),
                loops: self.loops.clone(),
            },
            n_sets: self.counters.n_sets(access.array),
            n_updates: self.counters.n_updates(access.array),
        };
        self.held.cleared.entry(tile).or_default().push(clearing);
    }

    /// How many places in the text had updated a tile when all of its cells were set to 0, in this
    /// iteration of the loops around, where `n_sets` places have set it since the beginning.
    pub(in super::super) fn cleared_before(
        &mut self,
        tile: TileId,
        n_sets: usize,
    ) -> Option<usize> {
        let all = self.held.cleared.get(&tile)?.clone();
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
