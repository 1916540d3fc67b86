//! Local arrays, whose elements are not followed as variables are ([`super::arrays`]): what one
//! work-item finds in them is known by the cell, and by the version of the array.
//!
//! Nobody else writes them, so a cell holds one value from one write of its array in the text to
//! the next ([`super::reread`] counts the versions): what the work-item has stored there, where
//! the text says it, and else any value, which it finds there again.
//!
//! A loop may fill an array: `for j in 0..8 { reg[j] = a[j * 256 + t]; if reg[j] > 0 { n += 1; } }`.
//! What is in `reg[j]` at the end of a round is there after the loop, if no other round writes
//! that cell. So a later loop finds in each round what this one has found in the round of the
//! same number ([`super::super::slots::recounted`]), whatever it is.
//!
//! # What it rests on
//!
//! - A loop's rounds that write an array each begin with a version of their own, and so does what
//!   comes after the loop, and what comes after a declaration.
//! - A value that was stored is known where each who comes by has stored it, in a cell that the
//!   array has.
//! - A cell is left as a round's end has it where all places of the loop that write the array do it
//!   at one index, at which the number of the round has a factor other than 0, and the rest is the
//!   same in all rounds; and nobody leaves the loop.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::scans::prefix::single;
use super::super::terms::integers::is_integer;
use super::super::walk::{Value, Walk};
use super::held::collect_written;
use super::reread::Version;
use super::tabled::not_within;
use crate::kernel::{Access, ArrayRef, ExprId, Kernel, Stmt, StmtKind, TileId, any_stmt};

/// A cell's coordinates, and what it holds.
type Content = (Vec<Poly>, Poly);

/// A cell of a version of an array.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct OwnCell {
    tile: TileId,
    version: Version,
    at: Vec<Poly>,
}

/// What work-items find in their local arrays.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct OwnArrays {
    values: BTreeMap<(TileId, Version), Vec<Content>>,
    /// By symbol, the cells in which it was found.
    places: BTreeMap<Unknown, BTreeSet<OwnCell>>,
    /// The writes, as the text has them.
    writes: Vec<(TileId, Vec<Poly>)>,
    /// What the last loop has left: cells at the ends of its rounds.
    ended: Vec<OwnCell>,
    /// By such a cell, the version of its array after the loop.
    left: BTreeMap<OwnCell, Version>,
}

/// The arrays that a loop writes.
pub(in super::super) struct Filled {
    tiles: Vec<TileId>,
    n_writes: usize,
}

impl OwnArrays {
    fn value(&self, of: (TileId, Version), at: &[Poly]) -> Option<&Poly> {
        let (_, value) = self.values.get(&of)?.iter().find(|(cell, _)| cell == at)?;
        Some(value)
    }

    /// The cells in which a symbol was found.
    pub(in super::super) fn places_of(&self, symbol: Unknown) -> impl Iterator<Item = &OwnCell> {
        self.places.get(&symbol).into_iter().flatten()
    }

    /// The same cell in other rounds, `translate` putting its index in their terms: after the
    /// loop, if this is how a round has left it.
    pub(in super::super) fn translated(
        &self,
        cell: &OwnCell,
        translate: &dyn Fn(&Poly) -> Option<Poly>,
    ) -> Option<OwnCell> {
        let at: Option<Vec<Poly>> = cell.at.iter().map(translate).collect();
        let version = self.left.get(cell).copied().unwrap_or(cell.version);
        Some(OwnCell { tile: cell.tile, version, at: at? })
    }

    /// The symbol that is found in a cell.
    pub(in super::super) fn symbol_in(&self, cell: &OwnCell) -> Option<Unknown> {
        single(self.value((cell.tile, cell.version), &cell.at)?)
    }
}

impl Walk<'_> {
    /// The cell of a local array that is read, or written, here.
    pub(in super::super) fn own_array_cell(
        &mut self,
        array: ArrayRef,
        at: &[Poly],
    ) -> Option<OwnCell> {
        let ArrayRef::Tile(tile) = array else { return None };
        let is_known = self.recording && !self.is_in_point() && !at.iter().any(Poly::is_lost);
        if !is_known || !self.kernel.is_local(array) {
            return None;
        }
        let version = self.version(tile);
        Some(OwnCell { tile, version, at: at.to_vec() })
    }

    /// What a work-item finds in a local array.
    pub(in super::super) fn found_in_own_array(
        &mut self,
        expr: ExprId,
        access: &Access,
        at: &[Poly],
    ) -> Option<Value> {
        let ty = self.kernel.exprs[expr].ty;
        let cell = self.own_array_cell(access.array, at).filter(|_| is_integer(ty))?;
        let of = (cell.tile, cell.version);
        let known = self.own_arrays.value(of, at).cloned();
        let value = match known {
            Some(known) => known,
            None => match self.made_outside_of(at, of, |walk| walk.opaque(expr, ty))? {
                Value::Int(value) => {
                    self.note_in_own_array(&cell, &value);
                    value
                }
                Value::Cond(_) | Value::Other => return None,
            },
        };
        if let Some(symbol) = single(&value) {
            self.own_arrays.places.entry(symbol).or_default().insert(cell);
        }
        Some(Value::Int(value))
    }

    fn note_in_own_array(&mut self, cell: &OwnCell, value: &Poly) {
        let values = self.own_arrays.values.entry((cell.tile, cell.version)).or_default();
        values.push((cell.at.clone(), value.clone()));
    }

    /// Notes what a work-item has stored in a local array, where all who come by have.
    pub(in super::super) fn note_stored_in_own_array(
        &mut self,
        access: &Access,
        at: &[Poly],
        value: &Value,
    ) {
        let Value::Int(value) = value else { return };
        let Some(cell) = self.own_array_cell(access.array, at) else { return };
        let is_sure = self.passed_by.iter().all(|passed| *passed == Formula::False);
        if is_sure && !value.is_lost() && self.is_in_own_array(access.array, at) {
            self.note_in_own_array(&cell, value);
        }
    }

    /// Whether an index is one of the array's, as who comes by knows.
    fn is_in_own_array(&mut self, array: ArrayRef, at: &[Poly]) -> bool {
        let extents = self.extents(array);
        let outside: Vec<Formula> =
            at.iter().zip(&extents).flat_map(|(at, extent)| not_within(at, extent)).collect();
        self.is_none_here(&outside)
    }

    /// Notes that a local array is written.
    pub(in super::super) fn note_own_write(&mut self, array: ArrayRef, at: &[Poly]) {
        if let ArrayRef::Tile(tile) = array
            && self.recording
            && self.kernel.is_local(array)
        {
            self.own_arrays.writes.push((tile, at.to_vec()));
        }
    }

    /// A local array is declared.
    pub(in super::super) fn declare_own_array(&mut self, tile: TileId) {
        if self.recording {
            self.renew(tile);
        }
    }

    /// A round of the innermost loop begins: what it writes may have been written before.
    pub(in super::super) fn fill_own_arrays(&mut self, body: &[Stmt]) -> Filled {
        let mut written = BTreeSet::new();
        if self.recording {
            collect_written(body, &mut written);
        }
        let local = written.into_iter().filter(|array| self.kernel.is_local(*array));
        let tile = |array: ArrayRef| match array {
            ArrayRef::Tile(tile) => Some(tile),
            ArrayRef::Tensor(_) => None,
        };
        let tiles: Vec<TileId> = local.filter_map(tile).collect();
        tiles.iter().for_each(|tile| self.renew(*tile));
        Filled { tiles, n_writes: self.own_arrays.writes.len() }
    }

    /// The cells at the end of a round of the innermost loop that no other round writes.
    pub(in super::super) fn filled_by_round(
        &mut self,
        id: LoopId,
        Filled { tiles, n_writes }: Filled,
    ) -> Vec<OwnCell> {
        let written = |walk: &Self, tile: TileId| {
            let mut writes = walk.own_arrays.writes.get(n_writes..)?.iter();
            let of_tile = |(of, at): &(TileId, Vec<Poly>)| (*of == tile).then(|| at.clone());
            let mut at = writes.by_ref().filter_map(of_tile);
            let first = at.next()?;
            at.all(|other| other == first).then_some(first)
        };
        let mut cells = Vec::new();
        for tile in tiles {
            if let Some(at) = written(self, tile).filter(|at| self.is_of_one_round(id, at)) {
                cells.extend(self.own_array_cell(ArrayRef::Tile(tile), &at));
            }
        }
        cells
    }

    /// Whether an index is another one in each round of a loop.
    fn is_of_one_round(&self, id: LoopId, at: &[Poly]) -> bool {
        let number = self.all_loops[id.0].number;
        at.iter().any(|index| {
            let factor = index.cofactor(number).as_constant();
            factor.filter(|factor| *factor != 0 && !index.is_lost()).is_some_and(|factor| {
                let rest = index.sub(&Poly::unknown(number).scaled(factor));
                !rest.is_lost() && !rest.unknowns().any(|of| self.symbols.is_inside(of, id))
            })
        })
    }

    /// A loop of which nobody has left a round has ended with these cells.
    pub(in super::super) fn end_own_arrays(&mut self, cells: Vec<OwnCell>) {
        if self.recording {
            self.own_arrays.ended = cells;
        }
    }

    /// The loop is over that has ended last.
    pub(in super::super) fn leave_own_arrays(&mut self) {
        for cell in std::mem::take(&mut self.own_arrays.ended) {
            let after = self.version(cell.tile);
            self.own_arrays.left.insert(cell, after);
        }
    }
}

/// Whether a kernel has loops that use local arrays.
pub(in super::super) fn has_loops_of_own_arrays(kernel: &Kernel) -> bool {
    any_stmt(&kernel.body, &mut |kind| {
        kind.is_loop() && kind.bodies().into_iter().any(|body| writes_own_array(kernel, body))
    })
}

fn writes_own_array(kernel: &Kernel, body: &[Stmt]) -> bool {
    any_stmt(body, &mut |kind: &StmtKind| {
        kind.written().is_some_and(|array| kernel.is_local(array))
    })
}
