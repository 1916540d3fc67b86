//! Values and conditions that are made of a number of one's own, as they are for another number.
//!
//! Coordinates make a number, as `ty * 32 + tx` in rows of 32 or `t + k * 64` of 64 work-items: one
//! counts by ones, and each other one by as many as those before it have values. What is made of
//! the number alone, `b * 256 + ty * 32 + tx < N`, can be told of whose number is another one.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::walk::Walk;

/// A number that coordinates make.
#[derive(Clone, Debug)]
pub(in super::super) struct Number {
    value: Poly,
    /// The coordinate that counts by ones, if it is more than one number.
    first: Option<Unknown>,
    /// How many numbers there are, if that is known.
    pub(in super::super) count: Option<Poly>,
}

impl Walk<'_> {
    /// The number of a work-item in its block.
    pub(in super::super) fn number_of_item(&mut self) -> Option<Number> {
        let axes = self.axes_of_worker().into_iter();
        let axes: Vec<(Unknown, Option<Poly>)> =
            axes.map(|(axis, extent)| (axis, Some(extent))).collect();
        let (number, _) = self.number_of_items()?;
        Number::of(&number, &axes)
    }
}

impl Number {
    /// The number that a value is in which each of the coordinates counts as it has to; with each
    /// how many values it has, if that is known.
    pub(in super::super) fn of(
        value: &Poly,
        coordinates: &[(Unknown, Option<Poly>)],
    ) -> Option<Self> {
        let weight_of = |(of, _): &(Unknown, Option<Poly>)| value.cofactor(*of);
        let mut open: Vec<&(Unknown, Option<Poly>)> = coordinates
            .iter()
            .filter(|coordinate| weight_of(coordinate) != Poly::default())
            .collect();
        let (mut first, mut count) = (None, Some(Poly::constant(1)));
        let mut rest = value.clone();
        while !open.is_empty() {
            let weight = count?;
            let next = open.iter().position(|coordinate| weight_of(coordinate) == weight)?;
            let (of, values) = open.remove(next);
            first = first.or(Some(*of));
            rest = rest.sub(&weight.mul(&Poly::unknown(*of)));
            count = values.as_ref().map(|values| weight.mul(values));
        }
        (rest == Poly::default()).then(|| Self { value: value.clone(), first, count })
    }

    /// Whether a coordinate makes it.
    pub(in super::super) fn mentions(&self, coordinate: Unknown) -> bool {
        self.value.mentions(coordinate)
    }

    /// By how much a value rises with the number, and what it is at number 0.
    fn parts_of(&self, value: &Poly) -> Option<(i128, Poly)> {
        let slope = self.first.map_or(Some(0), |first| value.cofactor(first).as_constant())?;
        let rest = value.sub(&self.value.scaled(slope));
        (!rest.is_lost()).then_some((slope, rest))
    }

    /// What a condition is for another number; `None` where one of its parts is not told by
    /// `is_told` of by how much a value rises with the number, and what it is at number 0.
    pub(in super::super) fn condition_at(
        &self,
        condition: &Formula,
        number: &Poly,
        is_told: &dyn Fn(&Formula, i128, &Poly) -> bool,
    ) -> Option<Formula> {
        let value = |value: &Poly| {
            let (slope, rest) = self.parts_of(value)?;
            is_told(condition, slope, &rest).then(|| rest.add(&number.scaled(slope)))
        };
        let parts = |parts: &[Formula]| {
            let parts = parts.iter().map(|part| self.condition_at(part, number, is_told));
            parts.collect::<Option<Vec<Formula>>>()
        };
        match condition {
            Formula::True | Formula::False => Some(condition.clone()),
            Formula::AtLeast(room) => value(room).map(Formula::AtLeast),
            Formula::Zero(zero) => value(zero).map(Formula::Zero),
            Formula::All(of) => parts(of).map(Formula::All),
            Formula::Any(of) => parts(of).map(Formula::Any),
            Formula::Unknown => None,
        }
    }
}
