//! What is said of a number that may wrap in its type, where nothing else is missing.

use crate::kernel::{Kernel, print_expr};
use crate::span::SpanId;

/// What there is to do.
pub(super) const HELP: &str = "compute it as an `index`, which does not wrap: convert its parts, \
                               `… as index`; or say how large they are: `assume(…);`";

/// The number that stands there, and what would be so if it did not wrap.
pub(super) fn note(kernel: &Kernel, number: SpanId, otherwise: &str) -> String {
    let expr = kernel.exprs.iter().rev().find(|(_, expr)| expr.span == number);
    let text = expr
        .map_or_else(|| "a number".to_owned(), |(id, _)| format!("`{}`", print_expr(kernel, id)));
    let line = kernel.spans.range(number).line;
    format!("{text} on line {line} may wrap in its type; if it did not, {otherwise}")
}
