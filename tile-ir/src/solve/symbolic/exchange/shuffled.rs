//! Values that shuffles take from other lanes, where a lane's number decides them.
//!
//! `shuffle_xor(t, 31)` is the number of the work-item whose lane is `lane ^ 31`. What a
//! lane has is what the text says of its number, if all else in it the warp agrees on: so
//! the number is put in. A lane that is not there gives each one its own.

use std::collections::BTreeMap;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::walk::Walk;
use crate::exchange::{Shuffle, WARP_ITEMS};
use crate::op::BinaryOp;
use crate::span::SpanId;

impl Walk<'_> {
    /// Whether a value is one that an ended loop has left: it need not be of one iteration for
    /// all.
    pub(in super::super) fn is_left_by_loop(&self, of: Unknown) -> bool {
        let mut ended = (0..self.all_loops.len()).map(LoopId);
        ended.any(|id| !self.loops.contains(&id) && self.symbols.is_inside(of, id))
    }

    /// Notes that `result` is what another lane has as `operand`: which, a shuffle says of
    /// `by`. Gives what that is for who takes it, where the lane is sure to be there and more
    /// than its number is put in.
    pub(in super::super) fn note_shuffled(
        &mut self,
        (shuffle, result): (Shuffle, Unknown),
        (operand, by): (&Poly, &Poly),
        span: SpanId,
    ) -> Option<Poly> {
        let place = self.warp_place.clone()?;
        if operand.is_lost() || by.is_lost() || operand.as_constant().is_some() {
            return None;
        }
        let (own, _) = self.item_of_lane(&place.lane, &place.lane)?;
        let rest = place.lane.sub(&Poly::unknown(own));
        let is_told = |of: &Poly| {
            of.unknowns().all(|of| {
                of == own || self.is_agreed_by_warp(&Poly::unknown(of)) && !self.is_left_by_loop(of)
            })
        };
        if rest.mentions(own) || !is_told(&rest) {
            return None;
        }
        let is_plain = is_told(operand);
        self.note_bits(&place.lane, Some(i128::from(WARP_ITEMS) - 1));
        let lane = match shuffle {
            Shuffle::At => by.clone(),
            Shuffle::Down => place.lane.add(by),
            Shuffle::Up => place.lane.sub(by),
            Shuffle::Xor => self.exclusive_or(&place.lane, by, (span, BinaryOp::Xor)),
        };
        let number = lane.sub(&rest);
        let theirs = match is_plain {
            true => Some(operand.replace(&|unknown| (unknown == own).then(|| number.clone()))),
            false => {
                self.relayed_to_reader(operand, &BTreeMap::from([(own, number.clone())]), true)
            }
        };
        let theirs = theirs?;
        let result = Poly::unknown(result);
        let there = place.has(&lane).and(Formula::eq(&result, &theirs));
        let lacks = place.lacks(&lane);
        let is_sure = self.is_never(&lacks);
        let facts = match is_sure {
            true => Formula::eq(&result, &theirs),
            false => there.or(lacks.and(Formula::eq(&result, operand))),
        };
        result.unknowns().for_each(|result| self.symbols.add_facts(result, facts.clone()));
        (is_sure && !is_plain).then_some(theirs)
    }
}
