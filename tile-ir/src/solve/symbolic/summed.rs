//! Which loops and stores make prefix sums ([`super::prefix`]): where one work-item goes
//! through the cells of a tile, where each one adds them up to its own, and where each
//! stores what a scan of the block gives it.

use super::formula::{Cond, Formula};
use super::held::{Content, Head, Held, Stored, TileRead};
use super::poly::{Poly, Unknown};
use super::prefix::{Read, Scan, single};
use super::symbol::LoopId;
use super::taken::Raise;
use super::walk::{Value, Walk};
use crate::kernel::{ArrayRef, TileId, VarId};

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
        if let Some((Cond { yes: Formula::AtLeast(room), .. }, then, otherwise)) =
            self.choices.get(&symbol)
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
}
