//! Every kernel in the types and tile sizes that it is compiled in.

use tile_examples::square_matmul::square_matmul;
use tile_runtime::{Kernel, bf16, f16};

/// A kernel with its types bound, and what to compile it for.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The kernel.
    pub kernel: Kernel,
    /// Tile sizes by name, one set per configuration; an empty set leaves the
    /// choice to the device's properties.
    pub tiles: Vec<Vec<(&'static str, u32)>>,
    /// Extents, in the order of [`Kernel::dims`]: whole tiles, and ragged ones.
    pub dims: [Vec<usize>; 2],
}

/// All kernels of this crate.
pub fn all() -> Vec<Listed> {
    let mut list = Vec::new();
    let products = [
        crate::matmul::kernel::<f32>(),
        crate::matmul::kernel::<f64>(),
        crate::matmul::kernel::<f16>(),
        crate::matmul::kernel::<bf16>(),
        crate::matmul::kernel::<i8>(),
        crate::matmul::kernel::<u16>(),
        crate::matmul::kernel::<i32>(),
        crate::matmul::kernel::<u64>(),
        crate::scaled_matmul::kernel::<f32>(),
        crate::scaled_matmul::kernel::<f16>(),
        crate::linear_relu::kernel::<f32>(),
        crate::linear_relu::kernel::<f64>(),
        crate::min_plus::kernel::<f32>(),
        crate::min_plus::kernel::<bf16>(),
        crate::batched_matmul::kernel::<f32>(),
        crate::batched_matmul::kernel::<i64>(),
        crate::matmul_squares::kernel(),
        crate::squared_distances::kernel::<f32>(),
        crate::squared_distances::kernel::<i32>(),
    ];
    list.extend(products.map(product));
    let squares = [square_matmul::kernel::<f32>(), square_matmul::kernel::<i16>()];
    list.extend(squares.map(|kernel| listed(kernel, vec![vec![("W", 16)], vec![("W", 32)]])));
    let planes = [
        crate::transpose::kernel::<f32>(),
        crate::transpose::kernel::<f64>(),
        crate::transpose::kernel::<f16>(),
        crate::transpose::kernel::<u8>(),
        crate::transpose::kernel::<bool>(),
        crate::convolve::kernel::<f32>(),
        crate::convolve::kernel::<f16>(),
        crate::stencil::kernel::<f32>(),
        crate::stencil::kernel::<i32>(),
        crate::row_sums::kernel::<f32>(),
        crate::row_sums::kernel::<u32>(),
        crate::weighted_rows::kernel::<f32>(),
        crate::weighted_rows::kernel::<u8>(),
        crate::mirrored_halo::kernel::<f32>(),
        crate::mirrored_halo::kernel::<bf16>(),
    ];
    list.extend(planes.map(plane));
    let lines = [
        crate::add::kernel::<f32>(),
        crate::add::kernel::<bf16>(),
        crate::add::kernel::<i16>(),
        crate::saxpy::kernel::<f32>(),
        crate::saxpy::kernel::<f64>(),
        crate::histogram::kernel(),
        crate::shared_histogram::kernel(),
        crate::integer_tallies::kernel(),
        crate::float_tallies::kernel(),
        crate::positives::kernel(),
        crate::evens_first::kernel(),
        crate::places_by_value::kernel(),
        crate::exchanges::kernel(),
        crate::float_exchanges::kernel(),
        crate::product_by_exchange::kernel(),
        crate::sorted_fours::kernel(),
        crate::digits::kernel(),
        crate::cat_map::kernel(),
        crate::counted_parts::kernel(),
    ];
    list.extend(lines.map(line));
    // Of the sizes that devices choose NVRTC 13.0 fails with `--Ofast-compile=max`.
    let halos = [
        crate::convolution::kernel::<f32>(),
        crate::convolution::kernel::<f16>(),
        crate::convolution::kernel::<i32>(),
    ];
    list.extend(halos.map(|kernel| {
        let tiles = vec![vec![("TR", 8), ("TC", 32)], vec![("TR", 16), ("TC", 16)]];
        Listed { tiles, ..plane(kernel) }
    }));
    let filters = [
        crate::running_filter::kernel::<f32>(),
        crate::running_filter::kernel::<u8>(),
        crate::decoded::kernel(),
        crate::shaped::kernel::<f32>(),
        crate::shaped::kernel::<f16>(),
        crate::shaped::kernel::<u8>(),
        crate::leaky_windows::kernel(),
        crate::named_arms::kernel::<f32>(),
        crate::named_arms::kernel::<i8>(),
        crate::exact_curves::kernel::<f32>(),
        crate::exact_curves::kernel::<bf16>(),
        crate::exact_curves::kernel::<f64>(),
        crate::fused_curves::kernel::<f32>(),
        crate::library_curves::kernel::<f32>(),
        crate::library_curves::kernel::<f16>(),
        crate::library_curves::kernel::<f64>(),
        crate::integer_curves::kernel::<i8>(),
        crate::integer_curves::kernel::<u16>(),
        crate::integer_curves::kernel::<i32>(),
        crate::integer_curves::kernel::<u64>(),
        crate::turned_words::kernel(),
        crate::ring_differences::kernel(),
        crate::ends::kernel::<f32>(),
        crate::ends::kernel::<i8>(),
    ];
    list.extend(filters.map(line));
    let carried = [
        (crate::sliding_sums::kernel::<f32>(), "TR"),
        (crate::chained_chunks::kernel::<f32>(), "TC"),
        (crate::reversed_pairs::kernel::<i32>(), "TC"),
        (crate::quotients::kernel(), "TN"),
        (crate::reused_counter::kernel(), "TN"),
        (crate::idle_conditions::kernel(), "TN"),
        (crate::early_exits::kernel(), "TN"),
        (crate::named_places::kernel(), "TN"),
        (crate::joint_exits::kernel(), "TN"),
        (crate::agreed_values::kernel(), "TN"),
        (crate::steps_to_one::kernel(), "TN"),
        (crate::settled::kernel(), "TN"),
        (crate::grid_rounds::kernel(), "TN"),
        (crate::hand_rounds::kernel(), "TN"),
        (crate::own_places::kernel(), "TN"),
        (crate::shifted_rounds::kernel(), "TN"),
        (crate::first_turns::kernel(), "TN"),
        (crate::last_meetings::kernel(), "TN"),
    ];
    list.extend(carried.map(|(kernel, tile)| listed(kernel, vec![vec![(tile, 16)]])));
    let stamped = vec![vec![("TR", 32), ("TC", 16)], vec![("TR", 16), ("TC", 64)]];
    list.push(listed(crate::stamped_transpose::kernel(), stamped));
    let combined = [
        (crate::row_totals::kernel::<f32>(), vec![vec![("TN", 48)], vec![("TN", 256)]]),
        (crate::row_totals::kernel::<f16>(), vec![vec![("TN", 96)]]),
        (crate::row_totals::kernel::<u64>(), vec![vec![("TN", 31)]]),
        (crate::softmax::kernel::<f32>(), vec![vec![("TN", 64)]]),
        (crate::softmax::kernel::<bf16>(), vec![vec![("TN", 20)]]),
        (crate::tile_ranges::kernel::<i32>(), Vec::new()),
        (crate::tile_ranges::kernel::<f64>(), Vec::new()),
        (crate::ranks::kernel(), vec![vec![("TN", 100)], vec![("TN", 1)]]),
        (crate::tile_sums::kernel::<f32>(), vec![vec![("TN", 1000)], vec![("TN", 48)]]),
        (crate::tile_sums::kernel::<f16>(), vec![vec![("TN", 31)]]),
        (crate::tile_sums::kernel::<i64>(), vec![vec![("TN", 256)]]),
        (crate::halvings::kernel(), Vec::new()),
        (crate::warp_totals::kernel::<f32>(), vec![vec![("W", 3)], vec![("W", 1)]]),
        (crate::warp_totals::kernel::<bf16>(), Vec::new()),
        (crate::warp_totals::kernel::<u64>(), Vec::new()),
        (crate::neighbours::kernel::<f32>(), Vec::new()),
        (crate::neighbours::kernel::<f64>(), Vec::new()),
        (crate::neighbours::kernel::<f16>(), Vec::new()),
        (crate::neighbours::kernel::<i16>(), Vec::new()),
        (crate::neighbours::kernel::<u8>(), Vec::new()),
        (crate::votes::kernel(), Vec::new()),
        (crate::warp_scans::kernel::<f32>(), vec![vec![("W", 4)]]),
        (crate::warp_scans::kernel::<i64>(), Vec::new()),
        (crate::tree_sums::kernel::<f32>(), Vec::new()),
    ];
    list.extend(combined.map(|(kernel, tiles)| listed(kernel, tiles)));
    let volumes = vec![vec![("TD", 4), ("TR", 8), ("TC", 32)]];
    list.push(listed(crate::seven_point::kernel::<f32>(), volumes.clone()));
    list.push(listed(crate::seven_point::kernel::<i32>(), volumes));
    let of_headers = [
        (crate::window_sums::kernel(), vec![vec![("T", 48)]]),
        (crate::tied_product::kernel(), vec![vec![("TM", 8), ("TN", 24)]]),
        (crate::mirrored_boxes::kernel(), Vec::new()),
        (crate::halved_rows::kernel(), Vec::new()),
        (crate::one_block::kernel(), Vec::new()),
        (crate::rotated_rows::kernel(), Vec::new()),
    ];
    list.extend(of_headers.map(|(kernel, tiles)| listed(kernel, tiles)));
    list
}

fn listed(kernel: Kernel, tiles: Vec<Vec<(&'static str, u32)>>) -> Listed {
    let n = kernel.dims().len();
    let tiles = std::iter::once(Vec::new()).chain(tiles).collect();
    Listed { kernel, tiles, dims: [vec![4096; n], vec![1000 + 33; n]] }
}

fn product(kernel: Kernel) -> Listed {
    let square = vec![("TM", 16), ("TN", 16), ("TK", 16)];
    listed(kernel, vec![square, vec![("TM", 64), ("TN", 32), ("TK", 8)]])
}

fn plane(kernel: Kernel) -> Listed {
    listed(kernel, vec![vec![("TR", 32), ("TC", 32)], vec![("TR", 16), ("TC", 64)]])
}

fn line(kernel: Kernel) -> Listed {
    listed(kernel, vec![vec![("TN", 128)]])
}
