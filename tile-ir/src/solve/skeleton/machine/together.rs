//! What the whole block, or a warp, runs in step.

use super::super::plan::Node;
use super::super::witness::Points;
use super::open::OpenLoop;
use super::told::Told;
use super::{Frame, MAX_CELLS, Machine, Stop, Team, WARP, count, place};
use crate::arena::EntityId as _;
use crate::exchange::Group;
use crate::kernel::{Axis, Source};
use crate::span::SpanId;

/// Work-items whose part in a statement, or in a decision of the block, costs as much as
/// one access: a loop that never ends is so given up in time, though it touches nothing.
const PER_STEP: usize = 4;

impl<'a> Machine<'a> {
    /// Runs nodes by the work-items of a team, each with its frame: in step where
    /// they do something together.
    pub(super) fn together(
        &mut self,
        nodes: &'a [Node<'a>],
        frames: &mut [Frame],
        team: Team,
    ) -> Result<(), Stop> {
        let mut rest = nodes;
        while !rest.is_empty() {
            let is_own = |node: &&Node<'a>| node.team().is_none_or(|of| of < team.group);
            let own = rest.iter().take_while(is_own).count();
            let (items, from) = rest.split_at(own);
            if items.iter().any(|node| node.team().is_some()) {
                for (warp, frames) in frames.chunks_mut(WARP).enumerate() {
                    let team = Team { group: Group::Warp, first: team.first + warp * WARP };
                    self.together(items, frames, team)?;
                }
            } else if own > 0 && !frames.is_empty() {
                self.spend(frames.len() / PER_STEP)?;
                if self.only_fills {
                    self.in_turn(items, frames, team)?;
                } else {
                    let last = frames.len() - 1;
                    for turn in 0..=last {
                        let item = if self.is_backwards { last - turn } else { turn };
                        self.set_worker(team.first + item);
                        self.items(items, &mut frames[item])?;
                    }
                }
            }
            let Some((node, after)) = from.split_first() else { break };
            self.collective(node, frames, team)?;
            rest = after;
        }
        Ok(())
    }

    fn collective(
        &mut self,
        node: &'a Node<'a>,
        frames: &mut [Frame],
        team: Team,
    ) -> Result<(), Stop> {
        match node {
            Node::Barrier => {
                self.end_interval();
                Ok(())
            }
            Node::WarpBarrier => {
                self.end_warp_interval(team.first / WARP);
                Ok(())
            }
            Node::Exchange { var, op, value, lane } => {
                self.exchange(*var, (*op, team.first), (*value, *lane), frames)
            }
            Node::Each { axes, body, head } => self.each(axes, body, *head, frames),
            Node::Loop { var, range, body, head, .. } => {
                let trips =
                    self.agree(frames, team, |machine, frame| machine.trips(frame, range))?;
                let Some((trips, data)) = trips else { return Ok(()) };
                if let Some(source) = data.filter(|_| self.both) {
                    let open = OpenLoop::counted((*var, range), body, *head, source);
                    return self.any_iterations(open, frames, team);
                }
                let outer = self.now;
                self.now.cause = self.now.cause.or(data);
                let (rounds, mut told) = (body.rounds.as_deref(), Told::default());
                let mut next = 0;
                for (trip, value) in self.rounds_of(trips, body) {
                    if trip > std::mem::replace(&mut next, trip + 1) {
                        self.leave_rounds_out(body, team);
                    }
                    frames.iter_mut().for_each(|frame| frame[var.index()] = value);
                    if self.is_told(rounds, &mut told, frames)? {
                        continue;
                    }
                    self.iterate(outer.context, Some((*var, value.as_index())), *head, trip, true)?;
                    self.together(&body.nodes, frames, team)?;
                    self.tell(rounds, &mut told, frames);
                }
                (self.now.context, self.now.cause) = (outer.context, outer.cause);
                frames.iter_mut().for_each(|frame| self.leave(frame, body, data));
                Ok(())
            }
            Node::While { cond, body, head, rising } => {
                let outer = self.now;
                let mut data = None;
                let strides = frames.first().map(|frame| self.strides(rising, frame));
                let (rounds, mut told) = (body.rounds.as_deref(), Told::default());
                for trip in 0.. {
                    let holds =
                        self.agree(frames, team, |machine, frame| machine.eval(frame, *cond))?;
                    let Some(holds) = holds else { break };
                    if let Some(source) = holds.data().filter(|_| self.both) {
                        let open = OpenLoop::conditional((*cond, rising), body, *head, source);
                        self.any_iterations(open, frames, team)?;
                        data = data.or(holds.data());
                        break;
                    }
                    data = data.or(holds.data());
                    if !holds.is_true() || (!holds.is_known() && trip == self.data_trips) {
                        break;
                    }
                    if let (Some(frame), Some(strides)) = (frames.first(), &strides) {
                        self.need_end(strides, frame)?;
                    }
                    self.now.cause = self.now.cause.or(holds.data());
                    if self.is_told(rounds, &mut told, frames)? {
                        for frame in frames.iter_mut() {
                            body.nodes.last().map_or(Ok(()), |last| self.item(last, frame))?;
                        }
                        continue;
                    }
                    self.iterate(outer.context, None, *head, trip, true)?;
                    self.together(&body.nodes, frames, team)?;
                    self.tell(rounds, &mut told, frames);
                }
                (self.now.context, self.now.cause) = (outer.context, outer.cause);
                frames.iter_mut().for_each(|frame| self.leave(frame, body, data));
                Ok(())
            }
            Node::If { cond, then, otherwise } => {
                let cond = self.agree(frames, team, |machine, frame| machine.eval(frame, *cond))?;
                let Some(cond) = cond else { return Ok(()) };
                let is_open = self.both && !cond.is_known();
                let holds = if is_open { self.decide(team)? } else { cond.is_true() };
                let outer = self.now.cause;
                self.now.cause = self.now.cause.or(cond.data());
                let run = if holds { then } else { otherwise };
                self.together(&run.nodes, frames, team)?;
                self.now.cause = outer;
                for frame in frames.iter_mut() {
                    self.leave(frame, then, cond.data());
                    self.leave(frame, otherwise, cond.data());
                }
                Ok(())
            }
            Node::Set { .. }
            | Node::Old { .. }
            | Node::Begin { .. }
            | Node::Declare { .. }
            | Node::Element { .. }
            | Node::Touch(_)
            | Node::Access { .. }
            | Node::Assume(_)
            | Node::Alike { .. } => Ok(()),
        }
    }

    /// What all work-items of a team agree on; `None` where there is none.
    pub(super) fn agree<T: PartialEq>(
        &mut self,
        frames: &[Frame],
        team: Team,
        mut of: impl FnMut(&mut Self, &Frame) -> Result<T, Stop>,
    ) -> Result<Option<T>, Stop> {
        self.spend(frames.len() / PER_STEP)?;
        let mut common = None;
        for (item, frame) in frames.iter().enumerate() {
            self.set_worker(team.first + item);
            let own = of(self, frame)?;
            if common.as_ref().is_some_and(|common| *common != own) {
                return Err(Stop::Divergent);
            }
            common = Some(own);
        }
        Ok(common)
    }

    fn each(
        &mut self,
        axes: &'a [Axis],
        body: &'a [Node<'a>],
        head: SpanId,
        frames: &[Frame],
    ) -> Result<(), Stop> {
        let Some(frame) = frames.first() else { return Ok(()) };
        for axis in axes {
            let extent = self.eval(frame, axis.extent)?;
            self.need_known(extent.data())?;
        }
        let extents: Option<Vec<i64>> = axes.iter().map(|axis| self.size(axis.extent)).collect();
        let extents = extents.ok_or(Stop::Budget)?;
        let n_points = count(&extents, MAX_CELLS)?;
        let first = self.next_worker;
        self.next_worker = first.saturating_add(n_points as u32);
        let block = self.now.block;
        self.points.push(Points { block, first, extents: extents.clone(), axes, head });
        let mut frame = frame.clone();
        for point in 0..n_points {
            (self.now.worker, self.now.warp) = (first + point as u32, None);
            place(axes, &extents, point, &mut frame);
            self.items(body, &mut frame)?;
        }
        Ok(())
    }

    /// Ends a run of all that may be where loaded data decides what is run.
    pub(super) fn need_known(&self, data: Option<Source>) -> Result<(), Stop> {
        if self.both && data.is_some() { Err(Stop::Data) } else { Ok(()) }
    }
}
