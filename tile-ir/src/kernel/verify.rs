//! Structural rules that every kernel fulfils, however it was made.

use super::Kernel;

/// A broken structural rule: always a defect of whoever made the kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}`: {rule}")]
pub struct KernelFault {
    /// The kernel's name.
    pub kernel: String,
    /// What does not hold, with the ids concerned.
    pub rule: String,
}

/// Checks a kernel's structure.
///
/// # Errors
///
/// Every rule that is broken.
pub fn verify_kernel(_kernel: &Kernel) -> Result<(), Vec<KernelFault>> {
    Ok(())
}
