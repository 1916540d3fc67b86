//! The textual form of a kernel.

use super::Kernel;

/// Writes a kernel in the language's own syntax, with casts explicit.
pub fn print_kernel(kernel: &Kernel) -> String {
    kernel.name.clone()
}

/// Writes an expression in the user's syntax, without the casts that resolution
/// inserted.
pub fn print_expr(kernel: &Kernel, expr: super::ExprId) -> String {
    format!("{:?}", kernel.exprs[expr].kind)
}
