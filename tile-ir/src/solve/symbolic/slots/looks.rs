//! Atomic updates that change nothing: `atomic seen[v] |= 0` is how CUDA reads an element
//! atomically.
//!
//! Of two updates one is first, and the other one finds what it has left. One that only looks
//! leaves what it has found, so what others find of each other is as if it were not there: of
//! claims ([`super::claim`]), marks ([`super::marks`]) and counters ([`super::slot`]). To a counter
//! it adds 0.

use super::super::terms::integers::range_of;
use super::super::walk::{Value, Walk};
use crate::kernel::{ArrayRef, Type};
use crate::op::AtomicOp;

impl Walk<'_> {
    /// Whether an update of integers leaves every number as it is.
    pub(in super::super) fn only_looks(
        &self,
        array: ArrayRef,
        (op, expected): (AtomicOp, Option<&Value>),
        operand: &Value,
    ) -> bool {
        let number = |value: &Value| match value {
            Value::Int(value) => value.as_constant(),
            Value::Cond(_) | Value::Other => None,
        };
        let ty = Type::Scalar(self.kernel.element_type(array));
        let (Some((min, max)), Some(operand)) = (range_of(ty), number(operand)) else {
            return false;
        };
        match op {
            AtomicOp::Add | AtomicOp::Sub | AtomicOp::Or | AtomicOp::Xor => operand == 0,
            AtomicOp::And => operand == min + max,
            AtomicOp::Max => operand == min,
            AtomicOp::Min => operand == max,
            AtomicOp::CompareExchange => expected.and_then(number) == Some(operand),
            AtomicOp::Swap => false,
        }
    }
}
