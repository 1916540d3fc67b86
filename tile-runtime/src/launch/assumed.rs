//! What a kernel's author assumes of the data, looked at by the CPU device:
//! whole tensors before a launch, conditions while it runs.

use std::collections::HashMap;

use tile_ir::arena::EntityId as _;
use tile_ir::dtype::DType;
use tile_ir::kernel::{Order, Promise};
use tile_ir::row_major::position;
use tile_ir::span::SpanId;
use tile_ir::value::ScalarValue;

use super::argument::TensorArgument;
use super::bind::Bound;
use super::ready::{Ready, cpu_error};
use super::run::host_bytes;
use crate::cpu::CpuError;
use crate::error::{AssumptionError, Error, Result, TensorError};

/// Checks what the kernel says of all elements of tensors.
pub(super) fn check_promises(ready: &Ready, bound: &Bound<'_>) -> Result<()> {
    for promise in &ready.program.promises {
        let Some(tensor) = bound.tensors.get(promise.tensor.index()) else { continue };
        let broken = match promise.order {
            Order::Distinct => repeated(tensor).map(|found| not_distinct(ready, promise, found)),
            Order::Sorted => falling(tensor).map(|found| not_sorted(ready, promise, found)),
        };
        if let Some(error) = broken {
            return Err(error.into());
        }
    }
    Ok(())
}

fn not_distinct(
    ready: &Ready,
    promise: &Promise,
    (value, first, second): (ScalarValue, Vec<usize>, Vec<usize>),
) -> AssumptionError {
    AssumptionError::Distinct {
        kernel: kernel_name(ready),
        file: ready.file.clone(),
        line: line(ready, promise.span),
        tensor: tensor_name(ready, promise.tensor.index()),
        first,
        second,
        value: value.to_string(),
    }
}

fn not_sorted(
    ready: &Ready,
    promise: &Promise,
    (at, before, value): (usize, ScalarValue, ScalarValue),
) -> AssumptionError {
    AssumptionError::Unsorted {
        kernel: kernel_name(ready),
        file: ready.file.clone(),
        line: line(ready, promise.span),
        tensor: tensor_name(ready, promise.tensor.index()),
        at,
        value: value.to_string(),
        before: before.to_string(),
    }
}

/// Why the CPU device stopped.
pub(super) fn stopped(ready: &Ready, error: CpuError) -> Error {
    match error {
        CpuError::Assumption { kernel, text, span, block, item, values } => {
            let (file, line, place) = (ready.file.clone(), line(ready, span), place(&item, &block));
            AssumptionError::Condition { kernel, file, line, text, place, values }.into()
        }
        CpuError::Shared { kernel, text, span, values, who } => {
            let (file, line) = (ready.file.clone(), line(ready, span));
            let [place, other] = who.map(|who| place(&who.item, &who.block));
            AssumptionError::Shared { kernel, file, line, text, place, values, other }.into()
        }
        CpuError::OutOfMemory { bytes, .. } => {
            let device = "a checked launch on the CPU".to_owned();
            TensorError::OutOfMemory { device, bytes, free_bytes: None }.into()
        }
        other => cpu_error(&ready.label, &other),
    }
}

/// Who it is, in words.
fn place(item: &[String], block: &[String]) -> String {
    let coordinates = [("work-item", item), ("block", block)];
    let place = coordinates.iter().filter(|(_, at)| !at.is_empty());
    let place: Vec<String> =
        place.map(|(what, at)| format!("{what} ({})", at.join(", "))).collect();
    if place.is_empty() { "the block".to_owned() } else { place.join(" of ") }
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

/// The elements of a tensor on the host, in row-major order.
fn elements(tensor: &TensorArgument<'_>) -> Option<impl Iterator<Item = ScalarValue>> {
    let bytes = host_bytes(tensor)?;
    let n_bytes = tensor.dtype.size_bytes() as usize;
    Some((0..tensor.len_elems()).map_while(move |number| {
        let at = tensor.offset_of(&position(tensor.shape, number)) * n_bytes;
        let mut word = [0; 8];
        word[..n_bytes].copy_from_slice(bytes.get(at..at + n_bytes)?);
        Some(ScalarValue { dtype: tensor.dtype, bits: u64::from_le_bytes(word) })
    }))
}

/// A value that stands twice, and where.
fn repeated(tensor: &TensorArgument<'_>) -> Option<(ScalarValue, Vec<usize>, Vec<usize>)> {
    let mut seen = HashMap::with_capacity(tensor.len_elems());
    elements(tensor)?.enumerate().find_map(|(number, value)| {
        let first = seen.insert(value.bits, number)?;
        Some((value, position(tensor.shape, first), position(tensor.shape, number)))
    })
}

/// The index of an element that is less than the one before it, that one, and the element.
fn falling(tensor: &TensorArgument<'_>) -> Option<(usize, ScalarValue, ScalarValue)> {
    let pairs = elements(tensor)?.zip(elements(tensor)?.skip(1));
    let mut numbered = (1..).zip(pairs);
    let found = numbered.find(|(_, (before, value))| number(*value) < number(*before));
    found.map(|(at, (before, value))| (at, before, value))
}

/// What an integer is.
fn number(value: ScalarValue) -> i128 {
    let signed = value.in_type(DType::I64).map(|value| value.bits.cast_signed().into());
    signed.unwrap_or_else(|| value.bits.into())
}
