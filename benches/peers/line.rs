//! What is found: one JSON object a line, and a table for people.

use serde::Serialize;
use std::fmt::Write as _;
use tile_sink::Told;

use crate::list::{Source, shape_text};

/// One line.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Line {
    Run(Run),
    Time(Box<Time>),
    /// Work for which there was no time left.
    Skipped {
        op: &'static str,
        #[serde(rename = "type")]
        dtype: &'static str,
        shape: Vec<usize>,
        reason: String,
    },
}

/// What all other lines are about.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Run {
    pub(crate) device: String,
    pub(crate) compute_capability: String,
    pub(crate) sms: u32,
    /// The f32 peak, in multiply-adds counted as two operations.
    pub(crate) peak_gflop_per_s: f64,
    pub(crate) peak_gb_per_s: f64,
    pub(crate) l2_bytes: u64,
    /// Its version and place, or why there is none.
    pub(crate) nvrtc: String,
    /// What NVRTC is given beside the usual options.
    pub(crate) nvrtc_options: Vec<&'static str>,
    /// Its version, or why there is none.
    pub(crate) cublas: String,
}

/// A configuration's time.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Time {
    pub(crate) op: &'static str,
    #[serde(rename = "type")]
    pub(crate) dtype: &'static str,
    pub(crate) shape: Vec<usize>,
    pub(crate) source: Source,
    /// The quickest of this work whose results are right.
    pub(crate) best: bool,
    pub(crate) config: String,
    #[serde(flatten)]
    pub(crate) figures: Option<Figures>,
    /// The greatest difference from the reference.
    pub(crate) deviation: Option<f64>,
    /// Why it was not measured, or what is wrong with its results.
    pub(crate) error: Option<String>,
}

/// Times and rates.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figures {
    pub(crate) median_ms: f64,
    pub(crate) min_ms: f64,
    pub(crate) gflop_per_s: Option<f64>,
    pub(crate) gb_per_s: Option<f64>,
    pub(crate) peer: Option<String>,
    pub(crate) peer_median_ms: Option<f64>,
    /// The peer's time through this one's: above 1 is quicker than the peer.
    pub(crate) ratio: Option<f64>,
    /// What bounds the time from below.
    pub(crate) roofline: String,
    pub(crate) roofline_ms: f64,
    /// The roofline's time through the median.
    pub(crate) of_roofline: f64,
    /// `graph`, `back_to_back` or `host_clock`.
    pub(crate) method: &'static str,
    pub(crate) launches: usize,
    pub(crate) rounds: usize,
    /// The state of the L2 cache when a launch begins.
    pub(crate) l2: String,
}

impl Told for Line {
    fn has_failed(&self) -> bool {
        match self {
            Self::Time(time) => time.error.is_some(),
            Self::Run(_) | Self::Skipped { .. } => false,
        }
    }
}

/// One row per work: its best configuration, the default and the textbook's
/// beside it.
pub(crate) fn table(lines: &[Line]) -> String {
    let times: Vec<&Time> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Time(time) => Some(&**time),
            Line::Run(_) | Line::Skipped { .. } => None,
        })
        .collect();
    let header = ["work", "rate", "peer", "ratio", "default", "textbook", "roofline", "best"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for best in times.iter().filter(|time| time.best) {
        let Some(figures) = &best.figures else { continue };
        let of_source = |source: Source| {
            let same = |time: &&&Time| {
                (time.op, time.dtype, &time.shape) == (best.op, best.dtype, &best.shape)
                    && time.source == source
            };
            let found = times.iter().find(same).and_then(|time| time.figures.as_ref());
            found.map_or_else(|| "-".to_owned(), |found| ratio_text(found, figures))
        };
        rows.push(vec![
            format!("{} {} {}", best.op, best.dtype, shape_text(&best.shape)),
            rate_text(figures),
            figures.peer.clone().unwrap_or_else(|| "-".to_owned()),
            figures.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}")),
            of_source(Source::Default),
            of_source(Source::Textbook),
            format!("{:.2} of {}", figures.of_roofline, figures.roofline),
            best.config.clone(),
        ]);
    }
    let mut text = aligned(&rows);
    text.push_str(&means(&times));
    for time in times.iter().filter(|time| time.error.is_some()) {
        let error = time.error.as_deref().unwrap_or_default();
        let shape = shape_text(&time.shape);
        let _ =
            writeln!(text, "FAILED: {} {} {shape}, {}: {error}", time.op, time.dtype, time.config);
    }
    text
}

/// For each operation that has a peer, the geometric mean of its ratios.
fn means(times: &[&Time]) -> String {
    let mut of_ops: Vec<(&str, Vec<f64>)> = Vec::new();
    for time in times.iter().filter(|time| time.best) {
        let Some(ratio) = time.figures.as_ref().and_then(|figures| figures.ratio) else { continue };
        match of_ops.iter_mut().find(|(op, _)| *op == time.op) {
            Some((_, ratios)) => ratios.push(ratio),
            None => of_ops.push((time.op, vec![ratio])),
        }
    }
    let lines = of_ops.into_iter().map(|(op, ratios)| {
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        format!("{op}: geometric mean {mean:.3} of the peer, least {least:.3}\n")
    });
    lines.collect()
}

fn rate_text(figures: &Figures) -> String {
    match (figures.gflop_per_s, figures.gb_per_s) {
        (Some(gflop), _) => format!("{:.2} TFLOP/s", gflop / 1e3),
        (None, Some(gb)) => format!("{gb:.0} GB/s"),
        (None, None) => format!("{:.4} ms", figures.median_ms),
    }
}

/// The rate of a configuration as part of the best one's.
fn ratio_text(figures: &Figures, best: &Figures) -> String {
    format!("{:.2}", best.median_ms / figures.median_ms)
}

/// Cells in columns.
fn aligned(rows: &[Vec<String>]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(String::len).max();
    let widths: Vec<usize> = (0..n_columns).map(|at| width(at).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
