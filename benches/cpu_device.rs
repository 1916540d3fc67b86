//! The CPU device on the textbook's three kernels, beside plain loops and, for scale, a
//! library: ndarray's product is that of `matrixmultiply`.
//!
//! ```sh
//! cargo bench -p tile-benches --bench cpu_device
//! ```
//!
//! All on one core, so that a figure is that of a core: the CPU device runs on the rayon
//! pool it is called in.

use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group};
use tile_kernels::number::Reference as _;
use tile_runtime::{Device, Options, Tune};

/// The side of a product.
const PRODUCT: usize = 1024;
/// Elements of a sum.
const SUM: usize = 1 << 24;
/// The side of a transpose.
const TRANSPOSE: usize = 4096;
/// The side of the plain transpose's blocks.
const BLOCK: usize = 32;

fn random(elems: usize) -> Vec<f32> {
    let mut rng = fastrand::Rng::with_seed(1);
    (0..elems).map(|_| f32::random(&mut rng)).collect()
}

fn matmul(criterion: &mut Criterion) {
    let n = PRODUCT;
    let mut group = group(criterion, "matmul f32 1024", Throughput::Elements(2 * cube(n)));
    let (a, b) = (random(n * n), random(n * n));
    let mut c = vec![0.0; n * n];
    matmul_here(&mut group, &a, &b);
    group
        .bench_function("i-j-k loop", |bencher| bencher.iter(|| ijk(n, &a, &b, black_box(&mut c))));
    group
        .bench_function("i-k-j loop", |bencher| bencher.iter(|| ikj(n, &a, &b, black_box(&mut c))));
    let shaped = |values: &[f32]| {
        ndarray::Array2::from_shape_vec((n, n), values.to_vec()).expect("it is of that shape")
    };
    let (a, b) = (shaped(&a), shaped(&b));
    group.bench_function("ndarray (matrixmultiply)", |bencher| bencher.iter(|| a.dot(&b)));
}

fn matmul_here(group: &mut BenchmarkGroup<'_, WallTime>, a: &[f32], b: &[f32]) {
    let device = Device::cpu();
    let shape = [PRODUCT; 2];
    let a = device.tensor(shape, a).expect("the host has memory");
    let b = device.tensor(shape, b).expect("the host has memory");
    let mut c = device.zeros(shape).expect("the host has memory");
    group.bench_function("this", |bencher| {
        bencher.iter(|| tile_kernels::matmul::launch(&a, &b, &mut c).expect("it runs"));
    });
    group.bench_function("this, checked", |bencher| {
        let product = tile_kernels::matmul::with(Options::new().checked(true));
        bencher.iter(|| product.launch(&a, &b, &mut c).expect("it runs"));
    });
}

fn add(criterion: &mut Criterion) {
    let mut group = group(criterion, "add f32 2^24", Throughput::Bytes(12 * SUM as u64));
    let (x, y) = (random(SUM), random(SUM));
    let mut z = vec![0.0; SUM];
    let device = Device::cpu();
    let a = device.tensor([SUM], &x).expect("the host has memory");
    let b = device.tensor([SUM], &y).expect("the host has memory");
    let mut c = device.zeros([SUM]).expect("the host has memory");
    group.bench_function("this", |bencher| {
        bencher.iter(|| tile_kernels::add::launch(&a, &b, &mut c).expect("it runs"));
    });
    group.bench_function("this, checked", |bencher| {
        let sum = tile_kernels::add::with(Options::new().checked(true));
        bencher.iter(|| sum.launch(&a, &b, &mut c).expect("it runs"));
    });
    group.bench_function("loop", |bencher| {
        bencher.iter(|| {
            for ((z, x), y) in black_box(&mut z).iter_mut().zip(&x).zip(&y) {
                *z = x + y;
            }
        });
    });
}

fn transpose(criterion: &mut Criterion) {
    let n = TRANSPOSE;
    let bytes = 8 * (n * n) as u64;
    let mut group = group(criterion, "transpose f32 4096", Throughput::Bytes(bytes));
    let x = random(n * n);
    let mut y = vec![0.0; n * n];
    let device = Device::cpu();
    let a = device.tensor([n, n], &x).expect("the host has memory");
    let mut b = device.zeros([n, n]).expect("the host has memory");
    group.bench_function("this", |bencher| {
        bencher.iter(|| tile_kernels::transpose::launch(&a, &mut b).expect("it runs"));
    });
    group.bench_function("this, checked", |bencher| {
        let turned = tile_kernels::transpose::with(Options::new().checked(true));
        bencher.iter(|| turned.launch(&a, &mut b).expect("it runs"));
    });
    group.bench_function("blocked loop", |bencher| {
        bencher.iter(|| blocked_transpose(n, &x, black_box(&mut y)));
    });
}

fn group<'a>(
    criterion: &'a mut Criterion,
    name: &str,
    throughput: Throughput,
) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.throughput(throughput).sample_size(10);
    group
}

fn cube(n: usize) -> u64 {
    (n * n * n) as u64
}

fn ijk(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    for i in 0..n {
        for j in 0..n {
            let mut sum = 0.0;
            for k in 0..n {
                sum += a[i * n + k] * b[k * n + j];
            }
            c[i * n + j] = sum;
        }
    }
}

fn ikj(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    for i in 0..n {
        let row = &mut c[i * n..][..n];
        row.fill(0.0);
        for k in 0..n {
            let scale = a[i * n + k];
            for (c, b) in row.iter_mut().zip(&b[k * n..][..n]) {
                *c += scale * b;
            }
        }
    }
}

fn blocked_transpose(n: usize, x: &[f32], y: &mut [f32]) {
    for row in (0..n).step_by(BLOCK) {
        for column in (0..n).step_by(BLOCK) {
            for i in row..row + BLOCK {
                for j in column..column + BLOCK {
                    y[j * n + i] = x[i * n + j];
                }
            }
        }
    }
}

criterion_group!(benches, matmul, add, transpose);

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
    pool.build_global().expect("nothing has used the pool before");
    // Nothing else is to run meanwhile.
    Device::cpu().set_tune(Tune::Off);
    benches();
    Criterion::default().configure_from_args().final_summary();
}
