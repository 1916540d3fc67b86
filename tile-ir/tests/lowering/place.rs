//! Where tiles lie: swizzles beside pads, and tiles in one place.

use tile_ir::analyze::banks::tile_wavefronts;
use tile_ir::config::TilePadding;
use tile_ir::program::{SharedMemory, TileId, TileLayout, may_share, print_program};

use crate::support::{Case, add, id, matmul, transpose};

const SWIZZLED: TilePadding = TilePadding::Swizzled;

/// A transpose's tile is written along rows and read along columns: a swizzle
/// spreads the columns as a pad does, and takes no memory.
#[test]
fn a_swizzle_spreads_columns_without_memory() {
    let program = Case { padding: SWIZZLED, ..transpose() }.program();
    let mut kernel = program.kernels[0].clone();
    let layout = kernel.tiles[id::<TileId>(0)].layout.clone();
    assert!(layout.swizzle.is_some(), "{layout:?}");
    assert_eq!(layout.size_elems, 32 * 32);
    let swizzled = tile_wavefronts(&kernel, id(0));
    kernel.tiles[id::<TileId>(0)].layout = TileLayout::padded(&[32, 32], 1);
    assert_eq!(swizzled, tile_wavefronts(&kernel, id(0)));
}

/// Where rows are read as they lie there is nothing to spread.
#[test]
fn without_conflicts_there_is_no_swizzle() {
    let text = "
    pub fn copy<T: Number>(a: &Tensor<T, [R, C]>, b: &mut Tensor<T, [R, C]>)
    where tile: (TR, TC), grid: (by in tiles(R, TR), bx in tiles(C, TC)),
    {
        shared s: [T; TR, TC];
        load s[i, j] = a[by * TR + i, bx * TC + j];
        barrier;
        each (i, j) in (TR, TC) {
            b[by * TR + i, bx * TC + j] = s[i, j];
        }
    }";
    let case = Case { text, padding: SWIZZLED, ..transpose() };
    assert_eq!(case.program().kernels[0].tiles[id::<TileId>(0)].layout.swizzle, None);
}

/// Four elements that one access moves stay together.
#[test]
fn a_swizzle_leaves_vectors_whole() {
    let wide = Case { run: 4, copy_bytes: 16, divisor: 32, padding: SWIZZLED, ..matmul() };
    let case = Case { axes: vec![16, 8], threads: 128, ..wide };
    let program = case.program();
    let text = print_program(&program);
    let tiles = &program.kernels[0].tiles;
    let swizzled = tiles.values().filter(|tile| tile.layout.swizzle.is_some());
    let names: Vec<&str> = swizzled.map(|tile| tile.name.as_str()).collect();
    assert!(!names.is_empty(), "{text}");
    for name in names {
        assert!(text.contains(&format!("{name}.x4[")), "{text}");
    }
}

/// Two tiles, one after the other, and what stands between them.
fn two_tiles(between: &'static str) -> String {
    format!(
        "
    pub fn twice<T: Number>(
        #[pad = 0] a: &Tensor<T, [N]>,
        #[pad = 0] b: &Tensor<T, [N]>,
        c: &mut Tensor<T, [N]>,
    )
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {{
        shared first: [T; TN];
        shared second: [T; TN];
        let mut sum: T = 0;
        load first[i] = a[bx * TN + i];
        barrier;
        sum += first[TN - 1 - tx];
        {between}
        load second[i] = b[bx * TN + i];
        barrier;
        c[bx * TN + tx] = sum + second[TN - 1 - tx];
    }}"
    )
}

fn shared(text: String) -> (bool, SharedMemory) {
    let case = Case { text: text.leak(), tiles: vec![("TN", 64)], axes: vec![64], ..add() };
    let program = Case { threads: 64, ..case }.program();
    let kernel = &program.kernels[0];
    (may_share(kernel, id(0), id(1)), kernel.shared_memory)
}

#[test]
fn tiles_that_a_barrier_parts_lie_in_one_place() {
    assert_eq!(shared(two_tiles("barrier;")), (true, SharedMemory::Dynamic { bytes: 256 }));
}

/// A thread may write the second tile while another still reads the first.
#[test]
fn tiles_in_one_interval_lie_apart() {
    assert_eq!(shared(two_tiles("")), (false, SharedMemory::Static));
}

/// A barrier that some launches do not come by.
#[test]
fn a_conditional_barrier_parts_nothing() {
    let text = two_tiles("if N > 7 { barrier; }");
    assert_eq!(shared(text), (false, SharedMemory::Static));
}

/// A loop that ends with a barrier has one behind each of its reads, however often
/// it runs.
#[test]
fn a_loop_that_ends_with_a_barrier_is_done_with_its_tile() {
    let loops = |first: &str, last: &str| {
        format!(
            "
    pub fn chunks<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {{
        shared part: [T; TN];
        shared out: [T; TN];
        let mut sum: T = 0;
        phase p in tiles(N, TN) {{
            {first}
            load part[i] = a[p * TN + i];
            barrier;
            sum += part[TN - 1 - tx];
            {last}
        }}
        out[tx] = sum;
        barrier;
        c[bx * TN + tx] = out[TN - 1 - tx];
    }}"
        )
    };
    assert!(shared(loops("", "barrier;")).0);
    assert!(!shared(loops("barrier;", "")).0);
}
