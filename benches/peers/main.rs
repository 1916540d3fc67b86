//! Measures kernels against what vendors have for the same work, in one process
//! and in turn: matrix products against cuBLAS without TF32, memory-bound kernels
//! against the driver's copy of as many bytes, and each against its own roofline.
//! `README.md` beside this folder says how to run it and how to read its lines.
//!
//! ```sh
//! cargo run --release -p tile-benches --bin peers -- --op matmul --shape 4096x4096x4096
//! ```

mod case;
mod config_text;
mod host;
mod line;
mod list;
mod measure;
#[cfg(test)]
mod model;
mod ops;
mod output;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::Parser;
use tile_runtime::bench::{Blas, Sampling, add_compile_options};
use tile_runtime::ir::config::Numerics;
use tile_runtime::ir::device::{all_known, known};
use tile_runtime::{Config, Device, Stream, TuneOptions, nvrtc};

use case::{Bench, Case};
use line::{Line, Run, table};
use list::{Entry, LISTED, Source, shape_text};
use tile_sink::Sink;

/// Where cuBLAS is looked for, before the system's loader is asked.
const CUBLAS_VARIABLE: &str = "TILE_CUBLAS";

/// With a driver present, NVRTC answers repeated compilations from a cache.
const NVRTC_OPTIONS: [&str; 1] = ["--no-cache"];

/// Measures kernels against cuBLAS, the driver's copy and their rooflines.
#[derive(Parser)]
#[command(name = "peers")]
struct Arguments {
    /// cuda, cuda:1, cpu or best.
    #[arg(long, default_value = "cuda")]
    device: String,
    /// Only these operations, separated by commas.
    #[arg(long, value_delimiter = ',')]
    op: Vec<String>,
    /// Only these shapes, such as 4096x4096x4096, separated by commas.
    #[arg(long, value_delimiter = ',')]
    shape: Vec<String>,
    /// Only this element type.
    #[arg(long = "type")]
    dtype: Option<String>,
    /// Says what there is to measure, and ends.
    #[arg(long)]
    list: bool,
    /// Prints the CUDA C++ of everything that is selected, for a device that need
    /// not be there, such as H200, and ends.
    #[arg(long)]
    cuda: Option<String>,
    /// Only the default configuration.
    #[arg(long)]
    only_default: bool,
    /// A further configuration of everything that is selected:
    /// 128 256 16 : 16/8*4 16/4*4 : stages=2.
    #[arg(long)]
    config: Vec<String>,
    /// A file of further configurations, in the form of benches/peers/configs.txt.
    #[arg(long)]
    configs: Option<PathBuf>,
    /// Lets the tuner search for so many seconds in each work, and tries what it
    /// finds; it remembers it too.
    #[arg(long, value_name = "SECONDS")]
    tune: Option<f64>,
    /// Lets the tuner choose among configurations that sum in another order, too.
    #[arg(long, requires = "tune")]
    reassociate: bool,
    /// No further work is begun after so many seconds.
    #[arg(long, default_value_t = 180)]
    seconds: u64,
    /// Rounds in which each configuration is timed.
    #[arg(long, default_value_t = 11)]
    rounds: usize,
    /// What a round of the quickest configuration lasts, in milliseconds.
    #[arg(long, default_value_t = 8.0)]
    round_ms: f64,
    /// Small shapes, for a look within seconds; the list does not apply.
    #[arg(long)]
    quick: bool,
    /// The folder with libcublas, else TILE_CUBLAS.
    #[arg(long)]
    cublas: Option<PathBuf>,
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

/// Returns how many configurations failed.
fn run(arguments: &Arguments) -> Result<usize, Box<dyn std::error::Error>> {
    let start = Instant::now();
    let selected: Vec<Case> =
        ops::cases(arguments.quick).into_iter().filter(|case| arguments.selects(case)).collect();
    let entries = arguments.entries()?;
    if selected.is_empty() {
        return Err("nothing is selected; --list says what there is".into());
    }
    if arguments.list {
        for case in &selected {
            let n_configs = arguments.configs_of(case, &entries)?.len() + 1;
            let shape = shape_text(&case.shape);
            println!("{} {} {shape}: {n_configs} configurations", case.op, case.dtype);
        }
        return Ok(0);
    }
    if let Some(name) = &arguments.cuda {
        return arguments.print_cuda(&selected, &entries, name);
    }
    let device = arguments.device.parse::<Device>()?;
    add_compile_options(&NVRTC_OPTIONS);
    let stream = device.new_stream()?;
    let folder =
        arguments.cublas.clone().or_else(|| std::env::var_os(CUBLAS_VARIABLE).map(Into::into));
    let (blas, cublas) = load_blas(&stream, folder.as_deref());
    eprintln!("cuBLAS: {cublas}");
    let bench = Bench::new(stream, device, blas);
    let mut sink = Sink::open(arguments.out.as_deref())?;
    sink.write(Line::Run(about(&bench, cublas)))?;
    let sampling = Sampling {
        rounds: arguments.rounds.max(1),
        round_ms: arguments.round_ms,
        least_launches: if arguments.quick { 1 } else { 20 },
        graph_below_ms: 1.0,
    };
    for case in &selected {
        if start.elapsed() > Duration::from_secs(arguments.seconds) {
            let (op, dtype, shape) = (case.op, case.dtype, case.shape.clone());
            let reason = format!("{} seconds are over", arguments.seconds);
            sink.write(Line::Skipped { op, dtype, shape, reason })?;
            continue;
        }
        let mut configs = arguments.configs_of(case, &entries)?;
        configs.extend(arguments.tuned(&bench, case));
        for time in measure::measure(&bench, case, &configs, sampling) {
            sink.write(Line::Time(Box::new(time)))?;
        }
    }
    eprint!("{}", table(sink.lines()));
    eprintln!("{:.1} seconds", start.elapsed().as_secs_f64());
    Ok(sink.n_failed())
}

impl Arguments {
    fn selects(&self, case: &Case) -> bool {
        let any = |wanted: &[String], own: &str| {
            wanted.is_empty() || wanted.iter().any(|wanted| wanted == own)
        };
        any(&self.op, case.op)
            && any(&self.shape, &shape_text(&case.shape))
            && self.dtype.as_ref().is_none_or(|dtype| dtype == case.dtype)
    }

    /// The list, and the file's lines.
    fn entries(&self) -> Result<Vec<Entry>, String> {
        let mut entries = Vec::new();
        if !self.quick && !self.only_default {
            entries = list::parse(LISTED)?;
        }
        if let Some(path) = &self.configs {
            let named = |error: String| format!("{}: {error}", path.display());
            let text = std::fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
            entries.extend(list::parse(&text).map_err(named)?);
        }
        Ok(entries)
    }

    /// What the tuner finds, if it is to search.
    fn tuned(&self, bench: &Bench, case: &Case) -> Option<(Source, Config)> {
        let budget = Duration::try_from_secs_f64(self.tune?).ok()?;
        let numerics = if self.reassociate { Numerics::Reassociated } else { Numerics::Exact };
        let tuning = TuneOptions::new(budget).numerics(numerics);
        match case.kernel.tune(&bench.device, &case.dims(), &tuning) {
            Ok(report) => Some((Source::Tuned, report.best().config.clone())),
            Err(error) => {
                eprintln!("{} {}: not tuned: {error}", case.op, shape_text(&case.shape));
                None
            }
        }
    }

    fn print_cuda(
        &self,
        selected: &[Case],
        entries: &[Entry],
        name: &str,
    ) -> Result<usize, Box<dyn std::error::Error>> {
        let names = || all_known().iter().map(|known| known.name.clone()).collect::<Vec<_>>();
        let device = known(name)
            .ok_or_else(|| format!("`{name}` is not known; these are: {}", names().join(", ")))?;
        for case in selected {
            let default = case.kernel.config_for(&device, &case.dims())?;
            let others = self.configs_of(case, entries)?.into_iter().map(|(_, config)| config);
            for config in std::iter::once(default).chain(others) {
                let text = case.kernel.cuda_source_for(&config, &device, &case.dims())?;
                let (shape, config) = (shape_text(&case.shape), config_text::print(&config));
                println!("// {} {} {shape} in {config}\n{text}", case.op, case.dtype);
            }
        }
        Ok(0)
    }

    /// The configurations that are tried beside the default one.
    fn configs_of(&self, case: &Case, entries: &[Entry]) -> Result<Vec<(Source, Config)>, String> {
        let fitting = entries.iter().filter(|e| e.is_for(case.op, case.dtype, &case.shape));
        let mut configs: Vec<_> = fitting.map(|e| (e.source, e.config.clone())).collect();
        for text in &self.config {
            configs.push((Source::Listed, config_text::parse(text)?));
        }
        Ok(configs)
    }
}

/// cuBLAS, if it can be had, and its version or why not.
fn load_blas(stream: &Stream, folder: Option<&Path>) -> (Option<Rc<Blas>>, String) {
    if stream.device().is_cpu() {
        return (None, "left out: it is for CUDA devices".to_owned());
    }
    match Blas::load(stream, folder) {
        Ok(blas) => {
            let version = blas.version();
            (Some(Rc::new(blas)), version)
        }
        Err(error) => (None, format!("left out: {error}")),
    }
}

fn about(bench: &Bench, cublas: String) -> Run {
    let properties = bench.device.properties();
    let (major, minor) = properties.compute_capability;
    Run {
        device: bench.device.name().to_owned(),
        compute_capability: format!("{major}.{minor}"),
        sms: properties.sms,
        peak_gflop_per_s: properties.peak_f32_flops() / 1e9,
        peak_gb_per_s: properties.memory_bytes_per_s / 1e9,
        l2_bytes: properties.l2_bytes,
        nvrtc: match nvrtc::find() {
            Ok(nvrtc) => format!("{nvrtc:?}"),
            Err(error) => error.to_string(),
        },
        nvrtc_options: NVRTC_OPTIONS.to_vec(),
        cublas,
    }
}
