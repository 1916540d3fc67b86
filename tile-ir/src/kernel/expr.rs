//! Expressions of a kernel.

use serde::{Deserialize, Serialize};

use super::{Access, ArrayRef, Edge, ExprId, Kernel, TensorId, Type, VarId};
use crate::op::{BinaryOp, CompareOp, LogicOp, MathFn, NamedConst, UnaryOp};
use crate::span::SpanId;

/// An expression with its type and source.
///
/// Expressions form trees within the kernel's arena: an operand has a smaller
/// id than its user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Type of the value.
    pub ty: Type,
    /// The whole expression in the source.
    pub span: SpanId,
}

/// A constant. Its type is the expression's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Literal {
    /// An integer, used at any number type or as an index.
    Int(i128),
    /// A floating-point number, rounded once to the type of its expression.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// `T::MAX` and its relatives.
    Named(NamedConst),
}

/// The operations of a kernel's expressions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ExprKind {
    /// A constant.
    Literal(Literal),
    /// The value of a variable, dimension, parameter or counter.
    Var(VarId),
    /// Reads an element.
    ///
    /// Outside a tensor's shape it is the tensor's pad value
    /// ([`super::Edge`]). Outside a tile it is an error that the checks report.
    Load(Access),
    /// Prefix operator. `-` on numbers, `!` on `bool` and integers.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand, of the result's type.
        operand: ExprId,
    },
    /// Binary operator on operands of the result's type (a shift's count too).
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Left operand.
        lhs: ExprId,
        /// Right operand.
        rhs: ExprId,
    },
    /// Comparison of two operands of one type; the result is `bool`.
    Compare {
        /// The operator.
        op: CompareOp,
        /// Left operand.
        lhs: ExprId,
        /// Right operand.
        rhs: ExprId,
    },
    /// `&&` and `||` on `bool`; the right operand only where it decides.
    Logic {
        /// The operator.
        op: LogicOp,
        /// Left operand.
        lhs: ExprId,
        /// Right operand.
        rhs: ExprId,
    },
    /// One of two values of the result's type; only the chosen one is evaluated.
    Select {
        /// A `bool`.
        cond: ExprId,
        /// Value where it holds.
        then: ExprId,
        /// Value where it does not.
        otherwise: ExprId,
    },
    /// Converts to the expression's type, as Rust's `as` does (floats to
    /// integers saturate, NaN is 0); to and from [`Type::Index`] likewise, as
    /// if it were `i64`.
    ///
    /// A conversion that the text does not show has its operand's span.
    Cast(ExprId),
    /// A function of one argument of the result's type.
    Math {
        /// The function.
        func: MathFn,
        /// Its argument.
        arg: ExprId,
    },
    /// `uniform(e)`: the value of `e`, which is the same for all work-items of the
    /// block: it names nothing of one work-item, and no element that it reads is
    /// written in the present barrier interval.
    ///
    /// All work-items of the block come by, and each reads: to the race rules it
    /// is a read by all. It is no barrier.
    Uniform(ExprId),
    /// `tiles(n, t)`: `ceil(n / t)`, an index. `t` is positive; of a negative
    /// `n` it is 0.
    Tiles {
        /// What is divided up.
        extent: ExprId,
        /// Into pieces of this many.
        tile: ExprId,
    },
    /// `in_bounds(a[i, j])`: whether all indices are inside the tensor's shape.
    InBounds {
        /// The tensor.
        tensor: TensorId,
        /// One index per axis.
        indices: Vec<ExprId>,
    },
}

impl ExprKind {
    /// The expressions directly inside, in order of evaluation; of a load and
    /// of `in_bounds`, the indices.
    pub fn operands(&self) -> Vec<ExprId> {
        match self {
            Self::Literal(_) | Self::Var(_) => Vec::new(),
            Self::Load(access) => access.indices.clone(),
            Self::InBounds { indices, .. } => indices.clone(),
            Self::Unary { operand, .. } | Self::Cast(operand) | Self::Uniform(operand) => {
                vec![*operand]
            }
            Self::Math { arg, .. } => vec![*arg],
            Self::Binary { lhs, rhs, .. }
            | Self::Compare { lhs, rhs, .. }
            | Self::Logic { lhs, rhs, .. } => vec![*lhs, *rhs],
            Self::Select { cond, then, otherwise } => vec![*cond, *then, *otherwise],
            Self::Tiles { extent, tile } => vec![*extent, *tile],
        }
    }
}

impl Kernel {
    /// The read that the author wrote, of a choice that resolution has made of it:
    /// the element where the indices are inside, else the one that the tensor's
    /// [`super::EdgeRule`] names.
    pub fn read_at_edge(&self, id: ExprId) -> Option<&Access> {
        let ExprKind::Select { cond, then, otherwise } = &self.exprs[id].kind else { return None };
        let ExprKind::InBounds { tensor, indices } = &self.exprs[*cond].kind else { return None };
        let ExprKind::Load(access) = &self.exprs[*then].kind else { return None };
        let ExprKind::Load(other) = &self.exprs[*otherwise].kind else { return None };
        let array = ArrayRef::Tensor(*tensor);
        let is_one = matches!(self.tensors[*tensor].edge, Edge::Rule(_))
            && access.array == array
            && other.array == array
            && indices.len() == access.indices.len()
            && indices.iter().zip(&access.indices).all(|(a, b)| self.is_same(*a, *b));
        is_one.then_some(access)
    }

    /// Whether an expression is what is no number, with which nothing compares but by `!=`.
    pub(crate) fn is_nan(&self, expr: ExprId) -> bool {
        self.exprs[expr].kind == ExprKind::Literal(Literal::Named(NamedConst::Nan))
    }

    /// Whether two expressions are written alike, apart from where.
    pub(crate) fn is_same(&self, a: ExprId, b: ExprId) -> bool {
        self.is_same_by(a, b, &|expr| expr)
    }

    /// The same, where each part stands for what `meant` gives of it.
    pub(crate) fn is_same_by(
        &self,
        a: ExprId,
        b: ExprId,
        meant: &dyn Fn(ExprId) -> ExprId,
    ) -> bool {
        let (a, b) = (&self.exprs[meant(a)], &self.exprs[meant(b)]);
        let alike = match (&a.kind, &b.kind) {
            (ExprKind::Literal(a), ExprKind::Literal(b)) => a == b,
            (ExprKind::Var(a), ExprKind::Var(b)) => a == b,
            (ExprKind::Load(a), ExprKind::Load(b)) => a.array == b.array,
            (ExprKind::Unary { op: a, .. }, ExprKind::Unary { op: b, .. }) => a == b,
            (ExprKind::Binary { op: a, .. }, ExprKind::Binary { op: b, .. }) => a == b,
            (ExprKind::Compare { op: a, .. }, ExprKind::Compare { op: b, .. }) => a == b,
            (ExprKind::Logic { op: a, .. }, ExprKind::Logic { op: b, .. }) => a == b,
            (ExprKind::Math { func: a, .. }, ExprKind::Math { func: b, .. }) => a == b,
            (ExprKind::InBounds { tensor: a, .. }, ExprKind::InBounds { tensor: b, .. }) => a == b,
            (ExprKind::Select { .. }, ExprKind::Select { .. })
            | (ExprKind::Cast(_), ExprKind::Cast(_))
            | (ExprKind::Uniform(_), ExprKind::Uniform(_))
            | (ExprKind::Tiles { .. }, ExprKind::Tiles { .. }) => true,
            _ => false,
        };
        let (parts, others) = (a.kind.operands(), b.kind.operands());
        alike
            && a.ty == b.ty
            && parts.len() == others.len()
            && parts.into_iter().zip(others).all(|(a, b)| self.is_same_by(a, b, meant))
    }
}
