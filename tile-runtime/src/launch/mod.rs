//! Launches: from typed arguments to work on a device.
//!
//! 1. [`mod@bind`]: arguments → values of the kernel's names; checks shapes.
//! 2. [`mod@choose`], [`tuned`]: the configuration; [`trial`] measures for it.
//! 3. [`cache`], [`ready`]: the program, lowered and compiled once per device.
//! 4. [`mod@recheck`]: in debug builds the program is run once with a shadow of its
//!    memory.
//! 5. [`repeat`]: launches like earlier ones skip all that.
//! 6. [`mod@run`]: launch arguments, grid, memory; onto the device.

mod argument;
mod arrays;
mod assumed;
mod bind;
mod cache;
mod choose;
mod error;
mod made_up;
mod program;
mod ready;
mod recheck;
mod repeat;
mod run;
#[cfg(feature = "cuda")]
mod run_cuda;
mod scratch;
mod trial;
mod tuned;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use tile_ir::config::Config;
use tile_ir::dtype::DType;
use tile_ir::kernel::{Kernel, eval_index};

use crate::device::Device;
use crate::error::Result;
use crate::macro_support::EmbeddedKernel;
use crate::options::Options;

pub use argument::Argument;
pub use arrays::run_config;
pub use error::ArgumentError;
pub use program::{HostTensor, check_program, run_program};
pub use recheck::recheck_program;

pub(crate) use bind::{Dims, binding_of};
pub(crate) use cache::ProgramCache;
pub(crate) use made_up::{measure_listed, tune_kernel};
pub(crate) use ready::lower_error;
pub(crate) use tuned::remembered;

use bind::{Bound, bind, binding_of_elems, check_extents, name_value};
use cache::{ChoiceKey, ProgramKey};
use choose::choose;
use ready::{Executables, Ready, make_ready};
use recheck::{is_asked_for, recheck};
use repeat::{Asked, Repeat};
use tuned::Request;

/// Launches a kernel: what the function `launch` of each kernel calls.
///
/// # Errors
///
/// Where the arguments do not fit, no configuration can be used, the device
/// lacks what it needs, or a kernel that ran before has failed.
pub fn launch(
    embedded: &'static EmbeddedKernel,
    options: &Options,
    types: &[DType],
    arguments: &mut [Argument<'_>],
) -> Result<()> {
    let arguments = &*arguments;
    let kernel = std::ptr::from_ref(embedded).addr();
    let first = arguments.iter().find_map(Argument::tensor);
    let Some(device) = first.map(|tensor| tensor.device) else {
        return Err(without_tensors(embedded.get()?.kernel()));
    };
    let tune = options.tune.unwrap_or_else(|| device.tune());
    let asked = Asked { kernel, types, arguments, options, tune };
    let repeats = device.programs().repeats();
    if let Some(repeat) = repeats.find(&asked)
        && let Some(bound) = repeat.bind(arguments)
        && options.stream.as_ref().is_none_or(|stream| stream.device() == device)
    {
        return match &repeat.ready {
            Some(ready) => run(ready, &bound, device, options),
            None => Ok(()),
        };
    }
    let generation = repeats.generation();
    let checked = embedded.get()?;
    let bound = bind(checked.kernel(), types, arguments)?;
    check_stream(checked.kernel(), device, options)?;
    let ready = prepare(embedded, &asked, &bound, device)?;
    if let Some(ready) = &ready {
        run(ready, &bound, device, options)?;
    }
    let repeat = Repeat::new(checked.kernel(), &asked, &bound.dims, ready);
    repeats.keep(&asked, repeat, generation);
    Ok(())
}

/// What the launch runs; nothing where its grid has no block.
fn prepare(
    embedded: &'static EmbeddedKernel,
    asked: &Asked<'_>,
    bound: &Bound<'_>,
    device: &Device,
) -> Result<Option<Arc<Ready>>> {
    let checked = embedded.get()?;
    let kernel = checked.kernel();
    let Asked { kernel: address, types, options, tune, .. } = *asked;
    let config = match options.config {
        Some(_) => choose(checked, types, device.properties(), bound.dims.values(), options)?,
        None => {
            let (file, hash) = (embedded.file(), embedded.hash());
            let request = Request { checked, hash, file, types, device, bound, options };
            let key = ChoiceKey {
                kernel: address,
                types: types.to_vec(),
                dims: bound.dims.values().to_vec(),
                tiles: options.tiles.clone(),
                numerics: options.numerics,
                tune,
            };
            device.programs().config(key, || request.config(tune))?
        }
    };
    check_extents(kernel, &bound.tensors, &bound.dims, Some(&config))?;
    if is_empty_grid(kernel, bound, &config) {
        return Ok(None);
    }
    check_items(&kernel.name, count_items(kernel, bound, &config), || checked.max_work_items())?;
    let max_elems = bound.tensors.iter().map(|tensor| tensor.len_elems() as u128).max();
    let binding = binding_of_elems(types, &bound.dims, max_elems.unwrap_or(0));
    let key = ProgramKey { kernel: address, binding: binding.clone(), config: config.clone() };
    let make = || make_ready(checked, embedded.file(), device, &binding, &config);
    let ready = device.programs().program(key, make)?;
    if options.recheck.unwrap_or_else(is_asked_for) {
        recheck(&ready, kernel, &binding, &config)?;
    }
    Ok(Some(ready))
}

fn without_tensors(kernel: &Kernel) -> crate::Error {
    let what = format!("`{}` has no tensor", kernel.name);
    crate::Error::internal(what, "a kernel that writes nothing is no kernel")
}

/// That the stream, if one is given, is one of the tensors' device.
fn check_stream(kernel: &Kernel, device: &Device, options: &Options) -> Result<()> {
    match &options.stream {
        Some(stream) if stream.device() != device => Err(ArgumentError::Stream {
            stream_device: stream.device().to_string(),
            tensor: kernel.tensors.values().next().map_or_else(String::new, |t| t.name.clone()),
            tensor_device: device.to_string(),
        }
        .into()),
        _ => Ok(()),
    }
}

/// Whether the kernel's grid has no block, so that there is nothing to run.
fn is_empty_grid(kernel: &Kernel, bound: &Bound<'_>, config: &Config) -> bool {
    has_no_block(kernel, &bound.dims, config)
}

/// The same, where only dimensions are known.
fn has_no_block(kernel: &Kernel, dims: &Dims, config: &Config) -> bool {
    kernel.grid.iter().any(|axis| {
        let value = |var| name_value(kernel, dims, Some(config), var);
        eval_index(kernel, axis.extent, &value).is_some_and(|extent| extent <= 0)
    })
}

/// Work-items of a launch, over all blocks.
fn count_items(kernel: &Kernel, bound: &Bound<'_>, config: &Config) -> u128 {
    let value = |var| name_value(kernel, &bound.dims, Some(config), var);
    let axes = kernel.grid.iter().chain(kernel.block.iter().flatten());
    axes.fold(1u128, |items, axis| {
        let extent = eval_index(kernel, axis.extent, &value).unwrap_or(1);
        items.saturating_mul(extent.unsigned_abs())
    })
}

/// That a kernel which numbers its work-items in 32 bits has no more of them than
/// that. Few launches are so large that it has to be asked for its limit.
fn check_items(kernel: &str, items: u128, most: impl FnOnce() -> Option<u64>) -> Result<()> {
    if items <= i32::MAX as u128 {
        return Ok(());
    }
    match most().filter(|most| items > u128::from(*most)) {
        Some(most) => {
            let kernel = kernel.to_owned();
            Err(ArgumentError::TooManyItems { kernel, items, most }.into())
        }
        None => Ok(()),
    }
}

fn run(ready: &Ready, bound: &Bound<'_>, device: &Device, options: &Options) -> Result<()> {
    match &ready.kernels {
        Executables::Host(compiled) => {
            let _ = options;
            run::run_on_cpu(ready, compiled, bound, device)
        }
        #[cfg(feature = "cuda")]
        Executables::Cuda(loaded) => {
            let queue = match &options.stream {
                Some(stream) => stream.queue(),
                None => device.default_queue(),
            };
            let Some(queue) = queue else {
                let what = format!("a stream of {device} has no queue");
                return Err(crate::Error::internal(what, ""));
            };
            run_cuda::run_on_cuda(ready, loaded, bound, device, queue)
        }
    }
}
