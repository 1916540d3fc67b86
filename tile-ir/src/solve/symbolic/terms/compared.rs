//! Comparisons: of integers by their difference; of floats nothing is known, but that none
//! compares with what is no number, though all differ from it.
//!
//! Of `let f = (digit == d) as u32;`, `f == 1` is what `digit == d` is: a choice between two
//! numbers, compared with a third one, is its condition, or the opposite, where the two do not
//! compare alike.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::Poly;
use super::super::walk::{Value, Walk};
use crate::kernel::ExprId;
use crate::op::CompareOp;

impl Walk<'_> {
    /// `lhs op rhs`; `None` where nothing is known of it.
    pub(in super::super) fn compared(
        &mut self,
        op: CompareOp,
        lhs: ExprId,
        rhs: ExprId,
    ) -> Option<Cond> {
        match (self.value(lhs), self.value(rhs)) {
            (Value::Int(lhs), Value::Int(rhs)) => {
                let known = self.of_choice(op, &lhs.sub(&rhs));
                Some(known.unwrap_or_else(|| comparison(op, &lhs, &rhs)))
            }
            // Of two conditions one holds, or both or none of them do.
            (Value::Cond(lhs), Value::Cond(rhs)) => {
                let differ = Cond {
                    yes: lhs
                        .yes
                        .clone()
                        .and(rhs.no.clone())
                        .or(lhs.no.clone().and(rhs.yes.clone())),
                    no: lhs.yes.and(rhs.yes).or(lhs.no.and(rhs.no)),
                };
                match op {
                    CompareOp::Ne => Some(differ),
                    CompareOp::Eq => Some(differ.negated()),
                    CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge => None,
                }
            }
            _ if self.kernel.is_nan(lhs) || self.kernel.is_nan(rhs) => {
                let never = Cond { yes: Formula::False, no: Formula::True };
                Some(if op == CompareOp::Ne { never.negated() } else { never })
            }
            _ => None,
        }
    }

    /// Whether `gap op 0`, where it is a choice between two numbers by a condition of which all
    /// is known, and a third one.
    fn of_choice(&self, op: CompareOp, gap: &Poly) -> Option<Cond> {
        let third = gap.constant_term();
        let chosen = gap.plus(-third);
        let [(product, factor)] = chosen.terms() else { return None };
        let [choice] = product.as_slice() else { return None };
        let (cond, then, otherwise) = self.choices.get(choice)?;
        let of = |number: &Poly| {
            let number = number.as_constant()?.checked_mul(*factor)?.checked_add(third)?;
            Some(op.holds(number, 0))
        };
        match (of(then)?, of(otherwise)?) {
            (true, false) => Some(cond.clone()),
            (false, true) => Some(cond.clone().negated()),
            (true, true) => Some(Cond { yes: Formula::True, no: Formula::False }),
            (false, false) => Some(Cond { yes: Formula::False, no: Formula::True }),
        }
    }
}

fn comparison(op: CompareOp, lhs: &Poly, rhs: &Poly) -> Cond {
    let equal = || Cond { yes: Formula::eq(lhs, rhs), no: Formula::ne(lhs, rhs) };
    let less = |a, b| Cond { yes: Formula::lt(a, b), no: Formula::le(b, a) };
    match op {
        CompareOp::Eq => equal(),
        CompareOp::Ne => equal().negated(),
        CompareOp::Lt => less(lhs, rhs),
        CompareOp::Ge => less(lhs, rhs).negated(),
        CompareOp::Gt => less(rhs, lhs),
        CompareOp::Le => less(rhs, lhs).negated(),
    }
}
