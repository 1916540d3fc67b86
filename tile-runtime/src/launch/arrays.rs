//! Tensors without Rust types in a device's memory, and a launch on them.

use tile_ir::config::Config;
use tile_ir::dtype::DType;
use tile_ir::kernel::TensorParam;
use tile_ir::value::ScalarValue;

#[cfg(feature = "cuda")]
use tile_ir::syntax::TensorSpace;

use super::argument::TensorArgument;
use super::bind::{Bound, Dims, binding_of_elems};
use super::is_empty_grid;
use super::program::HostTensor;
use super::ready::{Executables, make_ready};
use super::run::run_on_cpu;
use super::scratch::Scratch;
use crate::device::Device;
use crate::error::Result;
use crate::kernel::Kernel;

#[cfg(feature = "cuda")]
use super::run_cuda::run_on_cuda;
#[cfg(feature = "cuda")]
use crate::cuda::ParameterBlock;
#[cfg(feature = "cuda")]
use crate::error::Error;

/// A kernel's tensors, in the order of its table.
pub(super) struct Arrays<'a> {
    device: &'a Device,
    arrays: Vec<Array<'a>>,
}

struct Array<'a> {
    declared: &'a TensorParam,
    dtype: DType,
    shape: Vec<usize>,
    memory: Scratch,
    #[cfg(feature = "cuda")]
    parameters: Option<Box<ParameterBlock>>,
}

impl<'a> Arrays<'a> {
    pub(super) fn new(device: &'a Device) -> Self {
        Self { device, arrays: Vec::new() }
    }

    /// Adds the next tensor: its elements, row-major, in the machine's byte order.
    pub(super) fn push(
        &mut self,
        declared: &'a TensorParam,
        dtype: DType,
        shape: Vec<usize>,
        bytes: &[u8],
    ) -> Result<()> {
        let memory = Scratch::of_bytes(bytes, self.device)?;
        #[cfg(feature = "cuda")]
        let parameters = match declared.space {
            TensorSpace::Global => None,
            TensorSpace::Constant => ParameterBlock::holding(bytes),
        };
        self.arrays.push(Array {
            declared,
            dtype,
            shape,
            memory,
            #[cfg(feature = "cuda")]
            parameters,
        });
        Ok(())
    }

    /// The tensors as a launch's arguments.
    pub(super) fn arguments(&mut self) -> Vec<TensorArgument<'_>> {
        let device = self.device;
        let arguments = self.arrays.iter_mut().map(|array| TensorArgument {
            device,
            shape: &array.shape,
            dtype: array.dtype,
            space: array.declared.space,
            #[cfg(feature = "cuda")]
            parameters: array.parameters.as_deref(),
            mutable: array.declared.mutable,
            memory: array.memory.argument(),
        });
        arguments.collect()
    }

    /// The elements of the tensor of this number, after all work on it.
    fn host_tensor(&self, number: usize) -> Result<HostTensor> {
        let array = &self.arrays[number];
        let n_elems: usize = array.shape.iter().product();
        let bytes = array.memory.bytes(n_elems * array.dtype.size_bytes() as usize)?;
        Ok(HostTensor::new(array.dtype, &array.shape, &bytes))
    }
}

/// Runs a kernel once on `device`, in this configuration: `dims` in the order of
/// [`Kernel::dims`], tensors and scalars in the order of their tables. The tensors
/// that it may write hold afterwards what it has written.
///
/// # Errors
///
/// Where the configuration is none of the kernel on the device, or the launch fails.
///
/// # Panics
///
/// Where tensors or scalars are other ones than the kernel declares.
pub fn run_config(
    kernel: &Kernel,
    config: &Config,
    device: &Device,
    dims: &[usize],
    tensors: &mut [HostTensor],
    scalars: &[ScalarValue],
) -> Result<()> {
    let (checked, types) = (kernel.checked(), kernel.types());
    let ir = checked.kernel();
    assert_eq!(tensors.len(), ir.tensors.len(), "the tensors of `{}`", kernel.name());
    assert_eq!(scalars.len(), ir.scalars.len(), "the scalars of `{}`", kernel.name());
    let mut arrays = Arrays::new(device);
    for (tensor, declared) in tensors.iter().zip(ir.tensors.values()) {
        arrays.push(declared, tensor.dtype(), tensor.shape().to_vec(), &tensor.bytes())?;
    }
    let arguments = arrays.arguments();
    let bound = Bound {
        tensors: arguments.iter().collect(),
        scalars: scalars.to_vec(),
        dims: Dims::of_values(ir, dims),
    };
    let most = bound.tensors.iter().map(|tensor| tensor.len_elems() as u128).max();
    let binding = binding_of_elems(types, &bound.dims, most.unwrap_or(0));
    let ready = make_ready(checked, kernel.file(), device, &binding, config)?;
    if !is_empty_grid(ir, &bound, config) {
        match &ready.kernels {
            Executables::Host(compiled) => run_on_cpu(&ready, compiled, &bound, device)?,
            #[cfg(feature = "cuda")]
            Executables::Cuda(loaded) => {
                let queue = device.default_queue();
                let queue = queue.ok_or_else(|| Error::internal("a device has no queue", ""))?;
                run_on_cuda(&ready, loaded, &bound, device, queue)?;
            }
        }
        device.synchronize()?;
    }
    for (number, declared) in ir.tensors.values().enumerate() {
        if declared.mutable {
            tensors[number] = arrays.host_tensor(number)?;
        }
    }
    Ok(())
}
