//! Expressions of a program.

use std::fmt;

use super::{Access, ArgId, BufferId, DomainId, ExprId, FragmentId, VarId};
use crate::dtype::DType;
use crate::op::{BinaryOp, CompareOp, LogicOp, MathFn, UnaryOp};

/// Width of an index in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexWidth {
    /// 32 bits: proved never to leave them.
    Bits32,
    /// 64 bits.
    Bits64,
}

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ty {
    /// A scalar of the language: integers wrap, as the language says.
    Scalar(DType),
    /// An index: signed, never overflows.
    Index(IndexWidth),
}

impl Ty {
    /// The type of conditions.
    pub const BOOL: Self = Self::Scalar(DType::Bool);
    /// A 32-bit index.
    pub const INDEX32: Self = Self::Index(IndexWidth::Bits32);
    /// A 64-bit index.
    pub const INDEX64: Self = Self::Index(IndexWidth::Bits64);

    /// The scalar type that holds it: `i32` or `i64` for an index.
    pub const fn storage(self) -> DType {
        match self {
            Self::Scalar(dtype) => dtype,
            Self::Index(IndexWidth::Bits32) => DType::I32,
            Self::Index(IndexWidth::Bits64) => DType::I64,
        }
    }

    /// Whether it is an index type.
    pub const fn is_index(self) -> bool {
        matches!(self, Self::Index(_))
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(dtype) => write!(f, "{dtype}"),
            Self::Index(IndexWidth::Bits32) => f.write_str("index32"),
            Self::Index(IndexWidth::Bits64) => f.write_str("index64"),
        }
    }
}

/// A constant, already in the range of its type; floats are exact in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// Of an integer or index type.
    Int(i128),
    /// Of a floating-point type: the value, rounded to that type.
    Float(f64),
    /// Of type `bool`.
    Bool(bool),
}

/// An expression. Operands have smaller ids than their user.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Type of the value.
    pub ty: Ty,
}

/// The operations of a program's expressions. All are total: what an operation
/// gives on every operand is defined in [`crate::op`].
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A constant.
    Literal(Literal),
    /// A variable.
    Var(VarId),
    /// A launch argument.
    Arg(ArgId),
    /// The present item's coordinate along an axis of the enclosing
    /// [`super::StmtKind::Items`]'s domain; a 32-bit index.
    Coord {
        /// The enclosing domain.
        domain: DomainId,
        /// The axis.
        axis: u32,
    },
    /// The present item's register of a fragment. Within an `Items` of the
    /// fragment's domain.
    Fragment(FragmentId),
    /// Reads memory.
    Load(Access),
    /// Prefix operator.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand, of the result's type.
        operand: ExprId,
    },
    /// Binary operator on operands of the result's type.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Left operand.
        lhs: ExprId,
        /// Right operand.
        rhs: ExprId,
    },
    /// `a * b + c` (or with a negated operand) rounded once; `f32` and `f64`.
    Fma {
        /// First factor.
        a: ExprId,
        /// Second factor.
        b: ExprId,
        /// Summand.
        c: ExprId,
    },
    /// Comparison of operands of one type; the result is `bool`.
    Compare {
        /// The operator.
        op: CompareOp,
        /// Left operand.
        lhs: ExprId,
        /// Right operand.
        rhs: ExprId,
    },
    /// `&&`, `||`; the right operand only where it decides.
    Logic {
        /// The operator.
        op: LogicOp,
        /// Left operand.
        lhs: ExprId,
        /// Right operand.
        rhs: ExprId,
    },
    /// One of two values; only the chosen one is evaluated.
    Select {
        /// A `bool`.
        cond: ExprId,
        /// Value where it holds.
        then: ExprId,
        /// Value where it does not.
        otherwise: ExprId,
    },
    /// Converts to the expression's type, with the language's rules; between
    /// index widths the value is known to fit.
    Cast(ExprId),
    /// A function of one argument of the result's type.
    Math {
        /// The function.
        func: MathFn,
        /// Its argument.
        arg: ExprId,
    },
    /// `ceil(n / d)` of indices, `d` positive; 0 where `n` is negative.
    CeilDiv {
        /// What is divided up.
        n: ExprId,
        /// Into pieces of this many.
        d: ExprId,
    },
    /// Whether an element is inside a buffer's shape.
    InBounds {
        /// The buffer.
        buffer: BufferId,
        /// One index per axis.
        indices: Vec<ExprId>,
    },
}

impl ExprKind {
    /// Calls `f` on each expression directly inside.
    pub fn for_each_operand(&self, f: &mut impl FnMut(ExprId)) {
        match self {
            Self::Literal(_)
            | Self::Var(_)
            | Self::Arg(_)
            | Self::Coord { .. }
            | Self::Fragment(_) => {}
            Self::Load(access) => access.for_each_expr(f),
            Self::Unary { operand, .. } | Self::Cast(operand) => f(*operand),
            Self::Math { arg, .. } => f(*arg),
            Self::Binary { lhs, rhs, .. }
            | Self::Compare { lhs, rhs, .. }
            | Self::Logic { lhs, rhs, .. } => [lhs, rhs].into_iter().copied().for_each(f),
            Self::Fma { a, b, c } => [a, b, c].into_iter().copied().for_each(f),
            Self::Select { cond, then, otherwise } => {
                [cond, then, otherwise].into_iter().copied().for_each(f);
            }
            Self::CeilDiv { n, d } => [n, d].into_iter().copied().for_each(f),
            Self::InBounds { indices, .. } => indices.iter().copied().for_each(f),
        }
    }
}
