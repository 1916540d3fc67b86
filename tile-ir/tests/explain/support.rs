//! Programs from text, and their counts.

use tile_ir::check::{CheckedKernel, check_kernel};
use tile_ir::config::{AxisItems, Config, default_config};
use tile_ir::device::{DeviceProperties, known};
use tile_ir::dtype::DType;
use tile_ir::explain::count::{KernelCounts, Known, Limits, SiteCounts, Touches, count_kernel};
use tile_ir::kernel::{VarId, VarKind};
use tile_ir::lower::{Binding, lower};
use tile_ir::program::{IndexWidth, Program};
use tile_ir::resolve::resolve_kernel;
use tile_ir::value::ScalarValue;

pub(crate) fn checked(text: &str) -> CheckedKernel {
    let item = tile_syntax::parse_kernel_text(text).unwrap_or_else(|errors| panic!("{errors}"));
    let kernel = resolve_kernel(&item).unwrap_or_else(|found| panic!("{found:?}"));
    check_kernel(kernel).unwrap_or_else(|found| panic!("{found:?}")).kernel
}

pub(crate) fn device() -> DeviceProperties {
    known("A100").expect("the device is in the table")
}

/// One work-item a thread, in row-major order, and nothing done that the text does
/// not say.
pub(crate) fn textbook(tiles: &[u32], threads: &[u32]) -> Config {
    let block = threads.iter().map(|&threads| AxisItems::strided(threads)).collect();
    Config { fragment_buffers: 0, ..Config::plain(tiles.to_vec(), block) }
}

/// What the device's properties and these dimensions give.
pub(crate) fn chosen(kernel: &CheckedKernel, dtype: DType, dims: &[u64]) -> Config {
    default_config(kernel, &[dtype], &device(), dims).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn program(
    kernel: &CheckedKernel,
    dtype: DType,
    config: &Config,
    dims: &[u64],
) -> Program {
    let divisor = |dim: &u64| (dim & dim.wrapping_neg()).clamp(1, 256) as u32;
    let binding = Binding {
        types: vec![dtype; kernel.kernel().type_params.len()],
        index_width: IndexWidth::Bits32,
        dim_divisors: dims.iter().map(divisor).collect(),
        layouts: Vec::new(),
    };
    lower(kernel, &binding, config, &device()).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn dims_of(kernel: &CheckedKernel, dims: &[u64]) -> Vec<(VarId, u64)> {
    let vars = kernel.kernel().vars.iter().filter(|(_, var)| var.kind == VarKind::Dim);
    vars.map(|(id, _)| id).zip(dims.iter().copied()).collect()
}

pub(crate) fn counts(
    kernel: &CheckedKernel,
    dtype: DType,
    config: &Config,
    dims: &[u64],
    limits: Limits,
) -> KernelCounts {
    counts_with(kernel, dtype, config, (dims, &[]), limits)
}

/// With values of scalars, by their places in the signature.
pub(crate) fn counts_with(
    kernel: &CheckedKernel,
    dtype: DType,
    config: &Config,
    (dims, scalars): (&[u64], &[ScalarValue]),
    limits: Limits,
) -> KernelCounts {
    let program = program(kernel, dtype, config, dims);
    assert_eq!(program.kernels.len(), 1);
    let ids = kernel.kernel().scalars.ids();
    let scalars: Vec<_> = ids.zip(scalars.iter().copied()).collect();
    let known = Known { dims: &dims_of(kernel, dims), scalars: &scalars };
    count_kernel(&program.kernels[0], known, limits).unwrap_or_else(|error| panic!("{error}"))
}

/// The only access of this kind to an array.
#[track_caller]
pub(crate) fn site<'c>(counts: &'c KernelCounts, array: &str, touches: Touches) -> &'c SiteCounts {
    let is_it = |site: &&SiteCounts| site.array == array && site.touches == touches;
    let found: Vec<&SiteCounts> = counts.sites.iter().filter(is_it).collect();
    assert_eq!(found.len(), 1, "{touches:?} of `{array}`: {:#?}", counts.sites);
    found[0]
}
