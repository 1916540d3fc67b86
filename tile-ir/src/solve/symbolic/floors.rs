//! Counters in tiles, and what they hold at least from where they were set on.
//!
//! Of a tile of signed numbers that hold now a count, now something else, little is known
//! ([`super::natural`] asks what is ever stored there). But once one work-item of the block
//! has set a cell, which is sure to come by, and as long as the text only adds to it what
//! is not negative, nobody finds less there than it was set to: who comes later in the
//! text comes later in time, or races with what set the cell.
//!
//! Whatever else writes the cell ends that, and so does a loop at its head and after it, if
//! it does so anywhere: an earlier iteration may have. Sums are taken not to leave the
//! range of their type, as counters are ([`super::slot`]).

use std::collections::{BTreeMap, BTreeSet};

use super::natural::is_plainly_natural;
use super::poly::{Poly, Unknown};
use super::spot::Spot;
use super::walk::{Value, Walk};
use crate::kernel::{Access, ArrayRef, Kernel, Place, Stmt, StmtKind, TileId};
use crate::op::AtomicOp;

/// By tile, cells at numbers, and what they hold at least.
#[derive(Clone, Debug, Default)]
pub(super) struct Floors(BTreeMap<TileId, Vec<(Vec<Poly>, i128)>>);

impl Floors {
    /// A cell of an array may hold less from here on.
    fn lower(&mut self, array: ArrayRef, spot: &Spot) {
        let ArrayRef::Tile(tile) = array else { return };
        if let Some(cells) = self.0.get_mut(&tile) {
            cells.retain(|(cell, _)| !spot.may_be(cell));
        }
    }

    /// All cells of tiles may.
    pub(super) fn forget(&mut self, tiles: &BTreeSet<TileId>) {
        self.0.retain(|tile, _| !tiles.contains(tile));
    }
}

impl Walk<'_> {
    /// Something else is done to a cell than to raise it.
    pub(super) fn lower_cell(&mut self, array: ArrayRef, spot: &Spot) {
        if self.recording {
            self.floors.lower(array, spot);
        }
    }

    /// Notes what has been stored in a cell.
    pub(super) fn note_floor(&mut self, access: &Access, at: &[Poly], value: &Value) {
        let (ArrayRef::Tile(tile), Value::Int(value)) = (access.array, value) else { return };
        let is_at_number = at.iter().all(|index| index.as_constant().is_some());
        if !self.recording || self.is_in_point() || self.kernel.is_local(access.array) {
            return;
        }
        let Some(item) = self.picked_item().filter(|_| is_at_number) else { return };
        let least = match self.symbols.low(value) {
            Some(least @ 0..) => least,
            _ if self.is_natural(value) => 0,
            _ => return,
        };
        if self.is_sure_to_come_by(&item) {
            self.floors.0.entry(tile).or_default().push((at.to_vec(), least));
        }
    }

    /// Adds what is found in a cell at least.
    pub(super) fn bound_by_floor(&mut self, array: ArrayRef, at: &[Poly], found: Unknown) {
        let ArrayRef::Tile(tile) = array else { return };
        if !self.recording || self.is_in_point() {
            return;
        }
        let cells = self.floors.0.get(&tile).map(Vec::as_slice).unwrap_or_default();
        if let Some((_, least)) = cells.iter().find(|(cell, _)| cell == at) {
            self.symbols.set_least(found, *least);
        }
    }
}

/// The tiles of which statements may lower cells.
pub(super) fn collect_lowered(kernel: &Kernel, stmts: &[Stmt], out: &mut BTreeSet<TileId>) {
    for stmt in stmts {
        let lowered = match &stmt.kind {
            StmtKind::Atomic { op: AtomicOp::Add, value, .. }
                if is_plainly_natural(kernel, *value) =>
            {
                None
            }
            StmtKind::Store { access, .. }
            | StmtKind::Update { place: Place::Element(access), .. }
            | StmtKind::Atomic { access, .. } => Some(access.array),
            StmtKind::Let { .. }
            | StmtKind::LetArray { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Update { place: Place::Var(_), .. }
            | StmtKind::Each { .. }
            | StmtKind::Phase { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Exchange { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => None,
        };
        if let Some(ArrayRef::Tile(tile)) = lowered {
            out.insert(tile);
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect_lowered(kernel, body, out));
    }
}
