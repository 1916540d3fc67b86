//! Cells of tiles that are read again: until somebody writes the tile, a work-item finds there
//! what it has found before, or what it has stored.
//!
//! `for i in 0..size[t] { out[start[t] + i] = …; }` asks for `size[t]` once more, of which
//! `start` is made as prefix sums ([`super::super::scans::prefix`]). What was counted in a
//! cell is what is read there as long as the tile stays as it was.
//!
//! # What it rests on
//!
//! - A tile stays as it was between two places of the text if none between them writes it, and
//!   no loop begins or ends between them that does, in one iteration of the loops around the
//!   last one that has. What others write in between has a barrier on either side, which stand
//!   in uniform control flow, so the text tells of it; anything else is a race, and reported.
//! - A store is found again by those who are sure to have made it, and only where the value
//!   is kept as it is, not wrapped.

use std::collections::BTreeMap;

use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::walk::{Value, Walk};
use super::held::Held;
use super::rows::Cell;
use crate::kernel::{ArrayRef, ExprId, TileId};

/// A tile as it is from one write to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Version(usize);

/// What work-items find in cells of tiles.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Reread {
    /// By tile: which version it is, and the loops around what has made it.
    versions: BTreeMap<TileId, (Version, Vec<LoopId>)>,
    /// By tile: which version it was before.
    before: BTreeMap<TileId, Version>,
    n_versions: usize,
    values: BTreeMap<(TileId, Version), Vec<(Cell, Poly)>>,
    /// By symbol, the cells of which it is the value.
    places: BTreeMap<Unknown, Vec<Place>>,
}

/// A version of a tile, and a cell's coordinates.
type Place = ((TileId, Version), Vec<Poly>);

impl Reread {
    fn value(&self, of: (TileId, Version), at: &Cell) -> Option<&Poly> {
        let (_, value) = self.values.get(&of)?.iter().find(|(cell, _)| cell == at)?;
        Some(value)
    }

    /// The symbol that is the value of a cell of a version of a tile.
    pub(in super::super) fn symbol_at(
        &self,
        of: (TileId, Version),
        at: &[Poly],
    ) -> Option<Unknown> {
        let holds =
            |places: &Vec<Place>| places.iter().any(|(of_it, cell)| *of_it == of && cell == at);
        self.places.iter().find(|(_, places)| holds(places)).map(|(symbol, _)| *symbol)
    }

    /// The cells that hold a symbol's value.
    pub(in super::super) fn places_of(
        &self,
        symbol: Unknown,
    ) -> impl Iterator<Item = ((TileId, Version), &[Poly])> {
        let places = self.places.get(&symbol).into_iter().flatten();
        places.map(|(of, at)| (*of, at.as_slice()))
    }
}

impl Walk<'_> {
    /// Notes what a work-item has found in a cell by `expr`, if that is one number by itself. What
    /// it has stored there and finds again is noted of cells alone of which each work-item has one:
    /// elsewhere it is to be proved that a cell holds that, and not what another one has stored.
    pub(in super::super) fn note_place(
        &mut self,
        expr: ExprId,
        (tile, at): (TileId, &[Poly]),
        value: &Value,
    ) {
        let Value::Int(value) = value else { return };
        let [(product, 1)] = value.terms() else { return };
        let of = (tile, self.version(tile));
        if let [symbol] = product.as_slice()
            && self.recording
            && !at.iter().any(Poly::is_lost)
            && (self.is_found(*symbol, expr, of) || self.is_own_place(at))
        {
            let place = (of, at.to_vec());
            let places = self.reread.places.entry(*symbol).or_default();
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }

    /// Whether a symbol was made for what `expr` reads, or for another read of that tile as it is.
    fn is_found(&self, symbol: Unknown, expr: ExprId, of: (TileId, Version)) -> bool {
        let made_at = self.symbols.get(symbol).and_then(|symbol| symbol.obstacle);
        made_at.is_some_and(|(span, _)| span == self.kernel.exprs[expr].span)
            || self.reread.places_of(symbol).any(|(known, _)| known == of)
    }

    /// Whether each work-item of a block has a cell of its own: along each axis an index is its
    /// coordinate, beside what the block agrees on.
    fn is_own_place(&self, at: &[Poly]) -> bool {
        let mut left: Vec<&Poly> = at.iter().collect();
        self.block.iter().flatten().all(|(_, axis)| {
            let own = Poly::unknown(*axis);
            let is_of_axis =
                |at: &&Poly| self.is_agreed(&at.sub(&own)) || self.is_agreed(&at.add(&own));
            let found = left.iter().position(is_of_axis);
            found.map(|found| left.remove(found)).is_some()
        })
    }

    /// From here on a tile may hold something else.
    pub(in super::super) fn renew(&mut self, tile: TileId) {
        self.reread.n_versions += 1;
        let version = Version(self.reread.n_versions);
        let before = self.reread.versions.insert(tile, (version, self.loops.clone()));
        let before = before.map(|(version, _)| version).unwrap_or_default();
        self.reread.before.insert(tile, before);
    }

    /// Which version a tile was before the last place that has made it another one.
    pub(in super::super) fn version_before_last(&self, tile: TileId) -> Option<Version> {
        self.reread.before.get(&tile).copied()
    }

    /// Which version of a tile it is here.
    pub(in super::super) fn version(&mut self, tile: TileId) -> Version {
        let known = self.reread.versions.get(&tile);
        if known.is_some_and(|(_, loops)| !self.loops.starts_with(loops)) {
            self.renew(tile);
        }
        self.reread.versions.get(&tile).map(|(version, _)| *version).unwrap_or_default()
    }

    /// Notes what all who come by have stored in a cell.
    pub(in super::super) fn note_kept(&mut self, tile: TileId, held: &Held) {
        if held.is_exact && held.is_sure() {
            let of = (tile, self.version(tile));
            self.reread.values.entry(of).or_default().push((held.at.clone(), held.value.clone()));
        }
    }

    /// What a work-item finds in a tile's cell that it has found there before.
    pub(in super::super) fn found_again(
        &mut self,
        expr: ExprId,
        tile: TileId,
        coordinates: &[Poly],
    ) -> Option<(Value, bool)> {
        let at = self.cell_at(tile, coordinates).filter(|at| !at.is_lost() && self.recording)?;
        let of = (tile, self.version(tile));
        if let Some(known) = self.reread.value(of, &at) {
            return Some((Value::Int(known.clone()), true));
        }
        // What sums were made of is known by the cells that they stand in, and what sums by hand
        // are made of by whose cell it is.
        let is_summed = self.local_elements.own_cell(ArrayRef::Tile(tile)).is_some();
        if !is_summed
            && !self.prefixes.is_counted(of)
            && let Some(known) = self.filled(tile, coordinates)
        {
            return Some((known, true));
        }
        let ty = self.kernel.exprs[expr].ty;
        let value = self.made_outside(&at, of, |walk| walk.opaque(expr, ty))?;
        if let Value::Int(value) = &value {
            self.reread.values.entry(of).or_default().push((at, value.clone()));
        }
        Some((value, false))
    }

    /// What is in a cell of a version of a tile, if somebody has looked.
    pub(in super::super) fn found_in_version(
        &self,
        of: (TileId, Version),
        at: &Cell,
    ) -> Option<Poly> {
        self.reread.value(of, at).cloned()
    }

    /// The cell of a version of a tile in which a value is known to be, where each work-item has
    /// such a cell of its own.
    pub(in super::super) fn own_cell_holding(
        &self,
        of: (TileId, Version),
        value: &Poly,
    ) -> Option<&Cell> {
        let known = self.reread.values.get(&of)?.iter();
        let mut holding = known.filter(|(_, held)| held == value).map(|(cell, _)| cell);
        holding.find(|cell| {
            let at: Vec<Poly> = cell.coordinates().cloned().collect();
            self.is_own_place(&at)
        })
    }

    /// Notes that this is in a cell of a version of a tile.
    pub(in super::super) fn note_found(&mut self, of: (TileId, Version), at: &Cell, value: &Poly) {
        self.reread.values.entry(of).or_default().push((at.clone(), value.clone()));
    }

    /// Notes what is in a cell whose index is of the innermost loop, if nobody has looked yet:
    /// what all of a block read there, too, is what was counted.
    pub(in super::super) fn note_found_by_all(&mut self, tile: TileId, at: &[Poly], value: &Value) {
        let Some(at) = self.cell_at(tile, at).filter(|at| !at.is_lost() && self.recording) else {
            return;
        };
        let (of, depth) = ((tile, self.version(tile)), self.loops.len());
        let is_inner = self.made_outside(&at, of, |walk| walk.loops.len()) == Some(depth);
        if let Value::Int(value) = value
            && is_inner
            && depth > 0
            && self.reread.value(of, &at).is_none()
        {
            self.note_found(of, &at, value);
        }
    }

    /// Makes a value of a cell outside of the loops that neither tell which cell it is, nor
    /// write the tile.
    pub(in super::super) fn made_outside<T>(
        &mut self,
        at: &Cell,
        of: (TileId, Version),
        make: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        self.made_outside_of(at.coordinates(), of, make)
    }

    /// The same by the cell's coordinates.
    pub(in super::super) fn made_outside_of<'c, T>(
        &mut self,
        at: impl IntoIterator<Item = &'c Poly>,
        (tile, version): (TileId, Version),
        make: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        let born = self.reread.versions.get(&tile).filter(|(now, _)| *now == version);
        let mut outer: &[LoopId] = born.map_or(&[], |(_, loops)| loops);
        for unknown in at.into_iter().flat_map(Poly::unknowns) {
            let loops = self.symbols.get(unknown).map_or(&[][..], |symbol| &symbol.loops);
            if loops.len() > outer.len() {
                outer = loops;
            }
        }
        if !self.loops.starts_with(outer) {
            return None;
        }
        let outer = outer.to_vec();
        let here = std::mem::replace(&mut self.loops, outer);
        let value = make(self);
        self.loops = here;
        Some(value)
    }
}
