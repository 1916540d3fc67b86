//! The named space: the configurations of a matrix product that what the tuner finds,
//! and what is chosen without measuring, are compared with. It changes for nothing
//! that is measured.
//!
//! Its name is `product-408`: every sensible way to share out 34 tiles among
//! threads, times three depths and four pipelines. Nothing in it reassociates.

use tile_runtime::Config;
use tile_runtime::ir::config::{AxisItems, TilePadding};

/// The name.
pub(crate) const NAME: &str = "product-408";

/// Rows and columns of a block's tile.
const TILES: [(u32, u32); 11] = [
    (32, 32),
    (32, 64),
    (64, 32),
    (64, 64),
    (64, 128),
    (128, 64),
    (128, 128),
    (64, 256),
    (256, 64),
    (128, 256),
    (256, 128),
];
/// Its depth.
const DEPTHS: [u32; 3] = [8, 16, 32];
/// Rows and columns of a thread's work-items.
const ITEMS: [(u32, u32); 6] = [(4, 4), (8, 4), (4, 8), (8, 8), (8, 16), (16, 8)];
/// Threads of a block.
const THREADS: std::ops::RangeInclusive<u32> = 64..=256;
/// Buffers of the tiles, whether an iteration is written out for each, and whether
/// copies ahead are predicated.
const PIPELINES: [(u32, bool, bool); 4] =
    [(2, true, false), (2, false, true), (3, false, true), (4, false, false)];

/// All of them.
pub(crate) fn named_space() -> Vec<Config> {
    let mut space = Vec::new();
    for (rows, columns) in TILES {
        for (item_rows, item_columns) in ITEMS {
            let threads = [rows / item_rows, columns / item_columns];
            if !THREADS.contains(&(threads[0] * threads[1])) {
                continue;
            }
            for depth in DEPTHS {
                for pipeline in PIPELINES {
                    space.push(config([rows, columns, depth], threads, pipeline));
                }
            }
        }
    }
    space
}

fn config(
    tiles: [u32; 3],
    [rows, columns]: [u32; 2],
    (stages, unroll_stages, predicate_copies): (u32, bool, bool),
) -> Config {
    // Warps of 8 x 4 threads where there are so many rows of them.
    let lanes = if rows.is_multiple_of(8) { [8, 4] } else { [4, 8] };
    let block = [(rows, lanes[0]), (columns, lanes[1])].map(|(threads, lanes)| AxisItems {
        threads,
        lanes,
        run: 4,
    });
    Config {
        copy_bytes: 16,
        stages,
        unroll_stages,
        async_bytes: 4,
        predicate_copies,
        fragment_buffers: 2,
        split_edges: true,
        padding: TilePadding::Counted,
        raster_rows: 8,
        ..Config::plain(tiles.to_vec(), block.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tile_runtime::ir::config::check_config;
    use tile_runtime::ir::device::known;

    use super::*;

    #[test]
    fn it_has_as_many_as_its_name_says_and_no_more_than_500() {
        let space = named_space();
        let distinct: BTreeSet<&Config> = space.iter().collect();
        assert_eq!((distinct.len(), NAME), (space.len(), "product-408"));
        assert_eq!(space.len(), 408);
    }

    #[test]
    fn each_is_a_configuration_of_the_product() {
        let device = known("H200").unwrap();
        let kernel = tile_kernels::matmul::kernel::<f32>();
        for config in named_space() {
            check_config(kernel.checked().kernel(), &config, &device).unwrap();
        }
    }
}
