//! Indices made of digits that bounds show only together.
//!
//! Of `64*x + j = 64*x' + j'` with `j, j'` in `0..64` both digits are equal. What a wave
//! front's kernel calls `j` is `c - 2*x - 4*y`: the range of no single unknown says that it
//! lies in `0..64`, and where `x` and `y` are sums of a thread, a block and the rounds of
//! loops, no unknown is the digit, nor do factors tell what belongs to it: `32 * b` of `x`
//! makes `2048 * b - 64 * b`. But the text says `x * 64`. So of what it multiplies by a number
//! it is asked whether the rest of an index lies between 0 and that number, wherever the access
//! is made. Two accesses for which that holds meet only where both parts are equal.
//!
//! It is asked with bounds alone, without the cases that tell which of two values a `min` is, of
//! which there are many in such a kernel; and so it is asked what is left of the meeting. To
//! leave out what is known makes a system weaker.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::formula::Formula;
use super::instance::{Builder, Meeting, Side};
use super::linear::Effort;
use super::poly::{Poly, Unknown};
use super::search::{is_of_bounds, refute_of_fractions};
use super::system::System;
use super::walk::{Site, Walk};
use crate::kernel::ArrayRef;

/// Of how many parts of a kernel's effort a pair of accesses, or one, takes one at most.
const PART: u64 = 12;

/// Products that are tried for one index.
const MAX_TRIED: usize = 6;

/// Products of the text that are looked at.
const MAX_PRODUCTS: usize = 256;

/// Choices one within the other that are looked into before equalities are put in.
const MAX_DEPTH: usize = 3;

/// A part of an index that is multiplied by a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Product {
    weight: i128,
    times: Poly,
}

impl Product {
    /// What it leaves of an index.
    fn rest(&self, index: &Poly) -> Poly {
        index.sub(&self.times.scaled(self.weight))
    }
}

/// What the text multiplies by numbers, and what of it leaves digits of indices.
#[derive(Debug, Default)]
pub(super) struct Weighed {
    products: BTreeSet<Product>,
    /// By access, as [`Key`] tells it from others, the heaviest first.
    known: RefCell<BTreeMap<Key, Vec<Product>>>,
}

/// All that is asked of when it is made: where, by which condition, of the old values of which
/// updates, and which axis of its indices.
type Key = (ArrayRef, Vec<Poly>, Vec<Formula>, Vec<Unknown>, usize);

impl Walk<'_> {
    /// Notes that something is multiplied by a number.
    pub(super) fn note_weight(&mut self, lhs: &Poly, rhs: &Poly) {
        for (times, weight) in [(lhs, rhs), (rhs, lhs)] {
            if let Some(weight) = weight.as_constant()
                && (2..1 << 60).contains(&weight)
                && times.as_constant().is_none()
                && times.is_linear()
                && self.weighed.products.len() < MAX_PRODUCTS
            {
                self.weighed.products.insert(Product { weight, times: times.clone() });
            }
        }
    }

    /// Whether two accesses are disjoint by the digits of their indices.
    pub(super) fn is_disjoint_by_weights(
        &self,
        [first, second]: [&Site; 2],
        meeting: Meeting<'_>,
    ) -> bool {
        let mut equal = Vec::new();
        let mut is_cut = false;
        for (axis, (left, right)) in first.indices.iter().zip(&second.indices).enumerate() {
            let (ours, theirs) = (self.digits(first, axis), self.digits(second, axis));
            // Of the last weight, and none yet.
            let mut last: Option<[&Product; 2]> = None;
            for our in &ours {
                let Some(their) = theirs.iter().find(|their| their.weight == our.weight) else {
                    continue;
                };
                let heavier = last.map(|last| (last[0].weight / our.weight, last));
                match heavier {
                    None => equal.push([our.times.clone(), their.times.clone()]),
                    Some((_, last)) if last[0].weight % our.weight != 0 => continue,
                    // What the heavier one leaves, without its digit by this one.
                    Some((by, [one, other])) => equal.push([
                        our.times.sub(&one.times.scaled(by)),
                        their.times.sub(&other.times.scaled(by)),
                    ]),
                }
                last = Some([our, their]);
            }
            is_cut |= last.is_some();
            equal.push(match last {
                Some([our, their]) => [our.rest(left), their.rest(right)],
                None => [left.clone(), right.clone()],
            });
        }
        if !is_cut {
            return false;
        }
        let builder = self.meeting_where([first, second], meeting, &equal);
        let Some(builder) = builder else { return true };
        self.effort.within_part(PART, || {
            builder.systems().iter().all(|system| {
                let system = system.by_bounds();
                system.is_empty_in_each_case(&self.effort, MAX_DEPTH)
                    || refute_of_fractions(system, &self.effort)
            })
        })
    }

    /// The products that leave digits of an access's index along an axis.
    fn digits(&self, site: &Site, axis: usize) -> Vec<Product> {
        let index = &site.indices[axis];
        let unknowns: BTreeSet<Unknown> = index.unknowns().collect();
        let is_part = |product: &&Product| {
            let rest = product.rest(index);
            product.times.unknowns().all(|unknown| unknowns.contains(&unknown))
                && rest.is_linear()
                && rest.as_constant().is_none()
                && rest.terms().len() <= index.terms().len()
        };
        let products: Vec<&Product> = self.weighed.products.iter().rev().filter(is_part).collect();
        if products.is_empty() {
            return Vec::new();
        }
        let (indices, guards) = (site.indices.clone(), site.guards.clone());
        let key = (site.array, indices, guards, site.made.clone(), axis);
        if let Some(known) = self.weighed.known.borrow().get(&key) {
            return known.clone();
        }
        let found = self.effort.within_part(PART, || self.find_digits(site, index, &products));
        self.weighed.known.borrow_mut().insert(key, found.clone());
        found
    }

    fn find_digits(&self, site: &Site, index: &Poly, products: &[&Product]) -> Vec<Product> {
        let mut builder = Builder::alone(self, site);
        let parts = products.iter().map(|product| {
            let [times, rest] = [product.times.clone(), product.rest(index)];
            (*product, [times, rest].map(|part| builder.on(Side::First, &part)))
        });
        let parts: Vec<(&Product, [Poly; 2])> = parts.collect();
        let systems = builder.systems().into_iter().map(|system| {
            let mut system = system.recorded().by_bounds();
            system.choices.clear();
            system.settle();
            system
        });
        let systems: Vec<System> = systems.collect();
        let is_used = |(_, parts): &&(&Product, [Poly; 2])| {
            let is_open =
                |part: &Poly, system: &System| system.settled(part).as_constant().is_none();
            systems.iter().any(|system| parts.iter().all(|part| is_open(part, system)))
        };
        let is_digit = |(product, [_, rest]): &&(&Product, [Poly; 2])| {
            systems.iter().all(|system| {
                let rest = system.settled(rest);
                [rest.plus(-product.weight), rest.negated().plus(-1)].iter().all(|beyond| {
                    let mut beyond_it = system.clone();
                    beyond_it.assert(&Formula::AtLeast(beyond.clone()));
                    self.effort.spend(beyond_it.size())
                        && (beyond_it.contradictory
                            || beyond_it.is_empty_of_fractions(&self.effort))
                })
            })
        };
        let tried = parts.iter().filter(is_used).take(MAX_TRIED);
        tried.filter(is_digit).map(|(product, _)| (*product).clone()).collect()
    }
}

impl System {
    /// The same system, with what bounds say of single unknowns put in, and without choices but
    /// those between bounds.
    fn by_bounds(&self) -> Self {
        let mut system = self.clone();
        while system.prune() || system.fix() {}
        system.choices.retain(|parts| parts.iter().all(is_of_bounds));
        system
    }

    /// Puts in the number of an unknown of which bounds leave one. Whether there was one.
    fn fix(&mut self) -> bool {
        if self.contradictory {
            return false;
        }
        let ranges = self.ranges();
        let is_one = |unknown: &Unknown| {
            let range = ranges.get(*unknown);
            range.low.filter(|low| range.high == Some(*low)).map(|value| (*unknown, value))
        };
        let Some((unknown, value)) = self.unknowns().iter().find_map(is_one) else { return false };
        self.set(unknown, value);
        true
    }

    /// Whether it has no solution in each case of so many choices, as it stands.
    fn is_empty_in_each_case(&self, effort: &Effort, depth: usize) -> bool {
        let is_empty =
            self.contradictory || effort.spend(self.size()) && self.is_empty_of_fractions(effort);
        if is_empty || depth == 0 {
            return is_empty;
        }
        let shortest = (0..self.choices.len()).min_by_key(|at| self.choices[*at].len());
        shortest.is_some_and(|at| {
            let mut rest = self.clone();
            let parts = rest.choices.remove(at);
            parts.iter().all(|part| {
                let mut case = rest.clone();
                case.assert(part);
                case.is_empty_in_each_case(effort, depth - 1)
            })
        })
    }

    /// A value as what has been put in for unknowns leaves it.
    fn settled(&self, value: &Poly) -> Poly {
        self.replaced().iter().fold(value.clone(), |value, (unknown, by)| {
            value.replace(&|other| (other == *unknown).then(|| by.clone()))
        })
    }
}
