//! What is said where nothing but a number that may wrap keeps accesses from being proved apart.

use super::undecided::{scope_of, unshown};
use crate::check::wraps;
use crate::diag::Diagnostic;
use crate::kernel::{AccessKind, ArrayRef, Kernel};
use crate::solve::skeleton::{Pair, Scope};
use crate::solve::symbolic::{Places, Unproved, Wrapping};
use crate::span::SpanId;

/// Two accesses of one array: where they are, what they do, and between whom it is open.
pub(super) struct Met {
    pub(super) array: ArrayRef,
    pub(super) scope: Scope,
    pub(super) accesses: [(SpanId, AccessKind); 2],
}

impl Met {
    pub(super) fn of_pair(pair: &Pair) -> Self {
        let accesses = [pair.first, pair.second].map(|site| (site.span, site.kind));
        Self { array: pair.array(), scope: pair.scope, accesses }
    }

    pub(super) fn of_unproved(found: &Unproved) -> Self {
        let accesses = [found.first, found.second];
        Self { array: found.array, scope: scope_of(found), accesses }
    }
}

/// What is said of accesses that would be apart if a number did not wrap, if they would.
pub(super) fn of_wrapping(
    kernel: &Kernel,
    numbers: &Wrapping<'_>,
    met: &Met,
) -> Option<Diagnostic> {
    let spans = met.accesses.map(|(span, _)| span);
    let places = Places { array: met.array, spans, is_between: met.scope == Scope::Grid };
    let span = numbers.number(places)?;
    let note = wraps::note(kernel, span, "the accesses would be proved apart");
    Some(unshown(kernel, met).note(note).help(wraps::HELP))
}
