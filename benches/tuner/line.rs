//! What is found: one JSON object a line, and a table for people.

use std::error::Error;
use std::fmt::Write as _;
use std::io;

use serde::Serialize;
use tile_runtime::Device;
use tile_sink::{Sink, Told};

use crate::child::FirstLaunch;

/// Parts of the named space's best that are asked for: by what the tuner finds, at
/// each shape, and by what is chosen without measuring, in the mean.
const TUNED_BAR: f64 = 0.97;
const DEFAULT_BAR: f64 = 0.85;

/// What the process had of earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Cache {
    /// Nothing; NVRTC was loaded before the launch.
    Cold,
    /// The compiled kernel; nothing was loaded before the launch.
    Warm,
}

/// A configuration's time.
#[derive(Debug, Serialize)]
pub(crate) struct Choice {
    pub(crate) config: String,
    pub(crate) median_ms: f64,
    pub(crate) min_ms: f64,
}

/// A product, `[m, n, k]`.
#[derive(Debug, Serialize)]
pub(crate) struct Shape {
    pub(crate) shape: [usize; 3],
    /// The named space, how many it has, and how many of them were run.
    pub(crate) space: &'static str,
    pub(crate) n_space: usize,
    pub(crate) n_measured: usize,
    /// What it took to measure them, compiling included.
    pub(crate) space_seconds: f64,
    /// What the tuner was given, and what its launch took.
    pub(crate) budget_seconds: f64,
    pub(crate) tune_seconds: f64,
    /// The best one's time through the tuned one's and through the default's.
    pub(crate) tuned_of_best: f64,
    pub(crate) default_of_best: f64,
    pub(crate) best: Choice,
    pub(crate) tuned: Choice,
    pub(crate) default: Choice,
}

/// One line.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Line {
    Device {
        name: String,
        sms: u32,
    },
    FirstLaunch {
        shape: [usize; 3],
        cache: Cache,
        #[serde(flatten)]
        first: FirstLaunch,
    },
    /// Microseconds of the host per launch, medians over the batches.
    Overhead {
        launch_us: f64,
        /// Of the driver's call alone, where there is a driver.
        bare_us: Option<f64>,
        overhead_us: Option<f64>,
        batches: usize,
        launches: usize,
    },
    InPlace {
        n_elems: usize,
        /// Elements whose bits differ from those of a launch that tuned nothing.
        differing: usize,
        passed: bool,
    },
    Shape(Box<Shape>),
    Skipped {
        shape: [usize; 3],
        reason: String,
    },
    Failed {
        part: &'static str,
        error: String,
    },
    Summary {
        shapes: usize,
        least_tuned_of_best: f64,
        mean_default_of_best: f64,
        tuned_bar: f64,
        default_bar: f64,
    },
}

impl Line {
    pub(crate) fn of_device(device: &Device) -> Self {
        Self::Device { name: device.name().to_owned(), sms: device.properties().sms }
    }

    /// For people.
    fn text(&self) -> Option<String> {
        match self {
            Self::FirstLaunch { shape, cache, first } => Some(format!(
                "first launch of {shape:?}, {cache:?} cache: context {:.1} ms{}, ready {:.1} ms, \
                 result {:.1} ms; the next {:.1} ms",
                first.context_ms,
                first.nvrtc_ms.map(|ms| format!(", NVRTC {ms:.1} ms")).unwrap_or_default(),
                first.launch_ms,
                first.result_ms,
                first.again_ms,
            )),
            Self::Overhead { launch_us, bare_us, overhead_us, .. } => {
                let us = |us: &Option<f64>| us.map_or("-".to_owned(), |us| format!("{us:.2} us"));
                Some(format!(
                    "a launch: {launch_us:.2} us of the host; the driver's call {}, the rest {}",
                    us(bare_us),
                    us(overhead_us)
                ))
            }
            Self::InPlace { n_elems, differing, .. } => {
                Some(format!("tuned in place: {differing} of {n_elems} elements differ"))
            }
            Self::Shape(shape) => Some(format!(
                "{:?}: tuned {:.3}, default {:.3} of the best of {} in {} ({:.4} ms)\n  best     \
                 {}\n  tuned    {}\n  default  {}",
                shape.shape,
                shape.tuned_of_best,
                shape.default_of_best,
                shape.n_measured,
                shape.space,
                shape.best.median_ms,
                shape.best.config,
                shape.tuned.config,
                shape.default.config,
            )),
            Self::Skipped { shape, reason } => Some(format!("skipped {shape:?}: {reason}")),
            Self::Failed { part, error } => Some(format!("FAILED: {part}: {error}")),
            Self::Summary {
                shapes,
                least_tuned_of_best,
                mean_default_of_best,
                tuned_bar,
                default_bar,
            } => Some(format!(
                "{shapes} shapes: tuned at least {least_tuned_of_best:.3} (asked for {tuned_bar}), \
                 default in the mean {mean_default_of_best:.3} (asked for {default_bar})"
            )),
            Self::Device { .. } => None,
        }
    }
}

impl Told for Line {
    fn has_failed(&self) -> bool {
        match self {
            Self::Failed { .. } => true,
            Self::InPlace { passed, .. } => !passed,
            Self::Device { .. }
            | Self::FirstLaunch { .. }
            | Self::Overhead { .. }
            | Self::Shape(_)
            | Self::Skipped { .. }
            | Self::Summary { .. } => false,
        }
    }
}

/// Writes the lines of a part, or that it failed.
pub(crate) fn write_all(
    sink: &mut Sink<Line>,
    part: &'static str,
    lines: Result<Vec<Line>, Box<dyn Error>>,
) -> io::Result<()> {
    match lines {
        Ok(lines) => lines.into_iter().try_for_each(|line| sink.write(line)),
        Err(error) => sink.write(Line::Failed { part, error: error.to_string() }),
    }
}

/// What the shapes come to; nothing where there are none.
pub(crate) fn summary(lines: &[Line]) -> Option<Line> {
    let shapes = lines.iter().filter_map(|line| match line {
        Line::Shape(shape) => Some((shape.tuned_of_best, shape.default_of_best)),
        _ => None,
    });
    let (tuned, default): (Vec<f64>, Vec<f64>) = shapes.unzip();
    if tuned.is_empty() {
        return None;
    }
    Some(Line::Summary {
        shapes: tuned.len(),
        least_tuned_of_best: tuned.iter().copied().fold(f64::INFINITY, f64::min),
        mean_default_of_best: default.iter().sum::<f64>() / default.len() as f64,
        tuned_bar: TUNED_BAR,
        default_bar: DEFAULT_BAR,
    })
}

/// All lines for people.
pub(crate) fn table(lines: &[Line]) -> String {
    lines.iter().filter_map(Line::text).fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{line}");
        text
    })
}
