//! Constants: small arrays that never change once they are made.

use std::fmt;

use tile_ir::syntax::TensorSpace;

use crate::device::Device;
use crate::element::Element;
use crate::error::{Result, TensorError};
use crate::tensor::{Fill, Tensor};

#[cfg(feature = "cuda")]
use crate::cuda::ParameterBlock;

/// An array of `R` axes (1 to 6) for kernels to read, row-major without gaps: what
/// a parameter `&Constant<T, [..]>` takes.
///
/// Made by [`Device::constant`], and never written: a filter, a table. Any number
/// of launches, on any streams, may use it at once. The constants of one launch
/// take at most [`Constant::MAX_BYTES`] together.
///
/// # Units
///
/// Extents are in elements; the last axis is the fastest.
pub struct Constant<T: Element, const R: usize> {
    tensor: Tensor<T, R>,
    /// The elements as parameters of a launch, where they are few enough.
    #[cfg(feature = "cuda")]
    parameters: Option<Box<ParameterBlock>>,
}

impl<T: Element, const R: usize> Constant<T, R> {
    /// Bytes that the constants of one launch may take together.
    pub const MAX_BYTES: usize = TensorSpace::CONSTANT_BYTES as usize;

    pub(crate) fn new(device: &Device, shape: [usize; R], values: &[T]) -> Result<Self> {
        let bytes = size_of_val(values);
        let tensor = Tensor::new(device, shape, Fill::Copy(values))?;
        if bytes > Self::MAX_BYTES {
            let (shape, limit) = (shape.to_vec(), Self::MAX_BYTES);
            let dtype = T::DTYPE.name();
            return Err(TensorError::ConstantTooLarge { shape, dtype, bytes, limit }.into());
        }
        Ok(Self {
            tensor,
            #[cfg(feature = "cuda")]
            parameters: match device.is_cpu() {
                true => None,
                false => ParameterBlock::holding(values),
            },
        })
    }

    /// Extent of each axis, in elements.
    pub fn shape(&self) -> [usize; R] {
        self.tensor.shape()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.tensor.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.tensor.is_empty()
    }

    /// The device that it was made for.
    pub fn device(&self) -> &Device {
        self.tensor.device()
    }

    /// A copy of the elements, in row-major order.
    ///
    /// # Errors
    ///
    /// A [`crate::DeviceFault`] where a kernel that was queued before has failed.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.tensor.to_vec()
    }

    /// The elements in global memory.
    pub(crate) fn tensor(&self) -> &Tensor<T, R> {
        &self.tensor
    }

    #[cfg(feature = "cuda")]
    pub(crate) fn parameters(&self) -> Option<&ParameterBlock> {
        self.parameters.as_deref()
    }
}

impl<T: Element, const R: usize> fmt::Debug for Constant<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, device) = (self.shape(), self.device());
        write!(f, "Constant<{}, {R}> {shape:?} on {device}", T::DTYPE)
    }
}
