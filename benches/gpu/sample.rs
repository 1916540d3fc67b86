//! Random configurations of every kernel: their results against the CPU device's, and how
//! many of their blocks an SM holds against the driver's answer.

use std::io;

use tile_kernels::list::{Listed, all};
use tile_kernels::random::random_inputs;
use tile_runtime::inspect::{HostTensor, ResidentBlocks, resident_blocks, run_config, run_program};
use tile_runtime::ir::config::{Breadth, Config, ConfigError, Space};
use tile_runtime::ir::dtype::DType;
use tile_runtime::ir::kernel::ExprKind;
use tile_runtime::{Device, Error, bf16, f16};
use tile_sink::Sink;

use crate::figure::Figure;

/// By how much the values of library functions may differ between devices, next to
/// the value or to 1.
const MATH_TOLERANCE: f64 = 1e-5;
/// The same of results that are rounded to 16 bits.
const MATH_TOLERANCE_16: f64 = 2e-2;
/// The largest extent of a first axis.
const MOST_EXTENT: usize = 300;

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw {
    /// Configurations of each kernel.
    pub(crate) n_configs: usize,
    /// Kernels; all where it is not said.
    pub(crate) n_kernels: Option<usize>,
    /// Where the random choices begin.
    pub(crate) seed: u64,
}

/// Runs kernels in random configurations of the space that the tuner searches, at
/// a ragged shape: a line for each.
pub(crate) fn run(device: &Device, draw: Draw, sink: &mut Sink<Figure>) -> io::Result<()> {
    let Draw { n_configs, seed, .. } = draw;
    for listed in kernels(draw) {
        let kernel = &listed.kernel;
        let types = kernel.types();
        let space = Space::new(kernel.checked(), types, device.properties(), Breadth::Fast);
        let (mut n_run, mut n_given) = (0, 0);
        for config in space.random(seed).take(4 * n_configs) {
            if n_run == n_configs {
                break;
            }
            n_given += 1;
            let checked = check(&listed, device, &config, n_given);
            if matches!(checked, Err(Failure::TooLarge)) {
                continue;
            }
            n_run += 1;
            let error = checked.err();
            let passed = error.is_none();
            let error = error.map(|error| format!("{config:?}: {error}"));
            sink.write(Figure::Sample {
                kernel: kernel.name().to_owned(),
                types: types.iter().map(ToString::to_string).collect(),
                shape: ragged(&listed),
                passed,
                error,
            })?;
        }
    }
    Ok(())
}

/// The kernels that are drawn.
fn kernels(draw: Draw) -> Vec<Listed> {
    let mut kernels = all();
    if let Some(n_kernels) = draw.n_kernels {
        fastrand::Rng::with_seed(draw.seed).shuffle(&mut kernels);
        kernels.truncate(n_kernels);
    }
    kernels
}

/// A shape with whole blocks and pieces of them, small enough for the CPU.
fn ragged(listed: &Listed) -> Vec<usize> {
    let extents = listed.dims[1].iter().enumerate();
    extents.map(|(axis, &extent)| extent.min(MOST_EXTENT + 7 * axis)).collect()
}

/// Why a configuration gives no result, or another one than it should.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// With padding and buffers for slices its tiles do not fit the device.
    #[error("the tiles do not fit")]
    TooLarge,
    /// The launch failed.
    #[error(transparent)]
    Launch(Error),
    /// The results are others.
    #[error("tensor {0} holds other elements than on the CPU")]
    Differs(usize),
    /// The occupancy calculator's rules and the driver disagree.
    #[error("an SM holds {counted} blocks of `{kernel}` by the rules, {by_driver} by the driver")]
    Occupancy {
        /// The kernel.
        kernel: String,
        /// By the rules.
        counted: u32,
        /// By the driver.
        by_driver: u32,
    },
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Config(error) if matches!(*error, ConfigError::SharedMemory { .. }) => {
                Self::TooLarge
            }
            error => Self::Launch(error),
        }
    }
}

/// Runs a kernel on the device, and the program that no pass has changed on the CPU.
fn check(listed: &Listed, device: &Device, config: &Config, seed: u64) -> Result<(), Failure> {
    let (kernel, dims) = (&listed.kernel, &ragged(listed));
    let inputs = random_inputs(kernel, config, dims, seed);
    let (mut found, mut expected) = (inputs.tensors.clone(), inputs.tensors);
    let programs = kernel.program_by_pass(config, device.properties(), dims)?;
    if let Some((_, first)) = programs.first() {
        run_program(kernel, first, dims, &mut expected, &inputs.scalars)?;
    }
    run_config(kernel, config, device, dims, &mut found, &inputs.scalars)?;
    let resident = resident_blocks(kernel, config, device, dims)?;
    let odd = resident.into_iter().find(|found| found.counted != found.by_driver);
    if let Some(ResidentBlocks { kernel, counted, by_driver, .. }) = odd {
        return Err(Failure::Occupancy { kernel, counted, by_driver });
    }
    let has_functions = kernel.checked().kernel().exprs.values().any(|expr| match &expr.kind {
        ExprKind::Math { func, .. } => !func.is_exact(),
        ExprKind::Binary { op, .. } => !op.is_exact(),
        _ => false,
    });
    if !kernel.checked().is_order_independent() {
        return Ok(());
    }
    for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let same = match has_functions {
            true => is_near(found, expected),
            false => found == expected || is_same_but_for_nans(found, expected),
        };
        if !same {
            return Err(Failure::Differs(number));
        }
    }
    Ok(())
}

/// Whether two tensors are the same, whichever NaN a NaN is: that is the device's choice.
fn is_same_but_for_nans(found: &HostTensor, expected: &HostTensor) -> bool {
    let is_same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    found.dtype().is_float() && floats(found).iter().zip(&floats(expected)).all(is_same)
}

/// Whether two tensors differ by no more than library functions do.
fn is_near(found: &HostTensor, expected: &HostTensor) -> bool {
    let tolerance = match found.dtype() {
        DType::F32 | DType::F64 => MATH_TOLERANCE,
        DType::F16 | DType::BF16 => MATH_TOLERANCE_16,
        _ => return found == expected,
    };
    let (found, expected) = (floats(found), floats(expected));
    found.iter().zip(&expected).all(|(a, b)| {
        (a - b).abs() <= tolerance * b.abs().max(1.0) || (a.is_nan() && b.is_nan()) || a == b
    })
}

/// A tensor's elements, which are floats.
fn floats(tensor: &HostTensor) -> Vec<f64> {
    let bytes = tensor.bytes();
    let size = tensor.dtype().size_bytes() as usize;
    let value = |chunk: &[u8]| match (tensor.dtype(), chunk) {
        (DType::F16, &[a, b]) => f16::from_ne_bytes([a, b]).to_f64(),
        (DType::BF16, &[a, b]) => bf16::from_ne_bytes([a, b]).to_f64(),
        (DType::F32, &[a, b, c, d]) => f32::from_ne_bytes([a, b, c, d]).into(),
        (_, chunk) => chunk.try_into().map_or(f64::NAN, f64::from_ne_bytes),
    };
    bytes.chunks(size).map(value).collect()
}
