//! Cells of tiles that all work-items of a block read alike.
//!
//! A cell at an index that is the same for the whole block has one value from one
//! write of its tile in the text to the next: its reads are in the same iterations,
//! and what a read could race with is reported on its own. If the tile is written
//! in one place alone, by one work-item that `if tx == 0` picks, and what it writes
//! is a slot of a counter ([`super::slot`]), then the block has that slot.

use std::collections::{BTreeMap, BTreeSet};

use super::formula::Formula;
use super::poly::{Poly, Unknown};
use super::slot::Slot;
use super::symbol::{LoopId, Obstacle, Sharing, Symbol};
use super::walk::{Value, Walk};
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, Literal, Place, Stmt, StmtKind, TileId,
};
use crate::op::{AtomicOp, BinaryOp};

/// A cell between two writes of its tile.
type Key = (TileId, usize, Vec<Poly>, Vec<LoopId>);

/// What is known of the cells of tiles.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    /// Writes in the text, so far.
    writes: BTreeMap<TileId, usize>,
    values: BTreeMap<Key, Unknown>,
    /// The slots that single work-items have written.
    handed: BTreeMap<Key, Slot>,
    /// The tiles that are written in one place alone.
    written_once: BTreeSet<TileId>,
    /// The tiles of which no element is ever negative.
    natural: BTreeSet<TileId>,
}

impl Cells {
    /// Those of `kernel`, of which nothing has been read yet.
    pub(super) fn of(kernel: &Kernel) -> Self {
        let mut writes = BTreeMap::new();
        collect_writes(kernel, &kernel.body, &mut writes);
        let shared = writes.into_iter().filter(|(tile, _)| !kernel.is_local(ArrayRef::Tile(*tile)));
        let mut cells = Self::default();
        for (tile, writes) in shared {
            if writes.len() == 1 {
                cells.written_once.insert(tile);
            }
            if writes.into_iter().all(|natural| natural) {
                cells.natural.insert(tile);
            }
        }
        cells
    }

    /// A write of an array in the text.
    pub(super) fn note_write(&mut self, array: ArrayRef) {
        if let ArrayRef::Tile(tile) = array {
            *self.writes.entry(tile).or_default() += 1;
        }
    }

    fn key(&self, tile: TileId, at: &[Poly], loops: &[LoopId]) -> Key {
        let writes = self.writes.get(&tile).copied().unwrap_or_default();
        (tile, writes, at.to_vec(), loops.to_vec())
    }
}

/// Of each place that writes a tile, whether it keeps natural what is natural.
fn collect_writes(kernel: &Kernel, stmts: &[Stmt], out: &mut BTreeMap<TileId, Vec<bool>>) {
    let is_natural = |value: ExprId| matches!(kernel.exprs[value].kind, ExprKind::Literal(Literal::Int(value)) if value >= 0);
    for stmt in stmts {
        let found = match &stmt.kind {
            StmtKind::Store { access, value } => Some((access, is_natural(*value))),
            StmtKind::Update { place: Place::Element(access), op, value } => {
                Some((access, *op == BinaryOp::Add && is_natural(*value)))
            }
            StmtKind::Atomic { access, op, value, .. } => {
                Some((access, *op == AtomicOp::Add && is_natural(*value)))
            }
            StmtKind::Let { .. }
            | StmtKind::LetArray { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Update { place: Place::Var(_), .. }
            | StmtKind::Exchange { .. }
            | StmtKind::Each { .. }
            | StmtKind::Phase { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => None,
        };
        if let Some((Access { array: ArrayRef::Tile(tile), .. }, natural)) = found {
            out.entry(*tile).or_default().push(natural);
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect_writes(kernel, body, out));
    }
}

impl Walk<'_> {
    /// The value of a tile's cell at an index of the block.
    pub(super) fn cell(&mut self, expr: ExprId, access: &Access, at: &[Poly]) -> Option<Value> {
        let ArrayRef::Tile(tile) = access.array else { return None };
        let is_own = |index: &Poly| index.is_lost() || self.is_of_one_item(index);
        if self.kernel.is_local(access.array) || at.iter().any(is_own) || self.is_in_point() {
            return None;
        }
        let (min, max) = super::integers::range_of(self.kernel.exprs[expr].ty)?;
        let key = self.cells.key(tile, at, &self.loops);
        if let Some(known) = self.cells.values.get(&key) {
            return Some(Value::Int(Poly::unknown(*known)));
        }
        let least = if self.cells.natural.contains(&tile) { min.max(0) } else { min };
        let value = Poly::unknown(self.symbols.next());
        let range = Formula::le(&Poly::constant(least), &value)
            .and(Formula::le(&value, &Poly::constant(max)));
        let slot = self.cells.handed.get(&key).cloned();
        let room = slot.as_ref().map_or(Formula::True, |slot| slot.room(&value, (min, max)));
        let unknown = self.symbols.push(Symbol {
            sharing: Sharing::Block,
            loops: self.loops.clone(),
            low: Some(least),
            facts: range.and(room),
            obstacle: Some((self.kernel.exprs[expr].span, Obstacle::Load)),
        });
        self.cells.values.insert(key, unknown);
        if let Some(slot) = slot {
            self.slots.insert(unknown, slot);
        }
        Some(Value::Int(value))
    }

    /// Notes what has been stored in a tile's cell.
    pub(super) fn note_stored(&mut self, access: &Access, at: &[Poly], value: &Value) {
        let (ArrayRef::Tile(tile), Value::Int(value)) = (access.array, value) else { return };
        let [(product, 1)] = value.terms() else { return };
        let [unknown] = product.as_slice() else { return };
        let Some(slot) = self.slots.get(unknown) else { return };
        let of_block = slot.handed_on().filter(|slot| {
            slot.polys().chain(at).all(|poly| !poly.is_lost() && !self.is_of_one_item(poly))
        });
        if let Some(slot) = of_block
            && self.cells.written_once.contains(&tile)
            && self.is_one_item_picked()
        {
            self.cells.handed.insert(self.cells.key(tile, at, &self.loops), slot);
        }
    }

    /// Whether the conditions around leave one work-item of a block.
    fn is_one_item_picked(&self) -> bool {
        let mut fixed = Vec::new();
        self.guards.iter().for_each(|guard| guard.collect_zeros(&mut fixed));
        self.block.as_ref().is_some_and(|axes| {
            axes.iter().all(|(_, axis)| {
                fixed.iter().any(|zero| {
                    let own = Poly::unknown(*axis);
                    [zero.sub(&own), zero.add(&own)]
                        .iter()
                        .any(|rest| !rest.is_lost() && !self.is_of_one_item(rest))
                })
            })
        })
    }

    /// Whether a value may differ between the work-items of a block.
    fn is_of_one_item(&self, value: &Poly) -> bool {
        value.unknowns().any(|unknown| self.is_private(unknown))
    }
}
