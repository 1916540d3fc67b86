//! Loops and conditions of which open values decide how they go: all that may be.
//!
//! Where all is run ([`Machine::both`]) and the length of a loop is open (`0..D`, of
//! any D), one iteration stands for any: what the loop changes is taken for unknown
//! as it begins, and so is the counter. A work-item's own loop is run through once.
//! That of a team, with barriers in it, matters by which iterations come next to each
//! other and to what is around the loop: two are run, or none. A condition of a team
//! holds, or does not. Each sequence of such decisions is a path; all of them are run,
//! where they are few.

use super::super::eval::Value;
use super::super::plan::Body;
use super::worker::taint;
use super::{Frame, Machine, Stop, Team};
use crate::arena::EntityId as _;
use crate::exchange::Group;
use crate::kernel::{ExprId, Source, VarId};
use crate::span::SpanId;

/// Most decisions of a path: their number doubles with each.
const MAX_DECISIONS: usize = 6;

/// Iterations that stand for any: one, and the next.
const TRIPS: usize = 2;

/// Most iterations of a loop of the block's until it has settled: what is halved in 32
/// bits is 0 by then.
const MAX_ROUNDS: usize = 36;

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    /// Whether a condition holds, or a loop is run.
    Whether,
    /// Whether a loop that settles goes on: there is one answer more than questions.
    Further,
}

/// A decision, and between which barriers it is taken.
#[derive(Clone, Copy, Debug)]
struct Decision {
    question: Question,
    holds: bool,
    interval: u32,
}

/// The decisions of the path that is run.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Path {
    decisions: Vec<Decision>,
    /// How many of them have been taken.
    taken: usize,
    /// What the path before this one has run too ends before this interval.
    parts_in: u32,
}

impl Path {
    /// The next decision; `None` where they are too many.
    fn decide(&mut self, question: Question, interval: u32) -> Option<bool> {
        if self.taken == self.decisions.len() {
            let is_whether = |decision: &&Decision| decision.question == Question::Whether;
            let number = self.decisions.iter().filter(is_whether).count();
            if question == Question::Whether && number == MAX_DECISIONS {
                return None;
            }
            self.decisions.push(Decision { question, holds: true, interval });
        }
        self.taken += 1;
        self.decisions.get(self.taken - 1).map(|decision| decision.holds)
    }

    /// Whether the path before this one was the same to the end of an interval.
    pub(super) fn is_repeated(&self, interval: u32) -> bool {
        interval < self.parts_in
    }

    /// Whether there was something to decide.
    pub(in super::super) fn has_parted(&self) -> bool {
        !self.decisions.is_empty()
    }

    /// Goes on to the next path; `false` where this was the last one.
    pub(in super::super) fn advance(&mut self) -> bool {
        self.taken = 0;
        while let Some(last) = self.decisions.pop() {
            if last.holds {
                self.decisions.push(Decision { holds: false, ..last });
                self.parts_in = last.interval;
                return true;
            }
        }
        false
    }
}

/// A loop whose iterations are open.
#[derive(Clone, Copy)]
pub(super) struct OpenLoop<'a> {
    /// Its counter, if it counts.
    pub(super) counter: Option<VarId>,
    /// What is asked before each iteration, and after the last one.
    pub(super) cond: Option<ExprId>,
    pub(super) body: &'a Body<'a>,
    pub(super) head: SpanId,
    /// Of a conditional loop: what does not wrap in one that ends.
    pub(super) rising: &'a [VarId],
    /// What decides.
    pub(super) source: Source,
}

impl OpenLoop<'_> {
    /// Whether what its iterations leave may come to rest, as what is halved does: nothing
    /// is counted in it, nor does it ask for its own counter. Or what it doubles wraps,
    /// and it has no end.
    fn may_settle(self, machine: &Machine<'_>) -> bool {
        let is_asked = |var: VarId| machine.plan.needs(var);
        (self.cond.is_none() || !self.rising.is_empty())
            && !self.counter.is_some_and(is_asked)
            && !self.body.assigned.is_empty()
            && !machine.plan.counts(&self.body.nodes)
    }

    /// What iterations leave to the next ones.
    fn carried(self, frames: &[Frame]) -> Vec<Value> {
        let of_frame = |frame: &Frame| {
            let values = self.body.assigned.iter().map(|var| frame[var.index()]);
            values.collect::<Vec<_>>()
        };
        frames.iter().flat_map(of_frame).collect()
    }

    /// Takes for unknown what iterations leave.
    fn forget(self, frame: &mut Frame) {
        taint(frame, &self.body.assigned, Some(self.source));
        if let Some(counter) = self.counter {
            frame[counter.index()] = Value::index(0).tainted(Some(self.source));
        }
    }
}

impl<'a> Machine<'a> {
    /// Any iteration of a work-item's loop.
    pub(super) fn any_iteration(
        &mut self,
        open: OpenLoop<'a>,
        frame: &mut Frame,
    ) -> Result<(), Stop> {
        let outer = self.now;
        self.now.cause = self.now.cause.or(Some(open.source));
        self.begin_any(open, frame)?;
        self.iterate(outer.context, open.counter.map(|var| (var, 0)), open.head, 0, false)?;
        self.items(&open.body.nodes, frame)?;
        (self.now.context, self.now.cause) = (outer.context, outer.cause);
        self.begin_any(open, frame)
    }

    /// Any iterations of a team's loop.
    pub(super) fn any_iterations(
        &mut self,
        open: OpenLoop<'a>,
        frames: &mut [Frame],
        team: Team,
    ) -> Result<(), Stop> {
        if open.may_settle(self) && self.until_settled(open, frames, team)? {
            return Ok(());
        }
        let outer = self.now;
        let trips = if self.decide(team)? { TRIPS } else { 0 };
        self.now.cause = self.now.cause.or(Some(open.source));
        for trip in 0..trips {
            self.begin_each(open, frames, team)?;
            if let Some(counter) = open.counter {
                // Everybody is in the same one.
                let term = self.terms.fresh();
                let value = Value::index(0).tainted(Some(open.source)).with_term(term);
                frames.iter_mut().for_each(|frame| frame[counter.index()] = value);
            }
            let counter = open.counter.map(|var| (var, trip as i64));
            self.iterate(outer.context, counter, open.head, trip, true)?;
            self.together(&open.body.nodes, frames, team)?;
        }
        (self.now.context, self.now.cause) = (outer.context, outer.cause);
        if trips > 0 {
            self.begin_each(open, frames, team)?;
        }
        frames.iter_mut().for_each(|frame| open.forget(frame));
        Ok(())
    }

    /// The iterations of a team's loop one by one, each of which may be the last, until one
    /// leaves all as one before it did, and once more: all others are like these. Gives
    /// `false` where it was not so; then any iterations may follow.
    fn until_settled(
        &mut self,
        open: OpenLoop<'a>,
        frames: &mut [Frame],
        team: Team,
    ) -> Result<bool, Stop> {
        let outer = self.now;
        self.now.cause = self.now.cause.or(Some(open.source));
        let mut settled = 0;
        let mut trip = 0;
        let mut before = vec![open.carried(frames)];
        let first = frames.first().ok_or(Stop::Data)?;
        let strides = self.strides(open.rising, first);
        if open.cond.is_some() && strides.is_empty() {
            return Ok(false);
        }
        while settled < TRIPS && trip < MAX_ROUNDS {
            if !self.goes_on(open, frames, team)? {
                break;
            }
            if let (Some(_), Some(first)) = (open.cond, frames.first()) {
                self.need_end(&strides, first)?;
            }
            self.iterate(
                outer.context,
                open.counter.map(|var| (var, trip as i64)),
                open.head,
                trip,
                true,
            )?;
            self.together(&open.body.nodes, frames, team)?;
            let after = open.carried(frames);
            if after.iter().any(|value| value.data.is_some()) {
                trip = MAX_ROUNDS;
            }
            settled = if before.contains(&after) { settled + 1 } else { 0 };
            before.push(after);
            trip += 1;
        }
        (self.now.context, self.now.cause) = (outer.context, outer.cause);
        Ok(trip < MAX_ROUNDS)
    }

    /// Whether a loop goes on to another iteration.
    fn goes_on(&mut self, open: OpenLoop<'a>, frames: &[Frame], team: Team) -> Result<bool, Stop> {
        if let Some(cond) = open.cond {
            let holds = self.agree(frames, team, |machine, frame| machine.eval(frame, cond))?;
            let Some(holds) = holds else { return Ok(false) };
            if holds.data.is_none() {
                return Ok(holds.is_true());
            }
        }
        self.answer(Question::Further, team)
    }

    /// What each work-item of a team does before it knows whether it goes on.
    fn begin_each(
        &mut self,
        open: OpenLoop<'a>,
        frames: &mut [Frame],
        team: Team,
    ) -> Result<(), Stop> {
        for (item, frame) in frames.iter_mut().enumerate() {
            self.set_worker(team.first + item);
            self.begin_any(open, frame)?;
        }
        Ok(())
    }

    fn begin_any(&mut self, open: OpenLoop<'a>, frame: &mut Frame) -> Result<(), Stop> {
        open.forget(frame);
        open.cond.map_or(Ok(()), |cond| self.eval(frame, cond).map(|_| ()))
    }

    /// Whether the path goes on here: of a team, whether an open condition holds.
    pub(super) fn decide(&mut self, team: Team) -> Result<bool, Stop> {
        self.answer(Question::Whether, team)
    }

    fn answer(&mut self, question: Question, team: Team) -> Result<bool, Stop> {
        let interval = self.interval;
        // Warps would each have paths of their own.
        match (&mut self.path, team.group) {
            (Some(path), Group::Block) => path.decide(question, interval).ok_or(Stop::Data),
            (_, Group::Block | Group::Warp) => Err(Stop::Data),
        }
    }
}
