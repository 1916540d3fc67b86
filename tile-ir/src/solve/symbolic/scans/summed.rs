//! Which loops and stores make prefix sums ([`super::prefix`]): where one work-item goes
//! through the cells of a tile, where each one adds them up to its own, and where each
//! stores what a scan of the block gives it.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Obstacle};
use super::super::slots::taken::Raise;
use super::super::tiles::held::{Content, Head, Held, Stored, TileRead, totals_in};
use super::super::tiles::reread::Version;
use super::super::tiles::rows::Cell;
use super::super::walk::{Value, Walk};
use super::prefix::{Read, Scan, single};
use crate::kernel::{ArrayRef, TileId, VarId};
use crate::op::BinaryOp;

/// A variable to which each iteration of a loop adds.
#[derive(Clone, Debug)]
pub(in super::super) struct Step {
    var: VarId,
    /// Its value before the loop, and at the start of an iteration.
    first: Poly,
    at: Unknown,
    /// What the iteration adds.
    by: Poly,
    /// How many do, if these are the first ones.
    until: Option<Poly>,
}

/// How cells follow each other: by what is held in the cell of this distance.
struct Gap {
    tile: TileId,
    distance: i128,
    /// Whether the first cell follows one that was there before.
    has_first: bool,
    /// Whether it has what was counted in the cell before it.
    has_before: bool,
    /// Whether each iteration adds what was counted in the cell of its store.
    is_aligned: bool,
    /// The variable that holds the sum so far, and what it begins with.
    sum: Option<(VarId, Poly)>,
    /// Whether sums begin with 0.
    is_from_0: bool,
}

impl Walk<'_> {
    /// Notes what an iteration adds to a variable.
    pub(in super::super) fn note_step(
        &mut self,
        (var, id): (VarId, LoopId),
        (first, at, end): (&Poly, Unknown, &Poly),
    ) {
        if !self.recording || first.is_lost() || end.is_lost() {
            return;
        }
        self.note_chained((var, id), (first, at, end));
        let added = |end: &Poly| {
            let exact = self.before_wrapping(end, self.type_of(var));
            exact.as_ref().unwrap_or(end).sub(&Poly::unknown(at))
        };
        let by = added(end);
        let of_first = |(cond, by)| Some((by, Some(self.first_iterations(cond, id)?)));
        let (by, until) = self
            .added_where(end, &Poly::unknown(at))
            .map(|(cond, end)| (cond, added(&end)))
            .or_else(|| self.added_where(&by, &Poly::default()))
            .and_then(of_first)
            .unwrap_or((by, None));
        let [(product, 1)] = by.terms() else { return };
        if product.len() == 1 {
            let step = Step { var, first: first.clone(), at, by, until };
            self.held.steps.entry(id).or_default().push(step);
        }
    }

    /// Where a choice is something else than `own`, where not, and what it is.
    fn added_where(&self, choice: &Poly, own: &Poly) -> Option<([&Formula; 2], Poly)> {
        let (cond, then, otherwise) = self.choices.get(&single(choice)?)?;
        if otherwise == own {
            Some(([&cond.yes, &cond.no], then.clone()))
        } else {
            (then == own).then(|| ([&cond.no, &cond.yes], otherwise.clone()))
        }
    }

    /// How many iterations of a loop are those in which a condition holds, if they are the first
    /// ones: where `k < d` is asked of its counter.
    fn first_iterations(&self, [cond, contrary]: [&Formula; 2], id: LoopId) -> Option<Poly> {
        let Formula::AtLeast(room) = cond else { return None };
        if *contrary != Formula::AtLeast(room.negated().plus(-1)) {
            return None;
        }
        let count = room.add(&Poly::unknown(self.all_loops[id.0].number)).plus(1);
        let is_outside = |unknown| !self.symbols.is_inside(unknown, id);
        (!count.is_lost() && count.unknowns().all(is_outside)).then_some(count)
    }

    /// After a loop from `start` to `end`, in which there were these stores: whether they
    /// have made prefix sums of what tiles held before.
    pub(in super::super) fn note_prefixes(
        &mut self,
        [start, end]: [&Poly; 2],
        head: &Head,
        stores: &[Stored],
    ) {
        self.note_partial_sums([start, end], head);
        self.note_rows_chained([start, end], head, stores);
        for stored in stores {
            let (Some((id, around)), n) = (stored.loops.split_last(), self.guards.len()) else {
                continue;
            };
            let is_only = head.n_writes.get(&stored.tile) == Some(&1)
                && stores.iter().filter(|other| other.tile == stored.tile).count() == 1;
            let number = self.all_loops[id.0].number;
            let slope = stored.at.at.cofactor(number).as_constant().unwrap_or_default();
            let place = stored.at.at.sub(&Poly::unknown(number).scaled(slope));
            let is_fixed = |poly: &Poly| {
                self.is_agreed(poly)
                    && !poly.unknowns().any(|unknown| self.symbols.is_inside(unknown, *id))
            };
            let is_every = stored.n_guards == n + 1 && around == self.loops;
            let is_row = |coordinate: &Poly| {
                !coordinate.unknowns().any(|unknown| self.symbols.is_inside(unknown, *id))
            };
            if !is_only
                || !is_every
                || slope.abs() != 1
                || ![&place, start, end].into_iter().all(is_fixed)
                || !stored.at.row.iter().all(is_row)
            {
                continue;
            }
            let Some((rows, unless)) = self.rows_scanned_unless(&stored.at.row) else { continue };
            let Some(mut gap) = self.gap(stored, (*id, &place, slope), head) else { continue };
            let before = Cell { row: stored.at.row.clone(), at: place.plus(-slope) };
            let begins_with_count = self.begins_with_count(&gap, (stored, &before), head);
            if begins_with_count {
                let none = Poly::default();
                gap.is_from_0 = true;
                gap.has_before |= gap.distance == 0;
                gap.has_first |= gap.distance == 0 && holds(head, (stored.tile, &before), &none);
            }
            let first = if gap.has_first { place.plus(-slope) } else { place.clone() };
            let beyond = place.add(&end.sub(start).scaled(slope));
            let is_backward = slope < 0;
            let cells = match is_backward {
                true => [beyond.plus(1), first.plus(1)],
                false => [first, beyond],
            };
            // The store is the last one that sets its own tile.
            let n_sets = if gap.tile == stored.tile { stored.n_sets - 1 } else { usize::MAX };
            let counts = self.known_counts(head.contents.get(&gap.tile), gap.tile, n_sets);
            let is_inclusive = gap.distance == 1;
            let begins = |(_, first): &(VarId, Poly)| self.is_natural(first);
            let is_whole = match gap.has_first {
                true => begins_with_count || gap.sum.is_none() && gap.tile == stored.tile,
                false => gap.sum.as_ref().is_some_and(begins),
            };
            let raises = self.raises_of(gap.tile, n_sets);
            let all = gap.is_from_0.then(|| self.all_counted(gap.tile, raises.clone())).flatten();
            let counted = Some((gap.tile, self.version_before(head, gap.tile)));
            let is_plain = gap.is_aligned && !gap.has_first;
            let scan = Scan {
                cells,
                counted,
                rows,
                unless,
                row: stored.at.row.clone(),
                is_backward,
                is_inclusive,
                is_whole,
                has_before: gap.has_before && !gap.has_first,
                counts,
                raises,
                all,
                totals: totals_in(head.contents.get(&gap.tile)),
                is_from_nothing: false,
                // The variable goes on with what was counted in the cell of its store.
                is_made_with_own: gap.sum.is_some() && gap.distance == 0,
                own: None,
                kept: None,
                added: None,
                is_row_major: false,
                begins: gap.sum.as_ref().filter(|_| is_plain).map(|(_, first)| first.clone()),
                stored_in: Some(stored.tile),
                loops: self.loops.clone(),
            };
            let number = self.prefixes.scans.len();
            self.prefixes.scans.push(scan);
            self.held.contents.insert(stored.tile, Content::Sums(number));
            let Some((sum, first)) = gap.sum else { continue };
            if let Some(Value::Int(sum)) = self.env.get(&sum)
                && let Some(sum) = single(sum)
            {
                self.note_total(sum, number);
                if self.is_natural(&first) {
                    self.symbols.set_natural(sum);
                }
            }
        }
    }

    /// After a loop in which every work-item has added up the cells of a tile, each up to
    /// one of its own: these are prefix sums, too, though no cell holds them. Whether it goes up
    /// or down, it adds the same cells. What each begins with may be its own: then that is
    /// beside the sum of the cells.
    fn note_partial_sums(&mut self, bounds: [&Poly; 2], head: &Head) {
        let Some(id) = self.held.ended else { return };
        let steps = self.held.steps.get(&id).cloned().unwrap_or_default();
        for step in steps {
            let Some((tile, cells)) = self.cells_added(&step, (id, bounds), head) else { continue };
            let [lowest, at] = cells;
            let sum = match self.env.get(&step.var) {
                Some(Value::Int(sum)) => single(sum),
                Some(Value::Cond(_) | Value::Other) | None => None,
            };
            let is_fixed = self.is_known_outside(&step.first, id);
            let first = if is_fixed { step.first.clone() } else { Poly::default() };
            let sum = if is_fixed { sum } else { self.sum_beside(&step) };
            let Some(sum) = sum else { continue };
            let extent = self.extents(ArrayRef::Tile(tile)).into_iter().next().unwrap_or_default();
            let counts = self.known_counts(head.contents.get(&tile), tile, usize::MAX);
            let (cells, loops) = ([lowest, extent.plus(1)], self.loops.clone());
            let raises = self.raises_of(tile, usize::MAX);
            let totals = totals_in(head.contents.get(&tile));
            let counted = Some((tile, self.version(tile)));
            let is_from_nothing = first == Poly::default();
            let of_cells = Scan { is_from_nothing, ..Scan::of_cells(cells, loops) };
            let all = is_from_nothing.then(|| self.all_counted(tile, raises.clone())).flatten();
            let scan = Scan { counts, counted, raises, all, totals, ..of_cells };
            let number = self.prefixes.scans.len();
            self.prefixes.scans.push(scan.clone());
            let at = Cell { row: Vec::new(), at };
            let count = self.count_at(&scan, &at);
            let is_inside = self.is_never(&Formula::Any(self.prefixes.outside(number, &at)));
            self.note_prefix(sum, Read { scan: number, at, count, is_inside });
            self.note_room_of_part(sum, (tile, self.type_of(step.var)));
        }
    }

    /// The tile of which a loop between these bounds has added the cells to a variable, from
    /// which cell on, that the block agrees on, and before which one.
    fn cells_added(
        &mut self,
        step: &Step,
        (id, [start, end]): (LoopId, [&Poly; 2]),
        head: &Head,
    ) -> Option<(TileId, [Poly; 2])> {
        let TileRead { tile, at, .. } =
            self.held.reads.get(&single(&step.by)?).filter(|_| self.is_natural(&step.by))?;
        let (tile, at, number) = (*tile, at.alone()?, self.all_loops[id.0].number);
        let rounds = end.sub(start);
        let slope = at.cofactor(number).as_constant()?;
        let place = at.sub(&Poly::unknown(number).scaled(slope));
        let is_among = |until: &Poly| {
            // Of who does not come by, the symbol may be what the cells up to there hold.
            let beyond = Formula::lt(until, &Poly::default()).or(Formula::lt(&rounds, until));
            self.is_never(&Formula::All(self.guards.clone()).and(beyond))
        };
        let cells = match (slope, &step.until) {
            (1, None) => [place.clone(), place.add(&rounds)],
            (1, Some(until)) if is_among(until) => [place.clone(), place.add(until)],
            // From the last one down.
            (-1, None) => [place.sub(&rounds).plus(1), place.plus(1)],
            _ => return None,
        };
        let is_written = head.written.contains(&ArrayRef::Tile(tile));
        let is_fixed =
            self.is_known_outside(&cells[0], id) && (slope < 0 || self.is_known_outside(start, id));
        (is_fixed && !is_written && !cells[1].is_lost()).then_some((tile, cells))
    }

    /// Whether the block agrees on a value that is none of a loop's.
    fn is_known_outside(&self, value: &Poly, id: LoopId) -> bool {
        self.is_agreed(value) && !value.unknowns().any(|of| self.symbols.is_inside(of, id))
    }

    /// The sum of what a loop has added to a variable that was a work-item's own before: from here
    /// on it is that, and the sum, brought into its type.
    fn sum_beside(&mut self, step: &Step) -> Option<Unknown> {
        let declared = self.kernel.vars.get(step.var)?;
        let (ty, span) = (self.type_of(step.var), declared.span);
        let Value::Int(sum) = self.any_of_type(ty, false, (span, Obstacle::Other)) else {
            return None;
        };
        let symbol = single(&sum)?;
        self.symbols.set_natural(symbol);
        let first = Value::Int(step.first.clone());
        let value = self.binary(BinaryOp::Add, first, Value::Int(sum), ty, span)?;
        self.env.insert(step.var, value);
        Some(symbol)
    }

    /// What comes between a cell and the next one.
    fn gap(
        &self,
        stored: &Stored,
        (id, place, slope): (LoopId, &Poly, i128),
        head: &Head,
    ) -> Option<Gap> {
        let read_in = |symbol: Unknown| {
            let read = self.held.reads.get(&symbol)?;
            // Of its own tile: what was there before the loop.
            let distance = slope * read.at.behind(&stored.at)?;
            let is_own = read.tile == stored.tile;
            let is_before = is_own
                && (distance > 0 || distance == 0 && read.n_sites < stored.n_sites)
                || !is_own && !head.written.contains(&ArrayRef::Tile(read.tile));
            is_before.then_some((read.tile, distance))
        };
        // The cell before the first one may hold what the sums begin with.
        let before = Cell { row: stored.at.row.clone(), at: place.plus(-slope) };
        let holds_first = |first: &Poly| holds(head, (stored.tile, &before), first);
        let gap = |(tile, distance, is_aligned): (TileId, i128, bool),
                   (has_first, is_added): (bool, bool),
                   sum: Option<(VarId, Poly)>| {
            let none = Poly::default();
            let is_from_0 = match &sum {
                Some((_, first)) => *first == none,
                // Of its own tile, the first cell has what was counted there.
                None => tile == stored.tile || holds_first(&none),
            };
            // The variable has taken in what was counted before it is stored.
            let has_before = distance == 0 && is_added;
            let is_known = matches!(distance, 0 | 1);
            is_known.then_some(Gap {
                tile,
                distance,
                has_first,
                has_before,
                is_aligned,
                sum,
                is_from_0,
            })
        };
        let steps = self.held.steps.get(&id).into_iter().flatten();
        for step in steps.filter(|step| step.until.is_none()) {
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
            let has_first = later == 1 && holds_first(&step.first);
            let sum = Some((step.var, step.first.clone()));
            return gap((tile, distance + later, distance == 0), (has_first, later == 1), sum);
        }
        // A cell is the one before it, and a count.
        let follows = |symbol: Unknown| {
            let read = self.held.reads.get(&symbol);
            let is_before = |read: &TileRead| read.at.behind(&stored.at) == Some(-slope);
            read.is_some_and(|read| read.tile == stored.tile && is_before(read))
        };
        let [(one, 1), (two, 1)] = stored.value.terms() else {
            let is_update = stored.is_added && single(&stored.value).is_some_and(follows);
            let own = Poly::unknown(single(&stored.value)?);
            return (is_update && self.is_natural(&own))
                .then(|| gap((stored.tile, 1, true), (true, false), None))
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
        gap((tile, distance + 1, distance == 0), (true, false), None)
    }

    /// Whether sums of what another tile holds begin with what was counted in the cell before
    /// those that are added: `let mut run = n[0]; for k in 1..W { s[k] = run; run += n[k]; }`, or
    /// where that was stored in the cell before the first one.
    fn begins_with_count(
        &mut self,
        gap: &Gap,
        (stored, before): (&Stored, &Cell),
        head: &Head,
    ) -> bool {
        if gap.tile == stored.tile || !gap.is_aligned {
            return false;
        }
        let of = (gap.tile, self.version_before(head, gap.tile));
        let read = |at: &Poly| self.reread.symbol_at(of, std::slice::from_ref(at));
        let read = before.alone().and_then(read).map(Poly::unknown);
        let Some(count) = read.or_else(|| self.found_in_version(of, before)) else { return false };
        let is_it = match &gap.sum {
            Some((_, first)) => *first == count,
            None => holds(head, (stored.tile, before), &count),
        };
        is_it && self.is_natural(&count)
    }

    /// Notes that every work-item stores what a scan of the block gives it, in the cell of
    /// its number.
    pub(in super::super) fn note_scan_stored(
        &mut self,
        stored: &Stored,
        unless: &[Formula],
        before: Option<&Content>,
    ) -> bool {
        let Some((number, end)) = self.members_storing(unless) else { return false };
        let place = self.as_in_first_warp(&number);
        let Some(at) = stored.at.alone().map(|at| self.as_in_first_warp(at)) else { return false };
        if at == place.plus(1) {
            return self.note_shifted_scan(stored, (number, end), before);
        }
        if at != place {
            return false;
        }
        let partial = single(&stored.value).and_then(|sum| self.prefixes.reads.get(&sum));
        let is_up_to = |walk: &Self, read: &Read, end: &Poly| {
            read.at.alone().map(|at| walk.as_in_first_warp(at)).as_ref() == Some(end)
        };
        if let Some(read) = partial {
            // Of sums that no cell holds: from here on these do.
            let mut scan = self.prefixes.scans[read.scan].clone();
            let has_own = scan.is_from_nothing && is_up_to(self, read, &place.plus(1));
            if is_up_to(self, read, &place) || has_own {
                (scan.is_inclusive, scan.is_whole) = (has_own, has_own);
                scan.cells[1] = end;
                scan.is_from_nothing = false;
                return scan.loops == self.loops && self.add_sums(stored.tile, scan);
            }
        }
        let Some((of, is_inclusive)) = self.scan_of_block(&stored.value) else { return false };
        let (end, mut scan) = self.counts_added(&of, (&number, end));
        scan.counted = scan.counted.or_else(|| self.tile_of_own(&of, &place));
        let own = (!is_inclusive).then(|| stored.value.add(&of));
        scan.added = Some(of.clone());
        scan.is_made_with_own = true;
        let at = Cell { row: Vec::new(), at: number };
        scan.counts.push(Held { at, value: of, is_exact: true, unless: Vec::new() });
        let cells = [Poly::default(), end];
        self.add_sums(stored.tile, Scan { cells, is_inclusive, is_whole: true, own, ..scan })
    }

    /// Notes that every work-item has, in the cell so far behind that of its number, what a scan
    /// of the block gives it, made there.
    pub(in super::super) fn note_scan_of_cells(&mut self, tile: TileId, value: &Poly, pad: &Poly) {
        let is_by_all = self.passed_by.iter().all(|passed| *passed == Formula::False);
        let (Some((number, count)), Some((of, is_inclusive))) =
            (self.number_of_items(), self.scan_of_block(value))
        else {
            return;
        };
        if !is_by_all || !self.recording {
            return;
        }
        let end = pad.add(&count);
        // Of other cells no tile has counted the same.
        let (last, mut scan) = match *pad == Poly::default() {
            true => self.counts_added(&of, (&number, count)),
            false => (end.clone(), Scan::of_cells([pad.clone(), end.clone()], self.loops.clone())),
        };
        if *pad == Poly::default() {
            scan.counted = scan.counted.or_else(|| self.tile_of_own(&of, &number));
        }
        let is_inside = last == end;
        scan.cells[1] = last;
        (scan.is_inclusive, scan.is_whole) = (is_inclusive, true);
        let at = Cell { row: Vec::new(), at: pad.add(&number) };
        let (value, count) = (single(value), of.clone());
        scan.added = (*pad == Poly::default()).then(|| of.clone());
        scan.counts.push(Held { at: at.clone(), value: of, is_exact: true, unless: Vec::new() });
        self.add_sums(tile, scan);
        if let Some(value) = value {
            let scan = self.prefixes.scans.len() - 1;
            self.note_prefix(value, Read { scan, at, count, is_inside });
        }
    }

    /// The same of what a scan gives it that has its own value, in the cell after that of
    /// its number: of cells from the second one on, or from the first one if that is known
    /// to hold 0, each has what the ones before it count.
    fn note_shifted_scan(
        &mut self,
        stored: &Stored,
        (number, end): (Poly, Poly),
        before: Option<&Content>,
    ) -> bool {
        let Some((of, true)) = self.scan_of_block(&stored.value) else { return false };
        let (last, mut scan) = self.counts_added(&of, (&number, end.clone()));
        if last != end {
            return false;
        }
        let is_zero = |held: &Held| {
            let is_first = held.at.alone() == Some(&Poly::default());
            held.is_exact && held.is_sure() && is_first && held.value == Poly::default()
        };
        let has_zero = matches!(before, Some(Content::Held(held)) if held.iter().any(is_zero));
        let at = Cell { row: Vec::new(), at: number };
        scan.added = Some(of.clone());
        scan.counts.push(Held { at, value: of, is_exact: true, unless: Vec::new() });
        scan.cells = [Poly::constant(i128::from(!has_zero)), end.plus(1)];
        scan.has_before = !has_zero;
        self.add_sums(stored.tile, scan)
    }

    /// Notes that one work-item stores, in the cell behind those of a scan, the sum of all
    /// that it has counted, or 0 in the cell before them: what these hold goes on there.
    pub(in super::super) fn note_end_stored(
        &mut self,
        stored: &Stored,
        before: Option<&Content>,
    ) -> bool {
        let Some(Content::Sums(of)) = before else { return false };
        let mut scan = self.prefixes.scans[*of].clone();
        let (Some(at), Some((number, _))) = (stored.at.alone(), self.number_of_items()) else {
            return false;
        };
        if scan.is_inclusive || scan.is_backward || scan.loops != self.loops {
            return false;
        }
        let Some(item) = self.picked_item() else { return false };
        let Some(missed) = self.block_misses(&item) else { return false };
        scan.unless.extend(missed);
        let of_item = |unknown: Unknown| item.get(&unknown).cloned();
        let at = at.replace(&of_item);
        let is_last = number.replace(&of_item).plus(1) == scan.cells[1];
        let is_whole_sum =
            single(&stored.value).and_then(|sum| self.prefixes.totals.get(&sum)) == Some(of);
        let is_total = is_whole_sum
            || scan.own.as_ref().is_some_and(|own| {
                stored.value == *own && is_last || self.is_total_beyond(&stored.value, own)
            });
        if at == scan.cells[1] && is_total {
            scan.cells[1] = at.plus(1);
        } else if at.plus(1) == scan.cells[0] && scan.has_before && stored.value == Poly::default()
        {
            scan.cells[0] = at;
            scan.has_before = false;
        } else {
            return false;
        }
        scan.own = None;
        self.add_sums(stored.tile, scan)
    }

    /// From here on a tile holds these sums.
    fn add_sums(&mut self, tile: TileId, scan: Scan) -> bool {
        self.prefixes.scans.push(scan);
        let number = self.prefixes.scans.len() - 1;
        self.note_ended(number);
        self.held.contents.insert(tile, Content::Sums(number));
        true
    }

    /// What cells held of which each work-item has added up the one of its number, and up
    /// to which one, if it was not before that `end`.
    fn counts_added(&mut self, of: &Poly, (number, end): (&Poly, Poly)) -> (Poly, Scan) {
        let mut scan = Scan::of_cells([Poly::default(), end.clone()], self.loops.clone());
        let Some(mut symbol) = single(of) else { return (end, scan) };
        let mut last = end.clone();
        // Work-items beyond the last cell add nothing.
        if let Some((Cond { yes: Formula::AtLeast(room), .. }, then, otherwise)) =
            self.choices.get(&symbol)
            && *otherwise == Poly::default()
            && let Some(read) = single(then)
        {
            symbol = read;
            last = self.as_in_first_warp(&room.add(number).plus(1));
        }
        let Some(read) = self.held.reads.get(&symbol).cloned() else { return (end, scan) };
        let is_own = |at: &Poly| self.as_in_first_warp(at) == self.as_in_first_warp(number);
        let is_of_own = read.at.alone().is_some_and(is_own);
        // Cells that nobody stores in are none of the sums.
        let is_beyond = || last != end && !self.is_never(&Formula::lt(&end, &last));
        if !is_of_own || !self.is_agreed(&last) || is_beyond() {
            return (end, scan);
        }
        scan.all = self.all_counted(read.tile, read.raises.clone());
        scan.counted = Some((read.tile, read.version));
        (scan.counts, scan.raises, scan.totals) = (read.counts, read.raises, read.totals);
        (last, scan)
    }

    /// A tile in which each work-item has stored this in the cell of its number.
    fn tile_of_own(&mut self, of: &Poly, number: &Poly) -> Option<(TileId, Version)> {
        let at = Cell { row: Vec::new(), at: number.clone() };
        let tiles: Vec<TileId> = self.held.contents.keys().copied().collect();
        let now: Vec<_> = tiles.into_iter().map(|tile| (tile, self.version(tile))).collect();
        now.into_iter()
            .find(|of_tile| self.found_in_version(*of_tile, &at).is_some_and(|value| value == *of))
    }

    /// What has raised the cells of a tile since it was set last.
    pub(in super::super) fn raises_of(&self, tile: TileId, n_sets: usize) -> Vec<Raise> {
        let array = ArrayRef::Tile(tile);
        if !self.counters.all_rise(array) {
            return Vec::new();
        }
        let last = self.counters.n_sets(array).min(n_sets);
        let own = |raise: &&Raise| raise.tile == tile && raise.n_sets == last;
        self.held.raises.iter().filter(own).cloned().collect()
    }
}

/// Whether a cell of a tile held this where a loop began.
fn holds(head: &Head, (tile, at): (TileId, &Cell), value: &Poly) -> bool {
    let is_it =
        |held: &Held| held.is_exact && held.is_sure() && held.at == *at && held.value == *value;
    matches!(head.contents.get(&tile), Some(Content::Held(held)) if held.iter().any(is_it))
}
