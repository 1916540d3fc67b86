//! Proofs, for all admissible sizes at once, that accesses do not conflict.
//!
//! # Procedure
//!
//! 1. [`walk`] collects the accesses, with indices and guards as polynomials and formulas over
//!    symbols ([`algebra`]). What it knows of values is cut by what they are: results of
//!    operations ([`terms`]), variables of loops ([`loops`]), what cells of tiles hold
//!    ([`tiles`]), old values of counters ([`slots`]), sums over work-items ([`scans`]), and what
//!    they give each other ([`exchange`]).
//! 2. [`pairs`] says which accesses a barrier interval can hold; between blocks it is every pair.
//!    Of each pair of which one writes it states that two different work-items meet in one
//!    element.
//! 3. [`search`] shows that the statement has no solution, or fails to.
//!
//! # What it rests on
//!
//! - Barriers stand in uniform control flow; the divergence rule reports what
//!   does not.
//! - Indices are exact integers.
//! - What the author assumes holds, from where it is stated on.
//! - Indices of a tile are inside its extents, else the access is reported or
//!   guarded; an access outside a tensor touches nothing.
//!
//! A pair is called disjoint only where that is proved; whatever is unknown, too
//! large or too slow to decide leaves it unproved.

mod algebra;
mod exchange;
mod loops;
mod pairs;
mod scans;
mod search;
mod slots;
mod terms;
mod tiles;
mod walk;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::check::Uniformity;
use crate::kernel::{AccessKind, ArrayRef, ExprId, Kernel, VarId};
use crate::span::SpanId;
use algebra::poly::Poly;
pub(crate) use algebra::symbol::Obstacle;
pub(crate) use pairs::cases::unproved_by_cases;
pub(crate) use pairs::decided::launch_conditions;
use pairs::flow::{Distance, Encounter};
use pairs::instance::Meeting;
pub(crate) use pairs::listed::{EachSize, Sizes};
pub(crate) use pairs::one_to_one::one_to_one;
pub(crate) use pairs::parted::{never_part, one_answer};
pub(crate) use pairs::proofs::Proofs;
pub(crate) use pairs::reads::Reads;
use pairs::renewals::Renewals;
pub(crate) use pairs::row_by_row::row_by_row;
pub(crate) use pairs::staying::staying;
pub(crate) use pairs::suggest::{Suggestion, Suggestions};
pub(crate) use pairs::wrapping::{Places, Wrapping};
pub(super) use search::linear::{Effort, Row};
pub(super) use search::whole_point::whole_point;
pub(crate) use tiles::arrays::has_loops_of_updates;
pub(crate) use tiles::stored::{number_that_unstores, stored, stored_within_limits};
use walk::{Site, Walk};

/// How two accesses can come to be unordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Relation {
    /// They are in one barrier interval, in the same iteration of every loop
    /// around both.
    SameInterval,
    /// They are in one barrier interval that spans iterations of a loop.
    Carried {
        /// The loop's keyword.
        head: SpanId,
        /// Its counter; `None` of a `while`.
        counter: Option<VarId>,
    },
    /// They are in different blocks, which no barrier orders.
    BetweenBlocks,
}

/// Why no proof was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// This part of an index or guard is beyond linear arithmetic.
    NotLinear(SpanId, Obstacle),
    /// The accesses are understood, and not seen to be disjoint.
    NotDisjoint,
}

/// Two accesses of one array, at least one a write, that different work-items
/// may make unordered, and that were not proved to be disjoint at all sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unproved {
    /// The array.
    pub(crate) array: ArrayRef,
    /// The access that comes first in the text, and what it does.
    pub(crate) first: (SpanId, AccessKind),
    /// The other one; the same where two work-items meet in one statement.
    pub(crate) second: (SpanId, AccessKind),
    /// How they come to be unordered.
    pub(crate) relation: Relation,
    /// Why no proof was found.
    pub(crate) reason: Reason,
}

/// The pairs of accesses that may conflict, of those that are asked for, by their array, their
/// places in the text, and whether they are of different blocks: others take no time.
pub(crate) fn prove_among(
    kernel: &Kernel,
    uniformity: &Uniformity,
    is_asked: &dyn Fn(ArrayRef, [SpanId; 2], bool) -> bool,
) -> Vec<Unproved> {
    prove_within(1, (kernel, uniformity), is_asked)
}

/// The same with one of so many parts of what a kernel's proofs may take.
pub(crate) fn prove_within(
    part: usize,
    (kernel, uniformity): (&Kernel, &Uniformity),
    is_asked: &dyn Fn(ArrayRef, [SpanId; 2], bool) -> bool,
) -> Vec<Unproved> {
    let is_asked = |[first, second]: [&Site; 2], meeting: Meeting<'_>| {
        is_asked(first.array, [first.span, second.span], meeting.is_between_blocks())
    };
    let mut walk = walk::begin::walk(kernel, uniformity);
    walk.set_effort(Effort::parts(1, part));
    prove_some(&walk, &is_asked, &mut BTreeSet::new)
}

/// How two accesses of a kernel can meet, by their numbers.
enum Case {
    InBlock(Encounter),
    BetweenBlocks(usize, usize),
}

/// Of which pairs is asked, and of which ways to meet.
type IsAsked<'a> = dyn Fn([&Site; 2], Meeting<'_>) -> bool + 'a;

/// Pairs that are still looked at once nothing is left for those that are plain.
const MAX_BEYOND: usize = 96;

/// For how many pairs that are not plain there is as much effort again.
const HARD_PAIRS: usize = 16;

/// Those of the pairs of which `is_asked`, and not of arrays that have `collided`.
fn prove_some(
    walk: &Walk<'_>,
    is_asked: &IsAsked<'_>,
    collided: &mut dyn FnMut() -> BTreeSet<ArrayRef>,
) -> Vec<Unproved> {
    let sites = &walk.sites;
    let conflict = |(a, b): (usize, usize), meeting: Meeting<'_>| {
        let pair @ [first, second] = [&sites[a], &sites[b]];
        let may_conflict = first.array == second.array && first.kind.conflicts(second.kind);
        may_conflict && is_asked(pair, meeting)
    };
    let mut cases: Vec<Case> = walk.pairs.list().into_iter().map(Case::InBlock).collect();
    if !walk.kernel.grid.is_empty() {
        let is_tensor = |at: &usize| matches!(sites[*at].array, ArrayRef::Tensor(_));
        let between = (0..sites.len()).filter(is_tensor);
        cases
            .extend(between.flat_map(|a| (a..sites.len()).map(move |b| Case::BetweenBlocks(a, b))));
    }
    cases.retain(|case| {
        let (pair, meeting) = case.parts();
        conflict(pair, meeting)
    });
    retain_hard(walk, &mut cases);
    walk.effort.lengthen(cases.len() / HARD_PAIRS);
    let collided = if cases.is_empty() { BTreeSet::new() } else { collided() };
    let mut renewals = Renewals::of(&walk.effort);
    let mut out = Vec::new();
    for case in cases {
        let ((a, b), meeting) = case.parts();
        let (first, second) = (&sites[a], &sites[b]);
        let is_told = is_told(walk, &case, &out);
        if is_told
            || collided.contains(&first.array)
            || renewals.is_disjoint(walk, [first, second], (meeting, out.is_empty()))
        {
            continue;
        }
        let relation = match &case {
            Case::InBlock(Encounter { distance, .. }) => relation(walk, (first, second), distance),
            Case::BetweenBlocks(..) => Relation::BetweenBlocks,
        };
        note(&mut out, unproved(walk, (a, b), relation));
    }
    out
}

/// Leaves out what is seen to be disjoint with little effort, first: the hard pairs leave nothing
/// for the others.
fn retain_hard(walk: &Walk<'_>, cases: &mut Vec<Case>) {
    let plain = walk.effort.half();
    let mut beyond = 0;
    cases.retain(|case| {
        let ((a, b), meeting) = case.parts();
        let is_plain = || walk.is_plainly_disjoint(&walk.sites[a], &walk.sites[b], meeting);
        // With nothing left what is plain at once is seen, of as many as take no time.
        beyond += usize::from(plain.is_spent());
        beyond > MAX_BEYOND || !walk.effort.exchanged(&plain, is_plain)
    });
}

/// Whether the same would be told of a pair as of one that is told already, but for why: so it is
/// with rounds that are walked one by one.
fn is_told(walk: &Walk<'_>, case: &Case, told: &[Unproved]) -> bool {
    let ((a, b), _) = case.parts();
    plain_relation(walk, case).is_some_and(|relation| {
        let next = unproved(walk, (a, b), relation);
        told.iter().any(|found| Unproved { reason: next.reason, ..*found } == next)
    })
}

impl Case {
    fn parts(&self) -> ((usize, usize), Meeting<'_>) {
        match self {
            Self::InBlock(Encounter { sites, distance, paths }) => {
                (*sites, Meeting::InBlock(distance, paths))
            }
            Self::BetweenBlocks(a, b) => ((*a, *b), Meeting::BetweenBlocks),
        }
    }
}

/// The assumptions that never hold, at any admissible size, for any data.
pub(crate) fn impossible(kernel: &Kernel, uniformity: &Uniformity) -> Vec<ExprId> {
    walk::begin::walk(kernel, uniformity).impossible
}

/// One finding for each pair of accesses and relation.
fn note(out: &mut Vec<Unproved>, found: Unproved) {
    if !out.contains(&found) {
        out.push(found);
    }
}

/// The relation to name, where it is plain which.
fn plain_relation(walk: &Walk<'_>, case: &Case) -> Option<Relation> {
    match case {
        Case::BetweenBlocks(..) => Some(Relation::BetweenBlocks),
        Case::InBlock(Encounter { distance: Distance::Same(_), .. }) => {
            Some(Relation::SameInterval)
        }
        Case::InBlock(Encounter { distance: Distance::Next(_, id), .. }) => {
            Some(carried_by(&walk.all_loops[id.0]))
        }
        Case::InBlock(_) => None,
    }
}

fn carried_by(found: &loops::Loop) -> Relation {
    Relation::Carried { head: found.head, counter: found.counter }
}

/// The relation to name. A loop without barrier puts all its iterations into one
/// interval; the loop is to blame only where one iteration alone is fine.
fn relation(walk: &Walk<'_>, (first, second): (&Site, &Site), distance: &Distance) -> Relation {
    let (Distance::Next(_, id) | Distance::Later(_, id) | Distance::Any(_, id)) = distance else {
        return Relation::SameInterval;
    };
    let carried = carried_by(&walk.all_loops[id.0]);
    if matches!(distance, Distance::Next(..)) {
        return carried;
    }
    let both = first.loops.iter().zip(&second.loops).take_while(|(a, b)| a == b);
    let same = Distance::Same(both.map(|(id, _)| *id).collect());
    if walk.is_disjoint(first, second, Meeting::InBlock(&same, &Default::default())) {
        carried
    } else {
        Relation::SameInterval
    }
}

fn unproved(walk: &Walk<'_>, (a, b): (usize, usize), relation: Relation) -> Unproved {
    let (first, second) = (&walk.sites[a.min(b)], &walk.sites[a.max(b)]);
    let side = |site: &Site| (site.span, site.kind);
    Unproved {
        array: first.array,
        first: side(first),
        second: side(second),
        relation,
        reason: reason(walk, first, second),
    }
}

/// The first part of the indices, then of the guards, that is not linear.
fn reason(walk: &Walk<'_>, first: &Site, second: &Site) -> Reason {
    let mut symbols = Vec::new();
    for site in [first, second] {
        symbols.extend(site.indices.iter().flat_map(Poly::unknowns));
    }
    for site in [first, second] {
        site.guards.iter().for_each(|guard| guard.collect_unknowns(&mut symbols));
    }
    let obstacle = symbols.iter().find_map(|symbol| walk.symbols.get(*symbol)?.obstacle);
    obstacle.map_or(Reason::NotDisjoint, |(span, what)| Reason::NotLinear(span, what))
}
