//! How often a loop that data may end has gone on: what held where its last iteration began.
//!
//! Behind `while j < 15 && a[j] > 7 { j += 1; }` `j` is what it was before, plus the number
//! of rounds. It is not known how many there were. But if there was one, the last one was
//! entered, so that all that an iteration asks held there: `j < 15` of what `j` was then.
//! Whoever has left it by `break` has taken the step in no more iterations than were begun.
//!
//! Only what all of the iteration's numbers say is taken over: what is loaded, or set by a
//! condition, in the loop is another value in each iteration.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::walk::Walk;

/// What holds in each iteration of a loop that is entered.
pub(in super::super) struct Entered {
    id: LoopId,
    number: Unknown,
    holds: Formula,
}

impl Walk<'_> {
    /// What is known in an arbitrary iteration that has just been entered, since it is asked
    /// that this `holds`.
    pub(in super::super) fn entered(&self, id: LoopId, holds: Formula) -> Entered {
        let number = self.all_loops[id.0].number;
        let of_number = self.symbols.get(number).map(|symbol| symbol.facts.clone());
        Entered { id, number, holds: holds.and(of_number.unwrap_or(Formula::True)) }
    }

    /// Notes that a variable has been changed in so many iterations, from the first on.
    pub(in super::super) fn note_last_entered(&mut self, rounds: Unknown, entered: &Entered) {
        let count = Poly::unknown(rounds);
        let last = count.plus(-1);
        let at_last = |unknown: Unknown| match unknown == entered.number {
            true => Some(last.clone()),
            false if self.symbols.is_inside(unknown, entered.id) => Some(Poly::lost()),
            false => None,
        };
        let held = known_parts(&entered.holds.replace(&at_last));
        if !matches!(held, Formula::True | Formula::Unknown) {
            self.symbols.add_facts(rounds, Formula::Zero(count).or(held));
        }
    }
}

/// What is left of a formula without the parts of which nothing is known.
fn known_parts(formula: &Formula) -> Formula {
    match formula {
        Formula::All(parts) => {
            let mut parts: Vec<Formula> = parts.iter().map(known_parts).collect();
            parts.retain(|part| *part != Formula::Unknown);
            Formula::All(parts).folded()
        }
        Formula::Any(parts) => {
            let parts: Vec<Formula> = parts.iter().map(known_parts).collect();
            match parts.contains(&Formula::Unknown) {
                true => Formula::Unknown,
                false => Formula::Any(parts).folded(),
            }
        }
        Formula::True
        | Formula::False
        | Formula::Unknown
        | Formula::AtLeast(_)
        | Formula::Zero(_) => formula.clone(),
    }
}
