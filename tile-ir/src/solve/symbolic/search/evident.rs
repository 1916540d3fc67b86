//! Numbers that are found at once to fulfil a system: where there are some, no proof is to be
//! looked for.
//!
//! All unknowns begin at 0. As long as some constraint is broken, an unknown in it is moved as
//! far as mends it: the one that has been moved least, and of those the one that is moved by
//! least. What is not found within [`MAX_MOVES`] is left to the search for a proof.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::system::System;

/// Moves of one search.
const MAX_MOVES: u32 = 24;

/// Constraints of a system beyond which none is begun.
const MAX_CONSTRAINTS: usize = 160;

/// Unknowns of higher numbers have no place.
const MAX_UNKNOWNS: usize = 1 << 12;

/// What is to hold at a point, and does not.
#[derive(Clone, Copy)]
enum Broken<'s> {
    /// This is to be 0.
    Zero(&'s Poly),
    /// This is to be at least 0.
    AtLeast(&'s Poly),
    /// Nothing can be done about it.
    Never,
}

/// A number for each unknown, and how often it has been moved.
struct Point {
    at: Vec<(i128, u32)>,
    moves: u32,
}

impl System {
    /// Whether integers are found that fulfil all constraints; `false` says nothing.
    pub(in super::super) fn has_evident_solution(&self) -> bool {
        let n_constraints = self.zeros().count() + self.at_least.len() + self.choices.len();
        if self.contradictory || n_constraints > MAX_CONSTRAINTS {
            return false;
        }
        let Some(len) = self.unused().map(|next| next as usize) else { return false };
        if len > MAX_UNKNOWNS {
            return false;
        }
        let mut point = Point { at: vec![(0, 0); len], moves: 0 };
        while let Some(broken) = point.first_broken(self) {
            if point.moves == MAX_MOVES || !point.mend(broken) {
                return false;
            }
        }
        true
    }
}

impl Point {
    /// A constraint that does not hold here.
    fn first_broken<'s>(&self, system: &'s System) -> Option<Broken<'s>> {
        let zero = || system.zeros().find_map(|zero| self.breaks_zero(zero));
        let row = || system.at_least.iter().find_map(|row| self.breaks_row(row));
        let choice = || system.choices.iter().find_map(|parts| self.breaks_choice(parts));
        zero().or_else(row).or_else(choice)
    }

    fn breaks_zero<'s>(&self, zero: &'s Poly) -> Option<Broken<'s>> {
        match self.value(zero) {
            Some(0) => None,
            Some(_) => Some(Broken::Zero(zero)),
            None => Some(Broken::Never),
        }
    }

    fn breaks_row<'s>(&self, row: &'s Poly) -> Option<Broken<'s>> {
        match self.value(row) {
            Some(0..) => None,
            Some(_) => Some(Broken::AtLeast(row)),
            None => Some(Broken::Never),
        }
    }

    /// Of cases of which none holds, what breaks one of them: another one each time.
    fn breaks_choice<'s>(&self, parts: &'s [Formula]) -> Option<Broken<'s>> {
        if parts.iter().any(|part| self.breaks(part).is_none()) {
            return None;
        }
        let (moves, len) = (self.moves as usize, parts.len().max(1));
        // Choices that are broken in turn come to all of their cases too.
        let part = parts.get((moves + moves / len) % len);
        Some(part.and_then(|part| self.breaks(part)).unwrap_or(Broken::Never))
    }

    fn breaks<'s>(&self, formula: &'s Formula) -> Option<Broken<'s>> {
        match formula {
            Formula::True | Formula::Unknown => None,
            Formula::False => Some(Broken::Never),
            Formula::AtLeast(poly) | Formula::Zero(poly) if poly.is_lost() => None,
            Formula::AtLeast(row) => self.breaks_row(row),
            Formula::Zero(zero) => self.breaks_zero(zero),
            Formula::All(parts) => parts.iter().find_map(|part| self.breaks(part)),
            Formula::Any(parts) => self.breaks_choice(parts),
        }
    }

    fn get(&self, unknown: Unknown) -> (i128, u32) {
        self.at.get(unknown as usize).copied().unwrap_or_default()
    }

    /// What a polynomial is here; `None` where that cannot be negated in 128 bits.
    fn value(&self, poly: &Poly) -> Option<i128> {
        let mut sum = 0_i128;
        for (product, factor) in poly.terms() {
            let mut all = *factor;
            for unknown in product.as_slice() {
                all = all.checked_mul(self.get(*unknown).0)?;
            }
            sum = sum.checked_add(all)?;
        }
        (sum != i128::MIN).then_some(sum)
    }

    /// By how much a polynomial grows with an unknown of which it has no square; likewise.
    fn slope(&self, poly: &Poly, unknown: Unknown) -> Option<i128> {
        let mut slope = 0_i128;
        for (product, factor) in poly.terms() {
            let mut others = product.iter().filter(|other| **other != unknown);
            match product.iter().filter(|other| **other == unknown).count() {
                0 => {}
                1 => {
                    let term =
                        others.try_fold(*factor, |all, of| all.checked_mul(self.get(*of).0))?;
                    slope = slope.checked_add(term)?;
                }
                _ => return None,
            }
        }
        (slope != i128::MIN).then_some(slope)
    }

    /// Moves an unknown such that a constraint holds; whether there is one.
    fn mend(&mut self, broken: Broken<'_>) -> bool {
        let (poly, is_zero) = match broken {
            Broken::Zero(poly) => (poly, true),
            Broken::AtLeast(poly) => (poly, false),
            Broken::Never => return false,
        };
        let Some(value) = self.value(poly) else { return false };
        let steps = poly.unknowns().filter_map(|unknown| {
            let slope = self.slope(poly, unknown).filter(|slope| *slope != 0)?;
            let step = match is_zero {
                true if value % slope != 0 => return None,
                true => -(value / slope),
                // The least that is enough: value + slope * step >= 0.
                false => slope.signum() * -value.div_euclid(slope.abs()),
            };
            let (from, moves) = self.get(unknown);
            Some((moves, step.unsigned_abs(), unknown, from.checked_add(step)?))
        });
        let Some((moves, _, unknown, to)) = steps.min() else { return false };
        self.moves += 1;
        if let Some(at) = self.at.get_mut(unknown as usize) {
            *at = (to, moves + 1);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(number: Unknown) -> Poly {
        Poly::unknown(number)
    }

    fn has_solution(constraints: &[Formula]) -> bool {
        let mut system = System::default();
        constraints.iter().for_each(|constraint| system.assert(constraint));
        system.has_evident_solution()
    }

    #[test]
    fn what_is_broken_is_mended() {
        // x*w + t = y*w + s, t != s, x, y >= 0, w >= 1
        let [x, y, w, t, s] = [0, 1, 2, 3, 4].map(unknown);
        let met = Formula::eq(&x.mul(&w).add(&t), &y.mul(&w).add(&s));
        let natural = [&x, &y].map(|of| Formula::AtLeast(of.clone()));
        let wide = Formula::le(&Poly::constant(1), &w);
        let apart = Formula::ne(&t, &s);
        assert!(has_solution(&[met.clone(), apart.clone(), wide.clone()]));
        let within = [&t, &s].map(|of| Formula::within(of, &w));
        let all = [met, apart, wide].into_iter().chain(natural).chain(within);
        assert!(!has_solution(&all.collect::<Vec<_>>()));
    }

    #[test]
    fn one_case_is_enough() {
        let x = unknown(0);
        let is = |value| Formula::eq(&x, &Poly::constant(value));
        assert!(has_solution(&[is(3).or(is(5)), Formula::ne(&x, &Poly::constant(3))]));
        assert!(!has_solution(&[is(3).or(is(5)), is(4)]));
    }
}
