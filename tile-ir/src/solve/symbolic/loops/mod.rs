//! Loops: what counters and variables are in an arbitrary iteration.
//!
//! The number of the iteration, from 0, is the unknown on which everything
//! rests. A counter is `start + number * step`; a variable to which every
//! iteration adds the same is its first value plus as many times that. Any other
//! variable that the body assigns is a symbol of its own. Of those that are one
//! value for the block, the value in the next iteration is known from this one's
//! where the body says it ([`Loop::next`]): `buf = 1 - buf`.
//!
//! Who goes on behind a `while` has found that its condition does not hold ([`reached`]).
//!
//! A counter of 32 or 64 bits is taken not to leave the range of its type, as a
//! grid's stride does not where the work-items' numbers fit
//! ([`crate::check::narrows`]).

mod after;
mod alike;
mod behind;
pub(super) mod between;
pub(super) mod bounded;
mod by_rounds;
mod claimed;
mod congruent;
mod cycled;
mod doubled;
mod drained;
mod entered;
pub(super) mod exit;
mod fetched;
mod former;
mod found;
mod halved;
mod hull;
pub(super) mod last;
mod launched;
pub(super) mod left;
pub(super) mod levels;
mod paused;
mod peeled;
mod reached;
mod restored;
mod rising;
mod rotated;
pub(super) mod running;
mod standing;
pub(super) mod stay;
mod steps;
pub(super) mod strides;
mod surely;
mod together;
mod turned;
mod turns;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use self::alike::Alike;
use self::between::Between;
use self::bounded::Limit;
use self::by_rounds::Added;
use self::claimed::Claimed;
use self::drained::Drained;
use self::exit::Exits;
use self::halved::Scaled;
use self::last::{Ended, Head};
use self::steps::Step;
use self::together::Changed;
use super::algebra::formula::{Cond, Formula};
use super::algebra::poly::{Poly, Unknown};
use super::algebra::symbol::{LoopId, Sharing, Symbols};
use super::pairs::flow::{End, Flow, Path};
use super::scans::windows::Widened;
use super::slots::recounted::Rounds as RoundsAdded;
use super::slots::tallied::Tally;
use super::terms::integers::range_of;
use super::walk::{Value, Walk};
use crate::kernel::{ExprId, ExprKind, LoopRange, Place, Stmt, StmtKind, Type, VarId, any_subexpr};
use crate::solve::doubling;
use crate::span::SpanId;
use crate::syntax::Jump;

/// A loop of the kernel.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    /// Its counter; `None` of a `while`.
    pub(super) counter: Option<VarId>,
    /// Its keyword.
    pub(super) head: SpanId,
    /// The number of the iteration.
    pub(super) number: Unknown,
    /// What symbols of the block are in the next iteration.
    pub(super) next: Vec<(Unknown, Next)>,
    /// What symbols of the block are at the end of an iteration that leaves them alone unless
    /// it passes a barrier.
    pub(super) standing: Vec<(Unknown, Poly)>,
    /// What holds in rounds between two that no barrier parts.
    pub(super) between: Between,
    /// How many there are at most, of one that goes from one number of the launch to another.
    pub(super) rounds: Option<Poly>,
    /// How many there are, if nobody leaves it, of one that goes by ones from one number to
    /// another that is no less.
    pub(super) length: Option<Poly>,
    /// What holds in the first iteration.
    pub(super) at_first: Vec<Formula>,
    /// Whether it goes on for all of a block or for nobody, but for who leaves it.
    pub(super) is_of_block: bool,
    /// Whether somebody may leave it before its end.
    pub(super) is_left: bool,
    /// Whether it counts, and nobody does.
    pub(super) is_whole: bool,
    /// Where there is no iteration of this number if nobody leaves it, of one that goes up in
    /// equal steps, or asks whether it goes on what comes nearer to an end by equal steps.
    pub(super) beyond: Option<Formula>,
}

/// The value in the next iteration.
#[derive(Clone, Debug)]
pub(super) enum Next {
    /// This.
    Is(Poly),
    /// Half of the present one, rounded down.
    Half,
}

/// A variable that a body assigns.
pub(super) struct Carried {
    pub(super) var: VarId,
    /// Before the loop.
    pub(super) first: Poly,
    /// What every iteration adds, if all add the same.
    pub(super) step: Option<Step>,
    /// What it is before the loop and after any iteration.
    pub(super) kind: Kind,
    /// By which an iteration multiplies it at most, if that is all it does and does not wrap.
    factor: Option<i128>,
    /// Whether it is never negative, of one to which each adds more than the one before.
    stays_natural: bool,
    /// That every iteration adds what the block agrees on, if not the same.
    pub(super) alike: Option<Alike>,
    /// Whether it is of that kind in iterations alone, since they halve it while it is above 0.
    is_halved: bool,
    /// Whether it is at least 1 in iterations alone, since none begins where it is 0.
    is_above: bool,
    /// Between which values the loop keeps it.
    pub(super) limits: Vec<Limit>,
    /// That it moves by no more than another number falls.
    drained: Option<Drained>,
    /// Whether it is `first` again at the head of each iteration.
    is_restored: bool,
    /// Of what it is a sum over ever more work-items.
    pub(super) widened: Option<Widened>,
    /// By the place where some have left, whether they have changed it in that iteration.
    changed_last: Vec<bool>,
    /// What each iteration adds to it, at least and at most, where nobody leaves the loop.
    added: Option<Added>,
    /// What it has counted of a list, from which work-items have ranks.
    pub(super) tally: Option<Tally>,
    /// What each iteration adds to it, by cases, where nobody leaves the loop.
    pub(super) rounds: Option<RoundsAdded>,
    /// Which slots rounds set it to.
    claimed: Option<Claimed>,
}

/// What an index is known to be that a loop changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Any number.
    Any,
    /// Never negative.
    Natural,
    /// At least 1.
    Positive,
    /// A power of two, as what is doubled from 1 on.
    Power,
}

/// Where a loop has no iteration of a number, if it goes up in equal steps.
fn beyond(
    range: &LoopRange,
    bounds: &[Poly],
    (number, symbols): (Unknown, &Symbols),
) -> Option<Formula> {
    let LoopRange::Between { .. } = range else { return None };
    let is_positive = |step: &Poly| symbols.low(step).is_some_and(|least| least > 0);
    let (start, end, step) = match bounds {
        [start, end] => (start, end, Poly::constant(1)),
        [start, end, step] if is_positive(step) => (start, end, step.clone()),
        _ => return None,
    };
    let value = start.add(&Poly::unknown(number).mul(&step));
    (!value.is_lost() && !end.is_lost()).then(|| Formula::le(end, &value))
}

/// How a loop goes.
#[derive(Clone, Copy)]
pub(super) struct Course<'c> {
    /// No iteration begins where one of these jumps of the block has been made.
    pub(super) ends: &'c BTreeSet<VarId>,
    /// Whether nothing else ends it.
    pub(super) ends_alone: bool,
    /// Whether the first iteration has the number 0.
    pub(super) is_whole: bool,
    /// Of a `while`, where it runs no iteration.
    pub(super) empty: Option<&'c Formula>,
    /// At the end of an iteration: whether there is no other one.
    pub(super) is_last: &'c dyn Fn(&mut Walk<'_>) -> Formula,
}

impl Walk<'_> {
    pub(super) fn counted(&mut self, var: VarId, range: &LoopRange, body: &[Stmt], head: SpanId) {
        let bounds: Vec<Poly> = range.exprs().iter().map(|bound| self.index(*bound)).collect();
        if let Some(values) = self.walked_values(range, &bounds, body) {
            let outer = self.walked;
            self.walked *= (values.len() as i128).max(1);
            for value in values {
                self.env.insert(var, Value::Int(value));
                self.stmts(body);
            }
            self.walked = outer;
            return;
        }
        let enter = |walk: &mut Self, id: LoopId| {
            if let (LoopRange::Between { .. }, [start, end]) = (range, bounds.as_slice()) {
                let length = end.sub(start);
                walk.note_length(id, &length);
                walk.all_loops[id.0].length = Some(length).filter(|length| !length.is_lost());
            }
            walk.all_loops[id.0].is_of_block = walk.is_uniform_var(var);
            let number = walk.all_loops[id.0].number;
            walk.all_loops[id.0].beyond = beyond(range, &bounds, (number, &walk.symbols));
            walk.enter_counter(id, var, range, &bounds)
        };
        let empty = match (range, bounds.as_slice()) {
            (LoopRange::Between { .. }, [start, end]) => Formula::le(end, start),
            (LoopRange::Between { .. }, [start, end, step]) => {
                Formula::le(end, start).or(Formula::le(step, &Poly::default()))
            }
            (LoopRange::Halving(_) | LoopRange::Doubling(_), [n]) => {
                Formula::le(n, &Poly::constant(1))
            }
            _ => Formula::Unknown,
        };
        let ends = match body {
            [Stmt { kind: StmtKind::If { cond, otherwise, .. }, .. }] if otherwise.is_empty() => {
                self.exits.skipping(self.kernel, *cond).0
            }
            _ => BTreeSet::new(),
        };
        let held = self.hold_at_head(body);
        let doubled = self.doubled_steadily(body);
        let scaled = Scaled { doubled: doubled.clone(), ..Scaled::default() };
        let before = self.env.clone();
        let is_last = |walk: &mut Walk<'_>| walk.is_last(Head::Counted(var, range, &bounds));
        let course = Course {
            ends: &ends,
            ends_alone: false,
            is_whole: true,
            empty: None,
            is_last: &is_last,
        };
        let (mut flow, carried) = self.repeated((Some(var), head), body, &enter, (course, &scaled));
        let wrapped = doubled.first_key_value().map(|(stride, _)| *stride);
        let wrapped = wrapped.filter(|stride| !self.ends_before_wrapping(range, &bounds, *stride));
        let whole = match (range, bounds.as_slice()) {
            (LoopRange::Between { .. }, [start, end]) if ends.is_empty() => Some([start, end]),
            (LoopRange::Between { .. } | LoopRange::Halving(_) | LoopRange::Doubling(_), _) => None,
        };
        // Where it goes on with a stride that wraps, that is not its end.
        if wrapped.is_none() {
            let ended = Ended {
                head: Head::Counted(var, range, &bounds),
                keyword: head,
                body,
                before: &before,
                carried: &carried,
            };
            self.leave_by_last(&ended);
            self.leave_found(&ended);
            if let Some(bounds) = whole {
                self.leave_at_end(bounds, &carried, head);
            }
        }
        // Where no iteration may run, before and after are one interval.
        if flow.end.through.is_none()
            && self.comes_from_before()
            && (!self.recording || !self.is_never_for_a_block(&empty))
        {
            flow.end.through = Some(Path::under(empty));
        }
        // Who has left before does not enter it.
        self.follow_unless(flow, &ends);
        if let Some(stride) = wrapped {
            self.after_wrapping(stride, (var, head), (range, &bounds), body);
        }
        self.hold_after(held, whole.filter(|_| wrapped.is_none()));
        self.leave_own_arrays();
        if wrapped.is_none() {
            self.leave_widened_counted(&carried, (range, &bounds));
        }
        if wrapped.is_none() && ends.is_empty() {
            self.leave_recounts(&carried);
        }
        if let (None, Some([start, end])) = (wrapped, whole) {
            let length = end.sub(start);
            self.leave_tallies(&carried, &length);
            for Carried { var, first, added, .. } in &carried {
                if let (Some(by), Some(Value::Int(value))) = (added, self.env.get(var).cloned()) {
                    self.leave_rounds((first, &value), (&length, *by), self.type_of(*var));
                }
            }
        }
    }

    pub(super) fn conditional(&mut self, cond: ExprId, body: &[Stmt], head: SpanId) {
        if self.peeled(cond, body) {
            return;
        }
        let entered = RefCell::new(Formula::Unknown);
        let enter = |walk: &mut Self, id: LoopId| {
            let Cond { yes: holds, no: ends } = walk.condition(cond);
            entered.replace(holds.clone());
            walk.all_loops[id.0].is_of_block = walk.uniformity.is_uniform_value(cond);
            walk.all_loops[id.0].beyond = walk.beyond_asked(&ends, id);
            let unmet = walk.before_meeting(&holds, id);
            holds.and(unmet)
        };
        let (ends, alone) = self.exits.skipping(self.kernel, cond);
        let held = self.hold_at_head(body);
        let scaled = self.scaled(cond, body);
        let before = self.env.clone();
        let empty = self.condition(cond).no;
        let is_last = |walk: &mut Walk<'_>| walk.ends_here(cond);
        let course = Course {
            ends: &ends,
            ends_alone: alone,
            is_whole: true,
            empty: Some(&empty),
            is_last: &is_last,
        };
        let from = self.symbols.next();
        let (flow, carried) = self.repeated((None, head), body, &enter, (course, &scaled));
        self.leave_by_last(&Ended {
            head: Head::While(cond),
            keyword: head,
            body,
            before: &before,
            carried: &carried,
        });
        // Of a loop that ends where a bound is reached.
        let count = match (entered.into_inner(), self.held.ended) {
            (Formula::AtLeast(room), Some(id)) if ends.is_empty() => {
                Some(room.add(&Poly::unknown(self.all_loops[id.0].number)).plus(1))
            }
            _ => None,
        };
        let start = Poly::default();
        self.hold_after(held, count.as_ref().map(|count| [&start, count]));
        self.leave_own_arrays();
        if ends.is_empty() {
            self.leave_recounts(&carried);
        }
        // Who has left before does not enter it.
        self.follow_unless(flow, &ends);
        // The last evaluation of the condition.
        let reached = self.condition(cond).no;
        self.leave_widened_until(&carried, &reached);
        self.leave_reached(&carried, reached, from);
    }

    /// Whether a loop's condition does not hold any more; asked again where that reads nothing.
    fn ends_here(&mut self, cond: ExprId) -> Formula {
        let reads = any_subexpr(self.kernel, cond, &mut |kind| matches!(kind, ExprKind::Load(_)));
        if reads { Formula::Unknown } else { self.condition(cond).no }
    }

    /// Walks a loop. `enter` begins an iteration, and says what holds in it; none
    /// begins where one of `ends` is set. What is `scaled` does not wrap. The flow is
    /// that of one iteration and more.
    pub(super) fn repeated(
        &mut self,
        (counter, head): (Option<VarId>, SpanId),
        body: &[Stmt],
        enter: &dyn Fn(&mut Self, LoopId) -> Formula,
        (course, scaled): (Course<'_>, &Scaled),
    ) -> (Flow, Vec<Carried>) {
        let refilled = self.refilled(body);
        let mut carried = self.carried((counter, head), body, enter, scaled);
        let before = self.env.clone();
        let id = self.open(counter, head);
        let symbols = self.set_heads(id, &carried);
        let heads = self.heads_of_claims(&carried, body);
        let at_first = self.at_first(&carried);
        let is_left = self.leaves(body);
        let goes_through = counter.is_some() && !is_left;
        (self.all_loops[id.0].is_left, self.all_loops[id.0].is_whole) = (is_left, goes_through);
        self.all_loops[id.0].at_first.clone_from(&at_first);
        self.note_levels(body, &carried);
        let settled = self.settled();
        self.settled_at_head(body);
        self.refill(refilled);
        let filled = self.fill_own_arrays(body);
        let mut entered = None;
        let mut flow = self.nested(|walk| {
            let holds = enter(walk, id).and(walk.drained_here(&carried, counter));
            entered = course.is_whole.then(|| walk.entered(id, holds.clone()));
            walk.take_for_widened(&carried);
            // Who is in an iteration is in it.
            walk.under_one_of((holds, Formula::False), |walk| walk.stmts(body));
        });
        self.join_settled(&settled);
        let filled = if is_left { Vec::new() } else { self.filled_by_round(id, filled) };
        // Where an inner loop has ended by one of them, that is no longer told apart.
        let alone = course.ends_alone && self.exits.are_clear(course.ends);
        self.rejoin(&mut flow, &|_, flag| !course.ends.contains(&flag));
        let (mut turned_over, mut changed, mut sums) = (Vec::new(), Vec::new(), Vec::new());
        let (mut rotated, mut tallied, mut added) = (Vec::new(), Vec::new(), Vec::new());
        let mut recounted = Vec::new();
        for (var, unknown) in &symbols {
            let first = carried.iter().find(|carried| carried.var == *var);
            if let (Some(Value::Int(end)), Some(Carried { first, alike, .. })) =
                (self.env.get(var).cloned(), first)
                && self.recording
            {
                let (before, at) = (first.clone(), *unknown);
                if alike.is_some() {
                    let head = first.add(&Poly::unknown(at));
                    sums.extend(self.note_alike((*var, id), (first, at, &end)));
                    changed.push(Changed { var: *var, first: before, head, at, end });
                    continue;
                }
                self.note_running((*var, id), (first, *unknown, &end));
                self.note_fetched(id, (first, *unknown, &end));
                self.note_paused(id, (first, *unknown, &end));
                self.note_former(id, (first, at, &end));
                self.note_congruent(id, (first, at, &end));
                let turned = self.note_turned((id, self.type_of(*var)), (first, *unknown, &end));
                turned_over.extend(turned.map(|whole| (*var, first, whole)));
                let by = self.note_rotated(id, (first, at, &end));
                rotated.extend(by.map(|by| (*var, first, by)));
                self.note_cycled((id, self.type_of(*var)), (first, at, &end));
                let by = self.note_rounds((id, self.type_of(*var)), (first, at, &end));
                let rounds = self.rounds_added((id, self.type_of(*var)), (first, at, &end));
                if let Some(rounds) = &rounds {
                    self.note_recounted(rounds, (at, self.type_of(*var)));
                }
                if !is_left {
                    recounted.extend(rounds.map(|rounds| (*var, rounds)));
                }
                if goes_through {
                    added.extend(by.map(|by| (*var, by)));
                    let tally = self.tally((id, self.type_of(*var)), (first, at, &end));
                    tallied.extend(tally.map(|tally| (*var, tally)));
                }
                let (head, end_at) = (Poly::unknown(at), end.clone());
                changed.push(Changed { var: *var, first: before, head, at, end: end_at });
                self.note_step((*var, id), (first, *unknown, &end));
            }
        }
        let claims = self.note_claims_of_rounds((id, &carried), &heads, &before);
        let turns = self.note_turns(&carried, &symbols);
        let together = self.note_together(id, &changed);
        self.note_standing(id, flow.end.through.as_ref(), &symbols);
        self.all_loops[id.0].between = self.between(id, flow.end.through.as_ref());
        for (var, unknown) in symbols {
            if self.is_uniform_var(var)
                && let Some(Value::Int(value)) = self.env.get(&var)
            {
                self.all_loops[id.0].next.push((unknown, Next::Is(value.clone())));
            }
        }
        self.loops.pop();
        self.pairs.cross_iterations(&flow, &self.loops, id);
        let meets = course.is_whole && flow.end.through.is_none();
        if meets {
            // What comes before the loop reaches no iteration but the first.
            let number = Poly::unknown(self.all_loops[id.0].number);
            flow.begin_under(&Formula::All([vec![Formula::Zero(number)], at_first].concat()));
        }
        flow.repeat();
        flow.leave_later();
        if meets && flow.has_tails() {
            // What comes behind it is reached from no iteration but the last.
            flow.end_under(&(course.is_last)(self));
        }
        if alone {
            // The end of an iteration is followed by the next one.
            flow.end = End::default();
        }
        self.rejoin(&mut flow, &|exits, flag| exits.jump(flag) == Some(Jump::Break));
        // Where no iteration may run, before and after are one interval.
        if let Some(empty) = course.empty.filter(|_| !alone)
            && (!self.recording || !self.is_never_for_a_block(empty))
        {
            flow.end.pass_by(empty.clone());
        }
        self.env = before;
        self.leave((counter, entered), &carried, &sums);
        self.leave_claimed(&claims);
        turns.iter().for_each(|turns| self.leave_turns(turns));
        self.leave_together(&together);
        for (var, first, whole) in turned_over {
            self.leave_turned(var, first, whole);
        }
        for (var, first, by) in rotated {
            if let Some(Value::Int(value)) = self.env.get(&var).cloned() {
                self.leave_rotated(id, first, &value, &by);
            }
        }
        for (var, by) in added {
            let of_var = carried.iter_mut().filter(|carried| carried.var == var);
            of_var.for_each(|carried| carried.added = Some(by));
        }
        for (var, tally) in tallied {
            let of_var = carried.iter_mut().filter(|carried| carried.var == var);
            of_var.for_each(|carried| carried.tally = Some(tally.clone()));
        }
        for (var, rounds) in recounted {
            let of_var = carried.iter_mut().filter(|carried| carried.var == var);
            of_var.for_each(|carried| carried.rounds = Some(rounds.clone()));
        }
        for (var, claimed) in claims {
            let of_var = carried.iter_mut().filter(|carried| carried.var == var);
            of_var.for_each(|carried| carried.claimed = Some(claimed.clone()));
        }
        self.held.ended = self.recording.then_some(id);
        self.end_own_arrays(filled);
        (flow, carried)
    }

    /// Gives variables their values at the head of an arbitrary iteration; the symbols of
    /// those to which not every one adds the same.
    pub(super) fn set_heads(&mut self, id: LoopId, carried: &[Carried]) -> Vec<(VarId, Unknown)> {
        let mut symbols = Vec::new();
        for of in carried {
            let Carried { var, first, step, kind, factor, alike, limits, .. } = of;
            if let Some(alike) = alike {
                let (value, sum) = self.gone_on(*var, first, *alike, Sharing::Block);
                symbols.push((*var, sum));
                self.env.insert(*var, value);
                continue;
            }
            let value = match step {
                Some(step) => {
                    let number = self.all_loops[id.0].number;
                    let first = &self.stepped_from(first, step, id);
                    let value = self.stepped_by(*var, first, &Poly::unknown(number), step);
                    if let (Value::Int(value), Some((min, max)), Step::Same(_)) =
                        (&value, range_of(self.type_of(*var)), step)
                    {
                        let range = Formula::le(&Poly::constant(min), value)
                            .and(Formula::le(value, &Poly::constant(max)));
                        self.symbols.add_facts(number, range);
                    }
                    self.note_rising(of, &value, number);
                    value
                }
                None => self.changed_before((*var, first), *kind, *factor),
            };
            self.set_limits(&value, limits, true);
            if let (Some(_), Value::Int(value)) = (step, &value) {
                self.note_stride((id, self.all_loops[id.0].number), value);
            }
            if let (None, Value::Int(value)) = (step, &value) {
                symbols.extend(value.unknowns().map(|unknown| (*var, unknown)));
            }
            self.env.insert(*var, value);
        }
        symbols
    }

    /// What holds in the first iteration: variables are what they were before the loop.
    fn at_first(&self, carried: &[Carried]) -> Vec<Formula> {
        let unknown = carried.iter().filter(|carried| carried.step.is_none());
        let equal = unknown.filter_map(|Carried { var, first, .. }| match self.env.get(var)? {
            Value::Int(head) if !head.is_lost() && !first.is_lost() => {
                Some(Formula::eq(head, first))
            }
            Value::Int(_) | Value::Cond(_) | Value::Other => None,
        });
        equal.collect()
    }

    /// Where those who left `flow` by a variable that `goes_on` admits go on.
    fn rejoin(&mut self, flow: &mut Flow, goes_on: &dyn Fn(&Exits, VarId) -> bool) {
        let left = flow.left.keys().copied();
        let flags: BTreeSet<VarId> = left.filter(|flag| goes_on(&self.exits, *flag)).collect();
        flow.rejoin(&flags);
        self.exits.forget(&flags);
    }

    /// Begins a loop: from here on everything is in an arbitrary iteration.
    pub(super) fn open(&mut self, counter: Option<VarId>, head: SpanId) -> LoopId {
        let id = LoopId(self.all_loops.len());
        self.loops.push(id);
        let number = self.symbol(Sharing::Iteration(id), Some(0), None);
        let (next, standing, at_first) = (Vec::new(), Vec::new(), Vec::new());
        let (rounds, length, beyond) = (None, None, None);
        let (is_of_block, is_left, is_whole) = (false, true, false);
        self.all_loops.push(Loop {
            counter,
            head,
            number,
            next,
            standing,
            between: Between::default(),
            rounds,
            length,
            at_first,
            is_of_block,
            is_left,
            is_whole,
            beyond,
        });
        id
    }

    /// The variables of outside that the body assigns, and what it adds to them.
    fn carried(
        &mut self,
        (counter, head): (Option<VarId>, SpanId),
        body: &[Stmt],
        enter: &dyn Fn(&mut Self, LoopId) -> Formula,
        scaled: &Scaled,
    ) -> Vec<Carried> {
        let mut assigned = Vec::new();
        self.collect_assigned(body, &mut assigned);
        assigned.sort_unstable();
        assigned.dedup();
        let before = self.env.clone();
        let grown = doubling::grown(self.kernel, body);
        let mut carried: Vec<Carried> = assigned
            .into_iter()
            .filter(|var| before.contains_key(var))
            .map(|var| {
                let first = match before.get(&var) {
                    Some(Value::Int(first)) => first.clone(),
                    Some(Value::Cond(_) | Value::Other) | None => Poly::lost(),
                };
                // Of data it is seldom so, and costs another walk to see.
                let is_index = self.type_of(var) == Type::Index;
                let doubling = scaled.doubled.get(&var).filter(|_| self.is_power(&first));
                let is_halved = scaled.halved.contains(&var);
                let is_above = scaled.above.contains(&var) && self.kind(&first) == Kind::Natural;
                let kind = match doubling {
                    Some(_) => Kind::Power,
                    None if is_halved => Kind::Power,
                    None if is_above => Kind::Positive,
                    None if is_index => self.kind(&first),
                    None => Kind::Any,
                };
                let grows = doubling.or_else(|| grown.get(&var).filter(|_| is_index));
                let factor = grows.map(|doubling| doubling.factor);
                let is_restored = self.may_restore(var, &first, body);
                let (limits, changed_last, widened) = (Vec::new(), Vec::new(), None);
                let step = None;
                Carried {
                    var,
                    first,
                    step,
                    kind,
                    factor,
                    stays_natural: false,
                    alike: None,
                    is_halved,
                    is_above,
                    limits,
                    drained: None,
                    is_restored,
                    widened,
                    changed_last,
                    added: None,
                    tally: None,
                    rounds: None,
                    claimed: None,
                }
            })
            .collect();
        self.may_widen(counter, &mut carried, body);
        if !carried.iter().any(|carried| self.is_followed(carried.var)) {
            return carried;
        }
        while !self.probe(&mut carried, (counter, head), body, enter) {}
        if self.asks_limits(body) {
            self.find_limits(&mut carried, (counter, head), body, enter);
        }
        carried
    }

    /// What is plain to see of a value.
    fn kind(&self, value: &Poly) -> Kind {
        match self.symbols.low(value) {
            _ if self.is_power(value) => Kind::Power,
            Some(1..) => Kind::Positive,
            _ if self.is_natural(value) => Kind::Natural,
            _ => Kind::Any,
        }
    }

    /// Walks an iteration to see what it does to `carried`, of which those that are
    /// taken for natural, or for what they were before the loop, are so at its start.
    /// Whether they are at its end too; else that is taken back.
    fn probe(
        &mut self,
        carried: &mut [Carried],
        (counter, head): (Option<VarId>, SpanId),
        body: &[Stmt],
        enter: &dyn Fn(&mut Self, LoopId) -> Formula,
    ) -> bool {
        let before = self.env.clone();
        let recording = std::mem::replace(&mut self.recording, false);
        let id = self.open(counter, head);
        let settled = self.settled();
        self.settled_at_head(body);
        let mut heads = BTreeMap::new();
        for Carried { var, first, kind, factor, is_restored, .. } in carried.iter() {
            let value = match is_restored {
                true => Value::Int(first.clone()),
                false => self.changed_before((*var, first), *kind, *factor),
            };
            heads.insert(*var, value.clone());
            self.env.insert(*var, value);
        }
        let mut entered = Formula::Unknown;
        self.nested(|walk| {
            entered = enter(walk, id);
            walk.take_for_widened(carried);
            walk.stmts(body);
        });
        self.own_cells.settled = settled;
        // A counter goes on without those who have left.
        let stayed = self.stayed.take().filter(|_| counter.is_none());
        let mut holds = true;
        let mut ends_of = rising::Ends::new();
        for carried in carried.iter_mut() {
            let end = self.env.get(&carried.var).cloned();
            let after = match &end {
                Some(Value::Int(end)) if carried.kind > Kind::Any => self.kind(end),
                Some(Value::Int(_) | Value::Cond(_) | Value::Other) | None => Kind::Any,
            };
            let least = if carried.is_above { Kind::Natural } else { carried.kind };
            if after < least && !carried.is_halved {
                (carried.kind, carried.is_above, holds) = (after, false, false);
            }
            let start = heads.get(&carried.var);
            let next =
                stayed.as_ref().zip(start).and_then(|(of, start)| of.value(carried.var, start));
            let of_left = stayed.as_ref().zip(start).filter(|_| next.is_some());
            carried.changed_last =
                of_left.map_or(Vec::new(), |(of, start)| of.has_changed(carried.var, start));
            let end = next.cloned().or(end);
            if let Some(widened) = &carried.widened
                && !self.is_widened(widened, end.as_ref())
            {
                (carried.widened, holds) = (None, false);
            }
            (carried.step, carried.alike, carried.stays_natural) = (None, None, false);
            if carried.is_restored && !Self::is_restored(end.as_ref(), &carried.first) {
                (carried.is_restored, holds) = (false, false);
            } else if let (Some(Value::Int(start)), Some(Value::Int(end))) = (start, end) {
                ends_of.insert(carried.var, (start.clone(), end.clone()));
                let ends = self.ends_above(&entered, (&carried.first, start), id);
                let step = self.each_adds(carried.var, (start, &end), (id, ends));
                carried.step = step.filter(|_| !carried.first.is_lost());
                if carried.step.is_none() && carried.widened.is_none() {
                    let alike = self.adds_alike(carried.var, (&carried.first, start, &end));
                    carried.alike = alike.filter(|alike| alike.keeps(carried.kind));
                }
            }
        }
        self.find_rising(carried, &ends_of, (id, &entered));
        self.loops.pop();
        self.recording = recording;
        self.env = before;
        holds
    }

    /// The variables that statements assign, at any depth, and the elements that they
    /// may.
    pub(super) fn collect_assigned(&self, stmts: &[Stmt], out: &mut Vec<VarId>) {
        for stmt in stmts {
            if let StmtKind::Assign { var, .. } | StmtKind::Update { place: Place::Var(var), .. } =
                &stmt.kind
            {
                out.push(*var);
            }
            if let StmtKind::Store { access, .. }
            | StmtKind::Update { place: Place::Element(access), .. } = &stmt.kind
            {
                out.extend(self.local_elements.all(access.array));
            }
            if let StmtKind::Atomic { access, .. } = &stmt.kind {
                out.extend(self.local_elements.own_cell(access.array));
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.collect_assigned(body, out));
        }
    }
}
