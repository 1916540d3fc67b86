//! What cells of tiles hold: of each tile, what work-items have stored last.
//!
//! A work-item that has stored `v` in `s[i]` finds `v` in that cell until somebody writes
//! the tile again; that nobody writes the cell at the same time is the race rules'
//! business; and after a store of which it is plain that none is made in that cell
//! ([`super::spared`]). So it is with what one lane has stored in its warp's cell, of which all of
//! the warp know. Of counters a work-item knows that they are beyond what it has found.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::scans::row_major::Chained;
use super::super::scans::summed::Step;
use super::super::slots::taken::Raise;
use super::super::walk::{Value, Walk};
use super::by_round::RoundStores;
use super::cells::count_writes;
use super::filled::Fills;
use super::floors::collect_lowered;
use super::reread::Version;
use super::rows::{Cell, Totals, axes_of_cells};
use super::settings::Setting;
use super::tabled::Tables;
use crate::kernel::{Access, ArrayRef, Kernel, Stmt, StmtKind, TileId};

/// What a work-item knows of a cell.
#[derive(Clone, Debug)]
pub(in super::super) struct Held {
    pub(in super::super) at: Cell,
    pub(in super::super) value: Poly,
    /// Whether it holds this, or no less.
    pub(in super::super) is_exact: bool,
    /// Where one of these holds nothing is known.
    pub(in super::super) unless: Vec<Formula>,
}

impl Held {
    /// Whether it is known to every work-item.
    pub(in super::super) fn is_sure(&self) -> bool {
        self.unless.iter().all(|unless| *unless == Formula::False)
    }
}

/// What an update of the work-item's own has left of a counter in a tile.
pub(super) struct LeftByOwn<'a> {
    pub(super) at: &'a [Poly],
    pub(super) value: Poly,
    /// Where one of these holds it was not made.
    pub(super) unmade: &'a [Formula],
}

/// What a tile holds.
#[derive(Clone, Debug)]
pub(in super::super) enum Content {
    /// What work-items know of single cells.
    Held(Vec<Held>),
    /// The prefix sums of this number ([`super::super::scans::prefix`]).
    Sums(usize),
    /// In this cell, the sum of all of them.
    Total(Poly, usize),
    /// In the cell of each row's number, the sum of that row.
    Totals(Totals),
}

/// A store in a tile.
#[derive(Clone, Debug)]
pub(in super::super) struct Stored {
    pub(in super::super) tile: TileId,
    pub(in super::super) at: Cell,
    pub(in super::super) value: Poly,
    /// Whether the value is added to what was there.
    pub(in super::super) is_added: bool,
    pub(in super::super) loops: Vec<LoopId>,
    pub(in super::super) n_guards: usize,
    /// How many accesses of the text come before it.
    pub(in super::super) n_sites: usize,
    /// How many places in the text that set the tile come before it.
    pub(in super::super) n_sets: usize,
}

/// A read in a tile.
#[derive(Clone, Debug)]
pub(in super::super) struct TileRead {
    pub(in super::super) tile: TileId,
    pub(in super::super) at: Cell,
    /// How many accesses of the text come before it, and itself.
    pub(in super::super) n_sites: usize,
    /// What was known of the cells then.
    pub(in super::super) counts: Vec<Held>,
    /// What had raised them.
    pub(in super::super) raises: Vec<Raise>,
    /// Whose totals they were.
    pub(in super::super) totals: Option<Totals>,
    /// Of which version of the tile.
    pub(in super::super) version: Version,
}

/// What is known of tiles at a place in the text.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Holdings {
    pub(in super::super) contents: BTreeMap<TileId, Content>,
    pub(in super::super) reads: BTreeMap<Unknown, TileRead>,
    pub(in super::super) stores: Vec<Stored>,
    /// The updates that raise cells.
    pub(in super::super) raises: Vec<Raise>,
    /// The prefix sums that tiles held before updates went on from them: nobody has stored
    /// there since.
    gone_on: BTreeMap<TileId, usize>,
    /// By tile, the stores of what is one number for the whole block.
    pub(in super::super) settings: BTreeMap<TileId, Vec<Setting>>,
    /// By loop, the variables to which an iteration adds.
    pub(in super::super) steps: BTreeMap<LoopId, Vec<Step>>,
    /// The loop that has ended last.
    pub(in super::super) ended: Option<LoopId>,
    pub(in super::super) rounds: RoundStores,
    /// By loop, the variables to which each iteration adds a row of cells.
    pub(in super::super) chained: BTreeMap<LoopId, Vec<Chained>>,
    /// The tiles that are filled by a formula.
    pub(in super::super) tables: Tables,
    /// The stores that fill tiles.
    pub(in super::super) fills: Fills,
    /// By tile, the axis along which cells follow each other, if not the last one.
    pub(in super::super) axes: BTreeMap<TileId, usize>,
}

impl Holdings {
    /// Of a kernel of which nothing has been walked yet.
    pub(in super::super) fn of(kernel: &Kernel) -> Self {
        Self { axes: axes_of_cells(kernel), ..Self::default() }
    }
}

/// The state at the head of a loop.
pub(in super::super) struct Head {
    pub(in super::super) contents: BTreeMap<TileId, Content>,
    /// Of the tiles that the loop writes.
    versions: BTreeMap<TileId, Version>,
    n_stores: usize,
    /// At how many places of the text the loop writes each tile.
    pub(in super::super) n_writes: BTreeMap<TileId, usize>,
    /// What the loop writes.
    pub(in super::super) written: BTreeSet<ArrayRef>,
    /// The same without what it only updates.
    stored: BTreeSet<ArrayRef>,
    /// The tiles of which it may lower cells.
    lowered: BTreeSet<TileId>,
}

impl Walk<'_> {
    /// A loop begins: what it writes may have been written by an iteration before.
    pub(in super::super) fn hold_at_head(&mut self, body: &[Stmt]) -> Option<Head> {
        if !self.recording {
            return None;
        }
        let mut written = BTreeSet::new();
        collect_written(body, &mut written);
        let mut stored = BTreeSet::new();
        collect_stored(body, &mut stored);
        let contents = self.held.contents.clone();
        let mut lowered = BTreeSet::new();
        collect_lowered(self.kernel, body, &mut lowered);
        let tiles = tiles_in(&written);
        let versions = tiles.into_iter().map(|tile| (tile, self.version(tile))).collect();
        let n_stores = self.held.stores.len();
        let mut n_writes = BTreeMap::new();
        count_writes(body, &mut n_writes);
        let head = Head { contents, versions, n_stores, n_writes, written, stored, lowered };
        self.forget_written(&head);
        Some(head)
    }

    /// A loop has ended, of which these are the bounds if it has run all of its iterations.
    pub(in super::super) fn hold_after(&mut self, head: Option<Head>, bounds: Option<[&Poly; 2]>) {
        let Some(head) = head else { return };
        self.forget_written(&head);
        let stores = self.held.stores.split_off(head.n_stores);
        if let Some(bounds) = bounds {
            self.note_prefixes(bounds, &head, &stores);
        }
        self.hold_of_rounds();
        self.held.stores.extend(stores);
    }

    fn forget_written(&mut self, head: &Head) {
        for tile in tiles_in(&head.written) {
            self.note_gone_on(tile, head.stored.contains(&ArrayRef::Tile(tile)));
        }
        let is_kept = |tile: &TileId| !head.written.contains(&ArrayRef::Tile(*tile));
        self.held.contents.retain(|tile, _| is_kept(tile));
        for tile in tiles_in(&head.written) {
            self.renew(tile);
            self.cells.handed_on.forget(tile);
        }
        self.floors.forget(&head.lowered);
    }

    /// Something is done to a tile of which nothing is known yet; whether it is a store.
    pub(in super::super) fn forget_held(&mut self, array: ArrayRef, is_store: bool) {
        if let (true, ArrayRef::Tile(tile)) = (self.recording, array) {
            self.note_gone_on(tile, is_store);
            self.held.contents.remove(&tile);
            self.renew(tile);
        }
    }

    /// Updates go on from what a tile holds, or it is stored in.
    fn note_gone_on(&mut self, tile: TileId, is_stored: bool) {
        match self.held.contents.get(&tile) {
            _ if is_stored => drop(self.held.gone_on.remove(&tile)),
            Some(Content::Sums(scan)) => drop(self.held.gone_on.insert(tile, *scan)),
            Some(_) | None => {}
        }
    }

    /// The prefix sums from which updates of an array have gone on, if nothing else is done to it.
    pub(in super::super) fn sums_below(&self, array: ArrayRef) -> Option<usize> {
        let ArrayRef::Tile(tile) = array else { return None };
        match self.held.contents.get(&tile) {
            Some(Content::Sums(scan)) => Some(*scan),
            Some(_) => None,
            None => self.held.gone_on.get(&tile).copied(),
        }
    }

    /// Which version a tile had at the head of a loop that has ended.
    pub(in super::super) fn version_before(&mut self, head: &Head, tile: TileId) -> Version {
        head.versions.get(&tile).copied().unwrap_or_else(|| self.version(tile))
    }

    /// Notes that `value` was read in a tile.
    pub(in super::super) fn note_read(&mut self, array: ArrayRef, at: &[Poly], value: &Value) {
        let (ArrayRef::Tile(tile), Value::Int(value)) = (array, value) else { return };
        let Some(at) = self.cell_at(tile, at) else { return };
        if self.recording && !at.is_lost() && !self.is_in_point() {
            let content = self.held.contents.get(&tile);
            let counts = self.known_counts(content, tile, usize::MAX);
            let raises = self.raises_of(tile, usize::MAX);
            let totals = totals_in(content);
            let (n_sites, version) = (self.sites.len(), self.version(tile));
            let read = TileRead { tile, at, n_sites, counts, raises, totals, version };
            value.unknowns().for_each(|symbol| {
                self.held.reads.insert(symbol, read.clone());
            });
        }
    }

    /// What a tile holds here.
    pub(in super::super) fn content_of(&self, array: ArrayRef) -> Option<Content> {
        match array {
            ArrayRef::Tile(tile) => self.held.contents.get(&tile).cloned(),
            ArrayRef::Tensor(_) => None,
        }
    }

    /// Notes what has been stored in a tile's cell, with what the tile held before, or
    /// added to it.
    pub(in super::super) fn note_held(
        &mut self,
        access: &Access,
        indices: &[Poly],
        value: &Value,
        before: Option<Option<Content>>,
    ) {
        let (ArrayRef::Tile(tile), Value::Int(value)) = (access.array, value) else { return };
        if self.held.rounds.walked.is_some() && before.is_some() {
            self.note_stored_in_round(access, indices, value);
        }
        let Some(at) = self.cell_at(tile, indices) else { return };
        if !self.recording || at.is_lost() || value.is_lost() || self.is_in_point() {
            return;
        }
        let ty = crate::kernel::Type::Scalar(self.kernel.element_type(access.array));
        let exact = self.before_wrapping(value, ty).filter(|exact| exact != value);
        let stored = Stored {
            tile,
            at,
            value: exact.clone().unwrap_or_else(|| value.clone()),
            is_added: before.is_none(),
            loops: self.loops.clone(),
            n_guards: self.guards.len(),
            n_sites: self.sites.len(),
            n_sets: self.counters.n_sets(access.array),
        };
        self.held.stores.push(stored.clone());
        let unless: Vec<Formula> =
            self.passed_by.iter().filter(|passed| **passed != Formula::False).cloned().collect();
        let Some(before) = before else {
            self.note_added(stored, unless);
            return;
        };
        if self.note_scan_stored(&stored, &unless, before.as_ref()) {
            if let (None, Some(Content::Sums(scan))) = (&exact, self.held.contents.get(&tile)) {
                self.note_kept_sum(*scan, &stored.at, &stored.value);
            }
            return;
        }
        if self.note_end_stored(&stored, before.as_ref()) {
            return;
        }
        let Stored { at, value, .. } = stored;
        let value = self.total_of_warp(&value).unwrap_or(value);
        if let Some(content) = self.total_handed_on(&at, &value) {
            self.held.contents.insert(tile, content);
            return;
        }
        let unless = match self.is_told_to_all(&at, &value) {
            true => Vec::new(),
            false => self.warp_unless(&at, &value).unwrap_or(unless),
        };
        let held = Held { at, value, is_exact: true, unless };
        if exact.is_none() {
            self.note_kept(tile, &held);
        }
        let mut all = self.spared((tile, before), indices, access.span);
        all.insert(0, held);
        self.held.contents.insert(tile, Content::Held(all));
    }

    /// Notes that a number was added to a cell that held 0 before, or what others have added: it
    /// holds no less now. Counts are taken not to leave their type, as those of atomic updates.
    fn note_added(&mut self, Stored { tile, at, value, n_sets, .. }: Stored, unless: Vec<Formula>) {
        let are_0 = self.counters.are_0(ArrayRef::Tile(tile), n_sets.saturating_sub(1));
        if self.loops.is_empty() && are_0 && value.as_constant().is_some_and(|added| added > 0) {
            let held = Held { at, value, is_exact: false, unless };
            self.held.contents.insert(tile, Content::Held(vec![held]));
        }
    }

    /// Whether one work-item of the block, which is sure to come by, stores what all know.
    fn is_told_to_all(&mut self, at: &Cell, value: &Poly) -> bool {
        let is_agreed = at.coordinates().chain([value]).all(|poly| self.is_agreed(poly));
        let item = self.picked_item().filter(|_| is_agreed);
        item.is_some_and(|item| self.is_sure_to_come_by(&item))
    }

    /// Where one lane has stored in its warp's own cell what all of the warp agree on:
    /// where they do not know of it.
    pub(super) fn warp_unless(&self, at: &Cell, value: &Poly) -> Option<Vec<Formula>> {
        let place = self.warp_place.as_ref().filter(|_| self.are_loops_of_block())?;
        if !at.coordinates().all(|index| self.is_agreed_by_warp(index))
            || !self.is_agreed_by_warp(value)
        {
            return None;
        }
        let mut unless = Vec::new();
        for (guard, passed) in self.guards.iter().zip(&self.passed_by) {
            let mut unknowns = Vec::new();
            guard.collect_unknowns(&mut unknowns);
            if unknowns.iter().all(|unknown| self.is_agreed_by_warp(&Poly::unknown(*unknown))) {
                unless.push(passed.clone());
                continue;
            }
            let Formula::Zero(zero) = guard else { return None };
            let lanes = [place.lane.sub(zero), place.lane.add(zero)];
            let lane = lanes.into_iter().find(|lane| self.is_agreed_by_warp(lane))?;
            let lacks = place.lacks(&lane);
            unless.push(if self.is_never(&lacks) { Formula::False } else { lacks });
        }
        Some(unless)
    }

    /// What a work-item knows of cells, if this is what the tile holds.
    pub(in super::super) fn known_counts(
        &self,
        content: Option<&Content>,
        tile: TileId,
        n_sets: usize,
    ) -> Vec<Held> {
        let held = match content {
            Some(Content::Held(held)) => held.clone(),
            Some(Content::Sums(_) | Content::Total(..) | Content::Totals(_)) | None => Vec::new(),
        };
        [held, self.risen(tile, n_sets)].concat()
    }

    /// What a work-item knows of counters in a tile: they are beyond what it has found,
    /// if they have only risen since.
    fn risen(&self, tile: TileId, n_sets: usize) -> Vec<Held> {
        let own = self.left_by_own(tile, n_sets).filter_map(|(_, left)| {
            Some(Held {
                at: self.cell_at(tile, left.at)?,
                value: left.value,
                is_exact: false,
                unless: left.unmade.to_vec(),
            })
        });
        own.collect()
    }

    /// What the work-item's own updates in these loops have left of counters in a tile that have
    /// only risen until so many places in the text had set it, by what they had found.
    pub(super) fn left_by_own(
        &self,
        tile: TileId,
        n_sets: usize,
    ) -> impl Iterator<Item = (Unknown, LeftByOwn<'_>)> {
        self.slots.iter().filter_map(move |(old, slot)| {
            let (at, value) = slot.cell_of(ArrayRef::Tile(tile), &Poly::unknown(*old))?;
            let is_now = slot.is_taken_in(&self.loops);
            let has_risen = is_now && self.counters.has_risen_until(slot, n_sets);
            has_risen.then(|| (*old, LeftByOwn { at, value, unmade: slot.unmade() }))
        })
    }
}

/// The tiles among arrays.
fn tiles_in(arrays: &BTreeSet<ArrayRef>) -> Vec<TileId> {
    let tile = |array: &ArrayRef| match array {
        ArrayRef::Tile(tile) => Some(*tile),
        ArrayRef::Tensor(_) => None,
    };
    arrays.iter().filter_map(tile).collect()
}

/// Of which rows a tile's cells hold the totals.
pub(in super::super) fn totals_in(content: Option<&Content>) -> Option<Totals> {
    match content {
        Some(Content::Totals(totals)) => Some(totals.clone()),
        Some(Content::Held(_) | Content::Sums(_) | Content::Total(..)) | None => None,
    }
}

/// Adds the arrays that statements write.
pub(in super::super) fn collect_written(stmts: &[Stmt], out: &mut BTreeSet<ArrayRef>) {
    for stmt in stmts {
        out.extend(stmt.kind.written());
        stmt.kind.bodies().into_iter().for_each(|body| collect_written(body, out));
    }
}

/// Adds the arrays that statements store in, be it that they add to what is there.
fn collect_stored(stmts: &[Stmt], out: &mut BTreeSet<ArrayRef>) {
    for stmt in stmts {
        let is_update = matches!(stmt.kind, StmtKind::Atomic { .. });
        out.extend(stmt.kind.written().filter(|_| !is_update));
        stmt.kind.bodies().into_iter().for_each(|body| collect_stored(body, out));
    }
}
