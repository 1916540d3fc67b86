//! The literals of a kernel, below and above which sizes are chosen.

use crate::kernel::{ExprKind, Kernel, Literal};

/// Largest literal above which a tile parameter is raised.
const MAX_LITERAL: i64 = 256;

/// The largest literal that an index is likely to meet.
pub(super) fn largest_literal(kernel: &Kernel) -> i64 {
    literals(kernel).max().unwrap_or(0)
}

/// The literals that an index is likely to meet: naturals which are not large.
pub(super) fn literals(kernel: &Kernel) -> impl Iterator<Item = i64> {
    literals_to(kernel, MAX_LITERAL)
}

/// The literals that are naturals up to a number.
pub(super) fn literals_to(kernel: &Kernel, most: i64) -> impl Iterator<Item = i64> {
    let literals = kernel.exprs.values().filter_map(|expr| {
        let ExprKind::Literal(Literal::Int(value)) = expr.kind else { return None };
        i64::try_from(value).ok()
    });
    literals.filter(move |value| (0..=most).contains(value))
}
