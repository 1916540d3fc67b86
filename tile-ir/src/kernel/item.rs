//! A kernel's tables: parameters, dimensions, tiles, axes, variables.

use serde::{Deserialize, Serialize};

use super::{
    ArrayRef, ElemType, Expr, ExprId, ScalarId, Stmt, TensorId, TileId, TileParamId, Type,
    TypeParamId, VarId,
};
use crate::arena::Arena;
use crate::dtype::Bound;
use crate::dtype::DType;
use crate::op::AtomicOp;
use crate::span::{SpanId, SpanTable};
use crate::syntax::{Jump, TensorSpace};

/// A kernel as written, names resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// The user's name for it.
    pub name: String,
    /// Lines of its doc comment.
    pub docs: Vec<String>,
    /// Type parameters, in order.
    pub type_params: Arena<TypeParamId, TypeParam>,
    /// Parameters in the order of the signature.
    pub params: Vec<Param>,
    /// Tensor parameters.
    pub tensors: Arena<TensorId, TensorParam>,
    /// Scalar parameters.
    pub scalars: Arena<ScalarId, ScalarParam>,
    /// Tile parameters, in order.
    pub tile_params: Arena<TileParamId, TileParam>,
    /// Conditions over tile parameters that admissible sizes fulfil.
    pub constraints: Vec<ExprId>,
    /// The grid's axes, outermost first; empty for one block.
    pub grid: Vec<Axis>,
    /// The block domain's axes, outermost first; `None` where the kernel has
    /// no block domain. Its body then runs once per block.
    pub block: Option<Vec<Axis>>,
    /// Shared tiles and local arrays.
    pub tiles: Arena<TileId, Tile>,
    /// Every named value.
    pub vars: Arena<VarId, Var>,
    /// Every expression.
    pub exprs: Arena<ExprId, Expr>,
    /// The body.
    pub body: Vec<Stmt>,
    /// Each `return`, `break` and `continue` of the text, for messages: in the
    /// body they are conditions on what follows.
    pub exits: Vec<Exit>,
    /// Facts about the inputs that the author vouches for, for whole launches.
    /// As [`super::StmtKind::Assume`] they count for the race rules only, and the
    /// CPU device checks them.
    pub promises: Vec<Promise>,
    /// Where spans stand in the user's file.
    pub spans: SpanTable,
    /// The kernel's name in the source.
    pub span: SpanId,
}

impl Kernel {
    /// An array's name.
    pub fn array_name(&self, array: ArrayRef) -> &str {
        match array {
            ArrayRef::Tensor(id) => &self.tensors[id].name,
            ArrayRef::Tile(id) => &self.tiles[id].name,
        }
    }

    /// An array's extents, one index expression per axis.
    pub fn extents(&self, array: ArrayRef) -> &[ExprId] {
        match array {
            ArrayRef::Tensor(id) => &self.tensors[id].extents,
            ArrayRef::Tile(id) => &self.tiles[id].extents,
        }
    }

    /// The type of an array's elements.
    pub fn element_type(&self, array: ArrayRef) -> ElemType {
        match array {
            ArrayRef::Tensor(id) => self.tensors[id].elem,
            ArrayRef::Tile(id) => self.tiles[id].elem,
        }
    }

    /// Whether an array is one work-item's (or point's) own.
    pub fn is_local(&self, array: ArrayRef) -> bool {
        match array {
            ArrayRef::Tensor(_) => false,
            ArrayRef::Tile(id) => match self.tiles[id].space {
                TileSpace::Shared => false,
                TileSpace::Local { .. } => true,
            },
        }
    }

    /// What an array is, in the user's words: `tensor`, `tile` or `array`.
    pub(crate) fn array_word(&self, array: ArrayRef) -> &'static str {
        match array {
            ArrayRef::Tensor(_) => "tensor",
            ArrayRef::Tile(_) if self.is_local(array) => "array",
            ArrayRef::Tile(_) => "tile",
        }
    }

    /// Whether elements of a type can be updated atomically, whatever its
    /// parameter is bound to. An accumulation type has at least 32 bits.
    pub fn has_atomic(&self, op: AtomicOp, elem: ElemType) -> bool {
        match elem {
            ElemType::Concrete(dtype) => op.exists_for(dtype),
            ElemType::Param(_) => false,
            ElemType::Acc(param) => {
                let bound = self.type_params[param].bound;
                let mut types = DType::ALL.into_iter().filter(|dtype| bound.admits(*dtype));
                types.all(|dtype| op.exists_for(dtype.accumulator()))
            }
        }
    }

    /// A type as the user writes it: `index`, `f32`, `T`, `Acc<T>`.
    pub fn type_name(&self, ty: Type) -> String {
        match ty {
            Type::Index => "index".to_owned(),
            Type::Scalar(elem) => self.elem_name(elem),
        }
    }

    /// A scalar type as the user writes it: `f32`, `T`, `Acc<T>`.
    pub fn elem_name(&self, elem: ElemType) -> String {
        match elem {
            ElemType::Concrete(dtype) => dtype.name().to_owned(),
            ElemType::Param(id) => self.type_params[id].name.clone(),
            ElemType::Acc(id) => format!("Acc<{}>", self.type_params[id].name),
        }
    }
}

/// Where the text leaves its body or a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// The statement.
    pub jump: Jump,
    /// The condition of the innermost `if` around it.
    pub cond: Option<ExprId>,
    /// The variable that says that it was reached, where one is needed.
    pub flag: Option<VarId>,
    /// Its place in the source.
    pub span: SpanId,
}

/// `assume(distinct(a));` or `assume(sorted(a));`: what holds of all elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise {
    /// How the elements stand to each other.
    pub order: Order,
    /// A tensor of integers that the kernel does not write; of one axis where it is sorted.
    pub tensor: TensorId,
    /// The statement.
    pub span: SpanId,
}

/// How the elements of a tensor stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// No two are equal.
    Distinct,
    /// None is less than the one before it.
    Sorted,
}

impl Order {
    /// The one that `assume` calls so.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Distinct, Self::Sorted].into_iter().find(|order| order.name() == name)
    }

    /// Its name in an `assume`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Distinct => "distinct",
            Self::Sorted => "sorted",
        }
    }
}

/// Of which work-items it is said that none has a number of another one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Within {
    /// Those of a block that come by between two meetings of the block.
    Block,
    /// All of the launch, whenever they come by.
    Grid,
}

impl Within {
    /// The one that `assume` calls so.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Block, Self::Grid].into_iter().find(|within| within.name() == name)
    }

    /// Its name in an `assume`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Block => "distinct_in_block",
            Self::Grid => "distinct_in_grid",
        }
    }
}

/// A type parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeParam {
    /// Its name.
    pub name: String,
    /// What it may be bound to.
    pub bound: Bound,
    /// Its name in the source.
    pub span: SpanId,
}

/// One entry of the signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Param {
    /// A tensor.
    Tensor(TensorId),
    /// A scalar.
    Scalar(ScalarId),
}

/// A tensor parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TensorParam {
    /// Its name.
    pub name: String,
    /// The memory that it is in.
    pub space: TensorSpace,
    /// Whether `&mut`; never of constant memory.
    pub mutable: bool,
    /// Element type.
    pub elem: ElemType,
    /// One index expression per axis, over dimensions, tile parameters and
    /// literals. A bare dimension here binds it; any other form is an equation
    /// checked at launch.
    pub extents: Vec<ExprId>,
    /// What an access outside the shape reads.
    pub edge: Edge,
    /// Its name in the source.
    pub span: SpanId,
}

/// What a read outside a tensor's shape gives. Writes there are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Edge {
    /// 0 (`false`), as nothing was written; the checks show that it cannot
    /// change a result.
    DefaultPad,
    /// The author's value, an expression without variables.
    Pad(ExprId),
    /// Another element, by the rule. Resolution has made each read a choice whether
    /// the indices are inside ([`Kernel::read_at_edge`]), so that nothing outside is
    /// read but of an empty tensor, which gives 0.
    Rule(EdgeRule),
}

/// Which element a read outside a tensor's shape gives, along each axis of `n`
/// elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EdgeRule {
    /// `#[edge(clamp)]`: the nearest, 0 or `n - 1`.
    Clamp,
    /// `#[edge(wrap)]`: the one at the index modulo `n`, as in a ring.
    Wrap,
    /// `#[edge(reflect)]`: mirrored at the first and at the last element, which are
    /// not repeated, and so on without end: at -1 stands element 1, at `n` element
    /// `n - 2` (`numpy.pad`'s "reflect"). Of one element, that one.
    Reflect,
}

impl EdgeRule {
    /// Every rule.
    pub const ALL: [Self; 3] = [Self::Clamp, Self::Wrap, Self::Reflect];

    /// The rule of the user's name for it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// The name in the language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clamp => "clamp",
            Self::Wrap => "wrap",
            Self::Reflect => "reflect",
        }
    }
}

/// A scalar parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScalarParam {
    /// Its name.
    pub name: String,
    /// Its type.
    pub elem: ElemType,
    /// Its variable, of kind [`VarKind::Scalar`].
    pub var: VarId,
    /// Its name in the source.
    pub span: SpanId,
}

/// A tile parameter: a compile-time integer, chosen per device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TileParam {
    /// Its name.
    pub name: String,
    /// Its admissible values.
    pub domain: TileDomain,
    /// Its variable, of kind [`VarKind::TileParam`].
    pub var: VarId,
    /// Its name in the source.
    pub span: SpanId,
}

/// The admissible values of a tile parameter; all are at least 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TileDomain {
    /// Any value from 1 to [`TileDomain::MAX`].
    Any,
    /// `min`, `min + step`, … up to `max`.
    Range {
        /// Smallest.
        min: u32,
        /// Largest, inclusive.
        max: u32,
        /// Distance, at least 1.
        step: u32,
    },
    /// The powers of two from `min` to `max`.
    Pow2 {
        /// Smallest, a power of two.
        min: u32,
        /// Largest, a power of two, inclusive.
        max: u32,
    },
    /// The listed values, rising, without repetition.
    List(Vec<u32>),
    /// The value of an index expression over literals and *earlier* tile
    /// parameters: a fixed size, a tie, or a derived extent.
    Equal(ExprId),
}

impl TileDomain {
    /// The largest value of a tile parameter that says nothing of its own.
    pub const MAX: u32 = 4096;

    /// The least and the greatest value that it can hold; of
    /// [`TileDomain::Equal`], of which the sizes decide, all possible ones.
    pub fn range(&self) -> (u32, u32) {
        match self {
            Self::Any => (1, Self::MAX),
            Self::Range { min, max, .. } | Self::Pow2 { min, max } => (*min, *max),
            Self::List(values) => {
                (values.first().copied().unwrap_or(1), values.last().copied().unwrap_or(u32::MAX))
            }
            Self::Equal(_) => (1, u32::MAX),
        }
    }

    /// Its values, rising; of [`TileDomain::Equal`], of which the sizes decide, none.
    pub fn values(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            Self::Any => Box::new(1..=Self::MAX),
            Self::Range { min, max, step } => {
                Box::new((*min..=*max).step_by((*step).max(1) as usize))
            }
            Self::Pow2 { min, max } => {
                let powers = (0..u32::BITS).map(|exponent| 1 << exponent);
                Box::new(powers.filter(move |power| (min..=max).contains(&power)))
            }
            Self::List(values) => Box::new(values.iter().copied()),
            Self::Equal(_) => Box::new(std::iter::empty()),
        }
    }
}

/// One axis of a grid, a block domain or an `each`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// Its index variable, running from 0 to the extent.
    pub var: VarId,
    /// Number of values, an index expression. Of a grid it is over dimensions,
    /// tile parameters and literals; of a block and an `each` over tile
    /// parameters and literals.
    pub extent: ExprId,
}

/// An array that a kernel declares in its body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tile {
    /// Its name.
    pub name: String,
    /// Who has a copy of it.
    pub space: TileSpace,
    /// Element type.
    pub elem: ElemType,
    /// One index expression per axis, over tile parameters and literals.
    pub extents: Vec<ExprId>,
    /// Its name in the source.
    pub span: SpanId,
}

/// Who has a copy of a [`Tile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TileSpace {
    /// The block: `shared s: [T; A];`
    Shared,
    /// Each work-item, or each point of the `each` that declares it; without a
    /// block domain, the block: `let x: [T; A] = [e; A];`
    Local {
        /// Whether its elements may be assigned.
        mutable: bool,
    },
}

/// A named value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Var {
    /// The user's name. Shadowing makes several variables of one name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// What it is.
    pub kind: VarKind,
    /// Whether it was declared as `Acc<…>`: its updates may be reassociated.
    pub accumulator: bool,
    /// Where it is declared.
    pub span: SpanId,
}

/// What a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum VarKind {
    /// A dimension: an extent of a tensor, known at launch; an index, at least 0.
    Dim,
    /// A tile parameter: an index, at least 1.
    TileParam(TileParamId),
    /// A scalar parameter.
    Scalar(ScalarId),
    /// An axis of the grid: the block's coordinate. Uniform.
    Grid,
    /// An axis of the block domain: the work-item's coordinate.
    Block,
    /// An axis of an `each`: the point's coordinate.
    Each,
    /// The counter of a `phase` or `for`.
    Loop,
    /// A `let`, of the work-item, or of the point inside an `each`.
    Let {
        /// Whether it may be assigned again.
        mutable: bool,
    },
}
