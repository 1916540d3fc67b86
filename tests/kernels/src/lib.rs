//! The kernels that the tests and the benchmarks share, and what they should
//! compute, by plain loops that share no code with the kernels.

mod arrays;
mod assumed;
pub mod checks;
mod collectives;
mod curves;
mod edges;
mod elementwise;
mod fields;
mod filters;
mod functions;
mod headers;
mod licence;
pub mod list;
pub mod number;
mod planes;
mod products;
pub mod random;
mod rounds;
mod shapes;
mod slots;
mod steps;
mod tallies;
pub mod validate;
mod warps;
pub mod widen;

pub use arrays::{cat_map, counted_parts, digits, matmul_squares, sorted_fours};
pub use assumed::{listed_pairs, merged, own_slots, scatter, spread_rows, strided};
pub use collectives::{halvings, ranks, row_totals, softmax, tile_ranges, tile_sums};
pub use curves::{
    exact_curves, fused_curves, integer_curves, library_curves, ring_differences, turned_words,
};
pub use edges::{ends, mirrored_halo, rotated_rows};
pub use elementwise::{add, saxpy};
pub use fields::{convolve, seven_point, squared_distances};
pub use filters::{
    convolution, convolution_at, decoded, running_filter, stretch_sums, weighted_rows,
};
pub use functions::{leaky_windows, named_arms, shaped};
pub use headers::{halved_rows, mirrored_boxes, one_block, tied_product, window_sums};
pub use licence::{chained_chunks, quotients, reversed_pairs, sliding_sums, stamped_transpose};
pub use planes::{row_sum_at, row_sums, stencil, transpose};
pub use products::{
    batched_matmul, linear_relu, linear_relu_at, matmul, min_plus, product_at, scaled_matmul,
    scaled_product_at,
};
pub use rounds::{
    first_turns, grid_rounds, hand_rounds, last_meetings, own_places, shifted_rounds,
};
pub use slots::{
    evens_first, exchanges, float_exchanges, places_by_value, positives, product_by_exchange,
};
pub use steps::{
    agreed_values, early_exits, idle_conditions, joint_exits, named_places, reused_counter,
    settled, steps_to_one,
};
pub use tallies::{float_tallies, histogram, integer_tallies, shared_histogram};
pub use warps::{lone_rounds, neighbours, tree_sums, votes, warp_scans, warp_totals};

/// The README's example, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}

/// The examples of `docs/checked.md`, likewise.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/checked.md")]
mod checked {}

/// The example of `docs/memory.md`, likewise.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/memory.md")]
mod memory {}
