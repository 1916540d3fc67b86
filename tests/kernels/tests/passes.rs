//! Every kernel after every pass of lowering: the program verifies, prints the
//! same each time, and gives the same bits on the CPU device
//! (but for kernels whose results depend on the order of work-items).

use tile_kernels::list::{Listed, all};
use tile_kernels::random::{Inputs, random_inputs};
use tile_runtime::Error;
use tile_runtime::inspect::run_program;
use tile_runtime::ir::config::{
    AxisItems, Config, ConfigError, TilePadding, check_config, with_tiles,
};
use tile_runtime::ir::device::known;
use tile_runtime::ir::program::{Program, print_program, verify_program};

/// Extents that every dimension takes in turn: none, one, a prime, a multiple of
/// most tiles.
const EXTENTS: [usize; 4] = [0, 1, 37, 64];

/// Shapes: all dimensions alike, and each of two extents against the others.
fn shapes(n_dims: usize) -> Vec<Vec<usize>> {
    let mut shapes: Vec<Vec<usize>> = EXTENTS.map(|extent| vec![extent; n_dims]).to_vec();
    for odd in 0..n_dims {
        for (one, others) in [(1, 33), (0, 17), (70, 5)] {
            let extent = |dim| if dim == odd { one } else { others };
            shapes.push((0..n_dims).map(extent).collect());
        }
    }
    shapes
}

/// Variants of a configuration: what a tuner may change without changing bits.
fn variants(config: &Config) -> Vec<Config> {
    let of_axes = |change: &dyn Fn(&AxisItems) -> AxisItems| -> Vec<AxisItems> {
        config.block.iter().map(change).collect()
    };
    let single = of_axes(&|_| AxisItems::strided(1));
    let fewer = of_axes(&|axis| AxisItems::strided(axis.threads.div_ceil(2)));
    let runs =
        of_axes(&|axis| AxisItems { run: 3, ..AxisItems::strided(axis.threads.div_ceil(4)) });
    vec![
        config.clone(),
        Config { padding: TilePadding::Elems(0), ..config.clone() },
        Config { padding: TilePadding::Elems(3), raster_rows: 3, ..config.clone() },
        Config { block: fewer, copy_bytes: 4, ..config.clone() },
        Config { block: runs, copy_bytes: 8, ..config.clone() },
        Config { threads: 1, block: single, copy_bytes: 16, ..config.clone() },
        Config { stages: 2, unroll_stages: false, fragment_buffers: 0, ..config.clone() },
        Config { stages: 3, async_bytes: 4, split_edges: false, ..config.clone() },
        Config { stages: 4, async_bytes: 16, unroll_stages: false, ..config.clone() },
        Config { stages: 2, predicate_copies: true, async_bytes: 4, ..config.clone() },
        Config { slices: 2, threads: 2 * config.threads, ..config.clone() },
    ]
}

#[track_caller]
fn check(listed: &Listed) {
    let kernel = &listed.kernel;
    let device = known("A100").expect("the device is in the table");
    for tiles in &listed.tiles {
        for (number, dims) in shapes(kernel.dims().len()).iter().enumerate() {
            let extents: Vec<u64> = dims.iter().map(|&extent| extent as u64).collect();
            let config = with_tiles(kernel.checked(), kernel.types(), &device, &extents, tiles);
            let config = config.unwrap_or_else(|error| panic!("{kernel:?}: {error}"));
            let mut variants = variants(&config);
            // A kernel with warp operations has one layout alone.
            variants
                .retain(|config| check_config(kernel.checked().kernel(), config, &device).is_ok());
            assert!(variants.contains(&config), "{kernel:?}: {config:?}");
            // All variants of one shape, one of each other shape: they differ in
            // what the passes do with the block, not with the shape.
            let some =
                if number == 2 { &variants[..] } else { &variants[number % variants.len()..][..1] };
            let inputs = random_inputs(kernel, &config, dims, number as u64);
            let mut expected = None;
            for config in some {
                let programs = kernel.program_by_pass(config, &device, dims);
                let programs = match programs {
                    Ok(programs) => programs,
                    // Large tiles do not fit the device many times.
                    Err(Error::Config(error))
                        if config.stages > 2
                            && matches!(*error, ConfigError::SharedMemory { .. }) =>
                    {
                        continue;
                    }
                    Err(error) => panic!("{kernel:?}: {error}"),
                };
                for (pass, program) in programs {
                    let place = || format!("{kernel:?}, {dims:?}, {config:?}, after {pass}");
                    check_text(&program, &place);
                    let found = run(listed, &program, dims, &inputs, &place);
                    let expected = expected.get_or_insert_with(|| found.clone());
                    assert!(
                        found == *expected || !kernel.checked().is_order_independent(),
                        "other bits: {}\n{}",
                        place(),
                        print_program(&program)
                    );
                }
            }
        }
    }
}

fn check_text(program: &Program, place: &dyn Fn() -> String) {
    if let Err(faults) = verify_program(program) {
        panic!("{}: {faults:#?}\n{}", place(), print_program(program));
    }
    let text = print_program(program);
    assert_eq!(text, print_program(&program.clone()), "{}", place());
}

fn run(
    listed: &Listed,
    program: &Program,
    dims: &[usize],
    inputs: &Inputs,
    place: &dyn Fn() -> String,
) -> Vec<Vec<u8>> {
    let mut tensors = inputs.tensors.clone();
    run_program(&listed.kernel, program, dims, &mut tensors, &inputs.scalars)
        .unwrap_or_else(|error| panic!("{}: {error}\n{}", place(), print_program(program)));
    tensors.iter().map(|tensor| tensor.bytes()).collect()
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
        "transpose",
        "convolve",
        "stencil",
        "row_sums",
        "weighted_rows",
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
        "counted_parts",
        "convolution",
        "running_filter",
        "decoded",
        "sliding_sums",
        "chained_chunks",
        "reversed_pairs",
        "quotients",
        "reused_counter",
        "idle_conditions",
        "early_exits",
        "joint_exits",
        "agreed_values",
        "row_totals",
        "softmax",
        "tile_ranges",
        "ranks",
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
    ];
    assert_eq!(names, checked);
}

#[test]
fn matmul() {
    check_named("matmul");
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
    for name in ["matmul_squares", "sorted_fours", "digits", "counted_parts"] {
        check_named(name);
    }
}

#[test]
fn carried_values() {
    for name in ["sliding_sums", "chained_chunks", "reversed_pairs", "quotients"] {
        check_named(name);
    }
}

#[test]
fn barriers_in_control_flow() {
    for name in ["reused_counter", "idle_conditions", "early_exits"] {
        check_named(name);
    }
}

#[test]
fn exchanges_within_blocks() {
    for name in ["row_totals", "softmax", "tile_ranges", "ranks", "halvings"] {
        check_named(name);
    }
}

#[test]
fn headers() {
    let names = ["window_sums", "tied_product", "mirrored_boxes", "halved_rows", "one_block"];
    names.into_iter().for_each(check_named);
}

#[test]
fn control_flow_of_the_block() {
    for name in ["joint_exits", "agreed_values"] {
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
fn constants() {
    for name in ["convolution", "weighted_rows", "running_filter", "decoded"] {
        check_named(name);
    }
}
