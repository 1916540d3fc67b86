//! cuBLAS, which products are compared with in benchmarks.

use std::ffi::c_int;
use std::path::Path;

use cudarc::cublas::result::{CublasError, create_handle, destroy_handle, set_stream};
use cudarc::cublas::sys::{
    self, cublasHandle_t, cublasMath_t, cublasOperation_t, cublasSetMathMode,
    cublasSetWorkspace_v2, cublasSgemm_v2, cublasSgemmStridedBatched,
};
use libloading::Library;

use super::memory::CudaBuffer;
use super::queue::CudaQueue;
use crate::error::{EnvironmentError, Error, Result};

/// The libraries of cuBLAS, each before the one that asks the loader for it.
const LIBRARIES: [&str; 2] = ["libcublasLt.so", "libcublas.so"];
const MAJORS: [&str; 3] = [".13", ".12", ""];

/// What cuBLAS itself takes on Hopper; less on others. Its own workspace would
/// be allocated while a graph is captured.
///
/// # Source
///
/// cuBLAS 13.0 documentation, `cublasSetWorkspace()`.
const WORKSPACE_BYTES: usize = 32 << 20;

/// cuBLAS on one queue.
#[derive(Debug)]
pub(crate) struct Blas {
    handle: cublasHandle_t,
    queue: CudaQueue,
    /// Lives as long as the handle.
    _workspace: CudaBuffer,
}

impl Blas {
    /// Loads it: from `folder` where one is given, else by the system's loader.
    pub(crate) fn load(queue: &CudaQueue, folder: Option<&Path>) -> Result<Self> {
        if let Some(folder) = folder {
            preload(folder);
        }
        // SAFETY: loading runs the libraries' initialisers; they are NVIDIA's by
        // their names, and their initialisers ask for nothing.
        if !unsafe { sys::is_culib_present() } {
            let place = folder.map_or_else(
                || "by the system's loader".to_owned(),
                |folder| format!("in {}", folder.display()),
            );
            let reason =
                format!("libcublas.so.13 or .12 and its libcublasLt are not found {place}");
            return Err(error(queue, "load cuBLAS", reason));
        }
        queue.context.bind()?;
        let workspace = CudaBuffer::uninit(queue, WORKSPACE_BYTES)?;
        queue.synchronize()?;
        let handle = create_handle().map_err(|e| failure(queue, "start cuBLAS", e))?;
        let address = workspace.address() as *mut std::ffi::c_void;
        let blas = Self { handle, queue: queue.clone(), _workspace: workspace };
        let stream = queue.stream.cu_stream();
        // SAFETY: the handle is live; the stream and the workspace, of as many
        // bytes as is said, live as long as it does, for the value holds both.
        let set = unsafe {
            set_stream(handle, stream.cast())
                .and_then(|()| cublasSetWorkspace_v2(handle, address, WORKSPACE_BYTES).result())
                .and_then(|()| {
                    cublasSetMathMode(handle, cublasMath_t::CUBLAS_DEFAULT_MATH).result()
                })
        };
        set.map_err(|e| failure(queue, "start cuBLAS", e))?;
        Ok(blas)
    }

    /// Its version: `13.0.2`.
    pub(crate) fn version(&self) -> String {
        let mut version: c_int = 0;
        // SAFETY: the handle is live; the pointer is to a live integer.
        let got = unsafe { sys::cublasGetVersion_v2(self.handle, &mut version) };
        match got.result() {
            Ok(()) => {
                format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100)
            }
            Err(_) => "of unknown version".to_owned(),
        }
    }

    /// `c[i] = a[i] · b[i]`, row-major, for `[batches, m, k]` and
    /// `[batches, k, n]`. The caller has `c` borrowed exclusively.
    pub(crate) fn sgemm(
        &self,
        [batches, m, n, k]: [usize; 4],
        a: &CudaBuffer,
        b: &CudaBuffer,
        c: &CudaBuffer,
    ) -> Result<()> {
        let queue = &self.queue;
        let n_elems = [batches * m * k, batches * k * n, batches * m * n];
        let sizes = [a, b, c].map(CudaBuffer::n_bytes);
        let extents = [batches, m, n, k].map(|extent| c_int::try_from(extent).unwrap_or(-1));
        if sizes != n_elems.map(|n_elems| 4 * n_elems) || extents.iter().any(|extent| *extent < 1) {
            let reason = format!("arrays of {sizes:?} bytes for a product of {extents:?}");
            return Err(Error::internal("cuBLAS is given arrays that do not fit", reason));
        }
        let [batches, m, n, k] = extents;
        let stride = |rows: c_int, columns: c_int| i64::from(rows) * i64::from(columns);
        a.use_on(queue, false)?;
        b.use_on(queue, false)?;
        c.use_on(queue, true)?;
        queue.context.bind()?;
        let (one, zero) = (1.0f32, 0.0f32);
        let plain = cublasOperation_t::CUBLAS_OP_N;
        let [a, b, c] = [a, b, c].map(|buffer| buffer.address() as *mut f32);
        // One product by the function for one: it may choose another kernel.
        // SAFETY: handle and stream are live; the arrays have the elements that
        // the extents and strides say, are released in order with the queue,
        // and `use_on` has ordered their other uses; both factors are on the
        // host, where the call reads them before it returns. cuBLAS is
        // column-major: it is given cᵀ = bᵀ · aᵀ.
        let done = unsafe {
            let (handle, op) = (self.handle, plain);
            if batches == 1 {
                cublasSgemm_v2(handle, op, op, n, m, k, &one, b, n, a, k, &zero, c, n)
            } else {
                let (of_a, of_b, of_c) = (stride(m, k), stride(k, n), stride(m, n));
                cublasSgemmStridedBatched(
                    handle, op, op, n, m, k, &one, b, n, of_b, a, k, of_a, &zero, c, n, of_c,
                    batches,
                )
            }
        };
        done.result().map_err(|e| failure(queue, "multiply by cuBLAS", e))
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        // Kernels that use the workspace may still run.
        let _ = self.queue.synchronize();
        // SAFETY: the handle was made by `load` and is destroyed only here.
        let _ = unsafe { destroy_handle(self.handle) };
    }
}

/// Loads the libraries of a folder, so that the loader has them under the names
/// that they are asked for by.
fn preload(folder: &Path) {
    for name in LIBRARIES {
        for major in MAJORS {
            let path = folder.join(format!("{name}{major}"));
            // SAFETY: as in `load`.
            if let Ok(library) = unsafe { Library::new(&path) } {
                std::mem::forget(library);
                break;
            }
        }
    }
}

fn error(queue: &CudaQueue, doing: &str, reason: String) -> Error {
    let device = queue.context.label.clone();
    EnvironmentError::Driver { device, doing: doing.to_owned(), reason }.into()
}

fn failure(queue: &CudaQueue, doing: &str, CublasError(status): CublasError) -> Error {
    error(queue, doing, format!("{status:?}"))
}
