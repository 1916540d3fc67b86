//! Comparisons: of integers by their difference; of floats nothing is known, but that none
//! compares with what is no number, though all differ from it.

use super::formula::{Cond, Formula};
use super::poly::Poly;
use super::walk::{Value, Walk};
use crate::kernel::ExprId;
use crate::op::CompareOp;

impl Walk<'_> {
    /// `lhs op rhs`; `None` where nothing is known of it.
    pub(super) fn compared(&mut self, op: CompareOp, lhs: ExprId, rhs: ExprId) -> Option<Cond> {
        match (self.value(lhs), self.value(rhs)) {
            (Value::Int(lhs), Value::Int(rhs)) => Some(comparison(op, &lhs, &rhs)),
            _ if self.kernel.is_nan(lhs) || self.kernel.is_nan(rhs) => {
                let never = Cond { yes: Formula::False, no: Formula::True };
                Some(if op == CompareOp::Ne { never.negated() } else { never })
            }
            _ => None,
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
