//! Remainders that are brought above 0: `let r = (i - k) % n; if r < 0 { r + n } else { r }`.
//!
//! `%` has the sign of what is divided, so a remainder of either sign has cases, and once it
//! is mended it has those of the choice too. What comes out is `a - n * floor(a / n)`, which
//! lies between 0 and `n`, without a case. So is `(a % n + n) % n`.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::Obstacle;
use super::super::walk::Walk;
use super::value::Function;
use crate::op::BinaryOp;
use crate::span::SpanId;

impl Walk<'_> {
    /// Of what an unknown is the quotient, rounded down, and by what.
    pub(in super::super) fn rounded_down(&self, of: Unknown) -> Option<(&Poly, &Poly)> {
        let (function, whole, by) = self.function_of(of)?;
        let is_rounded_down = match function {
            Function::Quotient => self.is_natural(whole),
            Function::Floor => true,
            Function::Remainder
            | Function::ExclusiveOr
            | Function::And
            | Function::Or
            | Function::Power
            | Function::Tiles
            | Function::Min
            | Function::Max
            | Function::UnsignedTurns
            | Function::SignedTurns
            | Function::Narrowed => false,
        };
        is_rounded_down.then_some((whole, by))
    }

    /// A choice that brings a remainder above 0.
    pub(in super::super) fn floored_choice(
        &mut self,
        cond: &Cond,
        then: &Poly,
        otherwise: &Poly,
    ) -> Option<Poly> {
        let opposite = cond.clone().negated();
        let (mended, rest) = match (is_below(cond, otherwise), is_below(&opposite, then)) {
            (true, _) => (then, otherwise),
            (false, true) => (otherwise, then),
            (false, false) => return self.floored_quotient(cond, then, otherwise),
        };
        // A negative number and `n` do not leave their type together.
        let mended = self.before_signed_turns(mended).unwrap_or_else(|| mended.clone());
        self.floored(rest, &mended.sub(rest))
    }

    /// A choice that is one less where a remainder is below 0: the quotient, rounded down.
    fn floored_quotient(&mut self, cond: &Cond, then: &Poly, otherwise: &Poly) -> Option<Poly> {
        let (quotient, cond) = if otherwise.sub(then).as_constant()? == 1 {
            (otherwise, cond.clone())
        } else if then.sub(otherwise).as_constant()? == 1 {
            (then, cond.clone().negated())
        } else {
            return None;
        };
        let [(product, 1)] = quotient.terms() else { return None };
        let [unknown] = product.as_slice() else { return None };
        let (Function::Quotient, dividend, by) = self.function_of(*unknown)? else { return None };
        let (dividend, by) = (dividend.clone(), by.clone());
        let rest = dividend.sub(&quotient.mul(&by));
        if !is_below(&cond, &rest) {
            return None;
        }
        let (_, at) = self.dividend(&rest, &by)?;
        self.floor(&dividend, &by, at)
    }

    /// The number that was brought into the range of a type with a sign to give `value`.
    fn before_signed_turns(&self, value: &Poly) -> Option<Poly> {
        value.unknowns().find_map(|unknown| {
            let (Function::SignedTurns, exact, size) = self.function_of(unknown)? else {
                return None;
            };
            let is_it = exact.sub(&Poly::unknown(unknown).mul(size)) == *value;
            is_it.then(|| exact.clone())
        })
    }

    /// `sum % n`, of a sum of a remainder and `n`.
    pub(in super::super) fn floored_sum(&mut self, sum: &Poly, n: &Poly) -> Option<Poly> {
        if n.as_constant() == Some(0) { None } else { self.floored(&sum.sub(n), n) }
    }

    /// What the remainder `rest` of a division by `n` is where it is rounded down; `n` is
    /// positive where the walk is.
    fn floored(&mut self, rest: &Poly, n: &Poly) -> Option<Poly> {
        let (dividend, at) = self.dividend(rest, n)?;
        let whole = self.floor(&dividend, n, at)?;
        Some(dividend.sub(&whole.mul(n)))
    }

    /// Of what, by `n`, a value is the remainder, and where that is in the text.
    fn dividend(&self, rest: &Poly, n: &Poly) -> Option<(Poly, (SpanId, BinaryOp))> {
        if rest.is_lost() || n.is_lost() || n.terms().is_empty() {
            return None;
        }
        rest.unknowns().find_map(|unknown| {
            let (Function::Quotient, dividend, by) = self.function_of(unknown)? else {
                return None;
            };
            let is_it = by == n && dividend.sub(&Poly::unknown(unknown).mul(n)) == *rest;
            let Some((span, Obstacle::Operator(op))) = self.symbols.get(unknown)?.obstacle else {
                return None;
            };
            is_it.then(|| (dividend.clone(), (span, op)))
        })
    }
}

/// Whether a condition is that a value is below 0: where it does not hold, the value is not.
fn is_below(cond: &Cond, value: &Poly) -> bool {
    let zero = Poly::default();
    cond.yes == Formula::lt(value, &zero) && cond.no == Formula::le(&zero, value)
}
