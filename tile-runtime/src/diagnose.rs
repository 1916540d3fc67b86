//! What this machine has for running kernels, and what it lacks.

use std::fmt;
use std::path::PathBuf;

use tile_ir::device::DeviceProperties;

use crate::device::Device;

/// What was found on this machine.
///
/// Its `Display` is a report for people.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Diagnosis {
    /// The NVIDIA driver, where it is there and starts.
    pub driver: Option<DriverFound>,
    /// NVRTC, where it is found and loads.
    pub nvrtc: Option<NvrtcFound>,
    /// The devices that can be used: what [`Device::all`] gives.
    pub devices: Vec<DeviceFound>,
    /// What stands in the way of running on a GPU; empty where nothing does.
    pub missing: Vec<Missing>,
}

/// The NVIDIA driver.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverFound {
    /// Its library, as it was loaded.
    pub library: String,
    /// The newest CUDA version that it serves, (major, minor).
    pub cuda_version: (u32, u32),
}

/// NVRTC.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NvrtcFound {
    /// Its library.
    pub library: PathBuf,
    /// Its version, (major, minor).
    pub version: (u32, u32),
    /// Where it was found, in words.
    pub source: String,
    /// The architectures that it compiles for, e.g. `sm_90`.
    pub architectures: Vec<String>,
}

/// A device that can be used.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeviceFound {
    /// As messages name it: `NVIDIA H200 (cuda:0)`.
    pub label: String,
    /// Its limits and peaks.
    pub properties: DeviceProperties,
}

/// Something that is missing, and how to get it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missing {
    /// What is wrong, in one line or a few.
    pub problem: String,
    /// What to do about it; empty where nothing is known.
    pub help: String,
}

impl Missing {
    /// Splits an error's text, whose last part says what to do.
    fn of(error: &crate::Error) -> Self {
        let text = error.to_string();
        match text.split_once("\nhelp: ") {
            Some((problem, help)) => Self { problem: problem.to_owned(), help: help.to_owned() },
            None => Self { problem: text, help: String::new() },
        }
    }
}

/// Looks at the machine: driver, NVRTC, devices. Never fails; what fails is in
/// [`Diagnosis::missing`].
///
/// # Examples
///
/// ```
/// let found = tile_runtime::diagnose();
/// assert!(found.devices.iter().any(|device| device.label == "CPU"));
/// println!("{found}");
/// ```
pub fn diagnose() -> Diagnosis {
    let mut missing = Vec::new();
    let (driver, nvrtc) = look_for_cuda(&mut missing);
    let devices = Device::all();
    let devices = devices.iter().map(|device| DeviceFound {
        label: device.to_string(),
        properties: device.properties().clone(),
    });
    Diagnosis { driver, nvrtc, devices: devices.collect(), missing }
}

#[cfg(not(feature = "cuda"))]
fn look_for_cuda(missing: &mut Vec<Missing>) -> (Option<DriverFound>, Option<NvrtcFound>) {
    missing.push(Missing::of(&crate::EnvironmentError::WithoutCuda.into()));
    (None, None)
}

#[cfg(feature = "cuda")]
fn look_for_cuda(missing: &mut Vec<Missing>) -> (Option<DriverFound>, Option<NvrtcFound>) {
    let mut note = |error: &crate::Error| missing.push(Missing::of(error));
    let driver = crate::cuda::driver_found().inspect_err(&mut note).ok();
    if driver.is_some() {
        match crate::cuda::device_count() {
            Ok(count) => (0..count).for_each(|index| {
                let _ = Device::cuda(index).inspect_err(&mut note);
            }),
            Err(error) => note(&error),
        }
    }
    let nvrtc = crate::nvrtc::find().inspect_err(&mut note).ok().map(|nvrtc| NvrtcFound {
        library: nvrtc.path().to_owned(),
        version: nvrtc.version(),
        source: nvrtc.source().to_owned(),
        architectures: nvrtc.architectures(),
    });
    (driver, nvrtc)
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.driver {
            Some(DriverFound { library, cuda_version: (major, minor) }) => {
                writeln!(f, "driver   {library}, serves CUDA up to {major}.{minor}")?;
            }
            None => writeln!(f, "driver   none")?,
        }
        match &self.nvrtc {
            Some(NvrtcFound { library, version: (major, minor), source, architectures }) => {
                writeln!(f, "NVRTC    {major}.{minor}, {} ({source})", library.display())?;
                if let (Some(first), Some(last)) = (architectures.first(), architectures.last()) {
                    writeln!(f, "         compiles for {first} to {last}")?;
                }
            }
            None => writeln!(f, "NVRTC    none")?,
        }
        for device in &self.devices {
            writeln!(f, "device   {}", device.label)?;
            writeln!(f, "         {}", describe(&device.properties))?;
        }
        for Missing { problem, help } in &self.missing {
            writeln!(f, "missing  {}", problem.replace('\n', "\n         "))?;
            if !help.is_empty() {
                writeln!(f, "         -> {}", help.replace('\n', "\n            "))?;
            }
        }
        Ok(())
    }
}

/// A device's properties in one line.
fn describe(properties: &DeviceProperties) -> String {
    let gib = properties.memory_bytes as f64 / f64::from(1 << 30);
    if properties.compute_capability == (0, 0) {
        return format!("{}, {gib:.0} GiB", properties.name);
    }
    format!(
        "{}, {} SMs, {gib:.0} GiB at {:.0} GB/s, {:.1} TFLOP/s f32, {} KiB shared memory per block",
        properties.architecture(),
        properties.sms,
        properties.memory_bytes_per_s / 1e9,
        properties.peak_f32_flops() / 1e12,
        properties.shared_bytes_per_block_optin / 1024,
    )
}
