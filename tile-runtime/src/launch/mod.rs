//! Launches: from typed arguments to work on a device.
//!
//! 1. [`mod@bind`]: arguments → values of the kernel's names; checks shapes.
//! 2. [`mod@choose`], [`tuned`]: the configuration; [`trial`] measures for it.
//! 3. [`cache`], [`ready`]: the program, lowered and compiled once per device; for
//!    which [`facts`], and what runs until it is compiled ([`variant`]).
//! 4. [`mod@recheck`]: in debug builds the program is run once with a shadow of its
//!    memory.
//! 5. [`repeat`]: launches like earlier ones skip all that.
//! 6. [`mod@run`]: launch arguments, grid, memory; onto the device.
//! 7. [`background`]: what is counted and copied for a search that nobody waits for.

mod argument;
mod assumed;
mod background;
mod bind;
mod cache;
mod checked;
mod choose;
mod error;
mod exact;
mod facts;
mod made_up;
mod nearness;
mod owned;
mod precondition;
mod program;
mod ready;
mod recheck;
mod repeat;
mod resident;
mod run;
mod run_config;
#[cfg(feature = "cuda")]
mod run_cuda;
mod scratch;
mod shaped;
mod switch;
mod trial;
mod tuned;
mod unchecked;
mod variant;
mod workshop;

#[cfg(test)]
mod tests;

use tile_ir::check::piece;
use tile_ir::config::Config;
use tile_ir::dtype::DType;
use tile_ir::kernel::{ExprId, Kernel, eval_index};

use crate::cpu::{Mode, Order};
use crate::device::{Backend, Device};
use crate::error::Result;
use crate::macro_support::EmbeddedKernel;
use crate::options::Options;
use crate::tune::{ShapeClass, Tune};

pub use argument::Argument;
pub use error::ArgumentError;
pub use program::{
    HostTensor, check_program, run_program, run_program_checked, run_program_counted,
    run_program_shuffled,
};
pub use recheck::recheck_program;
pub use resident::{ResidentBlocks, resident_blocks};
pub use run_config::run_config;
pub use unchecked::run_unchecked;

pub(crate) use background::Background;
pub(crate) use bind::{Dims, binding_of, check_sizes};
pub(crate) use cache::ProgramCache;
pub(crate) use choose::choose;
pub(crate) use made_up::{measure_listed, tune_kernel};
pub(crate) use ready::lower_error;
pub(crate) use switch::Switch;

pub(crate) use checked::VARIABLE as CHECKED_VARIABLE;
pub(crate) use recheck::VARIABLE as RECHECK_VARIABLE;

/// The switches of the environment that launches look at.
pub(crate) static SWITCHES: [&Switch; 2] = [&recheck::SWITCH, &checked::SWITCH];
pub(crate) use tuned::remembered;

use background::{Kind, Watching};
use bind::{Bound, bind, check_extents, name_value};
use cache::ChoiceKey;
use checked::{tell, watch_of};
use exact::Numbers;
use ready::{Executables, Ready};
use recheck::recheck;
use repeat::{Asked, Prepared, Repeat};
use shaped::with_sizes_of_shapes;
use tuned::Request;
use unchecked::launch_unchecked;
use variant::Wanted;

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
    if let Some(unchecked) = embedded.get_unchecked() {
        let unchecked = (unchecked?, embedded.file());
        return launch_unchecked(unchecked, options, types, arguments, device);
    }
    let has_views =
        arguments.iter().filter_map(Argument::tensor).any(|tensor| tensor.strides.is_some());
    // What a search measures are copies, which lie otherwise.
    let tune = match has_views {
        true => Tune::Off,
        false => options.tune.unwrap_or_else(|| device.tune()),
    };
    let watch = watch_of(options, device);
    let asked = Asked { kernel, types, arguments, options, tune, watch };
    let repeats = device.programs().repeats();
    if let Some(repeat) = repeats.find(&asked)
        && let Some(bound) = repeat.bind(arguments)
        && options.stream.as_ref().is_none_or(|stream| stream.device() == device)
    {
        if let Some(upgrade) = &repeat.prepared.upgrade {
            upgrade.ask(device);
        }
        if let Some(numbers) = &repeat.prepared.numbers {
            numbers.check_again(embedded.get()?.kernel(), &bound)?;
        }
        let launch = Watching { embedded, types, options, bound: &bound, device };
        return run_prepared(&repeat.prepared, &launch);
    }
    let generation = repeats.generation();
    let checked = embedded.get()?;
    let bound = bind(checked.kernel(), types, arguments)?;
    check_stream(checked.kernel(), device, options)?;
    let prepared = prepare(embedded, &asked, &bound, device)?;
    run_prepared(&prepared, &Watching { embedded, types, options, bound: &bound, device })?;
    let repeat = Repeat::new(checked.kernel(), &asked, &bound.dims, prepared);
    repeats.keep(&asked, repeat, generation);
    Ok(())
}

/// What the launch runs.
fn prepare(
    embedded: &'static EmbeddedKernel,
    asked: &Asked<'_>,
    bound: &Bound<'_>,
    device: &Device,
) -> Result<Prepared> {
    let checked = embedded.get()?;
    let kernel = checked.kernel();
    let Asked { kernel: address, types, options, tune, .. } = *asked;
    let options = &*with_sizes_of_shapes(kernel, bound, options);
    let (file, hash) = (embedded.file(), embedded.hash());
    let request = Request { checked, hash, file, types, device, bound, options };
    let config = match options.config {
        Some(_) => choose(checked, types, device.properties(), bound.dims.values(), options)?,
        None => {
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
        return Ok(Prepared::default());
    }
    check_items(&kernel.name, count_items(kernel, bound, &config), || checked.max_work_items())?;
    let numbers = Numbers::check((checked, file), bound, &config)?;
    let is_given = options.config.is_some();
    let binding = match is_given {
        true => request.binding(),
        false => device.programs().facts().admit(address, request.binding()),
    };
    let wanted = Wanted { embedded, kernel: address, binding, config };
    if let Some(watch) = asked.watch {
        if options.recheck == Some(true) {
            let lowered = wanted.program(device)?;
            recheck(&lowered, kernel, &wanted.binding, &wanted.config)?;
        }
        let ready = Some(wanted.checked_program(device, watch)?);
        return Ok(Prepared { ready, numbers, ..Prepared::default() });
    }
    let is_soon = !is_given && tune == Tune::Background;
    let (ready, upgrade) = match is_soon {
        true => wanted.program_soon(device)?,
        false => (wanted.program(device)?, None),
    };
    let is_usual = wanted.binding.layouts.is_empty();
    if is_usual && options.recheck.unwrap_or_else(|| recheck::SWITCH.is_on()) {
        recheck(&ready, kernel, &wanted.binding, &wanted.config)?;
    }
    let watched = (is_soon && request.is_searchable()).then(|| {
        let class = ShapeClass::of(&request.binding(), bound.dims.values());
        let (types, tiles) = (types.to_vec(), options.tiles.clone());
        device.background().watched(Kind { kernel: address, types, class, tiles })
    });
    Ok(Prepared { ready: Some(ready), upgrade, watched, numbers })
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

/// Work-items of a launch, over all blocks; or, if they are more, places in the pieces that
/// the axes of its grid count.
fn count_items(kernel: &Kernel, bound: &Bound<'_>, config: &Config) -> u128 {
    let value = |var| name_value(kernel, &bound.dims, Some(config), var);
    let product = |extents: &mut dyn Iterator<Item = ExprId>| {
        extents.fold(1u128, |items, extent| {
            let extent = eval_index(kernel, extent, &value).unwrap_or(1);
            items.saturating_mul(extent.unsigned_abs())
        })
    };
    let grid = kernel.grid.iter();
    let items = grid.clone().chain(kernel.block.iter().flatten()).map(|axis| axis.extent);
    let places = grid.flat_map(|axis| [Some(axis.extent), piece(kernel, axis)]).flatten();
    product(&mut { items }).max(product(&mut { places }))
}

/// That a kernel which numbers its work-items in 32 bits has no more of them, nor of
/// places, than that. Few launches are so large that it has to be asked for its limit.
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

/// Runs a launch; one that is watched is timed now and then.
fn run_prepared(prepared: &Prepared, launch: &Watching<'_>) -> Result<()> {
    let Some(ready) = &prepared.ready else { return Ok(()) };
    let Watching { options, bound, device, .. } = *launch;
    let _launching = device.meter().launch();
    let run = || run(ready, bound, device, options);
    let Some(watched) = &prepared.watched else { return run() };
    match device.backend() {
        Backend::Cpu => watched.run_on_cpu(launch, run),
        #[cfg(feature = "cuda")]
        Backend::Cuda(_) => watched.run_on_cuda(launch, queue_of(device, options)?, run),
    }
}

fn run(ready: &Ready, bound: &Bound<'_>, device: &Device, options: &Options) -> Result<()> {
    match &ready.kernels {
        Executables::Host(compiled) => {
            let reports = match options.shuffled {
                None => run::run_on_cpu(ready, compiled, bound, device)?,
                Some(seed) => {
                    let mode = Mode { order: Order::Shuffled(seed), watch: ready.watch };
                    let compiled = ready::for_host(&ready.program, &ready.label, mode)?;
                    run::run_on_cpu(ready, &compiled, bound, device)?
                }
            };
            tell(reports, options)
        }
        #[cfg(feature = "cuda")]
        Executables::Cuda(loaded) => {
            run_cuda::run_on_cuda(ready, loaded, bound, device, queue_of(device, options)?)
        }
    }
}

/// The queue that a launch goes on.
#[cfg(feature = "cuda")]
fn queue_of<'a>(device: &'a Device, options: &'a Options) -> Result<&'a crate::cuda::CudaQueue> {
    let queue = match &options.stream {
        Some(stream) => stream.queue(),
        None => device.default_queue(),
    };
    queue.ok_or_else(|| crate::Error::internal(format!("a stream of {device} has no queue"), ""))
}
