//! Accesses at an index that loaded data decides.
//!
//! Such an index may be any, so two accesses can only be told apart by those of
//! their coordinates that are known on both sides: `s[tx, ind[i]]` and
//! `s[ty, 0]` by the first; or of which the same is unknown ([`super::terms`]): those at
//! `n + tx` and `n + tx + 1`. Accesses are kept in a list and compared when their
//! interval ends.

use std::collections::{BTreeMap, BTreeSet};

use super::eval::Value;
use super::plan::SiteId;
use super::shadow::{Mark, Scope};
use super::terms::Term;
use crate::kernel::{AccessKind, Source};

/// Most kinds of accesses, by what of them is unknown, that are told apart.
const MAX_KINDS: usize = 12;

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
    pub(super) fn enter(&mut self, indices: &[Value], mark: Mark, kind: AccessKind) {
        self.entries.push(Entry {
            coordinates: indices.iter().map(|index| index.as_index()).collect(),
            unknown: indices.iter().map(|index| index.unknown()).collect(),
            source: indices.iter().find_map(|index| index.data),
            mark,
            kind,
        });
    }

    /// Ends an interval of a block, and gives what in it cannot be told apart, and of
    /// that what the data that was made up shows.
    pub(super) fn end_interval(&mut self) -> (Vec<Undecided>, Vec<Met>) {
        let from = std::mem::replace(&mut self.interval, self.entries.len());
        let entries = &self.entries[from..];
        let mut undecided = surely_one(entries, Scope::Block);
        undecided.extend(compare(entries, Scope::Block));
        (undecided, meetings(entries, Scope::Block))
    }

    /// What cannot be told apart of different blocks.
    pub(super) fn end_grid(&self) -> Vec<Undecided> {
        let mut undecided = surely_one(&self.entries, Scope::Grid);
        undecided.extend(compare(&self.entries, Scope::Grid));
        undecided
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

fn compare(entries: &[Entry], scope: Scope) -> Vec<Undecided> {
    let kinds = |with_terms| -> BTreeSet<Vec<Option<Term>>> {
        entries.iter().map(|entry| kind_of(entry, with_terms)).collect()
    };
    let mut all = kinds(true);
    let with_terms = all.len() <= MAX_KINDS;
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
