//! Queues of work: CUDA streams.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cudarc::driver::CudaStream;
use cudarc::driver::sys::CUstreamCaptureStatus;

use super::context::Context;
use crate::error::Result;

/// A CUDA stream. A handle; clones are the same stream, which is destroyed with
/// the last of them, once its work is done.
#[derive(Clone, Debug)]
pub(crate) struct CudaQueue {
    pub(super) stream: Arc<CudaStream>,
    pub(super) context: Arc<Context>,
    /// Never used again, unlike the driver's handle.
    pub(super) id: u64,
}

impl CudaQueue {
    pub(super) fn new(context: &Arc<Context>) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let stream =
            context.cuda.new_stream().map_err(|error| context.error("make a stream", error))?;
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self { stream, context: context.clone(), id })
    }

    /// Whether what is launched here is recorded instead of queued; also where the
    /// driver does not tell.
    pub(crate) fn is_recording(&self) -> bool {
        let status = self.stream.capture_status();
        status != Ok(CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
    }

    /// Waits for what was queued here.
    pub(crate) fn synchronize(&self) -> Result<()> {
        let mark = self.context.launches.mark();
        self.stream
            .synchronize()
            .map_err(|error| self.context.error("wait for the stream", error))?;
        self.context.launches.done(Some(self.id), mark);
        Ok(())
    }

    /// Lets what is queued here from now on wait for what is queued on `other`
    /// so far. Both are of one device.
    pub(super) fn wait_for(&self, other: &Self) -> Result<()> {
        if self == other {
            return Ok(());
        }
        let joined = self.stream.join(&other.stream);
        joined.map_err(|error| self.context.error("order two streams", error))
    }
}

impl PartialEq for CudaQueue {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for CudaQueue {}
