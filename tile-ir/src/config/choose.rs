//! The configuration that is used before anything has been measured.

use super::combinations::{combinations, given_by_id};
use super::estimate::{Least, MAX_REGISTERS, Model};
use super::layouts::Layouts;
use super::{Config, ConfigError, Estimate, complete_tiles};
use crate::analyze::occupancy::blocks_per_sm;
use crate::check::CheckedKernel;
use crate::device::DeviceProperties;
use crate::dtype::DType;
use crate::fill::share_out_fills;
use crate::kernel::{Kernel, TileParamId};

/// Buffers of the tiles that a `phase` fills that are tried in the choice that was found
/// best.
const MORE_STAGES: [u32; 2] = [3, 4];
/// Code of the longest stretch, by estimate, that a first launch does not wait for. In
/// so much NVRTC finds a few thousand multiply-adds and takes some 500 ms.
const MAX_CODE_BYTES: f64 = 49152.0;
/// What NVRTC may take more than the estimate, where it is told to keep to fewer
/// registers so that one more block fits an SM.
const REGISTER_SLACK: f64 = 1.15;

/// Chooses a configuration from the device's properties and the launch's shape,
/// without measuring.
///
/// Every admissible combination of candidate tile sizes, threads per block and
/// work-items per thread that fits the device (shared memory per block and SM,
/// threads per block and SM, registers, block slots) is given to the analytical
/// model ([`super::estimate()`]): occupancy, the rooflines of arithmetic, shared and
/// global memory, latency, and the whole waves that the launch takes on the
/// device's SMs. The least time wins; among equals the smaller tiles.
///
/// `types` binds the type parameters; `dims` holds the dimensions in the order
/// of the kernel's variables of kind `Dim`.
///
/// # Errors
///
/// [`ConfigError::NothingFits`] where no admissible sizes fit the device.
pub fn default_config(
    kernel: &CheckedKernel,
    types: &[DType],
    device: &DeviceProperties,
    dims: &[u64],
) -> Result<Config, ConfigError> {
    with_tiles(kernel, types, device, dims, &[])
}

/// Chooses a configuration as [`default_config`] does, with some tile sizes
/// given by name.
///
/// # Errors
///
/// Where a name is unknown, a size is not admissible, or nothing fits.
pub fn with_tiles(
    kernel: &CheckedKernel,
    types: &[DType],
    device: &DeviceProperties,
    dims: &[u64],
    given: &[(&str, u32)],
) -> Result<Config, ConfigError> {
    let kernel = &share_out_fills(kernel.kernel());
    let names: Vec<String> = given.iter().map(|(name, size)| format!("{name} = {size}")).collect();
    let given = given_by_id(kernel, given)?;
    let model = Model::new(kernel, types, device, dims);
    let mut search = Search::new(device, &model);
    let layouts = Layouts::new(kernel, device);
    let mut last_error = None;
    for choice in combinations(kernel, &given) {
        match complete_tiles(kernel, &choice) {
            Ok(tiles) => search.add(&layouts, tiles),
            Err(error) => last_error = Some(error),
        }
    }
    search.run(&layouts);
    match (search.best, last_error) {
        (Some(best), _) => Ok(refined(device, best.config, &|config| model.cost(config))),
        (None, Some(error)) if search.n_tiles == 0 => Err(error),
        (None, _) => Err(ConfigError::NothingFits {
            kernel: kernel.name.clone(),
            given: names.join(", "),
            device: device.name.clone(),
            shared_bytes: device.shared_bytes_per_block_optin,
            max_threads: device.max_threads_per_block,
            least: least_shared(kernel, &given, &layouts, &model),
        }),
    }
}

/// The search for the configuration of the least time.
///
/// What a block computes and brings follows from its tiles alone, and with it a time that
/// no layout of them on threads falls below. So those that promise most are looked at
/// first, and where one is found that takes no longer than what is left could, that is
/// that.
struct Search<'a> {
    device: &'a DeviceProperties,
    model: &'a Model<'a>,
    candidates: Vec<Candidate>,
    /// Tile sizes that were added.
    n_tiles: usize,
    best: Option<Best>,
}

/// Tiles that fit the device.
struct Candidate {
    tiles: Vec<u32>,
    phase_parts: u32,
    least: Least,
    /// The number of its tile sizes.
    number: usize,
}

struct Best {
    /// Whether its code is long, then its time; among equals, the first of all.
    rank: (bool, f64, [usize; 2]),
    config: Config,
}

impl<'a> Search<'a> {
    const fn new(device: &'a DeviceProperties, model: &'a Model<'a>) -> Self {
        Self { device, model, candidates: Vec::new(), n_tiles: 0, best: None }
    }

    /// Adds tiles to those that are looked at, once for each number of parts of their
    /// phases. Those that do not fit do not on any threads.
    fn add(&mut self, layouts: &Layouts<'_>, tiles: Vec<u32>) {
        let number = self.n_tiles;
        self.n_tiles += 1;
        let fits = |bytes: u64| bytes <= u64::from(self.device.shared_bytes_per_block_optin);
        // In parts, phases have smaller ones.
        if !layouts.have_parts() && !fits(self.model.tile_bytes(&tiles)) {
            return;
        }
        let mut seen = Vec::new();
        for config in layouts.of(&tiles) {
            let phase_parts = config.phase_parts;
            if !seen.contains(&phase_parts) {
                seen.push(phase_parts);
                let least = self.model.least(&config);
                if fits(least.tile_bytes) {
                    let tiles = tiles.clone();
                    self.candidates.push(Candidate { tiles, phase_parts, least, number });
                }
            }
            if !layouts.have_parts() {
                break;
            }
        }
    }

    fn run(&mut self, layouts: &Layouts<'_>) {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.sort_by(|one, other| one.least.seconds.total_cmp(&other.least.seconds));
        for candidate in &candidates {
            if self.is_beaten(candidate.least.seconds) {
                break;
            }
            self.look_at(layouts, candidate);
        }
    }

    /// Whether the best so far takes less than so long.
    fn is_beaten(&self, seconds: f64) -> bool {
        let is_faster = |best: &Best| !best.rank.0 && best.rank.1 < seconds;
        self.best.as_ref().is_some_and(is_faster)
    }

    fn look_at(&mut self, layouts: &Layouts<'_>, candidate: &Candidate) {
        let all = layouts.of(&candidate.tiles).enumerate();
        for (at, config) in all.filter(|(_, it)| it.phase_parts == candidate.phase_parts) {
            let least = candidate.least.seconds_in(self.device, &config, REGISTER_SLACK);
            if least.is_none_or(|least| self.is_beaten(least)) {
                continue;
            }
            let more = |cost: &Estimate| blocks_with_one_more(self.device, &config, cost);
            let (alone, packed) = self.model.costs(&config, more);
            let packed =
                packed.map(|(min_blocks, cost)| (cost, Config { min_blocks, ..config.clone() }));
            let number = [candidate.number, at];
            for (cost, config) in [(alone, config)].into_iter().chain(packed) {
                self.take(&cost, number, config);
            }
        }
    }

    /// Takes a configuration if it is better than the best so far.
    fn take(&mut self, cost: &Estimate, number: [usize; 2], config: Config) {
        if cost.blocks_per_sm == 0 || cost.registers > MAX_REGISTERS {
            return;
        }
        let rank = (cost.code_bytes > MAX_CODE_BYTES, cost.seconds, number);
        if self.best.as_ref().is_none_or(|best| rank < best.rank) {
            self.best = Some(Best { rank, config });
        }
    }
}

/// Shared memory of the block that takes the least of it.
fn least_shared(
    kernel: &Kernel,
    given: &[(TileParamId, u32)],
    layouts: &Layouts<'_>,
    model: &Model<'_>,
) -> Option<u64> {
    let sizes = combinations(kernel, given);
    let tiles = sizes.filter_map(|sizes| complete_tiles(kernel, &sizes).ok());
    let bytes = |tiles: Vec<u32>| {
        let configs = layouts.of(&tiles);
        configs.map(|config| model.cost(&config).shared_bytes).min()
    };
    tiles.filter_map(bytes).min()
}

/// The configurations among which [`with_tiles`] chooses: every combination of
/// candidate tile sizes with every number of work-items per thread, the other
/// choices at their first values. Legal for the kernel; whether they fit the
/// device, [`super::estimate()`] says.
///
/// # Errors
///
/// Where a name is unknown.
pub fn first_choices(
    kernel: &CheckedKernel,
    device: &DeviceProperties,
    given: &[(&str, u32)],
) -> Result<Vec<Config>, ConfigError> {
    let given = given_by_id(kernel.kernel(), given)?;
    let sizes = combinations(kernel.kernel(), &given);
    let tiles = sizes.filter_map(|sizes| complete_tiles(kernel.kernel(), &sizes).ok());
    let kernel = share_out_fills(kernel.kernel());
    let layouts = Layouts::new(&kernel, device);
    Ok(tiles.flat_map(|tiles| layouts.of(&tiles).collect::<Vec<_>>()).collect())
}

/// The choice with what is not worth trying with all others: more stages where two
/// do not hide the latency of memory, and the number of blocks of an SM where NVRTC
/// could miss it by a few registers.
fn refined(
    device: &DeviceProperties,
    mut config: Config,
    cost: &dyn Fn(&Config) -> Estimate,
) -> Config {
    let mut best = cost(&config);
    if config.stages > 1 && device.has_async_copies() {
        for stages in MORE_STAGES {
            let other = Config { stages, ..config.clone() };
            let with_more = cost(&other);
            if with_more.blocks_per_sm > 0 && with_more.seconds < best.seconds {
                (best, config) = (with_more, other);
            }
        }
    }
    let needed = (best.blocks / f64::from(device.sms.max(1))).ceil() as u32;
    let blocks = best.blocks_per_sm.min(needed);
    let registers = (best.registers * REGISTER_SLACK) as u32;
    let shared = u32::try_from(best.shared_bytes).unwrap_or(u32::MAX);
    let likely = blocks_per_sm(device, config.threads, registers, shared).blocks;
    if blocks > 1 && likely < blocks {
        config.min_blocks = blocks;
    }
    config
}

/// One block more than fit an SM, where registers are what keeps it away, a thread has few
/// too many of them, and there are so many blocks. Of a kernel with pipelined phases, which
/// knows best what it needs of registers.
fn blocks_with_one_more(
    device: &DeviceProperties,
    config: &Config,
    cost: &Estimate,
) -> Option<u32> {
    let blocks = cost.blocks_per_sm + 1;
    let is_pipelined = config.stages > 1 && cost.blocks_per_sm > 0;
    let is_wanted = is_pipelined && cost.blocks > f64::from(device.sms * (blocks - 1));
    let fits = |registers: f64| {
        let shared = u32::try_from(cost.shared_bytes).unwrap_or(u32::MAX);
        blocks_per_sm(device, config.threads, registers as u32, shared).blocks >= blocks
    };
    (is_wanted && fits(cost.registers / REGISTER_SLACK)).then_some(blocks)
}
