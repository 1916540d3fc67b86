//! Which accesses of a piece of code a barrier interval can reach.
//!
//! Two work-items are in the same barrier interval where each comes from a
//! common point without crossing a barrier. Since barriers stand in uniform
//! control flow (anything else is an error of its own), that is: there is a path
//! without barrier from one access to the other, or both are on different arms
//! of one `if` that they may enter in the same interval.
//!
//! A `break` or `return` that the whole block takes is a path of its own: what
//! stands under the negation of its variable is not on it ([`Flow::left`]).

use std::collections::{BTreeMap, BTreeSet};

use super::symbol::LoopId;
use crate::kernel::VarId;

/// An access, by its position in the list of them.
pub(super) type SiteId = usize;

/// Where a piece of code ends, on some of its paths.
#[derive(Clone, Debug, Default)]
pub(super) struct End {
    /// The accesses from which it is reached without a barrier.
    pub(super) tails: Vec<SiteId>,
    /// Whether it is from the start.
    pub(super) through: bool,
}

impl End {
    /// More paths that end there.
    fn join(&mut self, other: End) {
        self.tails.extend(other.tails);
        self.through |= other.through;
    }

    /// This, and what follows it.
    fn then(&self, next: &End) -> End {
        let mut tails = next.tails.clone();
        if next.through {
            tails.extend(&self.tails);
        }
        End { tails, through: self.through && next.through }
    }
}

/// Which accesses have a path without barrier from the start of a piece of code
/// or to its end.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// Reached from its start.
    pub(super) heads: Vec<SiteId>,
    /// Of the paths on which nobody leaves.
    pub(super) end: End,
    /// Of those on which the block leaves, by the variable that says so.
    pub(super) left: BTreeMap<VarId, End>,
}

impl Default for Flow {
    fn default() -> Self {
        let end = End { tails: Vec::new(), through: true };
        Self { heads: Vec::new(), end, left: BTreeMap::new() }
    }
}

impl Flow {
    /// Of one access.
    pub(super) fn access(site: SiteId) -> Self {
        let end = End { tails: vec![site], through: true };
        Self { heads: vec![site], end, left: BTreeMap::new() }
    }

    /// Of a barrier.
    pub(super) fn barrier() -> Self {
        Self { end: End::default(), ..Self::default() }
    }

    /// Of a jump of the whole block, which `flag` remembers.
    pub(super) fn exit(flag: VarId) -> Self {
        let left = BTreeMap::from([(flag, End { tails: Vec::new(), through: true })]);
        Self { heads: Vec::new(), end: End::default(), left }
    }

    /// The accesses that can be the last ones before a piece of code that is run
    /// only where none of `skipping` is set.
    pub(super) fn before(&self, skipping: &BTreeSet<VarId>) -> Vec<SiteId> {
        let left = self.left.iter().filter(|(flag, _)| !skipping.contains(flag));
        let ends = std::iter::once(&self.end).chain(left.map(|(_, end)| end));
        ends.flat_map(|end| end.tails.iter().copied()).collect()
    }

    /// `self`, then `next`, which is run only where none of `skipping` is set.
    pub(super) fn append(&mut self, next: Flow, skipping: &BTreeSet<VarId>) {
        let runs = |flag: &VarId| !skipping.contains(flag);
        if self.end.through || self.left.iter().any(|(flag, end)| runs(flag) && end.through) {
            self.heads.extend(&next.heads);
        }
        for (flag, end) in &mut self.left {
            if runs(flag) {
                // Leaving again, elsewhere, is one of the ways to go on.
                let mut after = end.then(&next.end);
                next.left.values().for_each(|left| after.join(end.then(left)));
                *end = after;
            }
        }
        for (flag, left) in &next.left {
            let after = self.end.then(left);
            self.left.entry(*flag).or_default().join(after);
        }
        self.end = self.end.then(&next.end);
    }

    /// One or the other.
    pub(super) fn join(mut self, other: Flow) -> Self {
        self.heads.extend(other.heads);
        self.end.join(other.end);
        for (flag, end) in other.left {
            self.left.entry(flag).or_default().join(end);
        }
        self
    }

    /// Of several iterations, where this is one: who leaves at the start of an
    /// iteration comes from the end of the one before.
    pub(super) fn leave_later(&mut self) {
        for end in self.left.values_mut().filter(|end| end.through) {
            end.tails.extend(&self.end.tails);
        }
    }

    /// Where `flags` mean nothing any more: who left by one goes on.
    pub(super) fn rejoin(&mut self, flags: &BTreeSet<VarId>) {
        for flag in flags {
            if let Some(end) = self.left.remove(flag) {
                self.end.join(end);
            }
        }
    }
}

/// How far apart two accesses of one barrier interval can be: the iterations of
/// the loops around both, outermost first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Distance {
    /// The same iteration of all of these.
    Same(Vec<LoopId>),
    /// The same of the first ones; the second access is one iteration of the
    /// last loop later.
    Next(Vec<LoopId>, LoopId),
    /// The same of the first ones, any two of the last loop.
    Any(Vec<LoopId>, LoopId),
}

/// The pairs of accesses that can be in one barrier interval, with how far apart
/// they can be.
#[derive(Debug, Default)]
pub(super) struct Pairs(BTreeMap<(SiteId, SiteId), Vec<Distance>>);

impl Pairs {
    /// Notes every pair of one of `first` and one of `second`.
    pub(super) fn cross(&mut self, first: &[SiteId], second: &[SiteId], distance: &Distance) {
        for a in first {
            for b in second {
                // Only `Next` tells the two apart.
                let ordered = match distance {
                    Distance::Next(..) => (*a, *b),
                    Distance::Same(_) | Distance::Any(..) => (*a.min(b), *a.max(b)),
                };
                let distances = self.0.entry(ordered).or_default();
                if !distances.contains(distance) {
                    distances.push(distance.clone());
                }
            }
        }
    }

    /// All pairs, those left out that another one covers.
    pub(super) fn into_list(self) -> Vec<(SiteId, SiteId, Distance)> {
        let covered = |pair: (SiteId, SiteId), distance: &Distance| {
            let mirrored = (pair.1, pair.0);
            [pair, mirrored].iter().filter_map(|pair| self.0.get(pair)).flatten().any(|other| {
                let Distance::Any(outer, _) = other else { return false };
                match distance {
                    Distance::Same(loops) => loops.len() > outer.len(),
                    Distance::Next(loops, _) => loops.len() >= outer.len(),
                    Distance::Any(loops, _) => loops.len() > outer.len(),
                }
            })
        };
        let mut out = Vec::new();
        for (pair, distances) in &self.0 {
            for distance in distances {
                if !covered(*pair, distance) {
                    out.push((pair.0, pair.1, distance.clone()));
                }
            }
        }
        out
    }
}
