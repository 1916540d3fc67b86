//! Programs with vector accesses: the CPU device runs them with the same bits,
//! their CUDA C++ compiles, and three of them read as in the files of `expect/`
//! (`UPDATE_EXPECT=1` writes those anew).

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a count, or that nothing was done")]

mod compile;

use std::collections::BTreeMap;

use compile::{Case, compile_all};
use expect_test::{ExpectFile, expect_file};
use tile_kernels::list::{Listed, all};
use tile_kernels::random::random_inputs;
use tile_kernels::widen::widen_accesses;
use tile_runtime::Kernel;
use tile_runtime::inspect::run_program;
use tile_runtime::ir::config::{AxisItems, Config, TilePadding, candidate_values, with_tiles};
use tile_runtime::ir::device::known;
use tile_runtime::ir::emit::emit_cuda;
use tile_runtime::ir::kernel::TileDomain;
use tile_runtime::ir::program::{Program, Target, print_program};

/// Every dimension: whole vectors and whole tiles.
const EXTENT: usize = 64;

/// Kernels whose items stay one to a thread: their warps work together.
const ONE_TO_A_THREAD: [&str; 5] =
    ["warp_totals", "neighbours", "votes", "warp_scans", "tree_sums"];

/// The kernels whose items may lie several to a thread.
fn with_items_in_a_row() -> impl Iterator<Item = Listed> {
    all().into_iter().filter(|listed| !ONE_TO_A_THREAD.contains(&listed.kernel.name()))
}

/// A program whose items lie four in a row on a thread, as it is before its own
/// accesses are widened, and how many of them have become vectors of `bytes`;
/// `streams` where what is touched once is marked.
fn widened(kernel: &Kernel, bytes: u32, streams: bool) -> (Program, Config, usize) {
    let device = known("A100").expect("the device is in the table");
    let params = kernel.checked().kernel().tile_params.values();
    // Where 32 is not among the sizes, one of them is chosen.
    let free = params.filter(|param| match &param.domain {
        TileDomain::Equal(_) => false,
        TileDomain::Any => true,
        domain => candidate_values(domain).contains(&32),
    });
    let tiles: Vec<(&str, u32)> = free.map(|param| (param.name.as_str(), 32)).collect();
    let dims = vec![EXTENT; kernel.dims().len()];
    let extents: Vec<u64> = dims.iter().map(|&extent| extent as u64).collect();
    let config = with_tiles(kernel.checked(), kernel.types(), &device, &extents, &tiles)
        .unwrap_or_else(|error| panic!("{kernel:?}: {error}"));
    let block = config.block.iter().map(|_| AxisItems { threads: 8, lanes: 1, run: 4 }).collect();
    let config = Config { copy_bytes: 4, stages: 1, padding: TilePadding::Elems(0), ..config };
    // Eight along each axis.
    let threads = 8u32.pow(config.block.len() as u32).max(64);
    let (stream_loads, stream_stores) = (streams, streams);
    let config = Config { threads, block, fragment_buffers: 1, ..config };
    let config = Config { stream_loads, stream_stores, ..config };
    let passes = kernel
        .program_by_pass(&config, &device, &dims)
        .unwrap_or_else(|error| panic!("{kernel:?}: {error}"));
    let before = passes.into_iter().rfind(|(pass, _)| *pass == "arrange");
    let (_, mut program) = before.expect("tiles are arranged");
    let n_widened = widen_accesses(&mut program, bytes);
    (program, config, n_widened)
}

/// Of kernels whose blocks may run in any order: those of the CPU device do.
#[test]
fn the_same_bits_with_vectors() {
    for listed in with_items_in_a_row() {
        let kernel = &listed.kernel;
        if !kernel.checked().is_order_independent() {
            continue;
        }
        let dims = vec![EXTENT; kernel.dims().len()];
        let (program, config, _) = widened(kernel, 16, false);
        let plain = kernel.program_by_pass(&config, &known("A100").expect("known"), &dims);
        let plain = plain.expect("it was lowered before").remove(0).1;
        let inputs = random_inputs(kernel, &config, &dims, 1);
        let [expected, found] = [plain, program].map(|program| {
            let mut tensors = inputs.tensors.clone();
            run_program(kernel, &program, &dims, &mut tensors, &inputs.scalars)
                .unwrap_or_else(|error| panic!("{kernel:?}: {error}\n{}", print_program(&program)));
            tensors
        });
        assert!(expected == found, "{kernel:?} gives other bits");
    }
}

#[test]
fn what_becomes_a_vector() {
    for (kernel, widths) in [
        (tile_kernels::add::kernel::<f32>(), vec![4, 4, 4]),
        (tile_kernels::add::kernel::<f64>(), vec![2, 2, 2]),
        (tile_kernels::matmul::kernel::<f32>(), vec![4, 4]),
    ] {
        let (program, _, n_widened) = widened(&kernel, 16, false);
        assert_eq!(n_widened, widths.len(), "{}", print_program(&program));
        for width in widths {
            let text = format!(".x{width}[");
            assert!(print_program(&program).contains(&text), "{}", print_program(&program));
        }
    }
}

#[test]
fn every_vector_compiles() {
    // Where nothing is streamed, both texts are one.
    let mut texts = BTreeMap::new();
    for listed in with_items_in_a_row() {
        for (bytes, streams) in [(8, false), (16, false), (16, true)] {
            let (program, _, n_widened) = widened(&listed.kernel, bytes, streams);
            if n_widened == 0 {
                continue;
            }
            let text = emit_cuda(&program, None).expect("so many threads run everywhere").text;
            texts.insert(text, format!("{:?}", listed.kernel));
        }
    }
    let case = |(source, name): (&String, &String), architecture: &str| Case {
        architecture: architecture.to_owned(),
        name: name.clone(),
        source: source.clone(),
    };
    let cases = texts.iter().flat_map(|text| ["sm_75", "sm_120"].map(|sm| case(text, sm)));
    compile_all(&cases.collect::<Vec<_>>());
}

#[track_caller]
fn check_text(kernel: &Kernel, expect: ExpectFile) {
    let (program, ..) = widened(kernel, 16, false);
    let text = emit_cuda(&program, None).expect("so many threads run everywhere").text;
    expect.assert_eq(&text);
}

#[test]
fn texts() {
    check_text(&tile_kernels::add::kernel::<f32>(), expect_file!["expect/add_vectors.cu"]);
    check_text(&tile_kernels::matmul::kernel::<f32>(), expect_file!["expect/matmul_vectors.cu"]);
    check_text(&tile_kernels::saxpy::kernel::<f64>(), expect_file!["expect/saxpy_vectors.cu"]);
}

/// Vectors of tiles begin at multiples of their size: every tile is placed so.
#[test]
fn tiles_take_vectors() {
    let (program, ..) = widened(&tile_kernels::matmul::kernel::<f32>(), 16, false);
    let is_tile = |target| matches!(target, Target::Tile(_));
    let exprs = program.kernels[0].exprs.values();
    let of_tiles = exprs.filter(|expr| match &expr.kind {
        tile_runtime::ir::program::ExprKind::Load(access) => {
            access.width == 4 && is_tile(access.target)
        }
        _ => false,
    });
    assert_eq!(of_tiles.count(), 1, "{}", print_program(&program));
}
