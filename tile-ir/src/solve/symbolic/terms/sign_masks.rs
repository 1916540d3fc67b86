//! Masks of all bits or none: `x >> 31`, which is -1 where `x` is below 0, and else 0.
//!
//! With such a mask, `x ^ m` is `!x` where all of its bits are set, and else `x`; `x & m` is `x` or
//! 0, and `x | m` is -1 or `x`. So each is a choice by the sign of what was shifted, of which the
//! proofs can ask: `x ^ (x >> 31)` is below 0 for no `x`, the least one included, for a complement
//! does not wrap.
//!
//! # What it rests on
//!
//! - A shift to the right is a division by a power of two, rounded down. Where what is shifted lies
//!   from `-n` up to `n`, `n` excluded, that by `n` is -1 just where it is below 0, and else 0. Of
//!   `x >> 30` it is not so.
//! - In two's complement `!x` is `-1 - x`. Values are numbers here: one of an unsigned type is never
//!   -1, so that the masks are of types with a sign.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::walk::{Value, Walk};
use super::value::Function;
use crate::op::BinaryOp;

impl Walk<'_> {
    /// The bits of a value as a mask leaves or turns them.
    pub(in super::super) fn masked_by_sign(
        &mut self,
        op: BinaryOp,
        lhs: &Poly,
        rhs: &Poly,
    ) -> Option<Value> {
        if !matches!(op, BinaryOp::Xor | BinaryOp::And | BinaryOp::Or)
            || [lhs, rhs].iter().any(|side| side.is_lost() || side.as_constant().is_some())
        {
            return None;
        }
        let (mask, value) = match (self.mask(rhs), self.mask(lhs)) {
            (Some(mask), _) => (mask, lhs),
            (None, Some(mask)) => (mask, rhs),
            (None, None) => return None,
        };
        let (set, clear) = match op {
            BinaryOp::Xor => (value.negated().plus(-1), value.clone()),
            BinaryOp::And => (value.clone(), Poly::default()),
            BinaryOp::Or => (Poly::constant(-1), value.clone()),
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::Pow
            | BinaryOp::Atan2
            | BinaryOp::Hypot
            | BinaryOp::Copysign => return None,
        };
        self.either(&mask, Value::Int(set), Value::Int(clear), false)
    }

    /// Where all bits of a value are set, if elsewhere none is.
    fn mask(&self, value: &Poly) -> Option<Cond> {
        let constant = value.constant_term();
        let rest = value.plus(-constant);
        let [(product, factor)] = rest.terms() else { return None };
        let [unknown] = product.as_slice() else { return None };
        let (cond, then, otherwise) = self.sign_of(*unknown).or_else(|| self.flag_of(*unknown))?;
        let [then, otherwise] = [then, otherwise]
            .map(|of| factor.checked_mul(of).and_then(|part| part.checked_add(constant)));
        match (then?, otherwise?) {
            (-1, 0) => Some(cond),
            (0, -1) => Some(cond.negated()),
            _ => None,
        }
    }

    /// Of a quotient, rounded down, that is -1 or 0: where it is which.
    fn sign_of(&self, unknown: Unknown) -> Option<(Cond, i128, i128)> {
        let (Function::Floor, of, by) = self.function_of(unknown)? else { return None };
        by.as_constant().filter(|by| *by > 0)?;
        let beyond = Formula::le(by, of).or(Formula::lt(of, &by.negated()));
        if !self.is_never(&beyond) {
            return None;
        }
        let zero = Poly::default();
        let cond = Cond { yes: Formula::lt(of, &zero), no: Formula::le(&zero, of) };
        Some((cond, -1, 0))
    }

    /// Of a choice between two numbers: where it is which.
    fn flag_of(&self, unknown: Unknown) -> Option<(Cond, i128, i128)> {
        let (cond, then, otherwise) = self.choices.get(&unknown)?;
        Some((cond.clone(), then.as_constant()?, otherwise.as_constant()?))
    }
}
