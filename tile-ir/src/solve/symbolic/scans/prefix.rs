//! Prefix sums that one work-item makes in a tile, cell after cell.
//!
//! `if tx == 0 { for k in 0..W { let c = s[k]; s[k] = run; run += c; } }` leaves in each
//! cell what those before it held together, if none of them is negative: of two cells the
//! later one holds no less than the earlier one and what was counted there. So work-items
//! that each count, and go on from the cell of their own (of their warp, of their digit),
//! have places of their own. The same holds where `base[d] = base[d - 1] + count[d - 1]`,
//! of sums that include a cell's own count, where the sums begin with the first count and the
//! second cell, and where each work-item stores what a collective scan gives it, or what it has
//! added up itself.
//!
//! # What it rests on
//!
//! - The tile is written by the loop alone, once in each iteration, in one cell after the
//!   other; and by nobody until it is read ([`super::super::tiles::held`]).
//! - Both sides are in the same iterations of the loops around the scan.
//! - A sum does not leave the range of its type, as counters do not
//!   ([`super::super::slots::slot`]): `run += c` has been made for each cell. Nor does the sum of all that counters have counted:
//!   `base[d] + r` does not wrap if `r` was counted in the cell of `d`.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Obstacle, Sharing};
use super::super::pairs::instance::{Builder, Side};
use super::super::slots::taken::Raise;
use super::super::tiles::held::{Content, Held};
use super::super::tiles::reread::Version;
use super::super::tiles::rows::{Cell, RowTotal, Rows, Totals};
use super::super::walk::{Value, Walk};
use super::all_counted::AllCounted;
use super::ended::Ended;
use super::kept::Kept;
use super::last_own::OfLast;
use crate::kernel::{ExprId, TileId, Type};
use crate::span::SpanId;

/// Cells of a tile that hold prefix sums.
#[derive(Clone, Debug)]
pub(in super::super) struct Scan {
    /// From this cell on, to before that one.
    pub(in super::super) cells: [Poly; 2],
    /// In these rows, by coordinate.
    pub(in super::super) rows: Vec<Rows>,
    /// Where one of these holds, nobody goes through it.
    pub(in super::super) unless: Vec<Formula>,
    /// The row of the work-item that goes through it.
    pub(in super::super) row: Vec<Poly>,
    /// Whether a row goes on from the one before it.
    pub(in super::super) is_row_major: bool,
    /// What a variable was that has held the sums so far, before the first one was stored.
    pub(in super::super) begins: Option<Poly>,
    /// The tile that holds the sums, where one work-item has gone through it.
    pub(in super::super) stored_in: Option<TileId>,
    /// Whether a cell's sum is of those behind it.
    pub(in super::super) is_backward: bool,
    /// Whether a cell's sum has what was counted in it, too.
    pub(in super::super) is_inclusive: bool,
    /// Whether that is known of the first cell as well, which may hold what sums begin with.
    pub(in super::super) is_whole: bool,
    /// Of sums without what was counted in a cell: whether the first one has what was counted in
    /// the cell before it.
    pub(in super::super) has_before: bool,
    /// Whether it is of parts of a sum over a tile that no cell holds, and that begins with 0.
    pub(in super::super) is_from_nothing: bool,
    /// Of sums without what was counted in a cell: whether each was made with that, too.
    pub(in super::super) is_made_with_own: bool,
    /// What was counted, in cells of the same number.
    pub(in super::super) counts: Vec<Held>,
    /// The tile in which it was counted.
    pub(in super::super) counted: Option<(TileId, Version)>,
    /// What has raised the cells that were counted.
    pub(in super::super) raises: Vec<Raise>,
    /// What all cells together held when they were added up, if that is known: its number.
    pub(in super::super) all: Option<usize>,
    /// The rows whose totals were counted.
    pub(in super::super) totals: Option<Totals>,
    /// What the work-item of a cell has stored there, where each has one.
    pub(in super::super) own: Option<Poly>,
    /// What each work-item has stored in its own cell.
    pub(in super::super) kept: Option<Kept>,
    /// What each work-item has added, of cells in which they have stored what a scan gives them.
    pub(in super::super) added: Option<Poly>,
    /// The loops around.
    pub(in super::super) loops: Vec<LoopId>,
}

impl Scan {
    /// One of a tile of one axis, of which nothing else is known yet.
    pub(in super::super) fn of_cells(cells: [Poly; 2], loops: Vec<LoopId>) -> Self {
        Self {
            cells,
            rows: Vec::new(),
            unless: Vec::new(),
            row: Vec::new(),
            is_row_major: false,
            begins: None,
            stored_in: None,
            is_backward: false,
            is_inclusive: false,
            is_whole: false,
            has_before: false,
            is_from_nothing: false,
            is_made_with_own: false,
            counts: Vec::new(),
            counted: None,
            raises: Vec::new(),
            all: None,
            totals: None,
            own: None,
            kept: None,
            added: None,
            loops,
        }
    }
}

/// A cell of prefix sums that is read.
#[derive(Clone, Debug)]
pub(in super::super) struct Read {
    pub(in super::super) scan: usize,
    pub(in super::super) at: Cell,
    /// What was counted there.
    pub(in super::super) count: Poly,
    /// Whether it is sure to be one of the scan's.
    pub(in super::super) is_inside: bool,
}

/// The scans of a kernel, and what is read of them.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Prefixes {
    pub(in super::super) scans: Vec<Scan>,
    /// By inclusive scan, the exclusive one of the same counts, where that is asked for.
    pub(in super::super) exclusive: BTreeMap<usize, usize>,
    pub(in super::super) reads: BTreeMap<Unknown, Read>,
    /// By scan, the updates that were counted of which the places have been taken.
    pub(in super::super) taken: BTreeSet<(usize, usize)>,
    /// What counters have counted in all.
    pub(in super::super) all: Vec<AllCounted>,
    /// By symbol, of those that are the sum of all that a scan has counted; of a scan of
    /// rows, in the work-item's own.
    pub(in super::super) totals: BTreeMap<Unknown, usize>,
    pub(in super::super) row_totals: BTreeMap<Unknown, RowTotal>,
    /// Sums up to one work-item that it has told its block.
    pub(in super::super) ended: Vec<Ended>,
    /// What is known to be a value of the block's last work-item.
    pub(super) of_last: Vec<OfLast>,
}

impl Prefixes {
    /// Whether sums were made of what such a version of a tile holds.
    pub(in super::super) fn is_counted(&self, of: (TileId, Version)) -> bool {
        self.scans.iter().any(|scan| scan.counted == Some(of))
    }

    /// The cases in which a cell is none of a scan's.
    pub(in super::super) fn outside(&self, scan: usize, at: &Cell) -> Vec<Formula> {
        let Scan { cells: [from, to], rows, unless, .. } = &self.scans[scan];
        let mut cases = unless.clone();
        cases.extend([Formula::lt(&at.at, from), Formula::le(to, &at.at)]);
        cases.extend(rows.iter().zip(&at.row).flat_map(|(rows, index)| rows.outside(index)));
        cases
    }

    /// Whether a cell's sum has what was counted in it, too.
    pub(in super::super) fn is_inclusive(&self, scan: usize) -> bool {
        self.scans[scan].is_inclusive
    }

    /// Whether every cell's sum has what was counted in it, the first one's as well.
    pub(in super::super) fn has_own(&self, scan: usize) -> bool {
        self.scans[scan].is_inclusive && self.scans[scan].is_whole
    }

    /// The loops around a scan.
    pub(in super::super) fn loops(&self, scan: usize) -> &[LoopId] {
        &self.scans[scan].loops
    }

    /// What has raised the cells that were counted.
    pub(in super::super) fn raises(&self, scan: usize) -> &[Raise] {
        &self.scans[scan].raises
    }
}

impl Walk<'_> {
    /// The scan of which one work-item of each block has the total, and stores it in a cell
    /// that the block agrees on.
    pub(in super::super) fn total_handed_on(&mut self, at: &Cell, value: &Poly) -> Option<Content> {
        let known = single(value).and_then(|value| self.prefixes.totals.get(&value)).copied();
        let scan = match known {
            Some(scan) => scan,
            None => self.picked_item().and_then(|_| self.scan_ended_by(value))?,
        };
        let at = at.alone()?;
        if let [row] = self.prefixes.scans[scan].row.as_slice() {
            let is_own = row == at && self.prefixes.scans[scan].loops == self.loops;
            let rows = self.scanned_rows(std::slice::from_ref(at)).filter(|_| is_own)?.pop()?;
            return Some(Content::Totals(Totals { scan, rows }));
        }
        let is_whole = self.prefixes.scans[scan].row.is_empty();
        let item = self.picked_item().filter(|_| is_whole && self.is_agreed(at))?;
        self.is_sure_to_come_by(&item).then(|| Content::Total(at.clone(), scan))
    }

    /// As all of the block know it, the total of a scan that one work-item of each block
    /// has; it is there, and in the iterations of the scan.
    pub(in super::super) fn total_of_block(&mut self, total: &Poly) -> Option<Poly> {
        let known = single(total).and_then(|total| self.prefixes.totals.get(&total)).copied();
        let item = self.picked_item();
        if known.is_none() && item.is_none() {
            return None;
        }
        let summed = known.or_else(|| self.scan_summed(total));
        let summed = summed.or_else(|| self.scan_ended_by(total));
        let is_here = summed.is_none_or(|scan| {
            let found = &self.prefixes.scans[scan];
            found.row.is_empty() && found.loops == self.loops
        });
        let item = item.filter(|_| is_here)?;
        if !self.is_sure_to_come_by(&item) {
            return None;
        }
        let Some(scan) = summed else { return self.total_up_to_here(total) };
        let symbol = self.symbol(Sharing::Block, Some(0), None);
        self.note_total(symbol, scan);
        Some(Poly::unknown(symbol))
    }

    /// Notes that a value was read in a cell, where that holds the total of a scan.
    pub(in super::super) fn note_total_read(&mut self, tile: TileId, at: &[Poly], value: &Value) {
        if let (Some(Content::Total(cell, scan)), [at]) = (self.held.contents.get(&tile), at)
            && cell == at
            && let Value::Int(value) = value
            && let Some(symbol) = single(value)
        {
            let scan = *scan;
            self.note_total(symbol, scan);
        }
    }

    /// The value of a cell, where it holds a prefix sum.
    pub(in super::super) fn prefix(
        &mut self,
        expr: ExprId,
        tile: TileId,
        at: &[Poly],
    ) -> Option<Value> {
        let Some(Content::Sums(scan)) = self.held.contents.get(&tile) else { return None };
        let (scan, at) = (*scan, self.cell_at(tile, at)?);
        if let Some(kept) = self.kept_prefix(scan, &at) {
            return Some(Value::Int(kept));
        }
        let of = (self.kernel.exprs[expr].ty, self.kernel.exprs[expr].span);
        let (sum, _) = self.prefix_at(scan, &at, of)?;
        self.note_kept_read(scan, &at, &sum);
        Some(Value::Int(sum))
    }

    /// What a cell of a scan holds, and what was counted there.
    pub(in super::super) fn prefix_at(
        &mut self,
        scan: usize,
        at: &Cell,
        (ty, span): (Type, SpanId),
    ) -> Option<(Poly, Poly)> {
        let is_it = |read: &Read| read.scan == scan && read.at == *at;
        let known = self.prefixes.reads.iter().find(|(_, read)| is_it(read));
        if let Some((symbol, read)) = known {
            return Some((Poly::unknown(*symbol), read.count.clone()));
        }
        let Value::Int(sum) = self.any_of_type(ty, false, (span, Obstacle::Load)) else {
            return None;
        };
        let found = self.prefixes.scans[scan].clone();
        let count = self.count_at(&found, at);
        let is_inside = self.is_never(&Formula::Any(self.prefixes.outside(scan, at)));
        self.note_prefix(
            single(&sum)?,
            Read { scan, at: at.clone(), count: count.clone(), is_inside },
        );
        Some((sum, count))
    }

    /// Notes that a symbol is a prefix sum.
    pub(in super::super) fn note_prefix(&mut self, sum: Unknown, read: Read) {
        self.bound_by_all(sum, &read);
        self.bound_by_own_count(sum, &read);
        self.prefixes.reads.insert(sum, read);
    }

    /// Adds that a sum that has in it what was counted in its cell is no less than that.
    fn bound_by_own_count(&mut self, sum: Unknown, read: &Read) {
        if self.prefixes.has_own(read.scan) {
            let mut cases = match read.is_inside {
                true => Vec::new(),
                false => self.prefixes.outside(read.scan, &read.at),
            };
            cases.push(Formula::le(&read.count, &Poly::unknown(sum)));
            self.symbols.add_facts(sum, Formula::Any(cases).replace(&|_| None));
        }
    }

    /// Whether a symbol is a sum before a cell, of what counters have counted, or one that was made
    /// with what was counted there as well.
    pub(in super::super) fn is_sum_of_counted(&self, sum: Unknown) -> bool {
        let read = self.prefixes.reads.get(&sum);
        read.is_some_and(|read| {
            let is_known = !self.prefixes.raises(read.scan).is_empty()
                || self.prefixes.scans[read.scan].is_made_with_own;
            !self.prefixes.is_inclusive(read.scan) && is_known
        })
    }

    /// That the sums in a value go no further, with what was counted in their cells, than their
    /// types do.
    pub(in super::super) fn rooms_of_sums(&self, value: &Poly) -> Vec<Formula> {
        let room = |sum: Unknown| {
            let read = self.prefixes.reads.get(&sum).filter(|_| self.is_sum_of_counted(sum))?;
            let sum = Poly::unknown(sum);
            let most = Poly::constant(self.high(&sum)?);
            let mut cases = match read.is_inside {
                true => Vec::new(),
                false => self.prefixes.outside(read.scan, &read.at),
            };
            cases.push(Formula::le(&sum.add(&read.count), &most));
            Some(Formula::Any(cases).replace(&|_| None))
        };
        value.unknowns().filter_map(room).collect()
    }

    /// That what a cell holds of exclusive sums, with what a loop has counted there, goes no further
    /// than its type does; of one of 32 bits and more.
    pub(in super::super) fn room_of_sum(&self, sum: &Poly, count: &Poly) -> Option<Formula> {
        let read = self.prefixes.reads.get(&single(sum)?)?;
        if read.count != *count || self.prefixes.is_inclusive(read.scan) {
            return None;
        }
        let most = self.high(sum).filter(|most| *most >= i32::MAX.into())?;
        let mut cases = match read.is_inside {
            true => Vec::new(),
            false => self.prefixes.outside(read.scan, &read.at),
        };
        cases.push(Formula::le(&sum.add(count), &Poly::constant(most)));
        Some(Formula::Any(cases).replace(&|_| None))
    }

    /// What was counted in a cell.
    pub(in super::super) fn count_at(&mut self, scan: &Scan, at: &Cell) -> Poly {
        if let (Some(totals), Some(row)) = (&scan.totals, at.alone()) {
            return self.row_total(totals, row);
        }
        let is_here = |held: &&Held| held.at == *at;
        let own: Vec<Held> = scan.counts.iter().filter(is_here).cloned().collect();
        if let Some(held) = own.iter().find(|held| held.is_exact && held.is_sure()) {
            return held.value.clone();
        }
        let count = self.count_of_any(scan, at);
        let Some(symbol) = single(&count) else { return count };
        let rounds = scan.counts.iter().filter_map(|held| self.told_by_round((at, &count), held));
        let rounds: Vec<Formula> = rounds.collect();
        rounds.into_iter().for_each(|told| self.symbols.add_facts(symbol, told));
        for Held { value, is_exact, unless, .. } in own {
            let is =
                if is_exact { Formula::eq(&count, &value) } else { Formula::le(&value, &count) };
            let mut cases = unless;
            cases.push(is);
            self.symbols.add_facts(symbol, Formula::Any(cases).replace(&|_| None));
        }
        count
    }

    /// The same, of which no more is known than who else has looked.
    fn count_of_any(&mut self, scan: &Scan, at: &Cell) -> Poly {
        if let Some(found) = scan.counted.and_then(|of| self.found_in_version(of, at)) {
            return found;
        }
        let make = |walk: &mut Self| walk.symbol(Sharing::Private, Some(0), None);
        if let Some(of) = scan.counted
            && let Some(symbol) = self.made_outside(at, of, make)
        {
            self.note_found(of, at, &Poly::unknown(symbol));
            return Poly::unknown(symbol);
        }
        Poly::unknown(make(self))
    }
}

/// The unknown that a polynomial is.
pub(in super::super) fn single(poly: &Poly) -> Option<Unknown> {
    match poly.terms() {
        [(product, 1)] if product.len() == 1 => product.as_slice().first().copied(),
        _ => None,
    }
}

impl Builder<'_> {
    /// Adds how far apart the prefix sums are that cells of one scan hold.
    pub(in super::super) fn part_prefixes(&mut self) {
        let walk = self.walk;
        let reads = &walk.prefixes.reads;
        let seen: Vec<(Unknown, Side)> =
            self.seen.iter().filter(|(symbol, _)| reads.contains_key(symbol)).copied().collect();
        self.part_each_two(&seen);
        self.part_from_row_totals(&seen);
        let totals: Vec<(Unknown, Side, usize)> = self
            .seen
            .iter()
            .filter_map(|(symbol, side)| Some((*symbol, *side, *walk.prefixes.totals.get(symbol)?)))
            .collect();
        for (total, of, scan) in totals {
            let Scan { row, is_row_major, .. } = &walk.prefixes.scans[scan];
            let is_own =
                |read: &Read| self.is_part_of(read, scan) && (*is_row_major || read.at.row == *row);
            let is_seen = |(symbol, side): &&(Unknown, Side)| *side == of && is_own(&reads[symbol]);
            let own: Vec<(Unknown, Side)> = seen.iter().filter(is_seen).copied().collect();
            for (symbol, side) in &own {
                let read = &reads[symbol];
                let cases = self.outside(read, *side);
                self.part_from((*symbol, read), *side, (total, cases));
            }
        }
    }

    /// Adds how far apart those of these are that belong together.
    fn part_each_two(&mut self, seen: &[(Unknown, Side)]) {
        let (walk, meeting) = (self.walk, self.meeting);
        let reads = &walk.prefixes.reads;
        let Some(shared) = meeting.shared_loops() else { return };
        for (n, one) in seen.iter().enumerate() {
            for other in &seen[n + 1..] {
                let (first, second) = (&reads[&one.0], &reads[&other.0]);
                let loops = &walk.prefixes.scans[first.scan].loops;
                if !loops.iter().all(|id| shared.contains(id)) {
                    continue;
                }
                if first.scan == second.scan {
                    self.part_two_prefixes([(*one, first), (*other, second)]);
                } else if self.are_of_one_count(first, second) {
                    self.part_from_before((*one, first), (*other, second));
                } else if self.are_of_one_count(second, first) {
                    self.part_from_before((*other, second), (*one, first));
                }
            }
        }
    }

    /// Adds that what a cell holds, and what was counted there, is within the total, or one
    /// of the cases holds.
    pub(in super::super) fn part_from(
        &mut self,
        (symbol, read): (Unknown, &Read),
        side: Side,
        (total, mut cases): (Unknown, Vec<Formula>),
    ) {
        let is_inclusive = self.walk.prefixes.scans[read.scan].is_inclusive;
        let sum = Poly::unknown(symbol);
        let end = if is_inclusive { sum } else { sum.add(&read.count) };
        let [end, total] = [&end, &Poly::unknown(total)].map(|poly| self.on(side, poly));
        cases.push(Formula::le(&end, &total));
        self.system.assert(&Formula::Any(cases).replace(&|_| None));
    }

    /// The cases in which a cell is none of the scan's.
    pub(in super::super) fn outside(&mut self, read: &Read, side: Side) -> Vec<Formula> {
        if read.is_inside {
            return Vec::new();
        }
        let mut cases = self.outside_rows(read, side);
        let scan = &self.walk.prefixes.scans[read.scan];
        cases.extend(scan.unless.iter().map(|unless| self.formula_on(side, unless)));
        let parts = [&read.at.at, &scan.cells[0], &scan.cells[1]];
        let [at, from, to] = parts.map(|poly| self.on(side, poly));
        cases.extend([Formula::lt(&at, &from), Formula::le(&to, &at)]);
        cases
    }

    fn part_two_prefixes(&mut self, pair: [((Unknown, Side), &Read); 2]) {
        let scan = &self.walk.prefixes.scans[pair[0].1.scan];
        let mut cases = Vec::new();
        for ((_, side), read) in &pair {
            cases.extend(self.outside(read, *side));
        }
        let [first, second] = pair;
        let rows = first.1.at.row.iter().zip(&second.1.at.row);
        let rows: Vec<[Poly; 2]> = rows
            .map(|(left, right)| [self.on(first.0.1, left), self.on(second.0.1, right)])
            .collect();
        if !scan.is_row_major {
            cases.extend(rows.iter().map(|[left, right]| Formula::ne(left, right)));
        }
        let [one, other] = pair.map(|((symbol, side), read)| {
            [&read.at.at, &Poly::unknown(symbol), &read.count].map(|poly| self.on(side, poly))
        });
        let follows = |[at, sum, count]: &[Poly; 3], [to, end, added]: &[Poly; 3]| {
            let least = sum.add(if scan.is_inclusive { added } else { count });
            let is_later = if scan.is_backward { Formula::lt(to, at) } else { Formula::lt(at, to) };
            is_later.and(Formula::le(&least, end))
        };
        let same = one.iter().zip(&other).map(|(one, other)| Formula::eq(one, other));
        let mut same: Vec<Formula> = same.collect();
        let [mut before, mut behind] = [follows(&one, &other), follows(&other, &one)];
        if let (true, [[left, right]]) = (scan.is_row_major, rows.as_slice()) {
            let is_one = Formula::eq(left, right);
            // Of cells of two rows it does not matter where in these they are.
            let [one, other] = [&one, &other].map(|[_, sum, count]| (sum, count));
            let rises = |(sum, count): (&Poly, &Poly), (end, added): (&Poly, &Poly)| {
                Formula::le(&sum.add(if scan.is_inclusive { added } else { count }), end)
            };
            before = before.and(is_one.clone());
            before = before.or(Formula::lt(left, right).and(rises(one, other)));
            behind = behind.and(is_one.clone());
            behind = behind.or(Formula::lt(right, left).and(rises(other, one)));
            same.push(is_one);
        }
        cases.extend([before, behind, Formula::All(same)]);
        self.system.assert(&Formula::Any(cases).replace(&|_| None));
    }
}
