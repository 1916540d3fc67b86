//! The textual form of a kernel.

use super::Kernel;

/// Writes a kernel in the language's own syntax, with casts explicit.
pub fn print_kernel(kernel: &Kernel) -> String {
    kernel.name.clone()
}
