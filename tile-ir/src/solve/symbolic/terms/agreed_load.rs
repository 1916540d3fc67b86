//! Elements of tensors that the kernel writes, read where a whole block reads the same one.
//!
//! `let at = offset[0]; … barrier; if t == 0 { offset[0] = at + 256; }`: all work-items of a
//! block find one number in `offset[0]`, since nobody writes it between the first and the last
//! of these reads. Whoever did would race with them, within the block or between blocks, and
//! that is asked of the tensor's own accesses: of the first access that races nothing was
//! decided by what a race has left. It is the same with tiles ([`super::super::tiles::cells`]).
//!
//! What a work-item reads alone is noted too: it finds the same as long as the text writes
//! nothing in between ([`super::congruent`]).
//!
//! What a block finds is its own, and of one iteration of the loops around: another block, or
//! a later iteration, may find another number.

use std::collections::BTreeMap;

use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Obstacle};
use super::super::scans::prefix::single;
use super::super::slots::slot::Slot;
use super::super::walk::{Value, Walk};
use super::integers::range_of;
use crate::kernel::{Access, ArrayRef, ExprId, TensorId};

/// A tensor after so many writes in the text, its element, and the loops around.
pub(in super::super) type Key = (TensorId, usize, Vec<Poly>, Vec<LoopId>);

/// What blocks have found in elements of tensors.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct AgreedLoads {
    /// How many places in the text that write each tensor come before.
    writes: BTreeMap<TensorId, usize>,
    found: BTreeMap<Key, Value>,
    /// The slots that single work-items have stored for their blocks.
    handed: BTreeMap<Key, Slot>,
    /// By symbol, the element of which it is the value, of those that each work-item reads too.
    places: BTreeMap<Unknown, Key>,
}

impl AgreedLoads {
    /// Where a value was found.
    pub(in super::super) fn place_of(&self, symbol: Unknown) -> Option<&Key> {
        self.places.get(&symbol)
    }

    /// An element as it is here.
    pub(in super::super) fn key(&self, tensor: TensorId, at: &[Poly], loops: &[LoopId]) -> Key {
        let writes = self.writes.get(&tensor).copied().unwrap_or_default();
        (tensor, writes, at.to_vec(), loops.to_vec())
    }

    /// Notes that a block has a slot in an element.
    pub(in super::super) fn note_handed(&mut self, key: Key, slot: Slot) {
        self.handed.insert(key, slot);
    }

    /// The slot that a block has in an element.
    pub(in super::super) fn handed_in(&self, key: &Key) -> Option<&Slot> {
        self.handed.get(key)
    }

    /// From here on elements of a tensor may be others.
    pub(in super::super) fn note_write(&mut self, array: ArrayRef) {
        if let ArrayRef::Tensor(tensor) = array {
            *self.writes.entry(tensor).or_default() += 1;
        }
    }
}

impl Walk<'_> {
    /// The integer that all work-items of a block find in an element that the kernel writes;
    /// `None` where they may read different ones.
    pub(in super::super) fn agreed_load(
        &mut self,
        expr: ExprId,
        access: &Access,
        at: &[Poly],
    ) -> Option<Value> {
        let ArrayRef::Tensor(tensor) = access.array else { return None };
        let ty = self.kernel.exprs[expr].ty;
        range_of(ty)?;
        if self.is_in_point() || !self.is_written(access.array) || at.iter().any(Poly::is_lost) {
            return None;
        }
        let key = self.agreed_loads.key(tensor, at, &self.loops);
        if !at.iter().all(|index| self.is_agreed(index)) {
            let value = self.opaque(expr, ty);
            self.note_own_read(&value, key);
            return Some(value);
        }
        if let Some(known) = self.agreed_loads.found.get(&key) {
            let known = known.clone();
            if let Value::Int(value) = &known {
                value.unknowns().for_each(|found| self.note_made(found));
            }
            return Some(known);
        }
        let obstacle = (self.kernel.exprs[expr].span, Obstacle::Load);
        let slot = self.found_slot(expr, &key);
        let value = slot.unwrap_or_else(|| self.any_of_type(ty, true, obstacle));
        self.agreed_loads.found.insert(key.clone(), value.clone());
        self.note_own_read(&value, key);
        Some(value)
    }

    /// Notes that a value is what a work-item has found in an element.
    fn note_own_read(&mut self, value: &Value, key: Key) {
        if let Value::Int(value) = value
            && let Some(symbol) = single(value)
            && self.recording
        {
            self.agreed_loads.places.insert(symbol, key);
        }
    }
}
