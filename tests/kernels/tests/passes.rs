//! Every kernel in all pairs of choices and 200 random configurations, after the passes
//! of lowering: programs verify, give the bits of the program before all passes (but for
//! kernels whose results depend on the order of work-items), have no race, and print the
//! same each time. `cargo xtask configurations` runs others, at more shapes.

#![expect(clippy::print_stdout, reason = "what was done, for those who ask")]

use tile_kernels::list::{Listed, all};
use tile_kernels::validate::{Effort, validate};

#[track_caller]
fn check(listed: &Listed) {
    let outcome = validate(listed, Effort::TESTS);
    println!("{:?}: {}", listed.kernel, outcome.describe());
    assert!(outcome.failures.is_empty(), "{}", outcome.failures.join("\n\n"));
    assert!(outcome.configs > 200, "{outcome:?}");
    // A run that is cut short is no proof: those that come to their end must not be few.
    assert!(outcome.shadowed > outcome.configs / 5, "{outcome:?}");
}

/// The kernels of this name, in all their types.
#[track_caller]
fn check_named(name: &str) {
    let kernels: Vec<Listed> =
        all().into_iter().filter(|listed| listed.kernel.name() == name).collect();
    assert!(!kernels.is_empty(), "no kernel is called {name}");
    kernels.iter().for_each(check);
}

#[test]
fn every_kernel_is_checked() {
    let mut names: Vec<&str> = all().iter().map(|listed| listed.kernel.name()).collect();
    names.dedup();
    let checked = [
        "matmul",
        "scaled_matmul",
        "linear_relu",
        "min_plus",
        "batched_matmul",
        "matmul_squares",
        "squared_distances",
        "square_matmul",
        "transpose",
        "convolve",
        "stencil",
        "row_sums",
        "weighted_rows",
        "mirrored_halo",
        "add",
        "saxpy",
        "histogram",
        "shared_histogram",
        "integer_tallies",
        "float_tallies",
        "positives",
        "evens_first",
        "places_by_value",
        "exchanges",
        "float_exchanges",
        "product_by_exchange",
        "sorted_fours",
        "digits",
        "cat_map",
        "counted_parts",
        "convolution",
        "running_filter",
        "decoded",
        "shaped",
        "leaky_windows",
        "named_arms",
        "exact_curves",
        "fused_curves",
        "library_curves",
        "integer_curves",
        "turned_words",
        "ring_differences",
        "ends",
        "sliding_sums",
        "chained_chunks",
        "reversed_pairs",
        "quotients",
        "reused_counter",
        "idle_conditions",
        "early_exits",
        "named_places",
        "joint_exits",
        "agreed_values",
        "steps_to_one",
        "settled",
        "grid_rounds",
        "hand_rounds",
        "own_places",
        "shifted_rounds",
        "first_turns",
        "last_meetings",
        "stamped_transpose",
        "row_totals",
        "softmax",
        "tile_ranges",
        "ranks",
        "tile_sums",
        "halvings",
        "warp_totals",
        "neighbours",
        "votes",
        "warp_scans",
        "tree_sums",
        "seven_point",
        "window_sums",
        "tied_product",
        "mirrored_boxes",
        "halved_rows",
        "one_block",
        "rotated_rows",
    ];
    assert_eq!(names, checked);
}

#[test]
fn matmul() {
    check_named("matmul");
}

#[test]
fn square_matmul() {
    check_named("square_matmul");
}

#[test]
fn squared_distances() {
    check_named("squared_distances");
}

#[test]
fn convolve() {
    check_named("convolve");
}

#[test]
fn seven_point() {
    check_named("seven_point");
}

#[test]
fn linear_relu() {
    check_named("linear_relu");
}

#[test]
fn scaled_matmul() {
    check_named("scaled_matmul");
}

#[test]
fn min_plus() {
    check_named("min_plus");
}

#[test]
fn batched_matmul() {
    check_named("batched_matmul");
}

#[test]
fn transpose() {
    check_named("transpose");
}

#[test]
fn stencil() {
    check_named("stencil");
}

#[test]
fn row_sums() {
    check_named("row_sums");
}

#[test]
fn add() {
    check_named("add");
}

#[test]
fn saxpy() {
    check_named("saxpy");
}

#[test]
fn atomic_updates() {
    for name in ["histogram", "shared_histogram", "integer_tallies", "float_tallies"] {
        check_named(name);
    }
}

#[test]
fn old_values() {
    let names = ["positives", "evens_first", "places_by_value", "exchanges", "float_exchanges"];
    for name in names {
        check_named(name);
    }
    check_named("product_by_exchange");
}

#[test]
fn local_arrays() {
    for name in ["matmul_squares", "sorted_fours", "digits", "cat_map", "counted_parts"] {
        check_named(name);
    }
}

#[test]
fn carried_values() {
    let names =
        ["sliding_sums", "chained_chunks", "reversed_pairs", "quotients", "stamped_transpose"];
    names.into_iter().for_each(check_named);
}

#[test]
fn barriers_in_control_flow() {
    for name in ["reused_counter", "idle_conditions", "early_exits", "named_places"] {
        check_named(name);
    }
}

#[test]
fn exchanges_within_blocks() {
    for name in ["row_totals", "softmax", "tile_ranges", "ranks", "tile_sums", "halvings"] {
        check_named(name);
    }
}

#[test]
fn headers() {
    let names = ["window_sums", "tied_product", "mirrored_boxes", "halved_rows", "one_block"];
    names.into_iter().for_each(check_named);
}

#[test]
fn rounds_of_ones_own() {
    let names = ["grid_rounds", "hand_rounds", "own_places", "shifted_rounds"];
    names.into_iter().chain(["first_turns", "last_meetings"]).for_each(check_named);
}

#[test]
fn control_flow_of_the_block() {
    for name in ["joint_exits", "agreed_values", "steps_to_one", "settled"] {
        check_named(name);
    }
}

#[test]
fn exchanges_within_warps() {
    for name in ["warp_totals", "neighbours", "votes", "warp_scans", "tree_sums"] {
        check_named(name);
    }
}

#[test]
fn functions() {
    for name in [
        "shaped",
        "leaky_windows",
        "named_arms",
        "fused_curves",
        "integer_curves",
        "turned_words",
        "ring_differences",
    ] {
        check_named(name);
    }
}

#[test]
fn functions_of_floats() {
    for name in ["exact_curves", "library_curves"] {
        check_named(name);
    }
}

#[test]
fn edge_rules() {
    for name in ["ends", "mirrored_halo", "rotated_rows"] {
        check_named(name);
    }
}

#[test]
fn constants() {
    for name in ["convolution", "weighted_rows", "running_filter", "decoded"] {
        check_named(name);
    }
}
