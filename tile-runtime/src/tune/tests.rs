//! The search on made-up times: no device, no clock.

use std::collections::BTreeMap;
use std::time::Duration;

use tile_ir::config::{Config, Numerics, check_config, default_config};
use tile_ir::device::{DeviceProperties, known};
use tile_ir::dtype::DType;

use super::report::Reason;
use super::space::distance;
use super::strategy::halving::{POOL, favourites};
use super::strategy::{Plan, Proposal};
use super::*;
use crate::error::{Error, Result};
use crate::tiled_kernel;

mod landscape;

tiled_kernel! {
    fn matmul<T: Number>(a: &Tensor<T, [M, K]>, b: &Tensor<T, [K, N]>, c: &mut Tensor<T, [M, N]>)
    where
        tile: (TM, TN, TK),
        grid: (by in tiles(M, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared a_s: [T; TM, TK];
        shared b_s: [T; TK, TN];
        let mut acc: Acc<T> = 0;
        phase p in tiles(K, TK) {
            load a_s[i, k] = a[by * TM + i, p * TK + k];
            load b_s[k, j] = b[p * TK + k, bx * TN + j];
            barrier;
            for k in 0..TK {
                acc += a_s[ty, k] * b_s[k, tx];
            }
            barrier;
        }
        c[by * TM + ty, bx * TN + tx] = acc;
    }
}

tiled_kernel! {
    /// The same under other names, with another comment, elsewhere.
    fn product<E: Number>(x: &Tensor<E, [R, I]>, y: &Tensor<E, [I, C]>, z: &mut Tensor<E, [R, C]>)
    where
        tile: (TR, TC, TI),
        grid: (row in tiles(R, TR), column in tiles(C, TC)),
        block: (i in TR, j in TC),
    {
        shared xs: [E; TR, TI];
        shared ys: [E; TI, TC];
        let mut sum: Acc<E> = 0;

        // Strip-mined.
        phase q in tiles(I, TI) {
            load xs[u, v] = x[row * TR + u, q * TI + v];
            load ys[u, v] = y[q * TI + u, column * TC + v];
            barrier;
            for v in 0..TI {
                sum += xs[i, v] * ys[v, j];
            }
            barrier;
        }
        z[row * TR + i, column * TC + j] = sum;
    }
}

tiled_kernel! {
    fn add<T: Number>(a: &Tensor<T, [N]>, b: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        c[bx * TN + tx] = a[bx * TN + tx] + b[bx * TN + tx];
    }
}

tiled_kernel! {
    fn subtract<T: Number>(a: &Tensor<T, [N]>, b: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        c[bx * TN + tx] = a[bx * TN + tx] - b[bx * TN + tx];
    }
}

const TYPES: [DType; 1] = [DType::F32];
const DIMS: [u64; 3] = [4096; 3];

fn h200() -> DeviceProperties {
    known("H200").unwrap()
}

/// Gives the space of the product on a device to `body`, and its default.
fn with_space<T>(device: &DeviceProperties, body: impl FnOnce(&Space<'_>, Config) -> T) -> T {
    let checked = matmul::kernel::<f32>().checked();
    let default = default_config(checked, &TYPES, device, &DIMS).unwrap();
    let launch = Launch {
        checked,
        types: &TYPES,
        device,
        dims: &DIMS,
        given: &[],
        numerics: Numerics::Exact,
        tensor_bytes: 3 * 4 * 4096 * 4096,
        fits_tensors: &|_| true,
    };
    body(&Space::new(launch).unwrap(), default)
}

/// A device whose times are made up: what the model says, times a factor that is
/// each configuration's own, and noise.
struct Fake<'a> {
    space: &'a Space<'a>,
    noise: f64,
    rng: fastrand::Rng,
    now: f64,
    is_wrong: &'a dyn Fn(&Config) -> bool,
    /// Every round and first run, in order.
    log: Vec<(Config, usize)>,
    n_prepared: usize,
}

impl<'a> Fake<'a> {
    fn new(space: &'a Space<'a>, noise: f64) -> Self {
        let rng = fastrand::Rng::with_seed(3);
        let (is_wrong, log) = (&|_: &Config| false, Vec::new());
        Self { space, noise, rng, now: 0.0, is_wrong, log, n_prepared: 0 }
    }

    /// What a launch takes on average.
    fn truth(space: &Space<'_>, config: &Config) -> f64 {
        let mut sum = 0xcbf2_9ce4_8422_2325u64;
        for word in config.tiles.iter().chain(config.block.iter().map(|axis| &axis.threads)) {
            sum = (sum ^ u64::from(*word)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let own = (sum >> 11) as f64 / (1u64 << 53) as f64;
        let mut factor = 0.8 + 0.8 * own;
        // What the model does not see.
        factor *= if config.raster_rows == 4 { 0.96 } else { 1.0 };
        factor *= if config.stages == 3 { 0.97 } else { 1.0 };
        space.model_seconds(config) * factor
    }

    fn sample(&mut self, config: &Config) -> f64 {
        Self::truth(self.space, config) * (1.0 + self.noise * self.rng.f64())
    }
}

impl Measure for Fake<'_> {
    fn prepare(&mut self, configs: &[Config]) -> Result<Vec<Made>> {
        self.now += 0.15 * configs.len().div_ceil(self.width()) as f64;
        self.n_prepared += configs.len();
        let prepared = Prepared { registers: 128, spill_bytes: 0 };
        Ok(configs.iter().map(|config| (config.clone(), Ok(prepared))).collect())
    }

    fn first_run(&mut self, config: &Config) -> Result<Result<f64, Reason>> {
        let seconds = self.sample(config) * 1.2;
        self.now += seconds;
        self.log.push((config.clone(), 0));
        Ok(if (self.is_wrong)(config) { Err(Reason::Wrong { words: 3 }) } else { Ok(seconds) })
    }

    fn round(&mut self, config: &Config, launches: usize) -> Result<f64> {
        let seconds = self.sample(config);
        self.now += seconds * launches as f64;
        self.log.push((config.clone(), launches));
        Ok(seconds)
    }

    /// Another one each time.
    fn clocks(&self) -> Option<Clocks> {
        Some(Clocks { sm_mhz: self.log.len() as u32, memory_mhz: 3201 })
    }

    fn elapsed(&self) -> Duration {
        Duration::from_secs_f64(self.now)
    }

    fn width(&self) -> usize {
        8
    }
}

const LIMITS: Limits = Limits { budget: Duration::from_secs(10), enough: 2.0 };

fn find(strategy: Strategy, seed: u64, fake: &mut Fake<'_>, default: &Config) -> search::Outcome {
    let space = fake.space;
    search(space, std::slice::from_ref(default), strategy.plan(seed).as_mut(), fake, LIMITS)
        .unwrap()
}

#[test]
fn the_space_is_legal_on_every_device() {
    for device in tile_ir::device::all_known() {
        with_space(&device, |space, default| {
            let kernel = matmul::kernel::<f32>().checked().kernel();
            let all: Vec<&Config> = space.ranked().collect();
            assert!(all.len() >= 16, "{}: {}", device.name, all.len());
            let place = space.coordinates(&default);
            let mut places = all.iter().map(|config| space.coordinates(config));
            assert!(places.any(|other| other == place), "{}", device.name);
            for config in all {
                check_config(kernel, config, &device).unwrap();
                assert!(space.judge(config).is_ok());
            }
            let near = space.neighbours(&default);
            assert!(near.len() >= 16 && !near.contains(&default), "{}", device.name);
            near.iter().for_each(|config| check_config(kernel, config, &device).unwrap());
        });
    }
}

#[test]
fn what_is_pruned_has_its_reason() {
    with_space(&h200(), |space, _| {
        let mut reasons: BTreeMap<&str, &Pruned> = BTreeMap::new();
        for pruned in space.pruned() {
            reasons.insert(pruned.reason.class(), pruned);
        }
        for class in ["too much shared memory", "too many registers", "slow by the model"] {
            assert!(reasons.contains_key(class), "{class}: {:?}", reasons.keys());
        }
        // Sixteen by sixteen items of a thread find no registers.
        let spilling = |config: &Config| config.tiles[0] * config.tiles[1] == config.threads * 256;
        assert!(!space.ranked().any(spilling));
    });
    with_space(&h200(), |space, default| {
        let launch_of_others = |_: &Config| false;
        let checked = matmul::kernel::<f32>().checked();
        let launch = Launch {
            checked,
            types: &TYPES,
            device: &h200(),
            dims: &DIMS,
            given: &[("TM".to_owned(), 64)],
            numerics: Numerics::Exact,
            tensor_bytes: 0,
            fits_tensors: &launch_of_others,
        };
        let none = Space::new(launch).unwrap();
        assert_eq!(none.ranked().count(), 0);
        assert!(none.pruned().iter().all(|pruned| pruned.reason == Reason::Tensors));
        assert!(none.pruned().iter().all(|pruned| pruned.config.tiles[0] == 64));
        assert!(space.judge(&default).is_ok());
    });
}

#[test]
fn the_roofline_is_that_of_the_product() {
    with_space(&h200(), |space, _| {
        let device = h200();
        let seconds = 2.0 * 4096f64.powi(3) / device.peak_f32_flops();
        let fraction = space.roofline_seconds() / seconds;
        assert!((0.95..=1.05).contains(&fraction), "{fraction}");
    });
}

#[test]
fn what_lies_in_the_cache_is_bound_by_no_memory() {
    let device = h200();
    let seconds = |n: u64| {
        let launch = Launch {
            checked: add::kernel::<f32>().checked(),
            types: &TYPES,
            device: &device,
            dims: &[n],
            given: &[],
            numerics: Numerics::Exact,
            tensor_bytes: 12 * n,
            fits_tensors: &|_| true,
        };
        Space::new(launch).unwrap().roofline_seconds()
    };
    let bytes = 12.0 * f64::from(1 << 28);
    let fraction = seconds(1 << 28) / (bytes / device.memory_bytes_per_s);
    assert!((0.9..1.0).contains(&fraction), "{fraction}");
    // 12 MB of 60: only the additions count.
    assert!(seconds(1 << 20) < 0.1 * f64::from(12 << 20) / device.memory_bytes_per_s);
}

/// The best of hand-made sweeps on an H200: `[M, K, N]`; tile sizes, threads along the
/// axes.
const MEASURED_BEST: [([u64; 3], [u32; 3], [u32; 2]); 8] = [
    ([512, 512, 512], [32, 64, 32], [8, 16]),
    ([1000, 1000, 1000], [128, 64, 16], [16, 16]),
    ([1024, 1024, 1024], [64, 128, 16], [8, 16]),
    ([2048, 2048, 2048], [128, 256, 16], [16, 16]),
    ([4095, 4095, 4095], [128, 256, 16], [16, 16]),
    ([4096, 4096, 4096], [128, 256, 16], [16, 16]),
    ([8192, 8192, 8192], [128, 256, 16], [16, 16]),
    ([4096, 8192, 1024], [64, 256, 16], [8, 16]),
];

#[test]
fn a_search_begins_near_what_was_best_on_a_device() {
    let device = h200();
    let mut nearest = Vec::new();
    for (dims, tiles, threads) in MEASURED_BEST {
        let launch = Launch {
            checked: matmul::kernel::<f32>().checked(),
            types: &TYPES,
            device: &device,
            dims: &dims,
            given: &[],
            numerics: Numerics::Exact,
            tensor_bytes: 1 << 30,
            fits_tensors: &|_| true,
        };
        let space = Space::new(launch).unwrap();
        let is_it = |config: &&Config| {
            let along: Vec<u32> = config.block.iter().map(|axis| axis.threads).collect();
            config.tiles == tiles && along == threads
        };
        let best = space.ranked().find(is_it).expect("it is worth compiling");
        let best = space.coordinates(best);
        let pool = favourites(&space, &search::History::default(), POOL);
        let distances = pool.iter().map(|config| distance(&best, &space.coordinates(config)));
        nearest.push((dims, distances.min().unwrap_or(usize::MAX)));
    }
    // One step of refinement away, two where the model errs.
    assert!(nearest.iter().all(|(_, steps)| *steps <= 2), "{nearest:?}");
    assert!(nearest.iter().filter(|(_, steps)| *steps <= 1).count() >= 5, "{nearest:?}");
}

#[test]
fn every_strategy_finds_what_is_faster_than_the_default() {
    with_space(&h200(), |space, default| {
        let best = space.ranked().map(|config| Fake::truth(space, config));
        let best_first_choice = best.fold(f64::MAX, f64::min);
        for (strategy, enough) in [
            (Strategy::Halving, 1.0),
            (Strategy::Descent, 0.85),
            (Strategy::Random, 0.8),
            (Strategy::Exhaustive, 0.9),
        ] {
            let mut fake = Fake::new(space, 0.01);
            let found = find(strategy, 1, &mut fake, &default);
            let best = &found.trials[0];
            let reached = best_first_choice / Fake::truth(space, &best.config);
            assert!(reached >= enough, "{strategy:?}: {reached}");
            let of_default = found.trials.iter().find(|trial| trial.config == default).unwrap();
            assert!(best.seconds < of_default.seconds, "{strategy:?}");
        }
    });
}

#[test]
fn equal_measurements_and_an_equal_seed_give_the_same_search() {
    with_space(&h200(), |space, default| {
        for strategy in
            [Strategy::Halving, Strategy::Descent, Strategy::Random, Strategy::Exhaustive]
        {
            let log = |seed| {
                let mut fake = Fake::new(space, 0.01);
                find(strategy, seed, &mut fake, &default);
                fake.log
            };
            assert!(log(1) == log(1), "{strategy:?}");
        }
        let log = |seed| {
            let mut fake = Fake::new(space, 0.01);
            find(Strategy::Random, seed, &mut fake, &default);
            fake.log
        };
        assert!(log(1) != log(2));
    });
}

#[test]
fn the_budget_is_kept_and_the_default_always_measured() {
    with_space(&h200(), |space, default| {
        for budget in [0.0, 0.3, 1.0, 3.0] {
            let mut fake = Fake::new(space, 0.01);
            let limits = Limits { budget: Duration::from_secs_f64(budget), ..LIMITS };
            let mut plan = Strategy::Halving.plan(1);
            let found =
                search(space, std::slice::from_ref(&default), plan.as_mut(), &mut fake, limits)
                    .unwrap();
            // One batch of compilations and one round may be under way.
            assert!(fake.now <= budget + 0.35, "{budget}: {}", fake.now);
            let measured = |trial: &Trial| trial.config == default && trial.rounds > 0;
            assert!(found.trials.iter().any(measured), "{budget}");
            assert_eq!(found.stop, Stop::Budget, "{budget}");
        }
    });
}

#[test]
fn a_search_ends_close_to_the_roofline() {
    with_space(&h200(), |space, default| {
        let mut fake = Fake::new(space, 0.0);
        let limits = Limits { enough: 0.2, ..LIMITS };
        let mut plan = Strategy::Halving.plan(1);
        let found = search(space, &[default], plan.as_mut(), &mut fake, limits).unwrap();
        assert_eq!(found.stop, Stop::Roofline);
        assert!(fake.n_prepared <= 64, "{}", fake.n_prepared);
    });
}

#[test]
fn a_wrong_configuration_is_named_and_never_chosen() {
    with_space(&h200(), |space, default| {
        let mut fake = Fake::new(space, 0.01);
        // All that would be fast.
        let is_wrong = |config: &Config| config.threads == 256 && *config != default;
        fake.is_wrong = &is_wrong;
        let found = find(Strategy::Halving, 1, &mut fake, &default);
        assert!(!found.trials.iter().any(|trial| is_wrong(&trial.config)));
        let wrong = found.dropped.iter().filter(|pruned| is_wrong(&pruned.config));
        assert!(wrong.clone().count() > 0);
        assert!(wrong.clone().all(|pruned| pruned.reason == Reason::Wrong { words: 3 }));
        let is_measured = |(config, rounds): &(Config, usize)| *rounds > 0 && is_wrong(config);
        assert!(!fake.log.iter().any(is_measured));
    });
}

/// Proposes the same batch once.
struct Once(Option<Vec<Proposal>>);

impl Plan for Once {
    fn next(&mut self, _: &Space<'_>, _: &search::History) -> Vec<Proposal> {
        self.0.take().unwrap_or_default()
    }
}

#[test]
fn the_rounds_of_a_batch_are_interleaved() {
    with_space(&h200(), |space, default| {
        let three: Vec<Config> =
            space.ranked().filter(|config| **config != default).take(3).cloned().collect();
        let batch = three.iter().map(|config| Proposal::new(config.clone(), 2)).collect();
        let mut fake = Fake::new(space, 0.0);
        search(space, &[default], &mut Once(Some(batch)), &mut fake, LIMITS).unwrap();
        let rounds = fake.log.iter().filter(|(_, rounds)| *rounds > 0);
        let order: Vec<usize> = rounds
            .filter_map(|(config, _)| three.iter().position(|one| one == config))
            .take(6)
            .collect();
        let turn: Vec<usize> = order[..3].to_vec();
        assert_eq!(order, [turn.clone(), turn].concat());
    });
}

#[test]
fn clocks_are_read_before_and_after_each_round() {
    with_space(&h200(), |space, default| {
        let mut fake = Fake::new(space, 0.0);
        let found = find(Strategy::Halving, 1, &mut fake, &default);
        assert!(found.trials.iter().any(|trial| trial.rounds > 1));
        for trial in found.trials {
            let is_round =
                |(config, launches): &&(Config, usize)| *config == trial.config && *launches > 0;
            let before = fake.log.iter().position(|line| is_round(&line));
            let after = fake.log.iter().rposition(|line| is_round(&line)).map(|at| at + 1);
            let clocks = trial.clocks.map(|clocks| clocks.map(|one| one.sm_mhz as usize));
            assert_eq!(clocks, before.zip(after).map(|(before, after)| [before, after]));
            assert_eq!(record::Entry::of(&trial).clocks, trial.clocks);
        }
    });
}

#[test]
fn an_error_of_the_device_ends_the_search() {
    struct Broken;
    impl Measure for Broken {
        fn prepare(&mut self, _: &[Config]) -> Result<Vec<Made>> {
            Err(Error::internal("the device is lost", ""))
        }
        fn first_run(&mut self, _: &Config) -> Result<Result<f64, Reason>> {
            unreachable!("nothing is prepared")
        }
        fn round(&mut self, _: &Config, _: usize) -> Result<f64> {
            unreachable!("nothing is prepared")
        }
        fn clocks(&self) -> Option<Clocks> {
            None
        }
        fn elapsed(&self) -> Duration {
            Duration::ZERO
        }
        fn width(&self) -> usize {
            1
        }
    }
    with_space(&h200(), |space, default| {
        let mut plan = Strategy::Halving.plan(1);
        let error = search(space, &[default], plan.as_mut(), &mut Broken, LIMITS).unwrap_err();
        assert!(error.to_string().contains("the device is lost"), "{error}");
    });
}

#[test]
fn names_comments_and_places_are_not_the_kernel() {
    let hash = |kernel: crate::Kernel| kernel_hash(kernel.checked());
    assert_eq!(hash(matmul::kernel::<f32>()), hash(product::kernel::<f32>()));
    assert_ne!(hash(add::kernel::<f32>()), hash(subtract::kernel::<f32>()));
    assert_ne!(hash(add::kernel::<f32>()), hash(matmul::kernel::<f32>()));
}
