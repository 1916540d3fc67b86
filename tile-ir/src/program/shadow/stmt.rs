//! Statements at block scope, and those of a single item.

use super::eval::{Element, index};
use super::machine::{Machine, Stop};
use super::ranges::Counter;
use crate::arena::EntityId as _;
use crate::kernel::AccessKind;
use crate::op::AtomicOp;
use crate::program::{Access, ExprId, LoopRange, Stmt, StmtKind, Target};
use crate::semantics;
use crate::value::ScalarValue;

impl Machine<'_> {
    /// Runs statements at block scope; the first has this number.
    pub(super) fn block_list(&mut self, stmts: &[Stmt], mut number: u32) -> Result<(), Stop> {
        for stmt in stmts {
            self.block_stmt(stmt, number)?;
            number += self.places[number as usize].n_stmts;
        }
        Ok(())
    }

    fn block_stmt(&mut self, stmt: &Stmt, number: u32) -> Result<(), Stop> {
        self.step()?;
        self.stmt = number;
        match &stmt.kind {
            StmtKind::Let { var, value } => {
                let value = value.map(|value| self.eval(value, None)).transpose()?;
                self.vars[var.index()] = value;
                Ok(())
            }
            StmtKind::Assign { var, value } => {
                let value = self.eval(*value, None)?;
                self.vars[var.index()] = Some(value);
                Ok(())
            }
            StmtKind::Items { domain, body } => self.run_items(*domain, body, number + 1),
            StmtKind::For { var, range, body, .. } => {
                let counter = self.counter(*range, None)?;
                for trip in 0.. {
                    let Some(value) = counter.value(trip) else { break };
                    self.step()?;
                    self.vars[var.index()] = Some(index(value));
                    self.block_list(body, number + 1)?;
                }
                Ok(())
            }
            StmtKind::While { cond, body } => {
                while self.holds(*cond, None)? {
                    self.block_list(body, number + 1)?;
                    self.stmt = number;
                }
                Ok(())
            }
            StmtKind::If { cond, then, otherwise } => {
                if self.holds(*cond, None)? {
                    self.block_list(then, number + 1)
                } else {
                    let n_then = self.count(then, number + 1);
                    self.block_list(otherwise, number + 1 + n_then)
                }
            }
            StmtKind::Barrier(_) => {
                self.interval += 1;
                Ok(())
            }
            StmtKind::Commit(token) => {
                self.commit(*token);
                Ok(())
            }
            StmtKind::Wait { token, pending } => {
                self.wait(*token, *pending);
                Ok(())
            }
            StmtKind::SetFragment { .. }
            | StmtKind::Store { .. }
            | StmtKind::Atomic { .. }
            | StmtKind::Copy { .. }
            | StmtKind::Assume(_)
            | StmtKind::Shuffle { .. }
            | StmtKind::Ballot { .. }
            | StmtKind::WarpBarrier => Err(Stop::broken("a statement of an item outside of items")),
        }
    }

    pub(super) fn counter(
        &mut self,
        range: LoopRange,
        lane: Option<usize>,
    ) -> Result<Counter, Stop> {
        Ok(match range {
            LoopRange::Between { start, end, step, reversed } => Counter::Between {
                start: self.index(start, lane)?,
                end: self.index(end, lane)?,
                step: self.index(step, lane)?,
                reversed,
            },
            LoopRange::Halving(n) => Counter::Halving(self.index(n, lane)?),
            LoopRange::Doubling(n) => Counter::Doubling(self.index(n, lane)?),
        })
    }

    /// A statement that a lane runs for itself.
    pub(super) fn simple(&mut self, kind: &StmtKind, lane: usize) -> Result<(), Stop> {
        match kind {
            StmtKind::Let { var, value } => {
                let value = value.map(|value| self.eval(value, Some(lane))).transpose()?;
                self.set_lane_var(*var, lane, value);
            }
            StmtKind::Assign { var, value } => {
                let value = self.eval(*value, Some(lane))?;
                self.set_lane_var(*var, lane, Some(value));
            }
            StmtKind::SetFragment { fragment, value } => {
                let value = self.eval(*value, Some(lane))?;
                let slot = self.fragment_slot(*fragment, lane);
                let place = slot.and_then(|slot| self.fragments[fragment.index()].get_mut(slot));
                *place.ok_or_else(|| Stop::broken("a fragment of other items"))? = Some(value);
            }
            StmtKind::Store { access, value } => {
                let value = self.eval(*value, Some(lane))?;
                if let Some(element) = self.element(access, Some(lane), AccessKind::Write)? {
                    self.write(access.target, element, value, lane);
                }
            }
            StmtKind::Atomic { access, op, expected, value, old } => {
                let before = self.atomic(access, *op, (*expected, *value), lane)?;
                if let Some(old) = old {
                    self.set_lane_var(*old, lane, Some(before));
                }
            }
            StmtKind::Copy { dst, src, token } => {
                let dtype = self.kernel.element_type(src.target);
                let from = self.element(src, Some(lane), AccessKind::Read)?;
                let to = self.element(dst, Some(lane), AccessKind::Write)?;
                let mark = self.mark(Some(lane));
                let shared = |target: Target, element: Option<Element>| match element {
                    Some(Element::Shared(at)) => Some((target, at)),
                    Some(Element::Own(..)) | None => None,
                };
                let in_flight = token.zip(shared(dst.target, to));
                let value = match (from, in_flight) {
                    (None, _) => self.outside(src, dtype, Some(lane))?,
                    (Some(Element::Shared(at)), Some(_)) => {
                        self.memories[at.memory].read(at, dtype)
                    }
                    (Some(from), _) => self.read(src.target, from, dtype, mark, AccessKind::Read),
                };
                match (in_flight, to) {
                    (Some((token, dst)), Some(to)) => {
                        self.issue(token, dst, shared(src.target, from), mark);
                        self.put(to, value);
                    }
                    (_, Some(to)) => self.write(dst.target, to, value, lane),
                    (_, None) => {}
                }
            }
            // Nothing is concluded from it.
            StmtKind::Assume(_) => {}
            StmtKind::Items { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Commit(_)
            | StmtKind::Wait { .. }
            | StmtKind::Barrier(_)
            | StmtKind::Shuffle { .. }
            | StmtKind::Ballot { .. }
            | StmtKind::WarpBarrier => return Err(Stop::broken("a statement of several items")),
        }
        Ok(())
    }

    fn write(&mut self, target: Target, element: Element, value: ScalarValue, lane: usize) {
        if let Element::Shared(at) = element {
            let mark = self.mark(Some(lane));
            self.enter(target, at, mark, AccessKind::Write);
        }
        self.put(element, value);
    }

    /// Updates an element; the value before.
    fn atomic(
        &mut self,
        access: &Access,
        op: AtomicOp,
        (expected, value): (Option<ExprId>, ExprId),
        lane: usize,
    ) -> Result<ScalarValue, Stop> {
        let dtype = self.kernel.element_type(access.target);
        let expected = expected.map(|id| self.eval(id, Some(lane))).transpose()?;
        let value = self.eval(value, Some(lane))?;
        let Some(element) = self.element(access, Some(lane), AccessKind::Atomic)? else {
            return self.outside(access, dtype, Some(lane));
        };
        let mark = self.mark(Some(lane));
        let before = self.read(access.target, element, dtype, mark, AccessKind::Atomic);
        let after = match op.binary() {
            Some(op) => semantics::binary(op, before, value),
            None => match expected {
                Some(expected) if expected.bits != before.bits => Some(before),
                Some(_) | None => Some(value),
            },
        };
        let after = after.ok_or_else(|| Stop::broken(format!("{dtype} has no {op}")))?;
        self.put(element, after);
        Ok(before)
    }
}
