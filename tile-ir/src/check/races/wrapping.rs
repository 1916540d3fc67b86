//! What is said where nothing but a number that may wrap keeps accesses from being proved apart.

use super::undecided::{scope_of, unshown};
use crate::check::wraps;
use crate::diag::Diagnostic;
use crate::kernel::{AccessKind, ArrayRef, Kernel, VarId};
use crate::solve::skeleton::{Conflict, Pair, Scope};
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

/// From where on a size of a launch may make a number wrap.
const MIN_LARGE: u64 = 1 << 15;

/// The number that may wrap, where that alone makes accesses collide that were seen to.
pub(super) fn wrapped(numbers: &Wrapping<'_>, conflict: &Conflict) -> Option<SpanId> {
    let is_large = |(_, size): &(VarId, i64)| size.unsigned_abs() >= MIN_LARGE;
    if !conflict.sizes.iter().any(is_large) {
        return None;
    }
    numbers.number(places(&Met::of_pair(&conflict.pair)))
}

/// What is said of a collision, with the number that has wrapped there.
pub(super) fn of_wrapped(kernel: &Kernel, number: SpanId, mut collision: Diagnostic) -> Diagnostic {
    let note = wraps::note(kernel, number, "the accesses would be proved apart");
    collision.notes.push(note);
    collision.help(wraps::HELP)
}

fn places(met: &Met) -> Places {
    let spans = met.accesses.map(|(span, _)| span);
    Places { array: met.array, spans, is_between: met.scope == Scope::Grid }
}

/// What is said of accesses that would be apart if a number did not wrap, if they would.
pub(super) fn of_wrapping(
    kernel: &Kernel,
    numbers: &Wrapping<'_>,
    met: &Met,
) -> Option<Diagnostic> {
    let span = numbers.number(places(met))?;
    let note = wraps::note(kernel, span, "the accesses would be proved apart");
    Some(unshown(kernel, met).note(note).help(wraps::HELP))
}
