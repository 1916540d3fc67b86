//! Lowering: from a checked kernel and a configuration to a program.
//!
//! Each pass is one file and one function, program to program; after each the
//! program verifies and runs on the CPU device with the same bits.

mod distribute;
mod guard;
mod place;
mod specialise;

use crate::check::CheckedKernel;
use crate::config::Config;
use crate::device::DeviceProperties;
use crate::dtype::DType;
use crate::kernel::{VarId, VarKind};
use crate::program::{IndexWidth, Program};

/// What is known of a launch, apart from its configuration. Launches with equal
/// bindings and configurations share one program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// The type of each type parameter, by id.
    pub types: Vec<DType>,
    /// Whether offsets into every tensor of the launch fit 32 bits.
    pub index_width: IndexWidth,
    /// For each dimension variable, in the order of the kernel's variables, a
    /// number that divides it: 1 where nothing is known.
    pub dim_divisors: Vec<u32>,
}

/// Why a kernel cannot be lowered with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LowerError {
    /// A type parameter is not bound, or to a type its bound does not admit.
    #[error("type parameter `{name}` of `{kernel}` is not bound to a type that `{bound}` admits")]
    Unbound {
        /// The kernel.
        kernel: String,
        /// The type parameter.
        name: String,
        /// Its bound.
        bound: &'static str,
    },
    /// The kernel breaks what its check promises: a defect of this crate.
    #[error("kernel `{kernel}` holds {what}")]
    Broken {
        /// The kernel.
        kernel: String,
        /// What was found.
        what: &'static str,
    },
    /// The tiles do not fit the device.
    #[error(
        "kernel `{kernel}` needs {needed_bytes} bytes of shared memory per block; `{device}` has {available_bytes}"
    )]
    SharedMemory {
        /// The kernel.
        kernel: String,
        /// The device.
        device: String,
        /// What its tiles take, padding included.
        needed_bytes: u64,
        /// What a block can have.
        available_bytes: u32,
    },
}

/// Lowers a kernel to a program for `device`.
///
/// # Errors
///
/// Where the configuration is not admissible for the kernel or the device.
pub fn lower(
    kernel: &CheckedKernel,
    binding: &Binding,
    config: &Config,
    device: &DeviceProperties,
) -> Result<Program, LowerError> {
    let mut program = specialise::specialise(kernel, binding, config)?;
    for program_kernel in &mut program.kernels {
        distribute::distribute_items(program_kernel, config);
        guard::delete_proved_guards(program_kernel, &known_divisors(kernel, binding));
        place::place_tiles(program_kernel, config, device)?;
    }
    Ok(program)
}

/// The divisor of each dimension, by its variable.
fn known_divisors(kernel: &CheckedKernel, binding: &Binding) -> Vec<(VarId, u32)> {
    let dims = kernel.kernel().vars.iter().filter(|(_, var)| var.kind == VarKind::Dim);
    dims.map(|(id, _)| id).zip(binding.dim_divisors.iter().copied()).collect()
}
