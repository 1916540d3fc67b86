//! Levels: what a loop only halves, or only doubles, is at two times.
//!
//! `while num > 0 { if t < num { out[b * num + t + G * num] = …; } num >>= 1; }` writes from
//! `G * num` up to `2 * G * num` in each iteration, so that no two of them meet: all that `num`
//! ever is are a number, half of it, a quarter of it and so on, each rounded down. Of two of
//! these, which are equal or not, one is at most half of the other. It does not matter who halves
//! it, and when: `if t < num { …; num >>= 1; }` leaves other work-items behind, but each of them
//! at one of these numbers.
//!
//! # What it rests on
//!
//! - The loop assigns the variable nothing but quotients by powers of two, or an index nothing
//!   but multiples by them, and it was not negative before.
//! - Both sides have begun with one number, which is made of what they share.

use std::collections::BTreeSet;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::pairs::instance::{Builder, Side};
use super::super::walk::{Value, Walk};
use super::Carried;
use crate::kernel::{Stmt, Type, VarId};
use crate::solve::{doubling, halving};

/// A value that is halved, or doubled, some number of times.
#[derive(Clone, Debug)]
pub(in super::super) struct Level {
    at: Unknown,
    /// What it was at first.
    first: Poly,
}

impl Walk<'_> {
    /// Notes which variables have such values at the head of an iteration of `body`.
    pub(in super::super) fn note_levels(&mut self, body: &[Stmt], carried: &[Carried]) {
        if !self.recording {
            return;
        }
        let halved = halving::halved(self.kernel, body);
        let doubled = doubling::grown(self.kernel, body);
        let doubled = doubled.keys().filter(|var| self.type_of(**var) == Type::Index);
        let scaled: BTreeSet<VarId> = halved.iter().chain(doubled).copied().collect();
        for Carried { var, first, .. } in carried.iter().filter(|of| scaled.contains(&of.var)) {
            if let Some(Value::Int(value)) = self.env.get(var)
                && let [(product, 1)] = value.terms()
                && let [at] = product.as_slice()
            {
                self.note_level(*at, first);
            }
        }
    }

    /// Notes that a value is `first`, halved or doubled some number of times.
    pub(in super::super) fn note_level(&mut self, at: Unknown, first: &Poly) {
        if self.recording && !first.is_lost() && self.is_natural(first) {
            self.levels.push(Level { at, first: first.clone() });
        }
    }
}

impl Builder<'_> {
    /// Adds that of two levels one is at most half of the other, or they are one.
    pub(in super::super) fn part_levels(&mut self) {
        let walk = self.walk;
        for Level { at, first } in &walk.levels {
            let both = [Side::First, Side::Second];
            if self.is_shared(*at)
                || !both.iter().all(|side| self.seen.contains(&(*at, *side)))
                || !first.unknowns().all(|unknown| self.is_shared(unknown))
            {
                continue;
            }
            let [one, other] = both.map(|side| self.on(side, &Poly::unknown(*at)));
            self.system.assert(&Formula::Any(vec![
                Formula::eq(&one, &other),
                Formula::le(&one.scaled(2), &other),
                Formula::le(&other.scaled(2), &one),
            ]));
        }
    }
}
