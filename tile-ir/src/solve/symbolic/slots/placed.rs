//! Tiles that are filled from 0 on by who counted: as many cells as there are counts.
//!
//! After `if i < N { rank = atomic count[d] += 1; }` and the counters' prefix sums, whoever
//! has counted stores in the cell `base[d] + rank`. No two of these cells are the same, each
//! lies below all that was counted ([`super::super::scans::all_counted`]), and there are as
//! many of them: so none below that is left out. A read finds what was stored if its cell is
//! below
//!
//! - the sum of all, as `if t < total { … s[t] … }` says, or
//! - a number up to which all have counted: `if i < N { … s[t] … }` of the `i` that rises with the
//!   work-item's number. Then as many have counted as there are numbers up to its own.
//!
//! # What it rests on
//!
//! - Each place that counts adds 1, and has a store of its own that is made by whoever comes by
//!   there, in the same iteration of the loops around.
//! - What all is, is known of the first iteration of the loops around, if not of each one. What is
//!   stored in that one stays, so it is enough if nothing in the loops decides up to which number
//!   all have counted.
//! - That the stores are over when the cell is read is the business of the race rules.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::scans::all_counted::AllCounted;
use super::super::terms::numbered::Number;
use super::super::walk::{Site, Walk};
use super::taken::Raise;
use crate::kernel::ArrayRef;

/// A tile of one axis that is filled by who counted.
pub(in super::super) struct Filling {
    array: ArrayRef,
    /// The last one of its stores.
    last: usize,
    /// What was counted.
    all: usize,
}

impl Walk<'_> {
    /// The tiles that are filled by who counted.
    pub(in super::super) fn fillings(&self) -> Vec<Filling> {
        let mut arrays: Vec<ArrayRef> = self.tile_reads().map(|(_, site)| site.array).collect();
        arrays.sort_unstable();
        arrays.dedup();
        let pairs = (0..self.prefixes.all.len())
            .flat_map(|all| arrays.iter().map(move |array| (all, *array)));
        pairs.filter_map(|(all, array)| self.filling(all, array)).collect()
    }

    fn filling(&self, number: usize, array: ArrayRef) -> Option<Filling> {
        let all = &self.prefixes.all[number];
        if !self.are_of_whole_block(&all.loops) {
            return None;
        }
        let mut stores = self.stores_in_loops(array, self.sites.len(), &all.loops);
        stores.retain(|store| self.is_placed_below(&self.sites[*store], all));
        let mut used = Vec::new();
        for raise in &all.raises {
            let is_one = raise.by == Poly::constant(1) && raise.loops == all.loops;
            let found = stores.iter().position(|store| self.stores_who_counts(raise, *store));
            used.push(stores.remove(found.filter(|_| is_one)?));
        }
        let are_apart = |(n, id): (usize, &usize)| {
            let rest = &used[n + 1..];
            self.are_apart(&self.sites[*id], &self.sites[*id])
                && rest.iter().all(|other| {
                    self.are_apart(&self.sites[*id], &self.sites[*other]) && self.part(*id, *other)
                })
        };
        let last = used.iter().copied().max()?;
        used.iter().enumerate().all(are_apart).then_some(Filling { array, last, all: number })
    }

    /// Whether a store's cell lies below all that was counted, in the first iteration of the
    /// loops around.
    fn is_placed_below(&self, site: &Site, all: &AllCounted) -> bool {
        let [index] = site.indices.as_slice() else { return false };
        let outside =
            Formula::lt(index, &Poly::default()).or(Formula::le(&Poly::unknown(all.total), index));
        let made =
            Formula::All(site.guards.iter().cloned().chain(self.first(&all.first_of)).collect());
        self.is_never(&made.and(outside))
    }

    /// Whether whoever has counted in a place makes a store.
    fn stores_who_counts(&self, raise: &Raise, store: usize) -> bool {
        let counts = Formula::All(raise.guards.clone());
        self.passing(store, 0).into_iter().all(|passed| self.is_never(&counts.clone().and(passed)))
    }

    /// Whether a read finds a cell that who counted has stored in.
    pub(in super::super) fn is_filled_below(
        &self,
        filling: &Filling,
        id: usize,
        number: Option<&Number>,
    ) -> bool {
        let (read, all) = (&self.sites[id], &self.prefixes.all[filling.all]);
        let [place] = read.indices.as_slice() else { return false };
        if read.array != filling.array || filling.last >= id || !read.loops.starts_with(&all.loops)
        {
            return false;
        }
        let made = Formula::All(read.guards.clone());
        let is_below_all =
            || self.is_never(&made.clone().and(Formula::le(&Poly::unknown(all.total), place)));
        all.first_of.is_empty() && is_below_all()
            || number.is_some_and(|number| {
                self.have_counted_up_to((place, &made), (&all.raises, &all.first_of), number)
            })
    }

    /// Whether all whose number is not above a cell's have counted in these places, in the first
    /// iteration of loops around, and so as many.
    pub(in super::super) fn have_counted_up_to(
        &self,
        (place, made): (&Poly, &Formula),
        (raises, first_of): (&[Raise], &[LoopId]),
        number: &Number,
    ) -> bool {
        let Some(count) = &number.count else { return false };
        let passed = |raise: &Raise, number_at: &Poly| {
            let passed =
                raise.unmade.iter().map(|of| self.passed_at(of, number, (number_at, first_of)));
            passed.collect::<Option<Vec<Formula>>>().map(Formula::Any)
        };
        let (mut from, mut missed_before) = (Poly::default(), Formula::False);
        for raise in raises {
            // Of those who count there, and all who do in the places before.
            let at = place.sub(&from);
            let Some(missed) = passed(raise, &at) else { return false };
            let is_there = Formula::within(&at, count);
            let missed = made.clone().and(is_there).and(missed.or(missed_before.clone()));
            if !self.is_never(&missed) {
                return false;
            }
            let Some(missed) = passed(raise, &count.plus(-1)) else { return false };
            missed_before = missed_before.or(missed);
            from = from.add(count);
        }
        let outside = Formula::lt(place, &Poly::default()).or(Formula::le(&from, place));
        self.is_never(&made.clone().and(outside))
    }

    /// What holds of one who has not counted, for the work-item of this number: of a condition
    /// that is one of the number and of what the block agrees on in every iteration, and that
    /// holds of all behind one of whom it holds.
    fn passed_at(
        &self,
        passed: &Formula,
        number: &Number,
        (place, first_of): (&Poly, &[LoopId]),
    ) -> Option<Formula> {
        let is_steady = |unknown: Unknown| {
            let mut loops = first_of.iter();
            !self.is_private(unknown) && !loops.any(|id| self.symbols.is_inside(unknown, *id))
        };
        let is_told = |part: &Formula, slope: i128, rest: &Poly| {
            let is_rising = slope > 0 && matches!(part, Formula::AtLeast(_));
            (slope == 0 || is_rising) && rest.unknowns().all(is_steady)
        };
        number.condition_at(passed, place, &is_told)
    }
}
