//! What is measured in processes of their own, with a cache of their own.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use tile_runtime::{Config, Device, Options, Result, Tensor, Tune, nvrtc};

use crate::Arguments;
use crate::shapes::dims;

/// What such a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// Launches a product, having loaded NVRTC.
    FirstCold,
    /// Launches a product, with whatever the launch itself loads.
    FirstWarm,
    /// Tunes a product at a launch.
    Tune,
}

/// How the first launch went, in milliseconds.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FirstLaunch {
    /// Driver and context.
    pub(crate) context_ms: f64,
    /// NVRTC, where it was loaded before the launch.
    pub(crate) nvrtc_ms: Option<f64>,
    /// Until the launch has returned: the kernel is ready and queued.
    pub(crate) launch_ms: f64,
    /// Until its result is there.
    pub(crate) result_ms: f64,
    /// The same of the launch after it.
    pub(crate) again_ms: f64,
}

/// What a search has found.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Tuned {
    /// The first launch, the search in it.
    pub(crate) seconds: f64,
    pub(crate) config: Config,
}

/// Starts this program in a role, with its cache in `cache`, and reads what it says.
pub(crate) fn ask<T: for<'a> Deserialize<'a>>(
    role: Role,
    shape: [usize; 3],
    arguments: &Arguments,
    cache: &Path,
) -> std::result::Result<T, Box<dyn std::error::Error>> {
    let [m, n, k] = shape;
    let name = role.to_possible_value().ok_or("a role has no name")?;
    let output = Command::new(std::env::current_exe()?)
        .args(["--role", name.get_name(), "--device", &arguments.device])
        .args(["--shape", &format!("{m}x{n}x{k}"), "--budget", &arguments.budget.to_string()])
        .env("TILE_CACHE_DIR", cache)
        .env_remove("TILE_TUNE")
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("a process of its own ended with {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// A folder for a cache, empty, and gone with the value.
pub(crate) fn new_cache() -> io::Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix("tile-tuner-").tempdir()
}

impl Role {
    /// Does it, and tells the parent.
    pub(crate) fn play(
        self,
        arguments: &Arguments,
    ) -> std::result::Result<(), Box<dyn std::error::Error>> {
        let shape = *arguments.shapes()?.first().ok_or("no shape")?;
        let text = match self {
            Self::FirstCold => serde_json::to_string(&first(shape, arguments, true)?)?,
            Self::FirstWarm => serde_json::to_string(&first(shape, arguments, false)?)?,
            Self::Tune => serde_json::to_string(&tune(shape, arguments)?)?,
        };
        println!("{text}");
        Ok(())
    }
}

/// The tensors of a product.
pub(crate) fn tensors(
    device: &Device,
    [m, n, k]: [usize; 3],
) -> Result<(Tensor<f32, 2>, Tensor<f32, 2>, Tensor<f32, 2>)> {
    let a = device.tensor([m, k], &random(m * k, 1))?;
    let b = device.tensor([k, n], &random(k * n, 2))?;
    Ok((a, b, device.zeros([m, n])?))
}

/// Random values, of which long arrays repeat a period that is a prime.
pub(crate) fn random(n: usize, seed: u64) -> Vec<f32> {
    const PERIOD: usize = 1_048_583;
    let mut rng = fastrand::Rng::with_seed(seed);
    let period: Vec<f32> = (0..n.min(PERIOD)).map(|_| rng.f32() * 2.0 - 1.0).collect();
    period.iter().copied().cycle().take(n).collect()
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

fn first(
    shape: [usize; 3],
    arguments: &Arguments,
    load_nvrtc: bool,
) -> std::result::Result<FirstLaunch, Box<dyn std::error::Error>> {
    let start = Instant::now();
    let device = arguments.device.parse::<Device>()?;
    let context_ms = ms(start);
    let start = Instant::now();
    let nvrtc_ms = if load_nvrtc && !device.is_cpu() {
        nvrtc::find()?;
        Some(ms(start))
    } else {
        None
    };
    let (a, b, mut c) = tensors(&device, shape)?;
    device.synchronize()?;
    let mut launch = || -> Result<(f64, f64)> {
        let start = Instant::now();
        tile_kernels::matmul::launch(&a, &b, &mut c)?;
        let launch_ms = ms(start);
        device.synchronize()?;
        Ok((launch_ms, ms(start)))
    };
    let ((launch_ms, result_ms), (_, again_ms)) = (launch()?, launch()?);
    Ok(FirstLaunch { context_ms, nvrtc_ms, launch_ms, result_ms, again_ms })
}

fn tune(
    shape: [usize; 3],
    arguments: &Arguments,
) -> std::result::Result<Tuned, Box<dyn std::error::Error>> {
    let device = arguments.device.parse::<Device>()?;
    let (a, b, mut c) = tensors(&device, shape)?;
    let budget = Duration::try_from_secs_f64(arguments.budget)?;
    let start = Instant::now();
    let options = Options::new().tune(Tune::Now(budget));
    tile_kernels::matmul::with(options).launch(&a, &b, &mut c)?;
    device.synchronize()?;
    let seconds = start.elapsed().as_secs_f64();
    let kernel = tile_kernels::matmul::kernel::<f32>();
    let config = kernel.tuned(&device, &dims(shape))?.ok_or("the launch was not tuned")?;
    Ok(Tuned { seconds, config })
}
