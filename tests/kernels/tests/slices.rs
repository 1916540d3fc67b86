//! Every kernel with its reductions shared out among slices: the results are
//! those of one slice, but for the rounding of sums in another order.

use tile_kernels::list::all;
use tile_kernels::random::random_inputs;
use tile_runtime::inspect::{HostTensor, run_program};
use tile_runtime::ir::config::{Config, Numerics, check_config, with_tiles};
use tile_runtime::ir::device::known;
use tile_runtime::ir::dtype::DType;
use tile_runtime::ir::program::TileSpace;
use tile_runtime::{bf16, f16};

/// The elements of a tensor as `f64`.
fn values(tensor: &HostTensor, dtype: DType) -> Vec<f64> {
    let bytes = tensor.bytes();
    let chunks = bytes.chunks_exact(dtype.size_bytes() as usize);
    let value = |chunk: &[u8]| match dtype {
        DType::F16 => f16::from_le_bytes(chunk.try_into().expect("2 bytes")).to_f64(),
        DType::BF16 => bf16::from_le_bytes(chunk.try_into().expect("2 bytes")).to_f64(),
        DType::F32 => f32::from_le_bytes(chunk.try_into().expect("4 bytes")).into(),
        DType::F64 => f64::from_le_bytes(chunk.try_into().expect("8 bytes")),
        // Equal or not.
        _ => chunk.iter().rev().fold(0.0, |value, byte| value * 256.0 + f64::from(*byte)),
    };
    chunks.map(value).collect()
}

/// How far a sum of some 40 terms of size 20 may be off.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 1.0,
        DType::BF16 => 8.0,
        DType::F32 => 1e-3,
        DType::F64 => 1e-11,
        _ => 0.0,
    }
}

#[test]
fn slices_give_the_same_results() {
    let device = known("A100").expect("the device is in the table");
    let mut sliced = Vec::new();
    for listed in all() {
        let kernel = &listed.kernel;
        if !kernel.checked().is_order_independent() {
            continue;
        }
        for (tiles, slices) in listed.tiles.iter().flat_map(|tiles| [(tiles, 2), (tiles, 4)]) {
            let dims = vec![37; kernel.dims().len()];
            let extents: Vec<u64> = dims.iter().map(|&extent| extent as u64).collect();
            let config = with_tiles(kernel.checked(), kernel.types(), &device, &extents, tiles);
            let single = config.unwrap_or_else(|error| panic!("{kernel:?}: {error}"));
            let threads = single.threads * slices;
            let config =
                Config { slices, threads, numerics: Numerics::Reassociated, ..single.clone() };
            if check_config(kernel.checked().kernel(), &config, &device).is_err() {
                continue;
            }
            let run = |config: &Config| {
                let programs = kernel.program_by_pass(config, &device, &dims);
                let programs = programs.unwrap_or_else(|error| panic!("{kernel:?}: {error}"));
                let program = programs.into_iter().next_back().expect("there are passes").1;
                let mut inputs = random_inputs(kernel, config, &dims, 1);
                run_program(kernel, &program, &dims, &mut inputs.tensors, &inputs.scalars)
                    .unwrap_or_else(|error| panic!("{kernel:?}: {error}"));
                (program, inputs.tensors)
            };
            let ((_, expected), (program, found)) = (run(&single), run(&config));
            let is_part = |name: &str| name.ends_with("_parts");
            let tiles = &program.kernels[0].tiles;
            if tiles.values().any(|tile| tile.space == TileSpace::Shared && is_part(&tile.name)) {
                sliced.push(kernel.name());
            }
            for ((expected, found), tensor) in
                expected.iter().zip(&found).zip(kernel.checked().kernel().tensors.values())
            {
                let dtype = tensor.elem.bind(kernel.types()).expect("all types are bound");
                let pairs = values(expected, dtype).into_iter().zip(values(found, dtype));
                for (at, (expected, found)) in pairs.enumerate() {
                    let same = expected == found || expected.is_nan() && found.is_nan();
                    let off = (expected - found).abs();
                    assert!(
                        same || off <= tolerance(dtype) * expected.abs().max(1.0),
                        "{kernel:?} on {slices} slices, `{}`, element {at}: {found}, not {expected}",
                        tensor.name
                    );
                }
            }
        }
    }
    sliced.dedup();
    // Those that sum into an `Acc`, or whose operation has any order.
    let expected = ["matmul", "min_plus", "batched_matmul", "squared_distances", "row_sums"];
    for name in expected {
        assert!(sliced.contains(&name), "{name} was not shared out; {sliced:?} were");
    }
    // A plain `let` says in which order its sum is made.
    assert!(!sliced.contains(&"scaled_matmul"), "{sliced:?}");
}
