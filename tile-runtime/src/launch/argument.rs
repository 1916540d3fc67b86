//! The arguments of a launch, without their Rust types.

use std::marker::PhantomData;

use tile_ir::dtype::DType;
use tile_ir::lower::{StrideFact, TensorLayout, known_divisor};
use tile_ir::program::MAX_ACCESS_BYTES;
use tile_ir::syntax::TensorSpace;
use tile_ir::value::ScalarValue;

use crate::constant::Constant;
use crate::device::Device;
use crate::element::Element;
use crate::tensor::{Memory, Parts, Tensor};

#[cfg(feature = "cuda")]
use crate::cuda::{CudaBuffer, ParameterBlock};

/// One argument of a launch, in the order of the kernel's signature.
#[derive(Debug)]
pub struct Argument<'a> {
    pub(super) kind: ArgumentKind<'a>,
}

/// What an argument is.
#[derive(Debug)]
pub(super) enum ArgumentKind<'a> {
    Tensor(TensorArgument<'a>),
    Scalar(ScalarValue),
}

/// A borrowed tensor.
#[derive(Debug)]
pub(crate) struct TensorArgument<'a> {
    pub(crate) device: &'a Device,
    pub(crate) shape: &'a [usize],
    /// Elements per unit of each axis; none where the elements are row-major without
    /// gaps and the first one is aligned as vector accesses need it.
    pub(crate) strides: Option<&'a [usize]>,
    /// Where the first element is in the array, in elements.
    pub(crate) offset_elems: usize,
    pub(crate) dtype: DType,
    /// Whether it is a tensor or a constant.
    pub(crate) space: TensorSpace,
    /// The elements of a constant that a launch can carry.
    #[cfg(feature = "cuda")]
    pub(crate) parameters: Option<&'a ParameterBlock>,
    /// Whether it was borrowed mutably.
    pub(crate) mutable: bool,
    pub(crate) memory: ArgumentMemory<'a>,
}

/// The memory of a borrowed tensor.
#[derive(Debug)]
pub(crate) enum ArgumentMemory<'a> {
    /// First element in the host's memory; made from `&'a` or `&'a mut` of the
    /// whole, as [`TensorArgument::mutable`] says.
    Host(*mut u8, PhantomData<&'a mut [u8]>),
    /// In a CUDA device's memory.
    #[cfg(feature = "cuda")]
    Cuda(&'a CudaBuffer),
}

impl<'a> Argument<'a> {
    /// A tensor that the kernel reads.
    pub fn input<T: Element, const R: usize>(tensor: &'a Tensor<T, R>) -> Self {
        Self { kind: ArgumentKind::Tensor(TensorArgument::read_only(tensor)) }
    }

    /// A constant.
    pub fn constant<T: Element, const R: usize>(constant: &'a Constant<T, R>) -> Self {
        Self {
            kind: ArgumentKind::Tensor(TensorArgument {
                space: TensorSpace::Constant,
                #[cfg(feature = "cuda")]
                parameters: constant.parameters(),
                ..TensorArgument::read_only(constant.tensor())
            }),
        }
    }

    /// A tensor that the kernel reads and writes.
    pub fn output<T: Element, const R: usize>(tensor: &'a mut Tensor<T, R>) -> Self {
        let Parts { device, shape, strides, offset_elems, memory } = tensor.parts_mut();
        let mutable = memory.is_some();
        let memory = match memory {
            Some(Memory::Host(values)) => {
                let from = values.get_mut(offset_elems..).unwrap_or_default();
                ArgumentMemory::Host(from.as_mut_ptr().cast(), PhantomData)
            }
            #[cfg(feature = "cuda")]
            Some(Memory::Cuda(buffer)) => ArgumentMemory::Cuda(buffer),
            // A launch refuses what is not `mutable`, and uses no memory.
            None => ArgumentMemory::Host(std::ptr::null_mut(), PhantomData),
        };
        Self {
            kind: ArgumentKind::Tensor(TensorArgument {
                device,
                shape,
                strides,
                offset_elems,
                dtype: T::DTYPE,
                space: TensorSpace::Global,
                #[cfg(feature = "cuda")]
                parameters: None,
                mutable,
                memory,
            }),
        }
    }

    /// The tensor, if it is one.
    pub(super) fn tensor(&self) -> Option<&TensorArgument<'a>> {
        match &self.kind {
            ArgumentKind::Tensor(tensor) => Some(tensor),
            ArgumentKind::Scalar(_) => None,
        }
    }

    /// A scalar.
    pub fn scalar<T: Element>(value: T) -> Self {
        Self { kind: ArgumentKind::Scalar(value.to_scalar()) }
    }
}

impl<'a> TensorArgument<'a> {
    fn read_only<T: Element, const R: usize>(tensor: &'a Tensor<T, R>) -> Self {
        Self {
            device: tensor.device(),
            shape: tensor.extents(),
            strides: tensor.unusual_strides(),
            offset_elems: tensor.offset_elems(),
            dtype: T::DTYPE,
            space: TensorSpace::Global,
            #[cfg(feature = "cuda")]
            parameters: None,
            mutable: false,
            memory: match tensor.memory() {
                Memory::Host(values) => {
                    let from = values.get(tensor.offset_elems()..).unwrap_or_default();
                    ArgumentMemory::Host(from.as_ptr().cast_mut().cast(), PhantomData)
                }
                #[cfg(feature = "cuda")]
                Memory::Cuda(buffer) => ArgumentMemory::Cuda(buffer),
            },
        }
    }

    /// The same tensor, to be read only.
    pub(super) fn again(&self) -> TensorArgument<'_> {
        let memory = match self.memory {
            ArgumentMemory::Host(ptr, _) => ArgumentMemory::Host(ptr, PhantomData),
            #[cfg(feature = "cuda")]
            ArgumentMemory::Cuda(buffer) => ArgumentMemory::Cuda(buffer),
        };
        TensorArgument { mutable: false, memory, ..*self }
    }

    /// Size in bytes.
    pub(super) fn n_bytes(&self) -> usize {
        self.len_elems() * self.dtype.size_bytes() as usize
    }

    /// Number of elements.
    pub(crate) fn len_elems(&self) -> usize {
        self.shape.iter().product()
    }

    /// Elements of the array from the tensor's first one to its last, both included.
    pub(crate) fn span_elems(&self) -> usize {
        if self.shape.contains(&0) {
            return 0;
        }
        let last: Vec<usize> = self.shape.iter().map(|extent| extent - 1).collect();
        if self.strides.is_some() { self.offset_of(&last) + 1 } else { self.len_elems() }
    }

    /// The distance of an element from the first one, in elements.
    pub(crate) fn offset_of(&self, indices: &[usize]) -> usize {
        match self.strides {
            Some(strides) => indices.iter().zip(strides).map(|(at, stride)| at * stride).sum(),
            None => indices.iter().zip(self.shape).fold(0, |sum, (at, n)| sum * n + at),
        }
    }

    /// How the elements lie.
    pub(crate) fn layout(&self) -> TensorLayout {
        let Some(strides) = self.strides else { return TensorLayout::RowMajor };
        let offset_bytes = self.offset_elems * self.dtype.size_bytes() as usize;
        let is_aligned = offset_bytes.is_multiple_of(MAX_ACCESS_BYTES as usize);
        let facts = strides.iter().map(|&stride| match stride {
            0 => StrideFact::Zero,
            1 if is_aligned => StrideFact::One,
            _ if !is_aligned => StrideFact::Any { divisor: 1 },
            stride => StrideFact::Any { divisor: known_divisor(stride as u64) },
        });
        TensorLayout::Strided(facts.collect())
    }
}
