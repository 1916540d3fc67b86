//! Which cells of a tile a store reaches, in some work-item's hands or some iteration.
//!
//! `for k in (t..n).step_by(64) { s[k] = …; }` of 64 work-items reaches the cells below `n`:
//! the cell is a number that the work-item and the iteration make
//! ([`super::super::terms::numbered`]), so each number is one of theirs, and of the conditions
//! around it is known what they are for whose number a cell has.
//!
//! `s[(start + k) % 64] = …;` goes round: where `k` runs over as many numbers as the tile's row is
//! long, whatever `start` is, each cell is that of one of them, though it is not told of which. So
//! it has to be stored for each of them. So it is with the points of an `each`.
//!
//! # What it rests on
//!
//! - All of the block are in the same iterations of the loops around who asks. Other loops around
//!   the store make numbers, or their first iteration stores; nobody leaves these before their end.
//!   Of one that asks whether it goes on, `while k < n { s[k] = …; k += 64; }`, the end is where it
//!   asks for the first time what holds from then on.
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

/// A store whose indices are numbers that coordinates make.
struct Stored<'r> {
    reach: &'r Reach,
    indices: Vec<Counted>,
    coordinates: Coordinates,
}

/// The coordinates of who stores, and the iterations, with how many there are of each if that is
/// known.
type Coordinates = Vec<(Unknown, Option<Poly>)>;

impl Counted {
    /// Whether its base and its ends are told.
    fn is_told(&self, is_told: &dyn Fn(Unknown) -> bool) -> bool {
        let ends = self.round.iter().chain(&self.number.count).flat_map(Poly::unknowns);
        self.base.unknowns().chain(ends).all(is_told)
    }

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

impl Stored<'_> {
    fn is_coordinate(&self, of: Unknown) -> bool {
        self.coordinates.iter().any(|(own, _)| *own == of)
    }

    /// In how many indices a coordinate stands.
    fn times_named(&self, coordinate: Unknown) -> usize {
        self.indices.iter().filter(|index| index.number.mentions(coordinate)).count()
    }

    /// Where it is not made in a cell, of which the indices are [`place`]s: they stand for
    /// themselves, as what is private in a cell is not the storing work-item's.
    fn missed(&self, beyond: &[Formula], is_told: &dyn Fn(Unknown) -> bool) -> Option<Formula> {
        let numbers = self.indices.iter().enumerate();
        let numbers: Vec<Poly> =
            numbers.map(|(axis, index)| index.number_at(&Poly::unknown(place(axis)))).collect();
        let outside = self.indices.iter().zip(&numbers).map(|(of, at)| of.is_outside(at));
        let not_there = self.not_there();
        let passed = self.reach.passed.iter().chain(beyond).chain(&not_there);
        let passed = passed.map(|passed| self.at_numbers(passed, &numbers, is_told));
        let passed: Vec<Formula> = passed.collect::<Option<_>>()?;
        Some(Formula::Any(outside.chain(passed).collect()))
    }

    /// Where coordinates that the conditions around pick are those of nobody.
    fn not_there(&self) -> Vec<Formula> {
        let picked = self.reach.axes.iter().filter_map(|(axis, count)| {
            let place = self.reach.picked.get(axis).filter(|_| self.times_named(*axis) == 0)?;
            Some(Formula::lt(place, &Poly::default()).or(Formula::le(count, place)))
        });
        picked.collect()
    }

    /// A condition of who stores, as it is where the indices are of such numbers.
    fn at_numbers(
        &self,
        condition: &Formula,
        numbers: &[Poly],
        is_told: &dyn Fn(Unknown) -> bool,
    ) -> Option<Formula> {
        let mut pairs = self.indices.iter().zip(numbers);
        let at = pairs.try_fold(condition.clone(), |at, (index, number)| {
            index.number.condition_at(&at, number, &|_, _, _| true)
        })?;
        let at = at.replace(&|of| {
            let is_free = self.is_coordinate(of) && self.times_named(of) == 0;
            is_free.then(|| self.reach.picked.get(&of).cloned().unwrap_or_default())
        });
        let mut rounds = self.indices.iter().enumerate();
        let at = rounds.try_fold(at, |at, (axis, index)| match &index.round {
            // It is not told whose number a cell has: it may hold of none.
            Some(length) if speaks_of(&at, place(axis)) => {
                never_below(&at, place(axis), length).then_some(Formula::False)
            }
            Some(_) | None => Some(at),
        })?;
        let is_place = |of: Unknown| axis_of(of, self.indices.len()).is_some();
        let is_known = |value: &Poly| {
            !value.is_lost() && value.unknowns().all(|of| is_place(of) || is_told(of))
        };
        at.is_made_of(&is_known).then_some(at)
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
        let is_whole = |id: &LoopId| goes_on_to_its_end(&self.all_loops[id.0]);
        if !self.are_of_whole_block(around) || !inner.iter().all(is_whole) {
            return None;
        }
        let beyond = self.ends_of(reach, inner)?;
        let stored = self.numbered_store(reach, inner)?;
        let is_told = |of: Unknown| {
            let mut loops = inner.iter();
            !stored.is_coordinate(of)
                && !self.is_private(of)
                && !loops.any(|id| self.symbols.is_inside(of, *id))
        };
        if !stored.indices.iter().all(|index| index.is_told(&is_told)) {
            return None;
        }
        let missed = stored.missed(&beyond, &is_told)?;
        let at_cell = |of: Unknown| Some(cell[axis_of(of, cell.len())?].clone());
        Some(missed.replace(&at_cell).folded())
    }

    /// Where iterations are none of their loops', of loops of which an index does not say so: a
    /// number that has as many values as there are iterations is one of theirs.
    fn ends_of(&self, reach: &Reach, inner: &[LoopId]) -> Option<Vec<Formula>> {
        let loops = inner.iter().map(|id| &self.all_loops[id.0]);
        let names = |number: Unknown| reach.at.iter().any(|index| index.mentions(number));
        let open = loops.filter(|of| length_of(of).is_none() || !names(of.number));
        open.map(|of| of.beyond.clone()).collect()
    }

    /// A store as numbers that coordinates make, each coordinate one of them at most.
    fn numbered_store<'r>(&self, reach: &'r Reach, inner: &[LoopId]) -> Option<Stored<'r>> {
        let coordinates = self.coordinates_of(reach, inner);
        let indices = reach.at.iter().map(|index| {
            // What no coordinate turns is a number like any other.
            let round = self.round_of_index(index).filter(|(whole, _)| {
                coordinates.iter().any(|(coordinate, _)| whole.mentions(*coordinate))
            });
            let of = counted(round.map_or(index, |(whole, _)| whole), &coordinates)?;
            Some(Counted { round: round.map(|(_, length)| length.clone()), ..of })
        });
        let stored = Stored { reach, indices: indices.collect::<Option<_>>()?, coordinates };
        let mut coordinates = stored.coordinates.iter();
        let is_each_of_one = coordinates.all(|(of, _)| stored.times_named(*of) <= 1);
        let are_whole = stored.indices.iter().all(|index| self.goes_all_round(index));
        (is_each_of_one && are_whole).then_some(stored)
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

    fn coordinates_of(&self, reach: &Reach, inner: &[LoopId]) -> Coordinates {
        let axes = reach.axes.iter().map(|(axis, count)| (*axis, Some(count.clone())));
        let rounds = inner.iter().map(|id| {
            let of = &self.all_loops[id.0];
            (of.number, length_of(of))
        });
        axes.chain(rounds).collect()
    }
}

/// What stands for a cell's index along an axis.
fn place(axis: usize) -> Unknown {
    Unknown::MAX - axis as Unknown
}

/// The axis of a cell for whose index an unknown stands.
fn axis_of(of: Unknown, n_axes: usize) -> Option<usize> {
    (0..n_axes).find(|axis| of == place(*axis))
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

/// Whether all iterations of a loop are run up to where it is known to have none any more. One that
/// asks before each whether it goes on has them up to the first number at which it does not, and
/// where that is known it would not go on at any later one.
fn goes_on_to_its_end(of: &Loop) -> bool {
    !of.is_left && (of.is_whole || of.beyond.is_some())
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
