//! Compiled programs, loaded into a device's context.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, OnceLock};

use cudarc::driver::sys::CUfunction_attribute;
use cudarc::driver::{CudaFunction, CudaModule, DriverError, result};
use cudarc::nvrtc::Ptx;
use tile_ir::emit::{CudaSource, emit_cuda};
use tile_ir::program::{Program, SharedMemory};

use super::context::Context;
use super::driver::cuda_version_served;
use super::fault::{is_device_fault, reason};
use super::nvrtc::{CompileOptions, Cubin, Image, KernelResources, compile_once, compiled, find};
use super::parameters::Parameter;
use super::queue::CudaQueue;
use crate::error::{EnvironmentError, Error, Result};

/// Dynamic shared memory that a kernel may ask for without opting in, in bytes.
const SHARED_BYTES_WITHOUT_OPTIN: u32 = 48 << 10;

/// A program's kernels, ready to launch.
#[derive(Debug)]
pub(crate) struct LoadedProgram {
    context: Arc<Context>,
    kernels: Vec<LoadedKernel>,
    compiled: Arc<Cubin>,
}

#[derive(Debug)]
struct LoadedKernel {
    function: CudaFunction,
    threads: u32,
    dynamic_shared_bytes: u32,
}

/// What a kernel takes of an SM, by the driver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occupied {
    pub(crate) threads: u32,
    /// Of a thread.
    pub(crate) registers: u32,
    /// Of a block, static and dynamic.
    pub(crate) shared_bytes: u32,
    /// Blocks that an SM holds at once.
    pub(crate) blocks: u32,
}

impl LoadedProgram {
    /// Writes a program as CUDA C++, compiles it for the device and loads it.
    pub(super) fn load(context: &Arc<Context>, program: &Program, file: &str) -> Result<Self> {
        let source = write_text(program, file)?;
        if source.entries.len() != program.kernels.len() {
            return Err(Error::internal("the CUDA text lacks a kernel", source.text));
        }
        let Loaded { module, compiled } = load_text(context, &source.text)?;
        let mut kernels = Vec::with_capacity(program.kernels.len());
        for (kernel, entry) in program.kernels.iter().zip(&source.entries) {
            let function = module.load_function(entry).map_err(|error| {
                context.error(&format!("find `{entry}` in the compiled kernel"), error)
            })?;
            let dynamic_shared_bytes = match kernel.shared_memory {
                SharedMemory::Static => 0,
                SharedMemory::Dynamic { bytes } => bytes,
            };
            if dynamic_shared_bytes > SHARED_BYTES_WITHOUT_OPTIN {
                opt_in(context, &function, dynamic_shared_bytes)?;
            }
            kernels.push(LoadedKernel { function, threads: kernel.threads, dynamic_shared_bytes });
        }
        Ok(Self { context: context.clone(), kernels, compiled })
    }

    /// What its kernels take, where the compiler has said.
    pub(crate) fn resources(&self) -> &[KernelResources] {
        &self.compiled.report.kernels
    }

    /// What the plan's kernel number `index` takes of an SM.
    ///
    /// # Errors
    ///
    /// Where the driver does not answer.
    pub(crate) fn occupied(&self, index: usize) -> Result<Occupied> {
        let LoadedKernel { function, threads, dynamic_shared_bytes } = &self.kernels[index];
        let ask = |error| self.context.error("ask how many blocks an SM holds", error);
        self.context.bind()?;
        let (threads, dynamic) = (*threads, *dynamic_shared_bytes);
        let count = |value: i32| u32::try_from(value).unwrap_or(0);
        let fixed = count(function.shared_size_bytes().map_err(ask)?);
        let registers = count(function.num_regs().map_err(ask)?);
        let blocks = function
            .occupancy_max_active_blocks_per_multiprocessor(threads, dynamic as usize, None)
            .map_err(ask)?;
        Ok(Occupied { threads, registers, shared_bytes: fixed + dynamic, blocks })
    }

    /// Queues a launch of the plan's kernel number `index` with at least one
    /// block. `label` names it in faults.
    ///
    /// # Safety
    ///
    /// `params` holds the kernel's parameters in order: words for addresses and
    /// numbers, blocks for arrays. Those that are addresses are of arrays which the program may
    /// use as it does, which live until the launch is done, and whose other uses
    /// are ordered with the queue.
    pub(crate) unsafe fn launch(
        &self,
        index: usize,
        queue: &CudaQueue,
        n_blocks: u32,
        params: &[Parameter<'_>],
        label: &Arc<str>,
    ) -> Result<()> {
        let kernel = &self.kernels[index];
        let mut places: Vec<*mut c_void> = Vec::with_capacity(params.len());
        places.extend(params.iter().map(|param| match param {
            Parameter::Word(word) => ptr::from_ref(word).cast_mut().cast(),
            Parameter::Block(block) => ptr::from_ref(&block.0).cast_mut().cast(),
        }));
        self.context.launches.note(queue.id, label);
        self.context.bind()?;
        // SAFETY: the function is of a module that `self` keeps loaded, the stream is
        // live, and both are of the context that was just bound. The parameters are
        // the kernel's, by this function's contract; the driver only reads them, and
        // has copied them when the call returns. A parameter narrower than a word is
        // read from the word's low bytes, which come first in memory on every host
        // that CUDA has; an array, from a block that is as long as all parameters may
        // be.
        let launched = unsafe {
            result::launch_kernel(
                kernel.function.cu_function(),
                (n_blocks, 1, 1),
                (kernel.threads, 1, 1),
                kernel.dynamic_shared_bytes,
                queue.stream.cu_stream(),
                &mut places,
            )
        };
        launched.map_err(|error| self.context.error(&format!("launch {label}"), error))
    }
}

/// Whether a program's text was compiled for the device before.
pub(super) fn has_code(context: &Context, program: &Program, file: &str) -> Result<bool> {
    let source = write_text(program, file)?;
    Ok(compiled(&source.text, capability(context), &options())?.is_some())
}

fn write_text(program: &Program, file: &str) -> Result<CudaSource> {
    emit_cuda(program, Some(file))
        .map_err(|error| Error::internal("a program has no CUDA text", error.to_string()))
}

/// A text's machine code on a device.
pub(super) struct Loaded {
    pub(super) module: Arc<CudaModule>,
    compiled: Arc<Cubin>,
}

/// Compiles CUDA C++ for the device, where that has not been done before, and loads it.
pub(super) fn load_text(context: &Context, source: &str) -> Result<Loaded> {
    let compiled = compile_for(context, source)?;
    let image = match &compiled.image {
        Image::Cubin(bytes) => Ptx::from_binary(bytes.clone()),
        Image::Ptx(text) => Ptx::from_src(text),
    };
    let module = context.cuda.load_module(image).map_err(|error| load_error(context, error))?;
    Ok(Loaded { module, compiled })
}

/// The driver does not take an image. Where NVRTC is newer than the driver, that
/// is why.
fn load_error(context: &Context, error: DriverError) -> Error {
    let (driver, nvrtc) = match find() {
        Ok(nvrtc) => (cuda_version_served(), nvrtc),
        Err(error) => return error,
    };
    if is_device_fault(error) || nvrtc.version() <= driver {
        return context.error("load a compiled kernel", error);
    }
    let text = |(major, minor): (u32, u32)| format!("{major}.{minor}");
    EnvironmentError::NvrtcNewerThanDriver {
        device: context.label.clone(),
        nvrtc: text(nvrtc.version()),
        path: nvrtc.path().to_owned(),
        driver: text(driver),
        reason: reason(error),
    }
    .into()
}

/// Compiles for the device, where that has not been done before.
fn compile_for(context: &Context, source: &str) -> Result<Arc<Cubin>> {
    compile_once(source, capability(context), &options())
}

/// 90 for 9.0.
fn capability(context: &Context) -> u32 {
    let (major, minor) = context.compute_capability;
    major * 10 + minor
}

fn options() -> CompileOptions {
    let extra = EXTRA_OPTIONS.get().cloned().unwrap_or_default();
    CompileOptions { extra, ..CompileOptions::default() }
}

/// Options of NVRTC beside what every kernel is compiled with.
static EXTRA_OPTIONS: OnceLock<Vec<String>> = OnceLock::new();

/// Sets further options for what is compiled from now on; the first call counts.
pub(crate) fn add_compile_options(options: &[&str]) {
    EXTRA_OPTIONS.get_or_init(|| options.iter().map(|&option| option.to_owned()).collect());
}

/// Lets a kernel have more dynamic shared memory than 48 KiB.
fn opt_in(context: &Context, function: &CudaFunction, bytes: u32) -> Result<()> {
    let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    let value = i32::try_from(bytes).unwrap_or(i32::MAX);
    function.set_attribute(attribute, value).map_err(|error| {
        context.error(&format!("give a block {bytes} bytes of shared memory"), error)
    })
}
