//! Loops of a team that come to rest.
//!
//! `offset *= 2` makes 0 of what it doubles, in the end, and so does `n /= 2`: of a loop
//! that may be as long as it likes the iterations after that are all alike. They are run
//! one by one until then, each as the one that may be the last.

use super::super::value::Value;
use super::open::{OpenLoop, TRIPS};
use super::path::{Question, Trip};
use super::{Frame, Machine, Stop, Team};
use crate::arena::EntityId as _;
use crate::kernel::LoopRange;

/// Most iterations until a loop has settled: what is halved or doubled in 64 bits is 0
/// by then.
const MAX_ROUNDS: usize = 68;

impl OpenLoop<'_> {
    /// Whether what its iterations leave may come to rest, as what is halved does: nothing
    /// is counted in it, nor does it ask for its own counter but to shift by it. Or what it
    /// doubles wraps, and it has no end. What arrays hold is not compared.
    pub(super) fn may_settle(self, machine: &Machine<'_>) -> bool {
        (self.cond.is_none() || !self.rising.is_empty())
            && self.period(machine).is_some()
            && !self.body.assigned.is_empty()
            && self.body.stored.is_empty()
            && !machine.plan.counts(&self.body.nodes)
    }

    /// After how many iterations the counter is what it was, for all that is asked of it.
    fn period(self, machine: &Machine<'_>) -> Option<usize> {
        self.counter.map_or(Some(1), |counter| machine.plan.period(counter))
    }

    /// What iterations leave to the next ones.
    fn carried(self, frames: &[Frame]) -> Vec<Value> {
        let of_frame = |frame: &Frame| {
            let values = self.body.assigned.iter().map(|var| frame[var.index()]);
            values.collect::<Vec<_>>()
        };
        frames.iter().flat_map(of_frame).collect()
    }

    /// Gives to `frames` what iterations have left.
    fn restore(self, carried: &[Value], frames: &mut [Frame]) {
        let of_frames = carried.chunks(self.body.assigned.len().max(1));
        for (frame, values) in frames.iter_mut().zip(of_frames) {
            for (var, value) in self.body.assigned.iter().zip(values) {
                frame[var.index()] = *value;
            }
        }
    }
}

impl<'a> Machine<'a> {
    /// The iterations of a team's loop one by one, each of which may be the last, until one
    /// leaves all as one before it did, and once more: all others are like these. Gives
    /// `false` where it was not so; then any iterations may follow.
    pub(super) fn until_settled(
        &mut self,
        open: OpenLoop<'a>,
        frames: &mut [Frame],
        team: Team,
    ) -> Result<bool, Stop> {
        let first = frames.first().ok_or(Stop::Data)?;
        let strides = self.strides(open.rising, first);
        if open.cond.is_some() && strides.is_empty() {
            return Ok(false);
        }
        let period = open.period(self).unwrap_or(1);
        let counts = self.counts(open, first)?;
        if period > 1 && counts.is_none() {
            return Ok(false);
        }
        let outer = self.now;
        self.now.cause = self.now.cause.or(Some(open.source));
        let entry = self.path.as_ref().map_or(0, |path| path.taken());
        let mut states = self.resumed(entry, open, frames);
        let settles = loop {
            let Some(state) = states.last() else { break false };
            if states.len() > MAX_ROUNDS || state.iter().any(|value| !value.is_known()) {
                break false;
            }
            if has_settled(&states, period) || !self.goes_on(open, frames, team)? {
                break true;
            }
            if let (Some(_), Some(first)) = (open.cond, frames.first()) {
                self.need_end(&strides, first)?;
            }
            let trip = states.len() - 1;
            let (first, by) = counts.unwrap_or((0, 1));
            let at = by.wrapping_mul(trip as i64).wrapping_add(first);
            let counter = open.counter.map(|var| (var, at));
            if let Some((var, at)) = counter {
                frames.iter_mut().for_each(|frame| frame[var.index()] = Value::index(at));
            }
            self.iterate(outer.context, counter, open.head, trip, true)?;
            self.together(&open.body.nodes, frames, team)?;
            states.push(open.carried(frames));
            self.note_trip(entry, &states);
        };
        (self.now.context, self.now.cause) = (outer.context, outer.cause);
        Ok(settles)
    }

    /// The counter's first value, and by how much each is more than the one before, where
    /// that is known.
    fn counts(&mut self, open: OpenLoop<'a>, frame: &Frame) -> Result<Option<(i64, i64)>, Stop> {
        let Some(LoopRange::Between { start, step, reversed: false, .. }) = open.range else {
            return Ok(None);
        };
        let first = self.eval(frame, *start)?;
        let by = step.map_or(Ok(Value::index(1)), |step| self.eval(frame, step))?;
        let is_known = first.is_known() && by.is_known() && by.as_index() > 0;
        Ok(is_known.then(|| (first.as_index(), by.as_index())))
    }

    /// What a loop has had before each of its iterations until now. Where the path before
    /// this one has run some of them, it is taken up there.
    fn resumed(
        &mut self,
        entry: usize,
        open: OpenLoop<'a>,
        frames: &mut [Frame],
    ) -> Vec<Vec<Value>> {
        let path = self.path.as_mut().filter(|_| self.skips);
        let trips = path.map_or(&[][..], |path| path.resume(entry));
        if let Some(last) = trips.last() {
            open.restore(&last.carried, frames);
            self.interval = last.interval;
            self.epochs = last.epochs.clone();
            self.next_worker = last.next_worker;
            return trips.iter().map(|trip| trip.carried.clone()).collect();
        }
        let states = vec![open.carried(frames)];
        self.note_trip(entry, &states);
        states
    }

    /// Notes the last of these states for the paths after this one.
    fn note_trip(&mut self, entry: usize, states: &[Vec<Value>]) {
        let Some(path) = self.path.as_mut().filter(|_| self.skips) else { return };
        let Some(carried) = states.last().cloned() else { return };
        let trip = Trip {
            taken: path.taken(),
            interval: self.interval,
            epochs: self.epochs.clone(),
            next_worker: self.next_worker,
            carried,
        };
        path.note(entry, trip);
    }

    /// Whether a loop goes on to another iteration.
    fn goes_on(&mut self, open: OpenLoop<'a>, frames: &[Frame], team: Team) -> Result<bool, Stop> {
        if let Some(cond) = open.cond {
            let holds = self.agree(frames, team, |machine, frame| machine.eval(frame, cond))?;
            let Some(holds) = holds else { return Ok(false) };
            if holds.is_known() {
                return Ok(holds.is_true());
            }
        }
        self.answer(Question::Further, team)
    }
}

/// Whether the last states have all been there before, a multiple of `period` ago.
fn has_settled(states: &[Vec<Value>], period: usize) -> bool {
    let was_there = |last: usize| {
        let mut before = states[..last].iter().rev().skip(period - 1).step_by(period);
        before.any(|state| *state == states[last])
    };
    states.len() > TRIPS && (states.len() - TRIPS..states.len()).all(was_there)
}
