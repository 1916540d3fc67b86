//! Whether a `while` is surely entered, by what variables were set to last.
//!
//! `let mut r = 0; while r < 100 { if t == 0 { m[0] = x[r]; } … }` has a round at least, so that
//! what each round writes is written behind it. Numbers and flags of the text are followed from
//! where they are assigned, up to where something else may be; indices as sums and products.

use std::collections::BTreeMap;

use super::Flow;
use crate::check::poly::Poly;
use crate::kernel::{ExprId, ExprKind, Literal, VarId, eval_index};
use crate::op::{CompareOp, LogicOp, UnaryOp};

/// The numbers of the text that variables hold; of flags 1 where they are set.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers(BTreeMap<VarId, i128>);

impl Numbers {
    /// From here on a variable may hold anything.
    pub(super) fn forget(&mut self, var: VarId) {
        self.0.remove(&var);
    }
}

impl Flow<'_> {
    /// A variable is set to a value.
    pub(super) fn set_number(&mut self, var: VarId, value: ExprId) {
        match self.number(value) {
            Some(number) => drop(self.numbers.0.insert(var, number)),
            None => self.numbers.forget(var),
        }
    }

    fn number(&self, value: ExprId) -> Option<i128> {
        match self.kernel.exprs[value].kind {
            ExprKind::Literal(Literal::Bool(value)) => Some(value.into()),
            _ => eval_index(self.kernel, value, &|var| self.numbers.0.get(&var).copied()),
        }
    }

    /// Whether a condition surely holds here.
    pub(super) fn is_sure(&mut self, cond: ExprId) -> bool {
        match self.kernel.exprs[cond].kind {
            ExprKind::Literal(Literal::Bool(holds)) => holds,
            ExprKind::Var(var) => self.numbers.0.get(&var) == Some(&1),
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                matches!(self.kernel.exprs[operand].kind,
                    ExprKind::Var(var) if self.numbers.0.get(&var) == Some(&0))
            }
            ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
                self.is_sure(lhs) && self.is_sure(rhs)
            }
            ExprKind::Logic { op: LogicOp::Or, lhs, rhs } => self.is_sure(lhs) || self.is_sure(rhs),
            ExprKind::Compare { op, lhs, rhs } => self.surely_compares(op, lhs, rhs),
            _ => false,
        }
    }

    fn surely_compares(&mut self, op: CompareOp, lhs: ExprId, rhs: ExprId) -> bool {
        if let (Some(lhs), Some(rhs)) = (self.number(lhs), self.number(rhs)) {
            return match op {
                CompareOp::Lt => lhs < rhs,
                CompareOp::Le => lhs <= rhs,
                CompareOp::Gt => lhs > rhs,
                CompareOp::Ge => lhs >= rhs,
                CompareOp::Eq => lhs == rhs,
                CompareOp::Ne => lhs != rhs,
            };
        }
        if !self.bounds.is_index(lhs) || !self.bounds.is_index(rhs) {
            return false;
        }
        let [lhs, rhs] = [lhs, rhs].map(|side| self.bounds.poly(side));
        let (more, less) = (rhs.clone().sub(&lhs), lhs.sub(&rhs));
        match op {
            CompareOp::Lt => self.bounds.is_positive(&more),
            CompareOp::Le => self.bounds.is_never_negative(&more),
            CompareOp::Gt => self.bounds.is_positive(&less),
            CompareOp::Ge => self.bounds.is_never_negative(&less),
            CompareOp::Eq => more == Poly::constant(0),
            CompareOp::Ne => self.bounds.is_positive(&more) || self.bounds.is_positive(&less),
        }
    }
}
