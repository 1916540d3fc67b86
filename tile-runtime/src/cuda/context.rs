//! A CUDA device: its context, its own queue, its memory.

use std::sync::Arc;

use cudarc::driver::{CudaContext, DriverError};
use tile_ir::device::DeviceProperties;
use tile_ir::program::Program;

use super::bench::Bench;
use super::driver::device_count;
use super::fault::{LaunchLog, is_device_fault, reason};
use super::memory::CudaBuffer;
use super::module::LoadedProgram;
use super::properties::read_properties;
use super::queue::CudaQueue;
use crate::error::{EnvironmentError, Error, Result};

/// A CUDA device. A handle; clones are the same device.
#[derive(Clone, Debug)]
pub(crate) struct CudaDevice {
    context: Arc<Context>,
    queue: CudaQueue,
}

/// What a device's queues, arrays and programs share.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) cuda: Arc<CudaContext>,
    /// As messages name the device: `NVIDIA H200 (cuda:0)`.
    pub(super) label: String,
    /// (major, minor).
    pub(super) compute_capability: (u32, u32),
    pub(super) launches: LaunchLog,
}

impl Context {
    /// An error of the driver while `doing`: the fault of an earlier kernel
    /// where the code says so.
    pub(super) fn error(&self, doing: &str, error: DriverError) -> Error {
        if is_device_fault(error) {
            return self.launches.fault(&self.label, reason(error)).into();
        }
        driver_error(&self.label, doing, error)
    }

    /// Makes this device the one that raw driver calls of this thread go to.
    pub(super) fn bind(&self) -> Result<()> {
        self.cuda.bind_to_thread().map_err(|error| self.error("use the device", error))
    }
}

fn driver_error(device: &str, doing: &str, error: DriverError) -> Error {
    let (device, doing) = (device.to_owned(), doing.to_owned());
    EnvironmentError::Driver { device, doing, reason: reason(error) }.into()
}

impl CudaDevice {
    /// Opens the device of this number.
    pub(crate) fn open(index: usize) -> Result<(Self, DeviceProperties)> {
        let count = device_count()?;
        if index >= count {
            return Err(EnvironmentError::NoSuchDevice { index, count }.into());
        }
        let name = format!("CUDA device {index}");
        let failed = |doing: &'static str| {
            let name = name.clone();
            move |error| driver_error(&name, doing, error)
        };
        let cuda = CudaContext::new(index).map_err(failed("open the device"))?;
        // SAFETY: the events are those of cudarc's own arrays, of which we make
        // none; `CudaBuffer` orders its uses itself.
        unsafe { cuda.disable_event_tracking() };
        let properties = read_properties(&cuda).map_err(failed("read the device's properties"))?;
        let context = Arc::new(Context {
            label: format!("{} (cuda:{index})", properties.name),
            compute_capability: properties.compute_capability,
            launches: LaunchLog::default(),
            cuda,
        });
        let queue = CudaQueue::new(&context)?;
        Ok((Self { context, queue }, properties))
    }

    /// As messages name the device.
    pub(crate) fn label(&self) -> &str {
        &self.context.label
    }

    /// The queue on which launches go that name no other.
    pub(crate) fn default_stream(&self) -> &CudaQueue {
        &self.queue
    }

    /// A new queue.
    pub(crate) fn new_stream(&self) -> Result<CudaQueue> {
        CudaQueue::new(&self.context)
    }

    /// Waits for all work on the device.
    pub(crate) fn synchronize(&self) -> Result<()> {
        let mark = self.context.launches.mark();
        self.context
            .cuda
            .synchronize()
            .map_err(|error| self.context.error("wait for the device", error))?;
        self.context.launches.done(None, mark);
        Ok(())
    }

    /// An array of zero bytes.
    pub(crate) fn zeros(&self, n_bytes: usize) -> Result<CudaBuffer> {
        CudaBuffer::zeros(&self.queue, n_bytes)
    }

    /// An array with a copy of `bytes`, which may be reused on return.
    pub(crate) fn upload(&self, bytes: &[u8]) -> Result<CudaBuffer> {
        let mut buffer = CudaBuffer::uninit(&self.queue, bytes.len())?;
        buffer.copy_from(bytes)?;
        Ok(buffer)
    }

    /// What a search measures with: a queue of its own.
    pub(crate) fn bench(&self) -> Result<Bench> {
        Bench::new(self.new_stream()?)
    }

    /// Compiles a program and loads it.
    pub(crate) fn load(&self, program: &Program, file: &str) -> Result<LoadedProgram> {
        LoadedProgram::load(&self.context, program, file)
    }
}
