//! Which cells of a tile a store reaches, in some work-item's hands or some iteration.
//!
//! `for k in (t..n).step_by(64) { s[k] = …; }` of 64 work-items reaches the cells below `n`:
//! the cell is a number that the work-item and the iteration make
//! ([`super::super::terms::numbered`]), so each number is one of theirs, and of the conditions
//! around it is known what they are for whose number a cell has.
//!
//! # What it rests on
//!
//! - All of the block are in the same iterations of the loops around who asks. Other loops around
//!   the store make numbers, or their first iteration stores; nobody leaves these before their end.
//! - Coordinates of who stores that a cell does not name are those that the conditions around pick,
//!   or 0.
//! - Nothing but the number decides whether the store is made, and what the block agrees on.
//! - That the store comes before in time is the business of the race rules.

use std::collections::BTreeMap;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::terms::numbered::Number;
use super::super::walk::Walk;

/// A store in a tile.
#[derive(Clone, Debug)]
pub(in super::super) struct Reach {
    pub(in super::super) at: Vec<Poly>,
    /// The coordinates of who stores, with how many there are of each.
    pub(in super::super) axes: Vec<(Unknown, Poly)>,
    /// Of those, the ones that the conditions around pick.
    pub(in super::super) picked: BTreeMap<Unknown, Poly>,
    /// Where one of these holds, it is not made.
    pub(in super::super) passed: Vec<Formula>,
    pub(in super::super) loops: Vec<LoopId>,
}

/// An index as a number that coordinates make, counted from a base.
struct Counted {
    number: Number,
    base: Poly,
    is_backward: bool,
}

impl Counted {
    /// The number of who stores in a cell.
    fn number_at(&self, cell: &Poly) -> Poly {
        if self.is_backward { self.base.sub(cell) } else { cell.sub(&self.base) }
    }
}

impl Walk<'_> {
    /// Where a store has not been made in a cell, in an iteration of the loops around who asks;
    /// `None` where that is not told.
    pub(in super::super) fn missed_by(
        &self,
        reach: &Reach,
        cell: &[Poly],
        around: &[LoopId],
    ) -> Option<Formula> {
        let inner = reach.loops.strip_prefix(around)?;
        let of = |id: &LoopId| &self.all_loops[id.0];
        if !self.are_of_whole_block(around) || !inner.iter().all(|id| of(id).is_whole) {
            return None;
        }
        let beyond = inner.iter().map(|id| of(id).beyond.clone());
        let beyond: Vec<Formula> = beyond.collect::<Option<_>>()?;
        let coordinates = self.coordinates_of(reach, inner);
        let is_coordinate = |of: Unknown| coordinates.iter().any(|(own, _)| *own == of);
        let is_told = |of: Unknown| {
            let mut loops = inner.iter();
            !is_coordinate(of)
                && !self.is_private(of)
                && !loops.any(|id| self.symbols.is_inside(of, *id))
        };
        let counted = reach.at.iter().map(|index| counted(index, &coordinates));
        let counted: Vec<Counted> = counted.collect::<Option<_>>()?;
        let named = |of: Unknown| {
            reach.at.iter().filter(|index| index.unknowns().any(|own| own == of)).count()
        };
        let are_bases_told = counted.iter().all(|of| of.base.unknowns().all(is_told));
        if !are_bases_told || coordinates.iter().any(|(of, _)| named(*of) > 1) {
            return None;
        }
        let others = |of: Unknown| {
            let is_free = is_coordinate(of) && named(of) == 0;
            is_free.then(|| reach.picked.get(&of).cloned().unwrap_or_default())
        };
        // Cells stand for themselves: what is private in them is not the storing work-item's.
        let place = |axis: usize| Unknown::MAX - axis as Unknown;
        let is_place = |of: Unknown| (0..cell.len()).any(|axis| of == place(axis));
        let cell_of = |of: Unknown| (0..cell.len()).find(|axis| of == place(*axis));
        let numbers: Vec<Poly> = counted
            .iter()
            .enumerate()
            .map(|(axis, of)| of.number_at(&Poly::unknown(place(axis))))
            .collect();
        let outside = counted.iter().zip(&numbers).map(|(of, at)| {
            let beyond = of.number.count.as_ref().map(|count| Formula::le(count, at));
            beyond.into_iter().fold(Formula::lt(at, &Poly::default()), Formula::or)
        });
        let not_there = reach.axes.iter().filter_map(|(axis, count)| {
            let place = reach.picked.get(axis).filter(|_| named(*axis) == 0)?;
            Some(Formula::lt(place, &Poly::default()).or(Formula::le(count, place)))
        });
        let not_there: Vec<Formula> = not_there.collect();
        let mut missed: Vec<Formula> = outside.collect();
        for passed in reach.passed.iter().chain(&beyond).chain(&not_there) {
            let mut passed = passed.clone();
            for (of, at) in counted.iter().zip(&numbers) {
                passed = of.number.condition_at(&passed, at, &|_, _, _| true)?;
            }
            let passed = passed.replace(&others);
            let is_known = |value: &Poly| {
                !value.is_lost() && value.unknowns().all(|of| is_place(of) || is_told(of))
            };
            missed.push(passed.is_made_of(&is_known).then_some(passed)?);
        }
        let at_cell = |of: Unknown| cell_of(of).map(|axis| cell[axis].clone());
        Some(Formula::Any(missed).replace(&at_cell).folded())
    }

    /// The coordinates of who stores, and the iterations, with how many there are of each if that
    /// is known.
    fn coordinates_of(&self, reach: &Reach, inner: &[LoopId]) -> Vec<(Unknown, Option<Poly>)> {
        let axes = reach.axes.iter().map(|(axis, count)| (*axis, Some(count.clone())));
        let rounds = inner.iter().map(|id| {
            let of = &self.all_loops[id.0];
            (of.number, of.length.clone())
        });
        axes.chain(rounds).collect()
    }
}

/// An index as a number that coordinates make.
fn counted(index: &Poly, coordinates: &[(Unknown, Option<Poly>)]) -> Option<Counted> {
    let is_coordinate = |of: &Unknown| coordinates.iter().any(|(own, _)| own == of);
    let own = index.terms().iter().filter(|(product, _)| product.iter().any(is_coordinate));
    let own = own.fold(Poly::default(), |sum, (product, factor)| {
        sum.add(&Poly::product(*product).scaled(*factor))
    });
    let base = index.sub(&own);
    let forward = Number::of(&own, coordinates).map(|number| (number, false));
    let found = forward.or_else(|| Some((Number::of(&own.negated(), coordinates)?, true)));
    let (number, is_backward) = found.filter(|_| !index.is_lost())?;
    Some(Counted { number, base, is_backward })
}
