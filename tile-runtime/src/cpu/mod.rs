//! The CPU device: executes programs.
//!
//! [`prepare`] compiles a [`ProgramKernel`] once into typed operations over
//! lanes; [`run()`] executes them for a launch, blocks across cores.

mod buffer;
mod code;
mod compile;
mod error;
mod found;
mod loops;
mod order;
mod run;
#[cfg(test)]
mod tests;
mod vector;
mod watch;

use tile_ir::program::ProgramKernel;
use tile_ir::value::ArgValue;

pub(crate) use buffer::CpuBuffer;
pub(crate) use code::CompiledKernel;
pub(crate) use error::CpuError;
pub(crate) use found::{
    Actor, Found, FoundCase, FoundCounts, FoundGap, FoundOdd, FoundParting, FoundStray,
};
pub(crate) use order::Order;
pub(crate) use watch::{Doing, Mode, Oddity, Site, Watch};

/// Compiles a kernel for the CPU device, to run in this mode.
///
/// # Errors
///
/// Where the program breaks a rule that execution relies on.
pub(crate) fn prepare(
    kernel: &ProgramKernel,
    mode: impl Into<Mode>,
) -> Result<CompiledKernel, CpuError> {
    compile::compile(kernel, mode.into())
}

/// Runs one launch: `buffers` by [`tile_ir::program::BufferId`], `args` by
/// [`tile_ir::program::ArgId`]. Returns when all blocks are done. Runs on the
/// rayon pool it is called in. Of a kernel that was prepared to be watched, what was
/// found.
///
/// # Errors
///
/// Where buffers or arguments are not as the program declares them, and where
/// an access without a guard leaves its array. Of several such accesses the one
/// of the first block is reported; buffers then hold what the blocks wrote.
pub(crate) fn run(
    kernel: &CompiledKernel,
    buffers: &[CpuBuffer],
    args: &[ArgValue],
) -> Result<Option<Found>, CpuError> {
    run::run(kernel, buffers, args)
}
