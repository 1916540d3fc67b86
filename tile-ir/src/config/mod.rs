//! Every choice that the tuner may make about a kernel, and how it is made
//! without measuring.

mod choose;
mod estimate;
mod tiles;

pub use choose::{default_config, with_tiles};
pub use estimate::{Estimate, estimate};
pub(crate) use tiles::tile_value;
pub use tiles::{candidate_values, complete_tiles};

use crate::arena::EntityId as _;
use crate::kernel::{Kernel, TileParamId};

/// Whether results may depend on the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Numerics {
    /// Every configuration gives the same bits on every device.
    #[default]
    Exact,
    /// Accumulators (`Acc<T>`) may be summed in another order.
    Reassociated,
}

/// How shared tiles are kept free of bank conflicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TilePadding {
    /// The fewest elements at the end of a row that give the fewest wavefronts,
    /// by counting the accesses of one warp.
    #[default]
    Counted,
    /// This many elements at the end of each row.
    Elems(u32),
}

/// One value for every choice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Config {
    /// The value of each tile parameter, by id. A tied or derived parameter's
    /// value stands here too.
    pub tiles: Vec<u32>,
    /// Threads per block.
    pub threads: u32,
    /// Threads along each axis of the block domain, outermost first; their
    /// product is at most `threads`. Each thread runs `ceil(extent / threads)`
    /// work-items along the axis. Empty where the kernel has no block domain.
    pub block_threads: Vec<u32>,
    /// How shared tiles are padded.
    pub padding: TilePadding,
    /// Rows of blocks per band of the grid ([`crate::program::Raster::Grouped`]);
    /// 1 is row-major order.
    pub raster_rows: u32,
    /// Whether sums may be reassociated.
    pub numerics: Numerics,
}

impl Config {
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
    /// No admissible tile sizes fit the device.
    #[error(
        "kernel `{kernel}`: no admissible tile sizes fit `{device}`, which has {shared_bytes} bytes \
         of shared memory and {max_threads} threads per block{}",
        least.map(|bytes| format!("; the smallest tiles take {bytes} bytes")).unwrap_or_default()
    )]
    NothingFits {
        /// The kernel.
        kernel: String,
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
