//! Which configuration a launch runs in.

use tile_ir::check::CheckedKernel;
use tile_ir::config::{Config, check_config, tile_named, with_tiles};
use tile_ir::device::DeviceProperties;
use tile_ir::dtype::DType;
use tile_ir::kernel::Kernel;

use super::error::ArgumentError;
use crate::error::Result;
use crate::options::Options;

/// The configuration that the options give, completed by what the device's
/// properties and the shape suggest.
pub(crate) fn choose(
    checked: &CheckedKernel,
    types: &[DType],
    device: &DeviceProperties,
    dims: &[u64],
    options: &Options,
) -> Result<Config> {
    let mut config = match &options.config {
        Some(config) => {
            check_given(checked.kernel(), config, device, options)?;
            config.clone()
        }
        None => {
            let given: Vec<(&str, u32)> =
                options.tiles.iter().map(|(name, value)| (name.as_str(), *value)).collect();
            with_tiles(checked, types, device, dims, &given)?
        }
    };
    if let Some(numerics) = options.numerics {
        config.numerics = numerics;
    }
    Ok(config)
}

/// A configuration from outside: it must be one of this kernel on this device, and
/// what is given by name beside it the same.
pub(super) fn check_given(
    kernel: &Kernel,
    config: &Config,
    device: &DeviceProperties,
    options: &Options,
) -> Result<()> {
    check_config(kernel, config, device)?;
    for (name, value) in &options.tiles {
        let configured = config.tile(tile_named(kernel, name)?);
        if configured != *value {
            return Err(ArgumentError::TwiceConfigured {
                kernel: kernel.name.clone(),
                tile: name.clone(),
                value: *value,
                configured,
            }
            .into());
        }
    }
    Ok(())
}
