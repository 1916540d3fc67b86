//! NVRTC, NVIDIA's run-time compiler: CUDA C++ to CUBIN, with no GPU needed.
//!
//! The library is loaded from an explicit path, with a small binding of our own
//! and not with cudarc's: cudarc asks the loader for the name `libnvrtc.so`
//! first, so that a system's copy would win over the one that the user names;
//! it panics where the library or a function is missing; it reads result codes
//! as a Rust `enum`, which a newer library can leave; and it gives no CUBIN.
//! cudarc serves the driver.

mod compile;
mod find;
mod identity;
mod library;
mod report;

pub use compile::{CompileOptions, Cubin, Image};
pub(crate) use compile::{compile_once, compiled};
pub use find::VARIABLE;
pub(super) use find::toolkits;
pub(crate) use identity::identity;
pub use library::Nvrtc;
pub use report::{CompileReport, KernelResources};

use crate::error::Result;

/// NVRTC of this process: found and loaded once.
///
/// It is looked for where the environment variable [`VARIABLE`] says (a file or
/// a folder) and nowhere else if it is set; then in the CUDA toolkits that
/// `CUDA_PATH` and `CUDA_HOME` name, by the system's loader, in
/// `/usr/local/cuda*`, and in the folders of the PyPI wheels.
///
/// # Errors
///
/// Where there is none, or the variable names something else.
pub fn find() -> Result<&'static Nvrtc> {
    find::find()
}

/// Compiles CUDA C++ for an architecture such as `sm_90`, as launches do.
///
/// # Errors
///
/// Where NVRTC is not found, does not know the architecture, or refuses the
/// text; the last is an [`crate::InternalError`] with the numbered source.
pub fn compile(source: &str, architecture: &str, options: &CompileOptions) -> Result<Cubin> {
    find()?.compile(source, architecture, options)
}
