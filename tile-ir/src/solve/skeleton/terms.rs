//! What values of open size have in common.
//!
//! Where all is run, a dimension, a scalar or a block's coordinate may be left open: its
//! value is one of many, yet the same for all workers. Of `r * 64 + t` with an open `r`
//! only the summand `r * 64` is unknown, and two such values are as far apart as their
//! known parts are. A *term* is such a summand: the same term is the same number. Values
//! carry the number of their term; their bits hold the term at a made-up size and the
//! known part, so that bits of one term can be compared.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::hash::Map;
use crate::dtype::DType;
use crate::kernel::{ArrayRef, ExprId, Type, VarId};
use crate::op::BinaryOp;

/// A term's number; 0 is none.
pub(super) type Term = u32;

/// A value that terms are made of: its own term, and its bits.
type Part = (Term, u64);

/// What a term is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Origin {
    /// A variable of the launch or of the grid.
    Var(VarId),
    /// The counter of some iteration of a loop of the whole block.
    Iteration(u32),
    /// Two terms, added.
    Sum(Term, Term),
    /// A term, so many times.
    Scaled(Term, i64),
    /// Any other operation.
    Binary(BinaryOp, Type, Part, Part),
    /// A conversion.
    Cast(DType, DType, Part),
    /// An operation of one operand, or of two that are no values of one type.
    Function(ExprId, Vec<Part>),
    /// An element of an array that is never written.
    Element(ArrayRef, Vec<Part>),
}

/// Looking up so many terms takes as long as an access.
const PER_ACCESS: usize = 16;

/// The terms so far, and how many have been looked up that nobody has paid for.
#[derive(Debug, Default)]
pub(super) struct Terms {
    known: RefCell<Map<Origin, Term>>,
    asked: Cell<usize>,
}

impl Terms {
    /// The number of a term.
    pub(super) fn of(&self, origin: Origin) -> Term {
        self.asked.set(self.asked.get() + 1);
        let mut known = self.known.borrow_mut();
        let next = known.len() as Term + 1;
        *known.entry(origin).or_insert(next)
    }

    /// What is to be paid for those that were looked up, in accesses.
    pub(super) fn take_cost(&self) -> usize {
        let asked = self.asked.get();
        self.asked.set(asked % PER_ACCESS);
        asked / PER_ACCESS
    }

    /// The counter of an iteration that has not been before.
    pub(super) fn fresh(&self) -> Term {
        let number = self.known.borrow().len() as u32;
        self.of(Origin::Iteration(number))
    }

    /// The term of `lhs op rhs`, of which one has a term and the other has one or is known.
    pub(super) fn of_binary(&self, op: BinaryOp, ty: Type, lhs: Part, rhs: Part) -> Term {
        let linear = ty == Type::Index;
        match (op, lhs, rhs) {
            (BinaryOp::Add | BinaryOp::Sub, (term, _), (0, _)) if linear => term,
            (BinaryOp::Add, (0, _), (term, _)) if linear => term,
            (BinaryOp::Sub, (0, _), (term, _)) if linear => self.of(Origin::Scaled(term, -1)),
            (BinaryOp::Add, (one, _), (other, _)) if linear => {
                self.of(Origin::Sum(one.min(other), one.max(other)))
            }
            (BinaryOp::Sub, (one, _), (other, _)) if linear => {
                let other = self.of(Origin::Scaled(other, -1));
                self.of(Origin::Sum(one.min(other), one.max(other)))
            }
            (BinaryOp::Mul, (term, _), (0, times)) | (BinaryOp::Mul, (0, times), (term, _))
                if linear =>
            {
                self.of(Origin::Scaled(term, times as i64))
            }
            _ => self.of(Origin::Binary(op, ty, lhs, rhs)),
        }
    }

    /// A term as a sum of variables, each so many times; `None` of one that is no such
    /// sum.
    pub(super) fn factors(&self, term: Term) -> Option<BTreeMap<VarId, i64>> {
        let origins: BTreeMap<Term, Origin> =
            self.known.borrow().iter().map(|(origin, term)| (*term, origin.clone())).collect();
        let mut sum = BTreeMap::new();
        let mut pending = vec![(term, 1_i64)];
        while let Some((term, times)) = pending.pop() {
            if term == 0 {
                continue;
            }
            match origins.get(&term)? {
                Origin::Var(var) => {
                    let factor = sum.entry(*var).or_insert(0_i64);
                    *factor = factor.checked_add(times)?;
                }
                Origin::Sum(one, other) => pending.extend([(*one, times), (*other, times)]),
                Origin::Scaled(of, by) => pending.push((*of, times.checked_mul(*by)?)),
                Origin::Iteration(_)
                | Origin::Binary(..)
                | Origin::Cast(..)
                | Origin::Function(..)
                | Origin::Element(..) => return None,
            }
        }
        sum.retain(|_, factor| *factor != 0);
        Some(sum)
    }
}
