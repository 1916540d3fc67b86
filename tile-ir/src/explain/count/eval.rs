//! The integers that decide addresses and conditions, in all lanes of a warp.

use super::machine::Machine;
use super::value::Value;
use crate::arena::EntityId as _;
use crate::dtype::DType;
use crate::kernel::{ceil_div, eval_index_binary};
use crate::op::{BinaryOp, CompareOp, LogicOp, UnaryOp};
use crate::program::{ExprId, ExprKind, Literal, Ty};
use crate::semantics;
use crate::value::ScalarValue;

impl Machine<'_> {
    pub(super) fn eval(&mut self, id: ExprId) -> Value {
        let kernel = self.plan.kernel;
        let expr = &kernel.exprs[id];
        match &expr.kind {
            ExprKind::Literal(Literal::Int(value)) => {
                i64::try_from(*value).map_or(Value::Unknown, Value::Same)
            }
            ExprKind::Literal(Literal::Bool(value)) => Value::flag(*value),
            ExprKind::Literal(Literal::Float(_)) | ExprKind::Fma { .. } | ExprKind::Load(_) => {
                Value::Unknown
            }
            ExprKind::Var(var) => self.vars[var.index()].clone(),
            ExprKind::Arg(arg) => self.args[arg.index()].map_or(Value::Unknown, Value::Same),
            ExprKind::Coord { axis, .. } => self.coord(*axis as usize),
            ExprKind::Fragment(fragment) => self.fragment(*fragment),
            ExprKind::Unary { op, operand } => {
                let value = self.eval(*operand);
                match (op, expr.ty) {
                    (UnaryOp::Not, Ty::BOOL) => value.map(|value| Some(1 - value)),
                    (UnaryOp::Neg, Ty::Index(_)) => value.map(i64::checked_neg),
                    (op, ty) => value.map(|value| {
                        let dtype = ty.storage();
                        number(semantics::unary(*op, scalar(dtype, value)?)?)
                    }),
                }
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let (lhs, rhs) = (self.eval(*lhs), self.eval(*rhs));
                self.binary(*op, expr.ty, &lhs, &rhs)
            }
            ExprKind::Compare { op, lhs, rhs } => {
                if !is_integer(kernel.exprs[*lhs].ty) {
                    return Value::Unknown;
                }
                let (lhs, rhs) = (self.eval(*lhs), self.eval(*rhs));
                // An order decides, and is kept over a range where its ends agree.
                self.note_order(&lhs, &rhs);
                let op: CompareOp = *op;
                lhs.zip(&rhs, |a, b| Some(op.holds(a, b).into()))
            }
            ExprKind::Logic { op, lhs, rhs } => {
                let (lhs, rhs) = (self.eval(*lhs), self.eval(*rhs));
                let decides = match op {
                    LogicOp::And => 0,
                    LogicOp::Or => 1,
                };
                match (&lhs, &rhs) {
                    (Value::Same(value), _) | (_, Value::Same(value)) if *value == decides => {
                        Value::Same(decides)
                    }
                    _ => lhs.zip(&rhs, |a, b| Some(if a == decides { a } else { b })),
                }
            }
            ExprKind::Select { cond, then, otherwise } => {
                let cond = self.eval(*cond);
                let (then, otherwise) = (self.eval(*then), self.eval(*otherwise));
                match cond.mask(super::value::Mask::MAX) {
                    Some(0) => otherwise,
                    Some(mask) => then.merged(mask, &otherwise),
                    None if then == otherwise => then,
                    None => Value::Unknown,
                }
            }
            ExprKind::Cast(operand) => {
                let from = kernel.exprs[*operand].ty;
                if !is_integer(from) || !is_integer(expr.ty) {
                    return Value::Unknown;
                }
                let value = self.eval(*operand);
                if expr.ty.is_index() {
                    return value;
                }
                let (from, to) = (held(from), expr.ty.storage());
                value.map(|value| number(semantics::cast(scalar(from, value)?, to)?))
            }
            ExprKind::Math { func, arg } => {
                let dtype = expr.ty.storage();
                let func = *func;
                if !is_integer(expr.ty) {
                    return Value::Unknown;
                }
                let arg = self.eval(*arg);
                self.note_order(&arg, &Value::Same(0));
                arg.map(|value| number(semantics::math(func, scalar(dtype, value)?)?))
            }
            ExprKind::CeilDiv { n, d } => {
                let (n, d) = (self.eval(*n), self.eval(*d));
                self.note_order(&n, &Value::Same(0));
                n.zip(&d, |n, d| i64::try_from(ceil_div(n.into(), d.into())).ok())
            }
            ExprKind::InBounds { buffer, indices } => {
                let extents = self.shapes[buffer.index()].0.clone();
                let mut inside = Value::flag(true);
                for (&index, extent) in indices.iter().zip(extents) {
                    let at = self.eval(index);
                    self.note_order(&at, &Value::Same(0));
                    self.note_order(&at, &Value::Same(extent));
                    let fits = at.map(|at| Some((0..extent).contains(&at).into()));
                    inside = inside.zip(&fits, |a, b| Some(a & b));
                }
                inside
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, ty: Ty, lhs: &Value, rhs: &Value) -> Value {
        match ty {
            Ty::Index(_) => {
                match op {
                    // Truncation is towards 0.
                    BinaryOp::Div | BinaryOp::Rem => self.note_order(lhs, &Value::Same(0)),
                    BinaryOp::Min | BinaryOp::Max => self.note_order(lhs, rhs),
                    _ => {}
                }
                match op {
                    BinaryOp::Add => lhs.zip(rhs, i64::checked_add),
                    BinaryOp::Sub => lhs.zip(rhs, i64::checked_sub),
                    BinaryOp::Mul => lhs.zip(rhs, i64::checked_mul),
                    op => lhs.zip(rhs, |a, b| {
                        i64::try_from(eval_index_binary(op, a.into(), b.into())?).ok()
                    }),
                }
            }
            Ty::Scalar(dtype) if is_integer(ty) => lhs.zip(rhs, |a, b| {
                number(semantics::binary(op, scalar(dtype, a)?, scalar(dtype, b)?)?)
            }),
            Ty::Scalar(_) => Value::Unknown,
        }
    }

    /// Enters into the trace in which lanes the one is less, and in which more.
    pub(super) fn note_order(&mut self, lhs: &Value, rhs: &Value) {
        let active = self.active;
        let less = lhs.zip(rhs, |a, b| Some((a < b).into())).mask(active);
        let more = lhs.zip(rhs, |a, b| Some((a > b).into())).mask(active);
        let (less, more) = (less.unwrap_or(0), more.unwrap_or(0));
        self.tally.note(u64::from(less) << 32 | u64::from(more));
    }
}

/// The type in which a value is held: indices in 64 bits.
fn held(ty: Ty) -> DType {
    if ty.is_index() { DType::I64 } else { ty.storage() }
}

/// Whether it is computed with here: an integer, an index or a condition.
pub(super) fn is_integer(ty: Ty) -> bool {
    !ty.storage().is_float()
}

/// A number of an integer type; `None` of a `u64` beyond those of an `i64`.
fn scalar(dtype: DType, value: i64) -> Option<ScalarValue> {
    semantics::cast(ScalarValue { dtype: DType::I64, bits: value.cast_unsigned() }, dtype).or_else(
        || (dtype == DType::Bool).then_some(ScalarValue { dtype, bits: (value & 1) as u64 }),
    )
}

/// The number that a value of an integer type is, or a condition's 0 or 1.
pub(super) fn number(value: ScalarValue) -> Option<i64> {
    if value.dtype == DType::U64 {
        return i64::try_from(value.bits).ok();
    }
    semantics::cast(value, DType::I64).map(|value| value.bits.cast_signed())
}
