//! The configuration that is used before anything has been measured.

use super::columns::{has_columns, multiplies_and_adds};
use super::estimate::MAX_REGISTERS;
use super::raster::raster_rows;
use super::warps::warp_layout;
use super::{
    AxisItems, Config, ConfigError, Estimate, Numerics, TilePadding, block_extents,
    candidate_values, check_config, complete_tiles, estimate, tile_named, tile_value,
};
use crate::analyze::occupancy::blocks_per_sm;
use crate::check::CheckedKernel;
use crate::device::DeviceProperties;
use crate::dtype::DType;
use crate::fill::share_out_fills;
use crate::kernel::{ExprId, Kernel, Stmt, StmtKind, TileParamId, any_stmt, eval_index};
use crate::part::{can_be_parted, has_tied_depth};
use crate::program::MAX_ACCESS_BYTES;

/// Most tile-size combinations that are estimated; beyond that the candidate
/// values of each parameter are thinned out.
const MAX_COMBINATIONS: usize = 4096;
/// Work-items per thread and axis that are tried.
const ITEMS_PER_AXIS: [u32; 5] = [1, 2, 4, 8, 16];
/// Threads per block that are tried at any rate.
const LEAST_THREADS: u32 = 64;
/// Threads per block of a block domain, where it has so many items: one warp for each of an
/// SM's schedulers. Measured on an H200: of products, softmaxes and stencils none is the
/// fastest on 64 threads.
const LEAST_THREADS_OF_ITEMS: u32 = 128;
/// Threads per block that are tried, the first best among equals.
const THREADS: [u32; 5] = [256, 512, 128, 1024, 64];
/// The narrowest asynchronous copy. Measured on an H200: a ragged product of 4095
/// takes 0.9 of the time that it takes with its elements staged in registers.
const ASYNC_BYTES: u32 = 4;
/// Consecutive items of a thread: 16 bytes of the commonest elements.
const RUN_ITEMS: u32 = 4;
/// Threads of a warp along the last two axes, the first best among equals.
const WARP_TILES: [(u32, u32); 4] = [(8, 4), (4, 8), (2, 16), (16, 2)];
/// Buffers of the tiles that a `phase` fills: of those first, of these in the choice
/// that was found best.
const PHASE_STAGES: u32 = 2;
const MORE_STAGES: [u32; 2] = [3, 4];
/// Parts of a phase that are tried beside one.
const PHASE_PARTS: [u32; 4] = [2, 4, 8, 16];
/// Code of the longest stretch, by estimate, that a first launch does not wait for. In
/// so much NVRTC finds a few thousand multiply-adds and takes some 500 ms.
const MAX_CODE_BYTES: f64 = 49152.0;
/// What NVRTC may take more than the estimate, where it is told to keep to fewer
/// registers so that one more block fits an SM.
const REGISTER_SLACK: f64 = 1.15;
/// Whether a phase's iteration is written out for each stage.
const UNROLL_STAGES: bool = false;
/// Whether copies ahead are predicated. Measured on an H200, f32 products in tiles
/// of 128 x 256 x 16 at 2048, 4096 and 4096 x 1024 x 8192: 48.8, 49.3 and 49.3
/// TFLOP/s with it; 47.5, 48.2 and 47.4 without; with jumps and an iteration for
/// each stage 47.1, 49.8 and 47.4.
const PREDICATE_COPIES: bool = true;
/// Statements of a loop that is written out.
const UNROLLED_STMTS: u32 = 0;
/// Bytes to which cooperative loops align their stores.
const ALIGN_BYTES: u32 = 0;
/// As [`ALIGN_BYTES`], of kernels that are cooperative loops alone: a sector. An H200
/// transposes 8191 x 8193 f16 at 0.93 of a copy's rate with it and
/// [`Config::whole_vectors`], at 0.77 with neither.
const ROW_ALIGN_BYTES: u32 = 32;
/// Whether rows that begin anywhere are loaded in whole vectors.
const WHOLE_VECTORS: bool = false;
/// Whether interior blocks have a text of their own. An H200 adds 2^28 + 1 f32
/// at 4.2 TB/s with it and at 3.1 without.
const SPLIT_EDGES: bool = true;
/// Whether what is touched once passes the caches by.
const STREAM: bool = false;
/// Whether lanes lie in pairs. Measured on an H200, f32 products: of 512 in tiles of 16 x 64
/// 0.0095 ms with it and 0.0105 without, of 4096 in tiles of 128 x 256 x 16 2.85 and 2.79.
const PAIRED_LANES: bool = false;
/// Buffers of the fragments that hold operands.
const FRAGMENT_BUFFERS: u32 = 2;

/// Chooses a configuration from the device's properties and the launch's shape,
/// without measuring.
///
/// Every admissible combination of candidate tile sizes, threads per block and
/// work-items per thread that fits the device (shared memory per block and SM,
/// threads per block and SM, registers, block slots) is given to the analytical
/// model ([`estimate()`]): occupancy, the rooflines of arithmetic, shared and
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
    let raster_rows = raster_rows(kernel);
    let mut least_shared: Option<u64> = None;
    let mut last_error = None;
    // Whether its code is long, then its time.
    let mut best: Option<((bool, f64), Config)> = None;
    for choice in combinations(kernel, &given) {
        let tiles = match complete_tiles(kernel, &choice) {
            Ok(tiles) => tiles,
            Err(error) => {
                last_error = Some(error);
                continue;
            }
        };
        // Tiles that do not fit do not on any threads.
        let mut too_large: Vec<u32> = Vec::new();
        for config in thread_choices(kernel, device, raster_rows, tiles) {
            if too_large.contains(&config.phase_parts) {
                continue;
            }
            let cost = |config: &Config| estimate(kernel, types, device, dims, config);
            let alone = cost(&config);
            if alone.tile_bytes > u64::from(device.shared_bytes_per_block_optin) {
                too_large.push(config.phase_parts);
            }
            least_shared = Some(least_shared.unwrap_or(u64::MAX).min(alone.shared_bytes));
            let packed = with_one_more_block(device, &config, &alone);
            let packed = packed.map(|config| (cost(&config), config));
            for (cost, config) in [(alone, config)].into_iter().chain(packed) {
                if cost.blocks_per_sm == 0 || cost.registers > MAX_REGISTERS {
                    continue;
                }
                let rank = (cost.code_bytes > MAX_CODE_BYTES, cost.seconds);
                if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                    best = Some((rank, config));
                }
            }
        }
    }
    match (best, last_error) {
        (Some((_, config)), _) => {
            let cost = |config: &Config| estimate(kernel, types, device, dims, config);
            Ok(refined(device, config, &cost))
        }
        (None, Some(error)) if least_shared.is_none() => Err(error),
        (None, _) => Err(ConfigError::NothingFits {
            kernel: kernel.name.clone(),
            given: names.join(", "),
            device: device.name.clone(),
            shared_bytes: device.shared_bytes_per_block_optin,
            max_threads: device.max_threads_per_block,
            least: least_shared,
        }),
    }
}

/// The configurations among which [`with_tiles`] chooses: every combination of
/// candidate tile sizes with every number of work-items per thread, the other
/// choices at their first values. Legal for the kernel; whether they fit the
/// device, [`estimate()`] says.
///
/// # Errors
///
/// Where a name is unknown.
pub fn first_choices<'a>(
    kernel: &'a CheckedKernel,
    device: &'a DeviceProperties,
    given: &[(&str, u32)],
) -> Result<impl Iterator<Item = Config> + 'a, ConfigError> {
    let given = given_by_id(kernel.kernel(), given)?;
    let sizes = combinations(kernel.kernel(), &given);
    let tiles = sizes.filter_map(move |sizes| complete_tiles(kernel.kernel(), &sizes).ok());
    let kernel = share_out_fills(kernel.kernel());
    let raster_rows = raster_rows(&kernel);
    Ok(tiles.flat_map(move |tiles| thread_choices(&kernel, device, raster_rows, tiles)))
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

/// The configuration with fewer registers for a thread, where those are what keeps one
/// more block from an SM, it lacks few of them, and there are so many blocks. Of a kernel
/// with pipelined phases, which knows best what it needs of registers.
fn with_one_more_block(
    device: &DeviceProperties,
    config: &Config,
    cost: &Estimate,
) -> Option<Config> {
    let blocks = cost.blocks_per_sm + 1;
    let is_pipelined = config.stages > 1 && cost.blocks_per_sm > 0;
    let is_wanted = is_pipelined && cost.blocks > f64::from(device.sms * (blocks - 1));
    let fits = |registers: f64| {
        let shared = u32::try_from(cost.shared_bytes).unwrap_or(u32::MAX);
        blocks_per_sm(device, config.threads, registers as u32, shared).blocks >= blocks
    };
    let others = is_wanted && fits(cost.registers / REGISTER_SLACK);
    others.then(|| Config { min_blocks: blocks, ..config.clone() })
}

fn given_by_id(
    kernel: &Kernel,
    given: &[(&str, u32)],
) -> Result<Vec<(TileParamId, u32)>, ConfigError> {
    let by_id = given.iter().map(|(name, value)| Ok((tile_named(kernel, name)?, *value)));
    by_id.collect()
}

/// The configuration that leaves most to the text ([`Config::plain`]): the smallest
/// admissible tiles of more than one work-item, a thread for each. For kernels that no
/// check has passed, of which nothing else is known.
///
/// # Errors
///
/// Where a name is unknown, a size is not admissible, or a block has more work-items than
/// the device runs.
pub fn plain_config(
    kernel: &Kernel,
    device: &DeviceProperties,
    given: &[(&str, u32)],
) -> Result<Config, ConfigError> {
    let names: Vec<String> = given.iter().map(|(name, size)| format!("{name} = {size}")).collect();
    let given = given_by_id(kernel, given)?;
    let mut last_error = None;
    for choice in combinations(kernel, &given) {
        let tiles = match complete_tiles(kernel, &choice) {
            Ok(tiles) => tiles,
            Err(error) => {
                last_error = Some(error);
                continue;
            }
        };
        let n_axes = kernel.block.as_ref().map_or(0, Vec::len);
        let extents = block_extents(kernel, &tiles).into_iter().take(n_axes);
        let config = Config::plain(tiles, extents.map(AxisItems::strided).collect());
        match check_config(kernel, &config, device) {
            Ok(()) => return Ok(config),
            Err(error) => last_error = Some(error),
        }
    }
    Err(last_error.unwrap_or_else(|| ConfigError::NothingFits {
        kernel: kernel.name.clone(),
        given: names.join(", "),
        device: device.name.clone(),
        shared_bytes: device.shared_bytes_per_block_optin,
        max_threads: device.max_threads_per_block,
        least: None,
    }))
}

/// All combinations of the free parameters' candidate values, smaller first.
fn combinations(
    kernel: &Kernel,
    given: &[(TileParamId, u32)],
) -> impl Iterator<Item = Vec<(TileParamId, u32)>> + use<> {
    let mut axes: Vec<(TileParamId, Vec<u32>)> = Vec::new();
    for (id, param) in kernel.tile_params.iter() {
        let fixed = given.iter().find(|(given_id, _)| *given_id == id);
        let values = match fixed {
            Some((_, value)) => vec![*value],
            None => candidate_values(&param.domain),
        };
        if !values.is_empty() {
            axes.push((id, values));
        }
    }
    let count = |axes: &[(TileParamId, Vec<u32>)]| -> usize {
        axes.iter().map(|(_, values)| values.len()).product()
    };
    while count(&axes) > MAX_COMBINATIONS {
        let Some((_, longest)) = axes.iter_mut().max_by_key(|(_, values)| values.len()) else {
            break;
        };
        let mut keep = false;
        longest.retain(|_| {
            keep = !keep;
            keep
        });
    }
    let total = count(&axes);
    (0..total).map(move |mut number| {
        let digits = axes.iter().rev().map(|(id, values)| {
            let value = values[number % values.len()];
            number /= values.len();
            (*id, value)
        });
        digits.collect()
    })
}

/// The ways to put the items of these tiles on threads.
fn thread_choices(
    kernel: &Kernel,
    device: &DeviceProperties,
    raster_rows: u32,
    tiles: Vec<u32>,
) -> Vec<Config> {
    let max_threads = device.max_threads_per_block;
    let is_phase = |kind: &StmtKind| matches!(kind, StmtKind::Phase { .. });
    let stages = if any_stmt(&kernel.body, &mut |kind| is_phase(kind)) { PHASE_STAGES } else { 1 };
    let extents = block_extents(kernel, &tiles);
    let by_columns = !multiplies_and_adds(kernel);
    let config = |threads, block: Vec<AxisItems>| Config {
        tiles: tiles.clone(),
        threads,
        by_columns: by_columns && has_columns(&block, &extents),
        block,
        copy_bytes: MAX_ACCESS_BYTES,
        stages,
        unroll_stages: UNROLL_STAGES,
        unrolled_stmts: UNROLLED_STMTS,
        async_bytes: ASYNC_BYTES,
        predicate_copies: PREDICATE_COPIES,
        min_blocks: 0,
        paired_lanes: PAIRED_LANES,
        phase_parts: 1,
        slices: 1,
        fragment_buffers: FRAGMENT_BUFFERS,
        align_bytes: ALIGN_BYTES,
        whole_vectors: WHOLE_VECTORS,
        split_edges: SPLIT_EDGES,
        padding: TilePadding::Counted,
        stream_loads: STREAM,
        stream_stores: STREAM,
        raster_rows,
        numerics: Numerics::Exact,
    };
    let value = |expr: ExprId| {
        let exact = eval_index(kernel, expr, &|var| tile_value(kernel, &tiles, var));
        u32::try_from(exact.unwrap_or(1)).unwrap_or(1).max(1)
    };
    if kernel.block.is_none() {
        // The threads only share out the cooperative loops.
        let most = largest_each(kernel, &value);
        let useful = THREADS.into_iter().filter(|&threads| threads <= max_threads);
        // Such kernels move rows; where these are known to be aligned, the two change nothing.
        let moving = |threads| Config {
            align_bytes: ROW_ALIGN_BYTES,
            whole_vectors: true,
            ..config(threads, Vec::new())
        };
        return useful
            .filter(|&threads| threads == LEAST_THREADS || u64::from(threads) <= most)
            .map(moving)
            .collect();
    }
    if let Some(items) = warp_layout(kernel, &tiles) {
        let threads = items.iter().try_fold(1u32, |all, axis| all.checked_mul(axis.threads));
        let threads = threads.map(|threads| threads.next_multiple_of(device.warp_size.max(1)));
        let threads = threads.filter(|threads| *threads <= max_threads);
        return threads.map(|threads| config(threads, items)).into_iter().collect();
    }
    let mut layouts: Vec<Vec<u32>> = vec![Vec::new()];
    for &extent in &extents {
        let mut threads: Vec<u32> =
            ITEMS_PER_AXIS.iter().map(|items| extent.div_ceil(*items)).collect();
        threads.dedup();
        layouts = layouts
            .into_iter()
            .flat_map(|layout| {
                threads.iter().map(move |&threads| [layout.as_slice(), &[threads]].concat())
            })
            .collect();
    }
    let n_threads =
        |layout: &[u32]| layout.iter().try_fold(1u32, |product, n| product.checked_mul(*n));
    let least = n_threads(&extents).unwrap_or(u32::MAX).min(LEAST_THREADS_OF_ITEMS);
    // Where the phases' depth follows from the block's tile.
    let parts: &[u32] = if has_tied_depth(kernel) { &PHASE_PARTS } else { &[] };
    layouts
        .into_iter()
        .filter_map(|layout| {
            let threads = n_threads(&layout).filter(|threads| *threads >= least)?;
            let threads = threads.next_multiple_of(device.warp_size.max(1));
            (threads <= max_threads).then(|| config(threads, items_on(&extents, &layout)))
        })
        .flat_map(|config| in_parts(kernel, config, parts))
        .collect()
}

/// The configuration, and those with its phases in so many parts, as far as they can be.
fn in_parts(kernel: &Kernel, config: Config, parts: &[u32]) -> Vec<Config> {
    let others = parts.iter().map(|&phase_parts| Config { phase_parts, ..config.clone() });
    let others: Vec<Config> = others.filter(|config| can_be_parted(kernel, config)).collect();
    [config].into_iter().chain(others).collect()
}

/// Puts the items of each axis on these threads: runs of items that lie next to
/// each other in memory where several fall to a thread, and warps as square as
/// the threads allow, so that they share most of what they read.
fn items_on(extents: &[u32], threads: &[u32]) -> Vec<AxisItems> {
    let mut items: Vec<AxisItems> = extents
        .iter()
        .zip(threads)
        .map(|(&extent, &threads)| {
            let runs = [RUN_ITEMS, RUN_ITEMS / 2];
            let fits = |run: &u32| extent.is_multiple_of(threads * run);
            let run = runs.into_iter().find(fits).unwrap_or(1);
            AxisItems { run, ..AxisItems::strided(threads) }
        })
        .collect();
    if let [.., row, column] = items.as_mut_slice() {
        let fits = |&(lanes, others): &(u32, u32)| {
            row.threads.is_multiple_of(lanes) && column.threads.is_multiple_of(others)
        };
        // A warp reads as many operands as the sides of its items are long.
        let [.., rows, columns] = extents else { return items };
        let [rows, columns] = [rows / row.threads, columns / column.threads];
        let operands = |&(lanes, others): &(u32, u32)| rows * lanes + columns * others;
        let best = WARP_TILES.into_iter().filter(fits).min_by_key(operands);
        if let Some((lanes, others)) = best.filter(|_| row.run * column.run > 1) {
            (row.lanes, column.lanes) = (lanes, others);
        }
    }
    items
}

/// Points of the largest cooperative loop.
fn largest_each(kernel: &Kernel, value: &dyn Fn(ExprId) -> u32) -> u64 {
    fn visit(stmts: &[Stmt], value: &dyn Fn(ExprId) -> u32, most: &mut u64) {
        for stmt in stmts {
            if let StmtKind::Each { axes, .. } = &stmt.kind {
                let points = axes.iter().map(|axis| u64::from(value(axis.extent))).product();
                *most = (*most).max(points);
            }
            for body in stmt.kind.bodies() {
                visit(body, value, most);
            }
        }
    }
    let mut most = 1;
    visit(&kernel.body, value, &mut most);
    most
}
