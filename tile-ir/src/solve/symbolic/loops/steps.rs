//! What an iteration of a loop adds to a variable, and what follows for a loop that
//! goes on until its variable meets a bound.
//!
//! Mostly every iteration adds the same. Where an `if` decides what, but one whose
//! condition the loop does not change, it is the same in all iterations for each
//! work-item: which, the condition says once.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::terms::integers::range_of;
use super::super::walk::{Value, Walk};
use crate::kernel::VarId;

/// Longest step in numbers with which a counter of 32 bits is taken not to wrap.
const MAX_STEP: i128 = 1 << 20;

/// Conditions within conditions that are followed.
const MAX_CHOICES: u32 = 3;

/// What every iteration adds to a variable.
#[derive(Clone, Debug)]
pub(in super::super) enum Step {
    /// The same for all.
    Same(Poly),
    /// By a condition that the loop does not change, the one or the other.
    By(Cond, Box<Step>, Box<Step>),
    /// In the first one this, and in each one so much more than in the one before
    /// ([`super::rising`]).
    Rising(Poly, i128),
}

impl Walk<'_> {
    /// What every iteration of a loop adds to a variable that is `start` before one and
    /// `end` after it; whether the loop `ends` at the latest where it is 0, counted down by 1.
    pub(in super::super) fn each_adds(
        &self,
        var: VarId,
        (start, end): (&Poly, &Poly),
        (id, ends): (LoopId, bool),
    ) -> Option<Step> {
        self.step_by(var, (start, end), (id, ends), MAX_CHOICES)
    }

    fn step_by(
        &self,
        var: VarId,
        (start, end): (&Poly, &Poly),
        (id, ends): (LoopId, bool),
        depth: u32,
    ) -> Option<Step> {
        let step = self.difference(var, (start, end), ends);
        if !step.is_lost() && !self.is_changed_by(step.unknowns(), id) {
            return Some(Step::Same(step));
        }
        let depth = depth.checked_sub(1)?;
        let (choice, (cond, then, otherwise)) =
            end.terms().iter().find_map(|(product, factor)| {
                let [choice] = product.as_slice() else { return None };
                let parts = self.choices.get(choice).filter(|_| *factor == 1)?;
                (!self.is_decided_in(&parts.0, id)).then_some((*choice, parts))
            })?;
        let rest = end.sub(&Poly::unknown(choice));
        let arm = |value: &Poly| {
            let end = value.add(&rest);
            self.step_by(var, (start, &end), (id, ends), depth).map(Box::new)
        };
        Some(Step::By(cond.clone(), arm(then)?, arm(otherwise)?))
    }

    /// What an iteration adds to a variable, exactly. One of 32 or 64 bits does not
    /// wrap if its steps are short or a launch's own.
    fn difference(&self, var: VarId, (start, end): (&Poly, &Poly), ends: bool) -> Poly {
        let step = end.sub(start);
        let Some(exact) = self.before_wrapping(end, self.type_of(var)) else { return step };
        let exact = exact.sub(start);
        let is_short = exact.as_constant().is_some_and(|by| by.abs() <= MAX_STEP);
        let of_launch = exact.as_constant().is_none()
            && exact.unknowns().all(|unknown| self.is_number_of_launch(unknown));
        let is_sure = self.stays_natural(var, &exact) || ends && exact.as_constant() == Some(-1);
        if (is_short || of_launch) && is_sure { exact } else { step }
    }

    /// Whether a loop that is entered where `holds` ends before a number without a sign, which
    /// was `first` and is `start` in an iteration, is less than 0 if each one takes 1 from it:
    /// it goes on until the number is something that it was no less than.
    pub(in super::super) fn ends_above(
        &self,
        holds: &Formula,
        (first, start): (&Poly, &Poly),
        id: LoopId,
    ) -> bool {
        let is_met = |gap: &Poly| {
            let bound = start.sub(&gap.plus(1));
            !bound.is_lost()
                && !start.unknowns().any(|unknown| bound.mentions(unknown))
                && !self.is_changed_by(bound.unknowns(), id)
                && self.symbols.low(&bound).is_some_and(|low| low >= 0)
                && self.is_never(&Formula::lt(first, &bound))
        };
        match holds {
            Formula::All(parts) => {
                parts.iter().any(|part| self.ends_above(part, (first, start), id))
            }
            Formula::Any(parts) => match parts.as_slice() {
                [Formula::AtLeast(below), Formula::AtLeast(above)] => {
                    below.add(above).as_constant() == Some(-2) && (is_met(below) || is_met(above))
                }
                _ => false,
            },
            Formula::True
            | Formula::False
            | Formula::Unknown
            | Formula::AtLeast(_)
            | Formula::Zero(_) => false,
        }
    }

    /// Whether a step does not carry a number without a sign below 0: it goes up, or a launch
    /// is asked. What is counted down under a condition that it is not 0 does not wrap.
    fn stays_natural(&self, var: VarId, step: &Poly) -> bool {
        let has_sign = range_of(self.type_of(var)).is_none_or(|(min, _)| min < 0);
        has_sign || self.keeps(var) || self.symbols.low(step).is_some_and(|low| low >= 0)
    }

    /// Whether a symbol is one number for the whole launch, and no data.
    fn is_number_of_launch(&self, unknown: Unknown) -> bool {
        let Some(symbol) = self.symbols.get(unknown) else { return false };
        match &symbol.sharing {
            Sharing::Launch => true,
            Sharing::Function(of) => {
                !self.elements.contains_key(&unknown)
                    && of.iter().all(|other| self.is_number_of_launch(*other))
            }
            Sharing::Block | Sharing::Iteration(_) | Sharing::Private => false,
        }
    }

    /// Whether one of these can differ between iterations.
    pub(super) fn is_changed_by(
        &self,
        mut unknowns: impl Iterator<Item = Unknown>,
        id: LoopId,
    ) -> bool {
        unknowns.any(|unknown| self.symbols.is_inside(unknown, id))
    }

    /// Whether a condition is not known to be the same in every iteration.
    fn is_decided_in(&self, cond: &Cond, id: LoopId) -> bool {
        let mut of = Vec::new();
        [&cond.yes, &cond.no].into_iter().for_each(|part| part.collect_unknowns(&mut of));
        !cond.yes.is_exact() || !cond.no.is_exact() || self.is_changed_by(of.into_iter(), id)
    }

    /// What a variable is before the loop, so that what it leaves of the step shows.
    pub(super) fn stepped_from(&mut self, first: &Poly, step: &Step, id: LoopId) -> Poly {
        let head = self.all_loops[id.0].head;
        let known = match step {
            Step::Same(step) => self.by_residue(first, step, head),
            Step::By(..) | Step::Rising(..) => None,
        };
        known.unwrap_or_else(|| first.clone())
    }

    /// A variable's value after so many iterations.
    pub(in super::super) fn stepped_by(
        &mut self,
        var: VarId,
        first: &Poly,
        times: &Poly,
        step: &Step,
    ) -> Value {
        match step {
            Step::Same(step) => Value::Int(first.add(&times.mul(step))),
            Step::By(cond, then, otherwise) => {
                let then = self.stepped_by(var, first, times, then);
                let otherwise = self.stepped_by(var, first, times, otherwise);
                let uniform = self.is_uniform_var(var);
                let value = self.either(cond, then, otherwise, uniform);
                value.unwrap_or_else(|| self.changed(var))
            }
            Step::Rising(by, more) => match self.pairs_of(var, times) {
                Some(pairs) => Value::Int(first.add(&times.mul(by)).add(&pairs.scaled(*more))),
                None => self.changed(var),
            },
        }
    }

    /// Where a loop has no iteration of its number if nobody leaves it, where it ends as soon as
    /// `ends` holds, which is so from a number on: of values that rise by the same each time, and
    /// by nothing else, that they are not negative.
    pub(in super::super) fn beyond_asked(&self, ends: &Formula, id: LoopId) -> Option<Formula> {
        let number = self.all_loops.get(id.0)?.number;
        self.comes_to_stay(ends, (number, id)).then(|| ends.clone())
    }

    /// Whether a condition of a loop's round of a number holds in all later rounds, too.
    fn comes_to_stay(&self, cond: &Formula, (number, id): (Unknown, LoopId)) -> bool {
        match cond {
            Formula::AtLeast(value) => {
                let slope = value.cofactor(number).as_constant().filter(|slope| *slope >= 0);
                slope.is_some_and(|slope| {
                    let at_first = value.sub(&Poly::unknown(number).scaled(slope));
                    !at_first.is_lost() && !self.is_changed_by(at_first.unknowns(), id)
                })
            }
            Formula::All(parts) | Formula::Any(parts) => {
                parts.iter().all(|part| self.comes_to_stay(part, (number, id)))
            }
            Formula::True | Formula::False | Formula::Unknown | Formula::Zero(_) => false,
        }
    }

    /// What holds in an iteration of a loop that asks `holds` before each one, beyond
    /// that: of values that differ, and come nearer to each other by 1 each time, the one
    /// that was below is below, unless they parted from the start.
    pub(in super::super) fn before_meeting(&self, holds: &Formula, id: LoopId) -> Formula {
        match holds {
            Formula::True
            | Formula::False
            | Formula::Unknown
            | Formula::AtLeast(_)
            | Formula::Zero(_) => Formula::True,
            Formula::All(parts) => {
                let of_part = |all: Formula, part| all.and(self.before_meeting(part, id));
                parts.iter().fold(Formula::True, of_part)
            }
            Formula::Any(parts) => match parts.as_slice() {
                [Formula::AtLeast(below), Formula::AtLeast(above)] => {
                    self.unmet(below, above, id).unwrap_or(Formula::True)
                }
                _ => Formula::True,
            },
        }
    }

    /// The same of `below >= 0` or `above >= 0`, which together say that something is not 0.
    fn unmet(&self, below: &Poly, above: &Poly, id: LoopId) -> Option<Formula> {
        let gap = above.plus(1);
        if below.add(above).as_constant() != Some(-2) {
            return None;
        }
        let number = self.all_loops.get(id.0)?.number;
        let slope = gap.cofactor(number).as_constant().filter(|slope| slope.abs() == 1)?;
        let at_first = gap.sub(&Poly::unknown(number).scaled(slope));
        if self.is_changed_by(at_first.unknowns(), id) {
            return None;
        }
        // Upwards: beyond 0 from the first, or still below it.
        let (first, now) = (at_first.scaled(slope), gap.scaled(slope));
        let zero = Poly::default();
        Some(Formula::lt(&zero, &first).or(Formula::lt(&now, &zero)))
    }
}
