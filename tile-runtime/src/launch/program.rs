//! Runs a program by itself on the CPU device, on memory without Rust types:
//! how the tests of lowering compare a program with what a pass made of it.

use std::marker::PhantomData;
use std::sync::OnceLock;

use tile_ir::arena::EntityId as _;
use tile_ir::dtype::DType;
use tile_ir::kernel as ir;
use tile_ir::program::{BufferSource, Program, ShadowReport, run_shadowed};
use tile_ir::value::ScalarValue;

use super::argument::{ArgumentMemory, TensorArgument};
use super::bind::{Bound, Dims};
use super::ready::{Executables, Ready, for_host};
use super::run::{arg_values, run_on_cpu, workspace_bytes};
use crate::checked::CheckReport;
use crate::cpu::{Mode, Order, Watch};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::Kernel;

/// A tensor in the host's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostTensor {
    dtype: DType,
    shape: Vec<usize>,
    /// The elements, row-major, from the first byte on; aligned for any type.
    words: Vec<u64>,
}

impl HostTensor {
    /// A tensor of these elements, row-major, in the machine's byte order.
    ///
    /// # Panics
    ///
    /// Where `bytes` is not as long as the shape says, or holds a `bool` that is
    /// neither 0 nor 1.
    pub fn new(dtype: DType, shape: &[usize], bytes: &[u8]) -> Self {
        let n_bytes = shape.iter().product::<usize>() * dtype.size_bytes() as usize;
        assert_eq!(bytes.len(), n_bytes, "{shape:?} elements of {dtype} take other bytes");
        let is_valid = dtype != DType::Bool || bytes.iter().all(|&byte| byte <= 1);
        assert!(is_valid, "a bool is 0 or 1");
        let words = bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        });
        Self { dtype, shape: shape.to_vec(), words: words.collect() }
    }

    /// The type of its elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Its extents.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements, as they were given.
    pub fn bytes(&self) -> Vec<u8> {
        let n_bytes = self.shape.iter().product::<usize>() * self.dtype.size_bytes() as usize;
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes.truncate(n_bytes);
        bytes
    }
}

/// Runs `program`, which was made of `kernel`, on the CPU device: `dims` in the
/// order of [`Kernel::dims`], tensors and scalars in the order of their tables.
///
/// # Errors
///
/// Where the program cannot be run, or leaves an array.
pub fn run_program(
    kernel: &Kernel,
    program: &Program,
    dims: &[usize],
    tensors: &mut [HostTensor],
    scalars: &[ScalarValue],
) -> Result<()> {
    run_in_mode(Order::Numbered, kernel, program, dims, tensors, scalars).map(drop)
}

/// Runs `program` as [`run_program`] does, but its blocks, and between barriers its
/// work-items, one after another in an order that depends on `seed`.
///
/// # Errors
///
/// As [`run_program`].
pub fn run_program_shuffled(
    seed: u64,
    kernel: &Kernel,
    program: &Program,
    dims: &[usize],
    tensors: &mut [HostTensor],
    scalars: &[ScalarValue],
) -> Result<()> {
    run_in_mode(Order::Shuffled(seed), kernel, program, dims, tensors, scalars).map(drop)
}

/// Runs `program` as [`run_program`] does, but as a checked launch runs what the first
/// pass has made: a report for each of its kernels. With a seed in the order of
/// [`run_program_shuffled`].
///
/// # Errors
///
/// As [`run_program`].
pub fn run_program_checked(
    seed: Option<u64>,
    kernel: &Kernel,
    program: &Program,
    dims: &[usize],
    tensors: &mut [HostTensor],
    scalars: &[ScalarValue],
) -> Result<Vec<CheckReport>> {
    let order = seed.map_or(Order::Numbered, Order::Shuffled);
    let mode = Mode { order, watch: Some(Watch::default()) };
    run_in_mode(mode, kernel, program, dims, tensors, scalars)
}

/// Runs `program` as [`run_program_checked`] does, and counts what its warps do.
///
/// # Errors
///
/// As [`run_program`].
pub fn run_program_counted(
    kernel: &Kernel,
    program: &Program,
    dims: &[usize],
    tensors: &mut [HostTensor],
    scalars: &[ScalarValue],
) -> Result<Vec<CheckReport>> {
    let watch = Some(Watch { counts: true, ..Watch::default() });
    let mode = Mode { order: Order::Numbered, watch };
    run_in_mode(mode, kernel, program, dims, tensors, scalars)
}

fn run_in_mode(
    mode: impl Into<Mode>,
    kernel: &Kernel,
    program: &Program,
    dims: &[usize],
    tensors: &mut [HostTensor],
    scalars: &[ScalarValue],
) -> Result<Vec<CheckReport>> {
    let device = Device::cpu();
    let label = format!("`{}`", kernel.name());
    let compiled = for_host(program, &label, mode)?;
    let (ir, types) = (kernel.checked().kernel(), kernel.types());
    let arguments = arguments(ir, types, &device, dims, tensors, scalars)?;
    let ready = Ready {
        program: program.clone(),
        label: label.into(),
        file: String::new(),
        tiles: String::new(),
        kernels: Executables::Host(Vec::new()),
        rechecked: OnceLock::new(),
        watch: None,
    };
    run_on_cpu(&ready, &compiled, &bound(ir, &arguments, dims, scalars), &device)
}

/// Runs `program` as [`run_program`] does, but thread by thread and with a shadow
/// of its memory ([`run_shadowed`]): a report for each of its kernels. `max_steps`
/// bounds the work of each; past it the tensors hold what was written so far.
///
/// # Errors
///
/// Where the program cannot be run so.
pub fn check_program(
    kernel: &Kernel,
    program: &Program,
    dims: &[usize],
    tensors: &mut [HostTensor],
    scalars: &[ScalarValue],
    max_steps: u64,
) -> Result<Vec<ShadowReport>> {
    let (ir, types) = (kernel.checked().kernel(), kernel.types());
    run_with_shadow(ir, types, program, dims, tensors, scalars, max_steps)
}

/// The same of a kernel whose type parameters are bound to `types`.
pub(super) fn run_with_shadow(
    kernel: &ir::Kernel,
    types: &[DType],
    program: &Program,
    dims: &[usize],
    tensors: &mut [HostTensor],
    scalars: &[ScalarValue],
    max_steps: u64,
) -> Result<Vec<ShadowReport>> {
    let args = {
        let device = Device::cpu();
        let arguments = arguments(kernel, types, &device, dims, tensors, scalars)?;
        let bound = bound(kernel, &arguments, dims, scalars);
        let args = program.kernels.iter().map(|kernel| arg_values(kernel, &bound));
        args.collect::<Result<Vec<_>>>()?
    };
    let sizes = program.workspaces.values().map(workspace_bytes);
    let mut workspaces = sizes.map(|size| Ok(vec![0; size?])).collect::<Result<Vec<Vec<u8>>>>()?;
    let mut reports = Vec::new();
    for (number, text) in program.kernels.iter().enumerate() {
        let mut buffers: Vec<Vec<u8>> = Vec::new();
        for buffer in text.buffers.values() {
            buffers.push(match buffer.source {
                BufferSource::Tensor(id) => tensors[id.index()].bytes(),
                BufferSource::Workspace(id) => std::mem::take(&mut workspaces[id.index()]),
            });
        }
        let report = run_shadowed(program, number, &args[number], &mut buffers, max_steps);
        reports.push(
            report.map_err(|error| {
                Error::internal("a program cannot be checked", error.to_string())
            })?,
        );
        for (buffer, bytes) in text.buffers.values().zip(buffers) {
            match buffer.source {
                BufferSource::Tensor(id) if buffer.written => {
                    let tensor = &mut tensors[id.index()];
                    *tensor = HostTensor::new(tensor.dtype, &tensor.shape, &bytes);
                }
                BufferSource::Tensor(_) => {}
                BufferSource::Workspace(id) => workspaces[id.index()] = bytes,
            }
        }
    }
    Ok(reports)
}

/// The tensors as the arguments of a launch of `kernel`.
fn arguments<'t>(
    kernel: &ir::Kernel,
    types: &[DType],
    device: &'t Device,
    dims: &[usize],
    tensors: &'t mut [HostTensor],
    scalars: &[ScalarValue],
) -> Result<Vec<TensorArgument<'t>>> {
    let declared: Vec<_> = kernel.tensors.values().collect();
    let n_dims = kernel.vars.values().filter(|var| var.kind == ir::VarKind::Dim).count();
    let fits = declared.len() == tensors.len()
        && declared.iter().zip(&*tensors).all(|(declared, tensor)| {
            declared.elem.bind(types) == Some(tensor.dtype)
                && declared.extents.len() == tensor.shape.len()
        });
    if !fits || scalars.len() != kernel.scalars.len() || dims.len() != n_dims {
        let what = format!("`{}` is given other arguments than it declares", kernel.name);
        return Err(Error::internal(what, ""));
    }
    let arguments = tensors.iter_mut().zip(&declared).map(|(tensor, declared)| TensorArgument {
        device,
        shape: &tensor.shape,
        strides: None,
        offset_elems: 0,
        dtype: tensor.dtype,
        space: declared.space,
        #[cfg(feature = "cuda")]
        parameters: None,
        mutable: declared.mutable,
        memory: ArgumentMemory::Host(tensor.words.as_mut_ptr().cast(), PhantomData),
    });
    Ok(arguments.collect())
}

fn bound<'t>(
    kernel: &ir::Kernel,
    arguments: &'t [TensorArgument<'t>],
    dims: &[usize],
    scalars: &[ScalarValue],
) -> Bound<'t> {
    Bound {
        tensors: arguments.iter().collect(),
        scalars: scalars.to_vec(),
        dims: Dims::of_values(kernel, dims),
    }
}
