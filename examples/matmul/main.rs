//! Multiplies two matrices with the textbook's tiled kernel.
//!
//! ```sh
//! cargo run --release --example matmul
//! cargo run --release --example matmul -- --m 4095 --n 1000 --k 333 --device cpu
//! cargo run --release --example matmul -- --a a.npy --b b.npy --out c.npy
//! ```
//!
//! prints the device, the tile chosen for it, the time, and how far the result is
//! from a reference; it fails where that is farther than rounding can explain.

mod matrix;
mod reference;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use matrix::Matrix;
use tile_runtime::{Device, Tune, tiled_kernel};

tiled_kernel! {
    /// `c = a · b`, row-major, any shape.
    pub fn matmul<T: Number>(a: &Tensor<T, [M, K]>, b: &Tensor<T, [K, N]>, c: &mut Tensor<T, [M, N]>)
    where
        tile: (TM, TN, TK),                                 // chosen for the device
        grid: (by in tiles(M, TM), bx in tiles(N, TN)),     // tiles(M, TM) = ceil(M / TM)
        block: (ty in TM, tx in TN),                        // one work-item per element
    {
        shared a_s: [T; TM, TK];
        shared b_s: [T; TK, TN];
        let mut acc: Acc<T> = 0;

        phase p in tiles(K, TK) {
            load a_s[i, k] = a[by * TM + i, p * TK + k];    // the whole block fills the tile
            load b_s[k, j] = b[p * TK + k, bx * TN + j];
            barrier;
            for k in 0..TK {
                acc += a_s[ty, k] * b_s[k, tx];
            }
            barrier;
        }
        c[by * TM + ty, bx * TN + tx] = acc;
    }
}

type Failure = Box<dyn std::error::Error>;

/// Multiplies two matrices of f32: c = a · b.
#[derive(Parser)]
#[command(name = "matmul")]
struct Arguments {
    /// The left factor, [m, k] of f32; a random one where none is given.
    #[arg(long, value_name = "FILE.npy")]
    a: Option<PathBuf>,
    /// The right factor, [k, n] of f32; a random one where none is given.
    #[arg(long, value_name = "FILE.npy")]
    b: Option<PathBuf>,
    /// Where the product is written.
    #[arg(long, value_name = "FILE.npy")]
    out: Option<PathBuf>,
    /// Rows of a random left factor.
    #[arg(long)]
    m: Option<usize>,
    /// Columns of a random right factor.
    #[arg(long)]
    n: Option<usize>,
    /// The extent that is summed over.
    #[arg(long)]
    k: Option<usize>,
    /// What the random factors are made from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// cpu, cuda, cuda:1 or best: a CUDA device if there is one, else the CPU.
    #[arg(long, default_value = "best")]
    device: Device,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let device = &arguments.device;
    // The first launch waits for the program whose time is shown.
    device.set_tune(Tune::Cached);
    let (a, b) = factors(arguments)?;
    let (m, k, n) = (a.rows, a.cols, b.cols);
    println!("device   {}", device.name());
    println!("shape    [{m}, {k}] · [{k}, {n}]");

    let device_a = device.tensor([m, k], &a.values)?;
    let device_b = device.tensor([k, n], &b.values)?;
    let mut device_c = device.zeros([m, n])?;
    let mut launch = || -> tile_runtime::Result<Duration> {
        let start = Instant::now();
        matmul::launch(&device_a, &device_b, &mut device_c)?;
        device.synchronize()?;
        Ok(start.elapsed())
    };
    let first = launch()?;
    let best = launch()?.min(launch()?);
    let kernel = matmul::kernel::<f32>();
    let config = kernel.config_for(device.properties(), &[m, k, n])?;
    let tile = config.describe_tiles(kernel.checked().kernel());
    println!("tile     {tile}; {} threads per block", config.threads);
    println!("first    {:.3} ms, with compilation", first.as_secs_f64() * 1e3);
    let flops = 2.0 * m as f64 * n as f64 * k as f64;
    let gflops = flops / best.as_secs_f64() / 1e9;
    println!("time     {:.3} ms, {gflops:.1} GFLOP/s", best.as_secs_f64() * 1e3);

    let c = Matrix { rows: m, cols: n, values: device_c.to_vec()? };
    let check = reference::check(&a, &b, &c);
    println!("{check}");
    if let Some(path) = &arguments.out {
        c.write(path)?;
        println!("written  {}", path.display());
    }
    if check.passed() { Ok(()) } else { Err("the product is wrong".into()) }
}

/// Reads the factors that are given and makes the others.
fn factors(arguments: &Arguments) -> Result<(Matrix, Matrix), Failure> {
    let size = if arguments.device.is_cpu() { 512 } else { 4096 };
    let read = |path: &Option<PathBuf>| path.as_deref().map(Matrix::read).transpose();
    let (a, b) = (read(&arguments.a)?, read(&arguments.b)?);
    let inner = a.as_ref().map(|a| a.cols).or(b.as_ref().map(|b| b.rows));
    let k = inner.or(arguments.k).unwrap_or(size);
    let mut rng = fastrand::Rng::with_seed(arguments.seed);
    let a = match a {
        Some(a) => a,
        None => Matrix::random(arguments.m.unwrap_or(size), k, &mut rng)?,
    };
    let b = match b {
        Some(b) => b,
        None => Matrix::random(k, arguments.n.unwrap_or(size), &mut rng)?,
    };
    let agrees = |given: Option<usize>, extent| given.is_none_or(|given| given == extent);
    if a.cols != b.rows {
        let (a, b) = (a.shape(), b.shape());
        return Err(format!("a is {a} and b is {b}: a's columns must be b's rows").into());
    }
    if !agrees(arguments.m, a.rows) || !agrees(arguments.n, b.cols) || !agrees(arguments.k, k) {
        let (a, b) = (a.shape(), b.shape());
        return Err(format!("a is {a} and b is {b}; --m, --n or --k says otherwise").into());
    }
    Ok((a, b))
}
