//! Rust's precedence of operators: where printed expressions need parentheses.

use crate::op::{BinaryOp, LogicOp};

/// How tightly an expression's parts hold together, as in Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Lowest,
    LogicOr,
    LogicAnd,
    Compare,
    Or,
    Xor,
    And,
    Shift,
    Sum,
    Product,
    Cast,
    Prefix,
    Atom,
}

impl Level {
    /// The next tighter level: what the right operand of a left-associative
    /// operator has to be of.
    pub(crate) const fn tighter(self) -> Self {
        match self {
            Self::Lowest => Self::LogicOr,
            Self::LogicOr => Self::LogicAnd,
            Self::LogicAnd => Self::Compare,
            Self::Compare => Self::Or,
            Self::Or => Self::Xor,
            Self::Xor => Self::And,
            Self::And => Self::Shift,
            Self::Shift => Self::Sum,
            Self::Sum => Self::Product,
            Self::Product => Self::Cast,
            Self::Cast => Self::Prefix,
            Self::Prefix | Self::Atom => Self::Atom,
        }
    }

    /// The level of a binary operator; a function's text is an atom.
    pub(crate) const fn of_binary(op: BinaryOp) -> Self {
        match op {
            BinaryOp::Add | BinaryOp::Sub => Self::Sum,
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => Self::Product,
            BinaryOp::And => Self::And,
            BinaryOp::Or => Self::Or,
            BinaryOp::Xor => Self::Xor,
            BinaryOp::Shl | BinaryOp::Shr => Self::Shift,
            BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::Pow
            | BinaryOp::Atan2
            | BinaryOp::Hypot
            | BinaryOp::Copysign => Self::Atom,
        }
    }

    /// The level of `&&` and `||`.
    pub(crate) const fn of_logic(op: LogicOp) -> Self {
        match op {
            LogicOp::And => Self::LogicAnd,
            LogicOp::Or => Self::LogicOr,
        }
    }
}
