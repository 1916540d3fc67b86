//! What has been found so far: each pair of places once, with its first case and how
//! often there were more.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::tally::Tally;

/// Who did something, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Who {
    /// The block, by its number.
    pub(crate) block: u64,
    /// The agent within it.
    pub(crate) agent: u32,
    /// Barriers of the block before it.
    pub(crate) interval: u32,
}

/// A race, or an element that is read and was not written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    /// Who came to it first; the same as `second` where it is about one access.
    pub(crate) first: Who,
    /// Who came then.
    pub(crate) second: Who,
    /// Where the element lies, counted from the array's first.
    pub(crate) offset: usize,
    /// How many cases there are.
    pub(crate) count: u64,
}

/// An index outside its array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stray {
    /// Who.
    pub(crate) who: Who,
    /// The axis.
    pub(crate) axis: usize,
    /// The index.
    pub(crate) index: i64,
    /// The extent.
    pub(crate) extent: i64,
    /// How many accesses there are that are outside.
    pub(crate) count: u64,
}

/// An operation that was noticed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Odd {
    /// Who did it first.
    pub(crate) who: Who,
    /// How often it was done.
    pub(crate) count: u64,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    /// By the sites that came first and second, and whether they are of two blocks.
    pub(crate) races: BTreeMap<(usize, usize, bool), Case>,
    /// By site: reads of elements of tiles that nobody in the block has written.
    pub(crate) unwritten: BTreeMap<usize, Case>,
    /// By site: unguarded indices outside their array. The launch ends there.
    pub(crate) outside: BTreeMap<usize, Stray>,
    /// By site: accesses that their guards have dropped.
    pub(crate) hidden: BTreeMap<usize, Stray>,
    /// By operation.
    pub(crate) odd: BTreeMap<usize, Odd>,
    /// By meeting: who is there, and who is not. The launch ends there.
    pub(crate) parted: BTreeMap<usize, Case>,
    /// Elements of outputs that nobody has written: by array, the first and how many.
    pub(crate) left_out: BTreeMap<usize, (usize, u64)>,
    /// What is counted, where it is.
    pub(crate) tally: Option<Tally>,
}

/// Something that is kept once, with the number of cases.
trait Counted: Copy {
    fn place(&self) -> (Who, Who);
    fn count(&mut self) -> &mut u64;
}

impl Counted for Case {
    fn place(&self) -> (Who, Who) {
        (self.second, self.first)
    }
    fn count(&mut self) -> &mut u64 {
        &mut self.count
    }
}

impl Counted for Stray {
    fn place(&self) -> (Who, Who) {
        (self.who, self.who)
    }
    fn count(&mut self) -> &mut u64 {
        &mut self.count
    }
}

impl Counted for Odd {
    fn place(&self) -> (Who, Who) {
        (self.who, self.who)
    }
    fn count(&mut self) -> &mut u64 {
        &mut self.count
    }
}

/// Enters a case; of several that of the first block stays, so that what is told does
/// not depend on which worker was faster.
fn enter<K: Ord, T: Counted>(map: &mut BTreeMap<K, T>, key: K, mut case: T) {
    match map.entry(key) {
        Entry::Vacant(entry) => {
            entry.insert(case);
        }
        Entry::Occupied(mut entry) => {
            let known = entry.get_mut();
            let count = *known.count() + *case.count();
            if case.place() < known.place() {
                *known = case;
            }
            *known.count() = count;
        }
    }
}

impl Log {
    /// Enters a race between the accesses of two sites.
    pub(super) fn race(&mut self, (first, second): (usize, usize), case: Case) {
        let is_between_blocks = case.first.block != case.second.block;
        enter(&mut self.races, (first, second, is_between_blocks), case);
    }

    /// Enters a read of what nobody has written.
    pub(super) fn read_unwritten(&mut self, site: usize, case: Case) {
        enter(&mut self.unwritten, site, case);
    }

    /// Enters an index outside of an array.
    pub(super) fn left_array(&mut self, site: usize, stray: Stray) {
        enter(&mut self.outside, site, stray);
    }

    /// Enters accesses that guards have dropped.
    pub(super) fn dropped(&mut self, site: usize, stray: Stray) {
        enter(&mut self.hidden, site, stray);
    }

    /// Enters a meeting to which some do not come.
    pub(super) fn parted(&mut self, meeting: usize, case: Case) {
        enter(&mut self.parted, meeting, case);
    }

    /// Enters what was noticed of an operation.
    pub(super) fn noticed(&mut self, operation: usize, odd: Odd) {
        enter(&mut self.odd, operation, odd);
    }

    /// Takes over what another worker has found.
    pub(in crate::cpu::run) fn merge(&mut self, other: Self) {
        let Self { races, unwritten, outside, hidden, odd, parted, left_out, tally } = other;
        races.into_iter().for_each(|(key, case)| enter(&mut self.races, key, case));
        unwritten.into_iter().for_each(|(key, case)| enter(&mut self.unwritten, key, case));
        outside.into_iter().for_each(|(key, stray)| enter(&mut self.outside, key, stray));
        hidden.into_iter().for_each(|(key, stray)| enter(&mut self.hidden, key, stray));
        odd.into_iter().for_each(|(key, odd)| enter(&mut self.odd, key, odd));
        parted.into_iter().for_each(|(key, case)| enter(&mut self.parted, key, case));
        self.left_out.extend(left_out);
        match (&mut self.tally, tally) {
            (Some(own), Some(more)) => own.merge(&more),
            (own @ None, more) => *own = more,
            (Some(_), None) => {}
        }
    }
}
