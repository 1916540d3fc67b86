//! Arrays in a CUDA device's memory.
//!
//! Allocation and release are ordered on a queue, the array's home, as all work
//! is: releasing an array does not wait for the kernels that use it. Uses on
//! other queues are ordered by events, made only where two queues meet: a queue
//! that reads waits for the last writer's queue, one that writes waits for the
//! readers' too, and the release waits for all of them.

use std::sync::{Mutex, PoisonError};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{CUdeviceptr, CUresult};
use tile_ir::dtype::DType;

use super::queue::CudaQueue;
use crate::element::Element;
use crate::error::{Result, TensorError};

/// An array of bytes in a device's memory, aligned to 256 bytes.
#[derive(Debug)]
pub(crate) struct CudaBuffer {
    /// 0 where the array is empty: the driver allocates no empty ones.
    address: CUdeviceptr,
    n_bytes: usize,
    home: CudaQueue,
    users: Mutex<Users>,
}

/// Queues whose work uses the array.
#[derive(Debug)]
struct Users {
    /// The queue that wrote last.
    writer: CudaQueue,
    /// The queues that have read since, and have waited for the writer.
    readers: Vec<CudaQueue>,
}

impl CudaBuffer {
    /// An array whose bytes are not set.
    pub(super) fn uninit(home: &CudaQueue, n_bytes: usize) -> Result<Self> {
        let address = if n_bytes == 0 { 0 } else { allocate(home, n_bytes)? };
        let users = Mutex::new(Users { writer: home.clone(), readers: Vec::new() });
        Ok(Self { address, n_bytes, home: home.clone(), users })
    }

    /// An array of zero bytes.
    pub(crate) fn zeros(home: &CudaQueue, n_bytes: usize) -> Result<Self> {
        let buffer = Self::uninit(home, n_bytes)?;
        if n_bytes > 0 {
            home.context.bind()?;
            let stream = home.stream.cu_stream();
            // SAFETY: the array has `n_bytes` bytes, allocated on this stream,
            // so that the write comes after the allocation.
            unsafe { result::memset_d8_async(buffer.address, 0, n_bytes, stream) }
                .map_err(|error| home.context.error("fill memory", error))?;
        }
        Ok(buffer)
    }

    /// Replaces the bytes after all work that uses them; `bytes` may be reused
    /// on return.
    pub(crate) fn copy_from(&mut self, bytes: &[u8]) -> Result<()> {
        assert_eq!(bytes.len(), self.n_bytes, "the caller has compared the lengths");
        if bytes.is_empty() {
            return Ok(());
        }
        self.use_on(&self.home, true)?;
        self.home.context.bind()?;
        let stream = self.home.stream.cu_stream();
        // SAFETY: source and destination have the same length; the destination
        // is ordered after its other users on this stream; the source lives
        // until the copy is done, for which this function waits below.
        let copied = unsafe { result::memcpy_htod_async(self.address, bytes, stream) };
        let copied = copied.map_err(|error| self.home.context.error("copy to the device", error));
        self.home.synchronize().and(copied)
    }

    /// Replaces the bytes by those of an array of the same size, on `queue`, after all
    /// work that uses them.
    pub(crate) fn copy_from_array(&mut self, from: &Self, queue: &CudaQueue) -> Result<()> {
        assert_eq!(from.n_bytes, self.n_bytes, "the caller copies tensors of one shape");
        if self.n_bytes == 0 {
            return Ok(());
        }
        from.use_on(queue, false)?;
        self.use_on(queue, true)?;
        queue.context.bind()?;
        let stream = queue.stream.cu_stream();
        // SAFETY: both arrays have `n_bytes` bytes and are two, since one of them is
        // borrowed exclusively; their other uses, and their release, are ordered with
        // this queue by `use_on`.
        let copied =
            unsafe { result::memcpy_dtod_async(self.address, from.address, self.n_bytes, stream) };
        copied.map_err(|error| queue.context.error("copy on the device", error))
    }

    /// Size in bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Copies the bytes after all work that writes them, and waits.
    fn download(&self, bytes: &mut [u8]) -> Result<()> {
        assert_eq!(bytes.len(), self.n_bytes, "the caller has compared the lengths");
        if bytes.is_empty() {
            return Ok(());
        }
        let queue = self.users.lock().unwrap_or_else(PoisonError::into_inner).writer.clone();
        queue.context.bind()?;
        let stream = queue.stream.cu_stream();
        // SAFETY: source and destination have the same length; the copy is
        // ordered after the last writer, on whose stream it is; the destination
        // is borrowed until the copy is done, for which this function waits.
        let copied = unsafe { result::memcpy_dtoh_async(bytes, self.address, stream) };
        let copied = copied.map_err(|error| queue.context.error("copy from the device", error));
        queue.synchronize().and(copied)
    }

    /// Copies the array, which is one of `T`, into `elements`, and waits.
    pub(crate) fn download_elements<T: Element>(&self, elements: &mut [T]) -> Result<()> {
        let n_bytes = size_of_val(elements);
        if T::DTYPE == DType::Bool {
            // A byte that is neither 0 nor 1 must never be seen as a `bool`.
            let mut bytes = vec![0; n_bytes];
            self.download(&mut bytes)?;
            bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
            let source = bytes.as_ptr();
            // SAFETY: `T` is `bool` (`Element` is sealed); both have `n_bytes`
            // bytes and do not overlap; each byte is 0 or 1.
            unsafe { std::ptr::copy_nonoverlapping(source, elements.as_mut_ptr().cast(), n_bytes) };
            return Ok(());
        }
        // SAFETY: the slice covers exactly the elements and borrows them
        // exclusively; `T` is a number (`Element` is sealed), for which every
        // bit pattern is a value.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast::<u8>(), n_bytes) };
        self.download(bytes)
    }

    /// Its address on the device, 0 where it is empty.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Makes `queue` wait for the work that must come before a use of the array
    /// there, and notes the use. To be called before the use is queued, under a
    /// borrow of the tensor that is exclusive where it writes.
    pub(crate) fn use_on(&self, queue: &CudaQueue, writes: bool) -> Result<()> {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if !writes {
            if !users.readers.contains(queue) {
                queue.wait_for(&users.writer)?;
                users.readers.push(queue.clone());
            }
            return Ok(());
        }
        for user in users.readers.iter().chain([&users.writer]) {
            queue.wait_for(user)?;
        }
        users.readers.clear();
        if users.writer != *queue {
            users.writer = queue.clone();
        }
        Ok(())
    }
}

impl Drop for CudaBuffer {
    fn drop(&mut self) {
        if self.address == 0 {
            return;
        }
        // A failure here is that of a device which has failed before; there is
        // no one to tell, and the next wait tells it.
        if self.home.context.bind().is_err() {
            return;
        }
        let users = self.users.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut ordered = true;
        for user in users.readers.iter().chain([&users.writer]) {
            ordered &= self.home.wait_for(user).is_ok();
        }
        if !ordered {
            return;
        }
        if self.home.context.cuda.has_async_alloc() {
            // SAFETY: the address is of `allocate`, on this stream, and is freed
            // once; all uses come before, by the waits above.
            let _ = unsafe { result::free_async(self.address, self.home.stream.cu_stream()) };
        } else if self.home.stream.synchronize().is_ok() {
            // SAFETY: as above; the work that uses it is done.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

/// Allocates at least one byte.
fn allocate(home: &CudaQueue, n_bytes: usize) -> Result<CUdeviceptr> {
    let context = &home.context;
    context.bind()?;
    let attempt = || {
        if context.cuda.has_async_alloc() {
            // SAFETY: the stream is live; the size is not 0. The memory is used
            // on this stream, or on others that wait for it.
            unsafe { result::malloc_async(home.stream.cu_stream(), n_bytes) }
        } else {
            // SAFETY: the context is bound; the size is not 0.
            unsafe { result::malloc_sync(n_bytes) }
        }
    };
    const NO_MEMORY: DriverError = DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    let outcome = match attempt() {
        // Arrays that were released on busy queues come free with a wait.
        Err(NO_MEMORY) => context.cuda.synchronize().and_then(|()| attempt()),
        outcome => outcome,
    };
    outcome.map_err(|error| {
        if error != NO_MEMORY {
            return context.error("allocate memory", error);
        }
        let free_bytes = context.cuda.mem_get_info().ok().map(|(free, _)| free);
        TensorError::OutOfMemory { device: context.label.clone(), bytes: n_bytes, free_bytes }
            .into()
    })
}
