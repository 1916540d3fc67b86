//! Accesses to arrays.

use serde::{Deserialize, Serialize};

use super::{ExprId, TensorId, TileId};
use crate::span::SpanId;

/// An array that a kernel can index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ArrayRef {
    /// A tensor parameter, in global memory.
    Tensor(TensorId),
    /// A shared tile of the block, or a local array.
    Tile(TileId),
}

/// What an access does to its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum AccessKind {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It updates as one step, in whatever order with other atomic updates.
    Atomic,
}

impl AccessKind {
    /// Whether the element may be another one after it.
    pub(crate) const fn writes(self) -> bool {
        match self {
            Self::Read => false,
            Self::Write | Self::Atomic => true,
        }
    }

    /// Whether two accesses of one element need an order. Atomic updates need
    /// none among themselves, and one with everything else.
    pub(crate) const fn conflicts(self, other: Self) -> bool {
        match (self, other) {
            (Self::Read, Self::Read) | (Self::Atomic, Self::Atomic) => false,
            (Self::Read | Self::Write | Self::Atomic, _) => true,
        }
    }

    /// What it does, in the third person.
    pub(crate) const fn verb(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::Atomic => "updates",
        }
    }
}

/// One element of an array: `a[i, j]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Access {
    /// The array.
    pub array: ArrayRef,
    /// One expression of type [`super::Type::Index`] per axis.
    pub indices: Vec<ExprId>,
    /// The whole access in the source.
    pub span: SpanId,
}
