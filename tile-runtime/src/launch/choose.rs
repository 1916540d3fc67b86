//! Which configuration a launch runs in.

use tile_ir::check::CheckedKernel;
use tile_ir::config::{Config, ConfigError, complete_tiles, with_tiles};
use tile_ir::device::DeviceProperties;
use tile_ir::dtype::DType;
use tile_ir::kernel::Kernel;

use super::error::ArgumentError;
use crate::error::Result;
use crate::options::Options;

/// The configuration that the options give, completed by what the device's
/// properties and the shape suggest.
pub(super) fn choose(
    checked: &CheckedKernel,
    types: &[DType],
    device: &DeviceProperties,
    dims: &[u64],
    options: &Options,
) -> Result<Config> {
    let mut config = match &options.config {
        Some(config) => {
            check_given(checked.kernel(), config, options)?;
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

/// A configuration from outside: it must be one of this kernel, its tile sizes
/// admissible, and what is given by name beside it the same. What the device
/// cannot do, lowering finds.
pub(super) fn check_given(kernel: &Kernel, config: &Config, options: &Options) -> Result<()> {
    let foreign =
        |reason: String| ArgumentError::ForeignConfig { kernel: kernel.name.clone(), reason };
    if config.tiles.len() != kernel.tile_params.len() {
        let (found, expected) = (config.tiles.len(), kernel.tile_params.len());
        return Err(foreign(format!(
            "it has {found} tile sizes, the kernel has {expected} tile parameters"
        ))
        .into());
    }
    let n_axes = kernel.block.as_ref().map_or(0, Vec::len);
    if config.block.len() != n_axes {
        let found = config.block.len();
        return Err(foreign(format!(
            "it has threads along {found} axes, the block has {n_axes} axes"
        ))
        .into());
    }
    for (name, value) in &options.tiles {
        let param = kernel.tile_params.iter().find(|(_, param)| param.name == *name);
        let Some((id, _)) = param else {
            return Err(unknown_tile(kernel, name).into());
        };
        let configured = config.tile(id);
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
    let given: Vec<_> = kernel.tile_params.ids().map(|id| (id, config.tile(id))).collect();
    complete_tiles(kernel, &given)?;
    Ok(())
}

/// A name that is no tile parameter, as [`with_tiles`] says it.
fn unknown_tile(kernel: &Kernel, name: &str) -> ConfigError {
    let known: Vec<String> =
        kernel.tile_params.values().map(|param| format!("`{}`", param.name)).collect();
    ConfigError::UnknownTile {
        kernel: kernel.name.clone(),
        param: name.to_owned(),
        known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
    }
}
