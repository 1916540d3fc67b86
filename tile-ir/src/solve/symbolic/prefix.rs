//! Prefix sums that one work-item makes in a tile, cell after cell.
//!
//! `if tx == 0 { for k in 0..W { let c = s[k]; s[k] = run; run += c; } }` leaves in each
//! cell what those before it held together, if none of them is negative: of two cells the
//! later one holds no less than the earlier one and what was counted there. So work-items
//! that each count, and go on from the cell of their own (of their warp, of their digit),
//! have places of their own. The same holds where `base[d] = base[d - 1] + count[d - 1]`,
//! of sums that include a cell's own count, and where each work-item stores what a
//! collective scan gives it.
//!
//! # What it rests on
//!
//! - The tile is written by the loop alone, once in each iteration, in one cell after the
//!   other; and by nobody until it is read ([`super::held`]).
//! - Both sides are in the same iterations of the loops around the scan.
//! - A sum does not leave the range of its type, as counters do not ([`super::slot`]).

use std::collections::BTreeMap;

use super::formula::Formula;
use super::held::{Content, Head, Held, Stored, TileRead};
use super::instance::{Builder, Side};
use super::poly::{Poly, Unknown};
use super::symbol::{LoopId, Obstacle, Sharing};
use super::taken::Raise;
use super::walk::{Value, Walk};
use crate::kernel::{ArrayRef, ExprId, TileId, Type, VarId};
use crate::span::SpanId;

/// Cells of a tile that hold prefix sums.
#[derive(Clone, Debug)]
pub(super) struct Scan {
    /// From this cell on, to before that one.
    cells: [Poly; 2],
    /// Whether a cell's sum has what was counted in it, too.
    is_inclusive: bool,
    /// What was counted, in cells of the same number.
    counts: Vec<Held>,
    /// What has raised the cells that were counted.
    raises: Vec<Raise>,
    /// The loops around.
    loops: Vec<LoopId>,
}

/// A cell of prefix sums that is read.
#[derive(Clone, Debug)]
struct Read {
    scan: usize,
    at: Poly,
    /// What was counted there.
    count: Poly,
    /// Whether it is sure to be one of the scan's.
    is_inside: bool,
}

/// The scans of a kernel, and what is read of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefixes {
    scans: Vec<Scan>,
    reads: BTreeMap<Unknown, Read>,
    /// By symbol, of those that are the sum of all that a scan has counted.
    totals: BTreeMap<Unknown, usize>,
}

/// A variable to which each iteration of a loop adds.
#[derive(Clone, Debug)]
pub(super) struct Step {
    var: VarId,
    /// Its value before the loop, and at the start of an iteration.
    first: Poly,
    at: Unknown,
    /// What the iteration adds.
    by: Poly,
}

/// How cells follow each other: by what is held in the cell of this distance.
struct Gap {
    tile: TileId,
    distance: i128,
    /// Whether the first cell follows one that was there before.
    has_first: bool,
    /// The variable that holds the sum so far.
    sum: Option<VarId>,
}

impl Prefixes {
    /// The cases in which a cell is none of a scan's.
    pub(super) fn outside(&self, scan: usize, at: &Poly) -> Vec<Formula> {
        let [from, to] = &self.scans[scan].cells;
        vec![Formula::lt(at, from), Formula::le(to, at)]
    }

    /// Whether a cell's sum has what was counted in it, too.
    pub(super) fn is_inclusive(&self, scan: usize) -> bool {
        self.scans[scan].is_inclusive
    }

    /// The loops around a scan.
    pub(super) fn loops(&self, scan: usize) -> &[LoopId] {
        &self.scans[scan].loops
    }

    /// What has raised the cells that were counted.
    pub(super) fn raises(&self, scan: usize) -> &[Raise] {
        &self.scans[scan].raises
    }
}

impl Walk<'_> {
    /// Notes what an iteration adds to a variable.
    pub(super) fn note_step(
        &mut self,
        (var, id): (VarId, LoopId),
        (first, at, end): (&Poly, Unknown, &Poly),
    ) {
        if !self.recording || first.is_lost() || end.is_lost() {
            return;
        }
        let by = end.sub(&Poly::unknown(at));
        let [(product, 1)] = by.terms() else { return };
        if product.len() == 1 {
            let step = Step { var, first: first.clone(), at, by };
            self.held.steps.entry(id).or_default().push(step);
        }
    }

    /// After a loop from `start` to `end`, in which there were these stores: whether they
    /// have made prefix sums of what tiles held before.
    pub(super) fn note_prefixes(
        &mut self,
        [start, end]: [&Poly; 2],
        head: &Head,
        stores: &[Stored],
    ) {
        self.note_partial_sums([start, end], head);
        let Some(item) = self.picked_item() else { return };
        if !self.is_sure_to_come_by(&item) {
            return;
        }
        for stored in stores {
            let (Some((id, around)), n) = (stored.loops.split_last(), self.guards.len()) else {
                continue;
            };
            let is_only = stores.iter().filter(|other| other.tile == stored.tile).count() == 1;
            let number = self.all_loops[id.0].number;
            let place = stored.at.sub(&Poly::unknown(number));
            let is_fixed = |poly: &Poly| {
                self.is_agreed(poly)
                    && !poly.unknowns().any(|unknown| self.symbols.is_inside(unknown, *id))
            };
            let is_every = stored.n_guards == n + 1 && around == self.loops;
            if !is_only || !is_every || ![&place, start, end].into_iter().all(is_fixed) {
                continue;
            }
            let Some(gap) = self.gap(stored, (*id, &place), head) else { continue };
            let first = if gap.has_first { place.plus(-1) } else { place.clone() };
            let cells = [first, place.add(&end.sub(start))];
            // The store is the last one that sets its own tile.
            let n_sets = if gap.tile == stored.tile { stored.n_sets - 1 } else { usize::MAX };
            let counts = self.known_counts(head.contents.get(&gap.tile), gap.tile, n_sets);
            let is_inclusive = gap.distance == 1;
            let raises = self.raises_of(gap.tile, n_sets);
            let scan = Scan { cells, is_inclusive, counts, raises, loops: self.loops.clone() };
            let number = self.prefixes.scans.len();
            self.prefixes.scans.push(scan);
            self.held.contents.insert(stored.tile, Content::Sums(number));
            if let Some(Value::Int(sum)) = gap.sum.and_then(|sum| self.env.get(&sum))
                && let Some(sum) = single(sum)
            {
                self.prefixes.totals.insert(sum, number);
            }
        }
    }

    /// After a loop in which every work-item has added up the cells of a tile, each up to
    /// one of its own: these are prefix sums, too, though no cell holds them.
    fn note_partial_sums(&mut self, [start, end]: [&Poly; 2], head: &Head) {
        let Some(id) = self.held.ended else { return };
        let steps = self.held.steps.get(&id).cloned().unwrap_or_default();
        let number = Poly::unknown(self.all_loops[id.0].number);
        for step in steps {
            let read = single(&step.by).and_then(|count| self.held.reads.get(&count)).cloned();
            let Some(TileRead { tile, at, .. }) = read else { continue };
            let place = at.sub(&number);
            let is_fixed = [&place, start, &step.first].into_iter().all(|poly| {
                self.is_agreed(poly)
                    && !poly.unknowns().any(|unknown| self.symbols.is_inside(unknown, id))
            });
            let is_written = head.written.contains(&ArrayRef::Tile(tile));
            let sum = match self.env.get(&step.var) {
                Some(Value::Int(sum)) => single(sum),
                Some(Value::Cond(_) | Value::Other) | None => None,
            };
            let Some(sum) = sum.filter(|_| is_fixed && !is_written) else { continue };
            if !self.is_natural(&step.by) {
                continue;
            }
            let extent = self.extents(ArrayRef::Tile(tile)).into_iter().next().unwrap_or_default();
            let counts = self.known_counts(head.contents.get(&tile), tile, usize::MAX);
            let (cells, loops) = ([place.clone(), extent.plus(1)], self.loops.clone());
            let raises = self.raises_of(tile, usize::MAX);
            let scan = Scan { cells, is_inclusive: false, counts, raises, loops };
            let number = self.prefixes.scans.len();
            self.prefixes.scans.push(scan.clone());
            let at = place.add(&end.sub(start));
            let count = self.count_at(&scan, &at);
            let is_inside = self.is_never(&Formula::Any(self.prefixes.outside(number, &at)));
            self.prefixes.reads.insert(sum, Read { scan: number, at, count, is_inside });
        }
    }

    /// What comes between a cell and the next one.
    fn gap(&self, stored: &Stored, (id, place): (LoopId, &Poly), head: &Head) -> Option<Gap> {
        let read_in = |symbol: Unknown| {
            let read = self.held.reads.get(&symbol)?;
            // Of its own tile: what was there before the loop.
            let distance = read.at.sub(&stored.at).as_constant()?;
            let is_own = read.tile == stored.tile;
            let is_before = is_own
                && (distance > 0 || distance == 0 && read.n_sites < stored.n_sites)
                || !is_own && !head.written.contains(&ArrayRef::Tile(read.tile));
            is_before.then_some((read.tile, distance))
        };
        let gap = |(tile, distance): (TileId, i128), has_first: bool, sum: Option<VarId>| {
            let is_known = matches!(distance, 0 | 1);
            is_known.then_some(Gap { tile, distance, has_first, sum })
        };
        for step in self.held.steps.get(&id).into_iter().flatten() {
            let at = Poly::unknown(step.at);
            let later = if stored.value == at {
                0
            } else if stored.value == at.add(&step.by) {
                1
            } else {
                continue;
            };
            let (tile, distance) = read_in(single(&step.by)?)?;
            if !self.is_natural(&step.by) {
                return None;
            }
            // The cell before the first one may hold what the sums begin with.
            let is_first = |held: &Held| {
                let is_there = held.unless.iter().all(|unless| *unless == Formula::False);
                held.is_exact && is_there && held.at == place.plus(-1) && held.value == step.first
            };
            let has_first = later == 1
                && matches!(head.contents.get(&stored.tile), Some(Content::Held(held)) if held.iter().any(is_first));
            return gap((tile, distance + later), has_first, Some(step.var));
        }
        // A cell is the one before it, and a count.
        let follows = |symbol: Unknown| {
            let read = self.held.reads.get(&symbol);
            read.is_some_and(|read| read.tile == stored.tile && read.at == stored.at.plus(-1))
        };
        let [(one, 1), (two, 1)] = stored.value.terms() else {
            let is_update = stored.is_added && single(&stored.value).is_some_and(follows);
            let own = Poly::unknown(single(&stored.value)?);
            return (is_update && self.is_natural(&own))
                .then(|| gap((stored.tile, 1), true, None))
                .flatten();
        };
        let ([one], [two]) = (one.as_slice(), two.as_slice()) else { return None };
        if stored.is_added {
            return None;
        }
        let count = if follows(*one) { *two } else { follows(*two).then_some(*one)? };
        let (tile, distance) = read_in(count)?;
        if !self.is_natural(&Poly::unknown(count)) {
            return None;
        }
        gap((tile, distance + 1), true, None)
    }

    /// Notes that every work-item stores what a scan of the block gives it, in the cell of
    /// its number.
    pub(super) fn note_scan_stored(&mut self, stored: &Stored, unless: &[Formula]) -> bool {
        let Some((number, count)) = self.number_of_items() else { return false };
        let end = match unless {
            [] => count,
            [Formula::AtLeast(beyond)] if self.is_agreed(&number.sub(beyond)) => number.sub(beyond),
            _ => return false,
        };
        if stored.at != number {
            return false;
        }
        let partial = single(&stored.value).and_then(|sum| self.prefixes.reads.get(&sum));
        if let Some(read) = partial.filter(|read| read.at == number) {
            // Of sums that no cell holds: from here on these do.
            let mut scan = self.prefixes.scans[read.scan].clone();
            scan.cells[1] = end;
            return scan.loops == self.loops && self.add_sums(stored.tile, scan);
        }
        let Some((of, is_inclusive)) = self.scan_of_block(&stored.value) else { return false };
        let (end, mut counts, raises) = self.counts_added(&of, (&number, end), !unless.is_empty());
        counts.push(Held { at: number, value: of, is_exact: true, unless: Vec::new() });
        let (cells, loops) = ([Poly::default(), end], self.loops.clone());
        self.add_sums(stored.tile, Scan { cells, is_inclusive, counts, raises, loops })
    }

    /// From here on a tile holds these sums.
    fn add_sums(&mut self, tile: TileId, scan: Scan) -> bool {
        self.prefixes.scans.push(scan);
        let number = self.prefixes.scans.len() - 1;
        self.held.contents.insert(tile, Content::Sums(number));
        true
    }

    /// What cells held of which each work-item has added up the one of its number, and up
    /// to which one, if it was not before that `end`.
    fn counts_added(
        &self,
        of: &Poly,
        (number, end): (&Poly, Poly),
        is_cut: bool,
    ) -> (Poly, Vec<Held>, Vec<Raise>) {
        let Some(mut symbol) = single(of) else { return (end, Vec::new(), Vec::new()) };
        let mut last = end.clone();
        // Work-items beyond the last cell add nothing.
        if let Some((Formula::AtLeast(room), then, otherwise)) = self.choices.get(&symbol)
            && *otherwise == Poly::default()
            && let Some(read) = single(then)
        {
            symbol = read;
            last = room.add(number).plus(1);
        }
        let Some(read) = self.held.reads.get(&symbol) else { return (end, Vec::new(), Vec::new()) };
        if read.at != *number || !self.is_agreed(&last) || is_cut && last != end {
            return (end, Vec::new(), Vec::new());
        }
        (last, read.counts.clone(), read.raises.clone())
    }

    /// What has raised the cells of a tile since it was set last.
    pub(super) fn raises_of(&self, tile: TileId, n_sets: usize) -> Vec<Raise> {
        let array = ArrayRef::Tile(tile);
        if !self.counters.all_rise(array) {
            return Vec::new();
        }
        let last = self.counters.n_sets(array).min(n_sets);
        let own = |raise: &&Raise| raise.tile == tile && raise.n_sets == last;
        self.held.raises.iter().filter(own).cloned().collect()
    }

    /// The scan of which one work-item of each block has the total, and stores it in a cell
    /// that the block agrees on.
    pub(super) fn total_handed_on(&mut self, at: &Poly, value: &Poly) -> Option<usize> {
        let scan = self.prefixes.totals.get(&single(value)?).copied()?;
        let item = self.picked_item().filter(|_| self.is_agreed(at))?;
        self.is_sure_to_come_by(&item).then_some(scan)
    }

    /// Notes that a value was read in a cell, where that holds the total of a scan.
    pub(super) fn note_total_read(&mut self, tile: TileId, at: &[Poly], value: &Value) {
        if let (Some(Content::Total(cell, scan)), [at]) = (self.held.contents.get(&tile), at)
            && cell == at
            && let Value::Int(value) = value
            && let Some(symbol) = single(value)
        {
            self.prefixes.totals.insert(symbol, *scan);
        }
    }

    /// The value of a cell, where it holds a prefix sum.
    pub(super) fn prefix(&mut self, expr: ExprId, tile: TileId, at: &[Poly]) -> Option<Value> {
        let (Some(Content::Sums(scan)), [at]) = (self.held.contents.get(&tile), at) else {
            return None;
        };
        let scan = *scan;
        let at = (self.kernel.exprs[expr].ty, self.kernel.exprs[expr].span, at);
        self.prefix_at(scan, at.2, (at.0, at.1)).map(|(sum, _)| Value::Int(sum))
    }

    /// What a cell of a scan holds, and what was counted there.
    pub(super) fn prefix_at(
        &mut self,
        scan: usize,
        at: &Poly,
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
        let read = Read { scan, at: at.clone(), count: count.clone(), is_inside };
        self.prefixes.reads.insert(single(&sum)?, read);
        Some((sum, count))
    }

    /// What was counted in a cell.
    fn count_at(&mut self, scan: &Scan, at: &Poly) -> Poly {
        let is_here = |held: &&Held| held.at == *at;
        let own: Vec<Held> = scan.counts.iter().filter(is_here).cloned().collect();
        if let Some(held) = own.iter().find(|held| held.is_exact && held.is_sure()) {
            return held.value.clone();
        }
        let symbol = self.symbol(Sharing::Private, Some(0), None);
        let count = Poly::unknown(symbol);
        for Held { value, is_exact, unless, .. } in own {
            let is =
                if is_exact { Formula::eq(&count, &value) } else { Formula::le(&value, &count) };
            let mut cases = unless;
            cases.push(is);
            self.symbols.add_facts(symbol, Formula::Any(cases).replace(&|_| None));
        }
        count
    }
}

/// The unknown that a polynomial is.
fn single(poly: &Poly) -> Option<Unknown> {
    match poly.terms() {
        [(product, 1)] if product.len() == 1 => product.as_slice().first().copied(),
        _ => None,
    }
}

impl Builder<'_> {
    /// Adds how far apart the prefix sums are that cells of one scan hold.
    pub(super) fn part_prefixes(&mut self) {
        let walk = self.walk;
        let meeting = self.meeting;
        let reads = &walk.prefixes.reads;
        let seen: Vec<(Unknown, Side)> =
            self.seen.iter().filter(|(symbol, _)| reads.contains_key(symbol)).copied().collect();
        let totals: Vec<(Unknown, Side, usize)> = self
            .seen
            .iter()
            .filter_map(|(symbol, side)| Some((*symbol, *side, *walk.prefixes.totals.get(symbol)?)))
            .collect();
        for (total, of, scan) in totals {
            let own =
                seen.iter().filter(|(symbol, side)| *side == of && reads[symbol].scan == scan);
            for (symbol, side) in own {
                self.part_from_total((*symbol, &reads[symbol]), *side, total);
            }
        }
        let Some(shared) = meeting.shared_loops() else { return };
        for (n, one) in seen.iter().enumerate() {
            for other in &seen[n + 1..] {
                let (first, second) = (&reads[&one.0], &reads[&other.0]);
                let loops = &walk.prefixes.scans[first.scan].loops;
                if first.scan == second.scan && loops.iter().all(|id| shared.contains(id)) {
                    self.part_two_prefixes([(*one, first), (*other, second)]);
                }
            }
        }
    }

    /// Adds that what a cell holds, and what was counted there, is within the total.
    fn part_from_total(&mut self, (symbol, read): (Unknown, &Read), side: Side, total: Unknown) {
        let mut cases = self.outside(read, side);
        let is_inclusive = self.walk.prefixes.scans[read.scan].is_inclusive;
        let sum = Poly::unknown(symbol);
        let end = if is_inclusive { sum } else { sum.add(&read.count) };
        let [end, total] = [&end, &Poly::unknown(total)].map(|poly| self.on(side, poly));
        cases.push(Formula::le(&end, &total));
        self.system.assert(&Formula::Any(cases).replace(&|_| None));
    }

    /// The cases in which a cell is none of the scan's.
    fn outside(&mut self, read: &Read, side: Side) -> Vec<Formula> {
        if read.is_inside {
            return Vec::new();
        }
        let scan = &self.walk.prefixes.scans[read.scan];
        let parts = [&read.at, &scan.cells[0], &scan.cells[1]];
        let [at, from, to] = parts.map(|poly| self.on(side, poly));
        vec![Formula::lt(&at, &from), Formula::le(&to, &at)]
    }

    fn part_two_prefixes(&mut self, pair: [((Unknown, Side), &Read); 2]) {
        let scan = &self.walk.prefixes.scans[pair[0].1.scan];
        let mut cases = Vec::new();
        for ((_, side), read) in &pair {
            cases.extend(self.outside(read, *side));
        }
        let [one, other] = pair.map(|((symbol, side), read)| {
            [&read.at, &Poly::unknown(symbol), &read.count].map(|poly| self.on(side, poly))
        });
        let follows = |[at, sum, count]: &[Poly; 3], [to, end, added]: &[Poly; 3]| {
            let least = sum.add(if scan.is_inclusive { added } else { count });
            Formula::lt(at, to).and(Formula::le(&least, end))
        };
        let same = one.iter().zip(&other).map(|(one, other)| Formula::eq(one, other));
        cases.extend([follows(&one, &other), follows(&other, &one), Formula::All(same.collect())]);
        self.system.assert(&Formula::Any(cases).replace(&|_| None));
    }
}
