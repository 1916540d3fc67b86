//! Counts of small launches against worked examples.

use tile_ir::dtype::DType;
use tile_ir::explain::count::{KernelCounts, Limits, Space, Touches};

use tile_ir::value::ScalarValue;

use crate::kernels::{ADD, CONVERGENT_TREE, MATMUL, NAIVE, ROWS, SPARSE, TRANSPOSE, TREE, WINDOW};
use crate::support::{checked, counts, counts_with, site, textbook};

fn textbook_counts(text: &str, tiles: &[u32], threads: &[u32], dims: &[u64]) -> KernelCounts {
    let config = textbook(tiles, threads);
    counts(&checked(text), DType::F32, &config, dims, Limits::default())
}

/// 1000 elements in blocks of 256: 31 full warps and one of 8 lanes, whose others add
/// what is outside.
#[test]
fn addition() {
    let counts = textbook_counts(ADD, &[256], &[256], &[1000]);
    assert!(counts.is_exact);
    assert_eq!(counts.grid, [4]);
    assert_eq!(counts.flops(), 1024);
    for (array, touches) in [("a", Touches::Reads), ("b", Touches::Reads), ("c", Touches::Writes)] {
        let site = site(&counts, array, touches);
        assert_eq!((site.requests, site.elems, site.bytes()), (32, 1000, 4000));
        assert_eq!((site.sectors, site.ideal_sectors), (125, 125));
        assert_eq!((site.wavefronts, site.unknown_requests), (0, 0));
    }
}

/// The textbook's product of 64 x 64 in tiles of 16 x 16: of each tile's two rows in
/// a warp, `a_s` is read as a broadcast of two words, `b_s` as a row of 16.
#[test]
fn tiled_product() {
    let counts = textbook_counts(MATMUL, &[16, 16, 16], &[16, 16], &[64, 64, 64]);
    assert!(counts.is_exact);
    assert_eq!(counts.flops(), 2 * 64 * 64 * 64);
    assert_eq!(counts.barriers, 16 * 4 * 2);
    // 16 blocks, 4 phases, 8 warps.
    let a = site(&counts, "a", Touches::Reads);
    assert_eq!((a.requests, a.bytes(), a.sectors), (16 * 4 * 8, 4 * 64 * 64 * 4, 16 * 4 * 8 * 4));
    for (tile, words) in [("a_s", 2), ("b_s", 16)] {
        let reads = site(&counts, tile, Touches::Reads);
        assert_eq!(reads.requests, 16 * 4 * 8 * 16, "{words} words");
        assert_eq!(reads.elems, 64 * 64 * 64);
    }
    let b_s = site(&counts, "b_s", Touches::Reads);
    assert_eq!((b_s.wavefronts, b_s.ideal_wavefronts), (b_s.requests, b_s.requests));
    assert_eq!(counts.bytes(Space::Global), 2 * 4 * 64 * 64 * 4 + 64 * 64 * 4);
}

/// Without a tile a work-item asks for both operands itself: 8 bytes for two operations.
#[test]
fn naive_product() {
    let counts = textbook_counts(NAIVE, &[16, 16], &[16, 16], &[64, 64, 64]);
    let (a, b) = (site(&counts, "a", Touches::Reads), site(&counts, "b", Touches::Reads));
    assert_eq!(counts.flops() as f64 / (a.bytes() + b.bytes()) as f64, 0.25);
    // A warp has two rows of a, one element of each, and 16 columns of b.
    let requests = 16 * 8 * 64;
    assert_eq!((a.requests, a.sectors, a.ideal_sectors), (requests, 2 * requests, requests));
    assert_eq!((b.requests, b.sectors, b.ideal_sectors), (requests, 2 * requests, 2 * requests));
}

/// The tile is padded by one, so that columns meet all banks; both sides of global
/// memory are rows.
#[test]
fn transpose() {
    let counts = {
        let config = tile_ir::config::Config { threads: 256, ..textbook(&[32, 32], &[]) };
        counts(&checked(TRANSPOSE), DType::F32, &config, &[64, 96], Limits::default())
    };
    assert!(counts.is_exact);
    let (write, read) = (site(&counts, "s", Touches::Writes), site(&counts, "s", Touches::Reads));
    for site in [write, read] {
        assert_eq!((site.requests, site.wavefronts), (192, 192));
    }
    for (array, touches) in [("a", Touches::Reads), ("b", Touches::Writes)] {
        let site = site(&counts, array, touches);
        assert_eq!((site.sectors, site.ideal_sectors), (768, 768));
    }
}

/// Lanes that begin rows of 64 words each fetch a sector of their own.
#[test]
fn rows_of_a_matrix() {
    let counts = textbook_counts(ROWS, &[64], &[64], &[64, 64]);
    let x = site(&counts, "x", Touches::Reads);
    assert_eq!((x.requests, x.sectors, x.ideal_sectors), (128, 32 * 128, 4 * 128));
}

/// A tree of 64 in two warps, steps 1, 2, 4, 8, 16, 32. With lanes side by side, only
/// the last steps split a warp; with lanes apart, all but the last.
#[test]
fn trees_split_warps() {
    let split = |text| {
        let counts = textbook_counts(text, &[64], &[64], &[64]);
        assert!(counts.is_exact);
        let loops = counts.branches.iter().filter(|branch| branch.warps == 12);
        loops.map(|branch| branch.split).sum::<u64>()
    };
    // Each step splits both warps, but 32: its one lane is in the first.
    assert_eq!(split(TREE), 5 * 2 + 1);
    // 32: all of the first warp. 16, 8, 4, 2, 1: the first warp alone.
    assert_eq!(split(CONVERGENT_TREE), 5);
}

/// What depends on data is counted as such.
#[test]
fn sparse_rows_are_unknown() {
    let counts = textbook_counts(SPARSE, &[64], &[64], &[64, 1000, 100]);
    let x = site(&counts, "x", Touches::Reads);
    assert_eq!(x.unknown_requests, x.requests);
    // Sixteen iterations of two warps, each lane in a sector of its own.
    assert_eq!((x.requests, x.sectors), (32, 32 * 32));
    let unknown: Vec<u64> = counts.branches.iter().map(|branch| branch.unknown).collect();
    assert!(unknown.contains(&2), "{unknown:?}");
    assert_eq!(counts.flops(), 2 * 64 * 16);
}

/// A radius and a condition.
pub(crate) fn window_scalars(radius: u64, twice: bool) -> [ScalarValue; 2] {
    let radius = ScalarValue { dtype: DType::U8, bits: radius };
    [radius, ScalarValue { dtype: DType::Bool, bits: twice.into() }]
}

/// 64 windows of 5, of which 3 + 3 elements are outside; two warps, five iterations.
#[test]
fn scalars_decide_loops_and_conditions() {
    let (kernel, config) = (checked(WINDOW), textbook(&[64], &[64]));
    let of = |scalars: &[ScalarValue]| {
        counts_with(&kernel, DType::F32, &config, (&[64], scalars), Limits::default())
    };
    for (twice, products) in [(false, 0), (true, 64)] {
        let counts = of(&window_scalars(2, twice));
        let x = site(&counts, "x", Touches::Reads);
        assert_eq!((x.requests, x.elems, x.unknown_requests), (10, 5 * 64 - 6, 0));
        assert_eq!(counts.flops(), 5 * 64 - 6 + products);
        assert!(counts.is_exact && counts.branches.iter().all(|branch| branch.unknown == 0));
    }
    // Of a radius that nobody says 16 iterations are assumed.
    let counts = of(&[]);
    assert_eq!(site(&counts, "x", Touches::Reads).requests, 32);
    assert_eq!(counts.branches.iter().filter(|branch| branch.unknown > 0).count(), 3);
}
