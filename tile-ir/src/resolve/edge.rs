//! Reads of tensors with an edge rule: which element stands for one that is
//! outside.
//!
//! Such a read is a choice: where the indices are inside, the element; elsewhere
//! the one that the rule names, whose indices are inside unless the tensor is
//! empty. So every check sees which elements are read.

use super::Resolver;
use super::function::copy;
use super::types::Ty;
use crate::kernel::{Access, ArrayRef, Edge, EdgeRule, ExprId, ExprKind, Literal};
use crate::op::BinaryOp;
use crate::span::SpanId;

/// The read of `access`, which has type `ty`.
pub(super) fn resolve_read(cx: &mut Resolver, access: Access, ty: Ty) -> ExprId {
    let span = access.span;
    let tensor = match access.array {
        ArrayRef::Tensor(tensor) => tensor,
        ArrayRef::Tile(_) => return cx.push(ExprKind::Load(access), ty, span),
    };
    let Edge::Rule(rule) = cx.kernel.tensors[tensor].edge else {
        return cx.push(ExprKind::Load(access), ty, span);
    };
    let extents = cx.kernel.tensors[tensor].extents.clone();
    let asked = access.indices.iter().map(|index| copy(cx, *index)).collect();
    let mapped = access.indices.iter().zip(extents);
    let mapped = mapped.map(|(index, extent)| mapped_index(cx, rule, *index, extent, span));
    let mapped = mapped.collect();
    let array = access.array;
    let cond = cx.push(ExprKind::InBounds { tensor, indices: asked }, Ty::BOOL, span);
    let then = cx.push(ExprKind::Load(access), ty, span);
    let other = Access { array, indices: mapped, span };
    let otherwise = cx.push(ExprKind::Load(other), ty, span);
    cx.push(ExprKind::Select { cond, then, otherwise }, ty, span)
}

/// The position along an axis that stands for `index`.
fn mapped_index(
    cx: &mut Resolver,
    rule: EdgeRule,
    index: ExprId,
    extent: ExprId,
    span: SpanId,
) -> ExprId {
    let mut at = At { cx, span };
    let index = at.copy(index);
    let n = at.copy(extent);
    match rule {
        EdgeRule::Clamp => {
            let (one, zero) = (at.number(1), at.number(0));
            let last = at.binary(BinaryOp::Sub, n, one);
            let least = at.binary(BinaryOp::Min, index, last);
            at.binary(BinaryOp::Max, least, zero)
        }
        EdgeRule::Wrap => at.remainder(index, n),
        // Along 0, 1, …, n - 1, …, 1 and again: the period is 2 (n - 1).
        EdgeRule::Reflect => {
            let period = |at: &mut At<'_>| {
                let (n, one, two) = (at.copy(extent), at.number(1), at.number(2));
                let steps = at.binary(BinaryOp::Sub, n, one);
                at.binary(BinaryOp::Mul, steps, two)
            };
            let there = period(&mut at);
            let there = at.remainder(index, there);
            let (back, whole) = (at.copy(there), period(&mut at));
            let back = at.binary(BinaryOp::Sub, whole, back);
            at.binary(BinaryOp::Min, there, back)
        }
    }
}

/// Makes index expressions at one place.
struct At<'c> {
    cx: &'c mut Resolver,
    span: SpanId,
}

impl At<'_> {
    fn copy(&mut self, id: ExprId) -> ExprId {
        copy(self.cx, id)
    }

    fn number(&mut self, value: i128) -> ExprId {
        self.cx.push(ExprKind::Literal(Literal::Int(value)), Ty::INDEX, self.span)
    }

    fn binary(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        self.cx.push(ExprKind::Binary { op, lhs, rhs }, Ty::INDEX, self.span)
    }

    /// `(a % n + n) % n`: at least 0 and below a positive `n`, 0 for `n` 0.
    fn remainder(&mut self, a: ExprId, n: ExprId) -> ExprId {
        let (again, more) = (self.copy(n), self.copy(n));
        let rest = self.binary(BinaryOp::Rem, a, n);
        let sum = self.binary(BinaryOp::Add, rest, more);
        self.binary(BinaryOp::Rem, sum, again)
    }
}
