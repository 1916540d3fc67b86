//! Runs a program thread by thread, with a shadow of its memory: the re-check of
//! what lowering has made.
//!
//! The checks prove that a *kernel* has no race. Passes then move barriers, give
//! tiles several buffers, put copies in flight. Here the bound program of one
//! small launch is executed item by item, and of each element is kept who wrote
//! and who read it since the last barrier. What comes out is what these inputs
//! do: addresses that depend on data are those of the data given.
//!
//! # What is ordered
//!
//! Within a block, between two barriers: what one thread does, one `Items` after
//! another, and the statements of one item. Not ordered are two threads, and two
//! items of one `Items`, be they of one thread: devices may interleave them. A
//! [`StmtKind::WarpBarrier`] orders the threads of its warp. Between blocks
//! nothing is ordered.
//!
//! A copy with a token happens anywhere between the statement and the
//! [`StmtKind::Wait`] that completes it: in between nobody may touch what it
//! writes, its own thread neither, nor write what it reads. For the thread that
//! waits it is done then; for others after the next barrier.
//!
//! Atomic updates do not race with one another. What one value at block scope is
//! computed from, every thread reads.
//!
//! Beside races it reports reads of elements of a tile that no one has written in
//! this block, unguarded indices outside an array, and vector accesses that are
//! not aligned.
//!
//! [`StmtKind::WarpBarrier`]: super::StmtKind::WarpBarrier
//! [`StmtKind::Wait`]: super::StmtKind::Wait

mod axes;
mod cell;
mod eval;
mod finding;
mod flight;
mod items;
mod lanes;
mod machine;
mod memory;
mod ranges;
mod stmt;

pub use finding::{AccessSite, Between, Finding, Touch};

use self::machine::{Machine, Stop};
use super::Program;
use crate::value::ArgValue;

/// What one launch did.
#[derive(Clone, Debug, PartialEq)]
pub struct ShadowReport {
    /// Each pair of statements and each statement once, in the order of execution.
    pub findings: Vec<Finding>,
    /// Whether the launch ran to its end. Where it did not, memory holds what was
    /// written so far.
    pub is_complete: bool,
    /// Expressions and statements that were evaluated.
    pub steps: u64,
}

impl ShadowReport {
    /// Whether the launch ended and nothing was found.
    pub fn is_clean(&self) -> bool {
        self.is_complete && self.findings.is_empty()
    }
}

/// Why a program cannot be run so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShadowError {
    /// The program breaks a rule of its verifier, or is given other memory than
    /// it declares.
    #[error("program `{kernel}` cannot be run with a shadow: {what}")]
    Broken {
        /// The kernel.
        kernel: String,
        /// What is wrong.
        what: String,
    },
    /// Warps have several roles: which run at once is not modelled.
    #[error("program `{kernel}` has warps of several roles")]
    Roles {
        /// The kernel.
        kernel: String,
    },
}

/// Runs one kernel of a plan, with at most `max_steps` expressions and statements
/// evaluated. `args` holds one value for each argument, `buffers` the bytes of
/// each buffer, by id; they are read and written.
///
/// # Errors
///
/// Where the kernel cannot be run so.
pub fn run_shadowed(
    program: &Program,
    kernel: usize,
    args: &[ArgValue],
    buffers: &mut [Vec<u8>],
    max_steps: u64,
) -> Result<ShadowReport, ShadowError> {
    let Some(text) = program.kernels.get(kernel) else {
        let what = format!("there is no kernel {kernel}");
        return Err(ShadowError::Broken { kernel: String::new(), what });
    };
    let broken = |what| ShadowError::Broken { kernel: text.name.clone(), what };
    if text.roles.len() > 1 {
        return Err(ShadowError::Roles { kernel: text.name.clone() });
    }
    let mut machine = Machine::new(text, args, buffers, max_steps).map_err(broken)?;
    let is_complete = match machine.run() {
        Ok(()) => true,
        Err(Stop::OutOfSteps) => false,
        Err(Stop::Broken(what)) => return Err(broken(what)),
    };
    let report = ShadowReport {
        findings: finding::describe(program, kernel, &machine),
        is_complete,
        steps: machine.steps(),
    };
    machine.write_back(buffers);
    Ok(report)
}
