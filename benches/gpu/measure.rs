//! Times the textbook's three kernels: the median over rounds of a CUDA graph of
//! launches, so that a short kernel's time is its own and not its launching's.
//! `torch_peers.py` measures in the same way.

use std::io;

use tile_kernels::number::Reference as _;
use tile_runtime::bench::time_launches;
use tile_runtime::{Device, Kernel, Options, Result, Stream, Tensor};
use tile_sink::Sink;

use crate::figure::Figure;

/// `[m, n, k]`.
const MATMUL_SHAPES: [[usize; 3]; 8] = [
    [512, 512, 512],
    [1000, 1000, 1000],
    [1024, 1024, 1024],
    [2048, 2048, 2048],
    [4095, 4095, 4095],
    [4096, 4096, 4096],
    [8192, 8192, 8192],
    [4096, 1024, 8192],
];
const TRANSPOSE_SHAPES: [[usize; 2]; 4] =
    [[4096, 4096], [8192, 8192], [8191, 8191], [16384, 16384]];
const ADD_SIZES: [usize; 3] = [1 << 20, 1 << 24, 1 << 28];

const LAUNCHES: usize = 20;
const ROUNDS: usize = 15;

/// Writes one line per kernel and shape.
pub(crate) fn run(device: &Device, quick: bool, sink: &mut Sink<Figure>) -> io::Result<()> {
    let bench = Bench { device, quick };
    let matmuls = if quick { &[[64, 64, 64]][..] } else { &MATMUL_SHAPES };
    for &[m, n, k] in matmuls {
        let work = Work::Flops(2.0 * m as f64 * n as f64 * k as f64);
        let kernel = tile_kernels::matmul::kernel::<f32>();
        let timed = bench.matmul([m, n, k]);
        sink.write(bench.figure(&kernel, (&[m, n, k], &[m, k, n]), work, timed))?;
    }
    let transposes = if quick { &[[128, 128]][..] } else { &TRANSPOSE_SHAPES };
    for &[rows, cols] in transposes {
        let work = Work::Bytes(8.0 * rows as f64 * cols as f64);
        let kernel = tile_kernels::transpose::kernel::<f32>();
        let timed = bench.transpose([rows, cols]);
        sink.write(bench.figure(&kernel, (&[rows, cols], &[rows, cols]), work, timed))?;
    }
    let adds = if quick { &[1 << 12][..] } else { &ADD_SIZES };
    for &n in adds {
        let work = Work::Bytes(12.0 * n as f64);
        let kernel = tile_kernels::add::kernel::<f32>();
        let timed = bench.add(n);
        sink.write(bench.figure(&kernel, (&[n], &[n]), work, timed))?;
    }
    Ok(())
}

/// What a launch does, by which its time becomes a rate.
enum Work {
    /// Floating-point operations.
    Flops(f64),
    /// Bytes read and written, each once.
    Bytes(f64),
}

struct Bench<'a> {
    device: &'a Device,
    quick: bool,
}

impl Bench<'_> {
    fn matmul(&self, [m, n, k]: [usize; 3]) -> Result<f64> {
        let (a, b) = (self.random([m, k])?, self.random([k, n])?);
        let mut c = self.device.zeros([m, n])?;
        self.seconds(&mut |stream| {
            tile_kernels::matmul::with(Options::new().stream(stream)).launch(&a, &b, &mut c)
        })
    }

    fn transpose(&self, [rows, cols]: [usize; 2]) -> Result<f64> {
        let a = self.random([rows, cols])?;
        let mut b = self.device.zeros([cols, rows])?;
        self.seconds(&mut |stream| {
            tile_kernels::transpose::with(Options::new().stream(stream)).launch(&a, &mut b)
        })
    }

    fn add(&self, n: usize) -> Result<f64> {
        let (a, b) = (self.random([n])?, self.random([n])?);
        let mut c = self.device.zeros([n])?;
        self.seconds(&mut |stream| {
            tile_kernels::add::with(Options::new().stream(stream)).launch(&a, &b, &mut c)
        })
    }

    /// The median seconds of a launch.
    fn seconds(&self, launch: &mut dyn FnMut(&Stream) -> Result<()>) -> Result<f64> {
        let (launches, rounds) = if self.quick { (2, 3) } else { (LAUNCHES, ROUNDS) };
        let timing = time_launches(&self.device.new_stream()?, launches, rounds, launch)?;
        Ok(timing.median_ms / 1e3)
    }

    fn random<const R: usize>(&self, shape: [usize; R]) -> Result<Tensor<f32, R>> {
        let mut rng = fastrand::Rng::with_seed(1);
        let count = shape.iter().product();
        let values: Vec<f32> = (0..count).map(|_| f32::random(&mut rng)).collect();
        self.device.tensor(shape, &values)
    }

    /// The line for a kernel: its shape as people write it, and its dimensions in
    /// the kernel's own order.
    fn figure(
        &self,
        kernel: &Kernel,
        (shape, dims): (&[usize], &[usize]),
        work: Work,
        timed: Result<f64>,
    ) -> Figure {
        let config = kernel.config_for(self.device.properties(), dims);
        let (seconds, config) = match timed.and_then(|seconds| Ok((seconds, config?))) {
            Ok(found) => found,
            Err(error) => {
                let (kernel, error) = (kernel.name(), error.to_string());
                return Figure::Unmeasured { kernel, shape: shape.to_vec(), error };
            }
        };
        let (flops, bytes) = match work {
            Work::Flops(flops) => (Some(flops), None),
            Work::Bytes(bytes) => (None, Some(bytes)),
        };
        let tiles = config.describe_tiles(kernel.checked().kernel());
        Figure::Time {
            library: "tile-runtime",
            kernel: kernel.name(),
            dtype: "f32",
            shape: shape.to_vec(),
            config: format!("{tiles}; {} threads", config.threads),
            seconds,
            tflop_per_s: flops.map(|flops| flops / seconds / 1e12),
            gb_per_s: bytes.map(|bytes| bytes / seconds / 1e9),
        }
    }
}
