//! TK0301 to TK0304: races.
//!
//! Two workers use one element, one of them writes it, and nothing orders the
//! two: no barrier within a block, and nothing ever between blocks. Conflicts
//! are found by running the kernel's index skeleton at small sizes
//! ([`crate::solve::skeleton`]). One missing barrier is one finding, however many
//! accesses it leaves unordered; other pairs of accesses are one finding each,
//! with the first example found.

mod cure;
mod text;

use std::collections::BTreeSet;

use crate::check::{Uniformity, uniformity};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::kernel::{ArrayRef, Kernel};
use crate::solve::skeleton::{Conflict, Pair, Scope, Site, enumerate};
use cure::{Cure, find_cure};
use text::Prose;

/// Reports what collides and what loaded data leaves open.
pub(super) fn check_races(kernel: &Kernel, diags: &mut Diagnostics) {
    let mut found = enumerate(kernel);
    // A barrier does not help where blocks collide too.
    let between_blocks: BTreeSet<(Site, Site)> = found
        .conflicts
        .iter()
        .filter(|conflict| conflict.pair.scope == Scope::Grid)
        .map(|conflict| conflict.pair.sites())
        .collect();
    found.conflicts.retain(|conflict| {
        conflict.pair.scope == Scope::Grid || !between_blocks.contains(&conflict.pair.sites())
    });
    report_conflicts(kernel, &found.conflicts, diags);
    let mut told: BTreeSet<(Site, Site)> =
        found.conflicts.iter().map(|conflict| conflict.pair.sites()).collect();
    for (pair, load) in &found.open {
        if told.insert(pair.sites()) {
            diags.push(text::open(kernel, pair, *load));
        }
    }
}

fn report_conflicts(kernel: &Kernel, conflicts: &[Conflict], diags: &mut Diagnostics) {
    if conflicts.is_empty() {
        return;
    }
    let uniformity = uniformity(kernel);
    let mut mended: BTreeSet<Pair> = BTreeSet::new();
    let mut told: BTreeSet<(Site, Site)> = BTreeSet::new();
    for conflict in conflicts {
        if mended.contains(&conflict.pair) || told.contains(&conflict.pair.sites()) {
            continue;
        }
        let cure = cure_of(kernel, &uniformity, conflict);
        let same: Vec<&Conflict> = match &cure {
            Some(cure) => conflicts.iter().filter(|other| is_mended(cure, other)).collect(),
            None => Vec::new(),
        };
        diags.push(report(kernel, conflict, cure.as_ref(), &same));
        mended.extend(same.iter().map(|other| other.pair));
        if cure.is_none() {
            told.insert(conflict.pair.sites());
        }
    }
}

fn cure_of(kernel: &Kernel, uniformity: &Uniformity, conflict: &Conflict) -> Option<Cure> {
    match conflict.pair.scope {
        Scope::Block => find_cure(kernel, uniformity, &conflict.pair),
        Scope::Grid => None,
    }
}

fn is_mended(cure: &Cure, conflict: &Conflict) -> bool {
    conflict.pair.scope == Scope::Block && !cure.left.contains(&conflict.pair)
}

fn report(
    kernel: &Kernel,
    conflict: &Conflict,
    cure: Option<&Cure>,
    same: &[&Conflict],
) -> Diagnostic {
    let pair = &conflict.pair;
    let code = match (pair.scope, pair.array()) {
        (Scope::Grid, _) => Code::BlockRace,
        (Scope::Block, ArrayRef::Tile(_)) => Code::SharedRace,
        (Scope::Block, ArrayRef::Tensor(_)) => Code::GlobalRace,
    };
    let prose = Prose::new(kernel, conflict);
    Diagnostic {
        notes: prose.notes(same),
        help: Some(match cure {
            Some(cure) => prose.place(cure),
            None => prose.remedy(),
        }),
        ..Diagnostic::error(code, pair.second.span, prose.message())
            .label(pair.first.span, prose.first())
    }
}
