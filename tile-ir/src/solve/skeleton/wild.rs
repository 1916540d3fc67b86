//! Accesses at an index that loaded data decides.
//!
//! Such an index may be any, so two accesses can only be told apart by those of
//! their coordinates that are known on both sides: `s[tx, ind[i]]` and
//! `s[ty, 0]` by the first; or of which the same is unknown ([`super::terms`]): those at
//! `n + tx` and `n + tx + 1`; or, where it is followed, by what their indices are made of
//! ([`super::amounts`]). Accesses are kept in a list and compared when their interval ends.

use std::collections::{BTreeMap, BTreeSet};

use super::amounts::Amounts;
use super::amounts::apart::Spot;
use super::eval::Value;
use super::plan::SiteId;
use super::shadow::{Mark, Scope};
use super::terms::Term;
use crate::kernel::{AccessKind, Source};

/// Most kinds of accesses, by what of them is unknown, that are told apart.
const MAX_KINDS: usize = 12;

/// Most accesses that are compared each with each by their amounts.
const MAX_COMPARED: usize = 128;

/// An access.
#[derive(Clone, Debug)]
struct Entry {
    coordinates: Vec<i64>,
    /// By axis, what of the coordinate is unknown: nothing, a term, or all.
    unknown: Vec<Option<Term>>,
    /// What decides one.
    source: Option<Source>,
    mark: Mark,
    kind: AccessKind,
    /// What it is by its amounts, where they are followed.
    spot: Option<Spot>,
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
    entries: Vec<Entry>,
    /// Where the present interval begins.
    interval: usize,
}

impl Log {
    /// Adds an access.
    pub(super) fn enter(
        &mut self,
        indices: &[Value],
        (mark, kind): (Mark, AccessKind),
        spot: Option<Spot>,
    ) {
        self.entries.push(Entry {
            coordinates: indices.iter().map(|index| index.as_index()).collect(),
            unknown: indices.iter().map(|index| index.unknown()).collect(),
            source: indices.iter().find_map(|index| index.data),
            mark,
            kind,
            spot,
        });
    }

    /// Ends an interval of a block, and gives what in it cannot be told apart, and of
    /// that what the data that was made up shows.
    pub(super) fn end_interval(&mut self, amounts: Option<&Amounts>) -> (Vec<Undecided>, Vec<Met>) {
        let from = std::mem::replace(&mut self.interval, self.entries.len());
        let entries = &self.entries[from..];
        (compared(entries, Scope::Block, amounts), meetings(entries, Scope::Block))
    }

    /// What cannot be told apart of different blocks.
    pub(super) fn end_grid(&self, amounts: Option<&Amounts>) -> Vec<Undecided> {
        compared(&self.entries, Scope::Grid, amounts)
    }
}

/// Of each kind of access two, of two workers.
#[derive(Default)]
struct Users<'a> {
    writers: Vec<&'a Entry>,
    readers: Vec<&'a Entry>,
    updaters: Vec<&'a Entry>,
}

impl<'a> Users<'a> {
    fn add(&mut self, entry: &'a Entry, scope: Scope) {
        let users = match entry.kind {
            AccessKind::Write => &mut self.writers,
            AccessKind::Read => &mut self.readers,
            AccessKind::Atomic => &mut self.updaters,
        };
        if users.iter().all(|user| user.mark.differs(&entry.mark, scope)) && users.len() < 2 {
            users.push(entry);
        }
    }

    /// One that `entry` may collide with.
    fn against(&self, entry: &Entry, scope: Scope) -> Option<&'a Entry> {
        let mut all = self.writers.iter().chain(&self.readers).chain(&self.updaters);
        let collides = |user: &&&Entry| {
            user.kind.conflicts(entry.kind) && user.mark.differs(&entry.mark, scope)
        };
        all.find(collides).copied()
    }
}

/// Accesses to one element, of which an index of one at least is loaded.
fn meetings(entries: &[Entry], scope: Scope) -> Vec<Met> {
    let mut users: BTreeMap<&[i64], Users<'_>> = BTreeMap::new();
    let mut found: BTreeMap<(SiteId, SiteId), Met> = BTreeMap::new();
    if entries.iter().all(|entry| is_known(&entry.unknown)) {
        return Vec::new();
    }
    for entry in entries {
        let at = users.entry(&entry.coordinates).or_default();
        if let Some(user) = at.against(entry, scope)
            && let Some(source) = entry.source.or(user.source)
        {
            found.entry((user.mark.site, entry.mark.site)).or_insert_with(|| Met {
                one: user.mark,
                other: entry.mark,
                element: entry.coordinates.clone(),
                source,
            });
        }
        at.add(entry, scope);
    }
    found.into_values().collect()
}

/// Accesses to one element whatever it is: of their coordinates the same is unknown.
fn surely_one(entries: &[Entry], scope: Scope) -> Vec<Undecided> {
    let is_asked =
        |entry: &&Entry| entry.unknown.iter().all(Option::is_some) && !is_known(&entry.unknown);
    let mut users: BTreeMap<(&[i64], &[Option<Term>]), Users<'_>> = BTreeMap::new();
    let mut found: BTreeMap<(SiteId, SiteId), Undecided> = BTreeMap::new();
    for entry in entries.iter().filter(is_asked) {
        let at = users.entry((&entry.coordinates, &entry.unknown)).or_default();
        if let Some(user) = at.against(entry, scope)
            && let Some(source) = entry.source.or(user.source)
        {
            let element = Some(entry.coordinates.clone());
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
fn kind_of(entry: &Entry, with_terms: bool) -> Vec<Option<Term>> {
    let kind = |term: &Option<Term>| term.filter(|term| with_terms || *term == 0);
    entry.unknown.iter().map(kind).collect()
}

fn compared(entries: &[Entry], scope: Scope, amounts: Option<&Amounts>) -> Vec<Undecided> {
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
fn are_apart(entries: &[Entry], scope: Scope, amounts: &Amounts) -> bool {
    if entries.iter().all(|entry| is_known(&entry.unknown)) {
        return true;
    }
    // What one worker does at one place, in one way or another, is once there.
    let mut spots: Vec<(&Entry, &Spot)> = Vec::new();
    for entry in entries {
        let Some(spot) = &entry.spot else { return false };
        let is_it = |(other, there): &(&Entry, &Spot)| {
            let (one, two) = (&other.mark, &entry.mark);
            *there == spot && (one.worker, one.block) == (two.worker, two.block)
        };
        if !spots.last().is_some_and(is_it) {
            spots.push((entry, spot));
        }
    }
    let alone: Vec<&Spot> = spots.iter().map(|(_, spot)| *spot).collect();
    if amounts.are_all_apart(&alone) {
        return true;
    }
    let may_collide = |one: &Entry, other: &Entry| {
        one.kind.conflicts(other.kind)
            && one.mark.differs(&other.mark, scope)
            && !(is_known(&one.unknown) && is_known(&other.unknown))
    };
    let are_apart = |one: &Entry, other: &Entry| {
        let both = one.spot.as_ref().zip(other.spot.as_ref());
        both.is_some_and(|(one, other)| amounts.are_apart(one, other))
    };
    entries.len() <= MAX_COMPARED
        && entries.iter().enumerate().all(|(at, one)| {
            entries[at + 1..].iter().all(|other| !may_collide(one, other) || are_apart(one, other))
        })
}

fn compare(entries: &[Entry], scope: Scope, have_terms: bool) -> Vec<Undecided> {
    let kinds = |with_terms| -> BTreeSet<Vec<Option<Term>>> {
        entries.iter().map(|entry| kind_of(entry, with_terms)).collect()
    };
    let mut all = kinds(have_terms);
    let with_terms = have_terms && all.len() <= MAX_KINDS;
    if !with_terms {
        all = kinds(false);
    }
    let by_kind = |kind: &Vec<Option<Term>>| -> Vec<&Entry> {
        entries.iter().filter(|entry| kind_of(entry, with_terms) == *kind).collect()
    };
    let all: Vec<(Vec<Option<Term>>, Vec<&Entry>)> =
        all.into_iter().map(|kind| (kind.clone(), by_kind(&kind))).collect();
    let mut found = Vec::new();
    for (at, (one, first)) in all.iter().enumerate() {
        for (other, second) in &all[at..] {
            if is_known(one) && is_known(other) {
                continue;
            }
            // What both sides know, told apart by; the rest may be equal.
            let key = |entry: &Entry| -> Vec<i64> {
                let axes = entry.coordinates.iter().zip(one.iter().zip(other));
                let known = axes.filter(|(_, (one, other))| one.is_some() && one == other);
                known.map(|(coordinate, _)| *coordinate).collect()
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
