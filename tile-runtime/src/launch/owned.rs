//! The arguments of a launch that nobody else has: made up, or copies of a user's.

use tile_ir::dtype::DType;
use tile_ir::kernel::TensorParam;
use tile_ir::syntax::TensorSpace;
use tile_ir::value::ScalarValue;

use super::argument::TensorArgument;
use super::bind::{Bound, Dims};
use super::scratch::{Copier, Scratch};
use crate::device::{Backend, Device};
use crate::error::Result;

#[cfg(feature = "cuda")]
use crate::cuda::ParameterBlock;

/// A tensor.
#[derive(Debug)]
pub(super) struct OwnedTensor {
    pub(super) shape: Vec<usize>,
    pub(super) dtype: DType,
    pub(super) space: TensorSpace,
    pub(super) mutable: bool,
    pub(super) memory: Scratch,
    /// Of a constant, the elements that a launch can carry.
    #[cfg(feature = "cuda")]
    pub(super) parameters: Option<Box<ParameterBlock>>,
}

impl OwnedTensor {
    /// A tensor of a kernel with these elements, row-major, in the machine's byte order.
    ///
    /// # Errors
    ///
    /// Where the device has no memory for it.
    pub(super) fn holding(
        declared: &TensorParam,
        dtype: DType,
        shape: Vec<usize>,
        bytes: &[u8],
        device: &Device,
    ) -> Result<Self> {
        #[cfg(feature = "cuda")]
        let parameters = match declared.space {
            TensorSpace::Global => None,
            TensorSpace::Constant => ParameterBlock::holding(bytes),
        };
        Ok(Self {
            shape,
            dtype,
            space: declared.space,
            mutable: declared.mutable,
            memory: Scratch::of_bytes(bytes, device)?,
            #[cfg(feature = "cuda")]
            parameters,
        })
    }
}

/// Tensors and scalars by the ids of a kernel's parameters.
#[derive(Debug)]
pub(super) struct OwnedLaunch {
    pub(super) tensors: Vec<OwnedTensor>,
    pub(super) scalars: Vec<ScalarValue>,
    pub(super) dims: Dims,
}

impl OwnedLaunch {
    /// Copies a launch's tensors as they are when it would run.
    ///
    /// # Errors
    ///
    /// Where the device has no memory for them.
    pub(super) fn copy_of(bound: &Bound<'_>, device: &Device) -> Result<Self> {
        let copier = match device.backend() {
            Backend::Cpu => Copier::Host,
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => Copier::Cuda(cuda.bench()?),
        };
        let tensors = bound.tensors.iter().map(|tensor| {
            Ok(OwnedTensor {
                shape: tensor.shape.to_vec(),
                dtype: tensor.dtype,
                space: tensor.space,
                mutable: tensor.mutable,
                memory: Scratch::copy_of(tensor, &copier)?,
                #[cfg(feature = "cuda")]
                parameters: tensor.parameters.map(|block| Box::new(block.clone())),
            })
        });
        let tensors = tensors.collect::<Result<_>>()?;
        Ok(Self { tensors, scalars: bound.scalars.clone(), dims: bound.dims.clone() })
    }

    /// Does something with the arguments as a launch on `device` has them.
    pub(super) fn with_bound<R>(
        &mut self,
        device: &Device,
        body: impl FnOnce(&Bound<'_>) -> R,
    ) -> R {
        let arguments: Vec<TensorArgument<'_>> = self
            .tensors
            .iter_mut()
            .map(|tensor| TensorArgument {
                device,
                shape: &tensor.shape,
                strides: None,
                offset_elems: 0,
                dtype: tensor.dtype,
                space: tensor.space,
                #[cfg(feature = "cuda")]
                parameters: tensor.parameters.as_deref(),
                mutable: tensor.mutable,
                memory: tensor.memory.argument(),
            })
            .collect();
        body(&Bound {
            tensors: arguments.iter().collect(),
            scalars: self.scalars.clone(),
            dims: self.dims.clone(),
        })
    }
}
