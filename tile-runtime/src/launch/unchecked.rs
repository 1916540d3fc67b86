//! Kernels that no check has passed: on the CPU device, in checked mode, and nowhere else.

use std::sync::OnceLock;

use tile_ir::check::UncheckedKernel;
use tile_ir::config::{Config, plain_config};
use tile_ir::dtype::DType;
use tile_ir::lower::{Binding, lower_unchecked};
use tile_ir::value::ScalarValue;

use super::argument::Argument;
use super::bind::{Bound, Dims, bind, binding_of_elems, check_extents};
use super::checked::tell;
use super::choose::check_given;
use super::error::ArgumentError;
use super::owned::{OwnedLaunch, OwnedTensor};
use super::program::HostTensor;
use super::ready::{Executables, Ready, describe, for_host, lower_error};
use super::run::run_on_cpu;
use super::shaped::with_sizes_of_shapes;
use super::{has_no_block, is_empty_grid};
use crate::checked::CheckReport;
use crate::cpu::{Mode, Order, Watch};
use crate::device::{Backend, Device};
use crate::error::Result;
use crate::options::Options;

/// What is looked at.
fn watch(options: &Options) -> Watch {
    Watch { nan_origin: options.nan_origin, counts: options.counts, unset: true }
}

/// Launches such a kernel.
///
/// # Errors
///
/// As [`super::launch`]; on other devices than the CPU, and where the options say that
/// the launch is not a checked one.
pub(super) fn launch_unchecked(
    (unchecked, file): (&UncheckedKernel, &str),
    options: &Options,
    types: &[DType],
    arguments: &[Argument<'_>],
    device: &Device,
) -> Result<()> {
    let kernel = unchecked.kernel();
    let is_host = matches!(device.backend(), Backend::Cpu);
    if !is_host || options.checked == Some(false) {
        let (kernel, device) = (kernel.name.clone(), device.to_string());
        return Err(ArgumentError::Unchecked { kernel, device }.into());
    }
    let bound = bind(kernel, types, arguments)?;
    let options = &*with_sizes_of_shapes(kernel, &bound, options);
    let config = match &options.config {
        Some(config) => {
            check_given(kernel, config, device.properties(), options)?;
            config.clone()
        }
        None => {
            let tiles = options.tiles.iter().map(|(name, value)| (name.as_str(), *value));
            plain_config(kernel, device.properties(), &tiles.collect::<Vec<_>>())?
        }
    };
    check_extents(kernel, &bound.tensors, &bound.dims, Some(&config))?;
    if is_empty_grid(kernel, &bound, &config) {
        return Ok(());
    }
    let order = options.shuffled.map_or(Order::Numbered, Order::Shuffled);
    let mode = Mode { order, watch: Some(watch(options)) };
    let reports = run((unchecked, file), types, &config, &bound, device, mode)?;
    tell(reports, options)
}

fn run(
    (unchecked, file): (&UncheckedKernel, &str),
    types: &[DType],
    config: &Config,
    bound: &Bound<'_>,
    device: &Device,
    mode: Mode,
) -> Result<Vec<CheckReport>> {
    let kernel = unchecked.kernel();
    let most = bound.tensors.iter().map(|tensor| tensor.span_elems() as u128).max();
    let binding: Binding = binding_of_elems(types, &bound.dims, most.unwrap_or(0), bound.layouts());
    let program = lower_unchecked(unchecked, &binding, config, device.properties())
        .map_err(|error| lower_error(kernel, config, &error))?;
    let label = describe(kernel, &binding, config);
    let compiled = for_host(&program, &label, mode)?;
    let ready = Ready {
        program,
        label: label.into(),
        file: file.to_owned(),
        tiles: config.describe_tiles(kernel),
        kernels: Executables::Host(Vec::new()),
        rechecked: OnceLock::new(),
        watch: mode.watch,
    };
    run_on_cpu(&ready, &compiled, bound, device)
}

/// Runs a kernel that no check has passed, on memory without Rust types: `dims` in the
/// order of its dimensions, tensors and scalars in the order of their tables.
///
/// # Errors
///
/// Where it cannot be run so, and where an assumption does not hold.
pub fn run_unchecked(
    unchecked: &UncheckedKernel,
    types: &[DType],
    config: &Config,
    dims: &[usize],
    tensors: &[HostTensor],
    scalars: &[ScalarValue],
) -> Result<Vec<CheckReport>> {
    let (kernel, device) = (unchecked.kernel(), Device::cpu());
    let owned = tensors.iter().zip(kernel.tensors.values()).map(|(tensor, declared)| {
        let shape = tensor.shape().to_vec();
        OwnedTensor::holding(declared, tensor.dtype(), shape, &tensor.bytes(), &device)
    });
    let owned = owned.collect::<Result<_>>()?;
    let dims = Dims::of_values(kernel, dims);
    if has_no_block(kernel, &dims, config) {
        return Ok(Vec::new());
    }
    let mut launch = OwnedLaunch { tensors: owned, scalars: scalars.to_vec(), dims };
    let mode = Mode { order: Order::Numbered, watch: Some(watch(&Options::new())) };
    launch.with_bound(&device, |bound| run((unchecked, ""), types, config, bound, &device, mode))
}
