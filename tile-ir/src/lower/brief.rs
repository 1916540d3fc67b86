//! Loops that would be written out to a long text stay loops, of parts.
//!
//! As a pass of [`super::lower`] it keeps a loop within the instruction cache; as
//! [`limit_unrolling`] it makes a program that compiles quickly, for launches that
//! cannot wait for the compiler. Results are the same, bit by bit.

use crate::program::{LoopRange, Program, ProgramKernel, Stmt, StmtKind, Unroll};

/// Repeats the bodies of loops at most so often that a thread's text has about
/// `n_stmts` statements in each, its items counted each for itself.
pub fn limit_unrolling(program: &mut Program, n_stmts: u64) {
    for kernel in &mut program.kernels {
        limit_loops(kernel, n_stmts);
    }
}

/// Repeats the bodies of one kernel's loops at most so often. Assumes and changes
/// nothing but the number of repetitions.
pub(super) fn limit_loops(kernel: &mut ProgramKernel, n_stmts: u64) {
    let mut body = std::mem::take(&mut kernel.body);
    limit(kernel, &mut body, n_stmts);
    kernel.body = body;
}

/// Limits the loops of a list; the statements of its text.
fn limit(kernel: &ProgramKernel, stmts: &mut [Stmt], most: u64) -> u64 {
    stmts.iter_mut().map(|stmt| limit_stmt(kernel, stmt, most)).fold(0, u64::saturating_add)
}

fn limit_stmt(kernel: &ProgramKernel, stmt: &mut Stmt, most: u64) -> u64 {
    let inside = stmt
        .kind
        .bodies_mut()
        .into_iter()
        .map(|body| limit(kernel, body, most))
        .fold(0, u64::saturating_add);
    match &mut stmt.kind {
        StmtKind::Items { domain, .. } => {
            inside.saturating_mul(kernel.domains[*domain].layout.n_registers().into())
        }
        StmtKind::For { range, unroll, .. } => {
            let times = match *unroll {
                Unroll::Never | Unroll::Auto => return inside.saturating_add(1),
                Unroll::By(times) => u64::from(times),
                Unroll::Full => trips(kernel, range).unwrap_or(1),
            };
            let fitting = most / inside.max(1);
            if times <= fitting {
                return inside.saturating_mul(times);
            }
            // One that leaves no rest, which would be written out too.
            let fitting = (1..=fitting.max(1)).rev().find(|part| times.is_multiple_of(*part));
            let fitting = fitting.unwrap_or(1);
            *unroll = match u32::try_from(fitting) {
                Ok(times @ 2..) => Unroll::By(times),
                Ok(_) | Err(_) => Unroll::Never,
            };
            inside.saturating_mul(fitting)
        }
        StmtKind::Let { .. }
        | StmtKind::Assign { .. }
        | StmtKind::SetFragment { .. }
        | StmtKind::Store { .. }
        | StmtKind::Atomic { .. }
        | StmtKind::Copy { .. }
        | StmtKind::Commit(_)
        | StmtKind::Wait { .. }
        | StmtKind::While { .. }
        | StmtKind::If { .. }
        | StmtKind::Assume(_)
        | StmtKind::Barrier(_)
        | StmtKind::Shuffle { .. }
        | StmtKind::Ballot { .. }
        | StmtKind::WarpBarrier => inside.saturating_add(1),
    }
}

/// How often a loop runs whose bounds are constant.
fn trips(kernel: &ProgramKernel, range: &LoopRange) -> Option<u64> {
    let constant = |expr| kernel.constant(expr);
    let trips = match *range {
        LoopRange::Between { start, end, step, .. } => {
            let (start, end, step) = (constant(start)?, constant(end)?, constant(step)?);
            if step <= 0 {
                0
            } else {
                (end - start).max(0).unsigned_abs().div_ceil(step.unsigned_abs())
            }
        }
        LoopRange::Halving(n) | LoopRange::Doubling(n) => {
            u128::from(constant(n)?.max(1).unsigned_abs().ilog2())
        }
    };
    u64::try_from(trips).ok()
}
