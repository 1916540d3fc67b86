//! Slots that each work-item hands on in the cell of its own number.
//!
//! `let old = atomic total[t] += count[t]; start[t] = old;` takes for each `t` as many places as
//! the block has counted. What is read at `start[d]` is the slot that the work-item of the number
//! `d` has taken: one of `total[d]`, as large as `count[d]`. So it is the slot of the text with
//! the cell's place in the place of that work-item's.
//!
//! # What it rests on
//!
//! - The tile is written outside of loops, each cell by the work-item whose number the cell has:
//!   in one place alone, or at last by as many as there are cells. A read of a cell that nobody
//!   writes is reported on its own.
//! - What the slot is made of is the block's, that work-item's number, or what it has found in
//!   tiles at its own number, as they were when it stored the slot.
//! - A counter in a tile that has only risen so far holds no less than what the reader's own
//!   updates before that have left there.

use std::collections::BTreeMap;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::Obstacle;
use super::super::scans::prefix::single;
use super::super::slots::slot::Slot;
use super::super::walk::{Value, Walk};
use super::reread::Version;
use crate::kernel::{ArrayRef, TileId, Type};
use crate::span::SpanId;

/// A slot that each work-item has stored in its own cell of a tile.
#[derive(Clone, Debug)]
pub(in super::super) struct ByPlace {
    slot: Slot,
    /// The coordinates that say which cell.
    place: Vec<Unknown>,
    /// How many places in the text have set tiles before.
    n_sets: BTreeMap<TileId, usize>,
}

impl Walk<'_> {
    /// Notes that work-items have stored a slot each in the cells of their own.
    pub(super) fn note_by_place(
        &mut self,
        (tile, writes): (TileId, usize),
        at: &[Poly],
        slot: &Slot,
    ) {
        let is_coordinate =
            |unknown: &Unknown| self.block.iter().flatten().any(|(_, axis)| axis == unknown);
        let place: Option<Vec<Unknown>> =
            at.iter().map(|index| single(index).filter(is_coordinate)).collect();
        let Some(place) = place else { return };
        let is_fit = self.is_outside_loops() && slot.is_of_item() && slot.is_taken_in(&self.loops);
        let is_once = self.cells.written_once.contains(&tile);
        let is_fit = is_fit && (is_once || self.are_all_written(tile, &place));
        let is_of_place = |unknown: Unknown| {
            place.contains(&unknown)
                || self.is_agreed(&Poly::unknown(unknown))
                || self.read_at(unknown, &place).is_some()
        };
        if !is_fit || !slot.polys().flat_map(Poly::unknowns).all(is_of_place) {
            return;
        }
        let found = slot.polys().flat_map(Poly::unknowns);
        let read: Vec<_> =
            found.filter_map(|unknown| self.read_at(unknown, &place)).map(|(of, _)| of).collect();
        // What is stored now is none of what was found there before.
        let stood = |walk: &mut Self, (of, version): (TileId, Version)| match of == tile {
            true => walk.version_before_last(of) == Some(version),
            false => walk.version(of) == version,
        };
        if read.iter().all(|of| stood(self, *of)) {
            let n_sets = read.iter().map(|(of, _)| {
                let all = self.counters.n_sets(ArrayRef::Tile(*of));
                (*of, all.saturating_sub(usize::from(*of == tile)))
            });
            let n_sets = n_sets.collect();
            self.cells
                .by_place
                .insert((tile, writes), ByPlace { slot: slot.clone(), place, n_sets });
        }
    }

    /// Whether each cell of a tile has a work-item of its number, which comes by here.
    fn are_all_written(&mut self, tile: TileId, place: &[Unknown]) -> bool {
        let mut inside = Formula::True;
        for (axis, extent) in place.iter().zip(self.extents(ArrayRef::Tile(tile))) {
            let Some(count) = self.count_along(*axis) else { return false };
            if !self.is_never(&Formula::lt(&count, &extent)) {
                return false;
            }
            inside = inside.and(Formula::within(&Poly::unknown(*axis), &extent));
        }
        self.passed_by.iter().all(|passed| self.is_never(&inside.clone().and(passed.clone())))
    }

    /// How many coordinates the block has along an axis.
    fn count_along(&mut self, axis: Unknown) -> Option<Poly> {
        let (kernel, axes) = (self.kernel, self.block.clone()?);
        let at = axes.iter().position(|(_, of)| *of == axis)?;
        let (_, count) = self.number_along(&kernel.block.as_deref()?[at..=at], &axes[at..=at])?;
        Some(count)
    }

    /// The tile's version and the cell, of the work-item's own place, in which a symbol was found.
    fn read_at(
        &self,
        symbol: Unknown,
        place: &[Unknown],
    ) -> Option<((TileId, Version), Vec<Poly>)> {
        let is_own = |at: &[Poly]| {
            at.iter().flat_map(Poly::unknowns).all(|unknown| place.contains(&unknown))
        };
        let mut places = self.reread.places_of(symbol);
        places.find(|(_, at)| is_own(at)).map(|(of, at)| (of, at.to_vec()))
    }

    /// The slot that is read in a cell of such a tile.
    pub(super) fn slot_by_place(
        &mut self,
        of: (TileId, usize),
        at: &[Poly],
        span: SpanId,
    ) -> Option<Slot> {
        let ByPlace { slot, place, n_sets } = self.cells.by_place.get(&of)?.clone();
        let here = |unknown: Unknown| {
            let axis = place.iter().position(|axis| *axis == unknown)?;
            Some(at[axis].clone())
        };
        let of_place = |poly: &Poly| poly.replace(&here);
        slot.put(&mut |poly| {
            let mut put = poly.clone();
            for unknown in poly.unknowns() {
                if let Some((of, cell)) = self.read_at(unknown, &place) {
                    let cell: Vec<Poly> = cell.iter().map(of_place).collect();
                    let then = (*n_sets.get(&of.0)?, unknown);
                    let found = self.found_in_cell((of, then), &cell, span)?;
                    put = put.replace(&|other| (other == unknown).then(|| found.clone()));
                }
            }
            Some(of_place(&put))
        })
    }

    /// What is found in a cell of a version of a tile, before which so many places have set it,
    /// and of which the work-item of the slot has found this.
    fn found_in_cell(
        &mut self,
        (of, then): ((TileId, Version), (usize, Unknown)),
        at: &[Poly],
        span: SpanId,
    ) -> Option<Poly> {
        let tile = of.0;
        if let Some(symbol) = self.reread.symbol_at(of, at) {
            return Some(Poly::unknown(symbol));
        }
        let cell = self.cell_at(tile, at)?;
        let ty = Type::Scalar(self.kernel.tiles[tile].elem);
        let Value::Int(value) = self.any_of_type(ty, false, (span, Obstacle::Load)) else {
            return None;
        };
        self.note_found(of, &cell, &value);
        self.bound_by_own((tile, then), at, &value);
        Some(value)
    }

    /// Notes that a counter in a tile is beyond what the work-item's own updates had left there
    /// when it was found: those whose old values are older than what was found.
    fn bound_by_own(
        &mut self,
        (tile, (n_sets, found)): (TileId, (usize, Unknown)),
        at: &[Poly],
        now: &Poly,
    ) {
        let Some(counter) = single(now) else { return };
        let before = self.left_by_own(tile, n_sets).filter(|(old, _)| *old < found);
        let facts: Vec<Formula> = before
            .filter(|(_, left)| left.at == at)
            .map(|(_, left)| {
                let is_less = Formula::le(&left.value, now);
                Formula::Any(left.unmade.iter().cloned().chain([is_less]).collect())
            })
            .collect();
        facts.into_iter().for_each(|fact| self.symbols.add_facts(counter, fact));
    }
}
