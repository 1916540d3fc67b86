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

/// Statements of a thread, about eight instructions each, that an instruction cache of
/// 32 KiB holds.
const CACHED_STMTS: u64 = 256;
/// Times that compilers repeat the body of a loop of any length.
const REPEATED: u64 = 4;

/// Keeps loops of any length from being repeated by the compiler where each of a thread's
/// many items has one of its own: the text would be longer than the instruction cache.
/// Assumes and changes nothing but the number of repetitions.
///
/// Measured on an H200: a box blur with 64 items a thread waits for instructions in 70 %
/// of its cycles.
pub(super) fn keep_loops_of_items_short(kernel: &mut ProgramKernel) {
    let mut body = std::mem::take(&mut kernel.body);
    for stmt in &mut body {
        keep_short(kernel, stmt, 1);
    }
    kernel.body = body;
}

fn keep_short(kernel: &ProgramKernel, stmt: &mut Stmt, copies: u64) {
    let copies = match &stmt.kind {
        StmtKind::Items { domain, .. } => kernel.domains[*domain].layout.n_registers().into(),
        _ => copies,
    };
    let is_long = |body: &[Stmt]| copies * REPEATED * n_stmts(body) > CACHED_STMTS;
    if let StmtKind::For { unroll: unroll @ Unroll::Auto, body, .. } = &mut stmt.kind
        && copies > 1
        && is_long(body)
    {
        *unroll = Unroll::Never;
    }
    for body in stmt.kind.bodies_mut() {
        body.iter_mut().for_each(|stmt| keep_short(kernel, stmt, copies));
    }
}

fn n_stmts(body: &[Stmt]) -> u64 {
    let of_stmt = |stmt: &Stmt| 1 + stmt.kind.bodies().into_iter().map(n_stmts).sum::<u64>();
    body.iter().map(of_stmt).sum()
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
