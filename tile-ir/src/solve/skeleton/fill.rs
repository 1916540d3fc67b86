//! Cells of a tile that are read before they are written.
//!
//! A cell is written once anybody has written it: that a write and a read of
//! different workers are ordered is the business of the race rules, and where
//! they share an interval this rule leaves the two to those.

use std::collections::BTreeSet;
use std::ops::Range;

use super::Party;
use super::doubts::Outcomes;
use super::joint::Given;
use super::machine::{Frame, Machine};
use super::plan::{Site, SiteId};
use super::shadow::Mark;
use super::value::Value;
use crate::check::Range as Reach;
use crate::kernel::{AccessKind, ArrayRef, ExprId, Source, TileId, VarId};
use crate::span::SpanId;

/// A read of a cell that nobody has written, by example.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unwritten {
    /// The access.
    pub(crate) site: Site,
    /// The cell, one index per axis.
    pub(crate) element: Vec<i64>,
    /// Whether data decides which cell is read, or which are written, so that it may be
    /// this one.
    pub(crate) is_possible: bool,
    /// Whether it is one only where no data says what is written.
    unless_chosen: bool,
    /// Who reads it.
    pub(crate) party: Party,
    /// A load that decides whether it comes to that.
    pub(crate) cause: Option<Source>,
    /// Tile parameters, dimensions and scalars that matter.
    pub(crate) sizes: Vec<(VarId, i64)>,
    /// What else the launch gives, where that is known.
    pub(crate) given: Given,
}

/// What runs at small sizes show of reads before writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fills {
    /// The first such read of each access in the text.
    pub(crate) unwritten: Vec<Unwritten>,
    /// The tiles that were run at some sizes: to the end, or at least to a barrier
    /// after a read.
    pub(crate) run: BTreeSet<TileId>,
    /// The tiles of which data has decided about a write, or chosen its place.
    pub(crate) chosen: BTreeSet<TileId>,
    /// How comparisons have come out.
    pub(super) outcomes: Outcomes,
}

impl Fills {
    /// Adds the reads that runs at other sizes have found. That tiles were run there says
    /// nothing of the others.
    pub(super) fn find(&mut self, other: Self) {
        let is_so = |found: &Unwritten| match found.site.array {
            ArrayRef::Tile(tile) => !(found.unless_chosen && other.chosen.contains(&tile)),
            ArrayRef::Tensor(_) => false,
        };
        let found = other.unwritten.into_iter().filter(is_so);
        self.unwritten.extend(found.map(|found| Unwritten { unless_chosen: false, ..found }));
    }

    /// A read of a cell of `tile` that nobody has written, by the access at `span`.
    pub(crate) fn example(&self, tile: TileId, span: SpanId) -> Option<&Unwritten> {
        let is_chosen = self.chosen.contains(&tile);
        let mut all = self.unwritten.iter().filter(|found| found.site.span == span);
        all.find(|found| !(found.unless_chosen && is_chosen))
    }
}

/// A cell.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    written: bool,
    /// The interval of the last write, who wrote in it (`None` for several), the
    /// first of the accesses in the text that did, and the iteration of the first; of which
    /// warp the last was, and after how many of its barriers.
    interval: u32,
    writer: Option<u32>,
    warp: Option<(u32, u32)>,
    site: SiteId,
    context: u32,
}

/// A read of what nobody has written yet.
#[derive(Clone, Debug)]
struct Open {
    flat: usize,
    element: Vec<i64>,
    /// Whether data decides which cell is read, or which are written.
    is_possible: bool,
    /// Whether it is one only where no data says what is written.
    unless_chosen: bool,
    mark: Mark,
}

/// The cells of one tile, while a block runs, or of all arrays that are each work-item's own.
#[derive(Clone, Debug, Default)]
pub(super) struct Fill {
    cells: Vec<Cell>,
    /// Of arrays of each work-item's own: how many there are, and how many cells one has.
    each: Option<(usize, usize)>,
    missing: usize,
    /// Whether anybody has read a cell.
    is_read: bool,
    /// Whether anybody has written one of which data decides which it is.
    is_scattered: bool,
    /// Reads in this interval of what nobody has written yet.
    open: Vec<Open>,
}

impl Fill {
    /// A tile of `len` cells, none written.
    pub(super) fn new(len: usize) -> Self {
        Self { cells: vec![Cell::default(); len], missing: len, ..Self::default() }
    }

    /// As many arrays as there are `items`, each of `len` cells, none written; and one for
    /// points of cooperative loops, each of which declares its own.
    pub(super) fn of_each(items: usize, len: usize) -> Self {
        Self { each: Some((items, len)), ..Self::new((items + 1) * len) }
    }

    /// The numbers of the cells that a worker may use.
    fn of_worker(&self, worker: u32) -> Range<usize> {
        match self.each {
            None => 0..self.cells.len(),
            Some((items, len)) => {
                let first = items.min(worker as usize) * len;
                first..first + len
            }
        }
    }

    /// A worker's array is declared: its cells are all written, or none is.
    fn begin(&mut self, worker: u32, is_filled: bool) {
        let own = self.of_worker(worker);
        for cell in self.cells.get_mut(own).into_iter().flatten() {
            let was_written = std::mem::replace(&mut cell.written, is_filled);
            self.missing = self.missing + usize::from(was_written) - usize::from(is_filled);
        }
    }

    /// Enters a write; says whether it is the first to the cell.
    fn write(&mut self, flat: usize, interval: u32, mark: Mark) -> bool {
        let Some(cell) = self.cells.get_mut(flat) else { return false };
        let is_first = !cell.written;
        if is_first {
            cell.written = true;
            self.missing -= 1;
        }
        let again = cell.interval == interval;
        let alone = !again || cell.writer == Some(mark.worker);
        cell.writer = alone.then_some(mark.worker);
        cell.warp = mark.warp.map(|warp| (warp, mark.epoch));
        cell.site = if again { cell.site.min(mark.site) } else { mark.site };
        cell.context = if again { cell.context } else { mark.context };
        cell.interval = interval;
        is_first
    }

    /// The first cell of `own` that nobody has written and whose indices are in these ranges.
    fn missing_within(
        &self,
        own: &Range<usize>,
        extents: &[i64],
        reach: &[Reach],
    ) -> Option<usize> {
        // Number by number along the last axis, of those rows that the ranges admit.
        let mut rows = vec![own.start];
        let mut axes = extents.iter().zip(reach).rev();
        let last = axes.next();
        let within = |(extent, (low, high)): (&i64, &Reach)| {
            let end = i128::from(*extent);
            let first = (*low).clamp(0, end) as usize;
            first..(high.saturating_add(1)).clamp(first as i128, end) as usize
        };
        let mut width = last.map_or(1, |(extent, _)| (*extent).max(1) as usize);
        for axis in axes {
            let range = within(axis);
            rows = range.flat_map(|at| rows.iter().map(move |row| row + at * width)).collect();
            width *= (*axis.0).max(1) as usize;
        }
        rows.sort_unstable();
        let columns = last.map_or(0..1, within);
        let cells = rows.iter().flat_map(|row| columns.clone().map(move |at| row + at));
        cells.into_iter().find(|flat| !self.is_written(*flat))
    }

    fn is_written(&self, flat: usize) -> bool {
        self.cells.get(flat).is_none_or(|cell| cell.written)
    }

    /// The reads of this interval that no other worker's write in it meets, one
    /// that stands before the read in the text, or in an earlier iteration: of two
    /// iterations `is_earlier` says that. Where it is known that nothing collides, no write
    /// meets one.
    fn end_interval(
        &mut self,
        interval: u32,
        only_fills: bool,
        is_earlier: &dyn Fn(u32, u32) -> bool,
    ) -> Vec<Open> {
        let open = std::mem::take(&mut self.open);
        if only_fills {
            return open;
        }
        let stays = |Open { flat, mark, .. }: &Open| {
            let cell = &self.cells[*flat];
            // A barrier of their warp has ordered the two.
            let is_ordered = cell
                .warp
                .is_some_and(|(warp, epoch)| mark.warp == Some(warp) && mark.epoch != epoch);
            let raced =
                cell.interval == interval && cell.writer != Some(mark.worker) && !is_ordered;
            !(raced && (cell.site < mark.site || is_earlier(cell.context, mark.context)))
        };
        open.into_iter().filter(stays).collect()
    }
}

impl Machine<'_> {
    /// Enters an access to a tile. What loaded data decides the place of is no
    /// write, and reads any cell that it can reach.
    pub(super) fn enter_fill(
        &mut self,
        slot: usize,
        (indices, (frame, text)): (&[Value], (&Frame, &[ExprId])),
        kind: AccessKind,
        mark: Mark,
    ) {
        let Some(mut fill) = self.fills[slot].take() else { return };
        let array = self.plan.sites[mark.site as usize].array;
        let own = fill.of_worker(mark.worker);
        let is_chosen = indices.iter().any(|index| !index.is_known());
        let is_known = !indices.iter().any(|index| index.is_free());
        // A place that data only chooses is that place where data says too what is written;
        // where all that is written is so whatever data is, other data chooses another.
        let may_be_any = is_known && is_chosen && kind == AccessKind::Read;
        let flat = if is_known { self.flat(array, indices) } else { None };
        let flat = flat.and_then(|flat| own.start.checked_add(usize::try_from(flat).ok()?));
        fill.is_read |= kind != AccessKind::Write;
        if kind != AccessKind::Write && fill.missing > 0 && !self.is_known_unwritten(mark, false) {
            match flat {
                Some(flat) if !fill.is_written(flat) => {
                    let element = indices.iter().map(|index| index.as_index()).collect();
                    let is_possible = fill.is_scattered || is_chosen || self.doubts.is_some();
                    let unless_chosen = false;
                    fill.open.push(Open { flat, element, is_possible, unless_chosen, mark });
                    self.left = None;
                }
                _ if !is_known || (may_be_any && !self.is_known_unwritten(mark, true)) => {
                    let reach = self.reach(frame, text);
                    let first = fill.missing_within(&own, &self.extents[slot], &reach);
                    fill.open.extend(first.map(|flat| {
                        let element = point_of(flat - own.start, &self.extents[slot]);
                        let unless_chosen = is_known;
                        Open { flat, element, is_possible: true, unless_chosen, mark }
                    }));
                    self.left = None;
                }
                Some(_) | None => {}
            }
        }
        if let ArrayRef::Tile(tile) = array
            && kind != AccessKind::Read
            && (is_chosen || mark.cause.is_some())
            && self.doubts.is_none()
        {
            self.findings.fills.chosen.insert(tile);
        }
        fill.is_scattered |= kind != AccessKind::Read && !is_known;
        if kind != AccessKind::Read
            && let Some(flat) = flat
        {
            let is_first = fill.write(flat, self.interval(), mark);
            self.left = self.left.map(|left| left - usize::from(is_first));
        }
        self.fills[slot] = Some(fill);
    }

    /// Whether such a read of this access is known, one that is `unless_chosen` or not.
    fn is_known_unwritten(&self, mark: Mark, unless_chosen: bool) -> bool {
        let span = self.plan.sites[mark.site as usize].span;
        let all = &self.findings.fills.unwritten;
        all.iter().any(|found| found.site.span == span && found.unless_chosen == unless_chosen)
    }

    /// Keeps the reads of the interval that ends which came before any write.
    pub(super) fn end_fills(&mut self) {
        self.keep_unwritten();
        for slot in 0..self.fills.len() {
            let Some(fill) = &self.fills[slot] else { continue };
            let number = slot.checked_sub(self.kernel.tensors.len()).filter(|_| fill.is_read);
            let tile = number.and_then(|number| self.kernel.tiles.ids().nth(number));
            self.findings.fills.run.extend(tile);
        }
    }

    /// Keeps those reads of the interval so far: where nothing collides, no write that comes
    /// later in it meets one.
    pub(super) fn keep_unwritten(&mut self) {
        for slot in 0..self.fills.len() {
            let Some(mut fill) = self.fills[slot].take() else { continue };
            let is_earlier = |write, read| self.is_earlier(write, read);
            for open in fill.end_interval(self.interval(), self.only_fills, &is_earlier) {
                let Open { element, is_possible, unless_chosen, mark, .. } = open;
                if self.is_known_unwritten(mark, unless_chosen) {
                    continue;
                }
                let unwritten = Unwritten {
                    site: self.plan.sites[mark.site as usize],
                    element,
                    is_possible,
                    unless_chosen,
                    party: self.party(mark),
                    cause: mark.cause,
                    sizes: self.plan.project(self.sizes),
                    given: self.given.cloned().unwrap_or_default(),
                };
                self.findings.fills.unwritten.push(unwritten);
            }
            self.fills[slot] = Some(fill);
        }
    }

    /// Every block has tiles of its own.
    pub(super) fn renew_fills(&mut self) {
        for fill in self.fills.iter_mut().flatten() {
            *fill = Fill { each: fill.each, ..Fill::new(fill.cells.len()) };
        }
        let cells = || self.fills.iter().flatten().map(|fill| fill.missing).sum();
        // Arrays of each one's own may begin anew.
        let may_empty = self.fills.iter().flatten().any(|fill| fill.each.is_some());
        self.left = (self.until_filled && !may_empty).then(cells);
    }

    /// The array of each work-item's own is declared by the one that runs.
    pub(super) fn begin_own(&mut self, tile: TileId, is_filled: bool) {
        let slot = self.slot(ArrayRef::Tile(tile));
        if let Some(fill) = self.fills[slot].as_mut() {
            fill.begin(self.now.worker, is_filled);
        }
    }

    /// Notes the tiles of a run that came to its end.
    pub(super) fn note_filled(&mut self) {
        let tiles = self.plan.sites.iter().filter_map(|site| match site.array {
            // Not of all arrays cells are kept.
            ArrayRef::Tile(tile) => self.fills[self.slot(site.array)].as_ref().map(|_| tile),
            ArrayRef::Tensor(_) => None,
        });
        let tiles: Vec<TileId> = tiles.collect();
        self.findings.fills.run.extend(tiles);
    }
}

/// The indices of the cell of this number.
fn point_of(flat: usize, extents: &[i64]) -> Vec<i64> {
    let mut rest = flat as i64;
    let mut indices: Vec<i64> = extents
        .iter()
        .rev()
        .map(|extent| {
            let extent = (*extent).max(1);
            let at = rest % extent;
            rest /= extent;
            at
        })
        .collect();
    indices.reverse();
    indices
}
