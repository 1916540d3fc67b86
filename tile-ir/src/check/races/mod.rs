//! TK0301 to TK0304: races.
//!
//! Two workers use one element, one of them writes it, and nothing orders the
//! two: no barrier within a block, and nothing ever between blocks. Conflicts
//! are found by running the kernel's index skeleton at small sizes
//! ([`crate::solve::skeleton`]). One missing barrier is one finding, however many
//! accesses it leaves unordered; other pairs of accesses are one finding each,
//! with the first example found. What is neither proved nor refuted is an error
//! too ([`undecided`]).

mod between;
mod cure;
mod free;
mod places;
mod search;
mod text;
mod undecided;
mod vouch;
mod wrapping;

use std::collections::BTreeSet;

use crate::check::{Uniformity, Verdict, uniformity};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::kernel::{ArrayRef, Kernel, Source};
use crate::solve::skeleton::{Conflict, Exhaustion, Findings, Pair, Scope, Site};
use crate::solve::symbolic::{Unproved, Wrapping, prove_among};
use crate::span::SpanId;
use between::Between;
use cure::{Cure, Sought, find_cure};
use places::{Asked, settling_places};
use text::{ORDERS_NO_BLOCKS, Prose};
use undecided::{Rest, decide_all, drop_proved, holds_of, settle, spots, spots_of};
use vouch::settling_assumption;
use wrapping::{Met, of_wrapped, of_wrapping, wrapped};

/// What is known of the races of a kernel.
pub(super) struct Judged {
    /// How it is known that there are none, if nothing was reported.
    pub(super) verdict: Option<Verdict>,
    /// Whether something collides, whatever the data.
    pub(super) collides: bool,
    /// The arrays of which it is open whether accesses meet.
    pub(super) open: BTreeSet<ArrayRef>,
}

impl Judged {
    /// By what runs have `found`, and the `rest`; how that is known is asked where it `is_right`.
    fn of(found: &Findings, rest: &Rest, is_right: bool) -> Self {
        let of_data = found.open.iter().map(|(pair, _)| pair.array());
        let undecided = rest.undecided.iter().map(|(found, _)| found.array);
        Self {
            verdict: is_right.then(|| rest.verdict()),
            collides: found.conflicts.iter().any(|conflict| conflict.cause.is_none()),
            open: of_data.chain(undecided).collect(),
        }
    }
}

/// Reports what collides and what cannot be decided.
///
/// `found` is what running it at small sizes has shown, `unproved` what no proof
/// for all sizes covers. Conclusions rest on
/// indices that are inside: the arrays that are `stray` are left to the rule that
/// reports those.
pub(super) fn check_races(
    kernel: &Kernel,
    (mut found, unproved): (Findings, Vec<Unproved>),
    stray: &BTreeSet<ArrayRef>,
    diags: &mut Diagnostics,
) -> Judged {
    let uniformity = uniformity(kernel);
    let numbers = Wrapping::of(kernel, &uniformity);
    drop_proved(&unproved, &mut found);
    let told: BTreeSet<_> = found.known.iter().map(spots).collect();
    let mut rest = settle((kernel, &uniformity), unproved, &told, &mut found);
    found.conflicts.retain(|conflict| !stray.contains(&conflict.pair.array()));
    found.open.retain(|(pair, _)| !stray.contains(&pair.array()));
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
    let mut fuel = cure::FUEL;
    let of = (kernel, &uniformity, &numbers);
    let told_cures = report_conflicts(of, &found.conflicts, (&mut fuel, diags));
    let mut collided: BTreeSet<(SpanId, SpanId)> =
        found.conflicts.iter().map(|conflict| places(&conflict.pair)).collect();
    let arrays: BTreeSet<ArrayRef> =
        found.conflicts.iter().map(|conflict| conflict.pair.array()).collect();
    let mut cures: Vec<Cure> = Vec::new();
    for (pair, source) in &found.open {
        // What one barrier puts in order is told once.
        let is_mended =
            pair.scope == Scope::Block && cures.iter().any(|cure| !cure.left.contains(pair));
        let is_mended = is_mended || told_cures.iter().any(|cure| is_proved_in(&cure.mended, pair));
        // Of what collides for certain, the rest is told when that is mended.
        if !is_mended && !arrays.contains(&pair.array()) && collided.insert(places(pair)) {
            let context = (&found, &mut fuel, &mut cures);
            diags.push(open((kernel, &uniformity, &numbers), (pair, *source), context));
        }
    }
    // With one that mends all.
    if let Some(cure) = told_cures.iter().rev().find(|cure| cure.left.is_empty()) {
        rest.keep_beside(&cure.mended);
    }
    // Of an array that collides not every pair is found; the next run speaks of
    // what is left when that is mended.
    let mut known = stray.clone();
    let mut told = BTreeSet::new();
    for pair in found.reported() {
        known.insert(pair.array());
        told.insert(spots(pair));
    }
    let mut groups: Vec<(&Unproved, &Exhaustion, usize)> = Vec::new();
    for (unproved, why) in &rest.undecided {
        if !known.contains(&unproved.array) && told.insert(spots_of(unproved)) {
            match groups.iter_mut().find(|(first, ..)| undecided::have_one_cause(first, unproved)) {
                Some((.., more)) => *more += 1,
                None => groups.push((unproved, why, 0)),
            }
        }
    }
    for (unproved, why, more) in groups {
        let wraps = of_wrapping(kernel, &numbers, &Met::of_unproved(unproved));
        diags.push(wraps.unwrap_or_else(|| {
            let settled_by = undecided::settling(kernel, &uniformity, unproved);
            undecided::report(kernel, unproved, (why, settled_by), more)
        }));
    }
    Judged::of(&found, &rest, !diags.has_errors())
}

/// The same, where nothing is to be said of what collides or cannot be decided.
pub(super) fn judge_races(
    kernel: &Kernel,
    (mut found, unproved): (Findings, Vec<Unproved>),
) -> Judged {
    drop_proved(&unproved, &mut found);
    let rest = decide_all((kernel, &uniformity(kernel)), unproved, &mut found);
    let is_right = found.conflicts.is_empty() && found.open.is_empty() && rest.undecided.is_empty();
    Judged::of(&found, &rest, is_right)
}

/// Whether a pair is proved to be apart in the kernel with the barrier that it is told to have.
fn is_proved_in(mended: &Kernel, pair: &Pair) -> bool {
    let met = BTreeSet::from([pair.first.span, pair.second.span]);
    let is_asked = |_: ArrayRef, places: [SpanId; 2], is_between: bool| {
        is_between == (pair.scope == Scope::Grid) && BTreeSet::from(places) == met
    };
    let unproved = prove_among(mended, &uniformity(mended), &is_asked);
    !unproved.iter().any(|found| holds_of(found, pair))
}

/// What is said of a pair that data decides about: where a barrier between the two is
/// all that is missing, and any data shows it, that.
fn open(
    (kernel, uniformity, numbers): (&Kernel, &Uniformity, &Wrapping<'_>),
    (pair, source): (&Pair, Source),
    (found, fuel, cures): (&Findings, &mut u32, &mut Vec<Cure>),
) -> Diagnostic {
    if let Some(example) = found.examples.get(pair)
        && free::is_for_whole_block(kernel, uniformity, pair)
    {
        let certain = Conflict { cause: None, ..example.clone() };
        return report(&mut Between::of(kernel), &certain, &Sought::Nowhere, &[]);
    }
    let are_apart = pair.scope == Scope::Block && pair.first.stmt != pair.second.stmt;
    let settled_by = || {
        let of_data = settling_assumption(kernel, uniformity, pair, source);
        of_data.or_else(|| {
            let (first, second) = pair.sites();
            let places = [first.span, second.span];
            let asked = Asked { array: pair.array(), places, scope: pair.scope };
            settling_places(kernel, uniformity, &asked, &|found| holds_of(found, pair))
        })
    };
    let sought = are_apart.then(|| find_cure(kernel, uniformity, pair, None, fuel));
    let cure = sought
        .and_then(Sought::found)
        .filter(|cure| !Between::of(&cure.mended).may_meet(pair.array()));
    cures.extend(cure.clone());
    match (cure, found.examples.get(pair)) {
        (Some(cure), Some(example)) if free::have_free_indices(kernel, pair) => {
            let sought = Sought::Found(Box::new(cure));
            report(&mut Between::of(kernel), example, &sought, &[])
        }
        (Some(cure), _) => text::open(kernel, pair, source, None).help(Prose::place(kernel, &cure)),
        (None, _) => of_wrapping(kernel, numbers, &Met::of_pair(pair))
            .unwrap_or_else(|| text::open(kernel, pair, source, settled_by())),
    }
}

/// Where in the text the two accesses are: `c[i] += e` reads and writes in one place, of
/// which one thing is to be said.
fn places(pair: &Pair) -> (SpanId, SpanId) {
    let (first, second) = pair.sites();
    (first.span.min(second.span), first.span.max(second.span))
}

/// Reports what collides; gives where it is told to put barriers.
fn report_conflicts(
    (kernel, uniformity, numbers): (&Kernel, &Uniformity, &Wrapping<'_>),
    conflicts: &[Conflict],
    (fuel, diags): (&mut u32, &mut Diagnostics),
) -> Vec<Cure> {
    let (mut cures, mut between) = (Vec::new(), Between::of(kernel));
    let mut mended: BTreeSet<Pair> = BTreeSet::new();
    let mut told: BTreeSet<(SpanId, SpanId)> = BTreeSet::new();
    for conflict in conflicts {
        if mended.contains(&conflict.pair) || told.contains(&places(&conflict.pair)) {
            continue;
        }
        if let Some(number) = wrapped(numbers, conflict) {
            let wraps = report(&mut between, conflict, &Sought::Nowhere, &[]);
            diags.push(of_wrapped(kernel, number, wraps));
            told.insert(places(&conflict.pair));
            continue;
        }
        let sought = cure_of(kernel, uniformity, conflict, fuel);
        let same: Vec<&Conflict> = match &sought {
            Sought::Found(cure) => {
                conflicts.iter().filter(|other| is_mended(cure, other)).collect()
            }
            Sought::Nowhere | Sought::Untried => of_one_cause(conflict, conflicts),
        };
        diags.push(report(&mut between, conflict, &sought, &same));
        mended.extend(same.iter().map(|other| other.pair));
        match sought {
            Sought::Found(cure) => cures.push(*cure),
            Sought::Nowhere | Sought::Untried => drop(told.insert(places(&conflict.pair))),
        }
    }
    cures
}

/// Most pairs of accesses to one array that are told one by one.
const MAX_TOLD: usize = 4;

/// Where many accesses to one array collide between blocks at the same sizes, these: it
/// is their common index that is wrong.
fn of_one_cause<'c>(conflict: &Conflict, conflicts: &'c [Conflict]) -> Vec<&'c Conflict> {
    let is_same = |other: &&Conflict| {
        let (one, two) = (&conflict.pair, &other.pair);
        (one.scope, one.array()) == (two.scope, two.array()) && conflict.sizes == other.sizes
    };
    let is_between = conflict.pair.scope == Scope::Grid;
    let same: Vec<&Conflict> = conflicts.iter().filter(is_same).collect();
    let places: BTreeSet<_> = same.iter().map(|other| places(&other.pair)).collect();
    if is_between && places.len() > MAX_TOLD { same } else { Vec::new() }
}

fn cure_of(
    kernel: &Kernel,
    uniformity: &Uniformity,
    conflict: &Conflict,
    fuel: &mut u32,
) -> Sought {
    if conflict.pair.scope == Scope::Grid {
        return Sought::Nowhere;
    }
    match find_cure(kernel, uniformity, &conflict.pair, Some(conflict), fuel) {
        Sought::Found(cure) => {
            let blocks_may_meet = Between::of(&cure.mended).may_meet(conflict.pair.array());
            Sought::Found(Box::new(Cure { blocks_may_meet, ..*cure }))
        }
        sought => sought,
    }
}

fn is_mended(cure: &Cure, conflict: &Conflict) -> bool {
    conflict.pair.scope == Scope::Block && !cure.left.contains(&conflict.pair)
}

fn report(
    between: &mut Between<'_>,
    conflict: &Conflict,
    sought: &Sought,
    same: &[&Conflict],
) -> Diagnostic {
    let (kernel, pair) = (between.kernel, &conflict.pair);
    let code = match (pair.scope, pair.array()) {
        (Scope::Grid, _) => Code::BlockRace,
        (Scope::Block, ArrayRef::Tile(_)) => Code::SharedRace,
        (Scope::Block, ArrayRef::Tensor(_)) => Code::GlobalRace,
    };
    let prose = Prose::new(kernel, conflict);
    Diagnostic {
        notes: prose.notes(same),
        help: Some(match sought {
            Sought::Found(cure) => Prose::place(kernel, cure),
            Sought::Nowhere if prose.is_taken_apart() && between.may_meet(pair.array()) => {
                prose.remedy(false) + ORDERS_NO_BLOCKS
            }
            Sought::Nowhere => prose.remedy(false),
            Sought::Untried => prose.remedy(true),
        }),
        ..Diagnostic::error(code, pair.second.span, prose.message())
            .label(pair.first.span, prose.first())
    }
}
