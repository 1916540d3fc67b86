//! What all counters of a tile have counted together, which prefix sums of them do not pass.
//!
//! A block counts its keys, `atomic count[d] += 1`, in cells that held 0, and sums them up from 0
//! on. Each work-item has made each of these updates once, in each round of the loops around it
//! ([`super::takers`]). So whatever the keys are, the sum before a cell and what was counted there
//! are no more than there are updates: with the sums the block's keys have places below its size.
//!
//! # What it rests on
//!
//! - All updates of the tile that come before the sums in the text are known, and the work-items
//!   of the block make them.
//! - The text has set nothing else than 0 in the tile before them. A cell that it has not set
//!   holds nothing, and that it is counted in is reported ([`crate::check`], TK0501).
//! - The sums begin with 0.
//! - It is said of the first iteration of the loops around: in later ones the cells hold what is
//!   left there, unless all of them are set again.

use super::formula::Formula;
use super::poly::{Poly, Unknown};
use super::prefix::Read;
use super::symbol::LoopId;
use super::taken::Raise;
use super::walk::Walk;
use crate::kernel::{ArrayRef, TileId};

impl Walk<'_> {
    /// What all cells of a tile hold together at most in the first iteration of the loops around,
    /// if these updates, and no others, have raised them; one bound or several.
    pub(super) fn most_counted(&self, tile: TileId, raises: &[Raise]) -> Vec<Poly> {
        let array = ArrayRef::Tile(tile);
        let are_all = self.counters.n_updates(array) == raises.len()
            && raises.iter().all(|raise| self.counters.are_0(array, raise.n_sets));
        if raises.is_empty() || !are_all {
            return Vec::new();
        }
        self.most_taken(raises.iter().map(Raise::takers), &self.loops)
    }

    /// Adds that in the first iteration of the loops around a prefix sum, with what was counted in
    /// its cell, is no more than all, and one that has that in it no less than it.
    pub(super) fn bound_by_all(&mut self, symbol: Unknown, read: &Read) {
        let (scan, sum) = (&self.prefixes.scans[read.scan], Poly::unknown(symbol));
        let (end, least) = match scan.is_inclusive {
            true => (sum.clone(), Formula::le(&read.count, &sum)),
            false => (sum.add(&read.count), Formula::True),
        };
        let mut outside = match read.is_inside {
            true => Vec::new(),
            false => self.prefixes.outside(read.scan, &read.at),
        };
        outside.extend(self.later(&scan.loops));
        let bound = |most: &Poly| {
            let within = Formula::le(&end, most).and(least.clone());
            let cases = outside.iter().cloned().chain([within]);
            Formula::Any(cases.collect()).replace(&|_| None)
        };
        let bounds: Vec<Formula> = scan.most.iter().map(bound).collect();
        bounds.into_iter().for_each(|bound| self.symbols.add_facts(symbol, bound));
    }

    /// The cases in which an iteration is not the first one of each of these loops.
    pub(super) fn later(&self, loops: &[LoopId]) -> impl Iterator<Item = Formula> {
        let number = |id: &LoopId| Poly::unknown(self.all_loops[id.0].number);
        loops.iter().map(move |id| Formula::AtLeast(number(id).plus(-1)))
    }
}
