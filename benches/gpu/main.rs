//! Tests and measures the kernels on one device, and writes what it finds as JSON
//! lines. It runs on a machine without Rust; `cargo xtask bundle` ships it.
//!
//! ```sh
//! cargo run --release -p tile-gpu -- --out figures.jsonl
//! cargo run --release -p tile-gpu -- --device cpu --quick
//! ```

mod checks;
mod figure;
mod measure;
mod sample;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use figure::Figure;
use sample::Draw;
use tile_runtime::{Device, Tune};
use tile_sink::Sink;

/// Tests and measures the kernels on one device.
#[derive(Parser)]
#[command(name = "gpu")]
struct Arguments {
    /// cuda, cuda:1, cpu or best.
    #[arg(long, default_value = "cuda")]
    device: Device,
    /// Small shapes and few samples, for a look within seconds.
    #[arg(long)]
    quick: bool,
    /// Only the tests.
    #[arg(long, conflicts_with = "only_measure")]
    only_check: bool,
    /// Only the measurements.
    #[arg(long)]
    only_measure: bool,
    /// Instead of all that: so many random configurations of every kernel, against
    /// the CPU device.
    #[arg(long, value_name = "CONFIGURATIONS")]
    sample: Option<usize>,
    /// Of only so many kernels, drawn at random: `--sample 1 --kernels 30` is short
    /// enough for compute-sanitizer.
    #[arg(long, requires = "sample")]
    kernels: Option<usize>,
    /// Instead of all that: tensors of more than 2^31 elements, which take 7 GB on the
    /// device and as much on the host.
    #[arg(long, conflicts_with = "sample")]
    large: bool,
    /// Where the random choices begin.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The file for the figures, besides standard output.
    #[arg(long)]
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failed) => {
            eprintln!("error: {failed} failed");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns how many checks and measurements failed.
fn run(arguments: &Arguments) -> Result<usize, Box<dyn std::error::Error>> {
    // What is checked and measured is what was chosen, from the first launch on.
    arguments.device.set_tune(Tune::Off);
    let mut sink = Sink::open(arguments.out.as_deref())?;
    sink.write(Figure::of_device(&arguments.device))?;
    if let Some(n_configs) = arguments.sample {
        let draw = Draw { n_configs, n_kernels: arguments.kernels, seed: arguments.seed };
        sample::run(&arguments.device, draw, &mut sink)?;
        return Ok(sink.n_failed());
    }
    if arguments.large {
        checks::run_large(&arguments.device, &mut sink)?;
        return Ok(sink.n_failed());
    }
    if !arguments.only_measure {
        checks::run(&arguments.device, arguments.quick, &mut sink)?;
    }
    if !arguments.only_check {
        measure::run(&arguments.device, arguments.quick, &mut sink)?;
    }
    Ok(sink.n_failed())
}
