//! How many work-items have one cell as theirs, of those who name a cell by their coordinates.
//!
//! `atomic n[t / 32] += 1` is of one cell for 32 work-items at most, `n[w]` in a block of `(w in 2,
//! lane in 32)` for those of one `w`, and `n[t % 4]` for every fourth one.
//!
//! # What it rests on
//!
//! - An index is one number along axes in which each of their coordinates makes a number of its own
//!   ([`super::super::terms::numbered`]), or its quotient or remainder by what is positive. What is
//!   added to it is the block's in each round. Where it says nothing, as an index that data gives,
//!   all work-items may be of one cell.
//! - Two indices of a cell name axes that differ, or the second one says nothing.

use super::super::algebra::poly::{Poly, Unknown};
use super::super::terms::numbered::Number;
use super::super::walk::Walk;

/// The axes of the block, with how many coordinates each has.
type Axes = Vec<(Unknown, Option<Poly>)>;

/// Those who come by a place and are of one cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sharers {
    /// Where it is.
    at: Vec<Poly>,
    /// The last coordinate along each axis of those who come by, if that is a number.
    lasts: Vec<Option<i128>>,
    /// How many there are at most, of all of the block.
    pub(super) all: Option<Poly>,
    /// How many of those who can come by, if that is a number.
    pub(super) known: Option<i128>,
}

/// The axes that an index names, and how many numbers along these have one cell at most.
struct Named {
    axes: Vec<Unknown>,
    each: Poly,
}

impl Walk<'_> {
    /// Those who come by here and are of the cell at these indices.
    pub(super) fn sharers(&mut self, at: &[Poly]) -> Sharers {
        let axes = self.axes_of_worker();
        let lasts: Vec<Option<i128>> =
            axes.iter().map(|(axis, _)| self.most_here(&Poly::unknown(*axis))).collect();
        let count =
            |last: &Option<i128>| last.and_then(|last| last.checked_add(1)).map(|n| n.max(0));
        let numbers = axes.iter().zip(&lasts);
        let numbers: Axes =
            numbers.map(|((axis, _), last)| (*axis, count(last).map(Poly::constant))).collect();
        let axes: Axes = axes.into_iter().map(|(axis, extent)| (axis, Some(extent))).collect();
        let all = self.count_of_cell(at, &axes).filter(|all| self.is_of_launch_alone(all));
        let known = self.count_of_cell(at, &numbers).and_then(|known| known.as_constant());
        Sharers { at: at.to_vec(), lasts, all, known }
    }

    /// How many of as many coordinates along each axis are of one cell at most.
    fn count_of_cell(&self, at: &[Poly], axes: &Axes) -> Option<Poly> {
        let mut free = axes.clone();
        let mut all = Poly::constant(1);
        for Named { axes: named, each } in at.iter().filter_map(|index| self.named_by(index, axes))
        {
            if named.iter().all(|axis| free.iter().any(|(of, _)| of == axis)) {
                free.retain(|(axis, _)| !named.contains(axis));
                all = all.mul(&each);
            }
        }
        free.into_iter().try_fold(all, |all, (_, count)| Some(all.mul(&count?)))
    }

    /// What an index says of who names it.
    fn named_by(&self, index: &Poly, axes: &Axes) -> Option<Named> {
        self.numbered_axes(index, axes)
            .map(|(axes, _)| Named { axes, each: Poly::constant(1) })
            .or_else(|| self.quotient_in(index, axes))
            .or_else(|| self.remainder_in(index, axes))
    }

    /// The axes along which a value is a number that each of their coordinates makes, and how many
    /// numbers there are; what is added is the block's.
    fn numbered_axes(&self, value: &Poly, axes: &Axes) -> Option<(Vec<Unknown>, Option<Poly>)> {
        let is_axis = |of: &Unknown| axes.iter().any(|(axis, _)| axis == of);
        let own = value.terms().iter().filter(|(product, _)| product.iter().any(is_axis));
        let own = own.fold(Poly::default(), |sum, (product, factor)| {
            sum.add(&Poly::product(*product).scaled(*factor))
        });
        if own == Poly::default() || !self.is_agreed(&value.sub(&own)) {
            return None;
        }
        let number = Number::of(&own, axes).or_else(|| Number::of(&own.negated(), axes))?;
        let named = axes.iter().map(|(axis, _)| *axis).filter(|axis| own.mentions(*axis));
        Some((named.collect(), number.count))
    }

    /// What a quotient says: as many numbers have one as the divisor is.
    fn quotient_in(&self, index: &Poly, axes: &Axes) -> Option<Named> {
        index.terms().iter().find_map(|(product, factor)| {
            let [of] = product.as_slice() else { return None };
            let (whole, by) =
                self.quotient_of_naturals(*of).filter(|_| matches!(factor, 1 | -1))?;
            let is_alone = self.is_agreed(&index.sub(&Poly::unknown(*of).scaled(*factor)));
            let (axes, _) = self.numbered_axes(&whole, axes).filter(|_| is_alone)?;
            Some(Named { axes, each: by })
        })
    }

    /// What a remainder says: of so many numbers that follow each other one has it.
    fn remainder_in(&self, index: &Poly, axes: &Axes) -> Option<Named> {
        index.terms().iter().find_map(|(product, factor)| {
            let [of] = product.as_slice() else { return None };
            let (whole, by) = self.quotient_of_naturals(*of)?;
            let by = by.as_constant().filter(|by| *factor == -by)?;
            let is_alone = self.is_agreed(&index.sub(&whole).add(&Poly::unknown(*of).scaled(by)));
            let (axes, count) = self.numbered_axes(&whole, axes).filter(|_| is_alone)?;
            let each = (count?.as_constant()?.checked_add(by - 1)?).checked_div(by)?;
            Some(Named { axes, each: Poly::constant(each) })
        })
    }

    /// Of what an unknown is the quotient, rounded down, and by what; by what is positive.
    fn quotient_of_naturals(&self, of: Unknown) -> Option<(Poly, Poly)> {
        let (whole, by) = self.rounded_down(of)?;
        let is_positive = self.symbols.low(by).is_some_and(|least| least > 0);
        is_positive.then(|| (whole.clone(), by.clone()))
    }
}
