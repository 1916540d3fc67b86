//! TK0301, TK0302, TK0303: races.
//!
//! Two workers use one element, one of them writes it, and nothing orders the
//! two: no barrier within a block, and nothing ever between blocks. Conflicts
//! are found by running the kernel's index skeleton at small sizes
//! ([`crate::solve::skeleton`]); each pair of accesses is reported once, with
//! the first example found.

mod text;

use std::collections::BTreeSet;

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::kernel::{ArrayRef, Kernel};
use crate::solve::skeleton::{Conflict, Scope, Site, enumerate};
use text::Prose;

/// Reports every pair of accesses that collides.
pub(super) fn check_races(kernel: &Kernel, diags: &mut Diagnostics) {
    let mut found = enumerate(kernel).conflicts;
    // A barrier does not help where blocks collide too.
    let between_blocks: BTreeSet<(Site, Site)> =
        found.iter().filter(|conflict| conflict.scope == Scope::Grid).map(pair).collect();
    found.retain(|conflict| {
        conflict.scope == Scope::Grid || !between_blocks.contains(&pair(conflict))
    });
    found.iter().for_each(|conflict| diags.push(report(kernel, conflict)));
}

/// The accesses of a conflict, in a fixed order.
fn pair(conflict: &Conflict) -> (Site, Site) {
    let (first, second) = (conflict.first.site, conflict.second.site);
    (first.min(second), first.max(second))
}

fn report(kernel: &Kernel, conflict: &Conflict) -> Diagnostic {
    let code = match (conflict.scope, conflict.array) {
        (Scope::Grid, _) => Code::BlockRace,
        (Scope::Block, ArrayRef::Tile(_)) => Code::SharedRace,
        (Scope::Block, ArrayRef::Tensor(_)) => Code::GlobalRace,
    };
    let prose = Prose::new(kernel, conflict);
    let mut diagnostic = Diagnostic::error(code, conflict.second.site.span, prose.message());
    diagnostic = diagnostic.label(conflict.first.site.span, prose.party(&conflict.first));
    diagnostic = diagnostic.note(format!("here {}", prose.party(&conflict.second)));
    if let Some(sizes) = prose.sizes() {
        diagnostic = diagnostic.note(sizes);
    }
    diagnostic.help(prose.remedy())
}
