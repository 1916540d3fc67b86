//! The CPU device against the references, over shapes that meet every edge of a
//! tile and over several configurations.

use tile_kernels::checks::{self, Setup, Verdict};
use tile_kernels::number::Reference;
use tile_runtime::Device;

/// Tile sizes of the three-parameter kernels: square, with each extent the
/// largest once, and none a power of two.
const PRODUCT_TILES: [[u32; 3]; 5] =
    [[16, 16, 16], [64, 32, 16], [16, 64, 32], [32, 16, 64], [5, 7, 3]];

/// Shapes `[m, n, k]`: one element, vectors, primes, exact multiples of every
/// tile above, one more and one less, and none.
const PRODUCT_SHAPES: [[usize; 3]; 12] = [
    [1, 1, 1],
    [1, 37, 5],
    [41, 1, 19],
    [1, 1, 97],
    [13, 17, 31],
    [64, 64, 64],
    [65, 63, 65],
    [63, 65, 1],
    [128, 64, 192],
    [0, 5, 7],
    [5, 0, 7],
    [5, 7, 0],
];

const PLANE_TILES: [[u32; 2]; 4] = [[16, 16], [32, 16], [16, 64], [9, 11]];

const PLANE_SHAPES: [[usize; 2]; 11] = [
    [1, 1],
    [1, 97],
    [89, 1],
    [16, 16],
    [31, 37],
    [64, 128],
    [65, 127],
    [63, 129],
    [0, 9],
    [9, 0],
    [0, 0],
];

const LINE_TILES: [u32; 4] = [1, 32, 100, 256];

const LINE_SHAPES: [usize; 9] = [0, 1, 31, 33, 127, 128, 256, 257, 1009];

/// Runs a check in every shape and configuration, and in the one that the device
/// chooses itself.
#[track_caller]
fn everywhere<const P: usize, const S: usize>(
    names: [&str; P],
    tiles: &[[u32; P]],
    shapes: &[[usize; S]],
    check: impl Fn(&Setup, [usize; S]) -> Verdict,
) {
    let chosen = Setup::new(&Device::cpu());
    for &shape in shapes {
        if let Err(error) = check(&chosen, shape) {
            panic!("shape {shape:?}, tile sizes chosen by the device: {error}");
        }
        for &sizes in tiles {
            let named: Vec<(&str, u32)> = names.into_iter().zip(sizes).collect();
            if let Err(error) = check(&chosen.tiles(&named), shape) {
                panic!("shape {shape:?}, {named:?}: {error}");
            }
        }
    }
}

fn products(check: impl Fn(&Setup, [usize; 3]) -> Verdict) {
    everywhere(["TM", "TN", "TK"], &PRODUCT_TILES, &PRODUCT_SHAPES, check);
}

fn planes(check: impl Fn(&Setup, [usize; 2]) -> Verdict) {
    everywhere(["TR", "TC"], &PLANE_TILES, &PLANE_SHAPES, check);
}

fn lines(check: impl Fn(&Setup, usize) -> Verdict) {
    let tiles = LINE_TILES.map(|size| [size]);
    let shapes = LINE_SHAPES.map(|n| [n]);
    everywhere(["TN"], &tiles, &shapes, |setup, [n]| check(setup, n));
}

#[test]
fn matmul_f32() {
    products(checks::check_matmul::<f32>);
}

#[test]
fn matmul_f64() {
    products(checks::check_matmul::<f64>);
}

#[test]
fn matmul_i32() {
    products(checks::check_matmul::<i32>);
}

#[test]
fn matmul_of_views() {
    products(checks::check_views::<f32>);
    products(checks::check_views::<i32>);
}

#[test]
fn scaled_matmul_in_three_types() {
    products(checks::check_scaled_matmul::<f32>);
    products(checks::check_scaled_matmul::<f64>);
    products(checks::check_scaled_matmul::<i32>);
}

#[test]
fn squared_distances() {
    products(checks::check_squared_distances);
}

#[test]
fn convolve() {
    planes(checks::check_convolve);
}

#[test]
fn seven_point() {
    let tiles = [[1, 8, 8], [3, 5, 7], [16, 4, 32]];
    let shapes = [[1, 1, 1], [5, 17, 9], [16, 8, 32], [33, 9, 31], [0, 4, 4], [4, 4, 0]];
    everywhere(["TD", "TR", "TC"], &tiles, &shapes, checks::check_seven_point);
}

#[test]
fn linear_relu() {
    products(checks::check_linear_relu);
}

#[test]
fn min_plus() {
    products(checks::check_min_plus);
}

#[test]
fn batched_matmul() {
    fn check<T: Reference>(setup: &Setup, [m, n, k]: [usize; 3]) -> Verdict {
        checks::check_batched_matmul::<T>(setup, [3, m, n, k])?;
        checks::check_batched_matmul::<T>(setup, [0, m, n, k])
    }
    products(check::<f32>);
    products(check::<i32>);
}

#[test]
fn transpose_in_three_types() {
    planes(checks::check_transpose::<f32>);
    planes(checks::check_transpose::<f64>);
    planes(checks::check_transpose::<i32>);
}

#[test]
fn stencil_in_three_types() {
    planes(checks::check_stencil::<f32>);
    planes(checks::check_stencil::<f64>);
    planes(checks::check_stencil::<i32>);
}

#[test]
fn row_sums_in_three_types() {
    planes(checks::check_row_sums::<f32>);
    planes(checks::check_row_sums::<f64>);
    planes(checks::check_row_sums::<i32>);
}

#[test]
fn add_in_three_types() {
    lines(checks::check_add::<f32>);
    lines(checks::check_add::<f64>);
    lines(checks::check_add::<i32>);
}

#[test]
fn saxpy_in_three_types() {
    lines(checks::check_saxpy::<f32>);
    lines(checks::check_saxpy::<f64>);
    lines(checks::check_saxpy::<i32>);
}

#[test]
fn histograms() {
    lines(checks::check_histograms);
}

#[test]
fn local_arrays() {
    lines(checks::check_sorted_fours);
    lines(checks::check_digits);
    lines(checks::check_cat_map);
    let tiles = [[8, 8, 16], [16, 4, 8], [5, 7, 3]];
    let shapes: Vec<[usize; 3]> = PRODUCT_SHAPES.to_vec();
    everywhere(["TM", "TN", "TK"], &tiles, &shapes, checks::check_matmul_squares);
    for part in [1, 7, 64] {
        for n in LINE_SHAPES {
            let setup = Setup::new(&Device::cpu());
            if let Err(error) = checks::check_counted_parts(&setup, n, part) {
                panic!("{n} elements, parts of {part}: {error}");
            }
        }
    }
}

#[test]
fn queues() {
    for tile in LINE_TILES {
        for n in LINE_SHAPES {
            let setup = Setup::new(&Device::cpu()).tiles(&[("TN", tile)]);
            if let Err(error) = checks::check_queues(&setup, n, tile as usize) {
                panic!("{n} elements, {tile} work-items: {error}");
            }
        }
    }
}

#[test]
fn places_and_exchanges() {
    lines(checks::check_places_by_value);
    lines(checks::check_exchanges);
    lines(checks::check_product_by_exchange);
}

#[test]
fn tallies_of_integers_and_floats() {
    lines(checks::check_integer_tallies);
    lines(checks::check_float_tallies);
}

#[test]
fn row_totals_in_three_types() {
    let tiles = LINE_TILES.map(|size| [size]);
    everywhere(["TN"], &tiles, &PLANE_SHAPES, checks::check_row_totals::<f32>);
    everywhere(["TN"], &tiles, &PLANE_SHAPES, checks::check_row_totals::<f64>);
    everywhere(["TN"], &tiles, &PLANE_SHAPES, checks::check_row_totals::<i32>);
}

#[test]
fn the_tree_of_a_sum_is_as_documented() {
    let setup = Setup::new(&Device::cpu());
    for (n, n_items) in [(1, 1), (2, 2), (3, 3), (5, 4), (100, 31), (100, 96), (1009, 256)] {
        checks::check_tree(&setup, n, n_items).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn the_tree_of_running_sums_is_as_documented() {
    let setup = Setup::new(&Device::cpu());
    for shape in [[1, 1], [3, 2], [100, 31], [1000, 48], [77, 64], [3000, 1000], [5000, 2048]] {
        checks::check_tile_sums(&setup, shape).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn exchanges_within_blocks() {
    let tiles = LINE_TILES.map(|size| [size]);
    everywhere(["TN"], &tiles, &PLANE_SHAPES, checks::check_softmax);
    everywhere(["TN"], &tiles, &PLANE_SHAPES, checks::check_ranks);
    everywhere([], &[[]], &PLANE_SHAPES, checks::check_tile_ranges);
    everywhere([], &[[]], &LINE_SHAPES.map(|n| [n]), |setup, [n]| checks::check_halvings(setup, n));
}

#[test]
fn exchanges_within_warps() {
    let widths = [[1u32], [2], [8]];
    everywhere(["W"], &widths, &PLANE_SHAPES, checks::check_warp_totals::<f32>);
    everywhere(["W"], &widths, &PLANE_SHAPES, checks::check_warp_totals::<f64>);
    everywhere(["W"], &widths, &PLANE_SHAPES, checks::check_warp_totals::<i32>);
    everywhere(["W"], &[[2], [4]], &PLANE_SHAPES, checks::check_warp_scans);
    let blocks = [[0], [1], [7]];
    everywhere([], &[[]], &blocks, |setup, [n]| checks::check_tree_sums(setup, n));
    everywhere([], &[[]], &blocks, |setup, [n]| checks::check_lone_rounds(setup, n));
    everywhere([], &[[]], &LINE_SHAPES.map(|n| [n]), |setup, [n]| checks::check_votes(setup, n));
}

#[test]
fn shuffles_in_several_types() {
    let everywhere = |check: &dyn Fn(&Setup, usize) -> Verdict| {
        everywhere([], &[[]], &[[0], [1], [7]], |setup, [n]| check(setup, n));
    };
    everywhere(&|setup, n| checks::check_neighbours(setup, n, |bits| bits as i16));
    everywhere(&|setup, n| checks::check_neighbours(setup, n, |bits| bits as u8));
    everywhere(&|setup, n| checks::check_neighbours(setup, n, |bits| bits as f32));
    everywhere(&|setup, n| checks::check_neighbours(setup, n, |bits| f64::from(bits) / 3.0));
}

#[test]
fn filters() {
    planes(checks::check_convolution::<f32>);
    planes(checks::check_convolution::<f64>);
    planes(checks::check_convolution::<i32>);
    let tiles = LINE_TILES.map(|size| [size]);
    let shapes = [[0, 5], [1, 0], [33, 1], [257, 40], [100, 4097]];
    everywhere(["TN"], &tiles, &shapes, checks::check_running_filter::<f32>);
    everywhere(["TN"], &tiles, &shapes, checks::check_running_filter::<i32>);
    let rows = [[0], [1], [65]];
    everywhere(["TR", "TC"], &PLANE_TILES, &rows, |setup, [rows]| {
        checks::check_weighted_rows::<f32>(setup, rows)
    });
}

#[test]
fn tables() {
    lines(checks::check_decoded);
    let shapes = [[0, 0], [0, 3], [1, 5], [1000, 1], [1009, 17]];
    everywhere(["TN"], &[[32], [64]], &shapes, checks::check_stretch_sums);
}
