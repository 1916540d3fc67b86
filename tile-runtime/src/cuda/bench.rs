//! What a search for the fastest configuration asks of a CUDA device: arrays of its
//! own, times by events, and whether two arrays are equal.

use std::sync::OnceLock;

use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaEvent, CudaFunction, DriverError, LaunchConfig, PushKernelArg as _};

use super::context::Context;
use super::driver::check_timing;
use super::memory::CudaBuffer;
use super::module::load_text;
use super::queue::CudaQueue;
use super::timing::Round;
use crate::error::Result;

/// The kernel that compares arrays.
const COMPARE: &str = include_str!("compare.cu");
const COMPARE_ENTRY: &str = "count_differences";
const COMPARE_THREADS: u32 = 256;
/// Words of 8 bytes that a thread of it compares, where there are many.
const COMPARE_WORDS: u64 = 64;

/// A queue on which nothing else runs, and a stopwatch.
#[derive(Debug)]
pub(crate) struct Bench {
    queue: CudaQueue,
    start: CudaEvent,
    end: CudaEvent,
    compare: OnceLock<CudaFunction>,
}

impl Bench {
    pub(super) fn new(queue: CudaQueue) -> Result<Self> {
        check_timing()?;
        let event = || {
            let event = queue.context.cuda.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
            event.map_err(|error| queue.context.error("make an event", error))
        };
        let (start, end) = (event()?, event()?);
        Ok(Self { queue, start, end, compare: OnceLock::new() })
    }

    /// Where candidates are to be launched.
    pub(crate) fn queue(&self) -> &CudaQueue {
        &self.queue
    }

    /// An array whose bytes are not set.
    pub(crate) fn array(&self, n_bytes: usize) -> Result<CudaBuffer> {
        CudaBuffer::uninit(&self.queue, n_bytes)
    }

    /// Queues a copy between arrays of one size.
    pub(crate) fn copy(&self, from: &CudaBuffer, to: &mut CudaBuffer) -> Result<()> {
        to.copy_from_array(from, &self.queue)
    }

    /// Seconds that the device takes for what `body` queues. Waits for it.
    pub(crate) fn time(&self, body: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        let failed = |error: DriverError| self.queue.context.error("time launches", error);
        self.start.record(&self.queue.stream).map_err(failed)?;
        body()?;
        self.end.record(&self.queue.stream).map_err(failed)?;
        // Tells of a fault with the launches it may be of, and forgets them.
        self.queue.synchronize()?;
        let ms = self.start.elapsed_ms(&self.end).map_err(failed)?;
        Ok(f64::from(ms) * 1e-3)
    }

    /// Records launches of what has run once, to be timed together.
    pub(crate) fn record(
        &self,
        launches: usize,
        launch: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Round> {
        Round::record(&self.queue, launches, true, launch)
    }

    /// Number of words of 8 bytes in which two arrays of one size differ, a shorter
    /// one at the end among them. Waits for what writes them.
    pub(crate) fn differences(&self, one: &CudaBuffer, other: &CudaBuffer) -> Result<u64> {
        assert_eq!(one.n_bytes(), other.n_bytes(), "the caller compares tensors of one shape");
        let n_bytes = one.n_bytes() as u64;
        if n_bytes == 0 {
            return Ok(0);
        }
        let count = CudaBuffer::zeros(&self.queue, size_of::<u64>())?;
        for (array, writes) in [(one, false), (other, false), (&count, true)] {
            array.use_on(&self.queue, writes)?;
        }
        let function = self.compare()?;
        let (one, other, total) = (one.address(), other.address(), count.address());
        let mut launch = self.queue.stream.launch_builder(function);
        launch.arg(&one).arg(&other).arg(&n_bytes).arg(&total);
        let blocks = n_bytes.div_ceil(8 * COMPARE_WORDS * u64::from(COMPARE_THREADS));
        let config = LaunchConfig {
            grid_dim: (u32::try_from(blocks).unwrap_or(u32::MAX).clamp(1, 1 << 16), 1, 1),
            block_dim: (COMPARE_THREADS, 1, 1),
            shared_mem_bytes: 0,
        };
        // SAFETY: the parameters are the kernel's, in order and of its types: two
        // arrays of `n_bytes` bytes that are aligned to 8 bytes and only read, and
        // one of a single word. All live until the download below has waited.
        let launched = unsafe { launch.launch(config) };
        launched.map_err(|error| self.queue.context.error("compare results", error))?;
        let mut found = [0u64];
        count.download_elements(&mut found)?;
        Ok(found[0])
    }

    fn compare(&self) -> Result<&CudaFunction> {
        if let Some(function) = self.compare.get() {
            return Ok(function);
        }
        let context: &Context = &self.queue.context;
        let module = load_text(context, COMPARE)?.module;
        let function = module.load_function(COMPARE_ENTRY);
        let function = function.map_err(|error| context.error("find the comparison", error))?;
        Ok(self.compare.get_or_init(|| function))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::print_stderr, reason = "what is skipped is said aloud")]

    use super::COMPARE;
    use crate::nvrtc::{CompileOptions, compile};

    #[test]
    fn the_comparison_compiles() {
        if std::env::var_os("TILE_TEST_WITHOUT_NVRTC").is_some() {
            eprintln!("SKIPPED: TILE_TEST_WITHOUT_NVRTC is set");
            return;
        }
        for architecture in ["sm_75", "sm_90", "sm_120"] {
            let options = CompileOptions { fast: true, ..CompileOptions::default() };
            compile(COMPARE, architecture, &options).unwrap();
        }
    }
}
