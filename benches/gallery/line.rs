//! What is found, one JSON object a line, and the table of it.

use serde::Serialize;
use tile_examples::frame::{Cost, Entry, Failure};
use tile_runtime::{Device, DeviceProperties};
use tile_sink::Told;

/// One line.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Line {
    /// What all lines after it are about.
    Device { name: String, peak_gflop_per_s: f64, peak_gb_per_s: f64 },
    /// A result that agrees with its reference.
    Right { name: &'static str, sizes: Vec<usize> },
    /// One that does not, or none.
    Failed { name: &'static str, sizes: Vec<usize>, error: String },
    /// One that does, and how long it took.
    Time(Time),
}

impl Line {
    pub(crate) fn of_device(device: &Device) -> Self {
        let properties = device.properties();
        Self::Device {
            name: device.name().to_owned(),
            peak_gflop_per_s: properties.peak_f32_flops() / 1e9,
            peak_gb_per_s: properties.memory_bytes_per_s / 1e9,
        }
    }

    pub(crate) fn failed(name: &'static str, sizes: &[usize], error: &Failure) -> Self {
        Self::Failed { name, sizes: sizes.to_vec(), error: error.to_string() }
    }
}

/// The time of one computation, all its launches together.
#[derive(Debug, Serialize)]
pub(crate) struct Time {
    name: &'static str,
    sizes: Vec<usize>,
    ms: f64,
    gb_per_s: f64,
    gflop_per_s: f64,
    /// Which of the device's peak rates bounds it: `memory` or `arithmetic`.
    bound: &'static str,
    /// The time that the bound allows, next to the time it took.
    of_roofline: f64,
}

impl Time {
    pub(crate) fn new(entry: &Entry, cost: Cost, ms: f64, device: &DeviceProperties) -> Self {
        Self {
            name: entry.name,
            sizes: entry.full.to_vec(),
            ms,
            gb_per_s: cost.bytes / ms / 1e6,
            gflop_per_s: cost.flops / ms / 1e6,
            bound: if cost.is_of_memory(device) { "memory" } else { "arithmetic" },
            of_roofline: cost.bound(device) * 1e3 / ms,
        }
    }
}

impl Told for Line {
    fn has_failed(&self) -> bool {
        match self {
            Self::Failed { .. } => true,
            Self::Device { .. } | Self::Right { .. } | Self::Time(_) => false,
        }
    }
}

/// The times, and what failed.
pub(crate) fn table(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        text += &match line {
            Line::Device { name, peak_gflop_per_s, peak_gb_per_s } => format!(
                "{name}: {peak_gb_per_s:.0} GB/s, {peak_gflop_per_s:.0} GFLOP/s\n\
                 {:24} {:>24} {:>10} {:>8} {:>9} {:>9}\n",
                "kernel", "sizes", "ms", "GB/s", "GFLOP/s", "roofline",
            ),
            Line::Right { .. } => continue,
            Line::Failed { name, sizes, error } => format!("{name:24} {sizes:?}: {error}\n"),
            Line::Time(time) => format!(
                "{:24} {:>24} {:>10.4} {:>8.0} {:>9.0} {:>8.0}% {}\n",
                time.name,
                time.sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join("×"),
                time.ms,
                time.gb_per_s,
                time.gflop_per_s,
                time.of_roofline * 100.0,
                time.bound,
            ),
        };
    }
    text
}
