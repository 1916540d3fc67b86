//! Variables to which each iteration adds more than the one before, by the same each time.
//!
//! `while rest > i { rest -= i + 1; i += 1; }` takes 1, 2, 3, … off: after `n` iterations
//! `rest` is what it was less `n` and less as many as there are pairs of `n`, `n * (n - 1) / 2`.
//! So numbers are taken apart into the rows of a triangle.
//!
//! What was not negative before, and is not at the end of an iteration that has been entered, is
//! not negative at the start of any, nor behind the loop: it is not taken off more than is there.
//!
//! Said of indices alone, which do not wrap.

use std::collections::BTreeMap;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::walk::{Value, Walk};
use super::Carried;
use super::steps::Step;
use crate::kernel::{Type, VarId};
use crate::op::BinaryOp;

/// What variables are at the head of an iteration, and at its end.
pub(super) type Ends = BTreeMap<VarId, (Poly, Poly)>;

impl Walk<'_> {
    /// Has the variables that rise so of those to which iterations do not add the same.
    /// An iteration is `entered` under this.
    pub(super) fn find_rising(
        &self,
        carried: &mut [Carried],
        ends: &Ends,
        (id, entered): (LoopId, &Formula),
    ) {
        let stepped: BTreeMap<Unknown, (Poly, i128)> = carried
            .iter()
            .filter_map(|carried| {
                let Some(Step::Same(step)) = &carried.step else { return None };
                let [(product, 1)] = ends.get(&carried.var)?.0.terms() else { return None };
                let [head] = product.as_slice() else { return None };
                Some((*head, (carried.first.clone(), step.as_constant()?)))
            })
            .collect();
        let is_open = |of: &&mut Carried| {
            of.step.is_none() && of.alike.is_none() && of.widened.is_none() && !of.is_restored
        };
        for of in carried.iter_mut().filter(is_open) {
            let is_index = self.type_of(of.var) == Type::Index && !of.first.is_lost();
            if let Some((start, end)) = ends.get(&of.var).filter(|_| is_index) {
                of.step = self.rising(end.sub(start), &stepped, id);
                let is_taken_off = of.step.is_some() && self.is_natural(&of.first);
                of.stays_natural = is_taken_off && {
                    let below = Formula::lt(end, &Poly::default());
                    let begins = entered.clone().and(Formula::AtLeast(start.clone()));
                    self.is_never(&begins.and(below))
                };
            }
        }
    }

    /// What an iteration adds, if that is made of variables that go on by numbers.
    fn rising(
        &self,
        added: Poly,
        stepped: &BTreeMap<Unknown, (Poly, i128)>,
        id: LoopId,
    ) -> Option<Step> {
        let mut more = 0_i128;
        let mut by = added.clone();
        for (product, factor) in added.terms() {
            if let [head] = product.as_slice()
                && let Some((first, step)) = stepped.get(head)
            {
                more = more.checked_add(factor.checked_mul(*step)?)?;
                by = by.sub(&Poly::unknown(*head).sub(first).scaled(*factor));
            }
        }
        let is_fixed = !by.is_lost() && !self.is_changed_by(by.unknowns(), id);
        (is_fixed && more != 0).then_some(Step::Rising(by, more))
    }

    /// Notes that a variable that rises so is not negative after so many iterations.
    pub(super) fn note_rising(&mut self, of: &Carried, value: &Value, iterations: Unknown) {
        if let (true, Value::Int(value)) = (of.stays_natural, value) {
            self.symbols.add_facts(iterations, Formula::AtLeast(value.clone()));
        }
    }

    /// How many pairs there are of so many iterations.
    pub(super) fn pairs_of(&mut self, var: VarId, times: &Poly) -> Option<Poly> {
        let before = times.plus(-1);
        self.note_square(times, &before);
        let at = (self.kernel.vars[var].span, BinaryOp::Div);
        let pairs = self.quotient(&times.mul(&before), &Poly::constant(2), at)?;
        (!pairs.is_lost()).then_some(pairs)
    }
}
