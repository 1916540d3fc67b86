//! What the tuner finds in its time, and what is chosen without measuring, against
//! the best of the named space.

use std::time::Instant;

use tile_runtime::bench::{Launch, Sampling, Timing, time_interleaved};
use tile_runtime::inspect::measure_listed;
use tile_runtime::{Config, Device, Options, Result, Stream, Tune, TuneReport};

use crate::Arguments;
use crate::child::{Role, Tuned, ask, new_cache, tensors};
use crate::line::{Choice, Line, Shape};
use crate::space::{NAME, named_space};

/// `[m, n, k]`.
pub(crate) const SHAPES: [[usize; 3]; 8] = [
    [512, 512, 512],
    [1000, 1000, 1000],
    [1024, 1024, 1024],
    [2048, 2048, 2048],
    [4095, 4095, 4095],
    [4096, 4096, 4096],
    [8192, 8192, 8192],
    [4096, 1024, 8192],
];
pub(crate) const QUICK: [[usize; 3]; 1] = [[70, 50, 90]];
/// Configurations of the named space that are tried in a quick look.
const QUICK_CONFIGS: usize = 2;
/// The best of the named space so many of which are timed again, with the others.
const FINALISTS: usize = 4;

/// The product's dimensions in the order of its signature: M, K, N.
pub(crate) fn dims([m, n, k]: [usize; 3]) -> [usize; 3] {
    [m, k, n]
}

/// One line.
pub(crate) fn measure(
    device: &Device,
    shape: [usize; 3],
    arguments: &Arguments,
) -> std::result::Result<Vec<Line>, Box<dyn std::error::Error>> {
    // First, and with a cache of its own: so that nothing is compiled for it yet.
    let cache = new_cache()?;
    let tuned: Tuned = ask(Role::Tune, shape, arguments, cache.path())?;
    let kernel = tile_kernels::matmul::kernel::<f32>();
    let default = kernel.config_for(device.properties(), &dims(shape))?;
    let start = Instant::now();
    let mut space = named_space();
    if arguments.quick {
        space.truncate(QUICK_CONFIGS);
    }
    let report = measure_listed(&kernel, device, &dims(shape), &space)?;
    let space_seconds = start.elapsed().as_secs_f64();
    let of_space = |config: &Config| space.contains(config);
    let best = report.trials.iter().map(|trial| trial.config.clone()).filter(of_space);
    let finalists: Vec<Config> = [default, tuned.config].into_iter().chain(best).collect();
    let finalists = &finalists[..finalists.len().min(2 + FINALISTS)];
    let timings = time(device, shape, finalists, arguments.quick)?;
    let choice = |at: usize| choice(&report, &finalists[at], &timings[at]);
    let best = (2..finalists.len())
        .min_by(|&one, &other| timings[one].median_ms.total_cmp(&timings[other].median_ms));
    let best = choice(best.ok_or("nothing of the named space runs")?);
    let (default, found) = (choice(0), choice(1));
    Ok(vec![Line::Shape(Box::new(Shape {
        shape,
        space: NAME,
        n_space: space.len(),
        n_measured: report.trials.iter().filter(|trial| of_space(&trial.config)).count(),
        space_seconds,
        budget_seconds: arguments.budget,
        tune_seconds: tuned.seconds,
        tuned_of_best: best.median_ms / found.median_ms,
        default_of_best: best.median_ms / default.median_ms,
        best,
        tuned: found,
        default,
    }))])
}

fn choice(report: &TuneReport, config: &Config, timing: &Timing) -> Choice {
    Choice { config: report.describe(config), median_ms: timing.median_ms, min_ms: timing.min_ms }
}

/// Times configurations in turn, on tensors of their own.
fn time(
    device: &Device,
    shape: [usize; 3],
    configs: &[Config],
    quick: bool,
) -> Result<Vec<Timing>> {
    let stream: Stream = device.new_stream()?;
    let (a, b, c) = tensors(device, shape)?;
    let c = std::cell::RefCell::new(c);
    let (a, b, c) = (&a, &b, &c);
    let sampling = Sampling {
        rounds: if quick { 1 } else { 11 },
        round_ms: if quick { 0.0 } else { 8.0 },
        least_launches: if quick { 1 } else { 20 },
        graph_below_ms: 1.0,
    };
    let mut launches: Vec<Box<Launch<'_>>> = Vec::new();
    for config in configs {
        let options = Options::new().stream(&stream).tune(Tune::Off).config(config.clone());
        launches.push(Box::new(move |_| {
            tile_kernels::matmul::with(options.clone()).launch(a, b, &mut c.borrow_mut())
        }));
    }
    // Once before a graph may hold it.
    launches.iter_mut().try_for_each(|launch| launch(&stream))?;
    time_interleaved(&stream, sampling, &mut launches).into_iter().collect()
}
