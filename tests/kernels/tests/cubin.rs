//! Every generated kernel through NVRTC, to machine code for four architectures.
//! No GPU is needed. PTX would not do: only the assembler checks that an
//! instruction exists on its target.
//!
//! `cargo xtask test` says where NVRTC is. Without it this fails, unless
//! `TILE_TEST_WITHOUT_NVRTC` is set, as `--without-nvrtc` does.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a count, or that nothing was done")]

mod compile;

use std::collections::BTreeSet;

use compile::{Case, compile_all};
use tile_kernels::list::{Listed, all};
use tile_runtime::ir::config::with_tiles;
use tile_runtime::ir::device::known;
use tile_runtime::ir::emit::emit_cuda;
use tile_runtime::ir::lower::{Binding, StrideFact, TensorLayout, lower};
use tile_runtime::ir::program::IndexWidth;

/// One device of each architecture: Turing, Ampere, Hopper, consumer Blackwell.
const DEVICES: [&str; 4] = ["T4", "A100", "H200", "RTX 5090"];

/// The texts of a kernel in all its configurations; equal ones once. The first is for all
/// architectures, of the others each is for the next one.
fn cases(listed: &Listed) -> BTreeSet<Case> {
    let mut cases = BTreeSet::new();
    let kernel = &listed.kernel;
    let devices = DEVICES.map(|name| known(name).expect("the device is in the table"));
    let all = listed.tiles.iter().flat_map(|t| listed.dims.iter().map(move |d| (t, d)));
    for (number, (tiles, dims)) in all.enumerate() {
        let next = number % devices.len();
        for device in if number == 0 { &devices[..] } else { &devices[next..=next] } {
            let extents: Vec<u64> = dims.iter().map(|&extent| extent as u64).collect();
            let types = kernel.types();
            let config = with_tiles(kernel.checked(), types, device, &extents, tiles)
                .unwrap_or_else(|error| panic!("{kernel:?} on {}: {error}", device.name));
            let source = kernel
                .cuda_source_for(&config, device, dims)
                .unwrap_or_else(|error| panic!("{kernel:?} on {}: {error}", device.name));
            let tiles = config.describe_tiles(kernel.checked().kernel());
            let name = format!("{kernel:?}, {tiles}, {} threads", config.threads);
            cases.insert(Case { architecture: device.architecture(), name, source });
        }
    }
    cases
}

/// The texts of a kernel for launches whose tensors are views.
fn cases_of_views(listed: &Listed) -> BTreeSet<Case> {
    let kernel = &listed.kernel;
    let ir = kernel.checked().kernel();
    let any = |divisor| StrideFact::Any { divisor };
    let layouts = [
        [any(64), StrideFact::One],
        [StrideFact::One, any(64)],
        [any(1), any(1)],
        [StrideFact::Zero, any(2)],
    ];
    let extents = vec![1024_u64; kernel.dims().len()];
    let mut cases = BTreeSet::new();
    for device in DEVICES.map(|name| known(name).expect("the device is in the table")) {
        for layout in layouts {
            let config = with_tiles(kernel.checked(), kernel.types(), &device, &extents, &[])
                .unwrap_or_else(|error| panic!("{kernel:?} on {}: {error}", device.name));
            let strided = |rank: usize| TensorLayout::Strided(layout[2 - rank..].to_vec());
            let binding = Binding {
                types: kernel.types().to_vec(),
                index_width: IndexWidth::Bits32,
                dim_divisors: vec![64; extents.len()],
                layouts: ir.tensors.values().map(|tensor| strided(tensor.extents.len())).collect(),
            };
            let program = lower(kernel.checked(), &binding, &config, &device)
                .unwrap_or_else(|error| panic!("{kernel:?} with {layout:?}: {error}"));
            let source = emit_cuda(&program, None).expect("it can be written").text;
            let name = format!("{kernel:?} of views, {layout:?}");
            cases.insert(Case { architecture: device.architecture(), name, source });
        }
    }
    cases
}

#[test]
fn kernels_of_views_compile_for_every_architecture() {
    let names = ["matmul", "transpose", "row_sums"];
    let listed = all().into_iter().filter(|listed| names.contains(&listed.kernel.name()));
    let cases: Vec<Case> = listed.flat_map(|listed| cases_of_views(&listed)).collect();
    compile_all(&cases);
}

#[test]
fn every_kernel_compiles_for_every_architecture() {
    let cases: Vec<Case> = all().iter().flat_map(cases).collect();
    compile_all(&cases);
}
