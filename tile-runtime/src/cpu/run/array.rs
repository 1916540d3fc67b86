//! Arrays bound to memory.

use tile_ir::program::Swizzle;

use crate::cpu::code::{ArrayPlace, CompiledKernel, MAX_AXES};
use crate::cpu::{CpuBuffer, CpuError};

/// An array at its place in memory.
///
/// Every element that indices within the extents name lies inside its memory.
#[derive(Clone, Debug)]
pub(super) struct ArrayView {
    /// Its first element.
    pub(super) ptr: *mut u8,
    /// Number of axes, the choice among buffers included.
    pub(super) n_axes: usize,
    /// Extents.
    pub(super) extents: [i64; MAX_AXES],
    /// Strides in elements.
    pub(super) strides: [i64; MAX_AXES],
    /// Applied to the offset within one buffer of a tile.
    pub(super) swizzle: Option<Swizzle>,
}

impl ArrayView {
    /// Elements that its indices name, where that is a number.
    pub(super) fn n_elems(&self) -> Option<usize> {
        let extents = &self.extents[..self.n_axes];
        extents
            .iter()
            .try_fold(1usize, |product, &extent| product.checked_mul(usize::try_from(extent).ok()?))
    }

    /// One more than the last offset that its indices name, in elements.
    pub(super) fn reach(&self) -> usize {
        let extents = &self.extents[..self.n_axes];
        if extents.iter().any(|&extent| extent <= 0) {
            return 0;
        }
        let last = extents.iter().zip(&self.strides).map(|(extent, stride)| (extent - 1) * stride);
        // Within memory; a swizzle changes bits below the next power of two.
        let last = last.sum::<i64>().unsigned_abs() as usize;
        if self.swizzle.is_some() { (last + 1).next_power_of_two() } else { last + 1 }
    }
}

/// The launch's buffers as arrays, in order.
///
/// # Errors
///
/// Where a buffer is not what the program declares, or smaller than its shape.
pub(super) fn bind_buffers(
    kernel: &CompiledKernel,
    buffers: &[CpuBuffer],
    uniforms: &[u64],
) -> Result<Vec<ArrayView>, CpuError> {
    if buffers.len() != kernel.n_buffers {
        return Err(CpuError::WrongCount {
            kernel: kernel.name.clone(),
            what: "buffers",
            expected: kernel.n_buffers,
            given: buffers.len(),
        });
    }
    let mut views = Vec::new();
    for (array, buffer) in kernel.arrays.iter().zip(buffers) {
        let fault = |rule: String| CpuError::WrongBuffer {
            kernel: kernel.name.clone(),
            buffer: array.name.clone(),
            rule,
        };
        let ArrayPlace::Buffer { extents, strides, written, .. } = &array.place else { continue };
        if buffer.dtype() != array.dtype {
            let (given, declared) = (buffer.dtype(), array.dtype);
            return Err(fault(format!("its elements are {given}, {declared} is declared")));
        }
        if *written && !buffer.is_writable() {
            return Err(fault("the kernel writes it, and it may not be written".into()));
        }
        let value = |register: &u32| uniforms[*register as usize].cast_signed();
        let view = ArrayView {
            ptr: buffer.ptr(),
            n_axes: extents.len(),
            extents: padded(extents.iter().map(value)),
            strides: padded(strides.iter().map(value)),
            swizzle: None,
        };
        check_reach(&view, buffer.len_elems()).map_err(fault)?;
        let alignment = array.dtype.size_bytes() as usize;
        if !buffer.ptr().addr().is_multiple_of(alignment) {
            return Err(fault(format!("it is not aligned to {alignment} bytes")));
        }
        views.push(view);
    }
    Ok(views)
}

/// The tiles as arrays, within a worker's tile memory.
pub(super) fn bind_tiles(kernel: &CompiledKernel, tiles: *mut u8) -> Vec<ArrayView> {
    let mut views = Vec::new();
    for array in &kernel.arrays {
        let ArrayPlace::Tile { offset_bytes, extents, strides, swizzle, .. } = &array.place else {
            continue;
        };
        views.push(ArrayView {
            ptr: tiles.wrapping_add(*offset_bytes),
            n_axes: extents.len(),
            extents: padded(extents.iter().copied()),
            strides: padded(strides.iter().copied()),
            swizzle: *swizzle,
        });
    }
    views
}

fn padded(values: impl Iterator<Item = i64>) -> [i64; MAX_AXES] {
    let mut array = [0; MAX_AXES];
    for (slot, value) in array.iter_mut().zip(values) {
        *slot = value;
    }
    array
}

/// Checks that every element of a shape lies among `len_elems` elements.
fn check_reach(view: &ArrayView, len_elems: usize) -> Result<(), String> {
    let extents = &view.extents[..view.n_axes];
    if let Some(extent) = extents.iter().find(|&&extent| extent < 0) {
        return Err(format!("an extent is {extent}"));
    }
    if extents.contains(&0) {
        return Ok(());
    }
    let (mut lowest, mut highest) = (0i128, 0i128);
    for (&extent, &stride) in extents.iter().zip(&view.strides) {
        let reach = (i128::from(extent) - 1) * i128::from(stride);
        lowest += reach.min(0);
        highest += reach.max(0);
    }
    // A sum of offsets is then within 64 bits, too, since no element is empty.
    if lowest < 0 || highest >= len_elems as i128 {
        return Err(format!(
            "its shape reaches elements {lowest} to {highest}, it has {len_elems}"
        ));
    }
    Ok(())
}
