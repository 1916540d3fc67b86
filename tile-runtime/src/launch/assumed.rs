//! What a kernel's author assumes of the data, looked at by the CPU device:
//! whole tensors before a launch, conditions while it runs.

use std::collections::HashMap;

use tile_ir::arena::EntityId as _;
use tile_ir::row_major::position;
use tile_ir::span::SpanId;
use tile_ir::value::ScalarValue;

use super::argument::TensorArgument;
use super::bind::Bound;
use super::ready::{Ready, cpu_error};
use super::run::host_bytes;
use crate::cpu::CpuError;
use crate::error::{AssumptionError, Error, Result, TensorError};

/// Checks that the elements of tensors are distinct where the kernel says so.
pub(super) fn check_distinct(ready: &Ready, bound: &Bound<'_>) -> Result<()> {
    for distinct in &ready.program.distinct {
        let Some(tensor) = bound.tensors.get(distinct.tensor.index()) else { continue };
        let Some((value, first, second)) = repeated(tensor) else { continue };
        return Err(AssumptionError::Distinct {
            kernel: kernel_name(ready),
            file: ready.file.clone(),
            line: line(ready, distinct.span),
            tensor: tensor_name(ready, distinct.tensor.index()),
            first: position(tensor.shape, first),
            second: position(tensor.shape, second),
            value: value.to_string(),
        }
        .into());
    }
    Ok(())
}

/// Why the CPU device stopped.
pub(super) fn stopped(ready: &Ready, error: CpuError) -> Error {
    let (kernel, text, span, block, item, values) = match error {
        CpuError::Assumption { kernel, text, span, block, item, values } => {
            (kernel, text, span, block, item, values)
        }
        CpuError::OutOfMemory { bytes, .. } => {
            let device = "a checked launch on the CPU".to_owned();
            return TensorError::OutOfMemory { device, bytes, free_bytes: None }.into();
        }
        other => return cpu_error(&ready.label, &other),
    };
    let coordinates = [("work-item", item), ("block", block)];
    let place = coordinates.iter().filter(|(_, at)| !at.is_empty());
    let place: Vec<String> =
        place.map(|(what, at)| format!("{what} ({})", at.join(", "))).collect();
    let place = if place.is_empty() { "the block".to_owned() } else { place.join(" of ") };
    let (file, line) = (ready.file.clone(), line(ready, span));
    AssumptionError::Condition { kernel, file, line, text, place, values }.into()
}

fn kernel_name(ready: &Ready) -> String {
    ready.program.kernels.first().map_or_else(String::new, |kernel| kernel.name.clone())
}

fn tensor_name(ready: &Ready, tensor: usize) -> String {
    let buffers = ready.program.kernels.iter().flat_map(|kernel| kernel.buffers.values());
    let mut of_tensor = buffers.filter(|buffer| match buffer.source {
        tile_ir::program::BufferSource::Tensor(id) => id.index() == tensor,
        tile_ir::program::BufferSource::Workspace(_) => false,
    });
    of_tensor.next().map_or_else(String::new, |buffer| buffer.name.clone())
}

fn line(ready: &Ready, span: SpanId) -> u32 {
    ready.program.spans.range(span).line
}

/// A value that stands twice, and the numbers of the two elements.
fn repeated(tensor: &TensorArgument<'_>) -> Option<(ScalarValue, usize, usize)> {
    let bytes = host_bytes(tensor)?;
    let n_elems = tensor.len_elems();
    let n_bytes = tensor.dtype.size_bytes() as usize;
    let mut seen = HashMap::with_capacity(n_elems);
    (0..n_elems).find_map(|number| {
        let at = tensor.offset_of(&position(tensor.shape, number)) * n_bytes;
        let mut word = [0; 8];
        word[..n_bytes].copy_from_slice(bytes.get(at..at + n_bytes)?);
        let bits = u64::from_le_bytes(word);
        let first = seen.insert(bits, number)?;
        Some((ScalarValue { dtype: tensor.dtype, bits }, first, number))
    })
}
