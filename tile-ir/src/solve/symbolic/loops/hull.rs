//! Between which numbers the values lie that a loop sets a variable to.
//!
//! `for k in 0..n { if a[k] < best { worst = k; } }` sets `worst` to numbers from 0 to `n - 1`:
//! what is known of the counter, and what is asked where an iteration begins, say so. A value
//! that is a choice is one of two, each of which has its own bounds.
//!
//! They are proposed, as other bounds are, and hold if they are seen to ([`super::bounded`]).

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::walk::Walk;

/// Choices within choices that are looked into.
const MAX_CHOICES: u32 = 3;

/// A bound, and whether it is an upper one.
type Bound = (Poly, bool);

impl Walk<'_> {
    /// What may be bounds of a value at the end of an iteration in which this `holds`.
    pub(in super::super) fn hull(&self, value: &Poly, holds: &Formula) -> Vec<Bound> {
        let mut asked = Vec::new();
        collect_compared(holds, &mut asked);
        let mut out = Vec::new();
        self.collect_hull(value, &asked, MAX_CHOICES, &mut out);
        out
    }

    /// A value as it is where it does not wrap.
    fn unturned(&self, value: &Poly) -> Poly {
        let turns = value.unknowns().filter(|unknown| self.is_turns(*unknown));
        turns.fold(value.clone(), |rest, turns| {
            rest.sub(&Poly::unknown(turns).mul(&value.cofactor(turns)))
        })
    }

    fn collect_hull(&self, value: &Poly, asked: &[Poly], depth: u32, out: &mut Vec<Bound>) {
        let value = &self.unturned(value);
        for unknown in value.unknowns() {
            let choice = self.choice_of(unknown);
            if let Some((_, then, otherwise)) = choice {
                let rest = value.sub(&Poly::unknown(unknown));
                let Some(depth) = depth.checked_sub(1).filter(|_| !rest.mentions(unknown)) else {
                    continue;
                };
                for arm in [then, otherwise] {
                    self.collect_hull(&arm.add(&rest), asked, depth, out);
                }
                continue;
            }
            let mut rows = asked.to_vec();
            if let Some(symbol) = self.symbols.get(unknown) {
                collect_compared(&symbol.facts, &mut rows);
            }
            out.extend(rows.iter().filter_map(|row| without(value, unknown, row)));
        }
    }
}

/// What a value is at most, or at least, where `room` is not negative, without this unknown.
fn without(value: &Poly, unknown: Unknown, room: &Poly) -> Option<Bound> {
    let factor = value.cofactor(unknown).as_constant()?;
    let of_room = room.cofactor(unknown).as_constant().filter(|factor| *factor != 0)?;
    let times = -factor.checked_div(of_room).filter(|times| times * of_room == factor)?;
    let bound = value.add(&room.scaled(times));
    (times != 0 && !bound.is_lost() && !bound.mentions(unknown)).then_some((bound, times > 0))
}

/// Adds all that a formula says may not be negative.
fn collect_compared(formula: &Formula, out: &mut Vec<Poly>) {
    match formula {
        Formula::AtLeast(poly) => out.push(poly.clone()),
        Formula::All(parts) | Formula::Any(parts) => {
            parts.iter().for_each(|part| collect_compared(part, out));
        }
        Formula::True | Formula::False | Formula::Unknown | Formula::Zero(_) => {}
    }
}
