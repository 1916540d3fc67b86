//! Quotients that are rounded down, or up, by the sign of what is divided.
//!
//! `/` rounds towards 0. Where loops are tiled, as PPCG does, bounds are rounded down or up:
//! `if a < 0 { -((-a + n - 1) / n) } else { a / n }`, `if a < 0 { -(-a / n) } else { (a + n - 1) / n }`
//! and `(a - if a < 0 { n - 1 } else { 0 }) / n`. Each is one function of `a`, which has no cases,
//! where the choice and both quotients have some of their own.
//!
//! # What it rests on
//!
//! With `n > 0`, and `/` that rounds towards 0, for each number `b`:
//!
//! - Where `b >= 0`, `b / n` is `floor(b / n)`.
//! - Where `b <= n - 1`, `-((n - 1 - b) / n)` is `floor(b / n)`: what is divided is not below
//!   0, and `-floor((n - 1 - b) / n) = ceil((b - n + 1) / n) = floor(b / n)`.
//! - Where `b <= 0`, `(b - n + 1) / n` is `-((n - 1 - b) / n)`, which is `floor(b / n)`.
//!
//! So a choice between the first two is `floor(b / n)` if one part of its condition says `b >= 0`,
//! and the other one `b <= n - 1`. With `b = a` it is `a` rounded down, with `b = a + n - 1` up.
//! Values are numbers here, of which no part has wrapped: what may have is another unknown.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::Obstacle;
use super::super::scans::prefix::single;
use super::super::walk::Walk;
use super::value::Function;
use crate::op::BinaryOp;
use crate::span::SpanId;

/// What is divided, by what, and where that is in the text.
type Division = (Poly, Poly, (SpanId, BinaryOp));

impl Walk<'_> {
    /// A choice between the quotient of what is not negative and the negated one of what is.
    pub(in super::super) fn rounded_by_sign(
        &mut self,
        cond: &Cond,
        then: &Poly,
        otherwise: &Poly,
    ) -> Option<Poly> {
        self.rounded_by((otherwise, &cond.no), (then, &cond.yes))
            .or_else(|| self.rounded_by((then, &cond.yes), (otherwise, &cond.no)))
    }

    /// The same of a quotient, and where it is taken, and a negated one.
    fn rounded_by(
        &mut self,
        (above, is_above): (&Poly, &Formula),
        (below, is_below): (&Poly, &Formula),
    ) -> Option<Poly> {
        self.division_in(below)?;
        let (of, by, at) = self.division_in(above)?;
        let mirrored = by.plus(-1).sub(&of);
        if !self.says_natural(is_above, &of)
            || !self.says_natural(is_below, &mirrored)
            || self.quotient(&of, &by, at)? != *above
            || self.quotient(&mirrored, &by, at)?.negated() != *below
        {
            return None;
        }
        self.floor(&of, &by, at)
    }

    /// The quotient of `lhs`, which is less by `n - 1` where it is below 0.
    pub(in super::super) fn rounded_by_choice(
        &mut self,
        lhs: &Poly,
        rhs: &Poly,
        at: (SpanId, BinaryOp),
    ) -> Option<Poly> {
        let less = rhs.as_constant().filter(|by| *by > 1)? - 1;
        let of = lhs.terms().iter().find_map(|(product, factor)| {
            let [choice] = product.as_slice() else { return None };
            let (cond, then, otherwise) = self.choices.get(choice)?;
            let [then, otherwise] = [then, otherwise].map(|part| part.scaled(*factor));
            let of = lhs.sub(&Poly::unknown(*choice).scaled(*factor));
            let is_rounded = match (then.as_constant()?, otherwise.as_constant()?) {
                (taken, 0) if taken == -less => self.is_by_sign(&cond.no, &cond.yes, &of),
                (0, taken) if taken == -less => self.is_by_sign(&cond.yes, &cond.no, &of),
                _ => false,
            };
            is_rounded.then_some(of)
        })?;
        self.floor(&of, rhs, at)
    }

    /// Whether the one condition says that a value is not negative, and the other one that it is
    /// not positive.
    fn is_by_sign(&self, is_above: &Formula, is_below: &Formula, of: &Poly) -> bool {
        self.says_natural(is_above, of) && self.says_natural(is_below, &of.negated())
    }

    /// Whether a condition says at sight that a value is not negative.
    fn says_natural(&self, cond: &Formula, value: &Poly) -> bool {
        let Formula::AtLeast(room) = cond else { return false };
        let more = value.sub(room);
        !more.is_lost() && self.symbols.low(&more).is_some_and(|low| low >= 0)
    }

    /// What is divided by a positive number in a value that is one quotient, or that and a whole
    /// number that came off it.
    fn division_in(&self, value: &Poly) -> Option<Division> {
        if value.is_lost() {
            return None;
        }
        value.terms().iter().find_map(|(product, factor)| {
            let quotient: Unknown = single(&Poly::product(*product))?;
            let (Function::Quotient, rest, by) = self.function_of(quotient)? else { return None };
            let Some((span, Obstacle::Operator(op))) = self.symbols.get(quotient)?.obstacle else {
                return None;
            };
            let is_positive = self.symbols.low(by).is_some_and(|low| low > 0);
            let whole = value.sub(&Poly::unknown(quotient).scaled(*factor)).mul(by);
            let of = whole.add(rest);
            (is_positive && factor.abs() == 1 && !of.is_lost())
                .then(|| (of, by.clone(), (span, op)))
        })
    }
}
