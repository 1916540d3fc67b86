//! Finds the fastest configuration of a kernel for given shapes by measuring, and
//! prints what it measured and why it measured nothing else.
//!
//! ```sh
//! cargo run --release --example tune -- matmul 4096x4096x4096 1000x1000x1000
//! cargo run --release --example tune -- transpose 8192x8192 --budget 3 --strategy random
//! cargo run --release --example tune -- add 16777216 --device cpu --pruned
//! ```
//!
//! prints a table for each shape, the fastest first. What is found is remembered:
//! launches of such shapes on this device use it from then on.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use tile_runtime::{Device, Kernel, Strategy, TuneOptions, tiled_kernel};

tiled_kernel! {
    /// `c = a · b`
    pub fn matmul<T: Number>(a: &Tensor<T, [M, K]>, b: &Tensor<T, [K, N]>, c: &mut Tensor<T, [M, N]>)
    where
        tile: (TM, TN, TK),
        grid: (by in tiles(M, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared a_s: [T; TM, TK];
        shared b_s: [T; TK, TN];
        let mut acc: Acc<T> = 0;

        phase p in tiles(K, TK) {
            load a_s[i, k] = a[by * TM + i, p * TK + k];
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

tiled_kernel! {
    /// `b = aᵀ`
    pub fn transpose<T: Element>(a: &Tensor<T, [R, C]>, b: &mut Tensor<T, [C, R]>)
    where tile: (TR, TC), grid: (by in tiles(R, TR), bx in tiles(C, TC)),
    {
        shared s: [T; TR, TC];
        load s[i, j] = a[by * TR + i, bx * TC + j];
        barrier;
        each (j, i) in (TC, TR) {
            b[bx * TC + j, by * TR + i] = s[i, j];
        }
    }
}

tiled_kernel! {
    /// `c = a + b`
    pub fn add<T: Number>(a: &Tensor<T, [N]>, b: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        c[bx * TN + tx] = a[bx * TN + tx] + b[bx * TN + tx];
    }
}

/// Finds the fastest configuration of a kernel of f32 by measuring.
#[derive(Parser)]
#[command(name = "tune")]
struct Arguments {
    /// What is tuned.
    kernel: Which,
    /// Shapes: of matmul MxKxN, of transpose RxC, of add N.
    #[arg(required = true)]
    shapes: Vec<String>,
    /// Seconds for each shape.
    #[arg(long, default_value_t = 10.0)]
    budget: f64,
    /// In which order the configurations are tried.
    #[arg(long, default_value = "halving")]
    strategy: Order,
    /// What random choices and the data are made from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Says of every configuration that was not measured why.
    #[arg(long)]
    pruned: bool,
    /// cpu, cuda, cuda:1 or best: a CUDA device if there is one, else the CPU.
    #[arg(long, default_value = "best")]
    device: Device,
}

#[derive(Clone, Copy, ValueEnum)]
enum Which {
    Matmul,
    Transpose,
    Add,
}

#[derive(Clone, Copy, ValueEnum)]
enum Order {
    Halving,
    Descent,
    Random,
    Exhaustive,
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

fn run(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let kernel: Kernel = match arguments.kernel {
        Which::Matmul => matmul::kernel::<f32>(),
        Which::Transpose => transpose::kernel::<f32>(),
        Which::Add => add::kernel::<f32>(),
    };
    let strategy = match arguments.strategy {
        Order::Halving => Strategy::Halving,
        Order::Descent => Strategy::Descent,
        Order::Random => Strategy::Random,
        Order::Exhaustive => Strategy::Exhaustive,
    };
    let budget = Duration::try_from_secs_f64(arguments.budget)?;
    let tuning = TuneOptions::new(budget).strategy(strategy).seed(arguments.seed);
    for shape in &arguments.shapes {
        let dims: Vec<usize> = shape
            .split('x')
            .map(|extent| extent.parse().map_err(|_| format!("`{extent}` is not an extent")))
            .collect::<Result<_, _>>()?;
        let report = kernel.tune(&arguments.device, &dims, &tuning)?;
        println!("{report}");
        for pruned in report.pruned.iter().filter(|_| arguments.pruned) {
            println!("{}: {}", report.describe(&pruned.config), pruned.reason);
        }
    }
    Ok(())
}
