//! A kernel's signature and header as written.

use serde::{Deserialize, Serialize};

use super::{Expr, Library, Name, Stmt};
use crate::dtype::Bound;
use crate::span::{SpanId, SpanTable};

/// One kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelItem {
    /// Lines of its doc comment, without the `///`.
    pub docs: Vec<String>,
    /// The kernel's name.
    pub name: Name,
    /// `<T: Number, …>`.
    pub type_params: Vec<TypeParam>,
    /// The parameters, in order.
    pub params: Vec<Param>,
    /// `tile: (TM, TN)`: the tile parameters.
    pub tiles: Vec<TileParam>,
    /// Constraints among the tile parameters, `TM % TK == 0`.
    pub constraints: Vec<TileConstraint>,
    /// `grid: (by in tiles(M, TM), …)`; empty where the kernel has one block.
    pub grid: Vec<GridAxis>,
    /// `block: (ty in TM, …)`; empty where the kernel has no block domain.
    pub block: Vec<BlockAxis>,
    /// The body.
    pub body: Vec<Stmt>,
    /// The functions and constants that stand beside it.
    pub library: Library,
    /// Where the spans of this tree stand.
    pub spans: SpanTable,
}

/// `T: Number`.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeParam {
    /// Its name.
    pub name: Name,
    /// Its bound.
    pub bound: Bound,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpr {
    /// What it is.
    pub kind: TypeExprKind,
    /// Where it stands.
    pub span: SpanId,
}

/// The forms of a scalar type.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeExprKind {
    /// `f32`, `T`, `index`.
    Name(Name),
    /// `Acc<T>`.
    Acc(Name),
}

/// One parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: Name,
    /// What it is.
    pub kind: ParamKind,
    /// `#[pad = …]` or `#[edge(…)]`.
    pub edge: Option<EdgeAttr>,
    /// The whole parameter.
    pub span: SpanId,
}

/// What a parameter is.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamKind {
    /// `&Tensor<T, [M, K]>`, `&mut Tensor<T, [M, K]>` or `&Constant<T, [F, F]>`.
    Tensor {
        /// Which of the two types.
        space: TensorSpace,
        /// Whether `&mut`.
        mutable: bool,
        /// Element type.
        elem: TypeExpr,
        /// One extent per axis: a dimension's name, a literal, or an expression
        /// of dimensions and tile parameters.
        extents: Vec<Expr>,
    },
    /// `alpha: f32`.
    Scalar {
        /// Its type.
        ty: TypeExpr,
    },
}

/// The memory that a tensor parameter is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TensorSpace {
    /// Global memory: `Tensor`.
    Global,
    /// Constant memory: `Constant`. It is never written, and those of one kernel
    /// take at most [`TensorSpace::CONSTANT_BYTES`] together.
    Constant,
}

impl TensorSpace {
    /// Bytes of constant memory that a kernel may use.
    ///
    /// # Source
    ///
    /// CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute
    /// Capability": constant memory size.
    pub const CONSTANT_BYTES: u64 = 64 << 10;

    /// The type's name in the language and on the host.
    pub const fn type_name(self) -> &'static str {
        match self {
            Self::Global => "Tensor",
            Self::Constant => "Constant",
        }
    }
}

/// What an access outside a tensor's shape reads.
#[derive(Clone, Debug, PartialEq)]
pub enum EdgeAttr {
    /// `#[pad = value]`
    Pad {
        /// The value.
        value: Expr,
        /// The attribute.
        span: SpanId,
    },
    /// `#[edge(clamp)]`, `#[edge(wrap)]`, `#[edge(reflect)]`
    Rule {
        /// The rule's name.
        name: Name,
        /// The attribute.
        span: SpanId,
    },
}

/// One tile parameter: a compile-time integer, chosen per device.
#[derive(Clone, Debug, PartialEq)]
pub struct TileParam {
    /// Its name.
    pub name: Name,
    /// Its admissible values.
    pub domain: TileDomain,
}

/// The admissible values of a tile parameter, as written.
#[derive(Clone, Debug, PartialEq)]
pub enum TileDomain {
    /// `TM`: any positive value.
    Any,
    /// `TM in 16..=256 step 16` (or `.step_by(16)`).
    Range {
        /// Smallest.
        min: Expr,
        /// Largest, inclusive.
        max: Expr,
        /// Distance between values; 1 where none is written.
        step: Option<Expr>,
    },
    /// `TM in pow2(32..=256)`: the powers of two from `min` to `max`.
    Pow2 {
        /// Smallest.
        min: Expr,
        /// Largest, inclusive.
        max: Expr,
    },
    /// `TM in [64, 128]`.
    List(Vec<Expr>),
    /// `F = 3`, `TM = TK`, `H = T + 2`: follows from literals and other parameters.
    Equal(Expr),
}

/// A constraint among tile parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct TileConstraint {
    /// A condition over literals and tile parameters.
    pub cond: Expr,
}

/// `by in tiles(M, TM)` or `by in n`: one axis of the grid, outermost first.
#[derive(Clone, Debug, PartialEq)]
pub struct GridAxis {
    /// The block index's name.
    pub name: Name,
    /// Number of blocks along the axis (`tiles(M, TM)` is a call).
    pub extent: Expr,
}

/// `ty in TM`: one axis of the block domain, outermost first.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockAxis {
    /// The work-item index's name.
    pub name: Name,
    /// Number of work-items along the axis.
    pub extent: Expr,
}
