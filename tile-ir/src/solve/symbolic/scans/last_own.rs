//! What the block's last work-item has stored in its own cell, as all of the block find it there.
//!
//! `fl[t] = z; sc[t] = scan_sum_exclusive(z); barrier; let n = sc[63] + fl[63];` of 64 work-items
//! gives all of them the sum over the block: those before the last one have added `sc[63]`, and
//! that itself `fl[63]`. So what is read in the last one's cell is what it has as the value that
//! each work-item has stored in its own cell; of two tiles that hold one value it is one number;
//! and if the value is what a scan gives each for those before it, what the last one adds makes it
//! the sum over all.
//!
//! # What it rests on
//!
//! - Each work-item of the block has stored the value in the cell of its number, and the tile has not
//!   been written since, as far as the text goes ([`super::super::tiles::reread`]).
//! - The cell that is read is that of the last number of the block.
//! - The scan is of the whole block, and the read in the same iterations of the loops around it.
//! - Sums do not leave the range of their type, as those of any scan do not ([`super`]).

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::tiles::held::Content;
use super::super::tiles::rows::Cell;
use super::super::walk::{Value, Walk};
use super::prefix::single;
use super::{Over, Sum};
use crate::exchange::Group;
use crate::kernel::TileId;

/// What the last work-item of a block has as a value of which each has its own.
#[derive(Clone, Debug)]
pub(in super::super) struct OfLast {
    own: Poly,
    value: Unknown,
    loops: Vec<LoopId>,
}

impl Walk<'_> {
    /// Notes that the block has read a value in a tile, where that is in the last work-item's cell.
    pub(in super::super) fn note_last_read(&mut self, tile: TileId, at: &[Poly], value: &Value) {
        let ([at], Value::Int(value)) = (at, value) else { return };
        if !self.recording || self.is_in_point() || !self.is_agreed(at) {
            return;
        }
        let Some((number, count)) = self.number_of_items() else { return };
        if *at != count.plus(-1) {
            return;
        }
        if let Some(symbol) = single(value)
            && let Some(own) = self.own_in(tile, number)
            && !self.is_agreed(&own)
        {
            self.note_of_last(symbol, own);
        }
    }

    /// What each work-item of the block has stored in the cell of its number.
    fn own_in(&mut self, tile: TileId, number: Poly) -> Option<Poly> {
        let at = Cell { row: Vec::new(), at: number };
        match self.held.contents.get(&tile) {
            Some(Content::Sums(scan)) => self.kept_by_all(*scan, &at),
            Some(Content::Held(_) | Content::Total(..) | Content::Totals(_)) | None => {
                let of = (tile, self.version(tile));
                self.found_in_version(of, &at)
            }
        }
    }

    /// Notes that a symbol is what the last work-item has as this value.
    fn note_of_last(&mut self, symbol: Unknown, own: Poly) {
        let loops = self.symbols.get(symbol).map(|of| of.loops.clone()).unwrap_or_default();
        let is_known = |of: Unknown| {
            self.symbols.get(of).is_some_and(|symbol| loops.starts_with(&symbol.loops))
        };
        if !self.loops.starts_with(&loops) || !own.unknowns().all(is_known) {
            return;
        }
        if let Some(known) = self.of_last(&own, &loops) {
            if known != symbol {
                let same = Formula::eq(&Poly::unknown(symbol), &Poly::unknown(known));
                self.symbols.add_facts(symbol, same);
            }
            return;
        }
        let sum = self.sum_before(&own).filter(|sum| sum.loops == loops && loops == self.loops);
        self.prefixes.of_last.push(OfLast { own, value: symbol, loops });
        let Some(sum) = sum else { return };
        let added = self.added_by_last(&sum);
        let total = self.total_over_block(&sum.of, &self.loops).unwrap_or_else(|| {
            let total = self.symbol(Sharing::Block, Some(0), None);
            self.add_sum(total, sum);
            total
        });
        let all = Poly::unknown(symbol).add(&added);
        self.symbols.add_facts(symbol, Formula::eq(&all, &Poly::unknown(total)));
    }

    /// What is known to be what the last work-item has as a value.
    fn of_last(&self, own: &Poly, loops: &[LoopId]) -> Option<Unknown> {
        let is_it = |of: &&OfLast| of.own == *own && loops.starts_with(&of.loops);
        self.prefixes.of_last.iter().find(is_it).map(|of| of.value)
    }

    /// What the last work-item adds to a sum here.
    fn added_by_last(&mut self, sum: &Sum) -> Poly {
        if self.is_agreed(&sum.of) {
            return sum.of.clone();
        }
        if let Some(known) = self.of_last(&sum.of, &self.loops) {
            return Poly::unknown(known);
        }
        let value = self.symbol(Sharing::Block, Some(0), None);
        let added = Poly::unknown(value);
        if let Some(most) = sum.most {
            self.symbols.add_facts(value, Formula::le(&added, &Poly::constant(most)));
        }
        let (own, loops) = (sum.of.clone(), self.loops.clone());
        self.prefixes.of_last.push(OfLast { own, value, loops });
        added
    }

    /// The sum over the block of which a value is the part before a work-item, in these loops.
    fn sum_before(&self, value: &Poly) -> Option<Sum> {
        self.sums.iter().find_map(|(scan, sum)| {
            let given = Poly::unknown(*scan);
            let is_part = match sum.over {
                Over::Before => *value == given,
                Over::UpTo => *value == given.sub(&sum.of),
                Over::All => false,
            };
            let is_whole = sum.group == Group::Block && sum.within.is_none();
            let is_here = is_part && is_whole && sum.loops == self.loops;
            is_here.then(|| Sum { over: Over::All, ..sum.clone() })
        })
    }
}
