//! Runs a program that is ready on a CUDA device.

use tile_ir::arena::EntityId as _;
use tile_ir::program::{BufferSource, BufferSpace, IndexWidth, ProgramKernel, Ty};
use tile_ir::value::ArgValue;

use super::argument::ArgumentMemory;
use super::bind::Bound;
use super::ready::Ready;
use super::run::{MAX_BLOCKS_CUDA, arg_values, broken, check_blocks, n_blocks, workspace_bytes};
use crate::cuda::{CudaBuffer, CudaQueue, LoadedProgram, Parameter, ParameterBlock};
use crate::device::Device;
use crate::error::Result;

/// Queues a plan's kernels.
pub(super) fn run_on_cuda(
    ready: &Ready,
    loaded: &LoadedProgram,
    bound: &Bound<'_>,
    device: &Device,
    queue: &CudaQueue,
) -> Result<()> {
    let workspaces = ready.program.workspaces.values();
    let workspaces = workspaces
        .map(|workspace| CudaBuffer::zeros(queue, workspace_bytes(workspace)?))
        .collect::<Result<Vec<CudaBuffer>>>()?;
    for (index, kernel) in ready.program.kernels.iter().enumerate() {
        let args = arg_values(kernel, bound)?;
        let blocks = n_blocks(kernel, &args)?;
        let blocks = check_blocks(&kernel.name, &ready.tiles, blocks, device, MAX_BLOCKS_CUDA)?;
        let Some(n_blocks) = u32::try_from(blocks).ok().filter(|blocks| *blocks > 0) else {
            continue;
        };
        let mut params = Vec::with_capacity(kernel.buffers.len() + kernel.args.len());
        for buffer in kernel.buffers.values() {
            if let BufferSpace::Constant { .. } = buffer.space {
                let block = parameter_block(buffer.source, bound);
                let block = block.ok_or_else(|| broken(kernel, "a constant has no parameters"))?;
                params.push(Parameter::Block(block));
                continue;
            }
            let memory = buffer_memory(kernel, buffer.source, buffer.written, bound, &workspaces)?;
            memory.use_on(queue, buffer.written)?;
            let first = first_byte(buffer.source, bound);
            params.push(Parameter::Word(memory.address() + first));
        }
        for (arg, value) in kernel.args.values().zip(&args) {
            let word = param_word(arg.ty, *value);
            let word = word.ok_or_else(|| broken(kernel, "an argument has the wrong type"))?;
            params.push(Parameter::Word(word));
        }
        // SAFETY: buffers come before arguments, in order, as the program
        // declares; each argument has its declared type. Constants are copied
        // with the other parameters. The arrays are those
        // of tensors that the launch borrows, exclusively where they are
        // written, and of workspaces; both are released in order with the
        // queue, and `use_on` has ordered their other uses.
        unsafe { loaded.launch(index, queue, n_blocks, &params, &ready.label)? };
    }
    Ok(())
}

/// The elements of a constant that the launch carries.
fn parameter_block<'a>(source: BufferSource, bound: &Bound<'a>) -> Option<&'a ParameterBlock> {
    match source {
        BufferSource::Workspace(_) => None,
        BufferSource::Tensor(id) => bound.tensors.get(id.index())?.parameters,
    }
}

/// Where a buffer begins in its array.
fn first_byte(source: BufferSource, bound: &Bound<'_>) -> u64 {
    let BufferSource::Tensor(id) = source else { return 0 };
    let tensor = bound.tensors.get(id.index());
    tensor.map_or(0, |tensor| tensor.offset_elems as u64 * u64::from(tensor.dtype.size_bytes()))
}

/// The array of a buffer.
fn buffer_memory<'a>(
    kernel: &ProgramKernel,
    source: BufferSource,
    written: bool,
    bound: &Bound<'a>,
    workspaces: &'a [CudaBuffer],
) -> Result<&'a CudaBuffer> {
    let memory = match source {
        BufferSource::Workspace(id) => workspaces.get(id.index()),
        BufferSource::Tensor(id) => {
            let tensor = bound.tensors.get(id.index()).filter(|tensor| tensor.mutable || !written);
            tensor.and_then(|tensor| match tensor.memory {
                ArgumentMemory::Cuda(buffer) => Some(buffer),
                ArgumentMemory::Host(..) => None,
            })
        }
    };
    memory.ok_or_else(|| broken(kernel, "a buffer has no memory"))
}

/// An argument's bits, zero-extended to 64; `None` where the value is not of
/// the type.
fn param_word(ty: Ty, value: ArgValue) -> Option<u64> {
    match (ty, value) {
        (Ty::Scalar(dtype), ArgValue::Scalar(value)) => {
            (value.dtype == dtype).then_some(value.bits)
        }
        (Ty::Index(IndexWidth::Bits32), ArgValue::Index(value)) => {
            i32::try_from(value).ok().map(|value| u64::from(value.cast_unsigned()))
        }
        (Ty::Index(IndexWidth::Bits64), ArgValue::Index(value)) => Some(value.cast_unsigned()),
        (Ty::Scalar(_), ArgValue::Index(_)) | (Ty::Index(_), ArgValue::Scalar(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use tile_ir::dtype::DType;
    use tile_ir::value::ScalarValue;

    use super::*;

    #[test]
    fn words_hold_what_fits_the_type() {
        assert_eq!(param_word(Ty::INDEX32, ArgValue::Index(-1)), Some(0xffff_ffff));
        assert_eq!(param_word(Ty::INDEX32, ArgValue::Index(1 << 31)), None);
        assert_eq!(param_word(Ty::INDEX64, ArgValue::Index(-1)), Some(u64::MAX));
        let scalar = ScalarValue { dtype: DType::F32, bits: 7 };
        assert_eq!(param_word(Ty::Scalar(DType::F32), ArgValue::Scalar(scalar)), Some(7));
        assert_eq!(param_word(Ty::Scalar(DType::F64), ArgValue::Scalar(scalar)), None);
    }
}
