//! What is found, one JSON object a line. `torch_peers.py` writes the same form.

use serde::Serialize;
use tile_runtime::Device;
use tile_sink::Told;

/// One line.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Figure {
    /// What all lines after it are about.
    Device {
        name: String,
        compute_capability: String,
        sms: u32,
        /// In operations per second.
        peak_f32_flops: f64,
        /// In bytes per second.
        peak_memory_bytes_per_s: f64,
    },
    /// A result compared with its reference.
    Check {
        kernel: String,
        #[serde(rename = "type")]
        dtype: &'static str,
        shape: Vec<usize>,
        passed: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// A result in one of a kernel's configurations, compared with the CPU device's.
    Sample {
        kernel: String,
        types: Vec<String>,
        shape: Vec<usize>,
        passed: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// The median time of a launch.
    Time {
        library: &'static str,
        kernel: &'static str,
        #[serde(rename = "type")]
        dtype: &'static str,
        shape: Vec<usize>,
        /// Tile sizes and threads per block.
        config: String,
        seconds: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        tflop_per_s: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        gb_per_s: Option<f64>,
    },
    /// A measurement that did not happen.
    Unmeasured { kernel: &'static str, shape: Vec<usize>, error: String },
}

impl Figure {
    pub(crate) fn of_device(device: &Device) -> Self {
        let properties = device.properties();
        let (major, minor) = properties.compute_capability;
        Self::Device {
            name: device.name().to_owned(),
            compute_capability: format!("{major}.{minor}"),
            sms: properties.sms,
            peak_f32_flops: properties.peak_f32_flops(),
            peak_memory_bytes_per_s: properties.memory_bytes_per_s,
        }
    }
}

impl Told for Figure {
    fn has_failed(&self) -> bool {
        match self {
            Self::Check { passed, .. } | Self::Sample { passed, .. } => !passed,
            Self::Unmeasured { .. } => true,
            Self::Device { .. } | Self::Time { .. } => false,
        }
    }
}
