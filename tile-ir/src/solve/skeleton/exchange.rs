//! Values that work-items get from each other, at concrete sizes.

use super::eval::Value;
use super::machine::{Frame, Machine, Stop};
use crate::arena::EntityId as _;
use crate::exchange::ExchangeOp;
use crate::kernel::{ExprId, VarId};

impl Machine<'_> {
    /// Gives `var` its value in every work-item; a barrier.
    pub(super) fn exchange(
        &mut self,
        var: VarId,
        op: ExchangeOp,
        value: ExprId,
        frames: &mut [Frame],
    ) -> Result<(), Stop> {
        let mut values = Vec::with_capacity(frames.len());
        for (item, frame) in frames.iter().enumerate() {
            self.set_worker(item);
            values.push(self.eval(frame, value)?);
        }
        self.end_interval();
        let ty = self.kernel.vars[var].ty;
        let combine = |a: Value, b: Value| self.binary(op.binary(), ty, a, b);
        let results = match op {
            ExchangeOp::Reduce(_) => {
                let total = reduce(values, &combine);
                vec![total; frames.len()]
            }
            ExchangeOp::Scan { exclusive: false } => scan(values, &combine),
            ExchangeOp::Scan { exclusive: true } => {
                let zero = Value::default();
                std::iter::once(zero).chain(scan(values, &combine)).collect()
            }
        };
        let cause = self.cause();
        for (frame, result) in frames.iter_mut().zip(results) {
            frame[var.index()] = result.tainted(cause);
        }
        Ok(())
    }
}

/// The tree of [`crate::exchange`].
fn reduce(mut values: Vec<Value>, combine: &dyn Fn(Value, Value) -> Value) -> Value {
    let mut distance = 1;
    while distance < values.len() {
        for item in (0..values.len() - distance).step_by(2 * distance) {
            values[item] = combine(values[item], values[item + distance]);
        }
        distance *= 2;
    }
    values.first().copied().unwrap_or_default()
}

/// The tree of [`crate::exchange`].
fn scan(mut values: Vec<Value>, combine: &dyn Fn(Value, Value) -> Value) -> Vec<Value> {
    let mut distance = 1;
    while distance < values.len() {
        for item in (distance..values.len()).rev() {
            values[item] = combine(values[item - distance], values[item]);
        }
        distance *= 2;
    }
    values
}
