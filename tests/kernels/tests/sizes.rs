//! Of which kernels it is shown that no result depends on tile sizes.

use std::collections::BTreeSet;

use tile_kernels::list::all;
use tile_runtime::ir::analyze::sizes::may_depend_on_sizes;

/// Those whose tile sizes a search may change without changing a bit, or which have but
/// one size of each tile. Of the others it is not so (`softmax`, `chained_chunks`), or
/// not shown (`seven_point` reuses a tile; `min_plus` has a pad of its author's).
const INDEPENDENT: &[&str] = &[
    "add",
    "batched_matmul",
    "cat_map",
    "convolution",
    "convolve",
    "decoded",
    "digits",
    "ends",
    "exact_curves",
    "exchanges",
    "float_exchanges",
    "float_tallies",
    "fused_curves",
    "halved_rows",
    "halvings",
    "histogram",
    "integer_curves",
    "integer_tallies",
    "library_curves",
    "linear_relu",
    "matmul",
    "mirrored_boxes",
    "mirrored_halo",
    "named_arms",
    "neighbours",
    "one_block",
    "places_by_value",
    "positives",
    "product_by_exchange",
    "quotients",
    "ring_differences",
    "rotated_rows",
    "row_sums",
    "running_filter",
    "saxpy",
    "scaled_matmul",
    "shaped",
    "stencil",
    "steps_to_one",
    "tied_product",
    "tile_ranges",
    "transpose",
    "tree_sums",
    "turned_words",
    "votes",
    "weighted_rows",
    "window_sums",
];

#[test]
fn textbook_tilings_are_independent_of_their_sizes() {
    let kernels = all();
    let is_shown = |name: &str| {
        let mut same = kernels.iter().filter(|listed| listed.kernel.name() == name);
        same.all(|listed| !may_depend_on_sizes(listed.kernel.checked().kernel()))
    };
    let names: BTreeSet<&str> = kernels.iter().map(|listed| listed.kernel.name()).collect();
    let (shown, others): (Vec<&str>, Vec<&str>) =
        names.into_iter().partition(|name| is_shown(name));
    assert_eq!(shown, INDEPENDENT, "not shown: {others:?}");
}
