//! What the text multiplies by numbers and sizes, and what of it leaves digits of values.
//!
//! What a wave front's kernel calls `j` of `64*x + j` is `c - 2*x - 4*y`: the range of no single
//! unknown says that it lies in `0..64`, and where `x` and `y` are sums of a thread, a block and
//! the rounds of loops, no unknown is the digit, nor do factors tell what belongs to it: `32 * b`
//! of `x` makes `2048 * b - 64 * b`. But the text says `x * 64`. So of what it multiplies by a
//! number, or by a size, which is one for the launch, it is asked whether the rest of a value lies
//! between 0 and that, wherever an access is made.
//!
//! Of numbers it is asked with bounds alone, without the cases that tell which of two values a
//! `min` is, of which there are many in such a kernel. Where sizes are multiplied, or digits, the
//! cases are looked into if that is not enough.
//!
//! What is one for the launch may belong to the product, as `5*h*w` to `y*w` of
//! `5*h*w + y*w + x`, or to the rest, as the number in `w - 1 - x`. What a division by the weight
//! leaves of something that is not negative is a digit without being asked for.
//!
//! A value need not show the product that it is made of: of `r * w + (i % w + k) % w`, where `r`
//! is `i / w`, no `r` is left.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown, gcd};
use super::super::algebra::symbol::Sharing;
use super::super::search::is_of_bounds;
use super::super::search::system::System;
use super::super::terms::value::Function;
use super::super::walk::{Site, Walk};
use super::instance::{Builder, Side};
use crate::kernel::ArrayRef;

/// Of how many parts of a kernel's effort a value takes one at most.
const PART: u64 = 12;

/// The same of one product that may leave a digit.
const TRIED_PART: u64 = 3 * PART;

/// Products that are tried for one value.
const MAX_TRIED: usize = 6;

/// The same of those that a value does not show.
const MAX_HIDDEN: usize = 2;

/// Most begins of parts that are looked at.
const MAX_OFFSETS: usize = 12;

/// Most of those that are numbers; the larger ones are tried.
const MAX_NUMBERS: usize = 2;

/// Products of the text that are looked at.
const MAX_PRODUCTS: usize = 256;

/// A part of a value that is multiplied by a number, or by a size.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Product {
    pub(in super::super) weight: Poly,
    pub(in super::super) times: Poly,
}

impl Product {
    /// What it leaves of a value.
    pub(in super::super) fn rest(&self, value: &Poly) -> Poly {
        value.sub(&self.times.mul(&self.weight))
    }

    /// The same weight, as often as it is in what of a value is one for the launch, too: of
    /// `5*h*w + y*w + x` that is `5*h + y` times. What is a number of times the weight may belong
    /// to the digit, as in `w - 1 - x`, or not: both are tried.
    fn with_common(&self, walk: &Walk<'_>, value: &Poly) -> Vec<Self> {
        let [(weight, factor)] = self.weight.terms() else { return Vec::new() };
        let rest = self.rest(value);
        let (mut sizes, mut number) = (Poly::default(), Poly::default());
        for (product, times) in rest.terms() {
            let is_size = product.iter().all(|unknown| walk.is_one_for_launch(*unknown));
            let others = product.without(weight).filter(|_| is_size && times % factor == 0);
            match others.map(|others| Poly::product(others).scaled(times / factor)) {
                Some(times) if times.as_constant().is_some() => number = number.add(&times),
                Some(times) => sizes = sizes.add(&times),
                None => {}
            }
        }
        let with = |common: Poly| {
            let (weight, times) = (self.weight.clone(), self.times.add(&common));
            (!common.terms().is_empty() && !times.is_lost()).then_some(Self { weight, times })
        };
        let all = if number.terms().is_empty() { None } else { with(sizes.add(&number)) };
        with(sizes).into_iter().chain(all).collect()
    }

    /// How heavy it is, of products that are no numbers by how many sizes it has.
    fn degree(&self) -> usize {
        self.weight.terms().iter().map(|(product, _)| product.len()).max().unwrap_or(0)
    }

    fn is_of_number(&self) -> bool {
        self.weight.as_constant().is_some()
    }
}

/// What the text multiplies by numbers and sizes, and what of it leaves digits of values.
#[derive(Debug, Default)]
pub(in super::super) struct Weighed {
    products: BTreeSet<Product>,
    /// What is one for the launch, no number, and added to something that is not: where a part of
    /// a value begins.
    offsets: Vec<Poly>,
    /// Those that are numbers.
    numbers: BTreeSet<i128>,
    /// By access, as [`Key`] tells it from others, the heaviest first.
    known: RefCell<BTreeMap<Key, Vec<Product>>>,
}

/// All that is asked of when it is made: where, by which condition, of the old values of which
/// updates, and which part of its indices.
type Key = (ArrayRef, Vec<Poly>, Vec<Formula>, Vec<Unknown>, Poly);

impl Walk<'_> {
    /// Notes that something is multiplied by a number, or by a size.
    pub(in super::super) fn note_weight(&mut self, lhs: &Poly, rhs: &Poly) {
        for (times, weight) in [(lhs, rhs), (rhs, lhs)] {
            let is_weight = match weight.as_constant() {
                Some(number) => (2..1 << 60).contains(&number),
                None => self.is_size(weight) && !self.is_size(times),
            };
            if is_weight
                && !times.is_lost()
                && times.as_constant().is_none()
                && self.weighed.products.len() < MAX_PRODUCTS
            {
                let product = self.product(times, weight);
                if !product.weight.is_lost() {
                    self.weighed.products.insert(product);
                }
            }
        }
    }

    /// Notes that two values are added.
    pub(in super::super) fn note_offset(&mut self, lhs: &Poly, rhs: &Poly) {
        for (offset, of) in [(lhs, rhs), (rhs, lhs)] {
            if let Some(number) = offset.as_constant()
                && number != 0
                && !self.is_size(of)
            {
                self.weighed.numbers.insert(number);
            }
            if self.weighed.offsets.len() < MAX_OFFSETS
                && offset.as_constant().is_none()
                && self.is_size(offset)
                && !self.is_size(of)
                && !self.weighed.offsets.contains(offset)
            {
                self.weighed.offsets.push(offset.clone());
            }
        }
    }

    /// Where parts of values begin that are the same for the launch.
    pub(in super::super) fn offsets(&self) -> &[Poly] {
        &self.weighed.offsets
    }

    /// The same of those that are numbers.
    pub(in super::super) fn number_offsets(&self) -> Vec<Poly> {
        let mut numbers: Vec<i128> = self.weighed.numbers.iter().copied().collect();
        numbers.sort_by_key(|number| Reverse(number.unsigned_abs()));
        numbers.into_iter().take(MAX_NUMBERS).map(Poly::constant).collect()
    }

    /// Whether a value is one for the launch.
    fn is_size(&self, value: &Poly) -> bool {
        !value.is_lost() && value.unknowns().all(|unknown| self.is_one_for_launch(unknown))
    }

    /// The product of something and a weight, numbers and sizes out of which it is made taken
    /// to the weight: `x * 32 * w` is `x` times `32 * w`.
    fn product(&self, times: &Poly, weight: &Poly) -> Product {
        let number = gcd(times.content(), times.constant_term()).max(1);
        let (mut times, mut weight) = (times.divided(number), weight.scaled(number));
        let common = |times: &Poly| {
            let (product, _) = times.terms().first()?;
            let is_in_all = |unknown: &Unknown| {
                times.terms().iter().all(|(product, _)| product.contains(unknown))
            };
            let mut sizes = product.iter().filter(|unknown| self.is_one_for_launch(**unknown));
            sizes.find(|unknown| is_in_all(unknown)).copied()
        };
        while let Some(size) = common(&times) {
            let rest = times.cofactor(size);
            // A digit may be one for the launch.
            if rest.as_constant().is_some() {
                break;
            }
            times = rest;
            weight = weight.mul(&Poly::unknown(size));
        }
        Product { weight, times }
    }

    /// The products that leave digits of a part of an access's indices.
    pub(in super::super) fn digits(&self, site: &Site, value: &Poly) -> Vec<Product> {
        let [plain, hidden] = self.parts_of(value);
        if plain.is_empty() && hidden.is_empty() {
            return Vec::new();
        }
        let (indices, guards) = (site.indices.clone(), site.guards.clone());
        let key = (site.array, indices, guards, site.made.clone(), value.clone());
        if let Some(known) = self.weighed.known.borrow().get(&key) {
            return known.clone();
        }
        let found = self.effort.within_part(PART, || {
            let found = self.find_digits(site, value, (&plain, MAX_TRIED));
            let none = found.is_empty();
            if none { self.find_digits(site, value, (&hidden, MAX_HIDDEN)) } else { found }
        });
        self.weighed.known.borrow_mut().insert(key, found.clone());
        found
    }

    /// The products that a value may be made of, each with what it may be as well: those of which
    /// it has all unknowns, and others. Of `r * w + (i - r * w)` none is left of `r`, which is
    /// `i / w`.
    fn parts_of(&self, value: &Poly) -> [Vec<Vec<Product>>; 2] {
        let unknowns: BTreeSet<Unknown> = value.unknowns().collect();
        let below = self.operands_of(&unknowns);
        let is_made = |unknown: Unknown| match self.symbols.get(unknown).map(|of| &of.sharing) {
            Some(Sharing::Function(of)) => of.iter().all(|other| below.contains(other)),
            Some(_) | None => false,
        };
        let found = self.weighed.products.iter().filter_map(|product| {
            let rest = product.rest(value);
            let is_in = |unknown: Unknown| unknowns.contains(&unknown);
            let is_plain =
                product.times.unknowns().all(is_in) && rest.terms().len() <= value.terms().len();
            let is_hidden = || {
                product.weight.unknowns().all(is_in)
                    && product.times.unknowns().all(|unknown| is_in(unknown) || is_made(unknown))
            };
            let leaves_number = product.is_of_number() && rest.as_constant().is_some();
            let is_part = !rest.is_lost() && !leaves_number && (is_plain || is_hidden());
            // Of sizes nobody knows which is the larger: where little is left it is soon seen.
            let left = if product.is_of_number() { usize::MAX } else { rest.terms().len() };
            is_part.then_some((is_plain, (left, Reverse(product)), product))
        });
        let mut found: Vec<_> = found.collect();
        found.sort_by_key(|(_, order, _)| *order);
        [true, false].map(|which| {
            let those = found.iter().filter(|(is_plain, ..)| *is_plain == which);
            let those = those.map(|(.., product)| {
                let mut all = product.with_common(self, value);
                all.push((*product).clone());
                all
            });
            those.collect()
        })
    }

    /// These unknowns, and those of which they are functions.
    fn operands_of(&self, unknowns: &BTreeSet<Unknown>) -> BTreeSet<Unknown> {
        let mut open: Vec<Unknown> = unknowns.iter().copied().collect();
        let mut found = BTreeSet::new();
        while let Some(unknown) = open.pop() {
            if found.insert(unknown)
                && let Some(Sharing::Function(of)) =
                    self.symbols.get(unknown).map(|symbol| &symbol.sharing)
            {
                open.extend(of);
            }
        }
        found
    }

    /// Those of the products that leave digits, of so many.
    fn find_digits(
        &self,
        site: &Site,
        value: &Poly,
        (products, most): (&[Vec<Product>], usize),
    ) -> Vec<Product> {
        if products.is_empty() {
            return Vec::new();
        }
        let mut builder = Builder::alone(self, site);
        let mut on = |product: &Product| {
            let parts = [product.times.clone(), product.rest(value), product.weight.clone()];
            (product.clone(), parts.map(|part| builder.on(Side::First, &part)))
        };
        let parts: Vec<Vec<(Product, [Poly; 3])>> =
            products.iter().map(|all| all.iter().map(&mut on).collect()).collect();
        let whole = builder.systems();
        let systems = whole.iter().map(|system| {
            let mut system = system.recorded().by_bounds();
            system.choices.clear();
            system.settle();
            system
        });
        let systems: Vec<System> = systems.collect();
        let is_used = |(_, [times, rest, _]): &(Product, [Poly; 3])| {
            let is_open =
                |part: &Poly, system: &System| system.settled(part).as_constant().is_none();
            let are_open = |system: &System| {
                is_open(times, system) && (rest.as_constant().is_some() || is_open(rest, system))
            };
            systems.iter().any(are_open)
        };
        let is_digit = |(product, [_, rest, weight]): &(Product, [Poly; 3]), has_cases: bool| {
            let is_empty = |beyond: &mut System| {
                self.effort.spend(beyond.size())
                    && (beyond.contradictory || beyond.is_empty_of_fractions(&self.effort))
            };
            if self.is_rest_of_division(&product.rest(value), &product.weight) {
                return systems.iter().all(|system| {
                    let mut none = system.clone();
                    none.assert(&Formula::le(&system.settled(weight), &Poly::default()));
                    is_empty(&mut none)
                });
            }
            let ends = [rest.sub(weight), rest.negated().plus(-1)];
            systems.iter().zip(&whole).all(|(system, whole)| {
                ends.iter().all(|beyond| {
                    let mut beyond_it = system.clone();
                    beyond_it.assert(&Formula::AtLeast(system.settled(beyond)));
                    is_empty(&mut beyond_it)
                        || beyond_it.multiply_bounds() && is_empty(&mut beyond_it)
                        || has_cases && !(product.is_of_number() && beyond.is_linear()) && {
                            let mut beyond_it = whole.clone();
                            beyond_it.assert(&Formula::AtLeast(beyond.clone()));
                            !beyond_it.has_evident_solution()
                                && beyond_it.has_no_solution(&self.effort)
                        }
                })
            })
        };
        let mut found: Vec<Product> = Vec::new();
        for all in parts.iter().filter(|all| all.iter().any(is_used)).take(most) {
            // Two rests of one weight are no digits both, unless they are one.
            let is_open =
                |product: &Product| found.iter().all(|other| other.weight != product.weight);
            let is_found = |part: &&(Product, [Poly; 3])| {
                let has_cases = found.is_empty() && !self.is_size(&part.0.times);
                let is_digit = || is_digit(part, has_cases || !part.0.is_of_number());
                self.effort.within_part(TRIED_PART, is_digit)
            };
            let mut open = all.iter().filter(|part| is_used(part) && is_open(&part.0));
            if let Some((product, _)) = open.find(is_found) {
                found.push(product.clone());
            }
        }
        found.sort_by_key(|product| Reverse((product.degree(), product.clone())));
        found
    }
}

impl Walk<'_> {
    /// Whether a value is what a division of something that is not negative leaves: of a divisor
    /// above 0 it lies between 0 and that.
    fn is_rest_of_division(&self, value: &Poly, divisor: &Poly) -> bool {
        value.unknowns().any(|unknown| match self.function_of(unknown) {
            Some((Function::Quotient, whole, by)) => {
                by == divisor
                    && self.symbols.low(whole).is_some_and(|low| low >= 0)
                    && whole.sub(&Poly::unknown(unknown).mul(by)) == *value
            }
            Some(_) | None => false,
        })
    }
}

impl System {
    /// The same system, with what bounds say of single unknowns put in, and without choices but
    /// those between bounds.
    pub(in super::super) fn by_bounds(&self) -> Self {
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

    /// A value as what has been put in for unknowns leaves it.
    fn settled(&self, value: &Poly) -> Poly {
        self.replaced().iter().fold(value.clone(), |value, (unknown, by)| {
            value.replace(&|other| (other == *unknown).then(|| by.clone()))
        })
    }
}
