//! Variables that rounds of a loop set under conditions, where the block's work-items exchange
//! values in each: what they are after it.
//!
//! `for d in 0..4 { let f = (digit == d) as u32; let p = scan_sum_exclusive(f); if f == 1
//! { rank = base + p; } base += reduce_sum(f); }` gives each work-item the place that it finds in
//! the round of its digit. After the loop a variable is what it was before, if no round has set
//! it, or what some round has set it to, the last that did: there the condition held, and the
//! value is what the text makes of that round. So the body is walked once more, as an arbitrary
//! round that the loop has made, and the variable's value is put in its terms. Of two
//! work-items these are rounds of one loop: the same, or one before the other
//! ([`super::running`], [`super::super::scans`]).
//!
//! That no round has set it says that none had the number that `digit == d` asks for, if the
//! loop has made all of its rounds.
//!
//! # What it rests on
//!
//! - The loop has a counter, at least one round, and nobody leaves it before its end: what is
//!   said of the round is true of some round, whether one has set the variable or not.
//! - The round is one for each variable: two of them may have been set in different rounds.
//! - The body makes no atomic updates.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::scans::prefix::single;
use super::super::walk::{Value, Walk};
use super::Carried;
use super::alike::Sum;
use super::cases::Case;
use super::last::{Ended, Head};
use crate::kernel::{LoopRange, Stmt, StmtKind, VarId, any_stmt};

/// Cases of what a round sets a variable to.
const MAX_CASES: usize = 8;

/// Variables of one loop that are followed so: the body is walked once for each.
const MAX_FOUND: usize = 2;

/// An arbitrary round of a loop that has ended, as one variable knows it.
struct Round {
    id: LoopId,
    /// That it is one.
    holds: Formula,
    /// The variable at its head, and at its end.
    head: Poly,
    end: Poly,
}

impl Walk<'_> {
    /// Says of variables that other code reads what a loop has set them to.
    pub(in super::super) fn leave_found(&mut self, ended: &Ended<'_>) {
        let Head::Counted(_, LoopRange::Between { .. }, bounds) = ended.head else { return };
        if !self.recording || self.leaves(ended.body) || !exchanges(ended.body) {
            return;
        }
        let asked: Vec<&Carried> = ended
            .carried
            .iter()
            .filter(|carried| carried.alike.is_none() && self.is_asked(ended, carried))
            .take(MAX_FOUND)
            .collect();
        if asked.is_empty() || !self.surely_turns(bounds) {
            return;
        }
        for carried in asked {
            let after = match self.env.get(&carried.var) {
                Some(Value::Int(after)) => single(after),
                Some(Value::Cond(_) | Value::Other) | None => None,
            };
            let Some(after) = after else { continue };
            let Some(round) = self.round_of(ended, carried.var) else { continue };
            let (id, stores) = (round.id, self.held.rounds.walked.take().unwrap_or_default());
            if let Some(found) = self.found(ended, carried, (after, round)) {
                self.symbols.add_facts(after, found);
                self.keep_of_round((id, ended.body), &stores);
            }
        }
    }

    /// Whether a range is never empty.
    fn surely_turns(&self, bounds: &[Poly]) -> bool {
        match bounds {
            [start, end] => self.is_never(&Formula::le(end, start)),
            [start, end, step] => {
                let is_forward = step.as_constant().is_some_and(|step| step > 0);
                is_forward && self.is_never(&Formula::le(end, start))
            }
            _ => false,
        }
    }

    /// Walks an arbitrary round of a loop, and notes of variables what [`Walk::repeated`] does
    /// that the block agrees on. Nothing that it reads or writes is noted.
    fn round_of(&mut self, ended: &Ended<'_>, var: VarId) -> Option<Round> {
        let Head::Counted(counter, range, bounds) = ended.head else { return None };
        let (id, holds, [head, end]) = self.aside(ended.before.clone(), |walk| {
            let id = walk.open(Some(counter), ended.keyword);
            let heads = walk.set_heads(id, ended.carried);
            let head = walk.env.get(&var).cloned();
            let holds = walk.enter_counter(id, counter, range, bounds);
            walk.held.rounds.walked = Some(Vec::new());
            walk.nested(|walk| {
                walk.under_one_of((holds.clone(), Formula::False), |walk| walk.stmts(ended.body));
            });
            walk.note_sums_of_round(id, ended.carried, &heads);
            walk.loops.pop();
            (id, holds, [head, walk.env.get(&var).cloned()])
        });
        let (Some(Value::Int(head)), Some(Value::Int(end))) = (head, end) else { return None };
        Some(Round { id, holds, head, end })
    }

    /// Notes of variables which sums of a block they are at the head of a round.
    fn note_sums_of_round(&mut self, id: LoopId, carried: &[Carried], heads: &[(VarId, Unknown)]) {
        for (var, at) in heads {
            let own = carried.iter().find(|carried| carried.var == *var);
            let (Some(Value::Int(end)), Some(own)) = (self.env.get(var).cloned(), own) else {
                continue;
            };
            if own.alike.is_some() {
                let _: Option<Sum> = self.note_alike((*var, id), (&own.first, *at, &end));
            } else {
                self.note_running((*var, id), (&own.first, *at, &end));
            }
        }
    }

    /// What is so of a variable after a loop, by the round that has set it.
    fn found(
        &self,
        ended: &Ended<'_>,
        carried: &Carried,
        (after, round): (Unknown, Round),
    ) -> Option<Formula> {
        let mut cases = self.cases(&round.end, MAX_CASES)?;
        // Where none of the others is, the round leaves it.
        cases.retain(|case| case.value != round.head);
        let is_known = |value: &Poly| {
            !value.is_lost() && !round.head.unknowns().any(|head| value.mentions(head))
        };
        if cases.is_empty() || !cases.iter().all(|case| is_known(&case.value)) {
            return None;
        }
        let after = Poly::unknown(after);
        let mut none = vec![Formula::eq(&after, &carried.first)];
        none.extend(cases.iter().filter_map(|case| self.is_of_no_round(ended, &round, case)));
        let mut found = vec![Formula::All(none)];
        found.extend(cases.into_iter().map(|Case { conds, value }| {
            let mut holds = vec![round.holds.clone(), Formula::eq(&after, &value)];
            holds.extend(conds.into_iter().map(|cond| cond.yes));
            Formula::All(holds)
        }));
        Some(Formula::Any(found).replace(&|_| None))
    }

    /// That no round has set a variable in a case, if that is one for one number alone: no round
    /// has that. It is asked of the condition's opposite, since in each round that held.
    fn is_of_no_round(&self, ended: &Ended<'_>, round: &Round, case: &Case) -> Option<Formula> {
        let [Cond { yes: Formula::Zero(sum), no }] = case.conds.as_slice() else { return None };
        let nothing = Poly::default();
        if *no != Formula::ne(sum, &nothing) && *no != Formula::ne(&nothing, sum) {
            return None;
        }
        let Head::Counted(_, range, bounds) = ended.head else { return None };
        let (LoopRange::Between { .. }, [start, end]) = (range, bounds) else { return None };
        let number = self.all_loops[round.id.0].number;
        let count = Poly::unknown(number);
        let rest = [sum.sub(&count), sum.add(&count).negated()]
            .into_iter()
            .find(|rest| !rest.mentions(number))?;
        // `sum` is `count + rest`, or the opposite of that.
        let is_steady = |of: Unknown| !self.symbols.is_inside(of, round.id);
        let is_whole = !rest.is_lost() && rest.unknowns().all(is_steady);
        let asked = rest.negated();
        let beyond = Formula::le(&end.sub(start), &asked);
        is_whole.then(|| Formula::lt(&asked, &nothing).or(beyond))
    }
}

/// Whether work-items exchange values, and learn of each other by nothing else but reads.
fn exchanges(stmts: &[Stmt]) -> bool {
    any_stmt(stmts, &mut |kind| matches!(kind, StmtKind::Exchange { .. }))
        && !any_stmt(stmts, &mut |kind| matches!(kind, StmtKind::Atomic { .. }))
}
