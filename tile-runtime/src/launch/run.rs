//! Runs a program that is ready: computes each kernel's launch arguments and
//! hands its memory over.

use tile_ir::arena::EntityId as _;
use tile_ir::program::{ArgSource, BufferSource, ProgramKernel, Ty, Workspace};
use tile_ir::value::ArgValue;

use super::argument::{ArgumentMemory, TensorArgument};
use super::assumed::{check_promises, stopped};
use super::bind::Bound;
use super::checked::report;
use super::error::ArgumentError;
use super::ready::Ready;
use crate::checked::CheckReport;
use crate::cpu::{self, CpuBuffer};
use crate::device::Device;
use crate::error::{Error, Result, TensorError};

/// Blocks that the CPU device counts.
pub(super) const MAX_BLOCKS_CPU: u64 = u64::MAX;
/// Blocks along the one axis of a CUDA launch: 2^31 - 1.
///
/// # Source
///
/// CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute
/// Capability": maximum x-dimension of a grid.
#[cfg(feature = "cuda")]
pub(super) const MAX_BLOCKS_CUDA: u64 = i32::MAX as u64;

/// The value of each launch argument of a kernel, by id.
pub(super) fn arg_values(kernel: &ProgramKernel, bound: &Bound<'_>) -> Result<Vec<ArgValue>> {
    let values = kernel.args.values().map(|arg| {
        let value = match arg.source {
            ArgSource::Dim(var) => bound.dims.get(var).and_then(|dim| i64::try_from(dim).ok()),
            ArgSource::Stride { tensor, axis, unit } => {
                let tensor = bound.tensors.get(tensor.index());
                let stride = tensor.and_then(|tensor| stride(tensor, axis as usize));
                stride.filter(|stride| stride % i64::from(unit) == 0).map(|s| s / i64::from(unit))
            }
            ArgSource::Scalar(id) => {
                let scalar = bound.scalars.get(id.index());
                let scalar = scalar.filter(|scalar| arg.ty == Ty::Scalar(scalar.dtype));
                return scalar.map(|scalar| ArgValue::Scalar(*scalar));
            }
        };
        value.map(ArgValue::Index)
    });
    let values: Option<Vec<ArgValue>> = values.collect();
    values.ok_or_else(|| broken(kernel, "a launch argument has no value"))
}

/// Elements per unit of an axis.
fn stride(tensor: &TensorArgument<'_>, axis: usize) -> Option<i64> {
    if let Some(strides) = tensor.strides {
        return strides.get(axis).and_then(|stride| i64::try_from(*stride).ok());
    }
    let inner = tensor.shape.get(axis + 1..)?;
    let stride = inner.iter().try_fold(1usize, |product, extent| product.checked_mul(*extent))?;
    i64::try_from(stride).ok()
}

/// Number of blocks of a kernel's launch.
pub(super) fn n_blocks(kernel: &ProgramKernel, args: &[ArgValue]) -> Result<u128> {
    let extents = kernel.grid_extents(args);
    let extents = extents.ok_or_else(|| broken(kernel, "the grid has no extent"))?;
    Ok(extents.iter().map(|&extent| u128::from(extent)).fold(1, u128::saturating_mul))
}

/// A grid that the device cannot launch.
pub(super) fn check_blocks(
    kernel: &str,
    tiles: &str,
    blocks: u128,
    device: &Device,
    most: u64,
) -> Result<u64> {
    u64::try_from(blocks).ok().filter(|blocks| *blocks <= most).ok_or_else(|| {
        let kernel = kernel.to_owned();
        let (tiles, device) = (tiles.to_owned(), device.to_string());
        ArgumentError::TooManyBlocks { kernel, tiles, blocks, device, most }.into()
    })
}

pub(super) fn broken(kernel: &ProgramKernel, what: &str) -> Error {
    Error::internal(format!("the program of `{}` is wrong: {what}", kernel.name), "")
}

/// Runs a plan on the CPU device, in this thread's rayon pool. Of a checked launch, what
/// its kernels have shown.
pub(super) fn run_on_cpu(
    ready: &Ready,
    compiled: &[cpu::CompiledKernel],
    bound: &Bound<'_>,
    device: &Device,
) -> Result<Vec<CheckReport>> {
    let program = &ready.program;
    let mut reports = Vec::new();
    check_promises(ready, bound)?;
    let mut workspaces = Vec::with_capacity(program.workspaces.len());
    for workspace in program.workspaces.values() {
        workspaces.push(host_workspace(workspace, device)?);
    }
    for (kernel, compiled) in program.kernels.iter().zip(compiled) {
        let args = arg_values(kernel, bound)?;
        let blocks = n_blocks(kernel, &args)?;
        if check_blocks(&kernel.name, &ready.tiles, blocks, device, MAX_BLOCKS_CPU)? == 0 {
            continue;
        }
        let buffers = kernel.buffers.values().map(|buffer| match buffer.source {
            BufferSource::Tensor(id) => {
                let tensor = bound.tensors.get(id.index())?;
                if buffer.written && !tensor.mutable {
                    return None;
                }
                let ptr = match tensor.memory {
                    ArgumentMemory::Host(ptr, _) => ptr,
                    #[cfg(feature = "cuda")]
                    ArgumentMemory::Cuda(_) => return None,
                };
                let n_elems = tensor.span_elems();
                // SAFETY: `ptr` and `n_elems` are those of a `Vec` of `dtype`,
                // or of the part of one that a view reaches,
                // that the argument borrows until the launch returns, which is
                // after the last use of the buffer. It is writable only where
                // the borrow is exclusive; a shared one is only read.
                Some(unsafe { CpuBuffer::new(ptr, n_elems, tensor.dtype, tensor.mutable) })
            }
            BufferSource::Workspace(id) => {
                let memory = workspaces.get_mut(id.index())?;
                let declared = program.workspaces.get(id)?;
                let n_elems = usize::try_from(declared.size_elems).ok()?;
                let ptr = memory.as_mut_ptr().cast();
                // SAFETY: `host_workspace` made at least `n_elems` elements of
                // `dtype`, aligned to 8 bytes, initialised to 0, which is valid
                // for every type; they live until this function returns, and
                // this kernel's buffer is the only user meanwhile.
                Some(unsafe { CpuBuffer::new(ptr, n_elems, declared.dtype, true) })
            }
        });
        let buffers: Option<Vec<CpuBuffer>> = buffers.collect();
        let buffers = buffers.ok_or_else(|| broken(kernel, "a buffer has no memory"))?;
        let found = cpu::run(compiled, &buffers, &args).map_err(|error| stopped(ready, error))?;
        reports.extend(found.map(|found| report(ready, kernel, found)));
    }
    Ok(reports)
}

/// Memory for a workspace, zeroed, in words of 8 bytes.
fn host_workspace(workspace: &Workspace, device: &Device) -> Result<Vec<u64>> {
    let n_bytes = workspace_bytes(workspace)?;
    let mut memory = Vec::new();
    memory.try_reserve_exact(n_bytes.div_ceil(8)).map_err(|_| TensorError::OutOfMemory {
        device: device.to_string(),
        bytes: n_bytes,
        free_bytes: None,
    })?;
    memory.resize(n_bytes.div_ceil(8), 0);
    Ok(memory)
}

/// Size of a workspace in bytes.
pub(super) fn workspace_bytes(workspace: &Workspace) -> Result<usize> {
    let n_bytes = workspace.size_elems.checked_mul(u64::from(workspace.dtype.size_bytes()));
    n_bytes
        .and_then(|n_bytes| usize::try_from(n_bytes).ok())
        .ok_or_else(|| Error::internal("a workspace is too large", workspace.name.clone()))
}

/// The bytes of a tensor in host memory, from its first element to its last, that
/// nothing writes as long as they are used: one that the kernel never writes, or before
/// the kernel runs.
pub(super) fn host_bytes<'t>(tensor: &'t TensorArgument<'_>) -> Option<&'t [u8]> {
    let ptr = match tensor.memory {
        ArgumentMemory::Host(ptr, _) => ptr,
        #[cfg(feature = "cuda")]
        ArgumentMemory::Cuda(_) => return None,
    };
    let n_bytes = tensor.span_elems() * tensor.dtype.size_bytes() as usize;
    // SAFETY: `ptr` and the number of elements are those of a `Vec` of integers
    // that the argument borrows until the launch returns; a tensor of which this
    // is asked is written by nobody meanwhile, by this function's contract.
    // Integers have no padding.
    Some(unsafe { std::slice::from_raw_parts(ptr.cast_const(), n_bytes) })
}
