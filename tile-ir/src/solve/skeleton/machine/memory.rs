//! What tiles hold whose values are followed ([`super::super::plan`]).

use std::collections::{BTreeMap, HashMap};

use super::super::eval::{Indices, Value};
use super::Machine;
use crate::kernel::{Access, Source, Type};
use crate::op::BinaryOp;

/// The values that a block has stored.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// By array and element.
    values: HashMap<(usize, u128), Value>,
    /// By array, the data that says where something was stored: any element may be it.
    anywhere: BTreeMap<usize, Source>,
}

impl Machine<'_> {
    /// What an element of a followed tile holds; `None` where nothing was stored.
    pub(in super::super) fn held(&self, access: &Access, indices: &Indices) -> Option<Value> {
        let slot = self.slot(access.array);
        let value = *self.memory.values.get(&(slot, self.flat(access.array, indices)?))?;
        let data = indices.iter().find_map(|index| index.data);
        let value = value.tainted(self.memory.anywhere.get(&slot).copied());
        Some(match indices.iter().any(|index| index.is_free) {
            true => value.tainted(data),
            false => value.chosen(data),
        })
    }

    /// Stores to an element of a followed tile, or changes it by an operator.
    pub(super) fn hold(
        &mut self,
        access: &Access,
        indices: &Indices,
        (op, value): (Option<BinaryOp>, Value),
    ) {
        let slot = self.slot(access.array);
        if let Some(data) = indices.iter().filter(|index| index.is_free).find_map(|at| at.data) {
            self.memory.anywhere.entry(slot).or_insert(data);
        }
        let Some(flat) = self.flat(access.array, indices) else { return };
        let ty = Type::Scalar(self.kernel.element_type(access.array));
        let before = self.memory.values.get(&(slot, flat)).copied().unwrap_or_default();
        let value = op.map_or(value, |op| self.binary(op, ty, before, value));
        let data = indices.iter().find_map(|index| index.data);
        self.memory.values.insert((slot, flat), value.chosen(data));
    }
}
