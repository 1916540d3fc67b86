//! The last bit of what is joined bit by bit.
//!
//! `(row ^ column) & 1` is the parity of `row + column`, and `(row | column) & 1` is 0 where
//! both are even: there is no carry into the last bit.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::scans::prefix::single;
use super::super::walk::Walk;
use super::value::Function;
use crate::op::BinaryOp;
use crate::span::SpanId;

impl Walk<'_> {
    /// The last bit of a `^` or a `|` of naturals.
    pub(super) fn last_bit(&mut self, value: &Poly, at: (SpanId, BinaryOp)) -> Option<Poly> {
        let (function, lhs, rhs) = self.function_of(single(value)?)?.clone();
        if !self.is_natural(&lhs) || !self.is_natural(&rhs) {
            return None;
        }
        match function {
            Function::ExclusiveOr => {
                let sum = self.summed(&lhs).add(&self.summed(&rhs));
                self.remainder(&sum, &Poly::constant(2), at)
            }
            Function::Or => {
                let one = Poly::constant(1);
                let [lhs, rhs] = [lhs, rhs].map(|side| self.bit_and(&side, &one, at));
                let (lhs, rhs) = (lhs?, rhs?);
                Some(self.function(Function::Or, &lhs, &rhs, Some(0), at, |bit| {
                    let has_each = Formula::le(&lhs, bit).and(Formula::le(&rhs, bit));
                    has_each.and(Formula::le(bit, &lhs.add(&rhs))).and(Formula::le(bit, &one))
                }))
            }
            Function::Quotient
            | Function::Floor
            | Function::Remainder
            | Function::And
            | Function::Power
            | Function::Tiles
            | Function::Min
            | Function::Max
            | Function::UnsignedTurns
            | Function::SignedTurns
            | Function::Narrowed => None,
        }
    }

    /// A number of the same parity: of a `^` of naturals the sum of what it is made of.
    fn summed(&self, value: &Poly) -> Poly {
        let of = single(value).and_then(|unknown| self.function_of(unknown));
        match of {
            Some((Function::ExclusiveOr, lhs, rhs))
                if self.is_natural(lhs) && self.is_natural(rhs) =>
            {
                self.summed(lhs).add(&self.summed(rhs))
            }
            _ => value.clone(),
        }
    }
}
