//! Tensors: arrays of one element type in a device's memory.

use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::device::{Backend, Device};
use crate::element::Element;
use crate::error::{Result, TensorError};

#[cfg(feature = "cuda")]
use crate::cuda::CudaBuffer;

/// An array of `R` axes (1 to 6) in a device's memory, row-major without gaps.
///
/// Made by [`Device::tensor`] and [`Device::zeros`]; [`Tensor::view`] and its relatives
/// give its elements in other shapes and orders ([`crate::View`]). A kernel that takes it by
/// `&mut` reads and writes it. Dropping it frees its memory once the work that
/// was queued before has used it.
///
/// # Units
///
/// Extents are in elements; the last axis is the fastest.
pub struct Tensor<T: Element, const R: usize> {
    device: Device,
    shape: [usize; R],
    place: Place<R>,
    storage: Storage<T>,
}

/// Where a tensor's elements are in its array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<const R: usize> {
    /// The first one.
    pub(crate) offset_elems: usize,
    /// Elements per unit of each axis.
    pub(crate) strides: [usize; R],
    /// Whether they are row-major without gaps from the array's first element on.
    pub(crate) is_whole: bool,
}

impl<const R: usize> Place<R> {
    /// Of an array of its own.
    fn whole(shape: [usize; R]) -> Self {
        Self { offset_elems: 0, strides: row_major(shape), is_whole: true }
    }

    /// The place of the same elements in an array of so many, as all views of them
    /// have it: strides of axes without a second element are 0.
    pub(crate) fn normal(mut self, shape: [usize; R], array_elems: usize) -> Self {
        if shape.contains(&0) {
            self.offset_elems = 0;
        }
        let mut inner = 1;
        let mut in_order = self.offset_elems == 0;
        for (stride, extent) in self.strides.iter_mut().zip(shape).rev() {
            in_order &= extent == 1 || *stride == inner;
            inner *= extent;
            if extent <= 1 {
                *stride = 0;
            }
        }
        self.is_whole = in_order && inner == array_elems;
        self
    }

    /// Whether all elements are in an array of so many.
    fn is_within(&self, shape: [usize; R], array_elems: usize) -> bool {
        let steps = shape.iter().zip(self.strides);
        let last = steps.fold(self.offset_elems, |last, (extent, stride)| {
            last.saturating_add(extent.saturating_sub(1).saturating_mul(stride))
        });
        shape.contains(&0) || last < array_elems
    }
}

/// A tensor to be written.
pub(crate) struct Parts<'a, T> {
    pub(crate) device: &'a Device,
    pub(crate) shape: &'a [usize],
    /// As [`Tensor::unusual_strides`].
    pub(crate) strides: Option<&'a [usize]>,
    pub(crate) offset_elems: usize,
    /// Nothing of what is borrowed to be read, which is never handed out so.
    pub(crate) memory: Option<&'a mut Memory<T>>,
}

/// Whose the array is.
enum Storage<T> {
    Own(Memory<T>),
    /// That of the tensor that a view borrows.
    Of(Borrowed<T>),
}

/// The array of a tensor that is borrowed as long as this lives.
pub(crate) struct Borrowed<T>(NonNull<Memory<T>>);

/// A tensor that has another one's array, which is borrowed to be read as long as this
/// lives; it is handed out by shared reference alone.
pub(crate) struct Alias<'a, T: Element, const R: usize> {
    tensor: Tensor<T, R>,
    borrowed: PhantomData<&'a Tensor<T, R>>,
}

impl<'a, T: Element, const R: usize> Alias<'a, T, R> {
    /// The tensor.
    pub(crate) fn tensor(&self) -> &Tensor<T, R> {
        &self.tensor
    }

    /// Other elements of the same array, for as long; see [`Tensor::alias`].
    pub(crate) fn again<const S: usize>(
        &self,
        shape: [usize; S],
        place: Place<S>,
    ) -> Alias<'a, T, S> {
        // What is borrowed is the array of the first tensor, not this one.
        let Alias { tensor, .. } = self.tensor.alias(shape, place);
        Alias { tensor, borrowed: PhantomData }
    }
}

// SAFETY: it is used as a `&Memory<T>` is, and only so.
unsafe impl<T: Sync> Send for Borrowed<T> {}
// SAFETY: likewise.
unsafe impl<T: Sync> Sync for Borrowed<T> {}

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
        let (place, storage) = (Place::whole(shape), Storage::Own(memory));
        Ok(Self { device: device.clone(), shape, place, storage })
    }

    /// Other elements of the same array, as `place` says.
    ///
    /// # Panics
    ///
    /// Where one of them is outside of the array.
    pub(crate) fn alias<const S: usize>(
        &self,
        shape: [usize; S],
        place: Place<S>,
    ) -> Alias<'_, T, S> {
        assert!(place.is_within(shape, self.array_elems()), "a view leaves its tensor");
        let storage = Storage::Of(Borrowed(NonNull::from(self.memory())));
        let tensor = Tensor { device: self.device.clone(), shape, place, storage };
        Alias { tensor, borrowed: PhantomData }
    }

    /// Other elements of its array in place of those that it has.
    ///
    /// # Panics
    ///
    /// Where one of them is outside of the array.
    pub(crate) fn set_place(&mut self, shape: [usize; R], place: Place<R>) {
        assert!(place.is_within(shape, self.array_elems()), "a view leaves its tensor");
        (self.shape, self.place) = (shape, place);
    }

    /// The tensor with its array; `self` has no elements any more.
    pub(crate) fn lend(&mut self) -> Self {
        let none = Self {
            device: self.device.clone(),
            shape: [0; R],
            place: Place::whole([0; R]),
            storage: Storage::Own(Memory::Host(Vec::new())),
        };
        std::mem::replace(self, none)
    }

    /// Gets back the array that it has lent, and the elements of it that it had. Of
    /// another one, on another device or with another number of elements, nothing.
    pub(crate) fn take_back(&mut self, from: &mut Self, had: ([usize; R], Place<R>), n: usize) {
        let lent = from.lend();
        let (shape, place) = had;
        if lent.device == self.device && lent.array_elems() == n && place.is_within(shape, n) {
            *self = Self { shape, place, ..lent };
        }
    }

    /// Elements per unit of each axis.
    ///
    /// # Units
    ///
    /// In elements; of a tensor that is no view, those of row-major order.
    pub fn strides(&self) -> [usize; R] {
        self.place.strides
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
    /// [`TensorError::Length`] where `shape` has another number of elements,
    /// [`TensorError::View`] where the elements do not lie one after the other.
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
        if !self.place.is_whole {
            let (shape, view) = (self.shape.to_vec(), format!("of shape {shape:?}"));
            let why = "its elements do not lie one after the other".to_owned();
            return Err(TensorError::View { shape, view, why }.into());
        }
        Ok(Tensor { device: self.device, shape, place: Place::whole(shape), storage: self.storage })
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
        let all = self.array_to_vec()?;
        if self.place.is_whole {
            return Ok(all);
        }
        let mut copy = Vec::new();
        reserve(&self.device, &mut copy, self.len())?;
        copy.extend(self.offsets().filter_map(|offset| all.get(offset)));
        Ok(copy)
    }

    /// Where the elements are in the array, in row-major order.
    fn offsets(&self) -> impl Iterator<Item = usize> + use<T, R> {
        let (shape, place) = (self.shape, self.place);
        let mut indices = [0; R];
        (0..self.len()).map(move |_| {
            let steps = indices.iter().zip(place.strides).map(|(at, stride)| at * stride);
            let offset = place.offset_elems + steps.sum::<usize>();
            for (at, extent) in indices.iter_mut().zip(shape).rev() {
                *at = (*at + 1) % extent;
                if *at > 0 {
                    break;
                }
            }
            offset
        })
    }

    /// A copy of the whole array.
    fn array_to_vec(&self) -> Result<Vec<T>> {
        match self.memory() {
            Memory::Host(values) => {
                let mut copy = Vec::new();
                reserve(&self.device, &mut copy, values.len())?;
                copy.extend_from_slice(values);
                Ok(copy)
            }
            #[cfg(feature = "cuda")]
            Memory::Cuda(buffer) => {
                let mut copy = Vec::new();
                let n_elems = buffer.n_bytes() / size_of::<T>();
                reserve(&self.device, &mut copy, n_elems)?;
                copy.resize(n_elems, T::default());
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
        if self.place.is_whole {
            return self.copy_array_from(values);
        }
        let mut all = self.array_to_vec()?;
        for (offset, value) in self.offsets().zip(values) {
            if let Some(element) = all.get_mut(offset) {
                *element = *value;
            }
        }
        self.copy_array_from(&all)
    }

    /// Replaces the whole array.
    fn copy_array_from(&mut self, values: &[T]) -> Result<()> {
        match &mut self.storage {
            Storage::Own(Memory::Host(own)) => own.copy_from_slice(values),
            #[cfg(feature = "cuda")]
            Storage::Own(Memory::Cuda(buffer)) => buffer.copy_from(element_bytes(values))?,
            // What is borrowed is not handed out to be written.
            Storage::Of(_) => {}
        }
        Ok(())
    }

    pub(crate) fn extents(&self) -> &[usize] {
        &self.shape
    }

    /// The array that holds the elements; of a view, others too.
    pub(crate) fn memory(&self) -> &Memory<T> {
        match &self.storage {
            Storage::Own(memory) => memory,
            // SAFETY: the tensor that owns it is borrowed as long as the `Alias` lives
            // that has this one and lends it by shared reference alone, so that the
            // array neither moves nor is written meanwhile.
            Storage::Of(Borrowed(memory)) => unsafe { memory.as_ref() },
        }
    }

    /// Where the elements are in the array.
    pub(crate) fn place(&self) -> &Place<R> {
        &self.place
    }

    /// The strides, where the elements do not lie as those of a tensor of its own.
    pub(crate) fn unusual_strides(&self) -> Option<&[usize]> {
        (!self.place.is_whole).then_some(self.place.strides.as_slice())
    }

    /// Where the first element is in the array.
    pub(crate) fn offset_elems(&self) -> usize {
        self.place.offset_elems
    }

    /// Number of elements of the array.
    pub(crate) fn array_elems(&self) -> usize {
        match self.memory() {
            Memory::Host(values) => values.len(),
            #[cfg(feature = "cuda")]
            Memory::Cuda(buffer) => buffer.n_bytes() / size_of::<T>(),
        }
    }

    /// What a launch that writes the tensor needs of it.
    pub(crate) fn parts_mut(&mut self) -> Parts<'_, T> {
        Parts {
            device: &self.device,
            shape: &self.shape,
            strides: (!self.place.is_whole).then_some(self.place.strides.as_slice()),
            offset_elems: self.place.offset_elems,
            memory: match &mut self.storage {
                Storage::Own(memory) => Some(memory),
                Storage::Of(_) => None,
            },
        }
    }
}

impl<T: Element, const R: usize> fmt::Debug for Tensor<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor<{}, {R}> {:?} on {}", T::DTYPE, self.shape, self.device)
    }
}

/// Strides of row-major order without gaps.
pub(crate) fn row_major<const R: usize>(shape: [usize; R]) -> [usize; R] {
    let mut strides = [1_usize; R];
    for axis in (1..R).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    strides
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
