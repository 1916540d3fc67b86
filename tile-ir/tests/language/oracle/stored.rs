//! What cells hold, where that is asked: who of the block changed them, when, to what.
//!
//! Work-items are run one after the other, so, as with what they exchange, a launch is run
//! again until all find what the others had stored the time before. A value is what was
//! stored before: in an earlier interval, before a barrier of the own warp, or by the
//! work-item itself. Cells of other than whole numbers are not kept.

use std::collections::BTreeMap;

use tile_ir::kernel::{ArrayRef, Type};
use tile_ir::op::{AtomicOp, BinaryOp};

use super::eval::{Value, binary};

/// A work-item at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) interval: u32,
    /// Its warp, and after how many of its barriers.
    pub(super) warp: (u64, u32),
    pub(super) worker: u64,
}

impl Moment {
    /// Whether what another did is before what this does.
    fn is_after(&self, other: &Self) -> bool {
        other.interval < self.interval
            || other.interval == self.interval
                && other.warp.0 == self.warp.0
                && other.warp.1 < self.warp.1
    }
}

/// What is done to a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    Is(Value),
    By(BinaryOp, Value, Type),
}

impl Change {
    /// What an atomic update does whose old value nobody asks for.
    pub(super) fn of_atomic(op: AtomicOp, value: Value, ty: Type) -> Self {
        let op = match op {
            AtomicOp::Add => BinaryOp::Add,
            AtomicOp::Sub => BinaryOp::Sub,
            AtomicOp::And => BinaryOp::And,
            AtomicOp::Or => BinaryOp::Or,
            AtomicOp::Xor => BinaryOp::Xor,
            AtomicOp::Min => BinaryOp::Min,
            AtomicOp::Max => BinaryOp::Max,
            AtomicOp::Swap | AtomicOp::CompareExchange => return Self::Is(Value::Float),
        };
        Self::By(op, value, ty)
    }
}

/// A cell of an array as a block sees it.
pub(super) type Cell = (usize, ArrayRef, Vec<i64>);

/// The changes of a launch, by cell, as they were made.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stored(BTreeMap<Cell, Vec<(Moment, Change)>>);

impl Stored {
    pub(super) fn note(&mut self, cell: Cell, moment: Moment, change: Change) {
        self.0.entry(cell).or_default().push((moment, change));
    }

    /// What a cell holds now, by what was done `before` by others and so far by oneself;
    /// `None` where nobody has stored anything.
    pub(super) fn value(&self, before: &Self, cell: &Cell, now: &Moment) -> Option<Value> {
        let of = |stored: &Self, is_own: bool| {
            let all = stored.0.get(cell).into_iter().flatten();
            let asked = all.filter(|(moment, _)| (moment.worker == now.worker) == is_own).copied();
            asked.collect::<Vec<_>>()
        };
        let mut changes = of(before, false);
        changes.retain(|(moment, _)| now.is_after(moment));
        changes.extend(of(self, true));
        // Those of one work-item stay in their order.
        changes.sort_by_key(|(moment, _)| (moment.interval, moment.warp.1, moment.worker));
        changes.into_iter().fold(None, |old, (_, change)| match change {
            Change::Is(value) => Some(value),
            Change::By(op, value, ty) => Some(binary(op, old.unwrap_or(Value::Float), value, ty)),
        })
    }
}
