//! Random arguments for any kernel: every tensor and scalar that it declares.

use tile_runtime::Kernel;
use tile_runtime::inspect::HostTensor;
use tile_runtime::ir::config::Config;
use tile_runtime::ir::dtype::DType;
use tile_runtime::ir::kernel::{VarId, VarKind, eval_index};
use tile_runtime::ir::value::ScalarValue;
use tile_runtime::{bf16, f16};

/// The arguments of a launch.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// In the order of the kernel's tensors, outputs too.
    pub tensors: Vec<HostTensor>,
    /// In the order of the kernel's scalars.
    pub scalars: Vec<ScalarValue>,
}

/// Arguments for a launch of `dims`, in the order of [`Kernel::dims`]; the same
/// for the same seed. Floats are a few units from zero and of few digits, so
/// that sums of them show a changed order; integers take any value.
///
/// # Panics
///
/// Where a tensor's extents are not decided by dimensions and tile sizes.
pub fn random_inputs(kernel: &Kernel, config: &Config, dims: &[usize], seed: u64) -> Inputs {
    let ir = kernel.checked().kernel();
    let mut rng = fastrand::Rng::with_seed(seed);
    let dim_vars: Vec<VarId> =
        ir.vars.iter().filter(|(_, var)| var.kind == VarKind::Dim).map(|(id, _)| id).collect();
    let value = |var: VarId| match ir.vars[var].kind {
        VarKind::TileParam(param) => Some(i128::from(config.tile(param))),
        _ => dim_vars.iter().position(|&dim| dim == var).map(|at| dims[at] as i128),
    };
    let tensors = ir.tensors.values().map(|tensor| {
        let dtype = tensor.elem.bind(kernel.types()).expect("all types are bound");
        let extents = tensor.extents.iter().map(|&extent| {
            let extent = eval_index(ir, extent, &value).expect("dimensions decide the extent");
            usize::try_from(extent).expect("an extent is not negative")
        });
        let shape: Vec<usize> = extents.collect();
        let n_elems = shape.iter().product();
        let bytes: Vec<u8> = (0..n_elems).flat_map(|_| random_element(dtype, &mut rng)).collect();
        HostTensor::new(dtype, &shape, &bytes)
    });
    let tensors = tensors.collect();
    let scalars = ir.scalars.values().map(|scalar| {
        let dtype = scalar.elem.bind(kernel.types()).expect("all types are bound");
        let mut bits = [0; 8];
        let bytes = random_element(dtype, &mut rng);
        bits[..bytes.len()].copy_from_slice(&bytes);
        ScalarValue { dtype, bits: u64::from_le_bytes(bits) }
    });
    let scalars = scalars.collect();
    assert_eq!(dims.len(), dim_vars.len(), "{:?} are the dimensions", kernel.dims());
    Inputs { tensors, scalars }
}

/// The bytes of a random element, little-endian.
fn random_element(dtype: DType, rng: &mut fastrand::Rng) -> Vec<u8> {
    let float = f64::from(rng.i32(-4096..=4096)) / 1000.0;
    match dtype {
        DType::Bool => vec![u8::from(rng.bool())],
        DType::F16 => f16::from_f64(float).to_le_bytes().to_vec(),
        DType::BF16 => bf16::from_f64(float).to_le_bytes().to_vec(),
        DType::F32 => (float as f32).to_le_bytes().to_vec(),
        DType::F64 => float.to_le_bytes().to_vec(),
        DType::I8 | DType::U8 => vec![rng.u8(..)],
        DType::I16 | DType::U16 => rng.u16(..).to_le_bytes().to_vec(),
        DType::I32 | DType::U32 => rng.u32(..).to_le_bytes().to_vec(),
        DType::I64 | DType::U64 => rng.u64(..).to_le_bytes().to_vec(),
    }
}
