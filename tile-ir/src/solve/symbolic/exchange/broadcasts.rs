//! Values that one lane hands on to its warp.
//!
//! `shuffle(v, lane)` with one lane for the whole warp gives all of its work-items that lane's
//! value, if the lane is there; else each keeps its own. If that value is a slot of a counter
//! ([`super::super::slots::slot`]), the warp has the slot: it is none of another warp's. If it
//! is what the last lane has from a scan of the warp, the warp has the sum over all of it. A
//! lane may be masked, as `first & 31` of a ballot that may have no bit: then the warp has the
//! slot where the mask leaves the lane as it is.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::Sharing;
use super::super::scans::Sum;
use super::super::scans::prefix::single;
use super::super::slots::slot::Slot;
use super::super::terms::value::Function;
use super::super::walk::Walk;
use super::warps::Place;
use crate::exchange::WARP_ITEMS;
use crate::kernel::Type;

/// Most slots of which it is asked whether the lane has it: the latest.
const MAX_SLOTS: usize = 4;

impl Walk<'_> {
    /// Notes that `symbol` is what `lane` of the warp has as `operand`.
    pub(in super::super) fn note_broadcast(
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
        if unless == Formula::False
            && let Some(total) = self.sum_up_to_in_warp(operand)
            && self.is_last_adding(lane, &total)
        {
            self.add_sum(symbol, total);
            return;
        }
        let Some((slot, missed)) = self.slot_of_lane(operand, lane, &place) else {
            // What the warp agrees on already is what each one gets.
            if self.is_agreed_by_warp(operand) {
                self.symbols.add_facts(symbol, Formula::eq(&result, operand));
            } else if let Some(theirs) = self.relayed_to_warp(operand, lane, &place) {
                let there = place.has(lane).and(Formula::eq(&result, &theirs));
                let alone = unless.and(Formula::eq(&result, operand));
                self.symbols.add_facts(symbol, there.or(alone));
            }
            return;
        };
        let unless = unless.or(missed);
        let room =
            super::super::terms::integers::range_of(ty).map(|range| slot.room(&result, range));
        let room = room.map_or(Formula::True, |room| room.or(unless.clone()));
        let unmade = self.unmade_by_lane(&slot, lane, &place);
        if let Some(slot) = slot.of_warp(unless, unmade) {
            self.insert_handed(symbol, slot, room);
        }
    }

    /// The sum over the warp, as all of it know it, where only the last lane that adds
    /// something is here, and has it as a value of its own.
    pub(in super::super) fn total_of_warp(&mut self, value: &Poly) -> Option<Poly> {
        let place = self.warp_place.clone()?;
        let sum = self.sum_up_to_in_warp(value)?;
        let lane = self.picked_lane(&place.lane)?;
        if !self.is_last_adding(&lane, &sum) {
            return None;
        }
        let total = self.symbol(Sharing::Private, Some(0), None);
        self.note_common_in(total, self.loops.clone());
        self.add_sum(total, sum);
        Some(Poly::unknown(total))
    }

    /// Whether no lane behind this one adds to a sum.
    fn is_last_adding(&self, lane: &Poly, sum: &Sum) -> bool {
        lane.as_constant() == Some(i128::from(WARP_ITEMS) - 1) || self.is_highest_of(lane, sum.of())
    }

    /// The slot that `operand` is in this lane, if the warp agrees on what it is of; and where
    /// it is not, as all of the warp know it.
    fn slot_of_lane(&self, operand: &Poly, lane: &Poly, place: &Place) -> Option<(Slot, Formula)> {
        let latest = self.slots.iter().rev().filter(|(_, slot)| slot.is_taken_in(&self.loops));
        let mut latest = latest.take(MAX_SLOTS);
        let missed = |old: Unknown| {
            let old = Poly::unknown(old);
            let missed = self.lacks_slot(operand, &old, (lane, place));
            missed.or_else(|| self.lacks_slot_unmasked(operand, &old, (lane, place)))
        };
        let (slot, missed) = latest.find_map(|(old, slot)| Some((slot, missed(*old)?)))?;
        slot.polys().all(|poly| self.is_agreed_by_warp(poly)).then(|| (slot.clone(), missed))
    }

    /// Where a value is not `old` in this lane, as all of the warp know it.
    fn lacks_slot(&self, value: &Poly, old: &Poly, at: (&Poly, &Place)) -> Option<Formula> {
        let (lane, place) = at;
        let here = Formula::eq(lane, &place.lane).and(place.has(lane));
        if value == old || self.is_never(&here.and(Formula::ne(value, old))) {
            return Some(Formula::False);
        }
        // Who has asked for nothing has none: of a choice, the other case.
        let (cond, then, otherwise) = self.choices.get(&single(value)?)?;
        let (missed, value) = match (then.mentions(single(old)?), *otherwise == Poly::default()) {
            (_, true) => (&cond.no, then),
            (false, false) if *then == Poly::default() => (&cond.yes, otherwise),
            _ => return None,
        };
        let missed = self.as_of_lane(missed, at)?;
        Some(missed.or(self.lacks_slot(value, old, at)?))
    }

    /// The same of a lane whose number has been masked, as `first & 31` is of the first lane that
    /// has a flag: where it is another one than before, or lacks it.
    fn lacks_slot_unmasked(
        &self,
        value: &Poly,
        old: &Poly,
        (lane, place): (&Poly, &Place),
    ) -> Option<Formula> {
        let exact = self.before_masking(lane).filter(|exact| self.is_agreed_by_warp(exact))?;
        let missed = self.lacks_slot(value, old, (&exact, place))?;
        Some(missed.or(Formula::ne(lane, &exact)))
    }

    /// Of what is left by a division by the size of a warp, what has been divided.
    fn before_masking(&self, lane: &Poly) -> Option<Poly> {
        let size = i128::from(WARP_ITEMS);
        lane.terms().iter().find_map(|(product, factor)| {
            let [turns] = product.as_slice() else { return None };
            let (function, exact, by) = self.function_of(*turns)?;
            let is_rest = *function == Function::Quotient
                && by.as_constant() == Some(size)
                && *factor == -size
                && *lane == exact.sub(&Poly::unknown(*turns).scaled(size));
            is_rest.then(|| exact.clone())
        })
    }

    /// Where a lane has not made the update of a slot, as all of the warp know it.
    pub(in super::super) fn unmade_by_lane(
        &self,
        slot: &Slot,
        lane: &Poly,
        place: &Place,
    ) -> Vec<Formula> {
        let unmade = slot.unmade().iter();
        let unmade: Option<Vec<Formula>> =
            unmade.map(|unmade| self.as_of_lane(unmade, (lane, place))).collect();
        unmade.unwrap_or_else(|| vec![Formula::Unknown])
    }

    /// A condition as it is for a lane, if all of the warp know it.
    fn as_of_lane(&self, condition: &Formula, (lane, place): (&Poly, &Place)) -> Option<Formula> {
        let (own, number) = self.item_of_lane(&place.lane, lane)?;
        let condition = condition.replace(&|unknown| (unknown == own).then(|| number.clone()));
        let mut unknowns = Vec::new();
        condition.collect_unknowns(&mut unknowns);
        let is_known = condition.is_exact()
            && unknowns.into_iter().all(|of| self.is_agreed_by_warp(&Poly::unknown(of)));
        is_known.then_some(condition)
    }
}
