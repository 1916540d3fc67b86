//! Looking for numbers that make a system true.
//!
//! Unknowns are given values one after the other, those with the fewest left
//! first, and what equalities say of the others is put in. A model is a hint where
//! to look for a collision, nothing more: what is unknown to the system is left
//! out of it, so the hint is tried by a run.

use std::collections::BTreeMap;

use super::super::algebra::poly::{Poly, Unknown};
use super::linear::Effort;
use super::ranges::Range;
use super::system::System;

/// Values that are tried, over all unknowns and cases.
const MAX_TRIED: u32 = 1_500;

/// Values tried for one unknown.
const MAX_VALUES: usize = 6;

/// The numbers that unknowns have.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Model(BTreeMap<Unknown, i128>);

impl Model {
    /// A polynomial's value, where the model says it.
    pub(in super::super) fn value(&self, poly: &Poly) -> Option<i128> {
        if poly.is_lost() {
            return None;
        }
        poly.terms().iter().try_fold(0_i128, |sum, (product, factor)| {
            let term = product
                .iter()
                .try_fold(*factor, |term, unknown| term.checked_mul(*self.0.get(unknown)?));
            sum.checked_add(term?)
        })
    }
}

impl System {
    /// Numbers that fulfil all constraints, if some are found soon. `admitted` are
    /// the values that some unknowns can have, of which not all are constraints.
    pub(in super::super) fn model(
        &self,
        admitted: &BTreeMap<Unknown, Vec<i128>>,
        effort: &Effort,
    ) -> Option<Model> {
        let mut search = Search { admitted, effort, tried: 0 };
        let solved = search.solve(self.recorded())?;
        let mut model = Model::default();
        // What was replaced last is made of what is known first.
        for (unknown, value) in solved.replaced().iter().rev() {
            for other in value.unknowns() {
                model.0.entry(other).or_insert(0);
            }
            let value = model.value(value)?;
            model.0.insert(*unknown, value);
        }
        Some(model)
    }
}

struct Search<'a> {
    admitted: &'a BTreeMap<Unknown, Vec<i128>>,
    effort: &'a Effort,
    tried: u32,
}

impl Search<'_> {
    fn solve(&mut self, mut system: System) -> Option<System> {
        self.tried += 1;
        if self.tried > MAX_TRIED || !self.effort.spend(system.size()) {
            return None;
        }
        system.settle();
        if !self.effort.spend(system.take_work()) || system.contradictory {
            return None;
        }
        let shortest = (0..system.choices.len()).min_by_key(|at| system.choices[*at].len());
        if let Some(at) = shortest {
            let parts = system.choices.remove(at);
            return parts.iter().find_map(|part| {
                let mut case = system.clone();
                case.assert(part);
                self.solve(case)
            });
        }
        let ranges = system.exact_ranges();
        let width = |unknown: &Unknown| match ranges.get(*unknown) {
            Range { low: Some(low), high: Some(high) } => high.saturating_sub(low),
            Range { .. } => i128::MAX,
        };
        let Some(unknown) = system.unknowns().into_iter().min_by_key(width) else {
            return Some(system);
        };
        self.values(unknown, ranges.get(unknown)).into_iter().find_map(|value| {
            let mut case = system.clone();
            case.set(unknown, value);
            self.solve(case)
        })
    }

    /// The values to try: small ones, and the ends of the range.
    fn values(&self, unknown: Unknown, range: Range) -> Vec<i128> {
        let is_inside = |value: &i128| {
            range.low.is_none_or(|low| low <= *value)
                && range.high.is_none_or(|high| *value <= high)
        };
        if let Some(admitted) = self.admitted.get(&unknown) {
            return admitted.iter().copied().filter(is_inside).take(MAX_VALUES).collect();
        }
        let from = range.low.or(range.high.map(|high| high.min(0))).unwrap_or(0);
        let mut values = vec![from, from.saturating_add(1), from.saturating_add(2)];
        values.extend(range.high);
        values.extend([3, 7, 64].map(|step| from.saturating_add(step)));
        values.retain(is_inside);
        let mut seen = Vec::new();
        values.retain(|value| {
            !seen.contains(value) && {
                seen.push(*value);
                true
            }
        });
        values.truncate(MAX_VALUES);
        values
    }
}
