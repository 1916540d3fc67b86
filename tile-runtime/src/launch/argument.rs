//! The arguments of a launch, without their Rust types.

use std::marker::PhantomData;

use tile_ir::dtype::DType;
use tile_ir::syntax::TensorSpace;
use tile_ir::value::ScalarValue;

use crate::constant::Constant;
use crate::device::Device;
use crate::element::Element;
use crate::tensor::{Memory, Tensor};

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
        let (device, shape, memory) = tensor.parts_mut();
        let memory = match memory {
            Memory::Host(values) => ArgumentMemory::Host(values.as_mut_ptr().cast(), PhantomData),
            #[cfg(feature = "cuda")]
            Memory::Cuda(buffer) => ArgumentMemory::Cuda(buffer),
        };
        Self {
            kind: ArgumentKind::Tensor(TensorArgument {
                device,
                shape,
                dtype: T::DTYPE,
                space: TensorSpace::Global,
                #[cfg(feature = "cuda")]
                parameters: None,
                mutable: true,
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
            dtype: T::DTYPE,
            space: TensorSpace::Global,
            #[cfg(feature = "cuda")]
            parameters: None,
            mutable: false,
            memory: match tensor.memory() {
                Memory::Host(values) => {
                    ArgumentMemory::Host(values.as_ptr().cast_mut().cast(), PhantomData)
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
}
