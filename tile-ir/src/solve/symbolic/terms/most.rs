//! What a value is at most, case by case.
//!
//! What each work-item adds bounds what a scan of a block or a warp gives it
//! ([`super::super::scans`]): `size % 16` adds 15 at most, and so does a choice between that and 0.
//! A bound is a number that the facts of the value's parts state of all of it, or that ranges
//! of its parts give. Of a choice it is the largest of the cases', of which each holds with
//! what is known anyway.
//!
//! # What it rests on
//!
//! - Who adds comes by the place that is asked about, so that what guards it holds of each one
//!   that adds.

use std::collections::BTreeSet;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::search::ranges::Ranges;
use super::super::walk::Walk;

/// Choices inside each other that are gone into.
const MAX_DEPTH: usize = 3;

/// Choices side by side that are gone into, and cases of one of them.
const MAX_CHOICES: usize = 4;

/// What is known in a case.
#[derive(Clone, Default)]
struct Known<'a> {
    /// These are at least 0.
    rows: Vec<Poly>,
    /// These are 0.
    zeros: Vec<Poly>,
    /// Of each, one holds.
    choices: Vec<&'a [Formula]>,
    /// What is known of these is in.
    seen: BTreeSet<Unknown>,
}

impl<'a> Known<'a> {
    /// Adds that a condition holds.
    fn add(&mut self, formula: &'a Formula) {
        match formula {
            Formula::True | Formula::False | Formula::Unknown => {}
            Formula::AtLeast(row) => self.rows.push(row.clone()),
            Formula::Zero(zero) => {
                self.rows.extend([zero.clone(), zero.negated()]);
                self.zeros.push(zero.clone());
            }
            Formula::All(parts) => parts.iter().for_each(|part| self.add(part)),
            Formula::Any(cases) => self.choices.push(cases),
        }
    }
}

impl Walk<'_> {
    /// What a value is at most, wherever it is.
    pub(in super::super) fn most_anywhere(&self, value: &Poly) -> Option<i128> {
        self.most_where(value, &[])
    }

    /// What a value is at most in those that come by here.
    pub(in super::super) fn most_here(&self, value: &Poly) -> Option<i128> {
        self.most_where(value, &self.guards)
    }

    fn most_where(&self, value: &Poly, guards: &[Formula]) -> Option<i128> {
        if value.is_lost() {
            return None;
        }
        let mut known = Known::default();
        self.constraints.iter().chain(guards).for_each(|formula| known.add(formula));
        self.most_in(value, known, MAX_DEPTH)
    }

    /// What a value is at most in a case; less than any number in one that never is.
    fn most_in<'a>(&'a self, value: &Poly, mut known: Known<'a>, depth: usize) -> Option<i128> {
        self.add_facts_of(value.unknowns().collect(), &mut known);
        let ranges = Ranges::of(known.rows.iter());
        if ranges.is_empty() {
            return Some(i128::MIN);
        }
        let own = same_values(value, &known.zeros);
        let by_ranges = own.iter().filter_map(|value| ranges.of_poly(value).high);
        let stated = own.iter().flat_map(|value| known.rows.iter().map(|row| stated(value, row)));
        let plain = by_ranges.chain(stated.flatten()).min();
        if depth == 0 {
            return plain;
        }
        let choices = known.choices.iter().filter(|cases| {
            let mentions = |unknown| cases.iter().any(|case| is_about(case, unknown));
            cases.len() <= MAX_CHOICES && own.iter().flat_map(Poly::unknowns).any(mentions)
        });
        let of_choice = |cases: &&[Formula]| -> Option<i128> {
            let others = known.choices.iter().filter(|other| *other != cases).copied();
            let known = Known { choices: others.collect(), ..known.clone() };
            cases.iter().try_fold(i128::MIN, |most, case| {
                let mut known = known.clone();
                known.add(case);
                self.most_in(value, known, depth - 1).map(|high| most.max(high))
            })
        };
        choices.take(MAX_CHOICES).filter_map(of_choice).chain(plain).min()
    }

    /// Adds what is known of unknowns, and of those that this is about.
    fn add_facts_of<'a>(&'a self, mut open: Vec<Unknown>, known: &mut Known<'a>) {
        open.extend(known.rows.iter().flat_map(Poly::unknowns));
        while let Some(unknown) = open.pop() {
            let Some(symbol) = self.symbols.get(unknown).filter(|_| known.seen.insert(unknown))
            else {
                continue;
            };
            let from = known.rows.len();
            known.add(&symbol.facts);
            open.extend(known.rows[from..].iter().flat_map(Poly::unknowns));
        }
    }
}

/// A value, and the same without an unknown that one of these gives, all of them 0.
fn same_values(value: &Poly, zeros: &[Poly]) -> Vec<Poly> {
    let mut same = vec![value.clone()];
    let [(product, factor)] = value.terms() else { return same };
    let [unknown] = product.as_slice() else { return same };
    for zero in zeros {
        match zero.cofactor(*unknown).as_constant() {
            Some(1) => same.push(value.sub(&zero.scaled(*factor))),
            Some(-1) => same.push(value.add(&zero.scaled(*factor))),
            Some(_) | None => {}
        }
    }
    same.retain(|value| !value.is_lost());
    same
}

/// What a value is at most where `row` is at least 0, if that is about this sum of products
/// alone.
fn stated(value: &Poly, row: &Poly) -> Option<i128> {
    let (by, of) = (value.content(), row.content());
    if by == 0 || of == 0 || row.is_lost() {
        return None;
    }
    let [start, room] = [value, row].map(Poly::constant_term);
    let shape = |poly: &Poly, constant: i128, by| poly.plus(-constant).divided(by);
    (shape(value, start, by) == shape(row, room, of).negated())
        .then(|| room.div_euclid(of).checked_mul(by)?.checked_add(start))
        .flatten()
}

/// Whether a condition says something of an unknown.
fn is_about(formula: &Formula, unknown: Unknown) -> bool {
    match formula {
        Formula::True | Formula::False | Formula::Unknown => false,
        Formula::AtLeast(poly) | Formula::Zero(poly) => poly.mentions(unknown),
        Formula::All(parts) | Formula::Any(parts) => {
            parts.iter().any(|part| is_about(part, unknown))
        }
    }
}
