//! What `explain` predicts of kernels of the gallery, beside what Nsight Compute counts
//! and what launches take.
//!
//! ```sh
//! cargo run --release -p tile-benches --bin counters -- --out counters.jsonl
//! cargo run --release -p tile-benches --bin counters -- --only tiled_matmul --ncu /opt/ncu
//! ```
//!
//! Every kernel is launched once under `ncu`, in a process of its own, with clocks as
//! they are, and timed without it. Needs a GPU and the right to read its counters.

mod line;
mod list;
mod ncu;
mod predicted;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use line::Line;
use list::Row;
use predicted::Quantities;
use tile_runtime::bench::time_launches;
use tile_runtime::{Device, Options, Tune};
use tile_sink::Sink;

/// Launches in a round, and rounds.
const LAUNCHES: usize = 10;
const ROUNDS: usize = 11;

/// Compares what `explain` predicts with what Nsight Compute counts.
#[derive(Parser)]
#[command(name = "counters")]
struct Arguments {
    /// Only these, separated by commas.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Nsight Compute.
    #[arg(long, default_value = "ncu")]
    ncu: PathBuf,
    /// Only predictions and times; without Nsight Compute.
    #[arg(long)]
    no_counters: bool,
    /// The file for the lines, besides standard output.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Launches this one once and ends: what runs under Nsight Compute.
    #[arg(long, hide = true)]
    launch: Option<String>,
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

type Error = Box<dyn std::error::Error>;

/// Returns how many kernels failed.
fn run(arguments: &Arguments) -> Result<usize, Error> {
    let device: Device = "cuda".parse()?;
    device.set_tune(Tune::Off);
    if let Some(name) = &arguments.launch {
        launch_once(&device, name)?;
        return Ok(0);
    }
    let mut sink = Sink::open(arguments.out.as_deref())?;
    let wanted = |row: &Row| {
        arguments.only.is_empty() || arguments.only.iter().any(|name| name == row.name())
    };
    for row in list::rows().into_iter().filter(wanted) {
        let line = match compare(arguments, &device, &row) {
            Ok(compared) => Line::Compared(compared),
            Err(error) => Line::Failed { name: row.name().to_owned(), error: error.to_string() },
        };
        sink.write(line)?;
    }
    eprint!("{}", line::table(sink.lines()));
    Ok(sink.n_failed())
}

fn launch_once(device: &Device, name: &str) -> Result<(), Error> {
    let row = list::rows().into_iter().find(|row| row.name() == name);
    let row = row.ok_or_else(|| format!("there is no `{name}`"))?;
    let mut prepared = row.entry.prepared(device, row.entry.full)?;
    prepared.launch(&Options::new())?;
    device.synchronize()?;
    Ok(())
}

fn compare(arguments: &Arguments, device: &Device, row: &Row) -> Result<line::Compared, Error> {
    let properties = device.properties();
    let (options, dims) = (row.options(), row.entry.full);
    let registers = row.kernel.compiled_registers(&options, properties, dims)?;
    let report = row.kernel.explain_with(&options, properties, dims, Some(registers))?;
    let predicted = Quantities::of(&report);
    let counted = match arguments.no_counters {
        true => None,
        false => Some(ncu::count(&arguments.ncu, row)?),
    };
    let stream = device.new_stream()?;
    let mut prepared = row.entry.checked(device, row.entry.full)?;
    let timing = time_launches(&stream, LAUNCHES, ROUNDS, &mut |stream| {
        prepared.launch(&Options::new().stream(stream))
    })?;
    Ok(line::Compared {
        name: row.name().to_owned(),
        sizes: dims.to_vec(),
        is_exact: report.is_exact,
        predicted_ms: report.roofline.predicted_seconds * 1e3,
        bound_ms: report.roofline.bound_seconds * 1e3,
        measured_ms: timing.median_ms,
        predicted,
        counted,
    })
}
