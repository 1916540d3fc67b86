//! Loops and conditions of which open values decide how they go: all that may be.
//!
//! Where all is run ([`Machine::both`]) and the length of a loop is open (`0..D`, of
//! any D), one iteration stands for any: what the loop changes is taken for unknown
//! as it begins, and so is the counter. A work-item's own loop is run through once.
//! That of a team, with barriers in it, matters by which iterations come next to each
//! other and to what is around the loop: two are run, or none. A condition of a team
//! holds, or does not. All paths of such decisions are run ([`Path`](super::Path)).

use super::super::plan::Body;
use super::super::value::Value;
use super::path::Question;
use super::{Frame, Machine, Stop, Team};
use crate::arena::EntityId as _;
use crate::exchange::Group;
use crate::kernel::{ExprId, LoopRange, Source, VarId};
use crate::span::SpanId;

/// Iterations that stand for any: one, and the next.
pub(super) const TRIPS: usize = 2;

/// A loop whose iterations are open.
#[derive(Clone, Copy)]
pub(super) struct OpenLoop<'a> {
    /// Its counter, if it counts.
    pub(super) counter: Option<VarId>,
    /// The counter's values.
    pub(super) range: Option<&'a LoopRange>,
    /// What is asked before each iteration, and after the last one.
    pub(super) cond: Option<ExprId>,
    pub(super) body: &'a Body<'a>,
    pub(super) head: SpanId,
    /// Of a conditional loop: what does not wrap in one that ends.
    pub(super) rising: &'a [VarId],
    /// What decides.
    pub(super) source: Source,
}

impl<'a> OpenLoop<'a> {
    /// A counted loop.
    pub(super) fn counted(
        (counter, range): (VarId, &'a LoopRange),
        body: &'a Body<'a>,
        head: SpanId,
        source: Source,
    ) -> Self {
        let (counter, range) = (Some(counter), Some(range));
        Self { counter, range, cond: None, body, head, rising: &[], source }
    }

    /// A conditional loop, in which `rising` does not wrap if it ends.
    pub(super) fn conditional(
        (cond, rising): (ExprId, &'a [VarId]),
        body: &'a Body<'a>,
        head: SpanId,
        source: Source,
    ) -> Self {
        Self { counter: None, range: None, cond: Some(cond), body, head, rising, source }
    }

    /// Takes for unknown what iterations leave.
    fn forget(self, machine: &mut Machine<'a>, frame: &mut Frame) {
        machine.leave(frame, self.body, Some(self.source));
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
        self.begin_any(open, frame)?;
        self.renew(frame, &open.body.assigned);
        Ok(())
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
                let amount = self.amounts.as_ref().map(|amounts| amounts.fresh(None));
                let term = amount.unwrap_or_else(|| self.terms.fresh());
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
        frames.iter_mut().for_each(|frame| open.forget(self, frame));
        Ok(())
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
        open.forget(self, frame);
        open.cond.map_or(Ok(()), |cond| self.eval(frame, cond).map(|_| ()))
    }

    /// Whether the path goes on here: of a team, whether an open condition holds.
    pub(super) fn decide(&mut self, team: Team) -> Result<bool, Stop> {
        self.answer(Question::Whether, team)
    }

    pub(super) fn answer(&mut self, question: Question, team: Team) -> Result<bool, Stop> {
        let interval = self.interval;
        // Warps would each have paths of their own.
        match (&mut self.path, team.group) {
            (Some(path), Group::Block) => path.decide(question, interval).ok_or(Stop::Data),
            (_, Group::Block | Group::Warp) => Err(Stop::Data),
        }
    }
}
