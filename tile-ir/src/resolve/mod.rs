//! Names and types: from the syntax tree to the kernel.

use crate::diag::Diagnostics;
use crate::kernel::Kernel;
use crate::syntax::KernelItem;

/// Resolves a kernel.
///
/// # Errors
///
/// All mistakes found, at the user's tokens.
pub fn resolve_kernel(_item: &KernelItem) -> Result<Kernel, Diagnostics> {
    Err(Diagnostics::new())
}
