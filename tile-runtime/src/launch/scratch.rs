//! Copies of a launch's tensors, which candidates of a search may write.

use std::marker::PhantomData;

use super::argument::{ArgumentMemory, TensorArgument};
use super::run::host_bytes;
use crate::device::{Backend, Device};
use crate::error::{Error, Result, TensorError};

#[cfg(feature = "cuda")]
use crate::cuda::{Bench, CudaBuffer};

/// Memory of a tensor's size, on its device.
#[derive(Debug)]
pub(super) enum Scratch {
    /// The elements, row-major, from the first byte on; aligned for any type.
    Host(Vec<u64>),
    #[cfg(feature = "cuda")]
    Cuda(CudaBuffer),
}

/// What copies and compares arrays on a device.
#[derive(Debug)]
pub(super) enum Copier {
    Host,
    #[cfg(feature = "cuda")]
    Cuda(Bench),
}

impl Scratch {
    /// Memory of `device` with a copy of `bytes`.
    pub(super) fn of_bytes(bytes: &[u8], device: &Device) -> Result<Self> {
        match device.backend() {
            Backend::Cpu => {
                let mut words = reserve(bytes.len(), device)?;
                fill_words(&mut words, bytes);
                Ok(Self::Host(words))
            }
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => Ok(Self::Cuda(cuda.upload(bytes)?)),
        }
    }

    /// Memory with a copy of a tensor's elements.
    pub(super) fn copy_of(tensor: &TensorArgument<'_>, copier: &Copier) -> Result<Self> {
        let n_bytes = tensor.len_elems() * tensor.dtype.size_bytes() as usize;
        let mut scratch = match copier {
            Copier::Host => Self::Host(reserve(n_bytes, tensor.device)?),
            #[cfg(feature = "cuda")]
            Copier::Cuda(bench) => Self::Cuda(bench.array(n_bytes)?),
        };
        scratch.fill(tensor, copier)?;
        Ok(scratch)
    }

    /// Copies a tensor's elements here.
    pub(super) fn fill(&mut self, tensor: &TensorArgument<'_>, copier: &Copier) -> Result<()> {
        match (self, copier, &tensor.memory) {
            (Self::Host(words), Copier::Host, ArgumentMemory::Host(..)) => {
                let bytes = host_bytes(tensor).ok_or_else(elsewhere)?;
                fill_words(words, bytes);
                Ok(())
            }
            #[cfg(feature = "cuda")]
            (Self::Cuda(to), Copier::Cuda(bench), ArgumentMemory::Cuda(from)) => {
                bench.copy(from, to)
            }
            #[cfg(feature = "cuda")]
            _ => Err(elsewhere()),
        }
    }

    /// Another memory with the same elements.
    pub(super) fn duplicate(&self, copier: &Copier) -> Result<Self> {
        match (self, copier) {
            (Self::Host(words), Copier::Host) => Ok(Self::Host(words.clone())),
            #[cfg(feature = "cuda")]
            (Self::Cuda(from), Copier::Cuda(bench)) => {
                let mut to = bench.array(from.n_bytes())?;
                bench.copy(from, &mut to)?;
                Ok(Self::Cuda(to))
            }
            #[cfg(feature = "cuda")]
            _ => Err(elsewhere()),
        }
    }

    /// Number of words of 8 bytes in which two memories of one size differ.
    pub(super) fn differences(&self, other: &Self, copier: &Copier) -> Result<u64> {
        match (self, other, copier) {
            (Self::Host(one), Self::Host(other), Copier::Host) => {
                Ok(one.iter().zip(other).filter(|(a, b)| a != b).count() as u64)
            }
            #[cfg(feature = "cuda")]
            (Self::Cuda(one), Self::Cuda(other), Copier::Cuda(bench)) => {
                bench.differences(one, other)
            }
            #[cfg(feature = "cuda")]
            _ => Err(elsewhere()),
        }
    }

    /// Its first `n_bytes` bytes, after all work that writes them.
    pub(super) fn bytes(&self, n_bytes: usize) -> Result<Vec<u8>> {
        match self {
            Self::Host(words) => {
                let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
                bytes.truncate(n_bytes);
                Ok(bytes)
            }
            #[cfg(feature = "cuda")]
            Self::Cuda(buffer) => {
                let mut bytes = vec![0u8; n_bytes];
                buffer.download_elements(&mut bytes)?;
                Ok(bytes)
            }
        }
    }

    /// The memory as an argument's.
    pub(super) fn argument(&mut self) -> ArgumentMemory<'_> {
        match self {
            Self::Host(words) => ArgumentMemory::Host(words.as_mut_ptr().cast(), PhantomData),
            #[cfg(feature = "cuda")]
            Self::Cuda(buffer) => ArgumentMemory::Cuda(buffer),
        }
    }

    /// The tensor `like`, with its elements here.
    pub(super) fn stand_in<'a>(&'a mut self, like: &'a TensorArgument<'_>) -> TensorArgument<'a> {
        let memory = self.argument();
        TensorArgument { memory, ..*like }
    }
}

/// A tensor of one device beside memory of another.
fn elsewhere() -> Error {
    Error::internal("a candidate's memory is on another device than its tensor", "")
}

fn reserve(n_bytes: usize, device: &Device) -> Result<Vec<u64>> {
    let mut words = Vec::new();
    words.try_reserve_exact(n_bytes.div_ceil(8)).map_err(|_| TensorError::OutOfMemory {
        device: device.to_string(),
        bytes: n_bytes,
        free_bytes: None,
    })?;
    words.resize(n_bytes.div_ceil(8), 0);
    Ok(words)
}

fn fill_words(words: &mut [u64], bytes: &[u8]) {
    for (word, chunk) in words.iter_mut().zip(bytes.chunks(8)) {
        let mut whole = [0; 8];
        whole[..chunk.len()].copy_from_slice(chunk);
        *word = u64::from_ne_bytes(whole);
    }
}
