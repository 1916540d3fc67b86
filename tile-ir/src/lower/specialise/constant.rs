//! Which constants travel with the launch.
//!
//! A launch's parameters lie in constant memory. Constants whose extents the
//! configuration decides are passed there, first come, first served, as long as
//! there is room: each launch then has its own copy, whatever runs beside it. The
//! others are read from global memory, where the host keeps them as well.

use crate::dtype::DType;
use crate::program::BufferSpace;

/// To what the parameters of a launch are aligned, at most.
const ALIGNMENT_BYTES: u64 = 16;

/// The launch parameters that are free for constants.
#[derive(Debug)]
pub(super) struct Parameters {
    free_bytes: u64,
}

impl Parameters {
    /// What `n_words` parameters of at most 8 bytes leave, with the gaps that
    /// alignment may make around each of them.
    pub(super) fn beside(n_words: usize) -> Self {
        Self {
            free_bytes: BufferSpace::PARAMETER_BYTES
                .saturating_sub(n_words as u64 * ALIGNMENT_BYTES),
        }
    }

    /// Where a constant goes. An extent that is no literal is `None`.
    pub(super) fn take(
        &mut self,
        dtype: DType,
        extents: impl Iterator<Item = Option<i128>>,
    ) -> BufferSpace {
        let mut elems = 1u64;
        for extent in extents {
            let extent = extent.and_then(|extent| u64::try_from(extent).ok());
            match extent.and_then(|extent| elems.checked_mul(extent)) {
                Some(product) => elems = product,
                None => return BufferSpace::Global,
            }
        }
        let bytes = elems.saturating_mul(dtype.size_bytes().into());
        let bytes = bytes.checked_next_multiple_of(ALIGNMENT_BYTES).unwrap_or(u64::MAX);
        match (u32::try_from(elems), self.free_bytes.checked_sub(bytes)) {
            (Ok(elems), Some(left)) if elems > 0 => {
                self.free_bytes = left;
                BufferSpace::Constant { elems }
            }
            _ => BufferSpace::Global,
        }
    }
}
