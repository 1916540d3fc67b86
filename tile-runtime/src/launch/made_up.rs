//! Tuning a kernel for dimensions alone, on made-up data.

use std::sync::OnceLock;
use std::time::Duration;

use tile_ir::config::Config;
use tile_ir::dtype::DType;
use tile_ir::kernel::eval_index;
use tile_ir::value::ScalarValue;

use super::bind::{Dims, name_value};
use super::choose::choose;
use super::error::ArgumentError;
use super::owned::{OwnedLaunch, OwnedTensor};
use super::tuned::{How, Request};
use crate::device::Device;
use crate::error::{Error, Result, TensorError};
use crate::kernel::Kernel;
use crate::options::Options;
use crate::tune::{Limits, Listed, TuneOptions, TuneReport};

/// Searches for the fastest configuration of a launch of these dimensions, whatever
/// was measured before, and keeps what it finds.
pub(crate) fn tune_kernel(
    kernel: &Kernel,
    device: &Device,
    dims: &Dims,
    tuning: &TuneOptions,
) -> Result<TuneReport> {
    let options = Options::new().numerics(tuning.numerics);
    with_made_up(kernel, device, dims, (tuning.seed, &options), |request, default| {
        request.search(&request.situation(), default, tuning)
    })
}

/// Measures these configurations for a launch of these dimensions, and the default
/// one; keeps nothing.
pub(crate) fn measure_listed(
    kernel: &Kernel,
    device: &Device,
    dims: &Dims,
    configs: &[Config],
) -> Result<TuneReport> {
    let limits = Limits { budget: Duration::MAX, enough: f64::INFINITY };
    with_made_up(kernel, device, dims, (1, &Options::new()), |request, default| {
        let mut list = Listed::new(configs);
        let found = request.measure(&request.situation(), default, &mut list, limits, How::AtOnce);
        Ok(found?.0)
    })
}

/// Makes up a launch of these dimensions, and has something done with it and its
/// default configuration while nothing else is tuned on the device.
pub(super) fn with_made_up(
    kernel: &Kernel,
    device: &Device,
    dims: &Dims,
    (seed, options): (u64, &Options),
    body: impl FnOnce(&Request<'_>, Config) -> Result<TuneReport>,
) -> Result<TuneReport> {
    let (checked, types) = (kernel.checked(), kernel.types());
    let ir = checked.kernel();
    let default = choose(checked, types, device.properties(), dims.values(), options)?;
    let mut data = Data(fastrand::Rng::with_seed(seed));
    let mut tensors = Vec::with_capacity(ir.tensors.len());
    for tensor in ir.tensors.values() {
        let extents = tensor.extents.iter().map(|&expr| {
            let value = |var| name_value(ir, dims, Some(&default), var);
            usize::try_from(eval_index(ir, expr, &value)?).ok()
        });
        let shape: Option<Vec<usize>> = extents.collect();
        let (Some(shape), Some(dtype)) = (shape, tensor.elem.bind(types)) else {
            let what = format!("a tensor of `{}` has no shape", ir.name);
            return Err(Error::internal(what, tensor.name.clone()));
        };
        let bytes = data.elements(dtype, shape.iter().product())?;
        tensors.push(OwnedTensor::holding(tensor, dtype, shape, &bytes, device)?);
    }
    let given = kernel.known_scalars()?;
    let scalars = ir.scalars.iter().filter_map(|(id, scalar)| {
        let made_up = data.scalar(scalar.elem.bind(types)?);
        Some(given.iter().find(|(known, _)| *known == id).map_or(made_up, |(_, value)| *value))
    });
    let scalars = scalars.collect();
    let mut launch = OwnedLaunch { tensors, scalars, dims: dims.clone() };
    launch.with_bound(device, |bound| {
        let (hash, file) = (&OnceLock::new(), kernel.file());
        let request = Request { checked, hash, file, types, device, bound, options };
        if let Some(reason) = request.why_not(&default) {
            let kernel = ir.name.clone();
            return Err(ArgumentError::NotTunable { kernel, reason }.into());
        }
        let _alone = device.tuning();
        body(&request, default)
    })
}

/// Elements as they come: floats between -1 and 1, integers from 0 to 15.
pub(super) struct Data(pub(super) fastrand::Rng);

impl Data {
    pub(super) fn scalar(&mut self, dtype: DType) -> ScalarValue {
        let integer = self.0.u64(..16);
        let float = self.0.f64() * 2.0 - 1.0;
        let bits = match dtype {
            DType::Bool => integer & 1,
            DType::F16 => u64::from(half::f16::from_f64(float).to_bits()),
            DType::BF16 => u64::from(half::bf16::from_f64(float).to_bits()),
            DType::F32 => u64::from((float as f32).to_bits()),
            DType::F64 => float.to_bits(),
            DType::I8
            | DType::U8
            | DType::I16
            | DType::U16
            | DType::I32
            | DType::U32
            | DType::I64
            | DType::U64 => integer,
        };
        ScalarValue { dtype, bits }
    }

    /// The bytes of so many elements, in the machine's byte order.
    ///
    /// # Errors
    ///
    /// Where the host has no memory for them.
    pub(super) fn elements(&mut self, dtype: DType, n_elems: usize) -> Result<Vec<u8>> {
        let n_bytes = dtype.size_bytes() as usize;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(n_elems.saturating_mul(n_bytes)).map_err(|_| {
            TensorError::OutOfMemory {
                device: "the host".to_owned(),
                bytes: n_elems.saturating_mul(n_bytes),
                free_bytes: None,
            }
        })?;
        for _ in 0..n_elems {
            let bits = self.scalar(dtype).bits;
            match n_bytes {
                1 => bytes.push(bits as u8),
                2 => bytes.extend((bits as u16).to_ne_bytes()),
                4 => bytes.extend((bits as u32).to_ne_bytes()),
                _ => bytes.extend(bits.to_ne_bytes()),
            }
        }
        Ok(bytes)
    }
}
