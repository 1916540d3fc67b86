//! What a launch says of numbers that it does not wrap.
//!
//! A launch in which `tid * per` leaves its type is refused ([`crate::check::Exact`]), so that the
//! product is what it is as an index. Then it is also a number of its type: `tid * per - i` of an
//! `i` from 0 to there is one too, as `(tid + 1) * per - i` is.
//!
//! It holds of whoever evaluates it, under the conditions under which it is evaluated, and so
//! behind it in the text under these conditions. Not in loops: there the number of an iteration
//! stands for that of the end too.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::walk::Walk;
use super::integers::range_of;
use crate::kernel::Type;

/// Most numbers that are kept.
const MAX_NUMBERS: usize = 16;

/// Most that one question is told of.
const MAX_TOLD: usize = 4;

/// A number that no launch wraps.
#[derive(Clone, Debug)]
pub(in super::super) struct Unwrapped {
    value: Poly,
    range: (i128, i128),
    /// Where it is evaluated.
    guards: Vec<Formula>,
}

impl Walk<'_> {
    /// Notes a number that no launch wraps.
    pub(in super::super) fn note_unwrapped(&mut self, value: &Poly, ty: Type) {
        let Some(range) = range_of(ty).filter(|_| self.loops.is_empty()) else { return };
        let is_known = |of: &Unwrapped| of.value == *value && of.range == range;
        let is_plain = value.is_lost() || value.as_constant().is_some();
        if is_plain || self.unwrapped.len() == MAX_NUMBERS || self.unwrapped.iter().any(is_known) {
            return;
        }
        let guards = self.guards.clone();
        self.unwrapped.push(Unwrapped { value: value.clone(), range, guards });
    }

    /// Whether a number is below a power of two, since no launch wraps it where the walk is.
    pub(in super::super) fn is_unwrapped_below(&self, value: &Poly, power: u32) -> bool {
        let is_below = |of: &Unwrapped| {
            let is_within = of.range.0 >= 0 && of.range.1 >> power.min(127) == 0;
            is_within && of.value == *value && self.guards.starts_with(&of.guards)
        };
        self.unwrapped.iter().any(is_below)
    }

    /// What is known so of numbers that are made of the unknowns of these conditions.
    pub(in super::super) fn facts_of_unwrapped(&self, conditions: &[Formula]) -> Vec<Formula> {
        let mut spoken: Vec<Unknown> = Vec::new();
        conditions.iter().for_each(|condition| condition.collect_unknowns(&mut spoken));
        let is_of_them =
            |of: &&Unwrapped| of.value.unknowns().all(|unknown| spoken.contains(&unknown));
        let holds_here = |of: &&Unwrapped| self.guards.starts_with(&of.guards);
        let told = self.unwrapped.iter().rev().filter(is_of_them).filter(holds_here).take(MAX_TOLD);
        told.flat_map(|Unwrapped { value, range: (min, max), .. }| {
            [Formula::le(value, &Poly::constant(*max)), Formula::le(&Poly::constant(*min), value)]
        })
        .collect()
    }
}
