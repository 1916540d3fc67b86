//! Values that work-items get from each other. Work-items are run one after the other,
//! so a launch is run again and again: each time with what the operations were given the
//! time before, until they are given the same.

use std::collections::BTreeMap;

use tile_ir::exchange::{ExchangeOp, Group, Reduction, Shuffle, WARP_ITEMS};
use tile_ir::kernel::{ExprId, Type, VarId};
use tile_ir::span::SpanId;

use super::eval::{Value, binary};
use super::run::{Machine, Step};

/// An operation, once: the block, the warp of one of a warp, how many of its kind the
/// work-item has come by before, and where it stands.
pub(super) type Moment = (usize, Option<u64>, usize, SpanId);

/// What each work-item gives, and the lane that it asks for.
pub(super) type Given = BTreeMap<Moment, BTreeMap<u64, (Value, i64)>>;

impl Machine<'_> {
    /// An operation of this work-item, which is then after all that its block did before.
    pub(super) fn exchange(
        &mut self,
        var: VarId,
        op: ExchangeOp,
        (value, lane): (ExprId, Option<ExprId>),
        at: SpanId,
    ) -> Step<()> {
        let ty = self.kernel.exprs[value].ty;
        let value = self.eval(value)?;
        let lane = lane.map_or(Ok(0), |lane| self.eval(lane).map(Value::int))?;
        let group = op.group();
        let moment = self.meet(group, at);
        let own = (value, lane);
        let worker = self.worker();
        self.made.entry(moment).or_default().insert(worker, own);
        let all: Vec<(u64, (Value, i64))> = match self.given.get(&moment) {
            Some(all) if all.contains_key(&worker) => {
                all.iter().map(|(worker, given)| (*worker, *given)).collect()
            }
            Some(_) | None => vec![(worker, own)],
        };
        let position = all.iter().position(|(other, _)| *other == worker).unwrap_or(0);
        let values: Vec<Value> = all.iter().map(|(_, (value, _))| *value).collect();
        self.vars.insert(var, result(op, &values, (position, lane), ty));
        Ok(())
    }
}

/// What the work-item at `position` gets.
fn result(op: ExchangeOp, values: &[Value], (position, lane): (usize, i64), ty: Type) -> Value {
    let sum_of = |reduction: Reduction, values: &[Value]| {
        let both = |one: Value, other: Value| match (one, other) {
            (Value::Bool(one), Value::Bool(other)) => {
                Value::Bool(if reduction == Reduction::Any { one | other } else { one & other })
            }
            (one, other) => binary(reduction.binary(), one, other, ty),
        };
        values.iter().copied().reduce(both)
    };
    let none = if values[position] == Value::Float { Value::Float } else { Value::Int(0) };
    match op {
        ExchangeOp::Reduce(reduction) | ExchangeOp::WarpReduce(reduction) => {
            sum_of(reduction, values).unwrap_or(none)
        }
        ExchangeOp::Scan { exclusive } => {
            let before = if exclusive { position } else { position + 1 };
            sum_of(Reduction::Sum, &values[..before]).unwrap_or(none)
        }
        ExchangeOp::Shuffle(how) => {
            let own = position as i64;
            let from = match how {
                Shuffle::At => lane,
                Shuffle::Down => own + lane,
                Shuffle::Up => own - lane,
                Shuffle::Xor => own ^ lane,
            };
            let there = usize::try_from(from).ok().and_then(|from| values.get(from));
            there.copied().unwrap_or(values[position])
        }
        ExchangeOp::Ballot => {
            let set = values.iter().enumerate().filter(|(_, value)| value.is_true());
            Value::Int(set.map(|(lane, _)| 1 << lane).sum())
        }
    }
}

impl Machine<'_> {
    /// The moment of an operation; what comes after it has another.
    fn meet(&mut self, group: Group, at: SpanId) -> Moment {
        let warp = match group {
            Group::Block => None,
            Group::Warp => Some(self.worker() / u64::from(WARP_ITEMS)),
        };
        let count = &mut self.met[usize::from(group == Group::Warp)];
        *count += 1;
        let count = *count;
        self.pass(group, at);
        (self.block(), warp, count, at)
    }
}
