//! What expressions make of values.

use std::collections::BTreeMap;

use super::state::State;
use super::value::{Effect, Outside, Value};
use super::{Flow, is_exact};
use crate::check::poly::Poly;
use crate::dtype::DType;
use crate::kernel::{
    Access, ArrayRef, Edge, ElemType, ExprId, ExprKind, Literal, Source, TensorId, Type,
};
use crate::op::{BinaryOp, LogicOp, MathFn, UnaryOp};

impl Flow<'_> {
    pub(super) fn value(&mut self, id: ExprId, state: &State) -> Value {
        let expr = &self.kernel.exprs[id];
        let exact = is_exact(self.kernel, expr.ty);
        match &expr.kind {
            ExprKind::Literal(literal) => {
                let is_zero = matches!(literal, Literal::Int(0) | Literal::Bool(false))
                    || *literal == Literal::Float(0.0);
                let is_number = matches!(literal, Literal::Int(_) | Literal::Float(_)) && !is_zero;
                Value { under: BTreeMap::new(), is_zero, is_number, is_finite: true }
            }
            ExprKind::Var(var) => {
                let value = state.vars.get(var).cloned().unwrap_or_default();
                value.within(&self.bounds, &self.facts)
            }
            ExprKind::Load(access) => {
                let mut value = match access.array {
                    ArrayRef::Tensor(tensor) => self.padded(Source::Load(id), tensor, access),
                    ArrayRef::Tile(_) => self.element(access, state),
                };
                for index in &access.indices {
                    let of_index = self.value(*index, state);
                    value = value.with_control(&of_index);
                }
                value
            }
            ExprKind::Unary { op, operand } => {
                self.value(*operand, state).map_value(*op == UnaryOp::Neg)
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let (left, right) = (self.value(*lhs, state), self.value(*rhs, state));
                let mut value = left.binary(*op, &right, exact);
                if *op == BinaryOp::Mul {
                    value.note_factor(&left, *rhs);
                    value.note_factor(&right, *lhs);
                }
                value
            }
            ExprKind::Select { cond, then, otherwise } => {
                let decides = self.value(*cond, state);
                let then = self.value_under(*cond, true, *then, state);
                let otherwise = self.value_under(*cond, false, *otherwise, state);
                then.join(&otherwise).with_control(&decides)
            }
            ExprKind::Cast(operand) => {
                let mut value = self.value(*operand, state);
                let of = self.kernel.exprs[*operand].ty;
                value.is_finite = is_exact(self.kernel, of) && holds_all_integers(expr.ty);
                value
            }
            ExprKind::Uniform(operand) => self.value(*operand, state),
            ExprKind::Math { func, arg } => self.value(*arg, state).map_value(keeps_zero(*func)),
            ExprKind::Logic { op, lhs, rhs } => {
                let decides = self.value(*lhs, state);
                let rhs = self.value_under(*lhs, *op == LogicOp::And, *rhs, state);
                Value::default().with_control(&decides).with_control(&rhs)
            }
            ExprKind::Compare { .. } | ExprKind::Tiles { .. } | ExprKind::InBounds { .. } => {
                let operands = expr.kind.operands().into_iter();
                operands.fold(Value::default(), |all, operand| {
                    let value = self.value(operand, state);
                    all.with_control(&value)
                })
            }
        }
    }

    fn value_under(&mut self, cond: ExprId, holds: bool, id: ExprId, state: &State) -> Value {
        let known = self.facts.len();
        self.learn(cond, holds);
        let value = self.value(id, state);
        self.facts.truncate(known);
        value
    }

    /// A read of a tensor: 0 where it may be outside.
    pub(super) fn padded(&mut self, source: Source, tensor: TensorId, access: &Access) -> Value {
        let mut value = Value::default();
        let tensor = &self.kernel.tensors[tensor];
        if tensor.edge != Edge::DefaultPad {
            return value;
        }
        for (axis, (index, extent)) in access.indices.iter().zip(&tensor.extents).enumerate() {
            let (index, extent) = (self.bounds.poly(*index), self.bounds.poly(*extent));
            for outside in [Outside::Below(index.clone()), Outside::Above(index, extent)] {
                value.insert(outside, Effect::of_read((source, axis)));
            }
        }
        value.within(&self.bounds, &self.facts)
    }

    /// What a tile's element may hold.
    pub(super) fn element(&mut self, access: &Access, state: &State) -> Value {
        let ArrayRef::Tile(tile) = access.array else { return Value::default() };
        let read: Vec<Poly> = access.indices.iter().map(|id| self.bounds.poly(*id)).collect();
        let cells = state.tiles.get(&tile).map(Vec::as_slice).unwrap_or_default();
        let values = cells.iter().map(|cells| cells.value_at(&read));
        let value = values.reduce(|all, value| all.join(&value)).unwrap_or_default();
        let is_own = self.kernel.is_local(access.array);
        let value = if is_own { value } else { value.handed_on() };
        value.within(&self.bounds, &self.facts)
    }
}

/// Whether every integer is some finite number of the type: of 16 bits not all are.
fn holds_all_integers(ty: Type) -> bool {
    match ty {
        Type::Index => true,
        Type::Scalar(ElemType::Concrete(dtype)) => dtype != DType::F16,
        Type::Scalar(ElemType::Param(_) | ElemType::Acc(_)) => false,
    }
}

/// Whether a function of 0 is 0.
const fn keeps_zero(func: MathFn) -> bool {
    match func {
        MathFn::Abs
        | MathFn::Sqrt
        | MathFn::Sin
        | MathFn::Tanh
        | MathFn::Floor
        | MathFn::Ceil
        | MathFn::ExpM1
        | MathFn::Ln1p
        | MathFn::Tan
        | MathFn::Asin
        | MathFn::Atan
        | MathFn::Sinh
        | MathFn::Cbrt
        | MathFn::Round
        | MathFn::RoundTiesEven
        | MathFn::Trunc
        | MathFn::Fract
        | MathFn::Erf
        | MathFn::CountOnes
        | MathFn::ReverseBits => true,
        // The sign of a float's zero is 1.
        MathFn::Signum
        | MathFn::Rsqrt
        | MathFn::Exp
        | MathFn::Log
        | MathFn::Cos
        | MathFn::Exp2
        | MathFn::Log2
        | MathFn::Log10
        | MathFn::Acos
        | MathFn::Cosh
        | MathFn::LeadingZeros
        | MathFn::TrailingZeros => false,
    }
}
