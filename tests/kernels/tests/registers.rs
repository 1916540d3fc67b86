//! What the model expects of a kernel's registers against what NVRTC reports, for the
//! configurations that devices choose themselves; none of them spills what it computes.

#![expect(clippy::print_stderr, reason = "it says that nothing was compiled")]

use tile_runtime::Kernel;
use tile_runtime::ir::config::estimate;
use tile_runtime::ir::device::known;
use tile_runtime::nvrtc::{self, CompileOptions};

/// The model over the compiler, which takes more where there is room.
const REGISTERS: [f64; 2] = [0.7, 1.3];
/// With so many registers all threads that an SM can hold find room; fewer are as good.
const FEW: u32 = 32;
/// Bytes of a thread that may be spilled: some addresses, around a loop, where a step is
/// two instructions and the compiler keeps many sums under way.
const SPILLED_BYTES: u32 = 32;

fn check(kernel: &Kernel, dims: &[usize]) {
    if std::env::var_os("TILE_TEST_WITHOUT_NVRTC").is_some() {
        eprintln!("SKIPPED: TILE_TEST_WITHOUT_NVRTC is set; nothing was compiled");
        return;
    }
    if let Err(error) = nvrtc::find() {
        panic!("{error}\n(`cargo xtask test` fetches it)");
    }
    let device = known("H200").expect("the device is in the table");
    let config = kernel.config_for(&device, dims).unwrap_or_else(|error| panic!("{error}"));
    let extents: Vec<u64> = dims.iter().map(|&extent| extent as u64).collect();
    let cost = estimate(kernel.checked().kernel(), kernel.types(), &device, &extents, &config);
    let source = kernel.cuda_source_for(&config, &device, dims).expect("it is lowered");
    let options = CompileOptions { fast: false, extra: Vec::new() };
    let cubin = nvrtc::compile(&source, "sm_90", &options).unwrap_or_else(|e| panic!("{e}"));
    let found = &cubin.report.kernels[0];
    let what = format!("{kernel:?} in {config:?}: {found:?}, expected {cost:?}");
    let spilled = found.spill_store_bytes.max(found.spill_load_bytes);
    assert!(spilled <= SPILLED_BYTES, "{what}");
    let ratio = cost.registers.max(FEW.into()) / f64::from(found.registers.max(FEW));
    assert!((REGISTERS[0]..=REGISTERS[1]).contains(&ratio), "{ratio}: {what}");
}

#[test]
fn products() {
    check(&tile_kernels::matmul::kernel::<f32>(), &[4096; 3]);
    check(&tile_kernels::matmul::kernel::<f32>(), &[1000; 3]);
    check(&tile_kernels::linear_relu::kernel::<f32>(), &[4096; 3]);
}

/// Two instructions a step.
#[test]
fn other_products() {
    check(&tile_kernels::min_plus::kernel::<f32>(), &[4096; 3]);
    check(&tile_kernels::squared_distances::kernel::<f32>(), &[8192, 256, 8192]);
}

#[test]
fn neighbourhoods() {
    check(&tile_kernels::convolve::kernel::<f32>(), &[8192; 2]);
    check(&tile_kernels::seven_point::kernel::<f32>(), &[512; 3]);
}

#[test]
fn rows_and_lines() {
    check(&tile_kernels::softmax::kernel::<f32>(), &[16384, 4096]);
    check(&tile_kernels::transpose::kernel::<f32>(), &[8192; 2]);
    check(&tile_kernels::add::kernel::<f32>(), &[1 << 28]);
}
