//! Measures the tuner, and what a launch costs the host. `README.md` beside this
//! folder says how to read its lines.
//!
//! ```sh
//! cargo run --release -p tile-benches --bin tuner -- --out tuner.jsonl
//! cargo run --release -p tile-benches --bin tuner -- --part first,overhead
//! ```

mod child;
mod first;
mod in_place;
mod line;
mod overhead;
mod shapes;
mod space;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use tile_runtime::Device;
use tile_runtime::bench::add_compile_options;

use child::Role;
use line::{Line, summary, table, write_all};
use tile_sink::Sink;

/// With a driver present, NVRTC answers repeated compilations from a cache.
const NVRTC_OPTIONS: [&str; 1] = ["--no-cache"];

/// Measures the tuner, and what a launch costs the host.
#[derive(Clone, Parser)]
#[command(name = "tuner")]
struct Arguments {
    /// cuda, cuda:1, cpu or best.
    #[arg(long, default_value = "cuda")]
    device: String,
    /// Only these parts, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',')]
    part: Vec<Part>,
    /// Only these products, M x N x K, separated by commas.
    #[arg(long, value_delimiter = ',')]
    shape: Vec<String>,
    /// What the tuner is given for each shape, in seconds.
    #[arg(long, default_value_t = 10.0)]
    budget: f64,
    /// No further shape is begun after so many seconds.
    #[arg(long, default_value_t = 380)]
    seconds: u64,
    /// Small shapes and little time, to see that it works.
    #[arg(long)]
    quick: bool,
    /// The file for the lines, besides standard output.
    #[arg(long)]
    out: Option<PathBuf>,
    /// What this process does for its parent.
    #[arg(long, value_enum, hide = true)]
    role: Option<Role>,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The first launch of a process, with and without a cache.
    First,
    /// The host's part of a launch.
    Overhead,
    /// That tuning writes no tensor of the user's.
    InPlace,
    /// What is found within the budget, and what is chosen without measuring,
    /// against the best of the named space.
    Shapes,
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

/// Returns how many measurements failed.
fn run(arguments: &Arguments) -> Result<usize, Box<dyn std::error::Error>> {
    let start = Instant::now();
    add_compile_options(&NVRTC_OPTIONS);
    if let Some(role) = arguments.role {
        role.play(arguments)?;
        return Ok(0);
    }
    let mut sink = Sink::open(arguments.out.as_deref())?;
    let wants = |part| arguments.part.is_empty() || arguments.part.contains(&part);
    // Before this process has a context of its own.
    if wants(Part::First) {
        write_all(&mut sink, "first launch", first::measure(arguments))?;
    }
    let device = arguments.device.parse::<Device>()?;
    sink.write(Line::of_device(&device))?;
    if wants(Part::Overhead) {
        write_all(&mut sink, "overhead", overhead::measure(&device, arguments.quick))?;
    }
    if wants(Part::InPlace) {
        let budget = Duration::try_from_secs_f64(arguments.budget.min(2.0))?;
        write_all(&mut sink, "in place", in_place::measure(&device, arguments.quick, budget))?;
    }
    if wants(Part::Shapes) {
        for shape in arguments.shapes()? {
            if start.elapsed() > Duration::from_secs(arguments.seconds) {
                let reason = format!("{} seconds are over", arguments.seconds);
                sink.write(Line::Skipped { shape, reason })?;
                continue;
            }
            write_all(&mut sink, "shape", shapes::measure(&device, shape, arguments))?;
        }
    }
    if let Some(summary) = summary(sink.lines()) {
        sink.write(summary)?;
    }
    eprint!("{}", table(sink.lines()));
    eprintln!("{:.1} seconds", start.elapsed().as_secs_f64());
    Ok(sink.n_failed())
}

impl Arguments {
    /// The products that are selected, `[m, n, k]`.
    fn shapes(&self) -> Result<Vec<[usize; 3]>, String> {
        if self.shape.is_empty() {
            let all = if self.quick { &shapes::QUICK[..] } else { &shapes::SHAPES };
            return Ok(all.to_vec());
        }
        let parse = |text: &String| {
            let extents = text.split('x').map(str::parse);
            let extents: Result<Vec<usize>, _> = extents.collect();
            let extents = extents.ok().and_then(|extents| <[usize; 3]>::try_from(extents).ok());
            extents.ok_or_else(|| format!("`{text}` is no shape: it is such as 1024x512x4096"))
        };
        self.shape.iter().map(parse).collect()
    }
}
