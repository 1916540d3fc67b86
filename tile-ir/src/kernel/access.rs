//! Accesses to arrays.

use serde::{Deserialize, Serialize};

use super::{ExprId, TensorId, TileId};
use crate::span::SpanId;

/// An array that a kernel can index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ArrayRef {
    /// A tensor parameter, in global memory.
    Tensor(TensorId),
    /// A shared tile of the block.
    Tile(TileId),
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
