//! Runs a kernel in one configuration on a device, on memory without Rust types: how
//! devices are compared in configurations that no launch would choose.

use tile_ir::config::Config;
use tile_ir::value::ScalarValue;

use super::bind::{Dims, binding_of_elems};
use super::is_empty_grid;
use super::owned::{OwnedLaunch, OwnedTensor};
use super::program::HostTensor;
use super::ready::{Executables, make_ready};
use super::run::run_on_cpu;
use crate::device::Device;
use crate::error::Result;
use crate::kernel::Kernel;

#[cfg(feature = "cuda")]
use super::run_cuda::run_on_cuda;
#[cfg(feature = "cuda")]
use crate::error::Error;

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
    let owned = tensors.iter().zip(ir.tensors.values()).map(|(tensor, declared)| {
        let shape = tensor.shape().to_vec();
        OwnedTensor::holding(declared, tensor.dtype(), shape, &tensor.bytes(), device)
    });
    let owned = owned.collect::<Result<_>>()?;
    let dims = Dims::of_values(ir, dims);
    let mut launch = OwnedLaunch { tensors: owned, scalars: scalars.to_vec(), dims };
    launch.with_bound(device, |bound| {
        let most = bound.tensors.iter().map(|tensor| tensor.len_elems() as u128).max();
        let binding = binding_of_elems(types, &bound.dims, most.unwrap_or(0), Vec::new());
        let ready = make_ready(checked, kernel.file(), device, &binding, config)?;
        if is_empty_grid(ir, bound, config) {
            return Ok(());
        }
        match &ready.kernels {
            Executables::Host(compiled) => drop(run_on_cpu(&ready, compiled, bound, device)?),
            #[cfg(feature = "cuda")]
            Executables::Cuda(loaded) => {
                let queue = device.default_queue();
                let queue = queue.ok_or_else(|| Error::internal("a device has no queue", ""))?;
                run_on_cuda(&ready, loaded, bound, device, queue)?;
            }
        }
        device.synchronize()
    })?;
    for (tensor, owned) in tensors.iter_mut().zip(&launch.tensors) {
        if owned.mutable {
            let bytes = owned.memory.bytes(tensor.bytes().len())?;
            *tensor = HostTensor::new(owned.dtype, &owned.shape, &bytes);
        }
    }
    Ok(())
}
