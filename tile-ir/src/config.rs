//! Every choice that the tuner may make about a kernel.

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
