//! Kernels that no check has passed, for tests of what checked launches find.

use serde::{Deserialize, Serialize};

use super::owned::check_work_items;
use super::uniformity;
use crate::diag::Diagnostics;
use crate::kernel::Kernel;

/// A kernel whose author has bypassed the checks of races, divergence, initialisation,
/// bounds and pads: its names and types are resolved, and nothing else is known of it.
///
/// It is none of what [`crate::lower::lower`] takes; [`crate::lower::lower_unchecked`]
/// makes of it a program that only the CPU device's checked mode runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UncheckedKernel {
    kernel: Kernel,
}

impl UncheckedKernel {
    /// Takes a kernel as it was resolved.
    ///
    /// # Errors
    ///
    /// Where a cooperative loop names what its block has no one value of.
    pub fn new(kernel: Kernel) -> Result<Self, Diagnostics> {
        let mut diags = Diagnostics::new();
        check_work_items(&kernel, &uniformity(&kernel), &mut diags);
        if diags.has_errors() { Err(diags) } else { Ok(Self { kernel }) }
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }
}
