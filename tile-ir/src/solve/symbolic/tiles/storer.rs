//! Which work-item has stored in a cell, by where the cell is.
//!
//! Of `s[t] = …;` it is the one whose `t` the cell's place is. A place may also be made of two
//! numbers, `s[2 * w + lane] = …;`, of which the second is below the factor of the first wherever
//! the store is made: then the cell's place, divided by the factor, is the first, and what is left
//! is the second. And a work-item may be cut into two numbers that tell it together, its vector and
//! its lane: `s[t / 8, t % 8] = …;` is made by `8 * i + j` in the cell `[i, j]`, and `if t % 8 == 1 {
//! s[t / 8, 1] = …; }` by `8 * i + 1`.
//!
//! So of each store there is one work-item at most that can have made it in a cell.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::terms::value::Function;
use super::super::walk::Walk;
use super::tabled::place_of;
use crate::op::BinaryOp;
use crate::span::SpanId;

/// Pairs of numbers of which a place is tried to be made.
const MAX_PAIRS: usize = 64;

/// What a number, of which a cell's coordinate is made, is by that.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Digit {
    /// The coordinate itself.
    Whole,
    /// The coordinate, divided by this.
    High(i128),
    /// What that leaves.
    Low(i128),
    /// The conditions around the store say it, whatever the coordinate.
    Picked,
}

/// A number by a coordinate of the cell.
#[derive(Clone, Debug)]
pub(in super::super) struct Told {
    coordinate: usize,
    /// What the coordinate is without it.
    rest: Poly,
    /// Whether it is taken off from that.
    is_less: bool,
    digit: Digit,
    /// Where a quotient is shown.
    span: SpanId,
}

/// Where the work-item that has stored in a cell is on an axis.
#[derive(Clone, Debug)]
pub(in super::super) enum Storer {
    /// The conditions around the store pick it.
    Picked(Poly),
    /// A coordinate of the cell tells.
    Told(Told),
    /// So many times the first number, and the second one.
    Cut(Poly, Told, Told),
}

/// Numbers that tell a work-item along an axis.
struct Cut {
    axis: Unknown,
    by: Poly,
    high: Poly,
    low: Poly,
}

impl Walk<'_> {
    /// By axis of who is at work, with its extent, where the one is who stores at a place here;
    /// `None` where that is not told.
    pub(in super::super) fn storers(
        &self,
        at: &[Poly],
        worker: &[(Unknown, Poly)],
        span: SpanId,
    ) -> Option<Vec<Storer>> {
        let is_agreed = |poly: &Poly| self.is_agreed_now(poly);
        let whole: Vec<_> = at.iter().map(|index| place_of(index, worker, &is_agreed)).collect();
        let cuts = self.cuts(at, worker);
        let axes = worker.iter().map(|(axis, _)| Poly::unknown(*axis));
        let parts = cuts.iter().flat_map(|cut| [cut.high.clone(), cut.low.clone()]);
        let parts: Vec<Poly> = axes.chain(parts).collect();
        let mut told: Vec<(Poly, Told)> = Vec::new();
        for (coordinate, index) in at.iter().enumerate() {
            match &whole[coordinate] {
                Some((axis, rest, is_less)) => {
                    let (rest, is_less, digit) = (rest.clone(), *is_less, Digit::Whole);
                    let number = Told { coordinate, rest, is_less, digit, span };
                    told.push((parts[*axis].clone(), number));
                }
                None => told.extend(self.digits_told(coordinate, index, (&parts, span))),
            }
        }
        let told_as = |part: &Poly| told.iter().find(|(of, _)| of == part).map(|of| of.1.clone());
        let digit = |part: &Poly| told_as(part).or_else(|| self.picked_digit(part, span));
        let storer = |axis: Unknown| {
            let cut = || {
                let mut of_axis = cuts.iter().filter(|cut| cut.axis == axis);
                of_axis.find_map(|cut| {
                    Some(Storer::Cut(cut.by.clone(), digit(&cut.high)?, digit(&cut.low)?))
                })
            };
            let picked = || self.fixed_at(axis).filter(is_agreed).map(Storer::Picked);
            told_as(&Poly::unknown(axis)).map(Storer::Told).or_else(cut).or_else(picked)
        };
        worker.iter().map(|(axis, _)| storer(*axis)).collect()
    }

    /// The ways in which a place cuts axes into two numbers.
    fn cuts(&self, at: &[Poly], worker: &[(Unknown, Poly)]) -> Vec<Cut> {
        let quotients = at.iter().flat_map(Poly::unknowns).filter_map(|high| {
            let (function, axis, by) = self.function_of(high)?;
            let (axis, _) = worker.iter().find(|(own, _)| Poly::unknown(*own) == *axis)?;
            let is_cut = *function == Function::Quotient && self.is_agreed_now(by);
            let high = Poly::unknown(high);
            let low = Poly::unknown(*axis).sub(&high.mul(by));
            is_cut.then(|| Cut { axis: *axis, by: by.clone(), high, low })
        });
        let mut cuts: Vec<Cut> = Vec::new();
        for cut in quotients {
            if !cuts.iter().any(|known| known.high == cut.high) {
                cuts.push(cut);
            }
        }
        cuts
    }

    /// The numbers that a coordinate of a place tells: itself, or two digits.
    fn digits_told(
        &self,
        coordinate: usize,
        index: &Poly,
        (parts, span): (&[Poly], SpanId),
    ) -> Vec<(Poly, Told)> {
        let told = |rest: &Poly, digit| Told {
            coordinate,
            rest: rest.clone(),
            is_less: false,
            digit,
            span,
        };
        for part in parts {
            let rest = index.sub(part);
            if self.is_agreed_now(&rest) {
                return vec![(part.clone(), told(&rest, Digit::Whole))];
            }
        }
        let pairs = parts.iter().flat_map(|high| parts.iter().map(move |low| (high, low)));
        for (high, low) in pairs.filter(|(high, low)| high != low).take(MAX_PAIRS) {
            let alone = index.sub(low);
            for factor in alone.terms().iter().map(|term| term.1).filter(|factor| *factor > 1) {
                let rest = alone.sub(&high.scaled(factor));
                if self.is_agreed_now(&rest) && self.is_digit_here(low, factor) {
                    return vec![
                        (high.clone(), told(&rest, Digit::High(factor))),
                        (low.clone(), told(&rest, Digit::Low(factor))),
                    ];
                }
            }
        }
        Vec::new()
    }

    /// A number of which the conditions around say what it is.
    fn picked_digit(&self, part: &Poly, span: SpanId) -> Option<Told> {
        let mut zeros = Vec::new();
        self.guards.iter().for_each(|guard| guard.collect_zeros(&mut zeros));
        let mut values = zeros.iter().flat_map(|zero| [part.sub(zero), part.add(zero)]);
        let is_0 = || {
            let other = Formula::ne(part, &Poly::default());
            self.is_none_here(&[other]).then(Poly::default)
        };
        let rest = values.find(|value| self.is_agreed_now(value)).or_else(is_0)?;
        Some(Told { coordinate: 0, rest, is_less: false, digit: Digit::Picked, span })
    }

    /// Whether who comes by here has a number from 0 to below a factor.
    fn is_digit_here(&self, value: &Poly, factor: i128) -> bool {
        let below = Formula::lt(value, &Poly::default());
        let beyond = Formula::le(&Poly::constant(factor), value);
        self.is_none_here(&[below, beyond])
    }

    /// Where the one who has stored in a cell is on an axis, as who reads the cell sees it.
    pub(in super::super) fn storer_at(&mut self, storer: &Storer, at: &[Poly]) -> Poly {
        match storer {
            Storer::Picked(place) => place.clone(),
            Storer::Told(told) => self.told_at(told, at),
            Storer::Cut(by, high, low) => {
                let [high, low] = [high, low].map(|told| self.told_at(told, at));
                high.mul(by).add(&low)
            }
        }
    }

    fn told_at(&mut self, told: &Told, at: &[Poly]) -> Poly {
        let index = &at[told.coordinate];
        let place = if told.is_less { told.rest.sub(index) } else { index.sub(&told.rest) };
        let by = match told.digit {
            Digit::Picked => return told.rest.clone(),
            Digit::Whole => return place,
            Digit::High(by) | Digit::Low(by) => by,
        };
        // Rounded towards 0, another one below that would have the same quotient.
        if place.is_lost() || !self.is_natural(&place) {
            return Poly::lost();
        }
        let at = (told.span, BinaryOp::Div);
        let high = self.quotient(&place, &Poly::constant(by), at).unwrap_or_else(Poly::lost);
        match told.digit {
            Digit::Low(_) => place.sub(&high.scaled(by)),
            Digit::High(_) | Digit::Whole | Digit::Picked => high,
        }
    }
}
