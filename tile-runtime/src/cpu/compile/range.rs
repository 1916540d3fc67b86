//! Counted loops.

use tile_ir::dtype::DType;
use tile_ir::op::{BinaryOp, CompareOp};
use tile_ir::program::{ExprId, LoopRange, Stmt, VarId};

use super::emitter::{Emitter, Func, Value};
use crate::cpu::CpuError;
use crate::cpu::code::{Affine, Instr, Slot, UniformRange};
use crate::cpu::vector;

const INDEX: DType = DType::I64;

impl Emitter<'_, '_> {
    /// Makes code for a counted loop. Bounds are evaluated once, before it.
    pub(super) fn counted_loop(
        &mut self,
        var: VarId,
        range: &LoopRange,
        body: &[Stmt],
    ) -> Result<(), CpuError> {
        let varying = self.lane.as_ref().is_some_and(|lane| lane.facts.is_varying(var));
        if varying {
            self.divergent_loop(var, range, body)
        } else {
            self.uniform_loop(var, range, body)
        }
    }

    fn uniform_bound(&mut self, id: ExprId) -> Result<u32, CpuError> {
        let value = self.eval_as(id, INDEX)?;
        self.pinned(&value)
    }

    fn uniform_loop(
        &mut self,
        var: VarId,
        range: &LoopRange,
        body: &[Stmt],
    ) -> Result<(), CpuError> {
        let range = match range {
            LoopRange::Between { start, end, step, reversed } => UniformRange::Between {
                start: self.uniform_bound(*start)?,
                end: self.uniform_bound(*end)?,
                step: self.uniform_bound(*step)?,
                reversed: *reversed,
            },
            LoopRange::Halving(n) => UniformRange::Halving(self.uniform_bound(*n)?),
            LoopRange::Doubling(n) => UniformRange::Doubling(self.uniform_bound(*n)?),
        };
        let counter = self.declare_uniform(var)?;
        self.count_branch(None, false);
        let next = self.enter_loop(range, counter);
        self.statements(body)?;
        self.push(Instr::Jump { target: next });
        self.land(next);
        Ok(())
    }

    /// Begins a loop; returns where its next trip begins.
    fn enter_loop(&mut self, range: UniformRange, counter: u32) -> usize {
        let (trip, trips) = (self.unit.fresh_uniform(), self.unit.fresh_uniform());
        self.push(Instr::LoopEnter { range, trip, trips });
        self.push(Instr::LoopNext { range, trip, trips, counter, exit: 0 })
    }

    /// Index lanes that stay as they are while the loop's body runs.
    fn own_lanes(&mut self, id: ExprId) -> Result<Value, CpuError> {
        let value = self.eval_as(id, INDEX)?;
        let slot = self.take_register(INDEX);
        self.move_to(value, INDEX, slot)?;
        Ok(Value::Lanes { slot, owned: false })
    }

    /// A loop whose items run it for different numbers of trips: as many as the
    /// longest takes, each for the items that have not ended.
    fn divergent_loop(
        &mut self,
        var: VarId,
        range: &LoopRange,
        body: &[Stmt],
    ) -> Result<(), CpuError> {
        let bounds = match range {
            LoopRange::Between { start, end, step, .. } => vec![*start, *end, *step],
            LoopRange::Halving(n) | LoopRange::Doubling(n) => vec![*n],
        };
        let mut values = Vec::new();
        for bound in bounds {
            values.push(self.own_lanes(bound)?);
        }
        let count = match range {
            LoopRange::Between { .. } => Func::Of3(vector::trips_between()),
            LoopRange::Halving(_) => Func::Of1(vector::trips_halving()),
            LoopRange::Doubling(_) => Func::Of1(vector::trips_doubling()),
        };
        let operands = values.iter().map(|value| (value.clone(), INDEX)).collect();
        let trips = self.map(count, INDEX, operands, None)?;
        let (trips_slot, _) = self.lanes(trips.clone(), INDEX)?;
        let kept_trips = Value::Lanes { slot: trips_slot, owned: false };
        let mask = self.lane.as_ref().and_then(|lane| lane.mask);
        let largest = self.unit.fresh_uniform();
        self.push(Instr::LargestOf { dst: largest, lanes: trips_slot, mask });

        let counter = self.declare_varying(var)?;
        let zero = self.unit.constant(0);
        let one = self.unit.constant(1);
        let all = UniformRange::Between { start: zero, end: largest, step: one, reversed: false };
        let trip = self.unit.fresh_uniform();
        let next = self.enter_loop(all, trip);
        self.counter_lanes(range, &values, &kept_trips, trip, counter)?;

        let trip_value = Value::Affine(Affine::register(trip));
        let less = Func::Of2(vector::compare(CompareOp::Lt, INDEX));
        let operands = vec![(trip_value, INDEX), (kept_trips, INDEX)];
        let running = self.map(less, DType::Bool, operands, None)?;
        let (running, _) = self.lanes(running, DType::Bool)?;
        self.count_branch(Some(running), true);
        let (mask, outer) = self.enter_mask(running, true);
        let skip = self.push(Instr::JumpIfNone { mask, target: 0 });
        self.statements(body)?;
        self.land(skip);
        self.leave_mask(mask, outer);
        self.give_register(running, DType::Bool);
        self.push(Instr::Jump { target: next });
        self.land(next);

        if let Some(lane) = &mut self.lane {
            lane.vars.remove(&var);
        }
        for slot in values.into_iter().filter_map(|value| match value {
            Value::Lanes { slot, .. } => Some(slot),
            Value::Uniform(_) | Value::Affine(_) => None,
        }) {
            self.give_register(slot, INDEX);
        }
        self.give_register(counter, INDEX);
        self.release(trips, INDEX);
        Ok(())
    }

    /// The counter's lanes at a trip.
    fn counter_lanes(
        &mut self,
        range: &LoopRange,
        bounds: &[Value],
        trips: &Value,
        trip: u32,
        counter: Slot,
    ) -> Result<(), CpuError> {
        let trip = Value::Affine(Affine::register(trip));
        let bound = |at: usize| (bounds[at].clone(), INDEX);
        let value = match range {
            LoopRange::Between { reversed, .. } => {
                let trip = if *reversed {
                    let sub = self.binary_func(BinaryOp::Sub, INDEX)?;
                    let left =
                        self.map(sub, INDEX, vec![(trips.clone(), INDEX), (trip, INDEX)], None)?;
                    let one = Value::Affine(Affine::constant(1));
                    self.map(sub, INDEX, vec![(left, INDEX), (one, INDEX)], None)?
                } else {
                    trip
                };
                let func = Func::Of3(vector::value_between());
                self.map(func, INDEX, vec![bound(0), bound(2), (trip, INDEX)], Some(counter))?
            }
            LoopRange::Halving(_) => {
                let func = Func::Of2(vector::value_halving());
                self.map(func, INDEX, vec![bound(0), (trip, INDEX)], Some(counter))?
            }
            LoopRange::Doubling(_) => {
                let func = Func::Of1(vector::value_doubling());
                self.map(func, INDEX, vec![(trip, INDEX)], None)?
            }
        };
        self.move_to(value, INDEX, counter)
    }
}
