//! Outcomes of comparisons, and what is compared in those that are doubtful ([`Doubts`]).

use super::super::data::Number;
use super::super::doubts::{Doubts, Seen, Side, Wish};
use super::super::hash::Hash;
use super::super::value::Value;
use super::{Frame, Machine};
use crate::kernel::{ExprId, Type};
use crate::op::CompareOp;
use crate::semantics;
use crate::value::ScalarValue;

impl<'a> Machine<'a> {
    /// The same run, in which these comparisons may come out either way.
    pub(in super::super) fn doubting(self, doubts: &'a Doubts) -> Self {
        Self { doubts: Some(doubts), ..self }
    }

    /// Notes how a condition has come out.
    pub(in super::super) fn note_outcome(&mut self, expr: ExprId, holds: bool) {
        if self.only_fills && self.doubts.is_none() {
            self.note(expr, holds);
        }
    }

    fn note(&mut self, expr: ExprId, holds: bool) {
        let (sizes, blocks) = (self.sizes, &self.blocks);
        let seen =
            || Seen { sizes: sizes.clone(), block: blocks.last().cloned().unwrap_or_default() };
        self.findings.fills.outcomes.note(expr, holds, seen);
    }

    /// Whether a place lies inside of its tensor, which `inside` says where nobody doubts it.
    pub(in super::super) fn lies_inside(&mut self, expr: ExprId, inside: Value) -> Value {
        let doubts = self.doubts.and_then(|doubts| Some((doubts.inside(expr)?, doubts)));
        match doubts {
            Some((holds, doubts)) => {
                Value::bool(holds).chosen(inside.data().or(doubts.source(expr)))
            }
            None => {
                self.note_outcome(expr, inside.is_true());
                inside
            }
        }
    }

    /// Whether two values compare so.
    pub(in super::super) fn compared(
        &mut self,
        frame: &Frame,
        (expr, op): (ExprId, CompareOp),
        sides: [(ExprId, Value); 2],
    ) -> Value {
        let ty = self.kernel.exprs[sides[0].0].ty;
        let [(_, lhs), (_, rhs)] = sides;
        if ty == Type::Index && !self.only_fills && lhs.is_known() && rhs.is_known() {
            return Value::bool(op.holds(lhs.as_index(), rhs.as_index()));
        }
        let data = lhs.data().or(rhs.data());
        let values = [lhs, rhs];
        // Nothing compares with what is no number, whatever it is.
        if sides.iter().any(|(side, _)| self.kernel.is_nan(*side)) {
            return Value::bool(self.holds(op, ty, values));
        }
        if !self.only_fills {
            let value = Value::bool(self.holds(op, ty, values)).chosen(data);
            return self.amount_of_comparison(value, (op, ty), values);
        }
        let known = self.doubts.and_then(|doubts| Some((doubts.sides(expr)?, doubts)));
        let Some((taken, doubts)) = known else {
            let holds = self.holds(op, ty, values);
            self.note(expr, holds);
            return Value::bool(holds).chosen(data);
        };
        let values = [0, 1].map(|at| {
            let (side, value) = sides[at];
            let (_, other) = sides[1 - at];
            match &taken[at] {
                Some(own) => {
                    self.taken((frame, side, ty), own, value, (other, taken[1 - at].is_none()))
                }
                None => value,
            }
        });
        let is_another = |((_, was), now): (&(ExprId, Value), &Value)| {
            was.data().is_none() && was.bits() != now.bits()
        };
        self.is_made_up |= sides.iter().zip(&values).any(is_another);
        Value::bool(self.holds(op, ty, values)).chosen(data.or(doubts.source(expr)))
    }

    fn holds(&self, op: CompareOp, ty: Type, [lhs, rhs]: [Value; 2]) -> bool {
        if ty == Type::Index {
            return op.holds(lhs.as_index(), rhs.as_index());
        }
        let dtype = self.types.of_type(ty);
        let scalar = |value: Value| ScalarValue { dtype, bits: value.bits() };
        semantics::compare(op, scalar(lhs), scalar(rhs)).unwrap_or(false)
    }

    /// What a side is taken for: what it is, or a number near those that it is compared with
    /// and that it may be; the same value always for the same.
    fn taken(
        &self,
        (frame, side, ty): (&Frame, ExprId, Type),
        own: &Side,
        value: Value,
        (other, is_known): (Value, bool),
    ) -> Value {
        let is_whole = ty == Type::Index || ty.integer_range().is_some();
        let mut numbers = match own.wish {
            Some(Wish::Number(number)) => vec![number],
            Some(Wish::Beside(by)) => vec![Number::Int(other.number(ty).saturating_add(by))],
            None => own.numbers.clone(),
        };
        if numbers.is_empty() && is_known && is_whole {
            numbers = Number::Int(other.number(ty)).around();
        }
        if is_whole {
            let cut = self.reach(frame, &[side]);
            let cut = cut.first().copied().filter(|_| !value.is_known()).unwrap_or(own.range);
            let (low, high) = (cut.0.max(own.range.0), cut.1.min(own.range.1));
            let is_possible = |number: &Number| {
                number.whole().is_some_and(|number| (low..=high).contains(&number))
            };
            numbers.retain(is_possible);
        } else {
            numbers.retain(|number| own.reals.has(number.real()));
        }
        if own.wish.is_some() {
            let dtype = self.types.of_type(ty);
            return numbers.first().map_or(value, |number| Value::scalar(number.at(dtype)));
        }
        let (term, bits) = value.identity();
        let mut hash = Hash::default();
        [i64::from(term), bits as i64, i64::from(self.seed)]
            .into_iter()
            .for_each(|word| hash.add(word));
        let at = hash.finish() as usize % (numbers.len() + 1);
        let dtype = self.types.of_type(ty);
        numbers.get(at).map_or(value, |number| Value::scalar(number.at(dtype)))
    }
}
