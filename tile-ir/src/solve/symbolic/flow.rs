//! Which accesses of a piece of code a barrier interval can reach.
//!
//! Two work-items are in the same barrier interval where each comes from a
//! common point without crossing a barrier. Since barriers stand in uniform
//! control flow (anything else is an error of its own), that is: there is a path
//! without barrier from one access to the other, or both are on different arms
//! of one `if` that they may enter in the same interval.

use std::collections::BTreeMap;

use super::symbol::LoopId;

/// An access, by its position in the list of them.
pub(super) type SiteId = usize;

/// Which accesses have a path without barrier from the start of a piece of code
/// or to its end.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// Reached from its start.
    pub(super) heads: Vec<SiteId>,
    /// That reach its end.
    pub(super) tails: Vec<SiteId>,
    /// Whether its end can be reached from its start.
    pub(super) through: bool,
}

impl Default for Flow {
    fn default() -> Self {
        Self { heads: Vec::new(), tails: Vec::new(), through: true }
    }
}

impl Flow {
    /// Of one access.
    pub(super) fn access(site: SiteId) -> Self {
        Self { heads: vec![site], tails: vec![site], through: true }
    }

    /// Of a barrier.
    pub(super) fn barrier() -> Self {
        Self { through: false, ..Self::default() }
    }

    /// `self`, then `next`.
    pub(super) fn append(&mut self, next: Flow) {
        if self.through {
            self.heads.extend(next.heads);
        }
        if !next.through {
            self.tails.clear();
        }
        self.tails.extend(next.tails);
        self.through &= next.through;
    }

    /// One or the other.
    pub(super) fn join(mut self, other: Flow) -> Self {
        self.heads.extend(other.heads);
        self.tails.extend(other.tails);
        self.through |= other.through;
        self
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
