//! Variables that go on alike for all work-items of a block.
//!
//! `if k % 2 == 0 { base += 256; } else { base += 512; }`: what an iteration adds differs from
//! one to the next, but not between work-items. So `base` is what it was before the loop, a
//! work-item's own, and a sum that all of them share who are in the same iteration: the
//! displacement is one unknown for both sides. If what is added is never negative the sum is
//! a running one ([`super::running`]): of two iterations the later one finds at least what
//! the earlier one has left.
//!
//! That an iteration adds the same whoever runs it is seen where the variable is any number
//! at its head: what it adds is made of nothing but what the block agrees on in that
//! iteration, by conditions that are made of nothing else. Who is in an iteration has come to
//! the end of all before it, so that the same has been added. A variable of 32 or 64 bits
//! must be one of which a launch is asked that it never leaves its type; else two sums could
//! be one place, or one sum two.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::terms::integers::range_of;
use super::super::walk::{Value, Walk};
use super::{Kind, Next};
use crate::kernel::{Type, VarId};

/// Conditions within conditions that are followed.
const MAX_CHOICES: u32 = 3;

/// That all iterations add to a variable what the block agrees on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Alike {
    /// None adds less than nothing.
    grows: bool,
}

/// A sum that the block shares, at the head of an iteration.
#[derive(Debug)]
pub(in super::super) struct Sum {
    var: VarId,
    at: Unknown,
    /// What the iteration adds.
    step: Poly,
}

impl Alike {
    /// Whether a sum says no less of a variable than that it is of this kind.
    pub(in super::super) fn keeps(self, kind: Kind) -> bool {
        kind == Kind::Any || self.grows && kind < Kind::Power
    }
}

impl Walk<'_> {
    /// Whether an iteration adds what the block agrees on to a variable that is `first` before
    /// the loop, any number `start` at the iteration's head, and `end` after it.
    pub(in super::super) fn adds_alike(
        &mut self,
        var: VarId,
        (first, start, end): (&Poly, &Poly, &Poly),
    ) -> Option<Alike> {
        let is_own = self.kernel.vars.get(var).is_some() && !self.is_uniform_var(var);
        let is_whole = self.type_of(var) == Type::Index || self.keeps(var);
        if !is_own || !is_whole || self.is_in_point() || first.is_lost() || self.is_agreed(first) {
            return None;
        }
        let step = self.common_step(var, (start, end), MAX_CHOICES)?;
        Some(Alike { grows: self.is_natural(&step) })
    }

    /// What an iteration adds to a variable, if the block agrees on it.
    fn common_step(
        &mut self,
        var: VarId,
        (start, end): (&Poly, &Poly),
        depth: u32,
    ) -> Option<Poly> {
        let exact = self.before_wrapping(end, self.type_of(var)).unwrap_or_else(|| end.clone());
        let step = exact.sub(start);
        if self.is_agreed(&step) {
            return Some(step);
        }
        let depth = depth.checked_sub(1)?;
        let (choice, (cond, then, otherwise)) =
            end.terms().iter().find_map(|(product, factor)| {
                let [choice] = product.as_slice() else { return None };
                Some((*choice, self.choices.get(choice).filter(|_| *factor == 1)?.clone()))
            })?;
        if !self.is_agreed_condition(&cond) {
            return None;
        }
        let rest = end.sub(&Poly::unknown(choice));
        let mut arm = |value: &Poly| self.common_step(var, (start, &value.add(&rest)), depth);
        let (then, otherwise) = (arm(&then)?, arm(&otherwise)?);
        match self.either(&cond, Value::Int(then), Value::Int(otherwise), true) {
            Some(Value::Int(step)) => Some(step).filter(|step| self.is_agreed(step)),
            Some(Value::Cond(_) | Value::Other) | None => None,
        }
    }

    fn is_agreed_condition(&self, cond: &Cond) -> bool {
        let mut of = Vec::new();
        [&cond.yes, &cond.no].into_iter().for_each(|part| part.collect_unknowns(&mut of));
        let is_exact = cond.yes.is_exact() && cond.no.is_exact();
        is_exact && of.into_iter().all(|unknown| self.is_agreed(&Poly::unknown(unknown)))
    }

    /// Such a variable, which was `first` before a loop, in any of its iterations or after
    /// it; and the sum that is added.
    pub(in super::super) fn gone_on(
        &mut self,
        var: VarId,
        first: &Poly,
        alike: Alike,
        sharing: Sharing,
    ) -> (Value, Unknown) {
        let sum = self.symbol(sharing, alike.grows.then_some(0), None);
        let value = first.add(&Poly::unknown(sum));
        self.note_found_below_in_var(var, sum, &Value::Int(value.clone()));
        if let Some((min, max)) = range_of(self.type_of(var)) {
            let range = Formula::le(&Poly::constant(min), &value)
                .and(Formula::le(&value, &Poly::constant(max)));
            self.symbols.add_facts(sum, range);
        }
        (Value::Int(value), sum)
    }

    /// Notes how the sum goes on in an iteration after which the variable is `end`.
    pub(in super::super) fn note_alike(
        &mut self,
        (var, id): (VarId, LoopId),
        (first, at, end): (&Poly, Unknown, &Poly),
    ) -> Option<Sum> {
        let start = first.add(&Poly::unknown(at));
        let step = self.common_step(var, (&start, end), MAX_CHOICES)?;
        let next = Next::Is(Poly::unknown(at).add(&step));
        self.all_loops[id.0].next.push((at, next));
        self.note_running_sum(id, at, step.clone());
        Some(Sum { var, at, step })
    }

    /// Notes of a sum that `last` is what the whole loop adds to its variable.
    pub(in super::super) fn note_last(&mut self, sum: &Sum, var: VarId, last: Unknown) {
        if sum.var == var && self.is_natural(&sum.step) {
            let next = Poly::unknown(sum.at).add(&sum.step);
            self.symbols.add_facts(sum.at, Formula::le(&next, &Poly::unknown(last)));
        }
    }
}
