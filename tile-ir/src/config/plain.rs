//! The configuration of a kernel of which nothing else is known.

use super::combinations::{combinations, given_by_id};
use super::{AxisItems, Config, ConfigError, block_extents, check_config, complete_tiles};
use crate::device::DeviceProperties;
use crate::kernel::Kernel;

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
