//! Values that work-items get from each other, at concrete sizes.

use super::machine::{Frame, Machine, Stop};
use super::value::Value;
use crate::arena::EntityId as _;
use crate::dtype::DType;
use crate::exchange::{ExchangeOp, Group, Shuffle};
use crate::kernel::{ExprId, VarId};
use crate::value::ScalarValue;

impl Machine<'_> {
    /// Gives `var` its value in every work-item of a team, whose first one has the
    /// number `first`. Among those of the block it is a barrier.
    pub(super) fn exchange(
        &mut self,
        var: VarId,
        (op, first): (ExchangeOp, usize),
        (value, lane): (ExprId, Option<ExprId>),
        frames: &mut [Frame],
    ) -> Result<(), Stop> {
        let (mut values, mut lanes) = (Vec::new(), Vec::new());
        for (item, frame) in frames.iter().enumerate() {
            self.set_worker(first + item);
            values.push(self.eval(frame, value)?);
            lanes.extend(lane.map(|lane| self.eval(frame, lane)).transpose()?);
        }
        if op.group() == Group::Block {
            self.end_interval();
        }
        let ty = self.kernel.vars[var].ty;
        let combine = |a: Value, b: Value| match op.binary() {
            Some(binary) => self.binary(binary, ty, a, b),
            None => a,
        };
        let results = match op {
            ExchangeOp::Reduce(_) | ExchangeOp::WarpReduce(_) => {
                let total = reduce(values, &combine);
                vec![total; frames.len()]
            }
            ExchangeOp::Scan { exclusive: false } => scan(values, &combine),
            ExchangeOp::Scan { exclusive: true } => {
                let zero = Value::default();
                std::iter::once(zero).chain(scan(values, &combine)).collect()
            }
            ExchangeOp::Shuffle(how) => shuffle(how, &values, &lanes),
            ExchangeOp::Ballot => vec![ballot(&values); frames.len()],
        };
        for (frame, result) in frames.iter_mut().zip(results) {
            frame[var.index()] = result;
        }
        Ok(())
    }
}

fn shuffle(how: Shuffle, values: &[Value], lanes: &[Value]) -> Vec<Value> {
    let own = values.iter().zip(lanes).zip(0i64..);
    own.map(|((value, lane), own)| {
        let given = lane.as_index();
        let from = match how {
            Shuffle::At => given,
            Shuffle::Down => own.wrapping_add(given),
            Shuffle::Up => own.wrapping_sub(given),
            Shuffle::Xor => own ^ given,
        };
        let there = usize::try_from(from).ok().and_then(|from| values.get(from));
        there.unwrap_or(value).tainted(lane.data())
    })
    .collect()
}

fn ballot(values: &[Value]) -> Value {
    let bits = values.iter().enumerate().filter(|(_, value)| value.is_true());
    let bits = bits.fold(0, |bits, (lane, _)| bits | 1 << lane);
    let data = values.iter().find_map(|value| value.data());
    Value::scalar(ScalarValue { dtype: DType::U32, bits }).tainted(data)
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
