//! What arrays hold whose values are followed ([`super::super::plan`]).
//!
//! Where it is asked what collides, only what is known is kept: of what loaded data decides,
//! about the value or whether it is stored, any data may be found. A store to a place that is
//! unknown may be to any cell. Loops and conditions that data decides leave nothing known of
//! the arrays that are stored to inside, and so it is before each iteration that stands for any.
//!
//! A run that counts is one of those that there may be: work-items make their updates one after
//! the other, block by block, and arrays hold 0 before. So all of what they hold is known.

use std::collections::{BTreeMap, BTreeSet};

use super::super::hash::Map;
use super::super::plan::Body;
use super::super::value::{Indices, Value};
use super::worker::taint;
use super::{Frame, Machine, Stop};
use crate::kernel::{Access, ArrayRef, Source, Type};
use crate::op::BinaryOp;

/// The values that a block has stored.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// By array: by element.
    values: BTreeMap<usize, Map<u128, Value>>,
    /// By array, the data that says where something was stored: any element may be it. Of
    /// that it is asked where nothing collides.
    anywhere: BTreeMap<usize, Source>,
}

impl Machine<'_> {
    /// What an element of a followed array holds; `None` where that is not known.
    pub(in super::super) fn held(&self, access: &Access, indices: &Indices) -> Option<Value> {
        let slot = self.slot(access.array);
        let flat = self.flat(access.array, indices)?;
        let held = self.memory.values.get(&slot).and_then(|cells| cells.get(&flat)).copied();
        let value = held.or_else(|| self.counting.map(|_| Value::default()))?;
        let data = indices.data();
        if !self.keeps_all() {
            return (data.is_none() && value.unknown().is_some()).then_some(value);
        }
        let value = value.tainted(self.memory.anywhere.get(&slot).copied());
        Some(match indices.iter().any(|index| index.is_free()) {
            true => value.tainted(data),
            false => value.chosen(data),
        })
    }

    /// The old value of an update of a followed array: of a tensor's outside, its pad.
    pub(super) fn counted(
        &mut self,
        access: &Access,
        frame: &Frame,
    ) -> Result<Option<Value>, Stop> {
        let indices = self.indices(frame, &access.indices)?;
        let is_known = indices.iter().all(|index| index.is_known());
        if let ArrayRef::Tensor(tensor) = access.array
            && is_known
            && self.flat(access.array, &indices).is_none()
        {
            let dtype = self.types.of_type(Type::Scalar(self.kernel.element_type(access.array)));
            let (pad, is_literal) = self.pad(tensor, dtype);
            return Ok(is_literal.then_some(pad));
        }
        Ok(self.held(access, &indices))
    }

    /// Another block begins: it has tiles of its own.
    pub(super) fn renew_memory(&mut self) {
        let tensors = self.kernel.tensors.len();
        let counts = self.counting.is_some();
        self.memory.values.retain(|slot, _| counts && *slot < tensors);
        self.memory.anywhere.clear();
    }

    /// Whether a run is one of what is made up, of which all is kept.
    fn keeps_all(&self) -> bool {
        self.only_fills || self.counting.is_some()
    }

    /// Stores to an element of a followed array, or changes it by an operator.
    pub(super) fn hold(
        &mut self,
        access: &Access,
        indices: &Indices,
        (op, value): (Option<BinaryOp>, Value),
    ) {
        let slot = self.slot(access.array);
        let data = indices.data();
        if self.keeps_all() {
            if let Some(data) =
                indices.iter().filter(|index| index.is_free()).find_map(|at| at.data())
            {
                self.memory.anywhere.entry(slot).or_insert(data);
            }
        } else if data.is_some() {
            self.memory.values.remove(&slot);
            return;
        }
        let Some(flat) = self.flat(access.array, indices) else { return };
        let ty = Type::Scalar(self.kernel.element_type(access.array));
        let cells = self.memory.values.entry(slot).or_default();
        let before = cells.get(&flat).copied();
        if !self.keeps_all() && op.is_some() && before.is_none() {
            // It was not known, and is not now.
            return;
        }
        let before = before.unwrap_or_default();
        let value = op.map_or(value, |op| self.binary(op, ty, before, value));
        self.memory.values.entry(slot).or_default().insert(flat, value.chosen(data));
    }

    /// Data has decided whether statements are run, or how often: what they may have changed
    /// may be what it was, or not.
    pub(super) fn leave(&mut self, frame: &mut Frame, body: &Body<'_>, data: Option<Source>) {
        taint(frame, &body.assigned, data);
        if data.is_some() {
            self.forget(&body.stored);
        }
    }

    /// From here on these arrays may hold anything.
    pub(super) fn forget(&mut self, stored: &BTreeSet<ArrayRef>) {
        if self.keeps_all() {
            return;
        }
        for array in stored {
            self.memory.values.remove(&self.slot(*array));
        }
    }
}
