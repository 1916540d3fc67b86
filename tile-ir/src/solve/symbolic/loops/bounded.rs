//! Between which values a loop keeps the variables that it assigns.
//!
//! A binary search moves `lo` up and `hi` down; a probe of a table goes on at
//! `(slot + 1) % size`. What is so before the loop, and after an iteration at whose start it
//! was so, is so at the start of each one. What is tried as a bound is what some variable
//! was before the loop, the last value that a division, or a mask, leaves, the last one
//! that a condition in the loop lets pass, and those between which a counter runs to which it
//! is set ([`super::hull`]). All are taken to hold, until an iteration is
//! seen that need not keep one.

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
}

/// An iteration that was walked to see what it does: the values at its end, and what holds
/// where it begins.
struct Tried {
    id: LoopId,
    end: BTreeMap<VarId, Poly>,
    holds: Formula,
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
        while carried.iter().any(|carried| !carried.limits.is_empty()) {
            let tried = self.try_iteration(carried, head, body, enter);
            if !self.drop_broken(carried, &tried) {
                break;
            }
        }
    }

    /// Walks an iteration, of which nothing is kept.
    fn try_iteration(
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
        let mut holds = Formula::True;
        self.nested(|walk| {
            holds = enter(walk, id);
            walk.stmts(body);
        });
        let end = self.values_of(carried);
        self.loops.pop();
        self.recording = recording;
        self.is_trying = trying;
        self.env = before;
        Tried { id, end, holds }
    }

    fn values_of(&self, carried: &[Carried]) -> BTreeMap<VarId, Poly> {
        let value = |var: VarId| match self.env.get(&var) {
            Some(Value::Int(value)) if !value.is_lost() => Some((var, value.clone())),
            Some(Value::Int(_) | Value::Cond(_) | Value::Other) | None => None,
        };
        carried.iter().filter_map(|carried| value(carried.var)).collect()
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
                let first = first.clone();
                let mut limit = Limit { bound, is_upper, first, known: Known::UnlessFirst };
                let broken = limit.broken_by(&limit.first);
                if self.is_seldom(&broken) {
                    limit.known = Known::Everywhere;
                } else if self.is_seldom_here(broken) {
                    limit.known = Known::Around;
                } else if limit.is_beside_first() {
                    continue;
                }
                limits.push(limit);
            }
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
        out.extend(self.hull(end, &tried.holds));
        out.extend(self.lasts(end, 2).into_iter().map(|last| (last, true)));
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
        let mut out: Vec<Poly> = self.high(value).map(Poly::constant).into_iter().collect();
        for unknown in value.unknowns() {
            out.extend(self.last_of(unknown));
            let choice = self.choices.get(&unknown).or_else(|| self.open_choices.get(&unknown));
            let (Some((cond, then, otherwise)), Some(depth)) = (choice, depth.checked_sub(1))
            else {
                continue;
            };
            for (holds, arm) in [(&cond.yes, then), (&cond.no, otherwise)] {
                most_by(holds, arm, &mut out);
                out.extend(self.lasts(arm, depth));
            }
        }
        out
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
                let lost = tried.holds.clone().and(limit.lost_by(end));
                let is_kept = self.is_seldom_here(lost);
                any |= !is_kept;
                is_kept || limit.weaken()
            });
        }
        any
    }

    /// Whether it is seen with little effort that a condition never holds.
    fn is_seldom(&self, condition: &Formula) -> bool {
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
