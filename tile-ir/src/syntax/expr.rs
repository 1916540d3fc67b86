//! Expressions as written.

use super::{Name, TypeExpr, ValueLet};
use crate::op::{BinaryOp, CompareOp, LogicOp, UnaryOp};
use crate::span::SpanId;

/// An expression with its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// The whole expression.
    pub span: SpanId,
}

/// A literal as written; a suffix (`1.0f32`, `3u8`) is kept as its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// An integer literal.
    Int {
        /// Its value.
        value: u128,
        /// The suffix, e.g. `u8`.
        suffix: Option<Name>,
    },
    /// A literal with a decimal point or exponent.
    Float {
        /// Its value, rounded to `f64`.
        value: f64,
        /// The suffix, e.g. `f32`.
        suffix: Option<Name>,
    },
    /// `true` or `false`.
    Bool(bool),
}

/// `T::MAX`, `f32::INFINITY`, `Acc<T>::MAX`: a constant of a type.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The type.
    pub ty: TypeExpr,
    /// The constant's name.
    pub constant: Name,
}

/// The forms of an expression. Parentheses leave no node.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A literal.
    Literal(Literal),
    /// A plain name.
    Name(Name),
    /// `T::MAX`.
    Path(Path),
    /// `a[i, j]`: an element of a tensor, a tile or a local array.
    Index {
        /// The array.
        array: Name,
        /// One expression per axis.
        indices: Vec<Expr>,
    },
    /// `-a`, `!a`.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Its operand.
        operand: Box<Expr>,
    },
    /// `a + b` and so on; `min(a, b)` arrives as [`ExprKind::Call`].
    Binary {
        /// The operator, never `Min` or `Max`.
        op: BinaryOp,
        /// Left operand.
        lhs: Box<Expr>,
        /// Right operand.
        rhs: Box<Expr>,
    },
    /// `a < b` and so on.
    Compare {
        /// The operator.
        op: CompareOp,
        /// Left operand.
        lhs: Box<Expr>,
        /// Right operand.
        rhs: Box<Expr>,
    },
    /// `a && b`, `a || b`.
    Logic {
        /// The operator.
        op: LogicOp,
        /// Left operand.
        lhs: Box<Expr>,
        /// Right operand.
        rhs: Box<Expr>,
    },
    /// `e as f32`.
    Cast {
        /// What is converted.
        operand: Box<Expr>,
        /// To which type.
        ty: TypeExpr,
    },
    /// `f(a, b)`: a built-in function by name (`min`, `sqrt`, `tiles`, `in_bounds`, …).
    Call {
        /// The function.
        func: Name,
        /// Its arguments.
        args: Vec<Expr>,
    },
    /// `a.min(b)`: the receiver is the first argument.
    Method {
        /// The method.
        func: Name,
        /// The receiver, then the arguments.
        args: Vec<Expr>,
    },
    /// `if c { a } else { b }` used for its value.
    If {
        /// The condition.
        cond: Box<Expr>,
        /// Value where it holds.
        then: Box<Expr>,
        /// Value where it does not.
        otherwise: Box<Expr>,
    },
    /// `{ let y = e; y * y }`: an arm of an `if` used for its value.
    Block {
        /// The values that it names, at least one.
        lets: Vec<ValueLet>,
        /// Its value.
        value: Box<Expr>,
    },
}
