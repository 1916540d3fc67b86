//! The CPU device on the textbook's three kernels.
//!
//! ```sh
//! cargo bench -p tile-benches --bench cpu_device
//! ```

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tile_kernels::number::Reference as _;
use tile_runtime::{Device, Tensor};

fn random<const R: usize>(device: &Device, shape: [usize; R]) -> Tensor<f32, R> {
    let mut rng = fastrand::Rng::with_seed(1);
    let values: Vec<f32> = (0..shape.iter().product()).map(|_| f32::random(&mut rng)).collect();
    device.tensor(shape, &values).expect("the host has memory")
}

fn matmul(criterion: &mut Criterion) {
    let device = Device::cpu();
    let mut group = criterion.benchmark_group("matmul f32 on the CPU device");
    for n in [64, 256, 512] {
        let (a, b) = (random(&device, [n, n]), random(&device, [n, n]));
        let mut c = device.zeros([n, n]).expect("the host has memory");
        group.throughput(Throughput::Elements((2 * n * n * n) as u64));
        group.bench_function(BenchmarkId::from_parameter(n), |bencher| {
            bencher.iter(|| tile_kernels::matmul::launch(&a, &b, &mut c).expect("it runs"));
        });
    }
}

fn memory_bound(criterion: &mut Criterion) {
    let device = Device::cpu();
    let n = 1024;
    let a = random(&device, [n, n]);
    let mut b = device.zeros([n, n]).expect("the host has memory");
    let mut group = criterion.benchmark_group("memory-bound on the CPU device");
    group.throughput(Throughput::Bytes((8 * n * n) as u64));
    group.bench_function("transpose f32", |bencher| {
        bencher.iter(|| tile_kernels::transpose::launch(&a, &mut b).expect("it runs"));
    });
    let (x, y) = (random(&device, [n * n]), random(&device, [n * n]));
    let mut z = device.zeros([n * n]).expect("the host has memory");
    group.throughput(Throughput::Bytes((12 * n * n) as u64));
    group.bench_function("add f32", |bencher| {
        bencher.iter(|| tile_kernels::add::launch(&x, &y, &mut z).expect("it runs"));
    });
}

criterion_group!(benches, matmul, memory_bound);
criterion_main!(benches);
