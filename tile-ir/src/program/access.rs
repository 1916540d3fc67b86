//! Accesses to memory.

use super::{BufferId, ExprId, TileId};

/// The widest access of one thread, in bytes. Every buffer and every tile begins at a
/// multiple of it.
///
/// # Source
///
/// CUDA C++ Programming Guide 13.0, "Device Memory Accesses".
pub const MAX_ACCESS_BYTES: u32 = 16;

/// What an access touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// Global memory.
    Buffer(BufferId),
    /// Shared memory.
    Tile(TileId),
}

/// Which comparisons an access makes along one axis before it touches memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AxisGuard {
    /// Compare `0 <= index`.
    pub lower: bool,
    /// Compare `index < extent`.
    pub upper: bool,
}

impl AxisGuard {
    /// Both comparisons.
    pub const BOTH: Self = Self { lower: true, upper: true };
    /// No comparison: the index is known to be inside.
    pub const NONE: Self = Self { lower: false, upper: false };

    /// Whether there is anything to compare.
    pub const fn any(self) -> bool {
        self.lower || self.upper
    }
}

/// One element (or one aligned vector of elements) of a buffer or tile.
///
/// The access happens where all comparisons of `guards` hold. Elsewhere a read
/// gives `pad` and a write does nothing; addresses are not computed there.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// The array.
    pub target: Target,
    /// Which of a tile's several buffers; absent where it has one.
    pub slot: Option<ExprId>,
    /// One index expression per axis, in elements.
    pub indices: Vec<ExprId>,
    /// One guard per axis.
    pub guards: Vec<AxisGuard>,
    /// What a guarded read gives outside, of the element's type.
    pub pad: Option<ExprId>,
    /// Elements per memory instruction: 1, 2, 4, 8 or 16.
    ///
    /// With `width > 1` the accesses of each `width` consecutive registers of
    /// the enclosing domain are one vector access: they are consecutive in
    /// memory, aligned, and share one outcome of the guards. The meaning is that
    /// of the single accesses; the verifier checks the registers, lowering
    /// answers for the alignment.
    pub width: u8,
    /// A promise about the offset of the element in memory: it is a multiple of
    /// this for an item whose coordinate along the axis of unit stride is one.
    /// 1 promises nothing.
    pub aligned_elems: u32,
    /// Of a read: whether no thread writes the element in the barrier interval
    /// of the read, so that all threads of the block that make it get one value.
    /// The checks see to it; only such reads of memory that the kernel writes
    /// stand outside of items.
    pub agreed: bool,
    /// Whether no element of the buffer is touched a second time in the launch, so
    /// that no cache need keep it. A device may make nothing of it.
    pub once: bool,
}

impl Access {
    /// Whether any comparison is made.
    pub fn is_guarded(&self) -> bool {
        self.guards.iter().any(|guard| guard.any())
    }
}

impl Access {
    /// Calls `f` on each expression of the access.
    pub fn for_each_expr(&self, f: &mut impl FnMut(ExprId)) {
        self.slot.iter().chain(&self.indices).chain(&self.pad).copied().for_each(f);
    }
}
