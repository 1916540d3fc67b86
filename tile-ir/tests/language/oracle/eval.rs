//! What expressions come to: whole numbers as the language has them; of other numbers
//! nothing is known but of small whole ones, as they are written or cast.

use tile_ir::dtype::DType;
use tile_ir::kernel::{ArrayRef, Edge, ElemType, ExprId, ExprKind, Literal, Order, Type};
use tile_ir::op::{BinaryOp, CompareOp, LogicOp, UnaryOp};

use super::run::{Kind, Machine, Step, Unfit};

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Int(i64),
    Bool(bool),
    Float,
}

impl Value {
    pub(super) fn int(self) -> i64 {
        match self {
            Self::Int(value) => value,
            Self::Bool(value) => i64::from(value),
            Self::Float => 0,
        }
    }

    pub(super) fn is_true(self) -> bool {
        self == Self::Bool(true)
    }
}

impl Machine<'_> {
    pub(super) fn eval(&mut self, id: ExprId) -> Step<Value> {
        let kernel = self.kernel;
        let expr = &kernel.exprs[id];
        Ok(match &expr.kind {
            ExprKind::Literal(Literal::Int(value)) => match i64::try_from(*value) {
                Ok(value) if is_exact(value.into(), expr.ty) => Value::Int(value),
                Ok(_) | Err(_) => Value::Float,
            },
            ExprKind::Literal(Literal::Bool(value)) => Value::Bool(*value),
            ExprKind::Literal(Literal::Float(_) | Literal::Named(_)) => Value::Float,
            ExprKind::Var(var) => match self.launch.values.get(var) {
                Some(value) => Value::Int(*value),
                None => self.vars.get(var).copied().unwrap_or(Value::Float),
            },
            ExprKind::Load(access) => {
                let indices = self.indices(&access.indices)?;
                self.enter(access.array, &indices, Kind::Read)?;
                if self.kernel.is_local(access.array) {
                    self.kept(access.array, &indices)
                } else if !is_whole(expr.ty) {
                    Value::Float
                } else if self.is_inside(access.array, &indices)? {
                    self.found(access.array, &indices)
                } else {
                    self.pad(access.array)?
                }
            }
            ExprKind::Unary { op, operand } => match (op, self.eval(*operand)?) {
                (UnaryOp::Neg, Value::Int(value)) => wrapped(-i128::from(value), expr.ty),
                (UnaryOp::Not, Value::Bool(value)) => Value::Bool(!value),
                (UnaryOp::Not, Value::Int(value)) => wrapped((!value).into(), expr.ty),
                (UnaryOp::Neg | UnaryOp::Not, _) => Value::Float,
            },
            ExprKind::Binary { op, lhs, rhs } => {
                let (lhs, rhs) = (self.eval(*lhs)?, self.eval(*rhs)?);
                self.known(binary(*op, lhs, rhs, expr.ty), expr.ty)?
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let (a, b) = (self.eval(*lhs)?.int(), self.eval(*rhs)?.int());
                Value::Bool(match op {
                    CompareOp::Lt => a < b,
                    CompareOp::Le => a <= b,
                    CompareOp::Gt => a > b,
                    CompareOp::Ge => a >= b,
                    CompareOp::Eq => a == b,
                    CompareOp::Ne => a != b,
                })
            }
            ExprKind::Logic { op, lhs, rhs } => {
                let lhs = self.eval(*lhs)?;
                let decided = lhs.is_true() == (*op == LogicOp::Or);
                if decided { lhs } else { self.eval(*rhs)? }
            }
            ExprKind::Select { cond, then, otherwise } => {
                let arm = if self.eval(*cond)?.is_true() { then } else { otherwise };
                self.eval(*arm)?
            }
            ExprKind::Cast(operand) => match self.eval(*operand)? {
                Value::Int(value) => cast(value, expr.ty),
                Value::Bool(value) => cast(value.into(), expr.ty),
                Value::Float => self.known(Value::Float, expr.ty)?,
            },
            ExprKind::Uniform(operand) => self.eval(*operand)?,
            ExprKind::Math { .. } => self.known(Value::Float, expr.ty)?,
            ExprKind::Tiles { extent, tile } => {
                let (extent, tile) = (self.eval(*extent)?.int(), self.eval(*tile)?.int());
                Value::Int(if tile > 0 { (extent + tile - 1).div_euclid(tile).max(0) } else { 0 })
            }
            ExprKind::InBounds { tensor, indices } => {
                let indices = self.indices(indices)?;
                Value::Bool(self.is_inside(ArrayRef::Tensor(*tensor), &indices)?)
            }
        })
    }

    /// What a cell of whole numbers holds.
    pub(super) fn found(&self, array: ArrayRef, indices: &[i64]) -> Value {
        self.held(array, indices, self.loaded(array, indices))
    }

    /// A value, if of a whole number it is known.
    fn known(&self, value: Value, ty: Type) -> Step<Value> {
        if value == Value::Float && is_whole(ty) { Err(Unfit) } else { Ok(value) }
    }

    /// What an element of a work-item's own array holds.
    fn kept(&self, array: ArrayRef, indices: &[i64]) -> Value {
        self.kept.get(&(array, indices.to_vec())).copied().unwrap_or(Value::Float)
    }

    /// What a read outside of a tensor gives.
    pub(super) fn pad(&mut self, array: ArrayRef) -> Step<Value> {
        let ArrayRef::Tensor(tensor) = array else { return Err(Unfit) };
        match self.kernel.tensors[tensor].edge {
            Edge::Pad(value) => self.eval(value),
            Edge::DefaultPad | Edge::Rule(_) => Ok(Value::Int(0)),
        }
    }

    /// A small number that depends on the element alone; of elements that are assumed to
    /// differ, another one each, and rising ones of those that are assumed to rise.
    fn loaded(&self, array: ArrayRef, indices: &[i64]) -> Value {
        let promises = &self.kernel.promises;
        let promise = promises.iter().find(|own| ArrayRef::Tensor(own.tensor) == array);
        match (indices, promise.map(|own| own.order)) {
            ([index], Some(Order::Distinct)) => {
                return Value::Int(index ^ (self.launch.seed % 4) as i64);
            }
            ([index], Some(Order::Sorted)) => {
                let seed = (self.launch.seed % 4) as i64;
                return Value::Int(index * (seed + 1) / 2);
            }
            _ => {}
        }
        let mix = |hash: u64, index: &i64| {
            let hash = (hash ^ *index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (hash ^ hash >> 32).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        };
        let hash = indices.iter().fold(self.launch.seed, mix);
        Value::Int((hash >> 32) as i64 % 5)
    }
}

/// The type of a whole number of so many bits.
fn integer(ty: Type) -> Option<DType> {
    let Type::Scalar(ElemType::Concrete(dtype)) = ty else { return None };
    dtype.is_integer().then_some(dtype)
}

fn is_whole(ty: Type) -> bool {
    ty == Type::Index || integer(ty).is_some()
}

/// Whether each type of numbers has this one, so that it stays what it is in a type.
fn is_exact(value: i128, ty: Type) -> bool {
    is_whole(ty) || (0..128).contains(&value)
}

/// A whole number as one of a type.
fn cast(value: i64, ty: Type) -> Value {
    let is_kept = !is_whole(ty) && is_exact(value.into(), ty);
    if is_kept { Value::Int(value) } else { wrapped(value.into(), ty) }
}

fn wrapped(value: i128, ty: Type) -> Value {
    match integer(ty).and_then(DType::integer_range) {
        Some((min, max)) => Value::Int(((value - min).rem_euclid(max - min + 1) + min) as i64),
        None if ty == Type::Index => Value::Int(value as i64),
        None => Value::Float,
    }
}

pub(super) fn binary(op: BinaryOp, lhs: Value, rhs: Value, ty: Type) -> Value {
    let (Value::Int(a), Value::Int(b)) = (lhs, rhs) else { return Value::Float };
    let (a, b) = (i128::from(a), i128::from(b));
    let width = integer(ty).map_or(64, |dtype| i128::from(dtype.size_bytes()) * 8);
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div if b == 0 => 0,
        BinaryOp::Rem if b == 0 => 0,
        BinaryOp::Div => a / b,
        BinaryOp::Rem => a % b,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl => a << b.rem_euclid(width),
        BinaryOp::Shr => a >> b.rem_euclid(width),
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
        BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot | BinaryOp::Copysign => {
            return Value::Float;
        }
    };
    wrapped(value, ty)
}
