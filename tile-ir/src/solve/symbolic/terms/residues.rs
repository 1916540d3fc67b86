//! Where loops by steps begin, but for multiples of the step.
//!
//! `for c in (max(t, ((t + k + 3) % 4) - k + 1)..n).step_by(4)`: whichever of the two is the
//! larger, it is `t` and a multiple of 4. So each counter of `t` is `t + 4 * z` with some
//! whole `z`, and those of different `t < 4` differ. What something leaves of a step is told
//! by what it is made of: terms that the step divides leave nothing, and a choice, the larger
//! or the smaller of two leaves what both leave, if that is one.
//!
//! `z` is no new number: it is the quotient, without rest, of what the start is beyond that.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::walk::Walk;
use super::value::Function;
use crate::op::BinaryOp;
use crate::span::SpanId;

/// Choices within choices that are looked into.
const MAX_DEPTH: u32 = 3;

impl Walk<'_> {
    /// A start as what it leaves of the step and a multiple of it, if that says more.
    pub(in super::super) fn by_residue(
        &mut self,
        start: &Poly,
        step: &Poly,
        head: SpanId,
    ) -> Option<Poly> {
        let by = step.as_constant().filter(|by| *by > 1)?;
        if start.is_lost() || !start.unknowns().any(|unknown| self.takes_one(unknown)) {
            return None;
        }
        let residue = self.residue(start, by, MAX_DEPTH)?;
        if residue.is_lost() || residue.unknowns().any(|unknown| self.takes_one(unknown)) {
            return None;
        }
        let rest = start.sub(&residue);
        // Beyond what is less than the step, a start that is not below 0 has no less than none.
        let is_below = Formula::le(&start.add(step), &residue);
        let low = self.is_never(&is_below).then_some(0);
        let at = (head, BinaryOp::Div);
        let whole = |z: &Poly| Formula::eq(&rest, &z.mul(step));
        let z = self.function(Function::Floor, &rest, step, low, at, whole);
        let fact = Formula::eq(&rest, &z.mul(step));
        z.unknowns().for_each(|unknown| self.symbols.add_facts(unknown, fact.clone()));
        Some(residue.add(&z.mul(step)))
    }

    /// Whether an unknown is one of two values.
    fn takes_one(&self, unknown: Unknown) -> bool {
        let function = self.function_of(unknown).map(|(function, ..)| *function);
        matches!(function, Some(Function::Min | Function::Max))
            || self.choices.contains_key(&unknown)
    }

    /// A number that differs from a value by a multiple of `by`.
    fn residue(&self, value: &Poly, by: i128, depth: u32) -> Option<Poly> {
        if value.is_lost() {
            return None;
        }
        let mut sum = Poly::constant(value.constant_term().rem_euclid(by));
        for (product, factor) in value.terms() {
            let factor = factor.rem_euclid(by);
            let of = match product.as_slice() {
                _ if factor == 0 || product.is_empty() => continue,
                [unknown] => self.residue_of(*unknown, by, depth)?,
                _ => Poly::product(*product),
            };
            sum = sum.add(&of.scaled(factor));
        }
        // Once more, since what the unknowns leave has factors of its own.
        let factors = |sum: &Poly| {
            sum.terms().iter().fold(Poly::default(), |out, (product, factor)| {
                out.add(&Poly::product(*product).scaled(factor.rem_euclid(by)))
            })
        };
        (!sum.is_lost()).then(|| factors(&sum))
    }

    /// The same of an unknown.
    fn residue_of(&self, unknown: Unknown, by: i128, depth: u32) -> Option<Poly> {
        let parts = match (self.function_of(unknown), self.choices.get(&unknown)) {
            (Some((Function::Min | Function::Max, one, other)), _) => [one, other],
            (Some((Function::Remainder, of, divisor)), _) => {
                let is_multiple = divisor.as_constant().is_some_and(|of| of != 0 && of % by == 0);
                match is_multiple {
                    true => return self.residue(of, by, depth.checked_sub(1)?),
                    false => return Some(Poly::unknown(unknown)),
                }
            }
            (None, Some((_, then, otherwise))) => [then, otherwise],
            (Some(_) | None, _) => return Some(Poly::unknown(unknown)),
        };
        let depth = depth.checked_sub(1)?;
        let [one, other] = parts.map(|part| self.residue(part, by, depth));
        (one? == other.clone()?).then_some(other?)
    }
}
