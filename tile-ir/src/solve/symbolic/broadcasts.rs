//! Values that one lane hands on to its warp.
//!
//! `shuffle(v, lane)` with one lane for the whole warp gives all of its work-items that
//! lane's value, if the lane is there; else each keeps its own. If that value is a slot of
//! a counter ([`super::slot`]), the warp has the slot: it is none of another warp's.

use super::formula::Formula;
use super::poly::{Poly, Unknown};
use super::slot::Slot;
use super::walk::Walk;
use super::warps::Place;
use crate::kernel::Type;

/// Most slots of which it is asked whether the lane has it: the latest.
const MAX_SLOTS: usize = 4;

impl Walk<'_> {
    /// Notes that `symbol` is what `lane` of the warp has as `operand`.
    pub(super) fn note_broadcast(
        &mut self,
        symbol: Unknown,
        operand: &Poly,
        lane: &Poly,
        ty: Type,
    ) {
        let Some(place) = self.warp_place.clone() else { return };
        if operand.is_lost() || !self.is_agreed_by_warp(lane) {
            return;
        }
        let result = Poly::unknown(symbol);
        let lacks = place.lacks(lane);
        let unless = if self.is_never(&lacks) { Formula::False } else { lacks };
        self.note_common(symbol, unless.clone());
        let Some(slot) = self.slot_of_lane(operand, lane, &place) else {
            // What the warp agrees on already is what each one gets.
            if self.is_agreed_by_warp(operand) {
                self.symbols.add_facts(symbol, Formula::eq(&result, operand));
            }
            return;
        };
        let room = super::integers::range_of(ty).map(|range| slot.room(&result, range));
        if let Some(room) = room {
            self.symbols.add_facts(symbol, room.or(unless.clone()));
        }
        if let Some(slot) = slot.of_warp(unless) {
            self.slots.insert(symbol, slot);
        }
    }

    /// The slot that `operand` is in this lane, if the warp agrees on what it is of.
    fn slot_of_lane(&self, operand: &Poly, lane: &Poly, place: &Place) -> Option<Slot> {
        let here = Formula::eq(lane, &place.lane).and(place.has(lane));
        let latest = self.slots.iter().rev().filter(|(_, slot)| slot.is_taken_in(&self.loops));
        let mut latest = latest.take(MAX_SLOTS);
        let is_it = |old: Unknown| {
            let old = Poly::unknown(old);
            *operand == old || self.is_never(&here.clone().and(Formula::ne(operand, &old)))
        };
        let (_, slot) = latest.find(|(old, _)| is_it(**old))?;
        slot.polys().all(|poly| self.is_agreed_by_warp(poly)).then(|| slot.clone())
    }
}
