//! Scalars of which a condition asks whether they are powers of two.
//!
//! `if len.is_power_of_two() && i & (len - 1) < len / 2 { … }` masks by a power of two where
//! it holds, and is passed by where not. A launch has one `len`: it is a power of two, or
//! not above 0, or above 0 and none. Each is a case ([`super::valued`]). In the first the
//! mask is a remainder; in the last, where `len` is at least 3, more than one of its bits
//! are set, so that `len.count_ones()` is at least 2 and `len & (len - 1)` at least 1.

use std::collections::BTreeSet;

use super::super::algebra::poly::Poly;
use super::super::walk::Walk;
use super::valued::{Given, scalar_of};
use crate::kernel::{ExprId, ExprKind, Kernel, Literal, VarId, immutable_lets};
use crate::op::{BinaryOp, CompareOp, MathFn};

/// The cases of such a scalar.
pub(in super::super) const CASES: [Given; 3] = [Given::Power, Given::NotAbove, Given::NoPower];

/// The scalar parameters that are asked whether they are powers of two.
pub(in super::super) fn asked(kernel: &Kernel) -> BTreeSet<VarId> {
    let lets = immutable_lets(&kernel.body, kernel);
    let mut found = BTreeSet::new();
    for expr in kernel.exprs.values() {
        let ExprKind::Compare { op: CompareOp::Eq | CompareOp::Ne, lhs, rhs } = expr.kind else {
            continue;
        };
        for (side, number) in [(lhs, rhs), (rhs, lhs)] {
            let of = match kernel.exprs[number].kind {
                ExprKind::Literal(Literal::Int(0)) => masked(kernel, side),
                ExprKind::Literal(Literal::Int(1)) => counted(kernel, side),
                _ => None,
            };
            found.extend(of.and_then(|of| scalar_of(kernel, &lets, of)));
        }
    }
    found
}

/// Of what the bits are counted.
fn counted(kernel: &Kernel, expr: ExprId) -> Option<ExprId> {
    match kernel.exprs[expr].kind {
        ExprKind::Math { func: MathFn::CountOnes, arg } => Some(arg),
        ExprKind::Cast(of) => counted(kernel, of),
        _ => None,
    }
}

/// `x` of `x & (x - 1)`.
fn masked(kernel: &Kernel, expr: ExprId) -> Option<ExprId> {
    let ExprKind::Binary { op: BinaryOp::And, lhs, rhs } = kernel.exprs[expr].kind else {
        return None;
    };
    let is_less = |less: ExprId| {
        let ExprKind::Binary { op: BinaryOp::Sub, rhs: one, .. } = kernel.exprs[less].kind else {
            return false;
        };
        kernel.exprs[one].kind == ExprKind::Literal(Literal::Int(1))
    };
    if is_less(rhs) {
        Some(lhs)
    } else if is_less(lhs) {
        Some(rhs)
    } else {
        None
    }
}

impl Walk<'_> {
    /// Notes whether a scalar is a power of two, in a case.
    pub(in super::super) fn note_power_case(&mut self, given: &Given, scalar: &Poly) {
        match given {
            Given::Power => {
                scalar.unknowns().for_each(|unknown| self.symbols.set_positive(unknown));
                self.powers.extend(scalar.unknowns());
            }
            Given::NoPower => {
                scalar.unknowns().for_each(|unknown| self.symbols.set_least(unknown, 3));
                self.no_powers.extend(scalar.unknowns());
            }
            Given::Above(number) => {
                let least = number.saturating_add(1);
                scalar.unknowns().for_each(|unknown| self.symbols.set_least(unknown, least));
            }
            Given::NotAbove | Given::Is(_) | Given::Not(_) => {}
        }
    }

    /// Whether a value is at least 3 and no power of two, in this case.
    pub(in super::super) fn is_no_power(&self, value: &Poly) -> bool {
        let [(product, 1)] = value.terms() else { return false };
        matches!(product.as_slice(), [unknown] if self.no_powers.contains(unknown))
    }

    /// What `lhs & rhs` is at least.
    pub(in super::super) fn least_in_common(&self, lhs: &Poly, rhs: &Poly) -> i128 {
        let is_next = |one: &Poly, less: &Poly| less.plus(1) == *one && self.is_no_power(one);
        (is_next(lhs, rhs) || is_next(rhs, lhs)).into()
    }
}
