//! A diagnostic as text.

use std::fmt::Write as _;

use super::{Diagnostic, Severity};
use crate::span::SpanTable;

/// Writes `diagnostic` for a terminal or a test: message, places by line and
/// column (both 1-based), notes and help.
pub fn render(diagnostic: &Diagnostic, spans: &SpanTable) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut out = format!("{severity}[{}]: {}\n", diagnostic.code, diagnostic.message);
    let place = |span| {
        let range = spans.range(span);
        format!("{}:{}", range.line, range.column + 1)
    };
    // Writing to a String cannot fail.
    let _ = writeln!(out, "  at {}", place(diagnostic.primary));
    for label in &diagnostic.secondary {
        let _ = writeln!(out, "  at {}: {}", place(label.span), label.text);
    }
    for note in &diagnostic.notes {
        let _ = writeln!(out, "  note: {note}");
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(out, "  help: {help}");
    }
    out
}
