//! Slots that one work-item hands on to its block in an element of a tensor:
//! `if t == 0 { let s = atomic head[0] += 256; bases[b] = s; } barrier; … bases[b] + t`.
//!
//! It is as with a cell of a tile ([`super::super::tiles::cells`]), where the element lies
//! inside of the tensor: outside nothing is stored. Whoever else writes it, of the block or of
//! another one, races with those that read it, and that is asked of the tensor's own accesses.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{Obstacle, Sharing, Symbol};
use super::super::scans::prefix::single;
use super::super::terms::agreed_load::Key;
use super::super::terms::integers::range_of;
use super::super::walk::{Value, Walk};
use crate::kernel::{Access, ArrayRef, ExprId};

impl Walk<'_> {
    /// Notes that a work-item has stored a slot in an element of a tensor, for its block.
    pub(in super::super) fn note_slot_in_tensor(
        &mut self,
        access: &Access,
        at: &[Poly],
        value: &Value,
    ) {
        let (ArrayRef::Tensor(tensor), Value::Int(value)) = (access.array, value) else { return };
        let Some(slot) = single(value).and_then(|value| self.slots.get(&value)).cloned() else {
            return;
        };
        if !self.recording || self.is_in_point() {
            return;
        }
        let slot = match self.total_of_block(slot.step()) {
            Some(total) if slot.is_of_item() => slot.by(total),
            _ => slot,
        };
        let are_agreed = slot.polys().chain(at).all(|poly| self.is_agreed(poly));
        let Some(of_block) = slot.handed_on().filter(|_| are_agreed) else { return };
        let Some(item) = self.picked_item() else { return };
        let always_comes = self.block_misses(&item).is_some_and(|missed| missed.is_empty());
        if always_comes && self.is_inside_always(access.array, at) {
            let key = self.agreed_loads.key(tensor, at, &self.loops);
            self.agreed_loads.note_handed(key, of_block);
        }
    }

    /// Whether an element is one of its array.
    fn is_inside_always(&self, array: ArrayRef, at: &[Poly]) -> bool {
        let mut axes = self.kernel.extents(array).iter().zip(at);
        axes.all(|(extent, index)| {
            let Some(extent) = self.extents_of_arrays.get(extent) else { return false };
            let outside = Formula::lt(index, &Poly::default()).or(Formula::le(extent, index));
            self.is_never(&outside)
        })
    }

    /// The slot that a block finds in an element, the first time that it looks.
    pub(in super::super) fn found_slot(&mut self, expr: ExprId, key: &Key) -> Option<Value> {
        let slot = self.agreed_loads.handed_in(key)?.clone();
        let range = range_of(self.kernel.exprs[expr].ty)?;
        let value = Poly::unknown(self.symbols.next());
        let (least, most) = (Poly::constant(range.0), Poly::constant(range.1));
        let room = slot.room(&value, range);
        let unknown: Unknown = self.symbols.push(Symbol {
            sharing: Sharing::Block,
            loops: self.loops.clone(),
            low: Some(range.0),
            facts: Formula::le(&least, &value).and(Formula::le(&value, &most)),
            obstacle: Some((self.kernel.exprs[expr].span, Obstacle::Load)),
        });
        self.insert_handed(unknown, slot, room);
        Some(Value::Int(value))
    }
}
