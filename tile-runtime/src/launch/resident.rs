//! How many blocks of a program's kernels an SM holds: by the occupancy calculator's rules
//! ([`tile_ir::analyze::occupancy`]), and by the driver.

use tile_ir::config::Config;

use super::bind::binding_of;
use super::ready::{Executables, make_ready};
use crate::device::Device;
use crate::error::Result;
use crate::kernel::Kernel;

/// One kernel on one SM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResidentBlocks {
    /// The kernel's name in its program.
    pub kernel: String,
    /// Threads of a block.
    pub threads: u32,
    /// Registers of a thread, by the driver.
    pub registers: u32,
    /// Shared memory of a block in bytes, static and dynamic, by the driver.
    pub shared_bytes: u32,
    /// Blocks that an SM holds by the rules.
    pub counted: u32,
    /// Blocks that it holds by the driver, `cuOccupancyMaxActiveBlocksPerMultiprocessor`.
    pub by_driver: u32,
}

/// The resident blocks of what a launch of these dimensions runs in a configuration; none
/// on the CPU device.
///
/// # Errors
///
/// Where `dims` has not one value per dimension, the configuration does not fit, or the
/// driver does not answer.
pub fn resident_blocks(
    kernel: &Kernel,
    config: &Config,
    device: &Device,
    dims: &[usize],
) -> Result<Vec<ResidentBlocks>> {
    let checked = kernel.checked();
    let dims = kernel.check_dims(dims)?;
    let binding = binding_of(checked.kernel(), kernel.types(), &dims, config);
    let ready = make_ready(checked, kernel.file(), device, &binding, config)?;
    match &ready.kernels {
        Executables::Host(_) => Ok(Vec::new()),
        #[cfg(feature = "cuda")]
        Executables::Cuda(loaded) => on_cuda(&ready.program, loaded, device),
    }
}

#[cfg(feature = "cuda")]
fn on_cuda(
    program: &tile_ir::program::Program,
    loaded: &crate::cuda::LoadedProgram,
    device: &Device,
) -> Result<Vec<ResidentBlocks>> {
    let names = program.kernels.iter().map(|kernel| kernel.name.clone());
    let found = names.enumerate().map(|(index, kernel)| {
        let crate::cuda::Occupied { threads, registers, shared_bytes, blocks } =
            loaded.occupied(index)?;
        let counted = tile_ir::analyze::occupancy::blocks_per_sm(
            device.properties(),
            threads,
            registers,
            shared_bytes,
        );
        let (counted, by_driver) = (counted.blocks, blocks);
        Ok(ResidentBlocks { kernel, threads, registers, shared_bytes, counted, by_driver })
    });
    found.collect()
}
