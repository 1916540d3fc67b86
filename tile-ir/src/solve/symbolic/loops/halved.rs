//! Strides that a loop halves.
//!
//! In each iteration of `while stride > 0 { …; stride /= 2; }` the stride is a power of two,
//! if what it is before the loop is one or what halving has left of one
//! ([`crate::solve::halving`]): then `t & (stride - 1)` is a remainder. It is not one after
//! the loop, where it is 0, unless somebody has left before.
//!
//! That is said of iterations that are entered, so of nothing but what stands in them: the
//! condition at the head is not asked of who goes on, and of who does not nothing is known
//! but that the stride is not negative.
//!
//! So it is of any index that is never negative and of which the loop asks whether it is above 0,
//! `while gap > 0 { …; gap = gap * 10 / 13; }`: in an iteration it is at least 1.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::poly::Poly;
use super::super::terms::value::Function;
use super::super::walk::{Value, Walk};
use crate::kernel::{ExprId, Stmt, Type, VarId};
use crate::solve::doubling::{self, Doubling};
use crate::solve::halving;

/// The variables of which a loop makes powers of two.
#[derive(Debug, Default)]
pub(in super::super) struct Scaled {
    /// It doubles them, and does not wrap them.
    pub(in super::super) doubled: BTreeMap<VarId, Doubling>,
    /// It halves them while they are above 0.
    pub(in super::super) halved: BTreeSet<VarId>,
    /// No iteration begins where they are 0, of those that are not negative.
    pub(in super::super) above: BTreeSet<VarId>,
}

impl Walk<'_> {
    /// What a loop that goes on while `cond` holds scales.
    pub(in super::super) fn scaled(&self, cond: ExprId, body: &[Stmt]) -> Scaled {
        let mut halved = halving::falling(self.kernel, cond, body);
        let is_begun = |first: &Value| matches!(first, Value::Int(first) if self.is_halved(first));
        halved.retain(|var| self.env.get(var).is_some_and(is_begun));
        let is_above = |var: &VarId| {
            self.type_of(*var) == Type::Index && halving::is_above_zero(self.kernel, cond, *var)
        };
        let above = self.env.keys().copied().filter(is_above).collect();
        Scaled { doubled: doubling::rising(self.kernel, cond, body), halved, above }
    }

    /// Whether a value is a power of two, or a quotient of one by another.
    fn is_halved(&self, value: &Poly) -> bool {
        if self.is_power(value) {
            return true;
        }
        let [(product, 1)] = value.terms() else { return false };
        let [unknown] = product.as_slice() else { return false };
        let of = self.function_of(*unknown);
        of.is_some_and(|(function, whole, by)| {
            *function == Function::Quotient && self.is_power(whole) && self.is_power(by)
        })
    }
}
