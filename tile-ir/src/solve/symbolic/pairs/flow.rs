//! Which accesses of a piece of code a barrier interval can reach.
//!
//! Two work-items are in the same barrier interval where each comes from a
//! common point without crossing a barrier. Since barriers stand in uniform
//! control flow (anything else is an error of its own), that is: there is a path
//! without barrier from one access to the other, or both are on different arms
//! of one `if` that they may enter in the same interval.
//!
//! Of a barrier under a condition of the block, the paths that pass it by are
//! those on which the condition fails ([`Path`]).
//!
//! Where each iteration of a loop meets a barrier, a path from before it leads into the first,
//! and one from the last leads behind it.
//!
//! A warp's barrier orders the accesses of that warp alone: two that it stands between,
//! on all ways from one to the other, meet in two warps only. It stands where the whole warp
//! comes by, so what has been said of work-items holds of those of a warp.
//!
//! A `break` or `return` that the whole block takes is a path of its own: what
//! stands under the negation of its variable is not on it ([`Flow::left`]).

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::Formula;
use super::super::algebra::symbol::LoopId;
use crate::kernel::VarId;

/// An access, by its position in the list of them.
pub(in super::super) type SiteId = usize;

/// What holds on a path without barrier.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Path {
    /// Of the conditions of the whole block that it passes by, the outcomes on which no
    /// barrier stands.
    conditions: BTreeSet<Formula>,
    /// Whether a barrier of the warp stands on it.
    pub(in super::super) crosses_warp_barrier: bool,
}

/// Accesses, each with what holds on a path from or to it.
pub(in super::super) type Reached = Vec<(SiteId, Path)>;

/// Conditions of a path that are kept.
const MAX_CONDITIONS: usize = 6;

impl Path {
    /// On which a condition holds.
    pub(in super::super) fn under(condition: Formula) -> Self {
        Self { conditions: BTreeSet::from([condition]), crosses_warp_barrier: false }
    }

    /// Over a barrier of the warp.
    fn over_warp_barrier() -> Self {
        Self { conditions: BTreeSet::new(), crosses_warp_barrier: true }
    }

    /// The conditions that hold.
    pub(in super::super) fn conditions(&self) -> impl Iterator<Item = &Formula> {
        self.conditions.iter()
    }

    /// Whether nothing is known of it.
    fn is_empty(&self) -> bool {
        self.conditions.is_empty() && !self.crosses_warp_barrier
    }

    /// Whether what holds on it holds on the other one, too.
    fn is_subset(&self, other: &Self) -> bool {
        (other.crosses_warp_barrier || !self.crosses_warp_barrier)
            && self.conditions.is_subset(&other.conditions)
    }

    /// What holds on both.
    fn intersection(&self, other: &Self) -> Self {
        Self {
            conditions: self.conditions.intersection(&other.conditions).cloned().collect(),
            crosses_warp_barrier: self.crosses_warp_barrier && other.crosses_warp_barrier,
        }
    }
}

/// `path`, and then `next`.
fn along(path: &Path, next: &Path) -> Path {
    let conditions = path.conditions.iter().chain(&next.conditions);
    Path {
        conditions: conditions.take(MAX_CONDITIONS).cloned().collect(),
        crosses_warp_barrier: path.crosses_warp_barrier || next.crosses_warp_barrier,
    }
}

/// The accesses, each by way of a barrier of the warp.
fn over_warp_barrier(reached: &Reached) -> Reached {
    let path = Path::over_warp_barrier();
    reached.iter().map(|(site, next)| (*site, along(&path, next))).collect()
}

/// Where a piece of code ends, on some of its paths.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct End {
    /// The accesses from which it is reached without a barrier.
    pub(in super::super) tails: Reached,
    /// Whether it is from the start, and what holds then.
    pub(in super::super) through: Option<Path>,
}

impl End {
    /// From the start.
    fn open() -> Self {
        Self { tails: Vec::new(), through: Some(Path::default()) }
    }

    /// More paths that end there.
    fn join(&mut self, other: End) {
        self.tails.extend(other.tails);
        self.through = match (self.through.take(), other.through) {
            (Some(one), Some(two)) => Some(one.intersection(&two)),
            (one, two) => one.or(two),
        };
    }

    /// It is reached from the start, too, where this holds.
    pub(in super::super) fn pass_by(&mut self, condition: Formula) {
        self.join(Self { tails: Vec::new(), through: Some(Path::under(condition)) });
    }

    /// This, and what follows it.
    fn then(&self, next: &End) -> End {
        let mut tails = next.tails.clone();
        if let Some(through) = &next.through {
            tails.extend(self.tails.iter().map(|(site, path)| (*site, along(path, through))));
        }
        let through = self.through.as_ref().zip(next.through.as_ref());
        End { tails, through: through.map(|(one, two)| along(one, two)) }
    }

    /// Where `condition` holds.
    fn under(&mut self, condition: &Formula) {
        if let Some(through) = &mut self.through {
            *through = along(through, &Path::under(condition.clone()));
        }
    }

    /// What holds on the way through is of iterations of a loop that has ended.
    fn forget_path(&mut self) {
        self.through.iter_mut().for_each(|path| *path = Path::default());
    }
}

/// Which accesses have a path without barrier from the start of a piece of code
/// or to its end.
#[derive(Clone, Debug)]
pub(in super::super) struct Flow {
    /// Reached from its start.
    pub(in super::super) heads: Reached,
    /// Of the paths on which nobody leaves.
    pub(in super::super) end: End,
    /// Of those on which the block leaves, by the variable that says so.
    pub(in super::super) left: BTreeMap<VarId, End>,
}

impl Default for Flow {
    fn default() -> Self {
        Self { heads: Vec::new(), end: End::open(), left: BTreeMap::new() }
    }
}

impl Flow {
    /// Of one access.
    pub(in super::super) fn access(site: SiteId) -> Self {
        let here = vec![(site, Path::default())];
        let end = End { tails: here.clone(), through: Some(Path::default()) };
        Self { heads: here, end, left: BTreeMap::new() }
    }

    /// Of a barrier.
    pub(in super::super) fn barrier() -> Self {
        Self { end: End::default(), ..Self::default() }
    }

    /// Of a barrier of the warp.
    pub(in super::super) fn warp_barrier() -> Self {
        let end = End { tails: Vec::new(), through: Some(Path::over_warp_barrier()) };
        Self { end, ..Self::default() }
    }

    /// Whether a barrier of the warp stands on every way through.
    fn crosses_warp_barrier(&self) -> bool {
        self.end.through.as_ref().is_some_and(|path| path.crosses_warp_barrier)
    }

    /// Of a jump of the whole block, which `flag` remembers.
    pub(in super::super) fn exit(flag: VarId) -> Self {
        let left = BTreeMap::from([(flag, End::open())]);
        Self { heads: Vec::new(), end: End::default(), left }
    }

    /// The accesses that can be the last ones before a piece of code that is run
    /// only where none of `skipping` is set.
    pub(in super::super) fn before(&self, skipping: &BTreeSet<VarId>) -> Reached {
        let left = self.left.iter().filter(|(flag, _)| !skipping.contains(flag));
        let ends = std::iter::once(&self.end).chain(left.map(|(_, end)| end));
        ends.flat_map(|end| end.tails.iter().cloned()).collect()
    }

    /// Whether there are accesses that can be the last ones.
    pub(in super::super) fn has_tails(&self) -> bool {
        std::iter::once(&self.end).chain(self.left.values()).any(|end| !end.tails.is_empty())
    }

    /// `self`, then `next`, which is run only where none of `skipping` is set.
    pub(in super::super) fn append(&mut self, next: Flow, skipping: &BTreeSet<VarId>) {
        let runs = |flag: &VarId| !skipping.contains(flag);
        let left = self.left.iter().filter(|(flag, _)| runs(flag)).map(|(_, end)| end);
        for through in std::iter::once(&self.end).chain(left).filter_map(|end| end.through.as_ref())
        {
            let heads = next.heads.iter();
            self.heads.extend(heads.map(|(site, path)| (*site, along(through, path))));
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
    pub(in super::super) fn join(mut self, other: Flow) -> Self {
        self.heads.extend(other.heads);
        self.end.join(other.end);
        for (flag, end) in other.left {
            self.left.entry(flag).or_default().join(end);
        }
        self
    }

    /// This, run by the whole block where `condition` holds.
    pub(in super::super) fn under(mut self, condition: &Formula) -> Self {
        self.end.under(condition);
        self.left.values_mut().for_each(|end| end.under(condition));
        self
    }

    /// This, of which a path from its start meets a condition.
    pub(in super::super) fn begin_under(&mut self, condition: &Formula) {
        let first = Path::under(condition.clone());
        self.heads.iter_mut().for_each(|(_, path)| *path = along(&first, path));
    }

    /// This, of which a path to its end on which nobody leaves meets a condition.
    pub(in super::super) fn end_under(&mut self, condition: &Formula) {
        if condition.is_exact() {
            let last = Path::under(condition.clone());
            self.end.tails.iter_mut().for_each(|(_, path)| *path = along(path, &last));
        }
    }

    /// Of any number of iterations, where this is one.
    pub(in super::super) fn repeat(&mut self) {
        self.end.forget_path();
        self.left.values_mut().for_each(End::forget_path);
    }

    /// Of several iterations, where this is one: who leaves at the start of an
    /// iteration comes from the end of the one before.
    pub(in super::super) fn leave_later(&mut self) {
        for end in self.left.values_mut().filter(|end| end.through.is_some()) {
            end.tails.extend(self.end.tails.iter().cloned());
        }
    }

    /// Where `flags` mean nothing any more: who left by one goes on.
    pub(in super::super) fn rejoin(&mut self, flags: &BTreeSet<VarId>) {
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
pub(in super::super) enum Distance {
    /// The same iteration of all of these.
    Same(Vec<LoopId>),
    /// The same of the first ones; the second access is one iteration of the
    /// last loop later.
    Next(Vec<LoopId>, LoopId),
    /// The same of the first ones; the second access is in some later iteration of the last
    /// loop than the next one.
    Later(Vec<LoopId>, LoopId),
    /// The same of the first ones, any two of the last loop.
    Any(Vec<LoopId>, LoopId),
}

/// Two accesses that can be in one barrier interval.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Encounter {
    pub(in super::super) sites: (SiteId, SiteId),
    pub(in super::super) distance: Distance,
    /// What holds on the way from one to the other, as the first sees it and as
    /// the second does.
    pub(in super::super) paths: [Path; 2],
}

/// How two accesses can meet: how far apart, and what holds on the way.
type Meeting = (Distance, [Path; 2]);

/// The pairs of accesses that can be in one barrier interval, with how far apart
/// they can be.
#[derive(Debug, Default)]
pub(in super::super) struct Pairs(BTreeMap<(SiteId, SiteId), Vec<Meeting>>);

impl Pairs {
    /// Notes every pair of one of `first` and one of `second`.
    pub(in super::super) fn cross(
        &mut self,
        first: &Reached,
        second: &Reached,
        distance: &Distance,
    ) {
        for (a, before) in first {
            for (b, after) in second {
                // Only these tell the two apart.
                let is_ordered =
                    matches!(distance, Distance::Next(..) | Distance::Later(..)) || a <= b;
                let (sites, paths) = match is_ordered {
                    true => ((*a, *b), [before, after]),
                    false => ((*b, *a), [after, before]),
                };
                let known = self.0.entry(sites).or_default();
                let covers = |(other, theirs): &Meeting| {
                    let [one, two] = theirs;
                    other == distance && one.is_subset(paths[0]) && two.is_subset(paths[1])
                };
                if !known.iter().any(covers) {
                    known.push((distance.clone(), paths.map(Path::clone)));
                }
            }
        }
    }

    /// Notes the pairs of two iterations of a loop, of which this is the flow of one.
    ///
    /// Without a barrier in it they are any two; where all that pass by none meet a condition,
    /// it matters which of the two is the earlier one, and whether the other is the next. With one of the warp, work-items of a
    /// warp are one iteration apart at most, and only two warps further.
    pub(in super::super) fn cross_iterations(
        &mut self,
        flow: &Flow,
        around: &[LoopId],
        id: LoopId,
    ) {
        let next = Distance::Next(around.to_vec(), id);
        let any = Distance::Any(around.to_vec(), id);
        match &flow.end.through {
            None => self.cross(&flow.end.tails, &flow.heads, &next),
            Some(_) if flow.crosses_warp_barrier() => {
                self.cross(&flow.end.tails, &flow.heads, &next);
                self.cross(&over_warp_barrier(&flow.end.tails), &flow.heads, &any);
            }
            Some(through) if !through.conditions.is_empty() => {
                self.cross(&flow.end.tails, &flow.heads, &next);
                self.cross(&flow.end.tails, &flow.heads, &Distance::Later(around.to_vec(), id));
            }
            Some(_) => self.cross(&flow.end.tails, &flow.heads, &any),
        }
    }

    /// All pairs, those left out that another one covers.
    pub(in super::super) fn list(&self) -> Vec<Encounter> {
        let covered = |pair: (SiteId, SiteId), distance: &Distance| {
            let mirrored = (pair.1, pair.0);
            let found = [pair, mirrored].into_iter().filter_map(|pair| self.0.get(&pair)).flatten();
            found.filter(|(_, paths)| paths.iter().all(Path::is_empty)).any(|(other, _)| {
                let Distance::Any(outer, _) = other else { return false };
                match distance {
                    Distance::Same(loops) => loops.len() > outer.len(),
                    Distance::Next(loops, _) => loops.len() >= outer.len(),
                    Distance::Later(loops, _) | Distance::Any(loops, _) => {
                        loops.len() > outer.len()
                    }
                }
            })
        };
        let mut out = Vec::new();
        for (sites, found) in &self.0 {
            for (distance, paths) in found {
                if !covered(*sites, distance) {
                    let (sites, distance, paths) = (*sites, distance.clone(), paths.clone());
                    out.push(Encounter { sites, distance, paths });
                }
            }
        }
        out
    }
}
