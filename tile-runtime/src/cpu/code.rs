//! What a kernel is compiled to: typed operations on registers of lanes.
//!
//! # Registers
//!
//! A *uniform* register is eight bytes that hold one value for the whole block.
//! A *vector* register holds one lane for each item of the present chunk. A
//! fragment is read and written in place: its values lie in the order of the
//! items, and so do the lanes of a chunk. An index is an `i64` everywhere.
//!
//! # Invariant
//!
//! [`super::compile`] makes these structures and nothing changes them after.
//! Execution relies on it without checking again: slots lie inside the register
//! files whose sizes stand in [`CompiledKernel`], and every operation's slots
//! hold lanes of the types its function takes.

use std::fmt;

use tile_ir::dtype::DType;
use tile_ir::program::{Assumption, AxisGuard, Participants, Raster, Swizzle, Ty};
use tile_ir::span::SpanId;

use super::vector::{AtomicFn, Fn1, Fn2, Fn3};
use super::watch::{Agents, Meeting, Mode, Operation, Site};

/// Most lanes that an operation runs over at once: enough to make its dispatch
/// cheap, few enough that a handful of registers stay in the first-level cache. Measured:
/// an f32 product of 1024 on one core of an EPYC at 4.8 GFLOP/s with 512 and at 6.0 with
/// 1024, a sum of 2^24 at half and at three fifths of a plain loop's speed.
pub(super) const CHUNK_LANES: usize = 1024;

/// Most lanes of a chunk in which items of a warp get each other's values: such a
/// chunk holds the whole domain, so that no warp is in two.
pub(super) const MAX_CHUNK_LANES: usize = 1024;

/// Most axes of a domain, and of an array with the choice among its buffers.
pub(super) const MAX_AXES: usize = 8;

/// Index of a uniform register.
pub(super) type Uniform = u32;

/// Where the lanes of a value are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    /// One lane: a uniform register.
    Uniform(Uniform),
    /// A vector register, by its first byte.
    Vector(usize),
    /// The chunk's items of a fragment.
    Fragment {
        /// Its first byte.
        offset_bytes: usize,
        /// Size of one value.
        lane_bytes: usize,
    },
    /// Where an [`Instr::Find`] has found them or an [`Instr::Aim`] wants them: for the
    /// next operation.
    Found(Place),
}

/// Index of a place where lanes are found ([`Instr::Find`], [`Instr::Aim`]).
pub(super) type Place = usize;

/// How many lanes an operation runs over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// One: its slots are uniform registers.
    One,
    /// Those of the present chunk.
    Chunk,
    /// Those of the largest chunk: its result serves all chunks.
    Whole,
}

/// An operation or a jump. Positions are indices into the list it stands in.
#[derive(Clone)]
pub(super) enum Instr {
    /// A function of one operand.
    Map1 { width: Width, f: Fn1, dst: Slot, a: Slot },
    /// A function of two operands.
    Map2 { width: Width, f: Fn2, dst: Slot, a: Slot, b: Slot },
    /// A function of three operands.
    Map3 { width: Width, f: Fn3, dst: Slot, a: Slot, b: Slot, c: Slot },
    /// Index lanes from the items' coordinates.
    Coords { dst: Slot, value: Affine },
    /// Reads elements. Lanes outside the guards or the mask get the pad.
    Load { width: Width, dst: Slot, access: usize, pad: Pad },
    /// Finds elements for the chunk's next operation: where they lie one after the
    /// other in their array, there, else read as by a `Load` to `spare`.
    Find { place: Place, spare: Slot, access: usize, pad: Pad },
    /// Finds where the next operation puts its lanes: where the chunk's elements lie one
    /// after the other in their array, there, else in `spare`.
    Aim { place: Place, spare: Slot, access: usize },
    /// Writes elements as a `Store` of `spare` does, unless the operation did.
    Settle { place: Place, spare: Slot, access: usize },
    /// Writes elements, where guards and mask hold.
    Store { src: Slot, access: usize },
    /// Updates elements one lane after the other, each as one step, where guards
    /// and mask hold. The values before go to `old`, where it is asked for; its
    /// other lanes stay.
    Atomic { src: Slot, expected: Option<Slot>, old: Option<Slot>, access: usize, f: AtomicFn },
    /// Flags where all guards of an access hold.
    InBounds { width: Width, dst: Slot, access: usize },
    /// Gives each lane the value of another one of its warp.
    Shuffle { dst: Slot, src: Slot, lanes: Slot, lane_bytes: usize },
    /// Gives each lane the flags of its warp, as bits.
    Ballot { dst: Slot, flags: Slot },
    /// Goes on at the target.
    Jump { target: usize },
    /// Goes on at the target where the flag is not set.
    JumpUnless { cond: Uniform, target: usize },
    /// Goes on at the target where no lane's flag is set.
    JumpIfNone { mask: Slot, target: usize },
    /// The largest index lane among those of the mask, or 0.
    LargestOf { dst: Uniform, lanes: Slot, mask: Option<Slot> },
    /// Sets `trips` for a loop and `trip` to 0.
    LoopEnter { range: UniformRange, trip: Uniform, trips: Uniform },
    /// Sets the counter for `trip` and counts it; at the end goes on at `exit`.
    LoopNext { range: UniformRange, trip: Uniform, trips: Uniform, counter: Uniform, exit: usize },
    /// Ends the launch: an assumption does not hold for the lanes of the mask, of
    /// which at least one is set. `shown` are lanes of what is to be told.
    Fail { mask: Slot, fact: usize, shown: Vec<(Slot, DType)> },
    /// The lanes of the mask have these numbers, which no other work-item may have: `shown` are
    /// lanes of what is to be told, the numbers last.
    Differ { mask: Option<Slot>, fact: usize, shown: Vec<(Slot, DType)> },
    /// Notes who touches elements: by [`CompiledKernel::sites`]. Checked mode only, as
    /// the next two.
    Touch { width: Width, access: usize, site: usize, mask: Option<Slot>, is_counted: bool },
    /// Counts an operation of the lanes of the mask.
    Count { op: usize, mask: Option<Slot> },
    /// Counts a condition that the lanes of the mask come to: with its outcomes, unless
    /// they are the same for all.
    Branch { branch: usize, flags: Option<Slot>, mask: Option<Slot>, of_some: bool },
    /// Notes an operation of which flags are set in lanes of the mask: by
    /// [`CompiledKernel::operations`].
    Notice { width: Width, flags: Slot, mask: Option<Slot>, operation: usize },
    /// The lanes of the mask are at [`CompiledKernel::meetings`] together.
    Meet { mask: Option<Slot>, meeting: usize },
    /// Runs a lane program. Block scope only.
    Items { program: usize },
    /// Waits for the participants. Block scope only.
    Barrier(Participants),
}

impl Instr {
    /// Whether it computes the chunk's lanes of this register.
    pub(super) fn makes(&self, register: Slot) -> bool {
        match *self {
            Self::Map1 { width, dst, .. }
            | Self::Map2 { width, dst, .. }
            | Self::Map3 { width, dst, .. } => width == Width::Chunk && dst == register,
            _ => false,
        }
    }

    /// What a function is applied to.
    pub(super) fn operands(&self) -> Vec<Slot> {
        match *self {
            Self::Map1 { a, .. } => vec![a],
            Self::Map2 { a, b, .. } => vec![a, b],
            Self::Map3 { a, b, c, .. } => vec![a, b, c],
            _ => Vec::new(),
        }
    }

    /// Makes a function put its result there.
    pub(super) fn put_at(&mut self, slot: Slot) {
        if let Self::Map1 { dst, .. } | Self::Map2 { dst, .. } | Self::Map3 { dst, .. } = self {
            *dst = slot;
        }
    }
}

impl fmt::Debug for Instr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Map1 { dst, a, .. } => write!(f, "{dst:?} = map {a:?}"),
            Self::Map2 { dst, a, b, .. } => write!(f, "{dst:?} = map {a:?}, {b:?}"),
            Self::Map3 { dst, a, b, c, .. } => write!(f, "{dst:?} = map {a:?}, {b:?}, {c:?}"),
            Self::Coords { dst, value } => write!(f, "{dst:?} = coords {value:?}"),
            Self::Load { dst, access, .. } => write!(f, "{dst:?} = load {access}"),
            Self::Find { place, access, .. } => write!(f, "find {access} at {place}"),
            Self::Aim { place, access, .. } => write!(f, "aim {place} at {access}"),
            Self::Settle { place, access, .. } => write!(f, "settle {access}, {place}"),
            Self::Store { src, access } => write!(f, "store {access}, {src:?}"),
            Self::Atomic { src, expected, old, access, .. } => {
                write!(f, "{old:?} = atomic {access}, {expected:?}, {src:?}")
            }
            Self::InBounds { dst, access, .. } => write!(f, "{dst:?} = in_bounds {access}"),
            Self::Shuffle { dst, src, lanes, .. } => {
                write!(f, "{dst:?} = shuffle {src:?}, {lanes:?}")
            }
            Self::Ballot { dst, flags } => write!(f, "{dst:?} = ballot {flags:?}"),
            Self::Jump { target } => write!(f, "jump {target}"),
            Self::JumpUnless { cond, target } => write!(f, "jump {target} unless {cond}"),
            Self::JumpIfNone { mask, target } => write!(f, "jump {target} if none {mask:?}"),
            Self::LargestOf { dst, lanes, mask } => write!(f, "{dst} = max {lanes:?} {mask:?}"),
            Self::LoopEnter { range, trip, .. } => write!(f, "loop {trip} over {range:?}"),
            Self::LoopNext { trip, counter, exit, .. } => {
                write!(f, "{counter} = next {trip} or {exit}")
            }
            Self::Differ { fact, .. } => write!(f, "differ {fact}"),
            Self::Fail { mask, fact, .. } => write!(f, "fail {fact} where {mask:?}"),
            Self::Touch { access, site, .. } => write!(f, "touch {access} at {site}"),
            Self::Count { op, mask } => write!(f, "count {op} {mask:?}"),
            Self::Branch { branch, flags, .. } => write!(f, "branch {branch} {flags:?}"),
            Self::Notice { flags, operation, .. } => write!(f, "notice {operation}, {flags:?}"),
            Self::Meet { mask, meeting } => write!(f, "meet {meeting} {mask:?}"),
            Self::Items { program } => write!(f, "items {program}"),
            Self::Barrier(who) => write!(f, "barrier {who:?}"),
        }
    }
}

/// A [`tile_ir::program::LoopRange`] with its bounds in uniform registers.
#[derive(Clone, Copy, Debug)]
pub(super) enum UniformRange {
    /// `start`, `start + step`, … below `end`.
    Between { start: Uniform, end: Uniform, step: Uniform, reversed: bool },
    /// n/2, n/4, …, 1.
    Halving(Uniform),
    /// 1, 2, 4, … below n.
    Doubling(Uniform),
}

/// What lanes of a load get where nothing is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pad {
    /// Zero bits.
    Zero,
    /// A uniform register's value.
    Value(Uniform),
    /// What the destination holds.
    Keep,
}

/// An index that is affine in the item's coordinates:
/// constant + base + Σ coefficient × coordinate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Affine {
    /// Known when the kernel is prepared.
    pub(super) constant: i64,
    /// A register added to it.
    pub(super) base: Option<Uniform>,
    /// One per axis of the domain; trailing zeros are left out.
    pub(super) coefs: Vec<i64>,
}

/// An index along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Index {
    /// Affine in the coordinates.
    Affine(Affine),
    /// Index lanes.
    Lanes(Slot),
}

/// One axis of an access.
#[derive(Clone, Debug)]
pub(super) struct AccessAxis {
    /// The index.
    pub(super) index: Index,
    /// Which comparisons decide; the others must hold.
    pub(super) guard: AxisGuard,
}

/// An access to an array.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// Which array: buffers come first, then tiles.
    pub(super) array: usize,
    /// Its axes, then the choice among a tile's buffers.
    pub(super) axes: Vec<AccessAxis>,
    /// The lanes that take part; absent for all.
    pub(super) mask: Option<Slot>,
    /// Size of an element.
    pub(super) elem_bytes: usize,
}

/// An array: how to find it at run time.
#[derive(Clone, Debug)]
pub(super) struct Array {
    /// Its name in the source.
    pub(super) name: String,
    /// Element type.
    pub(super) dtype: DType,
    /// Where its shape and memory come from.
    pub(super) place: ArrayPlace,
}

/// Who has an array in tile memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TileKind {
    /// The block.
    Shared,
    /// Each item one.
    Local,
    /// It holds a fragment.
    Kept,
}

/// Where an array's shape and memory come from.
#[derive(Clone, Debug)]
pub(super) enum ArrayPlace {
    /// The launch: registers that hold extents and strides.
    Buffer {
        /// One per axis.
        extents: Vec<Uniform>,
        /// One per axis, in elements.
        strides: Vec<Uniform>,
        /// Whether the kernel writes it.
        written: bool,
        /// Whether it is in constant memory.
        is_constant: bool,
    },
    /// The block's tile memory.
    Tile {
        /// First byte.
        offset_bytes: usize,
        /// Extents, then the number of buffers.
        extents: Vec<i64>,
        /// Strides in elements, then that from buffer to buffer.
        strides: Vec<i64>,
        /// Applied to the offset within one buffer.
        swizzle: Option<Swizzle>,
        /// Who has it.
        kind: TileKind,
    },
}

/// The body of an `Items`, compiled.
#[derive(Clone, Debug)]
pub(super) struct LaneProgram {
    /// Items and how they fall into chunks.
    pub(super) domain: Chunking,
    /// Run once before the first chunk.
    pub(super) preamble: Vec<Instr>,
    /// Run for each chunk.
    pub(super) code: Vec<Instr>,
    /// The number of the first item's agent.
    pub(super) agents: u32,
}

/// How a domain's items, in row-major order, fall into chunks of lanes.
///
/// A *row* is a run along one axis. A chunk is either several whole rows, or
/// one piece of a row; so its items are consecutive.
#[derive(Clone, Debug)]
pub(super) struct Chunking {
    /// Extents of the domain.
    pub(super) extents: Vec<usize>,
    /// Number of items.
    pub(super) n_items: usize,
    /// The innermost axis with more than one point.
    pub(super) row_axis: usize,
    /// Most lanes of one row in a chunk.
    pub(super) piece_lanes: usize,
    /// Most rows in a chunk.
    pub(super) n_rows: usize,
}

impl Chunking {
    /// The lanes of the largest chunk.
    pub(super) fn max_lanes(&self) -> usize {
        self.piece_lanes * self.n_rows
    }
}

/// One role's statements.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    /// The role's position in [`tile_ir::program::ProgramKernel::roles`].
    pub(super) role: usize,
    /// The role's name.
    pub(super) name: String,
    /// Its statements at block scope.
    pub(super) code: Vec<Instr>,
}

/// A grid axis, compiled.
#[derive(Clone, Debug)]
pub(super) struct GridAxis {
    /// The number of blocks.
    pub(super) extent: Uniform,
    /// The block's coordinate; one register for each agent.
    pub(super) coords: Vec<Uniform>,
}

/// A kernel made ready to run; holds nothing of any launch.
#[derive(Clone, Debug)]
pub(crate) struct CompiledKernel {
    /// The kernel's name.
    pub(super) name: String,
    /// Each launch argument: name, type, register.
    pub(super) args: Vec<(String, Ty, Uniform)>,
    /// Buffers, then tiles.
    pub(super) arrays: Vec<Array>,
    /// How many of `arrays` are buffers.
    pub(super) n_buffers: usize,
    /// The grid.
    pub(super) grid: Vec<GridAxis>,
    /// How blocks are numbered.
    pub(super) raster: Raster,
    /// How it is run.
    pub(super) mode: Mode,
    /// The uniform registers at first: constants in place, the others 0.
    pub(super) uniforms: Vec<u64>,
    /// Run once for a launch: extents, strides, the grid.
    pub(super) launch_code: Vec<Instr>,
    /// The roles.
    pub(super) roles: Vec<Agent>,
    /// Bodies of `Items`.
    pub(super) programs: Vec<LaneProgram>,
    /// Accesses of all lists.
    pub(super) accesses: Vec<Access>,
    /// Assumptions of all lists, with their places in the source.
    pub(super) facts: Vec<(Assumption, SpanId)>,
    /// Where elements are touched; in checked mode, as the next ones.
    pub(super) sites: Vec<Site>,
    /// Operations that are looked at.
    pub(super) operations: Vec<Operation>,
    /// Conditions and loops, by their place in the source; where they are counted.
    pub(super) branches: Vec<SpanId>,
    /// Operations that are counted: type of the result, and how many one counts.
    pub(super) counted_ops: Vec<(DType, u64)>,
    /// Threads of a block.
    pub(super) threads: u32,
    /// Where work-items meet.
    pub(super) meetings: Vec<Meeting>,
    /// Who runs the bodies of `Items`.
    pub(super) agents: Vec<Agents>,
    /// How many agents there are.
    pub(super) n_agents: u32,
    /// Who runs statements at block scope.
    pub(super) block_agent: u32,
    /// Places where lanes are found.
    pub(super) n_places: usize,
    /// Size of the vector registers.
    pub(super) vector_bytes: usize,
    /// Size of the fragments.
    pub(super) fragment_bytes: usize,
    /// Size of the tiles.
    pub(super) tile_bytes: usize,
}
