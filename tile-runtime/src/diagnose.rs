//! What this machine has for running kernels, and what it lacks.

use std::fmt;
use std::path::PathBuf;

use tile_ir::device::DeviceProperties;

use crate::cache::{self, CacheProblem, folder, usage};
use crate::device::Device;
use crate::tune::{self, Tune};
use crate::{events, launch};

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
    /// A CUDA toolkit, which nothing here needs but NVRTC may come from.
    pub toolkit: Option<ToolkitFound>,
    /// The environment variables that are set of those that this crate reads.
    pub variables: Vec<(&'static str, String)>,
    /// What is kept between runs.
    pub cache: CacheFound,
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

/// A CUDA toolkit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolkitFound {
    /// Its folder.
    pub folder: PathBuf,
    /// Its version, (major, minor), where it tells.
    pub version: Option<(u32, u32)>,
}

/// What is kept between runs: compiled kernels and tuning records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheFound {
    /// Its folder, where there is one that can be used.
    pub folder: Option<PathBuf>,
    /// Number of files in it.
    pub files: usize,
    /// What they take, in bytes.
    pub bytes: u64,
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
        Self::of_text(&error.to_string())
    }

    fn of_text(text: &str) -> Self {
        match text.split_once("\nhelp: ") {
            Some((problem, help)) => Self { problem: problem.to_owned(), help: help.to_owned() },
            None => Self { problem: text.to_owned(), help: String::new() },
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
    let toolkit = look_for_toolkit(&mut missing);
    let devices = Device::all();
    let devices = devices.iter().map(|device| DeviceFound {
        label: device.to_string(),
        properties: device.properties().clone(),
    });
    let devices: Vec<DeviceFound> = devices.collect();
    if let Some(nvrtc) = &nvrtc {
        missing.extend(mismatches(driver.as_ref(), nvrtc, &devices));
    }
    let cache = look_for_cache(&mut missing);
    let variables = VARIABLES.iter().filter_map(|&name| Some((name, std::env::var(name).ok()?)));
    let variables: Vec<_> = variables.collect();
    missing.extend(variables.iter().filter_map(|(name, text)| complaint(name, text)));
    Diagnosis { driver, nvrtc, toolkit, variables, cache, devices, missing }
}

/// The variables that this crate reads; the table in its README says what they mean.
const VARIABLES: [&str; 6] = [
    "TILE_NVRTC",
    cache::VARIABLE,
    tune::VARIABLE,
    launch::RECHECK_VARIABLE,
    launch::CHECKED_VARIABLE,
    events::VARIABLE,
];

/// What is wrong with the value of a variable. Those that name files are told of where the
/// files are looked for.
fn complaint(name: &str, text: &str) -> Option<Missing> {
    let complaint = match name {
        tune::VARIABLE => Tune::of_text(text).err(),
        events::VARIABLE => events::parse(text).err(),
        _ => {
            let switch = launch::SWITCHES.iter().find(|switch| switch.variable() == name);
            switch.and_then(|switch| switch.parse(text).err())
        }
    };
    complaint.map(|problem| Missing {
        problem,
        help: format!("set {name} to one of these, or unset it"),
    })
}

fn look_for_cache(missing: &mut Vec<Missing>) -> CacheFound {
    match folder() {
        Ok(folder) => {
            let (files, bytes) = usage(folder);
            CacheFound { folder: Some(folder.clone()), files, bytes }
        }
        // That is as the user wants it.
        Err(CacheProblem::Off) => CacheFound::default(),
        Err(problem) => {
            missing.push(Missing::of_text(&problem.to_string()));
            CacheFound::default()
        }
    }
}

/// Where driver, NVRTC and devices are there and do not go together.
fn mismatches(
    driver: Option<&DriverFound>,
    nvrtc: &NvrtcFound,
    devices: &[DeviceFound],
) -> Vec<Missing> {
    let mut found = Vec::new();
    let (major, minor) = nvrtc.version;
    if let Some(driver) = driver.filter(|driver| driver.cuda_version.0 < major) {
        let (served_major, served_minor) = driver.cuda_version;
        found.push(Missing {
            problem: format!(
                "NVRTC {major}.{minor} is newer than the driver, which serves CUDA up to \
                 {served_major}.{served_minor}: it may not load what NVRTC compiles"
            ),
            help: format!(
                "install a newer driver, or an NVRTC of CUDA {served_major} and set TILE_NVRTC to \
                 its folder"
            ),
        });
    }
    for device in devices {
        let capability = device.properties.compute_capability;
        let architecture = device.properties.architecture();
        if capability == (0, 0) || nvrtc.architectures.contains(&architecture) {
            continue;
        }
        found.push(Missing {
            problem: format!(
                "NVRTC {major}.{minor} does not know the architecture of {}, {architecture}",
                device.label
            ),
            help: "use a newer NVRTC, or for devices before sm_75 one of CUDA 12, and set \
                   TILE_NVRTC to its folder"
                .to_owned(),
        });
    }
    found
}

#[cfg(not(feature = "cuda"))]
fn look_for_toolkit(_: &mut Vec<Missing>) -> Option<ToolkitFound> {
    None
}

#[cfg(feature = "cuda")]
fn look_for_toolkit(missing: &mut Vec<Missing>) -> Option<ToolkitFound> {
    let (found, nowhere) = crate::cuda::find_toolkit();
    missing.extend(nowhere.into_iter().map(|(variable, folder)| Missing {
        problem: format!("{variable} is `{}`, which is no folder", folder.display()),
        help: format!("set {variable} to a CUDA toolkit's folder, or unset it"),
    }));
    found.map(|found| ToolkitFound { folder: found.folder, version: found.version })
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
        match &self.toolkit {
            Some(ToolkitFound { folder, version: Some((major, minor)) }) => {
                writeln!(f, "toolkit  {major}.{minor}, {}", folder.display())?;
            }
            Some(ToolkitFound { folder, version: None }) => {
                writeln!(f, "toolkit  {}, of unknown version", folder.display())?;
            }
            None => writeln!(f, "toolkit  none (none is needed)")?,
        }
        match &self.cache.folder {
            Some(folder) => {
                let CacheFound { files, bytes, .. } = self.cache;
                let mib = bytes as f64 / f64::from(1 << 20);
                writeln!(f, "cache    {}, {files} files, {mib:.1} MiB", folder.display())?;
            }
            None => writeln!(f, "cache    none")?,
        }
        for (name, value) in &self.variables {
            writeln!(f, "set      {name}={value}")?;
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

#[cfg(test)]
mod tests {
    use tile_ir::device::known;

    use super::*;

    fn nvrtc(version: (u32, u32)) -> NvrtcFound {
        let architectures = ["sm_75", "sm_80", "sm_90"].map(str::to_owned).to_vec();
        NvrtcFound { library: "n".into(), version, source: String::new(), architectures }
    }

    fn problems(driver: (u32, u32), nvrtc: &NvrtcFound, device: &str) -> Vec<String> {
        let driver = DriverFound { library: "d".into(), cuda_version: driver };
        let properties = known(device).unwrap();
        let device = DeviceFound { label: format!("{device} (cuda:0)"), properties };
        let found = mismatches(Some(&driver), nvrtc, &[device]);
        found.into_iter().map(|missing| missing.problem).collect()
    }

    #[test]
    fn values_that_are_none_are_said() {
        let complaint = |name, text| complaint(name, text).map(|missing| missing.problem);
        for (name, good, bad) in [
            ("TILE_TUNE", "now:2s", "fast"),
            ("TILE_RECHECK", "on", "2"),
            ("TILE_LOG", "info", "x"),
        ] {
            assert_eq!(complaint(name, good), None);
            let problem = complaint(name, bad).unwrap();
            assert!(problem.starts_with(&format!("{name} is `{bad}`; it is o")), "{problem}");
        }
        assert_eq!(complaint("TILE_CACHE_DIR", "fast"), None);
    }

    #[test]
    fn what_does_not_go_together_is_said() {
        assert!(problems((13, 0), &nvrtc((13, 3)), "H200").is_empty());
        let [newer] = &problems((12, 4), &nvrtc((13, 0)), "H200")[..] else { panic!() };
        assert!(newer.starts_with("NVRTC 13.0 is newer than the driver"), "{newer}");
        let [unknown] = &problems((13, 0), &nvrtc((13, 0)), "RTX 5090")[..] else { panic!() };
        assert!(unknown.ends_with("RTX 5090 (cuda:0), sm_120"), "{unknown}");
    }
}
