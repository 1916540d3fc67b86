//! What all counters of a tile have counted together, which prefix sums of them do not pass.
//!
//! A block counts its keys, `atomic count[d] += 1`, in cells that held 0, and sums them up
//! from 0 on. The sum before a cell and what was counted there are no more than all that was
//! counted, and that is what the updates of the tile have added: each work-item that comes by
//! has made each of them once, in each round of the loops around it
//! ([`super::super::slots::takers`]). So whatever the keys are, with the sums the block's keys
//! have places below its size.
//!
//! # What it rests on
//!
//! - The sums begin with 0.
//! - All updates of the tile that come before the sums in the text, since all of its cells
//!   were set to 0 in the same iteration of the loops around
//!   ([`super::super::tiles::cleared`]), are known, and the work-items of the block make them.
//! - Or all updates since the beginning are, and the text has set nothing else than 0 in the tile
//!   before them. A cell that it has not set holds nothing, and that it is counted in is reported
//!   ([`crate::check`], TK0501). Then how much all is, is said of the first iteration of the loops
//!   around alone: in later ones cells hold what is left there.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::slots::taken::Raise;
use super::super::walk::Walk;
use super::prefix::Read;
use crate::kernel::{ArrayRef, TileId};

/// All that the counters of a tile have counted, when they are summed up.
#[derive(Clone, Debug)]
pub(in super::super) struct AllCounted {
    pub(in super::super) total: Unknown,
    tile: TileId,
    /// What has counted, and nothing else.
    pub(in super::super) raises: Vec<Raise>,
    /// The loops around the sums.
    pub(in super::super) loops: Vec<LoopId>,
    /// Of these it is said of the first iteration how much it is.
    pub(in super::super) first_of: Vec<LoopId>,
}

impl Walk<'_> {
    /// What all cells of a tile hold together, if these updates, and no others, have raised them
    /// in the first iteration of the loops around.
    pub(in super::super) fn all_counted(
        &mut self,
        tile: TileId,
        raises: Vec<Raise>,
    ) -> Option<usize> {
        let array = ArrayRef::Tile(tile);
        let n_sets = raises.first()?.n_sets;
        let n_updates = self.counters.n_updates(array);
        let are_all = n_updates == raises.len() && self.counters.are_0(array, n_sets);
        let cleared = self.cleared_before(tile, n_sets);
        let is_cleared =
            cleared.is_some_and(|before| before.checked_add(raises.len()) == Some(n_updates));
        if !is_cleared && !are_all {
            return None;
        }
        let is_it = |known: &AllCounted| {
            let places = |raises: &[Raise]| -> Vec<_> {
                raises.iter().map(|raise| (raise.span, raise.n_sets)).collect()
            };
            known.tile == tile
                && known.loops == self.loops
                && places(&known.raises) == places(&raises)
        };
        if let Some(known) = self.prefixes.all.iter().position(is_it) {
            return Some(known);
        }
        let total = self.symbol(Sharing::Block, Some(0), None);
        let most = self.most_taken(raises.iter().map(Raise::takers), &self.loops);
        let first_of = if is_cleared { Vec::new() } else { self.loops.clone() };
        let later: Vec<Formula> = self.later(&first_of).collect();
        for most in most {
            let within = Formula::le(&Poly::unknown(total), &most);
            let cases = later.iter().cloned().chain([within]);
            self.symbols.add_facts(total, Formula::Any(cases.collect()).replace(&|_| None));
        }
        let loops = self.loops.clone();
        self.prefixes.all.push(AllCounted { total, tile, raises, loops, first_of });
        Some(self.prefixes.all.len() - 1)
    }

    /// All that a scan has added up, with what it has passed by.
    pub(in super::super) fn all_of(&self, scan: usize) -> Option<&AllCounted> {
        self.prefixes.scans[scan].all.map(|all| &self.prefixes.all[all])
    }

    /// Adds that a prefix sum, with what was counted in its cell, is no more than all.
    pub(in super::super) fn bound_by_all(&mut self, symbol: Unknown, read: &Read) {
        let Some(all) = self.all_of(read.scan).map(|all| Poly::unknown(all.total)) else { return };
        let sum = Poly::unknown(symbol);
        let is_inclusive = self.prefixes.is_inclusive(read.scan);
        let end = if is_inclusive { sum } else { sum.add(&read.count) };
        let mut cases = match read.is_inside {
            true => Vec::new(),
            false => self.prefixes.outside(read.scan, &read.at),
        };
        cases.push(Formula::le(&end, &all));
        self.symbols.add_facts(symbol, Formula::Any(cases).replace(&|_| None));
    }

    /// Notes that a symbol is the sum of all cells that a scan goes through.
    pub(in super::super) fn note_total(&mut self, symbol: Unknown, scan: usize) {
        self.prefixes.totals.insert(symbol, scan);
        if let Some(all) = self.all_of(scan).map(|all| Poly::unknown(all.total)) {
            self.symbols.add_facts(symbol, Formula::le(&Poly::unknown(symbol), &all));
        }
    }

    /// The cases in which an iteration is not the first one of each of these loops.
    fn later(&self, loops: &[LoopId]) -> impl Iterator<Item = Formula> {
        self.numbers_of(loops).map(|number| Formula::AtLeast(number.plus(-1)))
    }

    /// That an iteration is the first one of each of these loops.
    pub(in super::super) fn first(&self, loops: &[LoopId]) -> impl Iterator<Item = Formula> {
        self.numbers_of(loops).map(|number| Formula::AtLeast(number.negated()))
    }

    fn numbers_of(&self, loops: &[LoopId]) -> impl Iterator<Item = Poly> {
        loops.iter().map(|id| Poly::unknown(self.all_loops[id.0].number))
    }
}
