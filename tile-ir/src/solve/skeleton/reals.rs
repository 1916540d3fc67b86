//! How far floating-point numbers go, whatever data is.
//!
//! The larger and the smaller of two is no NaN unless both are: `min(max(a[i], 0.0), 1.0)` is a
//! number from 0 to 1. Of most else nothing is known.

use super::plain::Plain;
use crate::kernel::{ExprId, ExprKind, Literal, Type};
use crate::op::{BinaryOp, MathFn};

/// How deep expressions are looked into.
const MAX_DEPTH: u32 = 16;

/// What a floating-point expression may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reals {
    least: f64,
    most: f64,
    /// Whether it may be no number.
    pub(super) has_nan: bool,
}

impl Reals {
    const ANY: Self = Self { least: f64::NEG_INFINITY, most: f64::INFINITY, has_nan: true };

    /// Those that an expression may be.
    pub(super) fn of(plain: &Plain<'_>, expr: ExprId) -> Self {
        within(plain, expr, MAX_DEPTH)
    }

    pub(super) fn has(self, value: f64) -> bool {
        if value.is_nan() { self.has_nan } else { self.least <= value && value <= self.most }
    }

    const fn from_to(least: f64, most: f64) -> Self {
        Self { least, most, has_nan: false }
    }

    fn or(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            has_nan: self.has_nan || other.has_nan,
        }
    }

    /// The smaller of two: the one that is a number where the other is none.
    fn smaller(self, other: Self) -> Self {
        let mut most = self.most.min(other.most);
        if self.has_nan {
            most = most.max(other.most);
        }
        if other.has_nan {
            most = most.max(self.most);
        }
        let has_nan = self.has_nan && other.has_nan;
        Self { least: self.least.min(other.least), most, has_nan }
    }

    fn negated(self) -> Self {
        Self { least: -self.most, most: -self.least, ..self }
    }
}

fn within(plain: &Plain<'_>, expr: ExprId, depth: u32) -> Reals {
    let Some(depth) = depth.checked_sub(1) else { return Reals::ANY };
    let of = |part: ExprId| within(plain, part, depth);
    match &plain.kernel.exprs[expr].kind {
        ExprKind::Literal(Literal::Float(value)) => Reals::from_to(*value, *value),
        ExprKind::Literal(Literal::Int(value)) => Reals::from_to(*value as f64, *value as f64),
        ExprKind::Var(var) => plain.lets.get(var).map_or(Reals::ANY, |init| of(*init)),
        ExprKind::Cast(operand) => match plain.kernel.exprs[*operand].ty {
            // Half floats round large integers to infinity.
            from if from == Type::Index || from.integer_range().is_some() => {
                let least = from.integer_range().map_or(f64::NEG_INFINITY, |(min, _)| {
                    if min < 0 { f64::NEG_INFINITY } else { 0.0 }
                });
                Reals::from_to(least, f64::INFINITY)
            }
            _ => Reals::ANY,
        },
        ExprKind::Uniform(operand) => of(*operand),
        ExprKind::Select { then, otherwise, .. } => of(*then).or(of(*otherwise)),
        ExprKind::Binary { op: BinaryOp::Min, lhs, rhs } => of(*lhs).smaller(of(*rhs)),
        ExprKind::Binary { op: BinaryOp::Max, lhs, rhs } => {
            of(*lhs).negated().smaller(of(*rhs).negated()).negated()
        }
        ExprKind::Math { func: MathFn::Abs, arg } => {
            Reals { least: 0.0, most: f64::INFINITY, ..of(*arg) }
        }
        _ => Reals::ANY,
    }
}
