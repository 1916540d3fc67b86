//! A work-item's own cell of a tile, followed as a variable is: scans by hand in shared memory.
//!
//! `s[t]`, of the work-item's number in its block, is written by this work-item alone, as long
//! as nothing is stored at other subscripts. So what it holds is what the text says, as of a
//! local variable ([`super::arrays`]); and `s[t - d]` is what the work-item `d` before holds
//! there, of which sums are made by hand ([`super::super::scans::windows`]).
//!
//! # What it rests on
//!
//! - A cell of another work-item holds what that has stored before the last barrier: what is
//!   stored and read between two barriers the race rules report. So it is asked that the own
//!   one has not been stored since: of such a cell the text says the same of all.
//! - What others may have written in an own cell, by an atomic update or at a subscript that is not
//!   the own one, is there from the next barrier on: from there on the cell holds what it is found
//!   to hold, whoever has come by the write.
//! - Only tiles are followed that some loop reads at a distance, and writes, or as many statements
//!   as a scan that is written out has.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::walk::{Value, Walk};
use super::arrays::stmt_exprs;
use super::held::Content;
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, Place, Stmt, StmtKind, TileId, VarId, any_subexpr,
};
use crate::op::BinaryOp;

/// What is known of own cells at a place in the text.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct OwnCells {
    /// The work-item's number in its block.
    number: Option<Poly>,
    /// How far behind that own cells are, of tiles that have zeros before them.
    pads: BTreeMap<TileId, Poly>,
    /// The cells that have not been stored since the last barrier.
    pub(in super::super) settled: BTreeSet<VarId>,
    /// The cells that others may have written since the last barrier.
    disturbed: BTreeSet<VarId>,
}

impl OwnCells {
    /// Whether a subscript is the work-item's number.
    pub(in super::super) fn is_number(&self, at: &Poly) -> bool {
        self.number.as_ref() == Some(at)
    }
}

impl Walk<'_> {
    /// Nothing is stored yet.
    pub(in super::super) fn enter_own_cells(&mut self) {
        let cells = self.local_elements.own_cells();
        if cells.is_empty() {
            return;
        }
        self.own_cells.number = self.number_of_items().map(|(number, _)| number);
        for cell in cells {
            self.env.insert(cell, Value::Other);
            if let Some(tile) = self.local_elements.tile_of(cell)
                && let Some(pad) = self.pad_before(tile)
            {
                self.own_cells.pads.insert(tile, pad);
            }
        }
    }

    /// How far behind the work-item's number its own cell is, of a tile that has zeros before.
    pub(in super::super) fn pad_of_tile(&self, array: ArrayRef) -> Option<&Poly> {
        match array {
            ArrayRef::Tile(tile) => self.own_cells.pads.get(&tile),
            ArrayRef::Tensor(_) => None,
        }
    }

    /// Where the work-item's own cell of a tile is.
    fn place_of_own(&self, array: ArrayRef) -> Option<Poly> {
        let number = self.own_cells.number.as_ref()?;
        Some(self.pad_of_tile(array).map_or_else(|| number.clone(), |pad| number.add(pad)))
    }

    /// The work-item's own cell, if a subscript names it.
    pub(in super::super) fn own_cell_at(&self, access: &Access, at: &[Poly]) -> Option<VarId> {
        let cell = self.local_elements.own_cell(access.array)?;
        let own = self.place_of_own(access.array)?;
        let is_own = matches!(at, [at] if *at == own);
        (is_own && !self.is_in_point()).then_some(cell)
    }

    /// What the own cell holds, where that is made of a sum that is made by hand, or is what such
    /// a sum begins with.
    pub(in super::super) fn own_sum(&self, access: &Access, at: &[Poly]) -> Option<Value> {
        let value = self.env.get(&self.own_cell_at(access, at)?)?;
        let Value::Int(sum) = value else { return None };
        let is_one = |symbol| self.is_by_hand(&Poly::unknown(symbol));
        let is_of_sum = || sum.unknowns().any(is_one) || self.begins_sum(sum);
        (!sum.is_lost() && is_of_sum()).then(|| value.clone())
    }

    /// Notes that the own cell of a tile is stored by all with a part of a scan by hand, if it is;
    /// or with what such a part is without what the work-item has added.
    pub(in super::super) fn note_own_stored(&mut self, cell: VarId, value: &Value) {
        let Value::Int(value) = value else { return };
        if !self.is_passed_by_nobody() {
            return;
        }
        if self.is_by_hand(value) {
            self.note_scanned_by_hand(cell, value);
            return;
        }
        let Some(tile) = self.local_elements.tile_of(cell) else { return };
        let has_sums = matches!(self.held.contents.get(&tile), Some(Content::Sums(_)));
        if !has_sums && self.pad_of_tile(ArrayRef::Tile(tile)).is_none() {
            let exact = self.before_wrapping(value, self.type_of(cell));
            self.note_scan_of_cells(tile, exact.as_ref().unwrap_or(value), &Poly::default());
        }
    }

    /// Notes that `value` was read in a tile, where that is what a work-item before holds.
    pub(in super::super) fn note_read_before(
        &mut self,
        expr: ExprId,
        access: &Access,
        at: &[Poly],
        value: &Value,
    ) {
        let (Some(cell), [at], Value::Int(value)) =
            (self.local_elements.own_cell(access.array), at, value)
        else {
            return;
        };
        let (Some(place), Some(Value::Int(own))) =
            (self.place_of_own(access.array), self.env.get(&cell))
        else {
            return;
        };
        let by = place.sub(at);
        if self.own_cells.settled.contains(&cell) && self.is_agreed(&by) && !self.is_in_point() {
            let own = own.clone();
            self.note_before_in_block((&own, &by), value, expr);
        }
    }

    /// Notes that from here on each own cell holds this part of a scan: so the tile holds prefix
    /// sums, and the last one's cell has the sum over the block.
    pub(in super::super) fn note_scanned_by_hand(&mut self, cell: VarId, value: &Poly) {
        if let Some(tile) = self.local_elements.tile_of(cell)
            && self.recording
            && let Some(sum) = self.sum_up_to(value)
        {
            let pad = self.pad_of_tile(ArrayRef::Tile(tile)).cloned();
            match (&pad, self.number_of_items()) {
                (Some(pad), Some((_, count))) => {
                    let last = [pad.add(&count).plus(-1)];
                    let key = self.cells.key(tile, &last, &self.loops);
                    self.cells.handed_on.insert_total(key, sum);
                }
                _ => {
                    let (tile, writes, _, loops) = self.cells.key(tile, &[], &self.loops);
                    self.cells.handed_on.insert_scanned((tile, writes, loops), sum);
                }
            }
            self.note_scan_of_cells(tile, value, &pad.unwrap_or_default());
        }
    }

    /// A tile is written in a way that leaves nothing known of its cells.
    pub(in super::super) fn forget_own_cell(&mut self, array: ArrayRef) {
        if let Some(cell) = self.local_elements.own_cell(array) {
            let any = self.changed(cell);
            self.env.insert(cell, any);
            self.own_cells.settled.remove(&cell);
            self.own_cells.disturbed.insert(cell);
        }
    }

    /// A tile is written at a subscript that is not known to be the work-item's number.
    pub(in super::super) fn disturb_own_cell(&mut self, array: ArrayRef, at: &[Poly]) {
        let Some(cell) = self.local_elements.own_cell(array) else { return };
        let is_own = match (at, self.place_of_own(array)) {
            ([at], Some(own)) if !at.is_lost() && !self.is_in_point() => {
                let here = Formula::All(self.guards.clone());
                self.is_never(&here.and(Formula::ne(at, &own)))
            }
            _ => false,
        };
        if !is_own {
            self.own_cells.disturbed.insert(cell);
        }
    }

    /// The own cell of a tile is stored.
    pub(in super::super) fn unsettle(&mut self, array: ArrayRef) {
        if let Some(cell) = self.local_elements.own_cell(array) {
            self.own_cells.settled.remove(&cell);
        }
    }

    /// A barrier: what was stored before it is there for all.
    pub(in super::super) fn settle_own_cells(&mut self) {
        self.own_cells.settled.extend(self.local_elements.own_cells());
        let disturbed = std::mem::take(&mut self.own_cells.disturbed);
        disturbed.into_iter().for_each(|cell| self.find_own_cell(cell));
    }

    /// From here on an own cell holds what a read of it would find here.
    fn find_own_cell(&mut self, cell: VarId) {
        let found = self.changed(cell);
        self.env.insert(cell, found.clone());
        let Some(tile) = self.local_elements.tile_of(cell).filter(|_| self.recording) else {
            return;
        };
        let (Some(place), Value::Int(value)) = (self.place_of_own(ArrayRef::Tile(tile)), &found)
        else {
            return;
        };
        let place = [place];
        let Some(at) = self.cell_at(tile, &place) else { return };
        let of = (tile, self.version(tile));
        if let Some(known) = self.found_in_version(of, &at) {
            self.env.insert(cell, Value::Int(known));
            return;
        }
        if self.cells.is_natural(tile) {
            value.unknowns().for_each(|symbol| self.symbols.set_natural(symbol));
        }
        self.note_found(of, &at, value);
        self.note_read(ArrayRef::Tile(tile), &place, &found);
    }

    /// The cells that have not been stored since the last barrier.
    pub(in super::super) fn settled(&self) -> BTreeSet<VarId> {
        self.own_cells.settled.clone()
    }

    /// From here on it may be either way.
    pub(in super::super) fn join_settled(&mut self, other: &BTreeSet<VarId>) {
        self.own_cells.settled.retain(|cell| other.contains(cell));
    }

    /// At the head of a loop: what an iteration before may have stored behind its last barrier
    /// is not settled.
    pub(in super::super) fn settled_at_head(&mut self, body: &[Stmt]) {
        if self.own_cells.settled.is_empty() {
            return;
        }
        let is_barrier = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Barrier);
        let tail = body.iter().rposition(is_barrier).map_or(body, |at| &body[at + 1..]);
        let mut stored = Vec::new();
        self.collect_assigned(tail, &mut stored);
        let leaves = self.leaves(body);
        let mut all = Vec::new();
        self.collect_assigned(body, &mut all);
        let open = if leaves { all } else { stored };
        self.own_cells.settled.retain(|cell| !open.contains(cell));
    }
}

/// How often statements write a tile, and read it at a difference.
type Uses = BTreeMap<TileId, [usize; 2]>;

/// The tiles that a loop writes, and reads at a distance from somewhere; or that so many
/// statements do as two steps of a scan by hand are, and what it begins with.
pub(in super::super) fn read_at_distances(kernel: &Kernel) -> BTreeSet<TileId> {
    let mut out = BTreeSet::new();
    collect_steps(kernel, &kernel.body, [3, 2], &mut out);
    out
}

fn collect_steps(
    kernel: &Kernel,
    stmts: &[Stmt],
    [writes, reads]: [usize; 2],
    out: &mut BTreeSet<TileId>,
) {
    let mut uses = Uses::new();
    collect_uses(kernel, stmts, &mut uses);
    let are_steps = |uses: &[usize; 2]| uses[0] >= writes && uses[1] >= reads;
    out.extend(uses.into_iter().filter(|(_, uses)| are_steps(uses)).map(|(id, _)| id));
    for stmt in stmts {
        if let StmtKind::For { body, .. } | StmtKind::While { body, .. } = &stmt.kind {
            collect_steps(kernel, body, [1, 1], out);
        } else {
            let bodies = stmt.kind.bodies().into_iter();
            bodies.for_each(|body| collect_steps(kernel, body, [writes, reads], out));
        }
    }
}

/// Collects how statements use tiles.
fn collect_uses(kernel: &Kernel, stmts: &[Stmt], out: &mut Uses) {
    for stmt in stmts {
        if let StmtKind::Store { access, .. }
        | StmtKind::Update { place: Place::Element(access), .. } = &stmt.kind
            && let ArrayRef::Tile(tile) = access.array
        {
            out.entry(tile).or_default()[0] += 1;
        }
        for expr in stmt_exprs(stmt) {
            any_subexpr(kernel, expr, &mut |kind| {
                if let ExprKind::Load(Access { array: ArrayRef::Tile(tile), indices, .. }) = kind
                    && let [index] = indices.as_slice()
                    && matches!(
                        kernel.exprs[*index].kind,
                        ExprKind::Binary { op: BinaryOp::Sub, .. }
                    )
                {
                    out.entry(*tile).or_default()[1] += 1;
                }
                false
            });
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect_uses(kernel, body, out));
    }
}
