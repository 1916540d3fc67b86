//! What kernels are compared with.

#[cfg(feature = "peers")]
use std::path::Path;

use crate::element::Element;
use crate::error::{Error, Result};
use crate::stream::Stream;
use crate::tensor::{Memory, Tensor};

/// Copies all elements, by the driver on a CUDA device.
///
/// # Errors
///
/// Where the tensors differ in device or number of elements.
pub fn copy<T: Element, const R: usize, const S: usize>(
    stream: &Stream,
    from: &Tensor<T, R>,
    to: &mut Tensor<T, S>,
) -> Result<()> {
    if from.device() != to.device() || from.len() != to.len() {
        return Err(misuse("a copy between tensors of different devices or lengths"));
    }
    let to = to.parts_mut().memory.ok_or_else(|| misuse("a copy to a view"))?;
    match (from.memory(), to) {
        (Memory::Host(from), Memory::Host(to)) => to.copy_from_slice(from),
        #[cfg(feature = "cuda")]
        (Memory::Cuda(from), Memory::Cuda(to)) => {
            let queue = stream.queue().ok_or_else(|| misuse("a stream of another device"))?;
            to.copy_from_array(from, queue)?;
        }
        #[cfg(feature = "cuda")]
        (Memory::Host(_), Memory::Cuda(_)) | (Memory::Cuda(_), Memory::Host(_)) => {
            return Err(misuse("a copy between different memories"));
        }
    }
    let _ = stream;
    Ok(())
}

fn misuse(what: &str) -> Error {
    Error::internal(what, "")
}

/// cuBLAS on one stream, without TF32.
#[cfg(feature = "peers")]
#[derive(Debug)]
pub struct Blas(crate::cuda::Blas);

#[cfg(feature = "peers")]
impl Blas {
    /// Loads it: from `folder` where one is given, else by the system's loader.
    ///
    /// # Errors
    ///
    /// Where there is no such library, or the stream is the CPU's.
    pub fn load(stream: &Stream, folder: Option<&Path>) -> Result<Self> {
        let queue = stream.queue().ok_or_else(|| misuse("cuBLAS needs a CUDA device"))?;
        crate::cuda::Blas::load(queue, folder).map(Self)
    }

    /// Its version: `13.0.2`.
    pub fn version(&self) -> String {
        self.0.version()
    }

    /// `c = a · b`, on the stream.
    ///
    /// # Errors
    ///
    /// Where the shapes do not fit, or cuBLAS fails.
    pub fn matmul(
        &self,
        a: &Tensor<f32, 2>,
        b: &Tensor<f32, 2>,
        c: &mut Tensor<f32, 2>,
    ) -> Result<()> {
        let ([m, k], [inner, n]) = (a.shape(), b.shape());
        if inner != k || c.shape() != [m, n] {
            return Err(misuse("a product of shapes that do not fit"));
        }
        self.multiply([1, m, n, k], a.memory(), b.memory(), c.memory())
    }

    /// `c[i] = a[i] · b[i]`, on the stream.
    ///
    /// # Errors
    ///
    /// Where the shapes do not fit, or cuBLAS fails.
    pub fn batched_matmul(
        &self,
        a: &Tensor<f32, 3>,
        b: &Tensor<f32, 3>,
        c: &mut Tensor<f32, 3>,
    ) -> Result<()> {
        let ([batches, m, k], [others, inner, n]) = (a.shape(), b.shape());
        if others != batches || inner != k || c.shape() != [batches, m, n] {
            return Err(misuse("a product of shapes that do not fit"));
        }
        self.multiply([batches, m, n, k], a.memory(), b.memory(), c.memory())
    }

    fn multiply(
        &self,
        shape: [usize; 4],
        a: &Memory<f32>,
        b: &Memory<f32>,
        c: &Memory<f32>,
    ) -> Result<()> {
        match (a, b, c) {
            (Memory::Cuda(a), Memory::Cuda(b), Memory::Cuda(c)) => self.0.sgemm(shape, a, b, c),
            _ => Err(misuse("cuBLAS multiplies tensors of a CUDA device")),
        }
    }
}
