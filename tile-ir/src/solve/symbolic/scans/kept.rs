//! What a work-item finds in its own cell of prefix sums: what it has stored there itself.
//!
//! `s[t] = scan_sum_exclusive(z);` leaves in each cell what those before its work-item have added
//! ([`super::prefix`]). Of that cell its work-item knows more: it is what the scan has given it, of
//! which `n + t - s[t]` is a place as well.
//!
//! # What it rests on
//!
//! - All work-items whose cell is among those of the store have stored in it; it is the cell of
//!   their number in the block, or the next one, by which it is known at a read that it is the same.
//! - The tile is not written until it is read, but for cells beside those of the store.
//! - It is read in the iterations of the loops around the store.
//! - What is stored is kept as it is, not wrapped.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::tiles::rows::Cell;
use super::super::walk::Walk;
use super::prefix::{Read, single};

/// What each of the block's work-items up to some number has stored in a cell of its own.
#[derive(Clone, Debug)]
pub(in super::super) struct Kept {
    at: Poly,
    value: Poly,
    /// From this cell on, to before that one.
    cells: [Poly; 2],
}

impl Kept {
    /// The cases in which nobody has stored so in its cell.
    fn outside(&self) -> Formula {
        let [from, to] = &self.cells;
        Formula::lt(&self.at, from).or(Formula::le(to, &self.at))
    }
}

impl Walk<'_> {
    /// Notes that a tile's sums are what each work-item has stored in this cell, if that is the one of
    /// its number in the block, or the next one.
    pub(in super::super) fn note_kept_sum(&mut self, scan: usize, at: &Cell, value: &Poly) {
        let (Some(at), Some((number, _))) = (at.alone(), self.number_of_items()) else { return };
        if *at != number && *at != number.plus(1) {
            return;
        }
        if let Some(scan) = self.prefixes.scans.get_mut(scan) {
            let cells = scan.cells.clone();
            scan.kept = Some(Kept { at: at.clone(), value: value.clone(), cells });
        }
    }

    /// What was stored so in a cell of prefix sums, if that is its work-item's own here, and the cases
    /// in which it was not.
    fn kept_in(&self, scan: usize, at: &Cell) -> Option<(&Kept, Formula)> {
        let found = &self.prefixes.scans[scan];
        let kept = found.kept.as_ref().filter(|kept| at.alone() == Some(&kept.at))?;
        let is_here = self.recording && self.loops.starts_with(&found.loops);
        let outside = || found.unless.iter().cloned().fold(kept.outside(), Formula::or);
        is_here.then(|| (kept, outside()))
    }

    /// What each work-item of the block has stored in a cell of prefix sums that is its own.
    pub(super) fn kept_by_all(&self, scan: usize, at: &Cell) -> Option<Poly> {
        let (kept, outside) = self.kept_in(scan, at)?;
        self.is_never(&outside).then(|| kept.value.clone())
    }

    /// What a work-item has stored in a cell of prefix sums, if that is its own, and one number by
    /// itself: that is a prefix sum from here on.
    pub(super) fn kept_prefix(&mut self, scan: usize, at: &Cell) -> Option<Poly> {
        let (kept, outside) = self.kept_in(scan, at)?;
        let value = kept.value.clone();
        let symbol = single(&value)?;
        let here = Formula::All(self.guards.clone());
        if kept.cells != self.prefixes.scans[scan].cells || !self.is_never(&here.and(outside)) {
            return None;
        }
        match self.prefixes.reads.get(&symbol) {
            Some(read) => (read.scan == scan && read.at == *at).then_some(value),
            None => {
                let found = self.prefixes.scans[scan].clone();
                let count = self.count_at(&found, at);
                let is_inside = self.is_never(&Formula::Any(self.prefixes.outside(scan, at)));
                self.note_prefix(symbol, Read { scan, at: at.clone(), count, is_inside });
                Some(value)
            }
        }
    }

    /// Notes that what was read in a cell of prefix sums is what its work-item has stored there.
    pub(super) fn note_kept_read(&mut self, scan: usize, at: &Cell, sum: &Poly) {
        if let (Some(symbol), Some((kept, outside))) = (single(sum), self.kept_in(scan, at)) {
            let is_it = outside.or(Formula::eq(sum, &kept.value)).replace(&|_| None);
            self.symbols.add_facts(symbol, is_it);
        }
    }
}
