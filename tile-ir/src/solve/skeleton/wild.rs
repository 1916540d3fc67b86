//! Accesses at an index that loaded data decides.
//!
//! Such an index may be any, so two accesses can only be told apart by those of
//! their coordinates that are known on both sides: `s[tx, ind[i]]` and
//! `s[ty, 0]` by the first; or of which the same is unknown ([`super::terms`]): those at
//! `n + tx` and `n + tx + 1`; or, where it is followed, by what their indices are made of
//! ([`super::amounts`]). Accesses are kept in a list and compared when their interval ends.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::amounts::Amounts;
use super::amounts::apart::Spot;
use super::amounts::ways::Way;
use super::plan::SiteId;
use super::shadow::{Mark, Scope};
use super::terms::Term;
use super::value::Value;
use crate::kernel::{AccessKind, Source};

/// Most kinds of accesses, by what of them is unknown, that are told apart.
const MAX_KINDS: usize = 12;

/// Most accesses that are compared each with each by their amounts.
const MAX_COMPARED: usize = 128;

/// What is kept of an access besides its coordinates.
#[derive(Clone, Debug)]
struct Kept {
    /// What decides a coordinate.
    source: Option<Source>,
    mark: Mark,
    kind: AccessKind,
    /// What it is by its amounts, where they are followed.
    spot: Option<Spot>,
}

/// An access.
#[derive(Clone, Copy, Debug)]
struct Entry<'a> {
    coordinates: &'a [i64],
    /// By axis, what of the coordinate is unknown: nothing, a term, or all.
    unknown: &'a [Option<Term>],
    source: Option<Source>,
    mark: Mark,
    kind: AccessKind,
    spot: Option<&'a Spot>,
}

/// Accesses of two workers that may be to one element, and what decides.
#[derive(Clone, Debug)]
pub(super) struct Undecided {
    pub(super) one: Mark,
    pub(super) other: Mark,
    pub(super) source: Source,
    /// Where both are to one element whatever is loaded: which, for what was made up.
    pub(super) element: Option<Vec<i64>>,
}

/// Accesses of two workers that are to one element where loaded data is as it was
/// made up.
#[derive(Clone, Debug)]
pub(super) struct Met {
    pub(super) one: Mark,
    pub(super) other: Mark,
    pub(super) element: Vec<i64>,
    pub(super) source: Source,
}

/// The accesses to one array.
#[derive(Debug, Default)]
pub(super) struct Log {
    kept: Vec<Kept>,
    /// The coordinates of one access after another, and what of them is unknown.
    coordinates: Vec<i64>,
    unknown: Vec<Option<Term>>,
    /// Where the present interval begins.
    interval: usize,
    /// Where the last access is of which something is unknown, from 1.
    last_open: usize,
}

impl Log {
    /// Adds an access.
    pub(super) fn enter(
        &mut self,
        indices: &[Value],
        (mark, kind): (Mark, AccessKind),
        spot: Option<Spot>,
    ) {
        self.coordinates.extend(indices.iter().map(|index| index.as_index()));
        let from = self.unknown.len();
        self.unknown.extend(indices.iter().map(|index| index.unknown()));
        let source = indices.iter().find_map(|index| index.data());
        self.kept.push(Kept { source, mark, kind, spot });
        if !is_known(&self.unknown[from..]) {
            self.last_open = self.kept.len();
        }
    }

    /// Ends an interval of a block, and gives what in it cannot be told apart, and of
    /// that what the data that was made up shows.
    pub(super) fn end_interval(&mut self, amounts: Option<&Amounts>) -> (Vec<Undecided>, Vec<Met>) {
        let from = std::mem::replace(&mut self.interval, self.kept.len());
        let entries = self.open_entries(from);
        (compared(&entries, Scope::Block, amounts), meetings(&entries, Scope::Block))
    }

    /// What cannot be told apart of different blocks.
    pub(super) fn end_grid(&self, amounts: Option<&Amounts>) -> Vec<Undecided> {
        compared(&self.open_entries(0), Scope::Grid, amounts)
    }

    /// The accesses from one on; none where all are known, which are told apart as they are
    /// made, or no two can conflict.
    fn open_entries(&self, from: usize) -> Vec<Entry<'_>> {
        let kinds = || self.kept[from..].iter().map(|kept| kept.kind);
        let conflict = || kinds().next().is_some_and(|one| kinds().any(|two| one.conflicts(two)));
        if self.last_open <= from || !conflict() {
            return Vec::new();
        }
        let axes = self.coordinates.len().checked_div(self.kept.len()).unwrap_or(0);
        let kept = self.kept.iter().enumerate().skip(from);
        kept.map(|(at, kept)| {
            let place = at * axes..(at + 1) * axes;
            Entry {
                coordinates: &self.coordinates[place.clone()],
                unknown: &self.unknown[place],
                source: kept.source,
                mark: kept.mark,
                kind: kept.kind,
                spot: kept.spot.as_ref(),
            }
        })
        .collect()
    }
}

/// Of each kind of access so many that whoever collides with one that was made collides with one of
/// these: two of two blocks, or of two warps. As long as all are of one warp, which orders those of
/// before and behind its barriers, two work-items of each time between these.
#[derive(Default)]
struct Users<'a> {
    writers: Vec<&'a Entry<'a>>,
    readers: Vec<&'a Entry<'a>>,
    updaters: Vec<&'a Entry<'a>>,
}

impl<'a> Users<'a> {
    fn add(&mut self, entry: &'a Entry<'a>, scope: Scope) {
        let users = match entry.kind {
            AccessKind::Write => &mut self.writers,
            AccessKind::Read => &mut self.readers,
            AccessKind::Atomic => &mut self.updaters,
        };
        let is_new = match scope {
            Scope::Grid => {
                users.len() < 2 && users.iter().all(|user| user.mark.differs(&entry.mark, scope))
            }
            Scope::Block => {
                let warp = |entry: &Entry<'_>| entry.mark.warp;
                let time = |entry: &Entry<'_>| (entry.mark.warp, entry.mark.epoch);
                let are_of_two_warps =
                    users.last().is_some_and(|last| warp(last) != warp(users[0]));
                let mut beside = users.iter().filter(|user| time(user) == time(entry));
                let is_known = beside.next().is_some_and(|first| {
                    first.mark.worker == entry.mark.worker || beside.next().is_some()
                });
                !are_of_two_warps && !is_known
            }
        };
        if is_new {
            users.push(entry);
        }
    }

    /// One that `entry` may collide with.
    fn against(&self, entry: &Entry<'_>, scope: Scope) -> Option<&'a Entry<'a>> {
        let mut all = self.writers.iter().chain(&self.readers).chain(&self.updaters);
        let collides = |user: &&&Entry<'_>| {
            user.kind.conflicts(entry.kind) && user.mark.differs(&entry.mark, scope)
        };
        all.find(collides).copied()
    }
}

/// Accesses to one element, of which an index of one at least is loaded.
fn meetings(entries: &[Entry<'_>], scope: Scope) -> Vec<Met> {
    let mut users: BTreeMap<&[i64], Users<'_>> = BTreeMap::new();
    let mut found: BTreeMap<(SiteId, SiteId), Met> = BTreeMap::new();
    for entry in entries {
        let at = users.entry(entry.coordinates).or_default();
        if let Some(user) = at.against(entry, scope)
            && let Some(source) = entry.source.or(user.source)
        {
            found.entry((user.mark.site, entry.mark.site)).or_insert_with(|| Met {
                one: user.mark,
                other: entry.mark,
                element: entry.coordinates.to_vec(),
                source,
            });
        }
        at.add(entry, scope);
    }
    found.into_values().collect()
}

/// Accesses to one element whatever it is: of their coordinates the same is unknown.
fn surely_one(entries: &[Entry<'_>], scope: Scope) -> Vec<Undecided> {
    let is_asked =
        |entry: &&Entry<'_>| entry.unknown.iter().all(Option::is_some) && !is_known(entry.unknown);
    let mut users: BTreeMap<(&[i64], &[Option<Term>]), Users<'_>> = BTreeMap::new();
    let mut found: BTreeMap<(SiteId, SiteId), Undecided> = BTreeMap::new();
    for entry in entries.iter().filter(is_asked) {
        let at = users.entry((entry.coordinates, entry.unknown)).or_default();
        if let Some(user) = at.against(entry, scope)
            && let Some(source) = entry.source.or(user.source)
        {
            let element = Some(entry.coordinates.to_vec());
            let (one, other) = (user.mark, entry.mark);
            let meeting = Undecided { one, other, source, element };
            found.entry((one.site, other.site)).or_insert(meeting);
        }
        at.add(entry, scope);
    }
    found.into_values().collect()
}

fn is_known(unknown: &[Option<Term>]) -> bool {
    unknown.iter().all(|term| *term == Some(0))
}

/// What of an entry's coordinates counts as unknown.
fn kind_of<'a>(entry: &Entry<'a>, with_terms: bool) -> Cow<'a, [Option<Term>]> {
    let is_term = |term: &Option<Term>| term.is_some_and(|term| term != 0);
    if with_terms || !entry.unknown.iter().any(is_term) {
        return Cow::Borrowed(entry.unknown);
    }
    entry.unknown.iter().map(|term| term.filter(|term| *term == 0)).collect()
}

/// The accesses by what of them counts as unknown.
fn by_kind<'a>(
    entries: &'a [Entry<'a>],
    with_terms: bool,
) -> BTreeMap<Cow<'a, [Option<Term>]>, Vec<&'a Entry<'a>>> {
    let mut kinds: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for entry in entries {
        kinds.entry(kind_of(entry, with_terms)).or_default().push(entry);
    }
    kinds
}

fn compared(entries: &[Entry<'_>], scope: Scope, amounts: Option<&Amounts>) -> Vec<Undecided> {
    match amounts {
        None => {
            let mut undecided = surely_one(entries, scope);
            undecided.extend(compare(entries, scope, true));
            undecided
        }
        Some(amounts) if are_apart(entries, scope, amounts) => Vec::new(),
        // Amounts are no terms.
        Some(_) => compare(entries, scope, false),
    }
}

/// Whether amounts tell all of these apart that some data could make collide.
fn are_apart(entries: &[Entry<'_>], scope: Scope, amounts: &Amounts) -> bool {
    // What one worker does at one place, in one way or another, is once there.
    let mut spots: Vec<(&Entry<'_>, &Spot)> = Vec::new();
    let mut ways: Vec<Vec<Way>> = Vec::new();
    let mut of: Vec<usize> = Vec::with_capacity(entries.len());
    for entry in entries {
        let Some(spot) = entry.spot else { return false };
        let is_it = |(other, there): &(&Entry<'_>, &Spot)| {
            let (one, two) = (&other.mark, &entry.mark);
            *there == spot && (one.worker, one.block) == (two.worker, two.block)
        };
        if !spots.last().is_some_and(is_it) {
            spots.push((entry, spot));
            ways.push(amounts.ways(spot));
        }
        of.push(ways.len() - 1);
    }
    let places = spots.iter().map(|(entry, _)| entry.mark.site);
    let alone: Vec<(SiteId, &[Way])> = places.zip(ways.iter().map(Vec::as_slice)).collect();
    if amounts.are_all_apart(&alone) {
        return true;
    }
    let may_collide = |one: &Entry<'_>, other: &Entry<'_>| {
        one.kind.conflicts(other.kind)
            && one.mark.differs(&other.mark, scope)
            && !(is_known(one.unknown) && is_known(other.unknown))
    };
    let are_apart = |one: usize, other: usize| amounts.are_apart(&ways[of[one]], &ways[of[other]]);
    entries.len() <= MAX_COMPARED
        && (0..entries.len()).all(|one| {
            let mut others = one + 1..entries.len();
            others
                .all(|other| !may_collide(&entries[one], &entries[other]) || are_apart(one, other))
        })
}

fn compare(entries: &[Entry<'_>], scope: Scope, have_terms: bool) -> Vec<Undecided> {
    let mut all = by_kind(entries, have_terms);
    if have_terms && all.len() > MAX_KINDS {
        all = by_kind(entries, false);
    }
    let all: Vec<_> = all.into_iter().collect();
    let mut found = Vec::new();
    for (at, (one, first)) in all.iter().enumerate() {
        for (other, second) in &all[at..] {
            if is_known(one) && is_known(other) {
                continue;
            }
            // What both sides know, told apart by; the rest may be equal.
            let axes = one.iter().zip(other.iter()).enumerate();
            let known = axes.filter(|(_, (one, other))| one.is_some() && one == other);
            let known: Vec<usize> = known.map(|(axis, _)| axis).collect();
            let key = |entry: &Entry<'_>| -> Vec<i64> {
                known.iter().map(|axis| entry.coordinates[*axis]).collect()
            };
            let mut users: BTreeMap<Vec<i64>, Users<'_>> = BTreeMap::new();
            if one != other {
                for entry in first {
                    users.entry(key(entry)).or_default().add(entry, scope);
                }
            }
            for entry in second {
                let at = users.entry(key(entry)).or_default();
                if let Some(user) = at.against(entry, scope)
                    && let Some(source) = entry.source.or(user.source)
                {
                    let element = None;
                    found.push(Undecided { one: user.mark, other: entry.mark, source, element });
                }
                if one == other {
                    at.add(entry, scope);
                }
            }
        }
    }
    found
}
