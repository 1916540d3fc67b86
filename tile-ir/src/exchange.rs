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
//! - **Scans** combine in the same tree. For d = 1, 2, 4, … below n, all items i with
//!   `i / d` odd at once take `v[i / d * d - 1] + v[i]`: what the d items before the own d
//!   make, before what the own make up to there (Sklansky, "Conditional-Sum Addition
//!   Logic", 1960). Item i gets `v[i]`; of an exclusive scan it gets `v[i - 1]`, and item 0
//!   gets 0.
//!
//! Of floating-point numbers every `+` rounds once, so the tree is part of the
//! meaning. `min` and `max` are those of the language.
//!
//! Every work-item evaluates its operand before the operation; the operation is
//! a barrier between all accesses of the block before it and all after it.
//!
//! # Warps
//!
//! A warp is 32 work-items that follow one another, the first one's number a
//! multiple of 32; the last warp of a block may have fewer. A work-item's *lane*
//! is its number within its warp.
//!
//! - A reduction of a warp combines in the same tree, over its lanes.
//! - A shuffle gives a work-item the operand that a lane of its warp has. A lane
//!   that is not there gives it its own.
//! - A ballot gives 32 bits, bit l set where lane l is there and has `true`.
//!
//! They order no accesses to memory.

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

/// Which lane a shuffle takes its value from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Shuffle {
    /// `shuffle(v, l)`: lane l.
    At,
    /// `shuffle_down(v, d)`: the own lane + d.
    Down,
    /// `shuffle_up(v, d)`: the own lane - d.
    Up,
    /// `shuffle_xor(v, m)`: the own lane ^ m.
    Xor,
}

/// Which work-items take part in an operation together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Those of a warp.
    Warp,
    /// Those of a block.
    Block,
}

impl Group {
    /// `warp` or `block`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warp => "warp",
            Self::Block => "block",
        }
    }
}

/// Work-items of a warp.
pub const WARP_ITEMS: u32 = 32;

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
    /// `warp_sum(e)` and its relatives: one value from those of the warp.
    WarpReduce(Reduction),
    /// `shuffle(v, l)` and its relatives: the value of another lane.
    Shuffle(Shuffle),
    /// `ballot(e)`: which lanes have `true`, a `u32`.
    Ballot,
}

impl ExchangeOp {
    /// Every operation.
    pub const ALL: [Self; 17] = [
        Self::Reduce(Reduction::Sum),
        Self::Reduce(Reduction::Min),
        Self::Reduce(Reduction::Max),
        Self::Reduce(Reduction::Any),
        Self::Reduce(Reduction::All),
        Self::Scan { exclusive: false },
        Self::Scan { exclusive: true },
        Self::WarpReduce(Reduction::Sum),
        Self::WarpReduce(Reduction::Min),
        Self::WarpReduce(Reduction::Max),
        Self::WarpReduce(Reduction::Any),
        Self::WarpReduce(Reduction::All),
        Self::Shuffle(Shuffle::At),
        Self::Shuffle(Shuffle::Down),
        Self::Shuffle(Shuffle::Up),
        Self::Shuffle(Shuffle::Xor),
        Self::Ballot,
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
            Self::WarpReduce(Reduction::Sum) => "warp_sum",
            Self::WarpReduce(Reduction::Min) => "warp_min",
            Self::WarpReduce(Reduction::Max) => "warp_max",
            Self::WarpReduce(Reduction::Any) => "warp_any",
            Self::WarpReduce(Reduction::All) => "warp_all",
            Self::Shuffle(Shuffle::At) => "shuffle",
            Self::Shuffle(Shuffle::Down) => "shuffle_down",
            Self::Shuffle(Shuffle::Up) => "shuffle_up",
            Self::Shuffle(Shuffle::Xor) => "shuffle_xor",
            Self::Ballot => "ballot",
        }
    }

    /// Who takes part together.
    pub const fn group(self) -> Group {
        match self {
            Self::Reduce(_) | Self::Scan { .. } => Group::Block,
            Self::WarpReduce(_) | Self::Shuffle(_) | Self::Ballot => Group::Warp,
        }
    }

    /// The operator between two values, of reductions and scans.
    pub const fn binary(self) -> Option<BinaryOp> {
        match self {
            Self::Reduce(reduction) | Self::WarpReduce(reduction) => Some(reduction.binary()),
            Self::Scan { .. } => Some(BinaryOp::Add),
            Self::Shuffle(_) | Self::Ballot => None,
        }
    }

    /// Whether it is of `bool` values alone.
    pub const fn is_of_conditions(self) -> bool {
        match self {
            Self::Reduce(reduction) | Self::WarpReduce(reduction) => reduction.is_of_conditions(),
            Self::Ballot => true,
            Self::Scan { .. } | Self::Shuffle(_) => false,
        }
    }

    /// Whether it takes a lane, or a distance, beside the value.
    pub const fn takes_lane(self) -> bool {
        matches!(self, Self::Shuffle(_))
    }

    /// Whether all work-items of a group get the same value.
    pub const fn is_uniform(self, group: Group) -> bool {
        match (self, group) {
            (Self::Reduce(_), _) => true,
            (Self::WarpReduce(_) | Self::Ballot, Group::Warp) => true,
            (Self::WarpReduce(_) | Self::Ballot, Group::Block) => false,
            (Self::Scan { .. } | Self::Shuffle(_), _) => false,
        }
    }
}
