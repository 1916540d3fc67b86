//! The cases in which numbers are largest, sought from the ends of the ranges.
//!
//! Visiting all cases of some work-items and counters stops early, at small values of
//! each; where an index leaves its tile it does so at large ones, and often at the very
//! last. So each variable is first at an end of its range, all together. From the best
//! of these cases one variable at a time takes the best of its values, as long as that
//! gains something: of a sum under conditions on its parts this comes to the top.

use std::collections::{BTreeMap, BTreeSet};

use super::{Case, Sources};
use crate::kernel::{VarId, VarKind};

/// Sets of sizes that are tried: half of them the smallest, half the largest.
const MAX_SIZES: usize = 16;
/// Turns in which each variable takes its best value.
const MAX_TURNS: usize = 4;

/// How good a case is: how many conditions it meets, in their order, and, if it meets
/// all, the numbers of which each is to be large.
#[derive(Debug)]
pub(in crate::check) struct Heights {
    pub(in crate::check) met: usize,
    pub(in crate::check) of: Vec<i128>,
}

impl Heights {
    /// The part of `number`.
    fn at(&self, number: usize) -> Height {
        (self.met, self.of.get(number).copied())
    }
}

/// Conditions that are met, and one of the numbers.
type Height = (usize, Option<i128>);

/// The best case for a number so far, and how good it is.
type Best = (Height, BTreeMap<VarId, i128>);

impl<'a> Sources<'a> {
    /// Goes uphill among the cases of `unknowns`, to each of `n_numbers`, until `visit` has
    /// a result, for `evaluations` of variables at most.
    pub(in crate::check) fn climb<R>(
        &'a self,
        unknowns: &BTreeSet<VarId>,
        (n_numbers, evaluations): (usize, u32),
        mut visit: impl FnMut(&Case<'a>) -> Result<R, Heights>,
    ) -> Option<R> {
        let unknowns = self.open(unknowns);
        let sizes = self.sizes();
        let n_sizes = sizes.len();
        let is_end = |at: usize| at < MAX_SIZES / 2 || at + MAX_SIZES / 2 >= n_sizes;
        let n_tried = n_sizes.clamp(1, MAX_SIZES);
        let share = evaluations / u32::try_from(n_tried).unwrap_or(u32::MAX);
        let left = self.left.get();
        let mut tried = sizes.iter().enumerate().rev().filter(|(at, _)| is_end(*at));
        let found = tried.find_map(|(_, tiles)| {
            self.left.set(share);
            let case = Case::of(self, tiles);
            let best = vec![None; n_numbers];
            let mut climb = Climb { case, unknowns: &unknowns, visit: &mut visit, best };
            let found = climb.run(share / 2)?;
            self.left.set(share);
            Some(climb.lower(found))
        });
        self.left.set(left);
        found
    }
}

/// The way up at one set of sizes.
struct Climb<'s, 'v, V> {
    case: Case<'s>,
    unknowns: &'v [VarId],
    visit: &'v mut V,
    best: Vec<Option<Best>>,
}

impl<'s, V> Climb<'s, '_, V> {
    /// Leaves `reserve` evaluations to the way up from the ends.
    fn run<R>(&mut self, reserve: u32) -> Option<R>
    where
        V: FnMut(&Case<'s>) -> Result<R, Heights>,
    {
        if let Some(found) = self.ends(self.unknowns, reserve) {
            return Some(found);
        }
        (0..self.best.len()).find_map(|number| self.rise(number))
    }

    /// From a case with a result, the one with the smallest dimensions that has one as well, as
    /// far as halving these comes to it.
    fn lower<R>(&mut self, mut found: R) -> R
    where
        V: FnMut(&Case<'s>) -> Result<R, Heights>,
    {
        let kernel = self.case.sources.kernel;
        let (dims, others): (Vec<VarId>, Vec<VarId>) =
            self.unknowns.iter().partition(|var| kernel.vars[**var].kind == VarKind::Dim);
        for dim in dims {
            while let Some(value) = self.case.values.get(&dim).copied().filter(|value| *value > 1) {
                let kept = self.case.values.clone();
                self.case.values.insert(dim, value / 2);
                for other in &others {
                    let values = self.case.candidates(*other);
                    if let Some(last) = values.iter().max()
                        && self.case.values.get(other).is_some_and(|value| value > last)
                    {
                        self.case.values.insert(*other, *last);
                    }
                }
                match self.is_case_of(&others).then(|| self.result().ok()).flatten() {
                    Some(lower) => found = lower,
                    None => {
                        self.case.values = kept;
                        break;
                    }
                }
            }
        }
        found
    }

    /// Goes on from the best case for a number.
    fn rise<R>(&mut self, number: usize) -> Option<R>
    where
        V: FnMut(&Case<'s>) -> Result<R, Heights>,
    {
        for _ in 0..MAX_TURNS {
            let before = self.best[number].as_ref()?.0;
            let unknowns = self.unknowns;
            if let Some(found) = unknowns.iter().find_map(|var| self.turn(*var, number)) {
                return Some(found);
            }
            if self.best[number].as_ref()?.0 == before {
                break;
            }
        }
        None
    }

    /// What the case as it is comes to.
    fn result<R>(&mut self) -> Result<R, Heights>
    where
        V: FnMut(&Case<'s>) -> Result<R, Heights>,
    {
        match self.case.is_refused() {
            true => Err(Heights { met: 0, of: Vec::new() }),
            false => (self.visit)(&self.case),
        }
    }

    /// Visits the case as it is, and keeps it for the numbers of which it is the best.
    fn visit<R>(&mut self) -> Option<R>
    where
        V: FnMut(&Case<'s>) -> Result<R, Heights>,
    {
        let heights = match self.result() {
            Ok(found) => return Some(found),
            Err(heights) => heights,
        };
        for (number, best) in self.best.iter_mut().enumerate() {
            let height = heights.at(number);
            if best.as_ref().is_none_or(|(best, _)| height > *best) {
                *best = Some((height, self.case.values.clone()));
            }
        }
        None
    }

    /// Visits the cases in which each of `unknowns` is at an end of its range, the upper
    /// ends first.
    fn ends<R>(&mut self, unknowns: &[VarId], reserve: u32) -> Option<R>
    where
        V: FnMut(&Case<'s>) -> Result<R, Heights>,
    {
        let Some((first, rest)) = unknowns.split_first() else { return self.visit() };
        let values = self.case.candidates(*first);
        let ends: BTreeSet<i128> =
            values.iter().max().into_iter().chain(values.iter().min()).copied().collect();
        for value in ends.into_iter().rev() {
            if !self.case.sources.burn() || self.case.sources.left.get() < reserve {
                break;
            }
            self.case.values.insert(*first, value);
            if let Some(found) = self.ends(rest, reserve) {
                return Some(found);
            }
        }
        self.case.values.remove(first);
        None
    }

    /// Gives `var` the best of its values in the best case for a number.
    fn turn<R>(&mut self, var: VarId, number: usize) -> Option<R>
    where
        V: FnMut(&Case<'s>) -> Result<R, Heights>,
    {
        self.case.values.clone_from(&self.best[number].as_ref()?.1);
        for value in self.case.candidates(var) {
            if !self.case.sources.burn() {
                break;
            }
            self.case.values.insert(var, value);
            // The ranges of the others may depend on it.
            if self.is_case()
                && let Some(found) = self.visit()
            {
                return Some(found);
            }
        }
        None
    }

    /// Whether every variable has a value of its range.
    fn is_case(&self) -> bool {
        self.is_case_of(self.unknowns)
    }

    /// Whether each of these has a value of its range.
    fn is_case_of(&self, vars: &[VarId]) -> bool {
        let case = &self.case;
        let is_in_range = |(var, value): (VarId, i128)| case.candidates(var).contains(&value);
        vars.iter().all(|var| case.values.get(var).is_none_or(|value| is_in_range((*var, *value))))
    }
}
