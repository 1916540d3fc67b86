//! Once more for what no proof covers: examples at sizes that the proof suggests, by other
//! data, at the ends of long loops, and of what memory decides.

use std::collections::{BTreeMap, BTreeSet};

use super::undecided::holds_of;
use crate::check::Uniformity;
use crate::kernel::{ArrayRef, Kernel, Source};
use crate::solve::skeleton::{
    BUDGET, Exhaustion, Findings, Pair, follow, look_far, probe, try_other_data,
};
use crate::solve::symbolic::{Suggestion, Suggestions, Unproved};

/// Most pairs for which sizes are looked for.
const MAX_SUGGESTIONS: u32 = 6;

/// Looks for examples of what memory decides, and of what is undecided; what collides is
/// added to `findings`.
pub(super) fn look_once_more(
    of: (&Kernel, &Uniformity),
    undecided: &[(Unproved, Exhaustion)],
    findings: &mut Findings,
) {
    try_following(of.0, findings);
    if !undecided.is_empty() {
        try_suggestions(of, undecided, findings);
        try_run(of.0, undecided, findings, (try_other_data, BUDGET / 4));
        try_run(of.0, undecided, findings, (look_far, BUDGET + BUDGET / 2));
    }
}

/// Of what memory decides: by runs that follow what it says further than others do.
fn try_following(kernel: &Kernel, findings: &mut Findings) {
    let asked = findings.open.iter().map(|(pair, source)| (pair.array(), *source));
    let asked: BTreeMap<ArrayRef, Source> = asked.collect();
    let mut fuel = BUDGET / 2;
    for asked in asked {
        let mut found = Findings::default();
        found.known.extend(findings.conflicts.iter().map(|conflict| conflict.pair));
        follow(kernel, asked, &mut found, &mut fuel);
        for conflict in found.conflicts {
            let is_it = |(pair, _): &(Pair, Source)| *pair == conflict.pair;
            if let Some(at) = findings.open.iter().position(is_it) {
                findings.open.remove(at);
                findings.conflicts.push(conflict);
            }
        }
    }
}

/// A search for conflicts in an array, which adds what it finds and takes from the fuel what
/// it costs.
type Run = fn(&Kernel, ArrayRef, &mut Findings, &mut u32);

/// Runs what is undecided once more, in another way, with so much to spend.
fn try_run(
    kernel: &Kernel,
    undecided: &[(Unproved, Exhaustion)],
    findings: &mut Findings,
    (run, mut fuel): (Run, u32),
) {
    let arrays: BTreeSet<ArrayRef> = undecided.iter().map(|(found, _)| found.array).collect();
    for array in arrays {
        let mut found = Findings { known: findings.known.clone(), ..Findings::default() };
        if findings.known.iter().all(|pair| pair.array() != array) {
            run(kernel, array, &mut found, &mut fuel);
        }
        // What a proof excludes, made-up values do not show.
        let is_open = |pair: &Pair| undecided.iter().any(|(open, _)| holds_of(open, pair));
        found.conflicts.retain(|conflict| is_open(&conflict.pair));
        findings.known.extend(found.conflicts.iter().map(|conflict| conflict.pair));
        findings.conflicts.extend(found.conflicts);
    }
}

/// Runs what is undecided at the sizes for which the proof says what it lacks.
fn try_suggestions(
    (kernel, uniformity): (&Kernel, &Uniformity),
    undecided: &[(Unproved, Exhaustion)],
    findings: &mut Findings,
) {
    let suggestions = Suggestions::of(kernel, uniformity);
    let mut fuel = BUDGET;
    let mut tried = 0;
    for (found, _) in undecided {
        let is_known = findings.known.iter().any(|pair| pair.array() == found.array);
        if is_known || tried == MAX_SUGGESTIONS {
            continue;
        }
        tried += 1;
        if let Some(Suggestion { sizes, blocks }) = suggestions.suggest(found) {
            probe(kernel, found.array, (&sizes, &blocks), findings, &mut fuel);
        }
    }
}
