//! What who goes on behind a `while` has found: that its condition does not hold.
//!
//! So it is known behind `while stride > 0 { …; stride /= 2; }` that nothing is left of the stride,
//! and behind `while rest > i { rest -= i + 1; i += 1; }` that `rest` is a place in row `i` of a
//! triangle. It holds to the end of the list of statements alone, as a guard: of who does not come
//! by nothing is said.
//!
//! Of a loop that is never left nothing is said. Of one that goes on by equal steps more is known
//! than its condition says, so that it is left out, unless it multiplies what the loop has
//! changed, as `while (i + 1) * (i + 2) / 2 <= k { i += 1; }` does.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::terms::value::Function;
use super::super::walk::Walk;
use super::steps::Step;
use super::{Carried, Kind};

impl Walk<'_> {
    /// Goes on behind a loop whose condition has been `reached`; symbols are of the loop or new
    /// behind it `from` this one on.
    pub(super) fn leave_reached(&mut self, carried: &[Carried], reached: Formula, from: Unknown) {
        let Formula::AtLeast(room) = &reached else { return };
        let scales = carried
            .iter()
            .any(|of| matches!(of.kind, Kind::Power) || matches!(of.step, Some(Step::Rising(..))));
        if !scales && !self.multiplies(room, from) {
            return;
        }
        self.guards.push(reached);
        self.passed_by.push(Formula::False);
        if self.is_never(&Formula::All(self.guards.clone())) {
            self.guards.pop();
            self.passed_by.pop();
        }
    }

    /// Whether one of these symbols is multiplied in a value, or in what is divided in it.
    fn multiplies(&self, value: &Poly, from: Unknown) -> bool {
        let is_multiplied = value
            .terms()
            .iter()
            .any(|(product, _)| product.len() > 1 && product.iter().any(|of| *of >= from));
        let is_quotient = |unknown: Unknown| match self.function_of(unknown) {
            Some((Function::Quotient, whole, _)) => self.multiplies(whole, from),
            Some(_) | None => false,
        };
        is_multiplied || value.unknowns().any(is_quotient)
    }
}
