//! Streams: queues of work on a device.

use std::fmt;

use crate::device::Device;
use crate::error::Result;

#[cfg(feature = "cuda")]
use crate::cuda::CudaQueue;

/// A queue of work on one device: what is launched on it runs in order.
///
/// A handle; clones are the same stream. Launches of different streams may run
/// at once; where they use one tensor and one of them writes it, they run in
/// the order in which they were launched.
///
/// On the CPU a launch returns when it is done, and a stream only says so.
#[derive(Clone)]
pub struct Stream {
    device: Device,
    #[cfg(feature = "cuda")]
    queue: Option<CudaQueue>,
}

impl Stream {
    pub(crate) fn host(device: &Device) -> Self {
        Self {
            device: device.clone(),
            #[cfg(feature = "cuda")]
            queue: None,
        }
    }

    #[cfg(feature = "cuda")]
    pub(crate) fn cuda(device: &Device, queue: &CudaQueue) -> Self {
        Self { device: device.clone(), queue: Some(queue.clone()) }
    }

    /// The device it belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Waits for what was launched on it.
    ///
    /// # Errors
    ///
    /// A [`crate::DeviceFault`] where a kernel has failed since the last wait.
    pub fn synchronize(&self) -> Result<()> {
        #[cfg(feature = "cuda")]
        if let Some(queue) = &self.queue {
            return queue.synchronize();
        }
        Ok(())
    }

    #[cfg(feature = "cuda")]
    pub(crate) fn queue(&self) -> Option<&CudaQueue> {
        self.queue.as_ref()
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream of {}", self.device)
    }
}
