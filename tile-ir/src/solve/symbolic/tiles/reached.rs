//! Which cells of a tile a store reaches, in some work-item's hands or some iteration.
//!
//! `for k in (t..n).step_by(64) { s[k] = …; }` of 64 work-items reaches the cells below `n`:
//! the cell is a number that the work-item and the iteration make
//! ([`super::super::terms::numbered`]), so each number is one of theirs, and of the conditions
//! around it is known what they are for whose number a cell has.
//!
//! `s[(start + k) % 64] = …;` goes round: where `k` runs over as many numbers as the tile's row is
//! long, whatever `start` is, each cell is that of one of them, though it is not told of which. So
//! it has to be stored for each of them.
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
use super::super::loops::Loop;
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
    /// The length that it goes round.
    round: Option<Poly>,
}

impl Counted {
    /// The number of who stores in a cell; of one that goes round, any number.
    fn number_at(&self, cell: &Poly) -> Poly {
        match (&self.round, self.is_backward) {
            (Some(_), _) => cell.clone(),
            (None, true) => self.base.sub(cell),
            (None, false) => cell.sub(&self.base),
        }
    }

    /// Where a number is none of those that there are; of a cell that goes round, where it is none
    /// of the row's.
    fn is_outside(&self, at: &Poly) -> Formula {
        let end = self.round.as_ref().or(self.number.count.as_ref());
        let beyond = end.map(|end| Formula::le(end, at));
        beyond.into_iter().fold(Formula::lt(at, &Poly::default()), Formula::or)
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
        let names = |number: Unknown| reach.at.iter().any(|index| index.mentions(number));
        // A number that has as many values as there are iterations is one of theirs.
        let is_open = |id: &&LoopId| length_of(of(id)).is_none() || !names(of(id).number);
        let beyond = inner.iter().filter(is_open).map(|id| of(id).beyond.clone());
        let beyond: Vec<Formula> = beyond.collect::<Option<_>>()?;
        let coordinates = self.coordinates_of(reach, inner);
        let is_coordinate = |of: Unknown| coordinates.iter().any(|(own, _)| *own == of);
        let is_told = |of: Unknown| {
            let mut loops = inner.iter();
            !is_coordinate(of)
                && !self.is_private(of)
                && !loops.any(|id| self.symbols.is_inside(of, *id))
        };
        // What no coordinate turns is a number like any other.
        let is_turned = |(whole, _): &(&Poly, &Poly)| whole.unknowns().any(is_coordinate);
        let round_of = |index| self.round_of_index(index).filter(is_turned);
        let rounds: Vec<_> = reach.at.iter().map(round_of).collect();
        let at: Vec<&Poly> = reach
            .at
            .iter()
            .zip(&rounds)
            .map(|(index, round)| round.map_or(index, |(whole, _)| whole))
            .collect();
        let counted = at.iter().zip(&rounds).map(|(index, round)| {
            let of = counted(index, &coordinates)?;
            Some(Counted { round: round.map(|(_, length)| length.clone()), ..of })
        });
        let counted: Vec<Counted> = counted.collect::<Option<_>>()?;
        let named =
            |of: Unknown| at.iter().filter(|index| index.unknowns().any(|own| own == of)).count();
        let are_bases_told = counted.iter().all(|of| {
            let ends = of.round.iter().chain(&of.number.count).flat_map(Poly::unknowns);
            of.base.unknowns().chain(ends).all(is_told) && self.goes_all_round(of)
        });
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
        let outside = counted.iter().zip(&numbers).map(|(of, at)| of.is_outside(at));
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
            let mut rounds = counted.iter().enumerate();
            let passed = rounds.try_fold(passed, |passed, (axis, of)| match &of.round {
                // It is not told whose number a cell has: it may hold of none.
                Some(length) if speaks_of(&passed, place(axis)) => {
                    never_below(&passed, place(axis), length).then_some(Formula::False)
                }
                Some(_) | None => Some(passed),
            })?;
            let is_known = |value: &Poly| {
                !value.is_lost() && value.unknowns().all(|of| is_place(of) || is_told(of))
            };
            missed.push(passed.is_made_of(&is_known).then_some(passed)?);
        }
        let at_cell = |of: Unknown| cell_of(of).map(|axis| cell[axis].clone());
        Some(Formula::Any(missed).replace(&at_cell).folded())
    }

    /// The value whose remainder by a length an index is, and the length.
    fn round_of_index<'i>(&'i self, index: &'i Poly) -> Option<(&'i Poly, &'i Poly)> {
        index.unknowns().find_map(|turns| {
            let (whole, length) = self.rounded_down(turns)?;
            let rest = whole.sub(&length.mul(&Poly::unknown(turns)));
            (!rest.is_lost() && rest == *index).then_some((whole, length))
        })
    }

    /// Whether what goes round a length comes by all of its cells.
    fn goes_all_round(&self, of: &Counted) -> bool {
        let Some(length) = &of.round else { return true };
        of.number.count.as_ref().is_none_or(|count| self.is_never(&Formula::lt(count, length)))
    }

    /// The coordinates of who stores, and the iterations, with how many there are of each if that
    /// is known.
    fn coordinates_of(&self, reach: &Reach, inner: &[LoopId]) -> Vec<(Unknown, Option<Poly>)> {
        let axes = reach.axes.iter().map(|(axis, count)| (*axis, Some(count.clone())));
        let rounds = inner.iter().map(|id| {
            let of = &self.all_loops[id.0];
            (of.number, length_of(of))
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
    Some(Counted { number, base, is_backward, round: None })
}

/// How many iterations a loop has, if nobody leaves it.
fn length_of(of: &Loop) -> Option<Poly> {
    of.length.clone().or_else(|| {
        let Some(Formula::AtLeast(room)) = &of.beyond else { return None };
        let slope = room.cofactor(of.number).as_constant().filter(|slope| *slope > 0)?;
        let first = room.sub(&Poly::unknown(of.number).scaled(slope)).as_constant()?;
        // The first number at which there is room enough.
        let length = first.checked_neg()?.checked_add(slope - 1)?.div_euclid(slope);
        Some(Poly::constant(length.max(0)))
    })
}

fn speaks_of(condition: &Formula, number: Unknown) -> bool {
    !condition.is_made_of(&|value| !value.mentions(number))
}

/// Whether a condition holds of no number of `0..length`, by its comparisons of the number alone.
fn never_below(condition: &Formula, number: Unknown, length: &Poly) -> bool {
    let is_never = |part: &Formula| never_below(part, number, length);
    match condition {
        Formula::False => true,
        Formula::True | Formula::Unknown | Formula::Zero(_) => false,
        Formula::All(parts) => parts.iter().any(is_never),
        Formula::Any(parts) => parts.iter().all(is_never),
        Formula::AtLeast(room) => {
            let most = match room.cofactor(number).as_constant() {
                Some(slope) if slope > 0 => length.plus(-1),
                Some(_) => Poly::default(),
                None => return false,
            };
            let most = room.replace(&|of| (of == number).then(|| most.clone()));
            most.as_constant().is_some_and(|most| most < 0)
        }
    }
}
