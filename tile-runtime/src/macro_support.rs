//! What the code that `tiled_kernel!` expands to calls. Not for use by hand:
//! it changes with the macro, whose version is pinned to this crate's.

use std::sync::OnceLock;

use tile_ir::check::{CheckedKernel, UncheckedKernel};
use tile_ir::dtype::DType;
use tile_ir::encode::{DecodeError, decode, decode_unchecked};

use crate::error::{Error, Result};
use crate::kernel::Kernel;

pub use crate::launch::{Argument, launch};

/// A kernel as the macro has put it into the program.
#[derive(Debug)]
pub struct EmbeddedKernel {
    bytes: &'static [u8],
    file: &'static str,
    decoded: OnceLock<Result<CheckedKernel, DecodeError>>,
    /// Of one whose author bypasses the checks.
    unchecked: Option<OnceLock<Result<UncheckedKernel, DecodeError>>>,
    hash: OnceLock<String>,
}

impl EmbeddedKernel {
    /// The kernel that `bytes` encode, written in the source file `file`.
    pub const fn new(bytes: &'static [u8], file: &'static str) -> Self {
        Self { bytes, file, decoded: OnceLock::new(), unchecked: None, hash: OnceLock::new() }
    }

    /// The same of a kernel whose author bypasses the checks.
    pub const fn unchecked(bytes: &'static [u8], file: &'static str) -> Self {
        let unchecked = Some(OnceLock::new());
        Self { bytes, file, decoded: OnceLock::new(), unchecked, hash: OnceLock::new() }
    }

    /// The kernel, where its author bypasses the checks.
    pub(crate) fn get_unchecked(&self) -> Option<Result<&UncheckedKernel>> {
        let decoded = self.unchecked.as_ref()?.get_or_init(|| decode_unchecked(self.bytes));
        Some(decoded.as_ref().map_err(|error| self.unreadable(error)))
    }

    fn unreadable(&self, error: &DecodeError) -> Error {
        Error::internal(format!("a kernel of {} cannot be read", self.file), error.to_string())
    }

    /// The user's source file, as `file!()` names it.
    pub(crate) fn file(&self) -> &'static str {
        self.file
    }

    /// What the tuner knows it by, computed when it is first asked for.
    pub(crate) fn hash(&self) -> &OnceLock<String> {
        &self.hash
    }

    /// The kernel, decoded on the first call.
    pub(crate) fn get(&self) -> Result<&CheckedKernel> {
        let decoded = self.decoded.get_or_init(|| decode(self.bytes));
        decoded.as_ref().map_err(|error| self.unreadable(error))
    }
}

/// The handle of a kernel with its type parameters bound.
///
/// # Panics
///
/// Where the bytes are not of this version's `tiled_kernel!`, and of a kernel whose author
/// bypasses the checks: there is nothing to be known of it.
pub fn kernel(embedded: &'static EmbeddedKernel, types: &[DType]) -> Kernel {
    assert!(embedded.unchecked.is_none(), "an unchecked kernel can only be launched");
    match embedded.get() {
        Ok(checked) => Kernel::new(checked, embedded.file(), types.to_vec()),
        Err(error) => panic!("{error}"),
    }
}

/// Stands in the functions of a kernel that has not compiled, so that its
/// callers give no errors of their own. Never runs: the kernel's own error
/// stops the compiler.
pub fn failed_to_compile() -> ! {
    unreachable!("a kernel with errors does not compile")
}
