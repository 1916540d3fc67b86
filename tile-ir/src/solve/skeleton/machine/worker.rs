//! What one worker runs by itself.

use super::super::plan::Node;
use super::super::value::Value;
use super::super::witness::Context;
use super::open::OpenLoop;
use super::told::Told;
use super::trips::Trips;
use super::{Frame, Machine, Stop};
use crate::arena::EntityId as _;
use crate::kernel::{Access, LoopRange, Source, VarId};
use crate::span::SpanId;

impl<'a> Machine<'a> {
    pub(super) fn items(&mut self, nodes: &'a [Node<'a>], frame: &mut Frame) -> Result<(), Stop> {
        for node in nodes {
            self.item(node, frame)?;
        }
        Ok(())
    }

    pub(super) fn item(&mut self, node: &'a Node<'a>, frame: &mut Frame) -> Result<(), Stop> {
        match node {
            Node::Set { var, op, value } => {
                let mut result = self.eval(frame, *value)?;
                if let Some(op) = op {
                    let ty = self.kernel.vars[*var].ty;
                    self.need_kept(*var, *op, (frame[var.index()], result))?;
                    result = self.binary(*op, ty, frame[var.index()], result);
                }
                frame[var.index()] = result;
            }
            Node::Old { var, array, held } => {
                self.note_update()?;
                self.burn()?;
                let counted = match held {
                    Some(access) => self.counted(access, frame)?,
                    None => None,
                };
                self.is_guessed |= counted.is_none();
                frame[var.index()] = counted.unwrap_or_else(|| self.old_value(*array, *var));
            }
            Node::Begin { tile, is_filled } => self.begin_own(*tile, *is_filled),
            Node::Declare { tile, init } => self.declare(*tile, *init, frame)?,
            Node::Element { access, op, value, site } => {
                self.set_element((access, *site), (*op, *value), frame)?;
            }
            Node::Touch(expr) => self.touch(frame, *expr)?,
            Node::Assume(cond) => {
                if !self.eval(frame, *cond)?.is_true() {
                    return Err(Stop::Excluded);
                }
            }
            Node::Access { access, site } => {
                let Access { indices, .. } = access;
                let values = self.indices(frame, indices)?;
                self.enter(*site, &values, (frame, indices))?;
            }
            Node::Loop { var, range, body, head, .. } => {
                let (trips, data) = self.trips(frame, range)?;
                if let Some(source) = data.filter(|_| self.both) {
                    let open = OpenLoop::counted((*var, range), body, *head, source);
                    return self.any_iteration(open, frame);
                }
                let outer = self.now;
                self.now.cause = self.now.cause.or(data);
                let (rounds, mut told) = (body.rounds.as_deref(), Told::default());
                for (trip, value) in self.rounds_of(trips, body) {
                    if body.round(trip).is_empty() {
                        break;
                    }
                    frame[var.index()] = value;
                    if self.is_told(rounds, &mut told, std::slice::from_mut(frame))? {
                        continue;
                    }
                    self.iterate(
                        outer.context,
                        Some((*var, value.as_index())),
                        *head,
                        trip,
                        false,
                    )?;
                    self.items(body.round(trip), frame)?;
                    self.tell(rounds, &mut told, std::slice::from_ref(frame));
                }
                (self.now.context, self.now.cause) = (outer.context, outer.cause);
                self.leave(frame, body, data);
            }
            Node::While { cond, body, head, rising } => {
                let outer = self.now;
                let mut data = None;
                let strides = self.strides(rising, frame);
                let (rounds, mut told) = (body.rounds.as_deref(), Told::default());
                for trip in 0.. {
                    let holds = self.eval(frame, *cond)?;
                    if let Some(source) = holds.data().filter(|_| self.both) {
                        let open = OpenLoop::conditional((*cond, rising), body, *head, source);
                        self.any_iteration(open, frame)?;
                        data = data.or(holds.data());
                        break;
                    }
                    data = data.or(holds.data());
                    if !holds.is_true() || (!holds.is_known() && trip == self.data_trips) {
                        break;
                    }
                    self.need_end(&strides, frame)?;
                    self.now.cause = self.now.cause.or(holds.data());
                    if self.is_told(rounds, &mut told, std::slice::from_mut(frame))? {
                        body.nodes.last().map_or(Ok(()), |last| self.item(last, frame))?;
                        continue;
                    }
                    self.iterate(outer.context, None, *head, trip, false)?;
                    self.items(body.round(trip), frame)?;
                    self.tell(rounds, &mut told, std::slice::from_ref(frame));
                }
                (self.now.context, self.now.cause) = (outer.context, outer.cause);
                self.leave(frame, body, data);
                if data.is_some() {
                    self.renew(frame, &body.assigned);
                }
            }
            Node::If { cond: asked, then, otherwise } => {
                let asked = *asked;
                let cond = self.eval(frame, asked)?;
                let outer = self.now.cause;
                self.now.cause = self.now.cause.or(cond.data());
                let (run, other) =
                    if cond.is_true() { (then, otherwise) } else { (otherwise, then) };
                let guard = self.guard(asked, cond, cond.is_true());
                let mut left = None;
                if self.both
                    && let Some(guard) = guard
                {
                    let mut frame = frame.clone();
                    self.under(guard.negated(), |machine| machine.items(&other.nodes, &mut frame))?;
                    self.forget(&other.stored);
                    left = Some(frame);
                }
                self.under_some(guard, |machine| machine.items(&run.nodes, frame))?;
                self.now.cause = outer;
                let joined =
                    left.map(|left| self.joined((asked, cond), [frame, &left], [run, other]));
                self.leave(frame, then, cond.data());
                self.leave(frame, otherwise, cond.data());
                self.set_joined(frame, joined.unwrap_or_default());
            }
            Node::Alike { node, .. } => self.item(node, frame)?,
            Node::Each { .. } | Node::Exchange { .. } | Node::Barrier | Node::WarpBarrier => {
                return Err(Stop::Divergent);
            }
        }
        Ok(())
    }

    /// Counter values of a loop, and what from memory decides how many they are.
    pub(super) fn trips(
        &mut self,
        frame: &Frame,
        range: &LoopRange,
    ) -> Result<(Trips, Option<Source>), Stop> {
        let limit = *self.fuel as usize;
        let (first, last, mut trips) = match *range {
            LoopRange::Between { start, end, step, reversed } => {
                let (first, last) = (self.eval(frame, start)?, self.eval(frame, end)?);
                let step = match step {
                    Some(step) => self.eval(frame, step)?,
                    None => Value::index(1),
                };
                let by = step.as_index();
                let length = i128::from(last.as_index()) - i128::from(first.as_index());
                let trips = if by > 0 { (length + i128::from(by) - 1) / i128::from(by) } else { 0 };
                let trips = trips.clamp(0, i64::MAX.into()) as i64;
                let limit = match first.data().or(last.data()) {
                    Some(_) => limit.min(self.data_trips),
                    None => limit,
                };
                let len = usize::try_from(trips).unwrap_or(usize::MAX).min(limit);
                let start = first.as_index();
                let (start, by) = match reversed {
                    true => (start.wrapping_add((trips - 1).wrapping_mul(by)), by.wrapping_neg()),
                    false => (start, by),
                };
                let first = first.made_of(step);
                (first, last, Trips::counted(start, by, len, first))
            }
            LoopRange::Halving(n) => {
                let n = self.eval(frame, n)?;
                let halves = std::iter::successors(Some(n.as_index() / 2), |half| Some(half / 2));
                let values = halves.take_while(|half| *half > 0).collect();
                (Value::index(0), n, Trips::listed(values, Value::index(0)))
            }
            LoopRange::Doubling(n) => {
                let n = self.eval(frame, n)?;
                let doubles = std::iter::successors(Some(1i64), |value| value.checked_mul(2));
                let values = doubles.take_while(|value| *value < n.as_index()).collect();
                (Value::index(0), n, Trips::listed(values, Value::index(0)))
            }
        };
        let data = first.data().or(last.data());
        if data.is_some() {
            trips.truncate(self.data_trips);
        }
        Ok((trips, data))
    }

    pub(super) fn iterate(
        &mut self,
        parent: u32,
        counter: Option<(VarId, i64)>,
        head: SpanId,
        trip: usize,
        together: bool,
    ) -> Result<(), Stop> {
        self.burn()?;
        let trip = trip as u32;
        self.now.context = self.contexts.len() as u32;
        self.contexts.push(Context { parent, counter, head: Some(head), trip, together });
        Ok(())
    }

    pub(super) fn burn(&mut self) -> Result<(), Stop> {
        if self.left == Some(0) {
            return Err(Stop::Filled);
        }
        self.spend(1 + self.terms.take_cost())
    }

    /// Takes as much of the fuel as so many accesses do.
    pub(super) fn spend(&mut self, accesses: usize) -> Result<(), Stop> {
        let left = u32::try_from(accesses).ok().and_then(|cost| self.fuel.checked_sub(cost));
        *self.fuel = left.unwrap_or(0);
        left.map(|_| ()).ok_or(Stop::Budget)
    }
}

/// Variables that have been changed where `data` decided whether, or how often: what they
/// may be set to there is as many values as there are ways.
pub(super) fn taint(frame: &mut Frame, assigned: &[VarId], data: Option<Source>) {
    if data.is_some() {
        for var in assigned {
            frame[var.index()] = frame[var.index()].chosen(data);
        }
    }
}
