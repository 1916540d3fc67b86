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
mod around;
mod behind;
pub(super) mod between;
mod bit_by_bit;
pub(super) mod bounded;
mod by_leaves;
mod by_rounds;
mod by_turns;
mod carried;
mod cases;
mod claimed;
mod congruent;
mod course;
mod cycled;
mod doubled;
mod drained;
mod entered;
pub(super) mod exit;
mod fetched;
mod former;
mod found;
mod halved;
mod heads;
mod hull;
pub(super) mod last;
mod launched;
pub(super) mod left;
pub(super) mod levels;
mod opposed;
mod paused;
mod peeled;
mod raised;
mod reached;
mod recurring;
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
use std::collections::BTreeSet;

use self::between::Between;
pub(super) use self::carried::{Carried, Kind};
use self::course::{Course, beyond};
use self::exit::Exits;
use self::halved::Scaled;
use self::last::{Ended, Head};
use super::algebra::formula::{Cond, Formula};
use super::algebra::poly::{Poly, Unknown};
use super::algebra::symbol::{LoopId, Sharing};
use super::pairs::flow::{End, Flow, Path};
use super::walk::{Value, Walk};
use crate::kernel::{ExprId, ExprKind, LoopRange, Stmt, StmtKind, VarId, any_subexpr};
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
            clear: &BTreeSet::new(),
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
            self.leave_pieces(&carried);
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
        let mut clear = BTreeSet::new();
        self.collect_clear(cond, &mut clear);
        let held = self.hold_at_head(body);
        let scaled = self.scaled(cond, body);
        let before = self.env.clone();
        let empty = self.condition(cond).no;
        let is_last = |walk: &mut Walk<'_>| walk.ends_here(cond);
        let course = Course {
            ends: &ends,
            clear: &clear,
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
        self.leave_raised(&carried);
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
        if ends.is_empty() {
            self.leave_pieces(&carried);
        }
    }

    /// Whether a loop's condition does not hold any more; asked again where that reads nothing.
    fn ends_here(&mut self, cond: ExprId) -> Formula {
        let reads = any_subexpr(self.kernel, cond, &mut |kind| matches!(kind, ExprKind::Load(_)));
        if reads { Formula::Unknown } else { self.condition(cond).no }
    }

    /// Walks a loop. `enter` begins an iteration, and says what holds in it; none
    /// begins where one of `ends` is set. What is `scaled` does not wrap. The flow is
    /// that of one iteration and more.
    fn repeated(
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
        let begun_with = self.env.clone();
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
        let stayed = self.stayed.take();
        self.join_settled(&settled);
        let filled = if is_left { Vec::new() } else { self.filled_by_round(id, filled) };
        // Where an inner loop has ended by one of them, that is no longer told apart.
        let alone = course.ends_alone && self.exits.are_clear(course.ends);
        self.rejoin(&mut flow, &|_, flag| !course.ends.contains(&flag));
        let next = |var: VarId| stayed.as_ref()?.value(var, begun_with.get(&var)?).cloned();
        let noted = self.note_heads(id, (&carried, &symbols), (is_left, goes_through), &next);
        let claims = self.note_claims_of_rounds((id, &carried), &heads, &before);
        let turns = self.note_turns(&carried, &symbols);
        let goes_on = self.stays_at_end(course.clear);
        let (together, raised) = self.note_together(id, &noted.changed, goes_on.as_ref());
        let opposed = self.note_opposed(&noted.changed);
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
        let asks_begun = counter.is_none() && !raised.is_empty();
        let begun = self.leave((counter, entered), &carried, &noted.sums, asks_begun);
        self.leave_claimed(&claims);
        turns.iter().for_each(|turns| self.leave_turns(turns));
        self.leave_together(&together);
        self.leave_opposed(&opposed);
        self.leave_noted(id, noted, &mut carried, claims);
        if let (Some(begun), Some(of_one)) = (begun, carried.first_mut()) {
            of_one.raised = raised.into_iter().map(|raised| (raised, begun.clone())).collect();
        }
        self.held.ended = self.recording.then_some(id);
        self.end_own_arrays(filled);
        (flow, carried)
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
}
