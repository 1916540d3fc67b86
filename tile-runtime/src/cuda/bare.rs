//! A launch with nothing of ours around the driver's call: what the host's part of
//! our launches is compared with.

use std::ffi::c_void;

use cudarc::driver::{CudaFunction, result};

use super::memory::CudaBuffer;
use super::module::load_text;
use super::queue::CudaQueue;
use crate::error::Result;

/// As many parameters as the addition of two vectors has.
const SOURCE: &str = "extern \"C\" __global__ void bare(const float* a, const float* b, float* c, \
                      int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; \
                      if (i < n) c[i] = a[i] + b[i]; }\n";
const ENTRY: &str = "bare";
const THREADS: u32 = 256;
const N_ELEMS: i32 = 1024;

/// A small kernel and its arguments, ready for the driver.
#[derive(Debug)]
pub(crate) struct BareLaunch {
    queue: CudaQueue,
    function: CudaFunction,
    arrays: [CudaBuffer; 3],
}

impl BareLaunch {
    pub(crate) fn new(queue: &CudaQueue) -> Result<Self> {
        let module = load_text(&queue.context, SOURCE)?.module;
        let function = module.load_function(ENTRY);
        let function = function.map_err(|error| queue.context.error("find a kernel", error))?;
        let n_bytes = N_ELEMS as usize * size_of::<f32>();
        let array = || CudaBuffer::zeros(queue, n_bytes);
        let arrays = [array()?, array()?, array()?];
        Ok(Self { queue: queue.clone(), function, arrays })
    }

    /// Calls the driver `launches` times, and nothing else.
    pub(crate) fn launch(&self, launches: usize) -> Result<()> {
        self.queue.context.bind()?;
        let mut addresses = [0u64; 3];
        for (address, array) in addresses.iter_mut().zip(&self.arrays) {
            *address = array.address();
        }
        let mut n = N_ELEMS;
        let [a, b, c] = &mut addresses;
        let mut params: [*mut c_void; 4] = [
            std::ptr::from_mut(a).cast(),
            std::ptr::from_mut(b).cast(),
            std::ptr::from_mut(c).cast(),
            std::ptr::from_mut(&mut n).cast(),
        ];
        let (function, stream) = (self.function.cu_function(), self.queue.stream.cu_stream());
        let blocks = (N_ELEMS as u32).div_ceil(THREADS);
        for _ in 0..launches {
            // SAFETY: function and stream are live, and of the context that is bound;
            // the parameters are the kernel's: three arrays of `N_ELEMS` elements, which
            // are released in order with the queue, and their number.
            let launched = unsafe {
                result::launch_kernel(
                    function,
                    (blocks, 1, 1),
                    (THREADS, 1, 1),
                    0,
                    stream,
                    &mut params,
                )
            };
            launched.map_err(|error| self.queue.context.error("launch a kernel", error))?;
        }
        Ok(())
    }
}
