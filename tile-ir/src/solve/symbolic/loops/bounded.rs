//! Between which values a loop keeps the variables that it assigns.
//!
//! A binary search moves `lo` up and `hi` down; a probe of a table goes on at
//! `(slot + 1) % size`. What is so before the loop, and after an iteration at whose start it
//! was so, is so at the start of each one. What is tried as a bound is what some variable
//! was before the loop, or the number beside that, the last value that a division, or a mask,
//! leaves, the last one that a condition in the loop lets pass, and those between which a counter
//! runs to which it is set ([`super::hull`]). All are taken to hold, until an iteration is
//! seen that need not keep one: first those that are known to hold before the loop, then what
//! follows for variables that take from others ([`super::drained`]), then, beside these, the
//! others.

use std::collections::BTreeMap;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::terms::value::Function;
use super::super::walk::{Value, Walk};
use super::Carried;
use crate::kernel::{Stmt, StmtKind, VarId, any_stmt};
use crate::span::SpanId;

/// Bounds of one variable that are tried.
const MAX_TRIED: usize = 12;

/// Choices within choices of which conditions are looked at.
const MAX_CHOICES: u32 = 4;

/// Variables that are bounded, in one loop.
const MAX_BOUNDED: usize = 4;

/// Of how many parts of all effort a question takes one at most.
const PART: u64 = 200;

/// What a variable is on one side of in a loop, if it was before.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Limit {
    bound: Poly,
    is_upper: bool,
    /// The variable before the loop.
    first: Poly,
    /// Whether that is within it.
    known: Known,
    /// Whether it is seen already to be kept.
    is_settled: bool,
}

/// Where it is known that a limit holds before a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Everywhere,
    /// By the conditions around the loop.
    Around,
    /// It need not: but whatever the loop sets the variable to is within it.
    UnlessFirst,
    Nowhere,
}

impl Limit {
    /// Whether it is the same bound.
    fn is_like(&self, other: &Self) -> bool {
        self.is_upper == other.is_upper && self.bound == other.bound
    }

    /// Whether it is known to hold before the loop, so that it holds in each iteration.
    fn is_plain(&self) -> bool {
        match self.known {
            Known::Everywhere | Known::Around => true,
            Known::UnlessFirst | Known::Nowhere => false,
        }
    }

    /// That a value is within it.
    fn of(&self, value: &Poly) -> Formula {
        match self.is_upper {
            true => Formula::le(value, &self.bound),
            false => Formula::le(&self.bound, value),
        }
    }

    /// That it is not.
    fn broken_by(&self, value: &Poly) -> Formula {
        match self.is_upper {
            true => Formula::lt(&self.bound, value),
            false => Formula::lt(value, &self.bound),
        }
    }

    /// Whether the first value is the next one outside of it, so that it says nothing new of
    /// what is not beyond that.
    fn is_beside_first(&self) -> bool {
        let beyond = match self.is_upper {
            true => self.first.sub(&self.bound),
            false => self.bound.sub(&self.first),
        };
        beyond.as_constant() == Some(1)
    }

    /// That an iteration that leaves this value has not kept it.
    fn lost_by(&self, end: &Poly) -> Formula {
        match self.known {
            Known::UnlessFirst => self.broken_by(end).and(Formula::ne(end, &self.first)),
            Known::Everywhere | Known::Around | Known::Nowhere => {
                self.of(&self.first).and(self.broken_by(end))
            }
        }
    }

    /// Goes on with less than what was not kept; whether there is less.
    fn weaken(&mut self) -> bool {
        let is_more = self.known == Known::UnlessFirst;
        self.known = Known::Nowhere;
        is_more
    }

    /// What is so of the variable. It is true of its first value, whatever that is: so it
    /// says nothing of cases in which the loop is not run. `around` the loop, what its
    /// conditions say is known.
    fn fact(&self, value: &Poly, around: bool) -> Formula {
        match self.known {
            Known::Everywhere => self.of(value),
            Known::Around if around => self.of(value),
            Known::UnlessFirst => self.of(value).or(Formula::eq(value, &self.first)),
            Known::Around | Known::Nowhere => self.of(value).or(self.broken_by(&self.first)),
        }
    }
}

impl Carried {
    /// Whether it is known to lie between two values.
    pub(in super::super) fn is_between(&self) -> bool {
        [false, true].into_iter().all(|upper| self.limits.iter().any(|of| of.is_upper == upper))
    }

    /// Whether it only rises, or only falls, from what it was, and it is not known how far.
    pub(super) fn rises(&self) -> Option<bool> {
        let plain = || self.limits.iter().filter(|limit| limit.is_plain());
        let (has_upper, has_lower) =
            (plain().any(|of| of.is_upper), plain().any(|of| !of.is_upper));
        let from_first = plain().any(|limit| limit.bound == self.first);
        (from_first && has_upper != has_lower).then_some(has_lower)
    }
}

/// An iteration that was walked to see what it does: the values at its start, that of the counter
/// among them, and at its end, and what holds where it begins.
pub(super) struct Tried {
    pub(super) id: LoopId,
    start: BTreeMap<VarId, Poly>,
    end: BTreeMap<VarId, Poly>,
    holds: Formula,
}

impl Tried {
    /// What a variable is at its start and at its end.
    pub(super) fn ends(&self, var: VarId) -> Option<[&Poly; 2]> {
        Some([self.start.get(&var)?, self.end.get(&var)?])
    }

    /// What its counter is.
    pub(super) fn counter(&self, counter: VarId) -> Option<&Poly> {
        self.start.get(&counter)
    }
}

impl Walk<'_> {
    /// Whether it is asked between which values a loop keeps variables. Of one that is walked
    /// to see what the loop around does, it is where it has none inside.
    pub(in super::super) fn asks_limits(&self, body: &[Stmt]) -> bool {
        (self.outside.is_some() || self.case.is_limited)
            && (self.recording || self.is_trying && !any_stmt(body, &mut StmtKind::is_loop))
    }

    /// Finds limits of the variables to which not every iteration adds the same.
    pub(in super::super) fn find_limits(
        &mut self,
        carried: &mut [Carried],
        head: (Option<VarId>, SpanId),
        body: &[Stmt],
        enter: &dyn Fn(&mut Self, LoopId) -> Formula,
    ) {
        let is_open = |carried: &Carried| carried.step.is_none() && !carried.first.is_lost();
        let open =
            carried.iter().filter(|carried| is_open(carried) && self.is_followed(carried.var));
        if !(1..=MAX_BOUNDED).contains(&open.count()) {
            return;
        }
        let first = self.try_iteration(carried, head, body, enter);
        self.propose(carried, &first);
        // What speaks of the first value is a case more each: beside that, plain limits may not be
        // seen to be kept.
        let all: Vec<Vec<Limit>> = carried.iter().map(|of| of.limits.clone()).collect();
        carried.iter_mut().for_each(|of| of.limits.retain(Limit::is_plain));
        self.keep_limits(carried, head, body, enter);
        self.find_drained(carried, head, body, enter);
        for (of, limits) in carried.iter_mut().zip(all) {
            of.limits.iter_mut().for_each(|limit| limit.is_settled = true);
            let is_new = |limit: &Limit| !of.limits.iter().any(|own| own.is_like(limit));
            let limits: Vec<Limit> = limits.into_iter().filter(is_new).collect();
            of.limits.extend(limits);
        }
        self.keep_limits(carried, head, body, enter);
    }

    /// Takes back limits until those that are left are kept by an iteration that begins with
    /// them.
    pub(super) fn keep_limits(
        &mut self,
        carried: &mut [Carried],
        head: (Option<VarId>, SpanId),
        body: &[Stmt],
        enter: &dyn Fn(&mut Self, LoopId) -> Formula,
    ) {
        let is_open = |carried: &Carried| carried.limits.iter().any(|limit| !limit.is_settled);
        while carried.iter().any(is_open) {
            let tried = self.try_iteration(carried, head, body, enter);
            if !self.drop_broken(carried, &tried) {
                break;
            }
        }
    }

    /// Walks an iteration, of which nothing is kept.
    pub(super) fn try_iteration(
        &mut self,
        carried: &[Carried],
        (counter, head): (Option<VarId>, SpanId),
        body: &[Stmt],
        enter: &dyn Fn(&mut Self, LoopId) -> Formula,
    ) -> Tried {
        let before = self.env.clone();
        let recording = std::mem::replace(&mut self.recording, false);
        let trying = std::mem::replace(&mut self.is_trying, true);
        let id = self.open(counter, head);
        self.set_heads(id, carried);
        let (mut holds, mut start) = (Formula::True, BTreeMap::new());
        self.nested(|walk| {
            let begins = enter(walk, id);
            holds = begins.and(walk.drained_here(carried, counter));
            start = walk.values_of(carried, counter);
            walk.stmts(body);
        });
        let end = self.values_of(carried, None);
        self.loops.pop();
        self.recording = recording;
        self.is_trying = trying;
        self.env = before;
        Tried { id, start, end, holds }
    }

    fn values_of(&self, carried: &[Carried], counter: Option<VarId>) -> BTreeMap<VarId, Poly> {
        let value = |var: VarId| match self.env.get(&var) {
            Some(Value::Int(value)) if !value.is_lost() => Some((var, value.clone())),
            Some(Value::Int(_) | Value::Cond(_) | Value::Other) | None => None,
        };
        carried.iter().map(|carried| carried.var).chain(counter).filter_map(value).collect()
    }

    /// Gives variables the limits that are to be tried.
    fn propose(&self, carried: &mut [Carried], tried: &Tried) {
        let firsts: Vec<Poly> = carried
            .iter()
            .filter(|carried| carried.step.is_none() && !carried.first.is_lost())
            .map(|carried| carried.first.clone())
            .collect();
        for Carried { var, first, step, limits, .. } in carried {
            let (Some(end), None, false) = (tried.end.get(var), step, first.is_lost()) else {
                continue;
            };
            for (bound, is_upper) in self.bounds_to_try((first, end), &firsts, tried) {
                limits.extend(self.limit_to_try(first, bound, is_upper));
            }
        }
    }

    /// A limit that is to be tried of a variable that was `first`; `None` of one that says
    /// nothing.
    fn limit_to_try(&self, first: &Poly, bound: Poly, is_upper: bool) -> Option<Limit> {
        let (first, known) = (first.clone(), Known::UnlessFirst);
        let mut limit = Limit { bound, is_upper, first, known, is_settled: false };
        let broken = limit.broken_by(&limit.first);
        if self.is_seldom(&broken) {
            limit.known = Known::Everywhere;
        } else if self.is_seldom_here(broken) {
            limit.known = Known::Around;
        } else if limit.is_beside_first() {
            return None;
        }
        Some(limit)
    }

    /// Gives a variable further limits that are to be tried; those that it has are settled.
    pub(super) fn add_limits(&self, of: &mut Carried, bounds: impl Iterator<Item = (Poly, bool)>) {
        of.limits.iter_mut().for_each(|limit| limit.is_settled = true);
        for (bound, is_upper) in bounds {
            of.limits.extend(self.limit_to_try(&of.first, bound, is_upper));
        }
    }

    /// What may be bounds of a variable, and whether upper ones.
    fn bounds_to_try(
        &self,
        (first, end): (&Poly, &Poly),
        firsts: &[Poly],
        tried: &Tried,
    ) -> Vec<(Poly, bool)> {
        let mut out = vec![(first.clone(), false)];
        // An end that is one of the range may come to lie before its first element.
        out.extend([0, -1].map(|least| (Poly::constant(least), false)));
        out.extend(firsts.iter().map(|first| (first.clone(), true)));
        // Another one rises from where it began, and this one does not fall below it.
        out.extend(firsts.iter().map(|first| (first.clone(), false)));
        out.extend(self.hull(end, &tried.holds));
        out.extend(self.lasts(end, MAX_CHOICES).into_iter().map(|last| (last, true)));
        // What lies between two variables may be none of them.
        let others = || firsts.iter().filter(|other| *other != first);
        out.extend(others().map(|other| (other.plus(-1), true)));
        out.extend(others().map(|other| (other.plus(1), false)));
        // One that begins at different numbers below 0 begins at no less than the least.
        let least = self.high(&first.negated()).filter(|_| first.as_constant().is_none());
        out.extend(least.filter(|least| *least > 1).map(|of| (Poly::constant(-of), false)));
        out.retain(|(bound, _)| {
            let mut unknowns = bound.unknowns();
            !bound.is_lost() && !unknowns.any(|unknown| self.symbols.is_inside(unknown, tried.id))
        });
        let mut seen = Vec::new();
        out.retain(|bound| {
            !seen.contains(bound) && {
                seen.push(bound.clone());
                true
            }
        });
        out.truncate(MAX_TRIED);
        out
    }

    /// The last values that divisions, masks and conditions leave of what `value` is made
    /// of, which may be a choice of a choice.
    fn lasts(&self, value: &Poly, depth: u32) -> Vec<Poly> {
        let mut out = Vec::new();
        self.collect_lasts(value, depth, &mut Vec::new(), &mut out);
        out
    }

    /// The same where conditions `around` the choice hold.
    fn collect_lasts<'f>(
        &'f self,
        value: &'f Poly,
        depth: u32,
        around: &mut Vec<&'f Formula>,
        out: &mut Vec<Poly>,
    ) {
        out.extend(self.high(value).map(Poly::constant));
        for unknown in value.unknowns() {
            out.extend(self.last_of(unknown));
            let choice = self.choice_of(unknown);
            let (Some((cond, then, otherwise)), Some(depth)) = (choice, depth.checked_sub(1))
            else {
                continue;
            };
            for (holds, arm) in [(&cond.yes, then), (&cond.no, otherwise)] {
                around.push(holds);
                around.iter().rev().for_each(|holds| most_by(holds, arm, out));
                self.collect_lasts(arm, depth, around, out);
                around.pop();
            }
        }
    }

    /// What a remainder, or the smaller or larger of two values, is at most.
    fn last_of(&self, unknown: Unknown) -> Vec<Poly> {
        match self.function_of(unknown) {
            Some((Function::Quotient | Function::Remainder, _, by)) => vec![by.plus(-1)],
            Some((Function::Min | Function::Max, one, other)) => {
                let mut out = vec![one.clone(), other.clone()];
                let is_nested = |unknown: &Unknown| self.is_extremum(*unknown);
                let nested = one.unknowns().chain(other.unknowns()).filter(is_nested);
                out.extend(nested.flat_map(|unknown| self.last_of(unknown)));
                out
            }
            _ => Vec::new(),
        }
    }

    fn is_extremum(&self, unknown: Unknown) -> bool {
        matches!(self.function_of(unknown), Some((Function::Min | Function::Max, ..)))
    }

    /// Takes back the limits that an iteration is not seen to keep. Whether there was one.
    fn drop_broken(&self, carried: &mut [Carried], tried: &Tried) -> bool {
        let mut any = false;
        for Carried { var, limits, .. } in carried {
            let Some(end) = tried.end.get(var) else {
                any |= !limits.is_empty();
                limits.clear();
                continue;
            };
            limits.retain_mut(|limit| {
                if limit.is_settled {
                    return true;
                }
                let is_kept = self.is_seldom_in(tried, limit.lost_by(end))
                    || self.is_seldom_in_each(tried, end, &|end| limit.lost_by(end));
                any |= !is_kept;
                is_kept || limit.weaken()
            });
        }
        any
    }

    /// Whether it is seen with little effort that a condition never holds in an iteration.
    pub(super) fn is_seldom_in(&self, tried: &Tried, condition: Formula) -> bool {
        self.is_seldom_here(tried.holds.clone().and(condition))
    }

    /// Whether it is seen with little effort that a condition never holds.
    pub(super) fn is_seldom(&self, condition: &Formula) -> bool {
        self.effort.within_part(PART, || self.is_never(condition))
    }

    /// The same where the walk is.
    fn is_seldom_here(&self, condition: Formula) -> bool {
        self.is_seldom(&Formula::All(self.guards.clone()).and(condition))
    }

    /// Says of a variable's value what its limits are: in the loop, `around` which
    /// conditions are known, or after it.
    pub(in super::super) fn set_limits(&mut self, value: &Value, limits: &[Limit], around: bool) {
        let Value::Int(value) = value else { return };
        for limit in limits {
            let fact = limit.fact(value, around);
            let is_plain = fact == limit.of(value);
            let least = self.symbols.low(&limit.bound).filter(|_| is_plain && !limit.is_upper);
            for unknown in value.unknowns() {
                self.symbols.add_facts(unknown, fact.clone());
                match least {
                    Some(1..) => self.symbols.set_positive(unknown),
                    Some(0) => self.symbols.set_natural(unknown),
                    Some(_) | None => {}
                }
            }
        }
    }
}

/// What `value` is at most by a condition that compares it with something else.
fn most_by(holds: &Formula, value: &Poly, out: &mut Vec<Poly>) {
    match holds {
        Formula::AtLeast(room) => {
            let most = room.add(value);
            let is_other = |unknown| most.unknowns().all(|other| other != unknown);
            if value.unknowns().all(is_other) {
                out.push(most);
            }
        }
        Formula::All(parts) | Formula::Any(parts) => {
            parts.iter().for_each(|part| most_by(part, value, out));
        }
        Formula::True | Formula::False | Formula::Unknown | Formula::Zero(_) => {}
    }
}
