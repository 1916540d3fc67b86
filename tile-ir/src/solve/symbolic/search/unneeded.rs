//! Choices that need not be made.
//!
//! `m = min(a, b)` is at most `a` and at most `b`, and it is one of the two. Where nothing
//! else is asked of `m` but that it is large enough, as of the end of a loop in `k < m`, numbers
//! that fulfil everything but the choice fulfil it as well once `m` is raised as far as `a` and
//! `b` let it. So which of the two it is need not be asked: the choice is left out, which makes
//! a system weaker anyway, and here takes nothing from it. A `max` that is only asked to be
//! small enough is the mirror image.

use std::collections::BTreeSet;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::system::System;

/// Which way an unknown may be moved without harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

impl System {
    /// Leaves out a choice that need not be made, if there is one.
    pub(in super::super) fn leave_out_choice(&mut self) -> bool {
        let unneeded = (0..self.choices.len()).find(|at| {
            let values = values_of(&self.choices[*at]);
            let mut ways = [Way::Up, Way::Down].into_iter();
            values.is_some_and(|(unknown, values)| {
                ways.any(|way| self.is_unneeded(*at, (unknown, &values), way))
            })
        });
        unneeded.map(|at| self.choices.remove(at)).is_some()
    }

    /// Whether an unknown that is one of these values may be moved this way, as far as all of
    /// them let it, whatever else is asked.
    fn is_unneeded(&self, at: usize, (unknown, values): (Unknown, &[Poly]), way: Way) -> bool {
        let own = Poly::unknown(unknown);
        let ends: BTreeSet<Poly> = values
            .iter()
            .map(|value| match way {
                Way::Up => value.sub(&own),
                Way::Down => own.sub(value),
            })
            .collect();
        let mut rows = self.at_least.iter().filter(|row| !ends.contains(row));
        let others = self.choices.iter().enumerate().filter(|(other, _)| *other != at);
        ends.iter().all(|end| self.at_least.contains(end))
            && rows.all(|row| stays(row, unknown, way))
            && !self.zeros().any(|zero| zero.mentions(unknown))
            && !self.compared.iter().flatten().any(|poly| poly.mentions(unknown))
            && others.flat_map(|(_, parts)| parts).all(|part| stays_true(part, unknown, way))
    }
}

/// The unknown that a choice is about, and the values of which it is one.
fn values_of(parts: &[Formula]) -> Option<(Unknown, Vec<Poly>)> {
    let Formula::Zero(first) = parts.first()? else { return None };
    first.unknowns().find_map(|unknown| {
        let values: Option<Vec<Poly>> = parts.iter().map(|part| value_in(part, unknown)).collect();
        Some((unknown, values?))
    })
}

/// What an equality says that an unknown is.
fn value_in(part: &Formula, unknown: Unknown) -> Option<Poly> {
    let Formula::Zero(zero) = part else { return None };
    let factor = factor_of(zero, unknown).filter(|factor| factor.unsigned_abs() == 1)?;
    let rest = zero.sub(&Poly::unknown(unknown).scaled(factor));
    let value = rest.scaled(-factor);
    (!value.is_lost()).then_some(value)
}

/// How often an unknown is in a sum; `None` where it is part of products.
fn factor_of(poly: &Poly, unknown: Unknown) -> Option<i128> {
    let mut factor = 0;
    for (product, times) in poly.terms() {
        match product.as_slice() {
            [own] if *own == unknown => factor = *times,
            others if others.contains(&unknown) => return None,
            _ => {}
        }
    }
    Some(factor)
}

/// Whether what is at least 0 stays so when an unknown is moved.
fn stays(row: &Poly, unknown: Unknown, way: Way) -> bool {
    factor_of(row, unknown).is_some_and(|factor| match way {
        Way::Up => factor >= 0,
        Way::Down => factor <= 0,
    })
}

/// Whether what is true stays so when an unknown is moved.
fn stays_true(part: &Formula, unknown: Unknown, way: Way) -> bool {
    match part {
        Formula::True | Formula::False | Formula::Unknown => true,
        Formula::AtLeast(row) => stays(row, unknown, way),
        Formula::Zero(zero) => !zero.mentions(unknown),
        Formula::All(parts) | Formula::Any(parts) => {
            parts.iter().all(|part| stays_true(part, unknown, way))
        }
    }
}
