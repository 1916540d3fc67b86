//! What the code that `tiled_kernel!` expands to calls. Not for use by hand:
//! it changes with the macro, whose version is pinned to this crate's.

use std::sync::OnceLock;

use tile_ir::check::CheckedKernel;
use tile_ir::dtype::DType;
use tile_ir::encode::{DecodeError, decode};

use crate::error::{Error, Result};
use crate::kernel::Kernel;

pub use crate::launch::{Argument, launch};

/// A checked kernel as the macro has put it into the program.
#[derive(Debug)]
pub struct EmbeddedKernel {
    bytes: &'static [u8],
    file: &'static str,
    decoded: OnceLock<Result<CheckedKernel, DecodeError>>,
    hash: OnceLock<String>,
}

impl EmbeddedKernel {
    /// The kernel that `bytes` encode, written in the source file `file`.
    pub const fn new(bytes: &'static [u8], file: &'static str) -> Self {
        Self { bytes, file, decoded: OnceLock::new(), hash: OnceLock::new() }
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
        decoded.as_ref().map_err(|error| {
            Error::internal(format!("a kernel of {} cannot be read", self.file), error.to_string())
        })
    }
}

/// The handle of a kernel with its type parameters bound.
///
/// # Panics
///
/// Where the bytes are not of this version's `tiled_kernel!`.
pub fn kernel(embedded: &'static EmbeddedKernel, types: &[DType]) -> Kernel {
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
