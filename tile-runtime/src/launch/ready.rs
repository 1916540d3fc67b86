//! A program made ready for a device.

use std::sync::{Arc, OnceLock};

use tile_ir::check::CheckedKernel;
use tile_ir::config::{Config, ConfigError};
use tile_ir::kernel::Kernel;
use tile_ir::lower::{Binding, LowerError, lower, lower_as_written};
use tile_ir::program::Program;

use crate::cpu::{self, Mode, Order, Watch};
use crate::device::{Backend, Device};
use crate::error::{Error, Result};
use crate::kernel::type_list;
use crate::tune::Prepared;

/// A lowered kernel and what the device runs of it.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) program: Program,
    /// The kernel with its types and configuration, as faults name it.
    pub(crate) label: Arc<str>,
    /// The source file of the kernel.
    pub(crate) file: String,
    /// The tile sizes, as messages name them: `TM = 64, TN = 64`.
    pub(crate) tiles: String,
    pub(crate) kernels: Executables,
    /// What its re-check has found, once it was asked for.
    pub(crate) rechecked: OnceLock<Option<String>>,
    /// What is looked at, where it is the program of checked launches.
    pub(crate) watch: Option<Watch>,
}

impl Ready {
    /// What it takes, as far as its compiler has said: the most of its kernels.
    pub(super) fn resources(&self) -> Prepared {
        match &self.kernels {
            Executables::Host(_) => Prepared::default(),
            #[cfg(feature = "cuda")]
            Executables::Cuda(loaded) => {
                let kernels = loaded.resources().iter();
                let spilled = kernels
                    .clone()
                    .map(|kernel| kernel.spill_store_bytes + kernel.spill_load_bytes);
                Prepared {
                    registers: kernels.map(|kernel| kernel.registers).max().unwrap_or(0),
                    spill_bytes: spilled.max().unwrap_or(0),
                }
            }
        }
    }
}

/// What runs, one per kernel of the plan.
#[derive(Debug)]
pub(crate) enum Executables {
    /// On the CPU device.
    Host(Vec<cpu::CompiledKernel>),
    /// On a CUDA device.
    #[cfg(feature = "cuda")]
    Cuda(crate::cuda::LoadedProgram),
}

/// Lowers a kernel for a device and makes it ready to run there.
pub(super) fn make_ready(
    checked: &CheckedKernel,
    file: &str,
    device: &Device,
    binding: &Binding,
    config: &Config,
) -> Result<Ready> {
    let program = lower_for(checked, device, binding, config)?;
    make_of(checked, file, device, binding, config, program)
}

/// Lowers a kernel for a device.
pub(super) fn lower_for(
    checked: &CheckedKernel,
    device: &Device,
    binding: &Binding,
    config: &Config,
) -> Result<Program> {
    lower(checked, binding, config, device.properties())
        .map_err(|error| lower_error(checked.kernel(), config, &error))
}

/// What the CPU device runs of a program, to run in this mode.
pub(super) fn for_host(
    program: &Program,
    label: &str,
    mode: impl Into<Mode>,
) -> Result<Vec<cpu::CompiledKernel>> {
    let mode = mode.into();
    let compiled = program.kernels.iter().map(|kernel| cpu::prepare(kernel, mode));
    compiled.collect::<Result<_, _>>().map_err(|error| cpu_error(label, &error))
}

/// Makes a lowered kernel ready to run on a device.
pub(super) fn make_of(
    checked: &CheckedKernel,
    file: &str,
    device: &Device,
    binding: &Binding,
    config: &Config,
    program: Program,
) -> Result<Ready> {
    let kernel = checked.kernel();
    let label: Arc<str> = describe(kernel, binding, config).into();
    let kernels = match device.backend() {
        Backend::Cpu => Executables::Host(for_host(&program, &label, Order::Numbered)?),
        #[cfg(feature = "cuda")]
        Backend::Cuda(cuda) => Executables::Cuda(cuda.load(&program, file)?),
    };
    let tiles = config.describe_tiles(kernel);
    let (file, rechecked) = (file.to_owned(), OnceLock::new());
    Ok(Ready { program, label, file, tiles, kernels, rechecked, watch: None })
}

/// Makes the program of checked launches: the kernel as it is written.
pub(super) fn make_checked(
    checked: &CheckedKernel,
    file: &str,
    device: &Device,
    (binding, config): (&Binding, &Config),
    watch: Watch,
) -> Result<Ready> {
    let kernel = checked.kernel();
    // What the device cannot run is not run as it is written either.
    lower_for(checked, device, binding, config)?;
    let program = lower_as_written(checked, binding, config, device.properties())
        .map_err(|error| lower_error(kernel, config, &error))?;
    let label: Arc<str> = describe(kernel, binding, config).into();
    let mode = Mode { order: Order::Numbered, watch: Some(watch) };
    let kernels = Executables::Host(for_host(&program, &label, mode)?);
    let tiles = config.describe_tiles(kernel);
    let (file, rechecked) = (file.to_owned(), OnceLock::new());
    Ok(Ready { program, label, file, tiles, kernels, rechecked, watch: Some(watch) })
}

/// `matmul<f32>` with TM = 64, TN = 64, TK = 16 on 256 threads
pub(super) fn describe(kernel: &Kernel, binding: &Binding, config: &Config) -> String {
    let types = type_list(&binding.types);
    let tiles = config.describe_tiles(kernel);
    let with = if tiles.is_empty() { String::new() } else { format!(" with {tiles}") };
    format!("`{}{types}`{with} on {} threads per block", kernel.name, config.threads)
}

/// A lowering failure for the caller of a launch: what the device lacks for the
/// configuration is the caller's to change, all else a defect.
pub(crate) fn lower_error(kernel: &Kernel, config: &Config, error: &LowerError) -> Error {
    let tiles = config.describe_tiles(kernel);
    match error {
        LowerError::SharedMemory { kernel, device, needed_bytes, available_bytes } => {
            ConfigError::SharedMemory {
                kernel: kernel.clone(),
                tiles,
                device: device.clone(),
                needed_bytes: *needed_bytes,
                available_bytes: *available_bytes,
            }
            .into()
        }
        LowerError::Config(error) => (**error).clone().into(),
        LowerError::Unbound { .. } | LowerError::Broken { .. } | LowerError::Faulty { .. } => {
            let with = if tiles.is_empty() { tiles } else { format!(" with {tiles}") };
            Error::internal(format!("`{}`{with} cannot be lowered", kernel.name), error.to_string())
        }
    }
}

/// A failure of the CPU device other than a broken assumption: always a broken
/// promise of lowering or of the launch code.
pub(super) fn cpu_error(label: &str, error: &cpu::CpuError) -> Error {
    Error::internal(format!("the CPU device stopped in {label}"), error.to_string())
}
