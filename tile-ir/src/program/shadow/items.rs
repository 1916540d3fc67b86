//! `Items`: the threads' registers, a warp at a time in step.

use std::rc::Rc;

use super::eval::index;
use super::lanes::{Group, warps_of};
use super::machine::{Machine, Stop};
use crate::arena::EntityId as _;
use crate::dtype::DType;
use crate::exchange::WARP_ITEMS;
use crate::program::{DomainId, Stmt, StmtKind, VarId};
use crate::value::ScalarValue;

impl Machine<'_> {
    /// Runs a body for each item of a domain.
    pub(super) fn run_items(
        &mut self,
        id: DomainId,
        body: &[Stmt],
        first: u32,
    ) -> Result<(), Stop> {
        self.run += 1;
        let outer = std::mem::take(&mut self.group);
        let domain = &self.kernel.domains[id];
        let warps = Rc::clone(self.warps.entry(id).or_insert_with(|| Rc::new(warps_of(domain))));
        for lanes in warps.iter() {
            let active: Vec<usize> = (0..lanes.len()).collect();
            let vars = vec![None; lanes.len() * self.kernel.vars.len()];
            self.group = Group { domain: Some(id), lanes: Rc::clone(lanes), vars };
            self.lane_list(body, first, &active)?;
        }
        self.group = outer;
        Ok(())
    }

    /// Runs statements for these lanes.
    fn lane_list(&mut self, stmts: &[Stmt], mut number: u32, active: &[usize]) -> Result<(), Stop> {
        for stmt in stmts {
            self.lane_stmt(stmt, number, active)?;
            number += self.places[number as usize].n_stmts;
        }
        Ok(())
    }

    pub(super) fn set_lane_var(&mut self, var: VarId, lane: usize, value: Option<ScalarValue>) {
        let at = lane * self.kernel.vars.len() + var.index();
        self.group.vars[at] = value;
    }

    fn lane_stmt(&mut self, stmt: &Stmt, number: u32, active: &[usize]) -> Result<(), Stop> {
        self.step()?;
        self.stmt = number;
        match &stmt.kind {
            StmtKind::If { cond, then, otherwise } => {
                let (mut holds, mut others) = (Vec::new(), Vec::new());
                for &lane in active {
                    let taken =
                        if self.holds(*cond, Some(lane))? { &mut holds } else { &mut others };
                    taken.push(lane);
                }
                let n_then: u32 = self.count(then, number + 1);
                if !holds.is_empty() {
                    self.lane_list(then, number + 1, &holds)?;
                }
                if !others.is_empty() {
                    self.lane_list(otherwise, number + 1 + n_then, &others)?;
                }
                Ok(())
            }
            StmtKind::For { var, range, body, .. } => {
                let mut counters = Vec::new();
                for &lane in active {
                    counters.push((lane, self.counter(*range, Some(lane))?));
                }
                for trip in 0.. {
                    let mut running = Vec::new();
                    for (lane, counter) in &counters {
                        if let Some(value) = counter.value(trip) {
                            self.set_lane_var(*var, *lane, Some(index(value)));
                            running.push(*lane);
                        }
                    }
                    if running.is_empty() {
                        break;
                    }
                    self.step()?;
                    self.lane_list(body, number + 1, &running)?;
                }
                Ok(())
            }
            StmtKind::While { cond, body } => {
                let mut running = active.to_vec();
                loop {
                    self.stmt = number;
                    let mut still = Vec::new();
                    for lane in running {
                        if self.holds(*cond, Some(lane))? {
                            still.push(lane);
                        }
                    }
                    if still.is_empty() {
                        return Ok(());
                    }
                    self.lane_list(body, number + 1, &still)?;
                    running = still;
                }
            }
            StmtKind::Shuffle { var, value, lane: source } => {
                let mut values = Vec::new();
                for &lane in active {
                    let value = self.eval(*value, Some(lane))?;
                    values.push((lane, value, self.index(*source, Some(lane))?));
                }
                for &(lane, own, source) in &values {
                    let of_source = values.iter().find(|(other, ..)| {
                        i64::from(self.group.lanes[*other].thread % WARP_ITEMS) == source
                    });
                    let value = of_source.map_or(own, |(_, value, _)| *value);
                    self.set_lane_var(*var, lane, Some(value));
                }
                Ok(())
            }
            StmtKind::Ballot { var, cond } => {
                let mut bits = 0u32;
                for &lane in active {
                    let holds = self.holds(*cond, Some(lane))?;
                    bits |= u32::from(holds) << (self.group.lanes[lane].thread % WARP_ITEMS);
                }
                let value = ScalarValue { dtype: DType::U32, bits: bits.into() };
                active.iter().for_each(|&lane| self.set_lane_var(*var, lane, Some(value)));
                Ok(())
            }
            StmtKind::WarpBarrier => {
                let thread = active.first().map(|&lane| self.group.lanes[lane].thread);
                let warp = thread.map_or(0, |thread| thread / WARP_ITEMS);
                if let Some(epoch) = self.epochs.get_mut(warp as usize) {
                    *epoch += 1;
                }
                Ok(())
            }
            StmtKind::Let { .. }
            | StmtKind::Assign { .. }
            | StmtKind::SetFragment { .. }
            | StmtKind::Store { .. }
            | StmtKind::Atomic { .. }
            | StmtKind::Copy { .. }
            | StmtKind::Assume(_) => {
                active.iter().try_for_each(|&lane| self.simple(&stmt.kind, lane))
            }
            StmtKind::Items { .. }
            | StmtKind::Commit(_)
            | StmtKind::Wait { .. }
            | StmtKind::Barrier(_) => Err(Stop::broken("a statement of the block within an item")),
        }
    }

    /// The statements of a list that begins with this number, inner ones too.
    pub(super) fn count(&self, stmts: &[Stmt], first: u32) -> u32 {
        let mut number = first;
        for _ in stmts {
            number += self.places[number as usize].n_stmts;
        }
        number - first
    }
}
