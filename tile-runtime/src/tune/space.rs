//! Which configurations there are for a launch, and which of them are not worth
//! compiling.
//!
//! What a configuration takes of an SM, and how long it may take, is estimated
//! ([`Model`]); what cannot run or promises nothing is pruned, with the reason.
//! Registers are known when a configuration is compiled: the search prunes by those when
//! it comes to them.
//!
//! First choices, which differ in tile sizes and items per thread, are all looked at; what
//! differs from them in other choices is enumerated from [`config::Space`] as a strategy
//! asks for it.

use std::collections::BTreeSet;

use tile_ir::analyze::occupancy::blocks_per_sm;
use tile_ir::check::CheckedKernel;
use tile_ir::config::{
    self, Breadth, Config, Estimate, MAX_REGISTERS, Model, Numerics, block_extents, check_config,
    first_choices, tile_named,
};
use tile_ir::device::DeviceProperties;
use tile_ir::dtype::DType;

use super::report::{Pruned, Reason};
use crate::error::Result;

/// What the model expects to take this many times the best is not compiled. The
/// model ranks; it has been seen to be wrong by a factor of two.
const SLOW: f64 = 3.0;

/// Bytes of machine code that weigh as much as a launch of twice the time: of two that
/// promise the same, the one that takes less to compile is tried first.
const CODE_BYTES: f64 = 512.0 * 1024.0;

/// Into as many parts a first choice shares out sums at the most.
const MOST_SLICES: u32 = 4;

/// What the configurations are for.
pub(crate) struct Launch<'a> {
    pub(crate) checked: &'a CheckedKernel,
    pub(crate) types: &'a [DType],
    pub(crate) device: &'a DeviceProperties,
    /// In the order of the kernel's variables of kind `Dim`.
    pub(crate) dims: &'a [u64],
    /// Tile sizes that are given.
    pub(crate) given: &'a [(String, u32)],
    pub(crate) numerics: Numerics,
    /// Bytes of the launch's tensors.
    pub(crate) tensor_bytes: u64,
    /// Whether the launch's tensors have the extents that these tile sizes ask for.
    pub(crate) fits_tensors: &'a dyn Fn(&Config) -> bool,
}

/// The configurations of one launch.
pub(crate) struct Space<'a> {
    launch: Launch<'a>,
    model: Model<'a>,
    /// All that are legal.
    all: config::Space<'a>,
    /// What first choices are worth compiling, the most promising first.
    ranked: Vec<(f64, Config)>,
    pruned: Vec<Pruned>,
    /// No launch takes less, by the device's peaks; 0 where nothing is known.
    roofline_seconds: f64,
}

impl<'a> Space<'a> {
    /// Looks at every first choice.
    ///
    /// # Errors
    ///
    /// Where a tile size is given that the kernel does not have.
    pub(crate) fn new(launch: Launch<'a>) -> Result<Self> {
        let given: Vec<(&str, u32)> =
            launch.given.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let mut all =
            config::Space::new(launch.checked, launch.types, launch.device, Breadth::Fast)
                .with_numerics(launch.numerics);
        for (name, value) in &given {
            all = all.with_tile(tile_named(launch.checked.kernel(), name)?, *value);
        }
        let Launch { checked, types, device, dims, .. } = launch;
        let model = Model::new(checked.kernel(), types, device, dims);
        let (ranked, pruned) = (Vec::new(), Vec::new());
        let mut space = Self { launch, model, all, ranked, pruned, roofline_seconds: 0.0 };
        let choices = first_choices(space.launch.checked, space.launch.device, &given)?;
        let mut least =
            Estimate { arithmetic: f64::MAX, global_bytes: f64::MAX, ..Estimate::default() };
        let choices: Vec<Config> =
            choices.into_iter().flat_map(|config| space.in_slices(config)).collect();
        let mut judged = Vec::new();
        for config in choices {
            match space.judge(&config) {
                Ok(cost) => {
                    least.arithmetic = least.arithmetic.min(cost.arithmetic);
                    least.global_bytes = least.global_bytes.min(cost.global_bytes);
                    judged.push((cost.seconds, promise(&cost), config));
                }
                Err(reason) => space.pruned.push(Pruned { config, reason }),
            }
        }
        let best_seconds = judged.iter().map(|(seconds, ..)| *seconds).fold(f64::MAX, f64::min);
        for (seconds, promise, config) in judged {
            if seconds <= SLOW * best_seconds {
                space.ranked.push((promise, config));
            } else {
                let reason = Reason::Model { seconds, best_seconds };
                space.pruned.push(Pruned { config, reason });
            }
        }
        // Stable: among equals the smaller tiles stay first.
        space.ranked.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        space.roofline_seconds = space.roofline(&least);
        Ok(space)
    }

    /// A first choice of the launch's numerics, and where sums may be in another order
    /// the same with each sum shared out among parts of the block.
    fn in_slices(&self, config: Config) -> Vec<Config> {
        let numerics = self.launch.numerics;
        let most = if numerics == Numerics::Reassociated { MOST_SLICES } else { 1 };
        let sliced = |slices: u32| {
            let threads = config.threads.saturating_mul(slices);
            Config { numerics, slices, threads, ..config.clone() }
        };
        let all = std::iter::successors(Some(1), |slices| Some(2 * slices));
        let all = all.take_while(|&slices| slices <= most).map(sliced);
        all.filter(|it| it.slices == 1 || self.can_run_in_slices(it)).collect()
    }

    fn can_run_in_slices(&self, config: &Config) -> bool {
        let Launch { checked, device, .. } = self.launch;
        !config.block.is_empty()
            && check_config(checked.kernel(), config, device).is_ok()
            && self.all.has_slices(config)
    }

    /// What a configuration costs, or why it is not worth compiling.
    pub(crate) fn judge(&self, config: &Config) -> Result<Estimate, Reason> {
        let device = self.launch.device;
        if !(self.launch.fits_tensors)(config) {
            return Err(Reason::Tensors);
        }
        let cost = self.model.cost(config);
        let available_bytes = device.shared_bytes_per_block_optin;
        if cost.shared_bytes > u64::from(available_bytes) {
            let needed_bytes = cost.shared_bytes;
            return Err(Reason::SharedMemory { needed_bytes, available_bytes });
        }
        if cost.registers > MAX_REGISTERS {
            let registers = cost.registers.min(f64::from(u32::MAX)) as u32;
            return Err(Reason::Registers { registers, most: MAX_REGISTERS as u32 });
        }
        let shared = u32::try_from(cost.shared_bytes).unwrap_or(u32::MAX);
        let occupancy = blocks_per_sm(device, config.threads, cost.registers as u32, shared);
        if occupancy.blocks == 0 || cost.blocks_per_sm == 0 {
            return Err(Reason::Occupancy { limiter: occupancy.limiter.text() });
        }
        Ok(cost)
    }

    /// The first choices that are worth compiling, the best by the model first.
    pub(crate) fn ranked(&self) -> impl Iterator<Item = &Config> {
        self.ranked.iter().map(|(_, config)| config)
    }

    /// What was pruned of the first choices.
    pub(crate) fn pruned(&self) -> &[Pruned] {
        &self.pruned
    }

    /// No launch takes less than this, by the device's peaks; 0 where nothing is known.
    pub(crate) fn roofline_seconds(&self) -> f64 {
        self.roofline_seconds
    }

    /// The time that the device's arithmetic, or its memory, needs for what every
    /// configuration does. Tensors that are not wholly used do not count wholly, and
    /// what a launch finds in the L2 cache does not come from memory. The peaks of the
    /// CPU device are no measured ones, and bound nothing.
    fn roofline(&self, least: &Estimate) -> f64 {
        if self.ranked.is_empty() || self.launch.device.compute_capability == (0, 0) {
            return 0.0;
        }
        let device = self.launch.device;
        let per_cycle = f64::from(device.f32_fma_per_clock_per_sm) * f64::from(device.sms);
        let arithmetic = least.arithmetic / (per_cycle * device.clock_hz).max(1.0);
        let bytes = least.global_bytes.min(self.launch.tensor_bytes as f64);
        let bytes = (bytes - device.l2_bytes as f64).max(0.0);
        arithmetic.max(bytes / device.memory_bytes_per_s.max(1.0))
    }

    /// The configurations that differ from `config` in one choice, as far as they
    /// are worth compiling, the best by the model first: other tile sizes and
    /// items per thread among the first choices, and other values of all else.
    pub(crate) fn neighbours(&self, config: &Config) -> Vec<Config> {
        self.neighbours_with_promise(config).into_iter().map(|(_, config)| config).collect()
    }

    /// As [`Self::neighbours`], each with its promise.
    pub(crate) fn neighbours_with_promise(&self, config: &Config) -> Vec<(f64, Config)> {
        let here = self.coordinates(config);
        let mut found: BTreeSet<Config> = self.all.neighbours(config).into_iter().collect();
        for (_, other) in &self.ranked {
            let there = self.coordinates(other);
            if distance(&here, &there) == 1 {
                found.insert(moved(config, other));
            }
        }
        found.remove(config);
        self.worth_compiling(found)
    }

    /// What `config` is with the tile sizes and items per thread of the first choices whose
    /// coordinates were not `tried`, one of each, the best by the model first.
    pub(crate) fn elsewhere<'s>(
        &'s self,
        config: &'s Config,
        mut tried: BTreeSet<Vec<u32>>,
    ) -> impl Iterator<Item = Config> + 's {
        let moved = self.ranked.iter().map(|(_, other)| moved(config, other));
        moved.filter(move |other| {
            let there = self.coordinates(other);
            !tried.contains(&there) && self.legal_promise(other).is_some() && tried.insert(there)
        })
    }

    /// The configurations that differ from `config` in one choice other than tile
    /// sizes and items per thread, as [`Self::neighbours`].
    pub(crate) fn variations(&self, config: &Config) -> Vec<Config> {
        self.variations_with_promise(config).into_iter().map(|(_, config)| config).collect()
    }

    /// As [`Self::variations`], each with its promise.
    pub(crate) fn variations_with_promise(&self, config: &Config) -> Vec<(f64, Config)> {
        let here = self.coordinates(config);
        let near = self.all.neighbours(config).into_iter();
        self.worth_compiling(near.filter(|other| self.coordinates(other) == here).collect())
    }

    /// Those that are legal and worth compiling with their promises, the most promising
    /// first.
    fn worth_compiling(&self, configs: BTreeSet<Config>) -> Vec<(f64, Config)> {
        let judged = configs.into_iter().filter_map(|it| Some((self.legal_promise(&it)?, it)));
        let mut judged: Vec<(f64, Config)> = judged.collect();
        judged.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        judged
    }

    /// A configuration's promise, if it is legal and worth compiling.
    fn legal_promise(&self, config: &Config) -> Option<f64> {
        check_config(self.launch.checked.kernel(), config, self.launch.device).ok()?;
        Some(promise(&self.judge(config).ok()?))
    }

    /// What a configuration says to each choice ([`config::Space::answers`]).
    pub(crate) fn answers(&self, config: &Config) -> Vec<u32> {
        self.all.answers(config)
    }

    /// Tile sizes, and items per thread along each axis.
    pub(crate) fn coordinates(&self, config: &Config) -> Vec<u32> {
        let kernel = self.launch.checked.kernel();
        let extents = block_extents(kernel, &config.tiles).into_iter();
        let axes = extents.zip(&config.block);
        let items = axes.map(|(extent, items)| extent.div_ceil(items.threads.max(1)));
        let threads = kernel.block.is_none().then_some(config.threads);
        config.tiles.iter().copied().chain(items).chain(threads).collect()
    }

    /// What [`Self::neighbours_with_promise`] says of a configuration; infinite of what the
    /// model prunes.
    pub(crate) fn promise(&self, config: &Config) -> f64 {
        self.judge(config).map_or(f64::INFINITY, |cost| promise(&cost))
    }

    /// The model's expectation in seconds; infinite of what it prunes.
    pub(crate) fn model_seconds(&self, config: &Config) -> f64 {
        self.judge(config).map_or(f64::INFINITY, |cost| cost.seconds)
    }
}

/// A configuration with the tile sizes and items per thread of another, and with runs and
/// warps that suit them.
fn moved(config: &Config, to: &Config) -> Config {
    let Config { tiles, threads, block, .. } = to.clone();
    let slices = if block.is_empty() { 1 } else { config.slices };
    let threads = (threads / to.slices.max(1)).saturating_mul(slices);
    Config { tiles, threads, block, ..config.clone() }
}

/// The model's seconds, and what it takes to find out.
fn promise(cost: &Estimate) -> f64 {
    cost.seconds * (1.0 + cost.code_bytes / CODE_BYTES)
}

/// In how many coordinates two configurations differ.
pub(crate) fn distance(one: &[u32], other: &[u32]) -> usize {
    one.iter().zip(other).filter(|(a, b)| a != b).count()
}
