//! Every choice that the tuner may make about a kernel, and how it is made
//! without measuring.

mod choose;
mod columns;
mod combinations;
mod estimate;
mod layouts;
mod plain;
mod raster;
mod space;
mod tiles;
mod valid;
mod warps;

pub use choose::{default_config, first_choices, with_tiles};
pub(crate) use estimate::UNKNOWN_TRIPS;
pub use estimate::{Estimate, MAX_REGISTERS, Model, estimate};
pub use plain::plain_config;
pub use space::{Breadth, Space};
pub use tiles::{block_extents, candidate_values, complete_tiles, tile_named};
pub(crate) use tiles::{check_tiles, tied_tiles, tile_value};
pub use valid::check_config;

use serde::{Deserialize, Serialize};

use crate::arena::EntityId as _;
use crate::kernel::{Kernel, TileParamId};

/// Whether results may depend on the configuration.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Numerics {
    /// Every configuration gives the same bits on every device.
    #[default]
    Exact,
    /// Accumulators (`Acc<T>`) may be summed in another order.
    Reassociated,
}

/// How shared tiles are kept free of bank conflicts.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum TilePadding {
    /// The fewest elements at the end of a row that give the fewest wavefronts,
    /// by counting the accesses of one warp.
    #[default]
    Counted,
    /// This many elements at the end of each row.
    Elems(u32),
    /// None: the elements of a row are permuted by bits of the row's number
    /// ([`crate::program::Swizzle`]), where that gives fewer wavefronts, by counting
    /// the accesses of one warp.
    Swizzled,
}

/// How the work-items along one axis of the block domain are put on threads.
///
/// From the inside out: a thread takes `run` consecutive items; `lanes` threads
/// of a warp lie next to each other; then the other threads of the axis; what
/// remains of the extent each thread takes in passes, one pass of all threads
/// further on each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AxisItems {
    /// Threads along the axis.
    pub threads: u32,
    /// Threads of one warp along the axis; divides `threads`. Where the product
    /// over the axes is not the size of a warp, warps take threads in row-major
    /// order.
    pub lanes: u32,
    /// Consecutive items of one thread.
    pub run: u32,
}

impl AxisItems {
    /// Threads in row-major order, each with single items.
    pub const fn strided(threads: u32) -> Self {
        Self { threads, lanes: 1, run: 1 }
    }

    /// Work-items per thread along an axis of `extent` items.
    pub const fn items_per_thread(self, extent: u32) -> u32 {
        let pass = if self.threads * self.run == 0 { 1 } else { self.threads * self.run };
        extent.div_ceil(pass) * self.run
    }
}

/// One value for every choice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Config {
    /// The value of each tile parameter, by id. A tied or derived parameter's
    /// value stands here too.
    pub tiles: Vec<u32>,
    /// Threads per block.
    pub threads: u32,
    /// How the work-items along each axis of the block domain, outermost first,
    /// are put on threads; the product of the axes' threads is at most `threads`.
    /// Empty where the kernel has no block domain.
    pub block: Vec<AxisItems>,
    /// Bytes of one access of a cooperative loop to global memory, as far as
    /// alignment and stride allow: 4, 8 or 16; less for the element itself.
    pub copy_bytes: u32,
    /// Buffers of the tiles that a `phase` fills: with 2, the next iteration's
    /// elements are on their way while the present one computes; with more, those
    /// of so many iterations less one, where copies are asynchronous.
    pub stages: u32,
    /// With several stages: whether the phase's iteration is written out once for
    /// each stage, so that the place of each buffer is a constant.
    pub unroll_stages: bool,
    /// Statements that the body of a constant loop may come to where it is written
    /// out, those of each item of a thread counted: longer ones stay loops of parts
    /// that are no longer. 0 sets no limit. Code beyond the instruction cache stalls.
    pub unrolled_stmts: u32,
    /// With several stages: copies of at least so many bytes an access are
    /// asynchronous, where the device can; smaller ones go through registers, as
    /// all do at 0.
    pub async_bytes: u32,
    /// With several stages: whether later iterations are fetched without a jump past it
    /// where there is none. Asynchronous copies then stand behind the loads of an
    /// iteration's first operands, each with the condition as its predicate, so that
    /// their addresses are computed between the first operations. Where all goes through
    /// registers, the last iteration stores there what is at hand.
    pub predicate_copies: bool,
    /// Blocks that an SM must have registers for at the least: the compiler rather
    /// spills than take more. With 0 it decides.
    pub min_blocks: u32,
    /// Whether the lanes of a warp that has threads along two axes ([`AxisItems::lanes`])
    /// lie in pairs: neighbours along the one axis, then along the other. An operand of
    /// either axis is then shared by neighbouring lanes or by every other one, which
    /// halves what vectors of 16 bytes take of shared memory
    /// ([`crate::analyze::banks`]); addresses take more instructions.
    pub paired_lanes: bool,
    /// Whether a thread goes down the columns of its items ([`Walk::DownColumns`]) where
    /// they share operands, in place of back and forth along rows.
    ///
    /// [`Walk::DownColumns`]: crate::program::Walk::DownColumns
    pub by_columns: bool,
    /// Into how many parts what a phase brings at a time is cut, one after the other:
    /// its tiles are so much less deep. Where its extents can be cut so, and the loop that
    /// uses the tiles goes through them in order; other phases stay as they are.
    pub phase_parts: u32,
    /// Groups of threads that share out the iterations of a reduction, each with
    /// the block's items in `block`'s layout; at the end their accumulators are
    /// combined. With more than 1, sums of floats need
    /// [`Numerics::Reassociated`]; a kernel without such a reduction has one
    /// group.
    pub slices: u32,
    /// Buffers of the fragments that hold what the items of a thread share. With
    /// 0 there are none, each item loads its operands; with 1 they are loaded when
    /// they are used; with 2 a constant loop's next operands are loaded while the
    /// present ones are used.
    pub fragment_buffers: u32,
    /// Bytes to which a cooperative loop aligns its stores where rows begin
    /// anywhere: a power of two; 0 where it stores them as they come.
    pub align_bytes: u32,
    /// Whether a cooperative loop moves whole vectors of `copy_bytes` from rows that
    /// begin anywhere into a tile; its rows are then as far from alignment as those
    /// of the tensor, so that reads of it are of single elements.
    pub whole_vectors: bool,
    /// Whether blocks away from the edges run a copy of the text without
    /// comparisons.
    pub split_edges: bool,
    /// How shared tiles are padded, or swizzled.
    pub padding: TilePadding,
    /// Whether reads of global memory whose every element a launch touches once pass
    /// the caches by, as far as the device can.
    pub stream_loads: bool,
    /// As [`Self::stream_loads`], of writes.
    pub stream_stores: bool,
    /// Rows of blocks per band of the grid ([`crate::program::Raster::Grouped`]);
    /// 1 is row-major order.
    pub raster_rows: u32,
    /// Whether sums may be reassociated.
    pub numerics: Numerics,
}

impl Config {
    /// Whether each thread of a block of these extents takes one work-item, in row-major
    /// order: then exchanges among work-items are among threads, without a way through
    /// shared memory.
    pub fn is_one_per_thread(&self, extents: &[u32]) -> bool {
        let in_order = |axis: &AxisItems| axis.lanes == 1 || extents.len() == 1;
        let pairs = || self.block.iter().zip(extents);
        self.block.len() == extents.len()
            && pairs().all(|(axis, &extent)| axis.threads == extent && axis.run == 1)
            && self.block.iter().all(in_order)
    }

    /// The configuration that leaves most to the text: these tile sizes, single
    /// elements copied at once, one buffer of everything, a thread for each of
    /// the block's items or as many as `block` says.
    pub fn plain(tiles: Vec<u32>, block: Vec<AxisItems>) -> Self {
        let threads = block.iter().map(|axis| axis.threads).fold(1, u32::saturating_mul);
        Self {
            tiles,
            threads,
            block,
            copy_bytes: 4,
            stages: 1,
            unroll_stages: false,
            unrolled_stmts: 0,
            async_bytes: 0,
            predicate_copies: false,
            min_blocks: 0,
            paired_lanes: false,
            by_columns: false,
            phase_parts: 1,
            slices: 1,
            fragment_buffers: 1,
            align_bytes: 0,
            whole_vectors: false,
            split_edges: false,
            padding: TilePadding::Counted,
            stream_loads: false,
            stream_stores: false,
            raster_rows: 1,
            numerics: Numerics::Exact,
        }
    }

    /// The value of a tile parameter, 0 where the configuration has none.
    pub fn tile(&self, id: TileParamId) -> u32 {
        self.tiles.get(id.index()).copied().unwrap_or(0)
    }

    /// The tile parameters and their values as a user writes them:
    /// `TM = 64, TN = 64`.
    pub fn describe_tiles(&self, kernel: &Kernel) -> String {
        let values = kernel.tile_params.iter();
        let texts: Vec<String> =
            values.map(|(id, param)| format!("{} = {}", param.name, self.tile(id))).collect();
        texts.join(", ")
    }
}

/// Why there is no configuration, or a given one cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A tile size was given for a parameter that the kernel does not have.
    #[error("kernel `{kernel}` has no tile parameter `{param}`; it has {known}")]
    UnknownTile {
        /// The kernel.
        kernel: String,
        /// The name given.
        param: String,
        /// The names there are.
        known: String,
    },
    /// A free tile parameter has no value.
    #[error("kernel `{kernel}`: no value for tile parameter `{param}`")]
    MissingTile {
        /// The kernel.
        kernel: String,
        /// The parameter.
        param: String,
    },
    /// A value outside its parameter's domain.
    #[error(
        "kernel `{kernel}`: `{param} = {value}` is not admissible; `{param}` is one of {domain}"
    )]
    NotAdmissible {
        /// The kernel.
        kernel: String,
        /// The parameter.
        param: String,
        /// The value.
        value: u32,
        /// The domain.
        domain: String,
    },
    /// A tied parameter was given another value than its tie has.
    #[error("kernel `{kernel}`: `{param}` is tied to `{expr}`, which is {value} here")]
    Tied {
        /// The kernel.
        kernel: String,
        /// The parameter.
        param: String,
        /// What it is tied to.
        expr: String,
        /// The value that it has by its tie.
        value: u32,
    },
    /// A constraint does not hold.
    #[error("kernel `{kernel}`: the tile sizes do not fulfil `{constraint}`")]
    Constraint {
        /// The kernel.
        kernel: String,
        /// The constraint.
        constraint: String,
    },
    /// The sizes leave a tile or the block domain without elements, or give it or
    /// a cooperative loop too many.
    #[error("kernel `{kernel}`: with {tiles}, the extent `{extent}` of `{name}` is {value}{}",
        if *value > 0 { ", which makes it too large" } else { "" })]
    Extent {
        /// The kernel.
        kernel: String,
        /// The tile sizes: `TM = 64, TN = 64`.
        tiles: String,
        /// The tile, or the first axis of the domain.
        name: String,
        /// The extent as written, the first one that is wrong.
        extent: String,
        /// Its value; 0 where it is no number.
        value: i128,
    },
    /// The tiles of a given configuration do not fit a block of the device.
    #[error(
        "kernel `{kernel}`: with {tiles}, a block needs {needed_bytes} bytes of shared memory; \
         `{device}` has {available_bytes}\nhelp: smaller tile sizes, or fewer stages"
    )]
    SharedMemory {
        /// The kernel.
        kernel: String,
        /// The tile sizes: `TM = 64, TN = 64`.
        tiles: String,
        /// The device.
        device: String,
        /// What the tiles take, padding and copies for stages included.
        needed_bytes: u64,
        /// What a block can have.
        available_bytes: u32,
    },
    /// A given configuration is one of another kernel.
    #[error(
        "the configuration given is not one of `{kernel}`: it has {found} {what}, the kernel has \
         {needed}\nhelp: take one from `{kernel}::kernel` and change that"
    )]
    Foreign {
        /// The kernel.
        kernel: String,
        /// What there is of it: tile sizes, axes of the block.
        what: &'static str,
        /// How many the configuration has.
        found: usize,
        /// How many the kernel has.
        needed: usize,
    },
    /// A choice of a given configuration is none.
    #[error("kernel `{kernel}`: {choice} of the configuration is {value}; it must be {needed}")]
    Choice {
        /// The kernel.
        kernel: String,
        /// The choice.
        choice: String,
        /// Its value.
        value: u64,
        /// What it could be.
        needed: String,
    },
    /// A given configuration has more threads than a block of the device.
    #[error(
        "kernel `{kernel}`: {threads} threads per block; `{device}` runs {most}\n\
         help: fewer `threads`, or fewer threads along the axes of `block`"
    )]
    Threads {
        /// The kernel.
        kernel: String,
        /// The device.
        device: String,
        /// Threads of the configuration.
        threads: u32,
        /// The most that a block can have.
        most: u32,
    },
    /// No admissible tile sizes fit the device.
    #[error(
        "kernel `{kernel}`: {} tile sizes fit `{device}`, which has {shared_bytes} bytes of shared \
         memory and {max_threads} threads per block{}",
        if given.is_empty() { "no admissible".to_owned() } else { format!("with {given} no") },
        least.map(|bytes| format!("; the smallest tiles take {bytes} bytes")).unwrap_or_default()
    )]
    NothingFits {
        /// The kernel.
        kernel: String,
        /// The tile sizes that were given: `TM = 64`.
        given: String,
        /// The device.
        device: String,
        /// Shared memory a block can have.
        shared_bytes: u32,
        /// Threads a block can have.
        max_threads: u32,
        /// Shared memory of the smallest admissible tiles, in bytes.
        least: Option<u64>,
    },
}
