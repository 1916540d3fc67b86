//! What cells hold, where that is asked: who changed them, when, to what.
//!
//! Work-items are run one after the other, so, as with what they exchange, a launch is run
//! again until all find what the others had stored the time before. Between two barriers
//! they take turns in an order that the launch says, and blocks one after the other: a
//! value is what was stored before. Cells of other than whole numbers are not kept.

use std::collections::BTreeMap;

use tile_ir::kernel::{ArrayRef, Type};
use tile_ir::op::{AtomicOp, BinaryOp};

use super::eval::{Value, binary};

/// A work-item at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) block: usize,
    pub(super) interval: u32,
    /// Its warp, and after how many of its barriers.
    pub(super) warp: (u64, u32),
    pub(super) worker: u64,
    /// When it has its turn, among those that nothing else orders.
    pub(super) turn: u64,
}

impl Moment {
    /// What is done in a row: the smaller first.
    fn order(&self) -> (usize, u32, u32, u64) {
        (self.block, self.interval, self.warp.1, self.turn)
    }

    fn is_of_same_worker(&self, other: &Self) -> bool {
        (self.block, self.worker) == (other.block, other.worker)
    }
}

/// What is done to a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    Is(Value),
    By(BinaryOp, Value, Type),
    /// Where it holds the first, it is the second.
    From(Value, Value),
}

impl Change {
    /// What an atomic update does.
    pub(super) fn of_atomic(op: AtomicOp, expected: Option<Value>, value: Value, ty: Type) -> Self {
        let op = match op {
            AtomicOp::Add => BinaryOp::Add,
            AtomicOp::Sub => BinaryOp::Sub,
            AtomicOp::And => BinaryOp::And,
            AtomicOp::Or => BinaryOp::Or,
            AtomicOp::Xor => BinaryOp::Xor,
            AtomicOp::Min => BinaryOp::Min,
            AtomicOp::Max => BinaryOp::Max,
            AtomicOp::Swap => return Self::Is(value),
            AtomicOp::CompareExchange => {
                return Self::From(expected.unwrap_or(Value::Float), value);
            }
        };
        Self::By(op, value, ty)
    }

    fn make(self, old: Value) -> Value {
        match self {
            Self::Is(value) => value,
            Self::By(op, value, ty) => binary(op, old, value, ty),
            Self::From(expected, value) => {
                if old == expected {
                    value
                } else {
                    old
                }
            }
        }
    }
}

/// A cell: of a tile, each block has its own.
pub(super) type Cell = (Option<usize>, ArrayRef, Vec<i64>);

/// The changes of a launch, by cell, as they were made.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stored(BTreeMap<Cell, Vec<(Moment, Change)>>);

impl Stored {
    pub(super) fn note(&mut self, cell: Cell, moment: Moment, change: Change) {
        self.0.entry(cell).or_default().push((moment, change));
    }

    /// What a cell that held `first` holds now, by what was done `before` by others and so
    /// far by oneself.
    pub(super) fn value(&self, before: &Self, cell: &Cell, now: &Moment, first: Value) -> Value {
        let of = |stored: &Self, is_own: bool| {
            let all = stored.0.get(cell).into_iter().flatten();
            let asked = all.filter(|(moment, _)| moment.is_of_same_worker(now) == is_own).copied();
            asked.collect::<Vec<_>>()
        };
        let mut changes = of(before, false);
        changes.retain(|(moment, _)| moment.order() < now.order());
        changes.extend(of(self, true));
        // Those of one work-item stay in their order.
        changes.sort_by_key(|(moment, _)| moment.order());
        changes.into_iter().fold(first, |old, (_, change)| change.make(old))
    }
}
