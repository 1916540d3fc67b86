//! Operations in which the work-items of a block get each other's values.
//!
//! # Meaning
//!
//! The n work-items of a block are numbered from 0 in row-major order of the
//! block's axes, the last axis fastest. `v[i]` is the operand of item i. In all
//! configurations and on all devices:
//!
//! - **Reductions** combine in one fixed tree. For d = 1, 2, 4, … below n, every
//!   item i with `i % (2 * d) == 0` and `i + d < n` takes `v[i] ⊕ v[i + d]`. All
//!   items get `v[0]`.
//! - **Scans** combine in another. For d = 1, 2, 4, … below n, all items i ≥ d at
//!   once take `v[i - d] + v[i]`. Item i gets `v[i]`; of an exclusive scan it gets
//!   `v[i - 1]`, and item 0 gets 0.
//!
//! Of floating-point numbers every `+` rounds once, so the tree is part of the
//! meaning. `min` and `max` are those of the language.
//!
//! Every work-item evaluates its operand before the operation; the operation is
//! a barrier between all accesses of the block before it and all after it.

use serde::{Deserialize, Serialize};

use crate::op::BinaryOp;

/// What a reduction combines values with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Reduction {
    /// `+`. Numbers.
    Sum,
    /// The smallest. Numbers.
    Min,
    /// The largest. Numbers.
    Max,
    /// Whether at least one is `true`. `bool`.
    Any,
    /// Whether none is `false`. `bool`.
    All,
}

impl Reduction {
    /// The operator between two values.
    pub const fn binary(self) -> BinaryOp {
        match self {
            Self::Sum => BinaryOp::Add,
            Self::Min => BinaryOp::Min,
            Self::Max => BinaryOp::Max,
            Self::Any => BinaryOp::Or,
            Self::All => BinaryOp::And,
        }
    }

    /// Whether it is of `bool` values, not of numbers.
    pub const fn is_of_conditions(self) -> bool {
        match self {
            Self::Any | Self::All => true,
            Self::Sum | Self::Min | Self::Max => false,
        }
    }
}

/// An operation in which work-items get each other's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ExchangeOp {
    /// `reduce_sum(e)` and its relatives: one value from those of the block.
    Reduce(Reduction),
    /// `scan_sum(e)`: the sum of the values of a work-item and those before it.
    Scan {
        /// `scan_sum_exclusive(e)`: without its own.
        exclusive: bool,
    },
}

impl ExchangeOp {
    /// Every operation.
    pub const ALL: [Self; 7] = [
        Self::Reduce(Reduction::Sum),
        Self::Reduce(Reduction::Min),
        Self::Reduce(Reduction::Max),
        Self::Reduce(Reduction::Any),
        Self::Reduce(Reduction::All),
        Self::Scan { exclusive: false },
        Self::Scan { exclusive: true },
    ];

    /// The operation of the user's name for it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.name() == name)
    }

    /// The name in the language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reduce(Reduction::Sum) => "reduce_sum",
            Self::Reduce(Reduction::Min) => "reduce_min",
            Self::Reduce(Reduction::Max) => "reduce_max",
            Self::Reduce(Reduction::Any) => "any",
            Self::Reduce(Reduction::All) => "all",
            Self::Scan { exclusive: false } => "scan_sum",
            Self::Scan { exclusive: true } => "scan_sum_exclusive",
        }
    }

    /// The operator between two values.
    pub const fn binary(self) -> BinaryOp {
        match self {
            Self::Reduce(reduction) => reduction.binary(),
            Self::Scan { .. } => BinaryOp::Add,
        }
    }

    /// Whether it is of `bool` values, not of numbers.
    pub const fn is_of_conditions(self) -> bool {
        match self {
            Self::Reduce(reduction) => reduction.is_of_conditions(),
            Self::Scan { .. } => false,
        }
    }

    /// Copies of the operands, one for each work-item, that it is lowered to.
    pub(crate) const fn n_buffers(self) -> u32 {
        match self {
            Self::Reduce(_) => 1,
            Self::Scan { .. } => 2,
        }
    }

    /// Whether all work-items of the block get the same value.
    pub const fn is_uniform(self) -> bool {
        match self {
            Self::Reduce(_) => true,
            Self::Scan { .. } => false,
        }
    }
}
