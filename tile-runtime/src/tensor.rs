//! Tensors: arrays of one element type in a device's memory.

use std::fmt;

use crate::device::{Backend, Device};
use crate::element::Element;
use crate::error::{Result, TensorError};

#[cfg(feature = "cuda")]
use crate::cuda::CudaBuffer;

/// An array of `R` axes (1 to 6) in a device's memory, row-major without gaps.
///
/// Made by [`Device::tensor`] and [`Device::zeros`]. A kernel that takes it by
/// `&mut` reads and writes it. Dropping it frees its memory once the work that
/// was queued before has used it.
///
/// # Units
///
/// Extents are in elements; the last axis is the fastest.
pub struct Tensor<T: Element, const R: usize> {
    device: Device,
    shape: [usize; R],
    memory: Memory<T>,
}

/// Where the elements are.
pub(crate) enum Memory<T> {
    /// In the host's memory: of the CPU device.
    Host(Vec<T>),
    /// In a CUDA device's memory.
    #[cfg(feature = "cuda")]
    Cuda(CudaBuffer),
}

/// What a new tensor holds.
pub(crate) enum Fill<'a, T> {
    /// Zeros (`false`).
    Zeros,
    /// A copy of these elements, in row-major order.
    Copy(&'a [T]),
}

impl<T: Element, const R: usize> Tensor<T, R> {
    pub(crate) fn new(device: &Device, shape: [usize; R], fill: Fill<'_, T>) -> Result<Self> {
        const { assert!(R >= 1 && R <= 6, "a tensor has 1 to 6 axes") };
        let n_elems = count_elems::<T>(&shape)?;
        if let Fill::Copy(values) = &fill {
            check_length(&shape, n_elems, values.len())?;
        }
        let memory = match device.backend() {
            Backend::Cpu => Memory::Host(host_memory(device, n_elems, &fill)?),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => Memory::Cuda(match fill {
                Fill::Zeros => cuda.zeros(n_elems * size_of::<T>())?,
                Fill::Copy(values) => cuda.upload(element_bytes(values))?,
            }),
        };
        Ok(Self { device: device.clone(), shape, memory })
    }

    /// Extent of each axis, in elements.
    pub fn shape(&self) -> [usize; R] {
        self.shape
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same elements, row-major, in another shape.
    ///
    /// # Errors
    ///
    /// [`TensorError::Length`] where `shape` has another number of elements.
    ///
    /// # Examples
    ///
    /// ```
    /// use tile_runtime::{Device, Tensor};
    ///
    /// let a: Tensor<i32, 1> = Device::cpu().zeros([6])?;
    /// assert_eq!(a.into_shape([2, 3])?.shape(), [2, 3]);
    /// # Ok::<(), tile_runtime::Error>(())
    /// ```
    pub fn into_shape<const S: usize>(self, shape: [usize; S]) -> Result<Tensor<T, S>> {
        const { assert!(S >= 1 && S <= 6, "a tensor has 1 to 6 axes") };
        check_length(&shape, count_elems::<T>(&shape)?, self.len())?;
        Ok(Tensor { device: self.device, shape, memory: self.memory })
    }

    /// The device whose memory it is in.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// A copy of the elements, in row-major order. Waits for the work that was
    /// queued on this tensor before.
    ///
    /// # Errors
    ///
    /// A [`crate::DeviceFault`] where a kernel that was queued before has failed.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        match &self.memory {
            Memory::Host(values) => {
                let mut copy = Vec::new();
                reserve(&self.device, &mut copy, values.len())?;
                copy.extend_from_slice(values);
                Ok(copy)
            }
            #[cfg(feature = "cuda")]
            Memory::Cuda(buffer) => {
                let mut copy = Vec::new();
                reserve(&self.device, &mut copy, self.len())?;
                copy.resize(self.len(), T::default());
                buffer.download_elements(&mut copy)?;
                Ok(copy)
            }
        }
    }

    /// Replaces all elements by `values`, in row-major order, after the work
    /// that was queued on this tensor before. When it returns, `values` may be
    /// reused.
    ///
    /// # Errors
    ///
    /// [`TensorError::Length`] where `values` has another number of elements.
    pub fn copy_from(&mut self, values: &[T]) -> Result<()> {
        check_length(&self.shape, self.len(), values.len())?;
        match &mut self.memory {
            Memory::Host(own) => own.copy_from_slice(values),
            #[cfg(feature = "cuda")]
            Memory::Cuda(buffer) => buffer.copy_from(element_bytes(values))?,
        }
        Ok(())
    }

    pub(crate) fn extents(&self) -> &[usize] {
        &self.shape
    }

    pub(crate) fn memory(&self) -> &Memory<T> {
        &self.memory
    }

    /// Device, shape and memory, the last for writing.
    pub(crate) fn parts_mut(&mut self) -> (&Device, &[usize], &mut Memory<T>) {
        (&self.device, &self.shape, &mut self.memory)
    }
}

impl<T: Element, const R: usize> fmt::Debug for Tensor<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor<{}, {R}> {:?} on {}", T::DTYPE, self.shape, self.device)
    }
}

/// Elements of a shape, where their bytes can be addressed.
fn count_elems<T: Element>(shape: &[usize]) -> Result<usize, TensorError> {
    // An extent of 0 makes the tensor empty whatever the others are.
    let n_elems = if shape.contains(&0) {
        Some(0)
    } else {
        shape.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent))
    };
    n_elems
        .filter(|n_elems| {
            let n_bytes = n_elems.checked_mul(size_of::<T>());
            n_bytes.is_some_and(|n_bytes| isize::try_from(n_bytes).is_ok())
        })
        .ok_or_else(|| TensorError::TooLarge { shape: shape.to_vec(), dtype: T::DTYPE.name() })
}

fn check_length(shape: &[usize], expected: usize, found: usize) -> Result<(), TensorError> {
    if expected == found {
        return Ok(());
    }
    Err(TensorError::Length { shape: shape.to_vec(), expected, found })
}

fn host_memory<T: Element>(device: &Device, n_elems: usize, fill: &Fill<'_, T>) -> Result<Vec<T>> {
    let mut values = Vec::new();
    reserve(device, &mut values, n_elems)?;
    match fill {
        Fill::Zeros => values.resize(n_elems, T::default()),
        Fill::Copy(elements) => values.extend_from_slice(elements),
    }
    Ok(values)
}

fn reserve<T>(device: &Device, values: &mut Vec<T>, n_elems: usize) -> Result<(), TensorError> {
    values.try_reserve_exact(n_elems).map_err(|_| TensorError::OutOfMemory {
        device: device.to_string(),
        bytes: n_elems * size_of::<T>(),
        free_bytes: None,
    })
}

/// The bytes of elements.
#[cfg(feature = "cuda")]
pub(crate) fn element_bytes<T: Element>(values: &[T]) -> &[u8] {
    // SAFETY: `Element` is sealed; its types are primitive numbers, `bool` and
    // 16-bit floats, none of which has padding, so all bytes are initialised;
    // the slice covers exactly the elements and borrows them.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}
