//! Whether a configuration is one: of this kernel, on this device.

use super::warps::warp_layout;
use super::{AxisItems, Config, ConfigError, TilePadding, complete_tiles};
use crate::device::DeviceProperties;
use crate::kernel::Kernel;

/// Most items that a thread takes in a row.
const MAX_RUN: u32 = 1024;
/// Most elements after a row.
const MAX_PAD_ELEMS: u32 = 1024;
/// Most bytes that rows are aligned to: two lines of the cache.
const MAX_ALIGNMENT: u32 = 256;
/// Most buffers of a tile.
const MAX_STAGES: u32 = 16;
/// Most parts of a phase.
const MAX_PARTS: u32 = 256;
/// Most blocks of an SM ("CUDA C++ Programming Guide", compute capabilities).
const MAX_BLOCKS: u32 = 32;
/// Most buffers of a fragment.
const MAX_FRAGMENT_BUFFERS: u32 = 2;

/// Checks every choice of a configuration, whoever made it.
///
/// # Errors
///
/// The first choice that cannot be: tile sizes that the kernel does not admit,
/// another number of axes than the block has, a number outside its range.
pub fn check_config(
    kernel: &Kernel,
    config: &Config,
    device: &DeviceProperties,
) -> Result<(), ConfigError> {
    let require = |holds: bool, choice: &str, value: u64, needed: String| {
        if holds {
            return Ok(());
        }
        Err(ConfigError::Choice {
            kernel: kernel.name.clone(),
            choice: choice.to_owned(),
            value,
            needed,
        })
    };
    let within = |choice: &str, value: u32, least: u32, most: u32| {
        let holds = (least..=most).contains(&value);
        require(holds, choice, value.into(), format!("{least} to {most}"))
    };
    let as_many = |what: &'static str, found: usize, needed: usize| {
        let kernel = kernel.name.clone();
        if found == needed {
            Ok(())
        } else {
            Err(ConfigError::Foreign { kernel, what, found, needed })
        }
    };
    as_many("tile sizes", config.tiles.len(), kernel.tile_params.len())?;
    as_many("axes of the block", config.block.len(), kernel.block.as_ref().map_or(0, Vec::len))?;
    let given: Vec<_> = kernel.tile_params.ids().zip(config.tiles.iter().copied()).collect();
    complete_tiles(kernel, &given)?;
    if config.threads > device.max_threads_per_block {
        return Err(ConfigError::Threads {
            kernel: kernel.name.clone(),
            device: device.name.clone(),
            threads: config.threads,
            most: device.max_threads_per_block,
        });
    }
    within("`threads`", config.threads, 1, device.max_threads_per_block)?;
    for axis in &config.block {
        let AxisItems { threads, lanes, run } = *axis;
        within("`threads` of an axis", threads, 1, config.threads)?;
        let divides = lanes > 0 && threads.is_multiple_of(lanes);
        require(divides, "`lanes` of an axis", lanes.into(), format!("a divisor of {threads}"))?;
        within("`run` of an axis", run, 1, MAX_RUN)?;
    }
    if let Some(layout) = warp_layout(kernel, &config.tiles) {
        for (given, needed) in config.block.iter().zip(&layout) {
            let choice = "`threads` of an axis, in a kernel with warp operations,";
            let reason = format!("{}, one for each work-item", needed.threads);
            require(given.threads == needed.threads, choice, given.threads.into(), reason)?;
            let choice = "`run` or `lanes` of an axis, in a kernel with warp operations,";
            let most = given.run.max(given.lanes);
            let reason = "1: a warp is 32 work-items that follow one another".to_owned();
            require(given == needed, choice, most.into(), reason)?;
        }
    }
    let of_axes = config.block.iter().map(|axis| u64::from(axis.threads));
    let of_axes = of_axes.fold(1, u64::saturating_mul);
    within("`slices`", config.slices, 1, config.threads)?;
    let of_slices = of_axes.saturating_mul(config.slices.into());
    let most = format!("at most `threads`, {}", config.threads);
    require(of_slices <= config.threads.into(), "threads of all axes and slices", of_slices, most)?;
    if let TilePadding::Elems(elems) = config.padding {
        within("`padding`", elems, 0, MAX_PAD_ELEMS)?;
    }
    let copies = config.copy_bytes;
    let is_width = copies.is_power_of_two() && copies <= 16;
    require(is_width, "`copy_bytes`", copies.into(), "1, 2, 4, 8 or 16".to_owned())?;
    let bytes = config.align_bytes;
    let is_alignment = bytes == 0 || (bytes.is_power_of_two() && bytes <= MAX_ALIGNMENT);
    let needed = format!("0 or a power of two of at most {MAX_ALIGNMENT}");
    require(is_alignment, "`align_bytes`", bytes.into(), needed)?;
    within("`stages`", config.stages, 1, MAX_STAGES)?;
    within("`phase_parts`", config.phase_parts, 1, MAX_PARTS)?;
    within("`min_blocks`", config.min_blocks, 0, MAX_BLOCKS)?;
    let resident = u64::from(config.min_blocks) * u64::from(config.threads);
    let most = u64::from(device.max_threads_per_sm);
    require(resident <= most, "`min_blocks` times `threads`", resident, format!("at most {most}"))?;
    within("`fragment_buffers`", config.fragment_buffers, 0, MAX_FRAGMENT_BUFFERS)?;
    within("`raster_rows`", config.raster_rows, 1, u32::MAX)
}
