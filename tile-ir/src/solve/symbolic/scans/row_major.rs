//! Prefix sums that go on from one row of cells to the next.
//!
//! `for d in 0..R { for w in 0..W { let n = c[d, w]; c[d, w] = run; run += n; } }` sums up the cells of
//! each row ([`super::prefix`]) from what those of the rows before hold together. So of two cells
//! the later one, of a later row or behind in the same one, holds no less than the earlier one and
//! what was counted there.
//!
//! # What it rests on
//!
//! - Each iteration of the outer loop sums up the row of its number, and no other: what a row is
//!   made of has not been touched by the rows before.
//! - The variable is left alone but for the inner loop: at the head of each iteration it is what
//!   the iteration before has left.

use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::tiles::held::{Content, Head, Stored, totals_in};
use super::super::tiles::rows::Rows;
use super::super::walk::{Value, Walk};
use super::prefix::{Scan, single};
use crate::kernel::{ArrayRef, VarId};

/// A variable that each iteration of a loop gives the sum of a row to which it has been added.
#[derive(Clone, Debug)]
pub(in super::super) struct Chained {
    var: VarId,
    /// Its value before the loop.
    first: Poly,
    /// The scan of the row.
    scan: usize,
}

impl Walk<'_> {
    /// Notes that an iteration sums up a row of cells from what a variable is at its head, and
    /// leaves the sum there.
    pub(super) fn note_chained(
        &mut self,
        (var, id): (VarId, LoopId),
        (first, at, end): (&Poly, Unknown, &Poly),
    ) {
        let total = single(end).and_then(|end| self.prefixes.totals.get(&end)).copied();
        if let Some(scan) = total
            && self.prefixes.scans[scan].begins.as_ref() == Some(&Poly::unknown(at))
        {
            let chained = Chained { var, first: first.clone(), scan };
            self.held.chained.entry(id).or_default().push(chained);
        }
    }

    /// After a loop between these bounds, in which there were these stores: whether its iterations
    /// have made prefix sums of one row of cells after the other.
    pub(super) fn note_rows_chained(
        &mut self,
        [start, end]: [&Poly; 2],
        head: &Head,
        stores: &[Stored],
    ) {
        let Some(id) = self.held.ended else { return };
        for chained in self.held.chained.remove(&id).unwrap_or_default() {
            let row = self.prefixes.scans[chained.scan].clone();
            let mut stored = stores.iter().filter(|stored| row.stored_in == Some(stored.tile));
            let (Some(stored), None) = (stored.next(), stored.next()) else { continue };
            if head.n_writes.get(&stored.tile) != Some(&1) {
                continue;
            }
            if let Some(rows) = self.rows_of_loop((id, [start, end]), &row, stored) {
                self.add_chained((stored, head), chained, Scan { rows: vec![rows], ..row });
            }
        }
    }

    /// The rows that the iterations of a loop sum up, each the one of its number.
    fn rows_of_loop(
        &self,
        (id, [start, end]): (LoopId, [&Poly; 2]),
        scan: &Scan,
        stored: &Stored,
    ) -> Option<Rows> {
        let is_here = match stored.loops.as_slice() {
            [around @ .., outer, _] => around == self.loops && *outer == id,
            _ => false,
        };
        let [row] = scan.row.as_slice() else { return None };
        let place = row.sub(&Poly::unknown(self.all_loops[id.0].number));
        let is_fixed = |poly: &Poly| {
            self.is_agreed(poly) && !poly.unknowns().any(|of| self.symbols.is_inside(of, id))
        };
        let mut asked = Vec::new();
        scan.unless.iter().for_each(|unless| unless.collect_unknowns(&mut asked));
        let is_steady = asked.into_iter().all(|of| !self.symbols.is_inside(of, id));
        let is_every = stored.n_guards == self.guards.len() + 2;
        let are_fixed = [&place, start, end].into_iter().chain(&scan.cells).all(is_fixed);
        let is_fit = is_here && is_every && is_steady && are_fixed && !scan.is_backward;
        is_fit.then(|| Rows::between(place.clone(), place.add(&end.sub(start))))
    }

    fn add_chained(&mut self, (stored, head): (&Stored, &Head), chained: Chained, row: Scan) {
        let Some((tile, _)) = row.counted else { return };
        let is_own = tile == stored.tile;
        if !is_own && head.written.contains(&ArrayRef::Tile(tile)) {
            return;
        }
        let n_sets = if is_own { stored.n_sets - 1 } else { usize::MAX };
        let raises = self.raises_of(tile, n_sets);
        let is_from_0 = chained.first == Poly::default();
        let all = is_from_0.then(|| self.all_counted(tile, raises.clone())).flatten();
        let scan = Scan {
            row: Vec::new(),
            is_row_major: true,
            counts: self.known_counts(head.contents.get(&tile), tile, n_sets),
            counted: Some((tile, self.version_before(head, tile))),
            raises,
            all,
            totals: totals_in(head.contents.get(&tile)),
            begins: None,
            loops: self.loops.clone(),
            ..row
        };
        let number = self.prefixes.scans.len();
        self.prefixes.scans.push(scan);
        self.held.contents.insert(stored.tile, Content::Sums(number));
        if let Some(Value::Int(sum)) = self.env.get(&chained.var)
            && let Some(sum) = single(sum)
        {
            self.note_total(sum, number);
            if self.is_natural(&chained.first) {
                self.symbols.set_natural(sum);
            }
        }
    }
}
