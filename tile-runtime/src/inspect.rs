//! What tests look into: programs between the passes of lowering, and what a search
//! for the fastest configuration begins with.

use std::time::Duration;

use tile_ir::config::{Config, Numerics};
use tile_ir::device::DeviceProperties;

use crate::device::Device;
use crate::error::Result;
use crate::kernel::Kernel;
use crate::tune::{Launch, Manners, Pruned, Space, TuneReport};

pub use crate::launch::{
    HostTensor, ResidentBlocks, check_program, recheck_program, resident_blocks, run_config,
    run_program, run_program_checked, run_program_counted, run_program_shuffled, run_unchecked,
};

/// The configurations that a search for a launch of these dimensions on such a device
/// begins with, the best by the model first, and those that it does not compile.
///
/// # Errors
///
/// Where the kernel has no such tile parameters: never, since none are given.
pub fn search_space(
    kernel: &Kernel,
    device: &DeviceProperties,
    dims: &[usize],
) -> Result<(Vec<Config>, Vec<Pruned>)> {
    let dims: Vec<u64> = dims.iter().map(|&dim| dim as u64).collect();
    let space = Space::new(Launch {
        checked: kernel.checked(),
        types: kernel.types(),
        device,
        dims: &dims,
        given: &[],
        numerics: Numerics::Exact,
        tensor_bytes: 0,
        fits_tensors: &|_| true,
    })?;
    Ok((space.ranked().cloned().collect(), space.pruned().to_vec()))
}

/// Measures configurations of a kernel for a launch of these dimensions, as a search
/// does: the default one, then these in their order, then the better of them again.
/// Remembers nothing.
///
/// # Errors
///
/// As [`Kernel::tune`].
pub fn measure_listed(
    kernel: &Kernel,
    device: &Device,
    dims: &[usize],
    configs: &[Config],
) -> Result<TuneReport> {
    crate::launch::measure_listed(kernel, device, &kernel.check_dims(dims)?, configs)
}

/// What is done in the background, for tests.
#[derive(Clone, Copy, Debug)]
pub struct BackgroundLimits {
    /// Device time of a kind of launches before it is searched for.
    pub after: Duration,
    /// The share of the device time of all launches that searches may take.
    pub share: f64,
    /// Device time of one search.
    pub budget: Duration,
    /// Whether programs that take long to compile are made in the background.
    pub builds: bool,
}

/// Sets what is done in the background.
pub fn set_background(device: &Device, limits: BackgroundLimits) {
    let BackgroundLimits { after, share, budget, builds } = limits;
    let background = device.background();
    let manners = Manners { after, share, budget, builds, ..background.manners() };
    background.set_manners(manners);
}

/// The programs that the device has ready: those that are compiled quickly for the time
/// being, and the others.
pub fn count_programs(device: &Device) -> (usize, usize) {
    device.programs().count()
}

/// Waits until nothing more is done in the background.
pub fn finish_background(device: &Device) {
    device.builder().finish();
    device.searcher().finish();
}
