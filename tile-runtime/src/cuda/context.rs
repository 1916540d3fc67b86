//! A CUDA device: its context, its own queue, its memory.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, TryLockError, Weak};

use cudarc::driver::sys::{
    CUdevice_attribute, CUresult, CUstreamCaptureMode, cuStreamQuery,
    cuThreadExchangeStreamCaptureMode,
};
use cudarc::driver::{CudaContext, CudaStream, DriverError};
use tile_ir::device::DeviceProperties;
use tile_ir::program::Program;

use super::bench::Bench;
use super::driver::device_count;
use super::fault::{LaunchLog, is_device_fault, reason};
use super::memory::CudaBuffer;
use super::module::{LoadedProgram, has_code};
use super::nvml::ManagedDevice;
use super::properties::{peak_clocks, read_properties};
use super::queue::CudaQueue;
use crate::error::{EnvironmentError, Error, Result};
use crate::tune::Clocks;

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
    peak_clocks: Clocks,
    pub(super) launches: LaunchLog,
    /// The users' queues.
    queues: Mutex<Vec<Weak<CudaStream>>>,
    /// Held while launches are recorded instead of queued.
    pub(super) recording: Mutex<()>,
    /// The device as NVML knows it, once it was asked.
    pub(super) managed: OnceLock<Option<ManagedDevice>>,
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

    /// Notes a queue of a user's.
    fn note_queue(&self, queue: &CudaQueue) {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|known| known.strong_count() > 0);
        queues.push(Arc::downgrade(&queue.stream));
    }

    /// Whether all users' queues are empty. To be asked while nothing is recorded: a
    /// queue that is must not be asked.
    fn is_idle(&self) -> bool {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let mut live = queues.iter().filter_map(Weak::upgrade);
        live.all(|stream| {
            // SAFETY: the stream is live as long as its handle.
            let code = unsafe { cuStreamQuery(stream.cu_stream()) };
            code == CUresult::CUDA_SUCCESS
        })
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
        let peak_clocks = peak_clocks(&cuda).map_err(failed("read the device's clocks"))?;
        let context = Arc::new(Context {
            label: format!("{} (cuda:{index})", properties.name),
            compute_capability: properties.compute_capability,
            peak_clocks,
            launches: LaunchLog::default(),
            queues: Mutex::default(),
            recording: Mutex::default(),
            managed: OnceLock::new(),
            cuda,
        });
        let queue = CudaQueue::new(&context)?;
        context.note_queue(&queue);
        Ok((Self { context, queue }, properties))
    }

    /// As messages name the device.
    pub(crate) fn label(&self) -> &str {
        &self.context.label
    }

    /// The highest clocks that it may run at.
    pub(crate) fn peak_clocks(&self) -> Clocks {
        self.context.peak_clocks
    }

    /// The queue on which launches go that name no other.
    pub(crate) fn default_stream(&self) -> &CudaQueue {
        &self.queue
    }

    /// A new queue.
    pub(crate) fn new_stream(&self) -> Result<CudaQueue> {
        let queue = CudaQueue::new(&self.context)?;
        self.context.note_queue(&queue);
        Ok(queue)
    }

    /// Whether nothing runs on the users' queues, and nothing is being recorded.
    pub(crate) fn is_quiet(&self) -> bool {
        let recording = match self.context.recording.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        let is_quiet = self.context.bind().is_ok() && self.context.is_idle();
        drop(recording);
        is_quiet
    }

    /// Lets what this thread calls from now on leave alone what other threads record.
    pub(crate) fn stay_out_of_recordings(&self) {
        let mut mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        if self.context.bind().is_ok() {
            // SAFETY: the pointer is to a live mode, which the call exchanges. A
            // failure leaves the thread as it was, which records nothing itself.
            let _ = unsafe { cuThreadExchangeStreamCaptureMode(&mut mode) };
        }
    }

    /// The device as NVML knows it; `find` looks for it.
    pub(super) fn managed(
        &self,
        find: impl FnOnce() -> Option<ManagedDevice>,
    ) -> Option<ManagedDevice> {
        *self.context.managed.get_or_init(find)
    }

    /// A number that the driver says of it.
    pub(super) fn attribute(&self, attribute: CUdevice_attribute) -> Option<i32> {
        self.context.cuda.attribute(attribute).ok()
    }

    /// Bytes of memory that are free.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        self.context.cuda.mem_get_info().ok().map(|(free, _)| free as u64)
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
        Bench::new(CudaQueue::new(&self.context)?)
    }

    /// Whether a program's machine code is at hand, so that no compiler is needed.
    pub(crate) fn has_code(&self, program: &Program, file: &str) -> Result<bool> {
        has_code(&self.context, program, file)
    }

    /// Compiles a program and loads it.
    pub(crate) fn load(&self, program: &Program, file: &str) -> Result<LoadedProgram> {
        LoadedProgram::load(&self.context, program, file)
    }
}
