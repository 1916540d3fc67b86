//! Sums over all cells of a tile, from what one work-item has added up: all of them, or those
//! before the last one, and that.
//!
//! Where each warp has counted in a cell, `for w in 0..warp { before += count[w]; }` gives each
//! work-item a part of the sum ([`super::prefix`]). What the last warp has so, with its own count,
//! is the sum over all; so is what one work-item has that goes through all cells. With that it asks
//! for the block's place: `if t == 255 { let old = atomic n[0] += before + own; … }`.
//!
//! # What it rests on
//!
//! - The part begins with 0, in the first of the cells, and ends before the tile's last cell, of
//!   which the count is added; or behind that one. Both are proved of who is there.
//! - Parts of two loops are parts of one sum if they begin in one cell, of one version of the tile
//!   ([`super::super::tiles::reread`]), in the same iterations of the loops around.
//! - A sum of 32 bits and more does not leave the range of its type, as counters do not
//!   ([`super::super::slots::slot`]).

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::pairs::instance::Builder;
use super::super::terms::integers::range_of;
use super::super::walk::Walk;
use super::prefix::{Read, Scan};
use crate::dtype::DType;
use crate::kernel::{ArrayRef, ElemType, TileId, Type};

/// Parts of sums that a value is compared with.
const MAX_PARTS: usize = 4;

impl Scan {
    /// Whether parts of both are parts of one sum.
    fn is_of_same_sum(&self, other: &Self) -> bool {
        let is_from_nothing = self.is_from_nothing && other.is_from_nothing;
        is_from_nothing
            && self.counted.is_some()
            && self.counted == other.counted
            && self.cells == other.cells
            && self.loops == other.loops
    }
}

impl Walk<'_> {
    /// The scan of which a value is the sum over all of its tile's cells, for who is here.
    pub(in super::super) fn scan_summed(&mut self, value: &Poly) -> Option<usize> {
        let parts: Vec<(Unknown, Read, TileId)> = self
            .prefixes
            .reads
            .iter()
            .rev()
            .filter(|(sum, _)| value.mentions(**sum))
            .filter_map(|(sum, read)| {
                let scan = &self.prefixes.scans[read.scan];
                let is_here = scan.is_from_nothing && scan.loops == self.loops;
                let (tile, _) = scan.counted.filter(|_| is_here)?;
                Some((*sum, read.clone(), tile))
            })
            .take(MAX_PARTS)
            .collect();
        parts.into_iter().find_map(|(sum, read, tile)| {
            let extents = self.extents(ArrayRef::Tile(tile));
            let [extent] = extents.as_slice() else { return None };
            let (at, part) = (read.at.alone()?.clone(), Poly::unknown(sum));
            let is_all = self.is_one_here(value, &part) && self.is_one_here(&at, extent)
                || self.is_one_here(value, &part.add(&read.count))
                    && self.is_one_here(&at, &extent.plus(-1));
            is_all.then_some(read.scan)
        })
    }

    /// Whether two values are one for who is here.
    pub(in super::super) fn is_one_here(&self, one: &Poly, other: &Poly) -> bool {
        if one.sub(other).as_constant() == Some(0) {
            return true;
        }
        let differ = Formula::ne(one, other).and(Formula::All(self.guards.clone()));
        !one.is_lost() && !other.is_lost() && self.is_never(&differ.replace(&|_| None))
    }

    /// What a value of 32 or 64 bits is before it wraps, if it may.
    pub(in super::super) fn before_any_wrapping(&self, value: &Poly) -> Option<Poly> {
        let types = [DType::U32, DType::U64].map(|ty| Type::Scalar(ElemType::Concrete(ty)));
        types.into_iter().find_map(|ty| self.before_wrapping(value, ty))
    }

    /// Notes that part of a sum over a tile's cells, with what was counted in the next one, is of
    /// its type.
    pub(in super::super) fn note_room_of_part(&mut self, sum: Unknown, (tile, ty): (TileId, Type)) {
        let Some((_, max)) = range_of(ty).filter(|(_, max)| *max >= i32::MAX.into()) else {
            return;
        };
        let Some(read) = self.prefixes.reads.get(&sum).cloned() else { return };
        let extents = self.extents(ArrayRef::Tile(tile));
        if let ([extent], Some(at)) = (extents.as_slice(), read.at.alone()) {
            let end = Poly::unknown(sum).add(&read.count);
            let room = Formula::le(&end, &Poly::constant(max));
            let fact = Formula::le(extent, at).or(room).replace(&|_| None);
            self.symbols.add_facts(sum, fact);
        }
    }
}

impl Builder<'_> {
    /// Whether what is read is part of a sum of which the total is that of another scan.
    pub(in super::super) fn is_part_of(&self, read: &Read, scan: usize) -> bool {
        let scans = &self.walk.prefixes.scans;
        read.scan == scan || scans[read.scan].is_of_same_sum(&scans[scan])
    }
}
