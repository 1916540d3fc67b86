//! Variables that a loop moves round: `at = (at + step) % length`.
//!
//! What an iteration adds is `step - length * q`. If one number divides both, all that is
//! ever added to what the variable was before the loop is a multiple of it: `first + n * z`
//! with some whole `z`. Work-items that begin at different places below `n` never come to
//! the place of another one, in whatever iteration each of them is.
//!
//! A power of two divides each one that is not below it, so that `(at + step) & (length - 1)`
//! does the same with powers of two of any size. `z` is no new number: it is the quotient,
//! without rest, of what the variable is beyond `first`.

use super::super::algebra::formula::Formula;
use super::super::algebra::monomial::Monomial;
use super::super::algebra::poly::{Poly, Unknown, gcd};
use super::super::algebra::symbol::LoopId;
use super::super::scans::prefix::single;
use super::super::terms::value::Function;
use super::super::walk::Walk;
use crate::op::BinaryOp;

impl Walk<'_> {
    /// Says of a variable that was `first` before a loop, is `at` where an iteration starts
    /// and `end` after it, by what it differs from `first`, if that is more than any number.
    pub(in super::super) fn note_rotated(
        &mut self,
        id: LoopId,
        (first, at, end): (&Poly, Unknown, &Poly),
    ) -> Option<Poly> {
        if first.is_lost() || end.is_lost() {
            return None;
        }
        let own = Poly::unknown(at);
        let added = self.added(&own, end);
        let by = self.common_divisor(id, &added)?;
        self.note_residue((first, &own), &by, id);
        Some(by)
    }

    /// The same of what the variable is after the loop.
    pub(in super::super) fn leave_rotated(
        &mut self,
        id: LoopId,
        first: &Poly,
        value: &Poly,
        by: &Poly,
    ) {
        if single(value).is_some() {
            self.note_residue((first, value), by, id);
        }
    }

    /// Notes that `value` is `first` and a multiple of `by`.
    fn note_residue(&mut self, (first, value): (&Poly, &Poly), by: &Poly, id: LoopId) {
        let rest = value.sub(first);
        if rest.is_lost() {
            return;
        }
        // Beyond what is less than `by`, what is not below 0 has no less than none.
        let is_below = Formula::le(&value.add(by), first);
        let low = self.is_never(&is_below).then_some(0);
        let at = (self.all_loops[id.0].head, BinaryOp::Div);
        let whole = |z: &Poly| Formula::eq(&rest, &z.mul(by));
        let z = self.function(Function::Floor, &rest, by, low, at, whole);
        let fact = whole(&z);
        value.unknowns().for_each(|unknown| self.symbols.add_facts(unknown, fact.clone()));
    }

    /// What an iteration may have added.
    fn added(&self, own: &Poly, end: &Poly) -> Vec<Poly> {
        let choice = single(end).and_then(|choice| self.choices.get(&choice));
        match choice {
            Some((_, then, otherwise)) => vec![then.sub(own), otherwise.sub(own)],
            None => vec![end.sub(own)],
        }
    }

    /// A number above 1 that the loop does not change and that divides all of these.
    fn common_divisor(&self, id: LoopId, added: &[Poly]) -> Option<Poly> {
        if added.iter().any(Poly::is_lost) {
            return None;
        }
        let terms: Vec<(Monomial, i128)> =
            added.iter().flat_map(|sum| sum.terms().iter().copied()).collect();
        // What is added once in each iteration is a step, which says more.
        if terms.len() < 2 {
            return None;
        }
        let fixed = |(product, factor): &(Monomial, i128)| {
            let product = product.filtered(|unknown| !self.symbols.is_inside(unknown, id));
            Poly::product(product).scaled(factor.abs())
        };
        let content = terms.iter().fold(0, |content, (_, factor)| gcd(content, *factor));
        let mut found = terms.iter().map(fixed).chain([Poly::constant(content)]);
        let one = Poly::constant(1);
        found.find(|by| {
            *by != one && !by.is_lost() && terms.iter().all(|term| self.divides(by, term))
        })
    }

    /// Whether `by`, a product with a positive factor, divides a term.
    fn divides(&self, by: &Poly, (product, factor): &(Monomial, i128)) -> bool {
        let [(of, times)] = by.terms() else { return false };
        if factor % times == 0 && product.contains_all(of) {
            return true;
        }
        if !self.is_power(by) {
            return false;
        }
        let power = product.filtered(|unknown| self.powers.contains(&unknown));
        let places = factor.trailing_zeros().min(62);
        let power = Poly::product(power).scaled(1 << places);
        let is_smaller = Formula::lt(&power, by);
        !power.is_lost() && (self.is_never(&is_smaller) || self.is_never_here(&power, is_smaller))
    }
}
