//! Counters in tiles, and what they hold at least from where they were set on.
//!
//! Of a tile of signed numbers that hold now a count, now something else, little is known
//! ([`super::super::terms::natural`] asks what is ever stored there). But once one work-item
//! of the block has set a cell, which is sure to come by, and as long as the text only adds to
//! it what is not negative, nobody finds less there than it was set to: who comes later in the
//! text comes later in time, or races with what set the cell.
//!
//! Whatever else writes the cell ends that, and so does a loop at its head and after it, if
//! it does so anywhere: an earlier iteration may have. Of a tile that some update may lower
//! nothing is known: updates do not race, so that one which comes later in the text may be
//! made before. Sums of 32 bits and more are taken not to leave the range of their type, as counters
//! are ([`super::super::slots::slot`]).
//!
//! Who sets a cell is one work-item that is picked, or the one whose number it is.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::terms::natural::{is_plainly_natural, is_wide};
use super::super::walk::{Value, Walk};
use super::spot::Spot;
use crate::kernel::{Access, ArrayRef, Kernel, Place, Stmt, StmtKind, TileId, Type};
use crate::op::AtomicOp;

/// A cell that has been set, and since then only raised.
#[derive(Clone, Debug)]
struct Floor {
    at: Vec<Poly>,
    /// It is at a number of the work-item's own, and these hold for who sets it.
    guards: Option<Vec<Formula>>,
    /// It holds this at least.
    least: i128,
}

/// What is known of cells of tiles.
#[derive(Clone, Debug)]
pub(in super::super) struct Floors {
    known: BTreeMap<TileId, Vec<Floor>>,
    /// The tiles that some atomic update may lower.
    lowered: BTreeSet<TileId>,
}

impl Floors {
    /// Of a kernel of which nothing has been walked yet.
    pub(in super::super) fn of(kernel: &Kernel) -> Self {
        let mut lowered = BTreeSet::new();
        collect_lowered_by(kernel, &kernel.body, false, &mut lowered);
        Self { known: BTreeMap::new(), lowered }
    }

    /// A cell of an array may hold less from here on.
    fn lower(&mut self, array: ArrayRef, spot: &Spot) {
        let ArrayRef::Tile(tile) = array else { return };
        if let Some(cells) = self.known.get_mut(&tile) {
            cells.retain(|cell| !spot.may_be(&cell.at));
        }
    }

    /// All cells of tiles may.
    pub(in super::super) fn forget(&mut self, tiles: &BTreeSet<TileId>) {
        self.known.retain(|tile, _| !tiles.contains(tile));
    }
}

impl Walk<'_> {
    /// Something else is done to a cell than to raise it.
    pub(in super::super) fn lower_cell(&mut self, array: ArrayRef, spot: &Spot) {
        if self.recording {
            self.floors.lower(array, spot);
        }
    }

    /// Notes what has been stored in a cell.
    pub(in super::super) fn note_floor(&mut self, access: &Access, at: &[Poly], value: &Value) {
        let (ArrayRef::Tile(tile), Value::Int(value)) = (access.array, value) else { return };
        // Sums of few bits soon leave their type.
        let ty = Type::Scalar(self.kernel.tiles[tile].elem);
        let is_open = !self.recording
            || self.is_in_point()
            || self.kernel.is_local(access.array)
            || !is_wide(ty);
        if is_open || self.floors.lowered.contains(&tile) {
            return;
        }
        let least = match self.symbols.low(value) {
            Some(least @ 0..) => least,
            _ if self.is_natural(value) => 0,
            _ => return,
        };
        let is_at_number = at.iter().all(|index| index.as_constant().is_some());
        let guards = match is_at_number {
            true => {
                let Some(item) = self.picked_item() else { return };
                if !self.is_sure_to_come_by(&item) {
                    return;
                }
                None
            }
            false if value.as_constant().is_some() && self.are_loops_of_block() => {
                Some(self.guards.clone())
            }
            false => return,
        };
        let floor = Floor { at: at.to_vec(), guards, least };
        self.floors.known.entry(tile).or_default().push(floor);
    }

    /// The last setting of a cell at a number.
    fn floor_of(&mut self, array: ArrayRef, at: &[Poly]) -> Option<Floor> {
        let ArrayRef::Tile(tile) = array else { return None };
        if !self.recording || self.is_in_point() {
            return None;
        }
        let known = self.floors.known.get(&tile)?.clone();
        known.into_iter().find(|floor| floor.at == at || self.is_set_by_own(floor, at))
    }

    /// Whether the work-item whose number a cell has was sure to set it.
    fn is_set_by_own(&mut self, floor: &Floor, at: &[Poly]) -> bool {
        let ([index], [at], Some(guards)) = (floor.at.as_slice(), at, &floor.guards) else {
            return false;
        };
        let Some([(_, axis)]) = self.block.as_deref() else { return false };
        let axis = *axis;
        let item = at.sub(&index.sub(&Poly::unknown(axis)));
        let of_item = |unknown: Unknown| (unknown == axis).then(|| item.clone());
        item.as_constant().is_some()
            && guards.iter().all(|guard| guard.replace(&of_item) == Formula::True)
            && self.is_there(&BTreeMap::from([(axis, item.clone())]))
    }

    /// Adds what is found in a cell at least.
    pub(in super::super) fn bound_by_floor(
        &mut self,
        array: ArrayRef,
        at: &[Poly],
        found: Unknown,
    ) {
        if let Some(floor) = self.floor_of(array, at) {
            self.symbols.set_least(found, floor.least);
        }
    }
}

/// The tiles of which statements may lower cells.
pub(in super::super) fn collect_lowered(
    kernel: &Kernel,
    stmts: &[Stmt],
    out: &mut BTreeSet<TileId>,
) {
    collect_lowered_by(kernel, stmts, true, out);
}

/// The same, by atomic updates, and where asked for by stores that are `plain`.
fn collect_lowered_by(kernel: &Kernel, stmts: &[Stmt], by_plain: bool, out: &mut BTreeSet<TileId>) {
    for stmt in stmts {
        let lowered = match &stmt.kind {
            StmtKind::Atomic { op: AtomicOp::Add, value, .. }
                if is_plainly_natural(kernel, *value) =>
            {
                None
            }
            StmtKind::Atomic { access, .. } => Some(access.array),
            StmtKind::Store { access, .. }
            | StmtKind::Update { place: Place::Element(access), .. } => {
                by_plain.then_some(access.array)
            }
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
            | StmtKind::Distinct { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => None,
        };
        if let Some(ArrayRef::Tile(tile)) = lowered {
            out.insert(tile);
        }
        let bodies = stmt.kind.bodies().into_iter();
        bodies.for_each(|body| collect_lowered_by(kernel, body, by_plain, out));
    }
}
