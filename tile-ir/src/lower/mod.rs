//! Lowering: from a checked kernel and a configuration to a program.

use crate::check::CheckedKernel;
use crate::config::Config;
use crate::device::DeviceProperties;
use crate::dtype::DType;
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
}

/// Lowers a kernel to a program for `device`.
///
/// # Errors
///
/// Where the configuration is not admissible for the kernel or the device.
pub fn lower(
    _kernel: &CheckedKernel,
    _binding: &Binding,
    _config: &Config,
    _device: &DeviceProperties,
) -> Result<Program, LowerError> {
    Ok(Program { kernels: Vec::new(), workspaces: Default::default(), spans: Default::default() })
}
