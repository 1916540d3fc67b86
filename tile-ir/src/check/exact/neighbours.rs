//! What a remainder is taken of that is a place, and no hash.
//!
//! What a division leaves may be a hash, of which any number may be made. Two are none:
//!
//! - `(x + n - 1) % n` is the place before `x`: one adds what one divides by so that nothing is
//!   below 0, or a number that is no more than the one by which is divided; `(x + s) % n` is
//!   further round, of what is not multiplied before;
//! - `k % n` of which there is `k / n` too: the column and the row of a place.
//!
//! A sum that wraps gives another place then, but for powers of two.

use super::sources::Sources;
use crate::check::interval::literal;
use crate::kernel::{ExprId, ExprKind, Kernel};
use crate::op::BinaryOp;

impl Sources {
    /// The places of which remainders are taken.
    pub(super) fn left_places(&self, kernel: &Kernel) -> Vec<ExprId> {
        let divided = |of: BinaryOp| {
            kernel.exprs.values().filter_map(move |expr| match expr.kind {
                ExprKind::Binary { op, lhs, rhs } if op == of => Some((lhs, rhs)),
                _ => None,
            })
        };
        let is_place = |(place, length): &(ExprId, ExprId)| {
            let has_row = || {
                divided(BinaryOp::Div)
                    .any(|(other, by)| kernel.is_same(*length, by) && kernel.is_same(*place, other))
            };
            let is_place =
                goes_round(kernel, *place, *length) || self.goes_on(kernel, *place) || has_row();
            is_place && !self.is_random(kernel, *place)
        };
        divided(BinaryOp::Rem).filter(is_place).map(|(place, _)| place).collect()
    }

    /// Whether a place is a sum of numbers that nobody has multiplied.
    fn goes_on(&self, kernel: &Kernel, place: ExprId) -> bool {
        let ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } = kernel.exprs[place].kind else {
            return false;
        };
        [lhs, rhs].into_iter().all(|part| !self.multiplies(kernel, part))
    }
}

/// Whether a place is a sum with the length that it goes round, be it that something is taken off
/// that.
fn goes_round(kernel: &Kernel, place: ExprId, length: ExprId) -> bool {
    let sum = match kernel.exprs[place].kind {
        ExprKind::Binary { op: BinaryOp::Sub, lhs, .. } => lhs,
        _ => place,
    };
    let is_sum = matches!(kernel.exprs[sum].kind, ExprKind::Binary { op: BinaryOp::Add, .. });
    is_sum && has_length(kernel, sum, length)
}

/// Whether a part of a sum is the length, or a literal up to one that the length is.
fn has_length(kernel: &Kernel, sum: ExprId, length: ExprId) -> bool {
    if let ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } = kernel.exprs[sum].kind {
        return has_length(kernel, lhs, length) || has_length(kernel, rhs, length);
    }
    match (literal(kernel, sum), literal(kernel, length)) {
        (Some(part), Some(length)) => (0..=length).contains(&part),
        (Some(_), None) | (None, Some(_)) => false,
        (None, None) => kernel.is_same(sum, length),
    }
}
