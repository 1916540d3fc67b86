//! Checks and measures the kernels of `examples/gallery` and `tests/polybench` at full
//! size on one device, each against its own roofline, and prints a table.
//!
//! ```sh
//! cargo run --release -p tile-benches --bin gallery
//! cargo run --release -p tile-benches --bin gallery -- --only row_softmax --tune 5
//! cargo run --release -p tile-benches --bin gallery -- --device cpu --small
//! ```

mod line;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use line::{Line, Time};
use tile_examples::frame::{Entry, Failure};
use tile_runtime::bench::time_launches;
use tile_runtime::{Device, Options, Tune};
use tile_sink::Sink;

/// Launches in a round, and rounds.
const LAUNCHES: usize = 10;
const ROUNDS: usize = 11;

/// Measures the kernels of the gallery against their rooflines.
#[derive(Parser)]
#[command(name = "gallery")]
struct Arguments {
    /// cuda, cuda:1, cpu or best.
    #[arg(long, default_value = "cuda")]
    device: Device,
    /// Only these, separated by commas.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// In the small sizes of the tests, and not timed.
    #[arg(long)]
    small: bool,
    /// Lets the tuner search for so many seconds a kernel.
    #[arg(long, value_name = "SECONDS")]
    tune: Option<f64>,
    /// Tile sizes, for kernels that have such: `--only seven_point --tile TD=4,TC=128`.
    #[arg(long, value_delimiter = ',', value_parser = tile_size)]
    tile: Vec<(String, u32)>,
    /// The file for the lines, besides standard output.
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

/// `TM=64`
fn tile_size(text: &str) -> Result<(String, u32), String> {
    let (name, size) = text.split_once('=').ok_or("write `TM=64`")?;
    let size = size.parse().map_err(|error| format!("`{size}`: {error}"))?;
    Ok((name.to_owned(), size))
}

/// Returns how many entries failed.
fn run(arguments: &Arguments) -> Result<usize, Box<dyn std::error::Error>> {
    let device = &arguments.device;
    device.set_tune(match arguments.tune {
        Some(seconds) => Tune::Now(Duration::try_from_secs_f64(seconds)?),
        None => Tune::Off,
    });
    let mut sink = Sink::open(arguments.out.as_deref())?;
    sink.write(Line::of_device(device))?;
    for entry in tile_examples::all().into_iter().chain(tile_polybench::all()) {
        if !arguments.only.is_empty() && !arguments.only.iter().any(|name| name == entry.name) {
            continue;
        }
        if arguments.small {
            for sizes in entry.small {
                sink.write(checked(device, &entry, sizes))?;
            }
        } else {
            sink.write(timed(device, &entry, &arguments.tile))?;
        }
    }
    eprint!("{}", line::table(sink.lines()));
    Ok(sink.n_failed())
}

/// One computation, compared with the reference.
fn checked(device: &Device, entry: &Entry, sizes: &[usize]) -> Line {
    match entry.checked(device, sizes) {
        Ok(_) => Line::Right { name: entry.name, sizes: sizes.to_vec() },
        Err(error) => Line::failed(entry.name, sizes, &error),
    }
}

/// The same at full size, and the median time of a computation.
fn timed(device: &Device, entry: &Entry, tiles: &[(String, u32)]) -> Line {
    let sizes = entry.full;
    let with_tiles = |options: Options| {
        tiles.iter().fold(options, |options, (name, size)| options.tile(name.as_str(), *size))
    };
    let time = || -> Result<Time, Failure> {
        let mut prepared = entry.checked(device, sizes)?;
        let stream = device.new_stream()?;
        let timing = time_launches(&stream, LAUNCHES, ROUNDS, &mut |stream| {
            prepared.launch(&with_tiles(Options::new().stream(stream)))
        })?;
        Ok(Time::new(entry, prepared.cost(), timing.median_ms, device.properties()))
    };
    time().map_or_else(|error| Line::failed(entry.name, sizes, &error), Line::Time)
}
