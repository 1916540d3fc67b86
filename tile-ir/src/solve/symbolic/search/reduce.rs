//! What bounds settle before anything is searched: unknowns of which they leave one
//! number, cases that lie outside of them, and sizes that always come with something
//! added.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::ranges::Ranges;
use super::system::System;

/// Sizes that are counted together with what is added to them.
const MAX_SHIFTED: usize = 4;

impl System {
    /// Puts in numbers that bounds leave, and drops cases that lie outside of what
    /// unknowns can be. Whether anything was settled by that.
    pub(in super::super) fn prune(&mut self) -> bool {
        if self.contradictory || self.choices.is_empty() && self.zeros().all(Poly::is_linear) {
            return false;
        }
        let ranges = self.ranges();
        let products = self.zeros().filter(|zero| !zero.is_linear());
        let fixed = products.flat_map(Poly::unknowns).find_map(|unknown| {
            let range = ranges.get(unknown);
            range.low.filter(|low| Some(*low) == range.high).map(|value| (unknown, value))
        });
        if let Some((unknown, value)) = fixed {
            self.set(unknown, value);
            return true;
        }
        let stated = Stated::of(&self.at_least);
        let mut settled = Vec::new();
        self.choices.retain_mut(|parts| {
            if parts.iter().any(|part| stated.implies(part)) {
                return false;
            }
            parts.retain(|part| !is_outside(part, &ranges) && !stated.excludes(part));
            let stays = parts.len() > 1;
            if !stays {
                settled.push(parts.pop().unwrap_or(Formula::False));
            }
            stays
        });
        settled.iter().for_each(|part| *self = self.in_case(part));
        !settled.is_empty()
    }

    /// Whether some constraint cannot hold between the numbers that the others leave for
    /// its unknowns.
    pub(in super::super) fn is_out_of_range(&self) -> bool {
        let ranges = self.ranges();
        ranges.is_empty()
            || self.zeros().any(|zero| {
                let range = ranges.of_poly(zero);
                range.low.is_some_and(|low| low > 0) || range.high.is_some_and(|high| high < 0)
            })
    }

    /// Counts a size together with what is always added to it: of rows that lie
    /// `w + 2` apart, that is the size. Whether there is such a one.
    pub(in super::super) fn shift_size(&mut self) -> bool {
        if self.shifted == MAX_SHIFTED {
            return false;
        }
        let found = self.zeros().filter(|zero| !zero.is_linear()).find_map(added_to_size);
        let Some((size, added)) = found else { return false };
        self.shifted += 1;
        self.replace(size, &Poly::unknown(size).plus(-added));
        true
    }

    /// Puts its opposite in for an unknown in products that is never positive, such as a
    /// stride that leads backwards. Whether there is such a one.
    pub(in super::super) fn turn_negative(&mut self) -> bool {
        if self.zeros().all(Poly::is_linear) {
            return false;
        }
        let ranges = self.ranges();
        // Not where bounds contradict each other: it would be turned again and again.
        let is_negative = |unknown: &Unknown| {
            let range = ranges.get(*unknown);
            range.high.is_some_and(|high| high < 0) && range.low.is_none_or(|low| low < 0)
        };
        let found = self.zeros().find_map(|zero| {
            let mut products = zero.terms().iter().filter(|(product, _)| product.len() > 1);
            products.find_map(|(product, _)| product.iter().copied().find(is_negative))
        });
        let Some(unknown) = found else { return false };
        self.replace(unknown, &Poly::unknown(unknown).negated());
        true
    }
}

/// What constraints say of sums of unknowns: by sum, what must be added to it for it not
/// to be negative.
struct Stated(BTreeMap<Poly, i128>);

impl Stated {
    fn of(at_least: &BTreeSet<Poly>) -> Self {
        let mut stated = BTreeMap::new();
        for row in at_least {
            let added = row.constant_term();
            let known = stated.entry(row.plus(-added)).or_insert(added);
            *known = added.min(*known);
        }
        Self(stated)
    }

    /// Whether it is among them that a value is never negative.
    fn has(&self, value: &Poly) -> bool {
        let added = value.constant_term();
        self.0.get(&value.plus(-added)).is_some_and(|known| *known <= added)
    }

    /// Whether a condition is among them.
    fn implies(&self, part: &Formula) -> bool {
        match part {
            Formula::AtLeast(value) => self.has(value),
            Formula::All(parts) => parts.iter().all(|part| self.implies(part)),
            Formula::Any(parts) => parts.iter().any(|part| self.implies(part)),
            Formula::Zero(value) => self.has(value) && self.has(&value.negated()),
            Formula::True => true,
            Formula::False | Formula::Unknown => false,
        }
    }

    /// Whether the opposite of a condition is among them.
    fn excludes(&self, part: &Formula) -> bool {
        match part {
            Formula::AtLeast(value) => self.has(&value.negated().plus(-1)),
            Formula::Zero(value) => {
                self.has(&value.plus(-1)) || self.has(&value.negated().plus(-1))
            }
            Formula::All(parts) => parts.iter().any(|part| self.excludes(part)),
            Formula::Any(parts) => parts.iter().all(|part| self.excludes(part)),
            Formula::False => true,
            Formula::True | Formula::Unknown => false,
        }
    }
}

/// Whether a condition cannot hold between these bounds.
fn is_outside(part: &Formula, ranges: &Ranges) -> bool {
    match part {
        Formula::True | Formula::Unknown => false,
        Formula::False => true,
        Formula::AtLeast(poly) => ranges.of_poly(poly).high.is_some_and(|high| high < 0),
        Formula::Zero(poly) => {
            let range = ranges.of_poly(poly);
            range.low.is_some_and(|low| low > 0) || range.high.is_some_and(|high| high < 0)
        }
        Formula::All(parts) => parts.iter().any(|part| is_outside(part, ranges)),
        Formula::Any(parts) => parts.iter().all(|part| is_outside(part, ranges)),
    }
}

/// An unknown, and a number such that of their sum `zero` has fewer products than of
/// the unknown; the one that leaves the fewest.
fn added_to_size(zero: &Poly) -> Option<(Unknown, i128)> {
    let mut best: Option<(usize, (Unknown, i128))> = None;
    for (product, factor) in zero.terms().iter().filter(|(product, _)| product.len() > 1) {
        for (at, size) in product.iter().enumerate() {
            let mut rest = *product;
            rest.remove(at);
            let added = zero.terms().iter().find(|(other, _)| *other == rest);
            let Some(added) = added.filter(|(_, times)| times % factor == 0) else { continue };
            let added = added.1 / factor;
            let less = |unknown| (unknown == *size).then(|| Poly::unknown(*size).plus(-added));
            let left = zero.replace(&less);
            let most = best.map_or(zero.terms().len(), |(left, _)| left);
            if !left.is_lost() && left.terms().len() < most {
                best = Some((left.terms().len(), (*size, added)));
            }
        }
    }
    best.map(|(_, found)| found)
}
