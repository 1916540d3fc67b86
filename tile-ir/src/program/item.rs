//! A program's tables: arguments, buffers, tiles, domains, fragments, variables.

use super::{
    ArgId, BufferId, DomainId, Expr, ExprId, ExprKind, FragmentId, ItemLayout, Literal, RoleId,
    Scope, Stmt, Target, TileId, TileLayout, Ty, VarId, WorkspaceId,
};
use crate::arena::Arena;
use crate::dtype::DType;
use crate::kernel;
use crate::span::SpanTable;

/// A launch plan: kernels to launch in order, and what they need.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The kernels, in order of launch on one stream.
    pub kernels: Vec<ProgramKernel>,
    /// Device memory that lives from the first kernel to the last.
    pub workspaces: Arena<WorkspaceId, Workspace>,
    /// What is assumed of the elements of tensors; a device that checks its programs does so
    /// before the first kernel.
    pub promises: Vec<kernel::Promise>,
    /// Where the kernels' spans stand in the user's file.
    pub spans: SpanTable,
}

/// Device memory that a plan needs beside the user's tensors.
#[derive(Clone, Debug, PartialEq)]
pub struct Workspace {
    /// Its name.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Number of elements.
    pub size_elems: u64,
}

/// One kernel of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramKernel {
    /// Its name, an identifier.
    pub name: String,
    /// Launch arguments other than buffers, in order.
    pub args: Arena<ArgId, Arg>,
    /// Arrays of the host, in order; they come before `args` in the call.
    pub buffers: Arena<BufferId, Buffer>,
    /// The grid's axes, outermost first. The launch is linear.
    pub grid: Vec<GridAxis>,
    /// How the linear block number becomes block coordinates.
    pub raster: Raster,
    /// Threads per block. May exceed what a device can run before
    /// [`crate::lower`] has distributed the items.
    pub threads: u32,
    /// Blocks that an SM must have registers for at the least; 0 where the
    /// compiler decides.
    pub min_blocks: u32,
    /// The warps' roles; role 0 stands for all of them.
    pub roles: Arena<RoleId, Role>,
    /// Shared tiles.
    pub tiles: Arena<TileId, Tile>,
    /// How shared memory is declared.
    pub shared_memory: SharedMemory,
    /// The domain of the kernel's work-items; of one item where the kernel has
    /// no block domain.
    pub block_domain: DomainId,
    /// Item domains.
    pub domains: Arena<DomainId, Domain>,
    /// Register arrays.
    pub fragments: Arena<FragmentId, Fragment>,
    /// Scalar variables.
    pub vars: Arena<VarId, Var>,
    /// Expressions.
    pub exprs: Arena<ExprId, Expr>,
    /// The body, at block scope.
    pub body: Vec<Stmt>,
}

impl ProgramKernel {
    /// The type of an array's elements.
    pub fn element_type(&self, target: Target) -> DType {
        match target {
            Target::Buffer(id) => self.buffers[id].dtype,
            Target::Tile(id) => self.tiles[id].dtype,
        }
    }

    /// The value of an integer or index literal; `None` for everything else.
    pub fn constant(&self, id: ExprId) -> Option<i128> {
        match self.exprs[id].kind {
            ExprKind::Literal(Literal::Int(value)) => Some(value),
            _ => None,
        }
    }
}

/// A launch argument: a number that the host computes for each launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// Its name, an identifier.
    pub name: String,
    /// Its type; 32-bit where the launch's class says that it fits.
    pub ty: Ty,
    /// Where the host takes it from.
    pub source: ArgSource,
    /// Of an index, a power of two that divides it; 1 where none is known.
    pub divisor: u32,
}

/// Where a launch argument comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgSource {
    /// A dimension: the kernel's variable of kind [`kernel::VarKind::Dim`].
    Dim(kernel::VarId),
    /// A scalar parameter.
    Scalar(kernel::ScalarId),
    /// A tensor's stride along an axis, in units of so many elements.
    Stride {
        /// The tensor.
        tensor: kernel::TensorId,
        /// The axis.
        axis: u32,
        /// Elements of a unit, which divide the stride.
        unit: u32,
    },
}

/// An array that the host passes.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Its name, an identifier.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// What the host passes.
    pub source: BufferSource,
    /// Where its elements are.
    pub space: BufferSpace,
    /// Extent of each axis in elements: index expressions over arguments and
    /// literals.
    pub extents: Vec<ExprId>,
    /// Elements per unit of each axis: likewise.
    pub strides: Vec<ExprId>,
    /// Whether the kernel writes it. One that is never written may be read
    /// through the read-only path.
    pub written: bool,
    /// Whether the first element lies at a multiple of [`super::MAX_ACCESS_BYTES`].
    pub is_aligned: bool,
}

/// Where the elements of a [`Buffer`] are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferSpace {
    /// In global memory; the host passes the address.
    Global,
    /// In constant memory: the elements themselves are launch parameters, so that
    /// each launch has its own. Never written, and no source of asynchronous
    /// copies.
    Constant {
        /// How many they are, at least one; the extents are literals.
        elems: u32,
    },
}

impl BufferSpace {
    /// Bytes of parameters, arrays and all others, that every driver takes of a
    /// launch. Newer ones take more; they are copied for each launch, so that few
    /// are better.
    ///
    /// # Source
    ///
    /// CUDA C++ Programming Guide 12.0, "`__global__` Function Parameters".
    pub const PARAMETER_BYTES: u64 = 4096;
}

/// What the host passes for a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferSource {
    /// A tensor parameter.
    Tensor(kernel::TensorId),
    /// A workspace of the plan.
    Workspace(WorkspaceId),
}

/// One axis of the grid.
#[derive(Clone, Debug, PartialEq)]
pub struct GridAxis {
    /// The block's coordinate: a variable at block scope.
    pub var: VarId,
    /// Number of blocks: an index expression over arguments and literals.
    pub extent: ExprId,
}

/// How the linear block number becomes block coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Raster {
    /// The last axis fastest.
    RowMajor,
    /// Bands of `rows` of the second-to-last axis; within a band that axis is
    /// fastest. Blocks that run together then share operands in L2.
    Grouped {
        /// Rows per band.
        rows: u32,
    },
}

/// A range of warps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Its name.
    pub name: String,
    /// First warp.
    pub first_warp: u32,
    /// Number of warps; `None` for all from the first on.
    pub n_warps: Option<u32>,
}

/// How shared memory is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SharedMemory {
    /// Each tile is an array of its own, known to the compiler.
    Static,
    /// One block of `bytes`, given at launch; above 48 KiB only so.
    Dynamic {
        /// Size of the whole.
        bytes: u32,
    },
}

/// Who has a copy of a [`Tile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileSpace {
    /// The block, in shared memory.
    Shared,
    /// Each item of this domain, in its thread's registers or local memory. It is
    /// accessed inside the domain's items only, and has one buffer.
    Local(DomainId),
}

/// An array of the kernel's own: a shared tile, or an array of each item.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// Its name, an identifier.
    pub name: String,
    /// Who has a copy of it.
    pub space: TileSpace,
    /// Element type.
    pub dtype: DType,
    /// Extent of each axis in elements.
    pub extents: Vec<u32>,
    /// Where an element lies.
    pub layout: TileLayout,
    /// Whether accesses count on the layout as it is.
    pub is_arranged: bool,
    /// Number of equal buffers, chosen by [`super::Access::slot`].
    pub buffers: u32,
    /// Where it begins within [`SharedMemory::Dynamic`].
    pub offset_bytes: u32,
}

impl Tile {
    /// Bytes that all its buffers take.
    pub fn size_bytes(&self) -> u64 {
        u64::from(self.layout.size_elems)
            * u64::from(self.buffers)
            * u64::from(self.dtype.size_bytes())
    }
}

/// One axis of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainAxis {
    /// The coordinate's name in the source, an identifier.
    pub name: String,
    /// Number of points.
    pub extent: u32,
}

/// A set of items that the block's threads share out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// Its axes, outermost first; none for a single item.
    pub axes: Vec<DomainAxis>,
    /// Which thread runs which item.
    pub layout: ItemLayout,
    /// What it is a part of, where it is not a domain of its own.
    pub projection: Option<Projection>,
}

/// A domain's items with some of their coordinates forgotten: the rows of a
/// domain of elements, say.
///
/// Axis n of the projected domain is axis `axes[n]` of `domain`. A thread has an
/// item of it where it has items of `domain` that fall on it, so that several
/// threads may have the same item; each computes it for itself, and nothing but
/// fragments is written there. An item of `domain` reads the fragments of the
/// item that it falls on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projection {
    /// Whose items they are.
    pub domain: DomainId,
    /// Its axes that are kept, in rising order; at least one.
    pub axes: Vec<u32>,
}

impl Domain {
    /// Extents of the axes.
    pub fn extents(&self) -> Vec<u32> {
        self.axes.iter().map(|axis| axis.extent).collect()
    }

    /// The row-major number of an item.
    pub(crate) fn item_number(&self, coords: &[u32]) -> u32 {
        let axes = self.axes.iter().zip(coords);
        axes.fold(0, |number, (axis, coord)| number * axis.extent + coord)
    }

    /// Number of items.
    pub fn n_items(&self) -> u64 {
        self.axes.iter().map(|axis| u64::from(axis.extent)).product()
    }
}

/// A register array: one value per item of a domain, in the registers of the
/// thread that runs the item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Its name in the source, an identifier.
    pub name: String,
    /// Type of each value.
    pub ty: Ty,
    /// Whose items it holds values of.
    pub domain: DomainId,
    /// Whether its updates may be reassociated.
    pub accumulator: bool,
}

/// A scalar variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Var {
    /// Its name in the source, an identifier.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// [`Scope::Block`]: one value per block. [`Scope::Thread`]: one per item.
    pub scope: Scope,
}
