//! What a search of ten seconds finds of a product's configurations on a device that is made
//! up: compilations take as long as NVRTC takes for as much code, on 16 cores, and a launch
//! takes what the model says, times factors that the model does not know: of the tiles and
//! the items of a thread, of the pipeline, of each alone.

use std::time::Duration;

use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use tile_ir::config::{Config, Numerics, default_config, estimate};
use tile_ir::device::DeviceProperties;

use super::{Clocks, Limits, Made, Measure, Prepared, Reason, TYPES, h200, matmul, search};
use crate::error::Result;
use crate::tune::{Launch, Space, Strategy};

/// `[M, K, N]`
const SHAPES: [[u64; 3]; 3] = [[512; 3], [4096; 3], [8192; 3]];
const BUDGET: Duration = Duration::from_secs(10);
const CORES: usize = 16;
/// What NVRTC takes for a kernel without loops that are written out, and for each byte of
/// such loops: 0.4 s for the 36 KiB of a product in tiles of 128 x 256.
const COMPILE_SECONDS: f64 = 0.06;
const COMPILE_SECONDS_PER_BYTE: f64 = 9.3e-6;
/// How far the factors lie around 1.
const OF_TILES: f64 = 0.15;
const OF_PIPELINE: f64 = 0.06;
const OF_EACH: f64 = 0.02;

struct Landscape<'a> {
    space: &'a Space<'a>,
    device: &'a DeviceProperties,
    dims: [u64; 3],
    seed: u64,
    rng: fastrand::Rng,
    now: f64,
    /// When each compiling thread has nothing to do.
    free_at: [f64; CORES - 1],
    /// What they compile, and when that ends.
    under_way: Vec<(f64, Config)>,
    /// Whether nothing was asked for yet.
    is_new: bool,
}

impl Landscape<'_> {
    /// A number between -1 and 1 of these words.
    fn draw(&self, words: impl IntoIterator<Item = u32>) -> f64 {
        let mut sum = 0xcbf2_9ce4_8422_2325u64 ^ self.seed;
        for word in words {
            sum = (sum ^ u64::from(word)).wrapping_mul(0x0000_0100_0000_01b3);
            sum ^= sum >> 29;
        }
        (sum >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// What a launch takes on average.
    fn truth(&self, config: &Config) -> f64 {
        let place = self.space.coordinates(config);
        let pipeline = [
            config.stages,
            config.async_bytes,
            u32::from(config.unroll_stages),
            u32::from(config.predicate_copies),
        ];
        let rest = [config.raster_rows, config.min_blocks, config.fragment_buffers];
        let each = place.iter().copied().chain(pipeline).chain(rest);
        let factor = (1.0 + OF_TILES * self.draw(place.iter().copied()))
            * (1.0 + OF_PIPELINE * self.draw(pipeline))
            * (1.0 + OF_EACH * self.draw(each));
        self.space.model_seconds(config) * factor
    }

    fn compile_seconds(&self, config: &Config) -> f64 {
        let kernel = matmul::kernel::<f32>();
        let cost = estimate(kernel.checked().kernel(), &TYPES, self.device, &self.dims, config);
        COMPILE_SECONDS + COMPILE_SECONDS_PER_BYTE * cost.code_bytes
    }
}

impl Measure for Landscape<'_> {
    fn prepare(&mut self, configs: &[Config]) -> Result<Vec<Made>> {
        // As the threads of a workshop do: what takes longest first, and what is ready is
        // handed out when a thread has nothing to do.
        let cost = |config: &Config| self.compile_seconds(config);
        let mut new: Vec<(f64, Config)> =
            configs.iter().map(|config| (cost(config), config.clone())).collect();
        new.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let mut last_start = self.now;
        for (seconds, config) in new {
            let next = self.free_at.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
            last_start = last_start.max(*next);
            *next = next.max(self.now) + seconds;
            self.under_way.push((*next, config));
        }
        let first = self.under_way.iter().map(|(end, _)| *end).fold(f64::INFINITY, f64::min);
        if first.is_finite() {
            self.now = last_start.max(first);
        }
        let is_new = std::mem::take(&mut self.is_new);
        if is_new {
            // The reference is waited for, and comes first.
            let of_reference = self.under_way.iter().find(|(_, config)| *config == configs[0]);
            self.now = of_reference.map_or(self.now, |(end, _)| self.now.max(*end));
        }
        let is_ready = |(end, _): &mut (f64, Config)| *end <= self.now;
        let ready = self.under_way.extract_if(.., is_ready);
        let mut ready: Vec<Config> = ready.map(|(_, config)| config).collect();
        ready.sort_by_key(|config| is_new && *config != configs[0]);
        Ok(ready.into_iter().map(|config| (config, Ok(Prepared::default()))).collect())
    }

    fn first_run(&mut self, config: &Config) -> Result<Result<f64, Reason>> {
        let seconds = 1.3 * self.truth(config) * (1.0 + 0.1 * self.rng.f64());
        self.now += seconds + 3e-4;
        Ok(Ok(seconds))
    }

    fn round(&mut self, config: &Config, launches: usize) -> Result<f64> {
        let seconds = self.truth(config) * (1.0 + 0.01 * self.rng.f64());
        self.now += seconds * launches as f64 + 3e-4;
        Ok(seconds)
    }

    fn clocks(&self) -> Option<Clocks> {
        None
    }

    fn elapsed(&self) -> Duration {
        Duration::from_secs_f64(self.now)
    }

    fn width(&self) -> usize {
        CORES
    }
}

/// The part of the best of a list that a search reaches: of every first choice that is worth
/// compiling, in the four pipelines of the list that the benchmark of the tuner compares with.
fn reached(dims: [u64; 3], seed: u64) -> f64 {
    let device = h200();
    let checked = matmul::kernel::<f32>().checked();
    let launch = Launch {
        checked,
        types: &TYPES,
        device: &device,
        dims: &dims,
        given: &[],
        numerics: Numerics::Exact,
        tensor_bytes: 4 * (dims[0] * dims[1] + dims[1] * dims[2] + dims[0] * dims[2]),
        fits_tensors: &|_| true,
    };
    let space = Space::new(launch).unwrap();
    let rng = fastrand::Rng::with_seed(seed);
    let mut device_of_ours = Landscape {
        space: &space,
        device: &device,
        dims,
        seed,
        rng,
        now: 0.0,
        free_at: [0.0; CORES - 1],
        under_way: Vec::new(),
        is_new: true,
    };
    let pipelines = [(2, true, false), (2, false, true), (3, false, true), (4, false, false)];
    let listed = space.ranked().flat_map(|config| {
        pipelines.map(|(stages, unroll_stages, predicate_copies)| Config {
            stages,
            unroll_stages,
            predicate_copies,
            ..config.clone()
        })
    });
    let best = listed.map(|config| device_of_ours.truth(&config)).fold(f64::INFINITY, f64::min);
    let default = default_config(checked, &TYPES, &device, &dims).unwrap();
    let mut plan = Strategy::Halving.plan(1);
    let limits = Limits { budget: BUDGET, enough: 2.0 };
    let found = search(&space, &[default], plan.as_mut(), &mut device_of_ours, limits).unwrap();
    // A chunk of compilations may be under way when the time is over.
    assert!(device_of_ours.now < 1.25 * BUDGET.as_secs_f64(), "{dims:?}: {}", device_of_ours.now);
    best / device_of_ours.truth(&found.trials[0].config)
}

#[test]
fn ten_seconds_are_enough_on_many_landscapes() {
    let cases: Vec<_> =
        SHAPES.into_iter().flat_map(|dims| (0..4).map(move |seed| (dims, seed))).collect();
    let one = |&(dims, seed): &([u64; 3], u64)| (dims[0], seed, reached(dims, seed));
    let all: Vec<_> = cases.par_iter().map(one).collect();
    let mean = all.iter().map(|(_, _, reached)| reached).sum::<f64>() / all.len() as f64;
    let least = all.iter().map(|(_, _, reached)| *reached).fold(f64::INFINITY, f64::min);
    assert!(mean >= 1.02 && least >= 0.95, "mean {mean:.4}, least {least:.4}: {all:.3?}");
}
