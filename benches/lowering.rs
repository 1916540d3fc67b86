//! What the host does before a kernel's first launch, without NVRTC: choosing a
//! configuration, and lowering to CUDA C++.
//!
//! ```sh
//! cargo bench -p tile-benches --bench lowering
//! ```

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use tile_runtime::ir::device::known;

const DIMS: [usize; 3] = [4096, 4096, 4096];

fn lowering(criterion: &mut Criterion) {
    let device = known("H200").expect("the H200 is in the table");
    let kernel = tile_kernels::matmul::kernel::<f32>();
    criterion.bench_function("choose a configuration for matmul", |bencher| {
        bencher.iter(|| kernel.config_for(black_box(&device), &DIMS).expect("one fits"));
    });
    let config = kernel.config_for(&device, &DIMS).expect("one fits");
    criterion.bench_function("lower matmul to a program", |bencher| {
        bencher.iter(|| kernel.program(black_box(&config), &device, &DIMS).expect("it fits"));
    });
    criterion.bench_function("lower matmul to CUDA C++", |bencher| {
        bencher
            .iter(|| kernel.cuda_source_for(black_box(&config), &device, &DIMS).expect("it fits"));
    });
}

criterion_group!(benches, lowering);
criterion_main!(benches);
