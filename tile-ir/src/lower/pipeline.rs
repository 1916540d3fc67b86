//! Pipeline: the next iterations' elements are on their way while the present
//! one computes.
//!
//! A loop of the form
//!
//! ```text
//! for p { load tiles; barrier; compute; barrier }
//! ```
//!
//! becomes, with two buffers of each tile,
//!
//! ```text
//! load tiles[0] for the first p
//! for p {
//!     wait for what was fetched; barrier
//!     fetch for the next p        (into registers, or asynchronously)
//!     compute on tiles[stage]
//!     store into tiles[1 - stage] (what was fetched into registers)
//!     stage = 1 - stage
//! }
//! barrier
//! ```
//!
//! with one barrier an iteration instead of two: the buffer that is written was
//! last read before the barrier. With n buffers asynchronous copies run n - 1
//! iterations ahead.
//!
//! # When it may
//!
//! - Every tile is filled whole, by an unguarded store of each element, before
//!   the first barrier, and touched nowhere outside the loop: then each element
//!   read in an iteration was written in that iteration, and no value is carried
//!   in a tile from one iteration to the next.
//! - The fills and the loop's end read only buffers that the kernel never writes,
//!   and variables that the loop does not assign: then they may be evaluated
//!   ahead, and again.
//! - Nothing after the first barrier writes the tiles.
//!
//! Where one of these does not hold, the loop stays as it is.

mod fill;
mod stages;

use self::fill::{Fill, is_unchanged};
use self::stages::Stages;
use super::touched::Touched;
use crate::config::Config;
use crate::program::{
    Access, ExprId, ExprKind, LoopRange, Participants, ProgramKernel, Scope, Stmt, StmtKind,
    Target, TileId, Unroll, VarId,
};

/// How the tiles of a loop are buffered.
#[derive(Clone, Copy)]
struct Buffering {
    /// Buffers of each tile.
    buffers: u32,
    /// Whether there is one copy of the iteration for each buffer.
    is_unrolled: bool,
    /// Whether asynchronous copies are predicated and stand among the computation.
    is_predicated: bool,
    /// The narrowest asynchronous copy.
    async_bytes: u32,
}

/// Gives the tiles of each loop of that form as many buffers as `config` has
/// stages. `may_copy_async` says whether the device has asynchronous copies.
pub(super) fn pipeline_loops(kernel: &mut ProgramKernel, config: &Config, may_copy_async: bool) {
    if config.stages < 2 {
        return;
    }
    let async_bytes = match (may_copy_async, config.async_bytes) {
        (false, _) | (_, 0) => u32::MAX,
        (true, bytes) => bytes,
    };
    let is_unrolled = config.unroll_stages;
    let is_predicated = config.predicate_copies;
    let how = Buffering { buffers: config.stages, is_unrolled, is_predicated, async_bytes };
    let body = std::mem::take(&mut kernel.body);
    kernel.body = pipeline_in(kernel, body.clone(), &body, how);
}

fn pipeline_in(
    kernel: &mut ProgramKernel,
    stmts: Vec<Stmt>,
    whole: &[Stmt],
    how: Buffering,
) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in stmts {
        if let Some(staged) = Staged::of(kernel, &stmt, whole) {
            out.extend(Stages::of(kernel, &staged, how).written_out(kernel));
            continue;
        }
        for body in stmt.kind.bodies_mut() {
            *body = pipeline_in(kernel, std::mem::take(body), whole, how);
        }
        out.push(stmt);
    }
    out
}

/// A loop that can be pipelined, in parts.
struct Staged {
    var: VarId,
    start: ExprId,
    end: ExprId,
    step: i128,
    unroll: Unroll,
    fills: Vec<Fill>,
    /// Between the two barriers.
    compute: Vec<Stmt>,
    head: Stmt,
}

impl Staged {
    /// The parts of a loop of the form; `None` where it has another one.
    fn of(kernel: &ProgramKernel, stmt: &Stmt, whole: &[Stmt]) -> Option<Self> {
        let StmtKind::For { var, range, body, unroll } = &stmt.kind else { return None };
        let LoopRange::Between { start, end, step, reversed: false } = *range else { return None };
        let step = kernel.constant(step).filter(|step| *step > 0)?;
        if stmt.scope != Scope::Block {
            return None;
        }
        let first = body.iter().position(is_barrier)?;
        let (last, compute) = body.get(first + 1..)?.split_last()?;
        if !is_barrier(last) {
            return None;
        }
        let fills: Option<Vec<Fill>> =
            body[..first].iter().map(|stmt| Fill::of(kernel, stmt)).collect();
        let fills = fills.filter(|fills| !fills.is_empty())?;
        let tiles: Vec<TileId> = fills.iter().map(|fill| fill.tile).collect();
        let assigned = Touched::of(compute).vars;
        for (number, fill) in fills.iter().enumerate() {
            let is_filled_before = tiles[..number].contains(&fill.tile);
            if is_filled_before || !fill.may_run_ahead(kernel, &assigned) {
                return None;
            }
        }
        if !is_unchanged(kernel, end, &assigned) {
            return None;
        }
        let inside = |stmts: &[Stmt]| count_accesses(kernel, stmts, &tiles);
        let all = inside(whole);
        let here = inside(std::slice::from_ref(stmt));
        let written = inside(compute).writes;
        (all == here && written == 0).then(|| Self {
            var: *var,
            start,
            end,
            step,
            unroll: *unroll,
            fills,
            compute: compute.to_vec(),
            head: stmt.clone(),
        })
    }
}

fn is_barrier(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Barrier(Participants::Block))
}

/// Accesses to some tiles.
#[derive(Debug, Default, PartialEq, Eq)]
struct Accesses {
    reads: usize,
    writes: usize,
}

fn count_accesses(kernel: &ProgramKernel, stmts: &[Stmt], tiles: &[TileId]) -> Accesses {
    let touches = |access: &Access| match access.target {
        Target::Tile(tile) => usize::from(tiles.contains(&tile)),
        Target::Buffer(_) => 0,
    };
    let mut count = Accesses::default();
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Store { access, .. } => count.writes += touches(access),
            StmtKind::Atomic { access, .. } => {
                count.writes += touches(access);
                count.reads += touches(access);
            }
            StmtKind::Copy { dst, src, .. } => {
                count.writes += touches(dst);
                count.reads += touches(src);
            }
            StmtKind::Let { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Shuffle { .. }
            | StmtKind::Ballot { .. }
            | StmtKind::SetFragment { .. }
            | StmtKind::Commit(_)
            | StmtKind::Wait { .. }
            | StmtKind::Assume(_)
            | StmtKind::Items { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Barrier(_)
            | StmtKind::WarpBarrier => {}
        }
        stmt.kind.for_each_expr(&mut |expr| count.reads += loads_of(kernel, expr, &touches));
        for body in stmt.kind.bodies() {
            let inside = count_accesses(kernel, body, tiles);
            count.reads += inside.reads;
            count.writes += inside.writes;
        }
    }
    count
}

fn loads_of(kernel: &ProgramKernel, expr: ExprId, touches: &dyn Fn(&Access) -> usize) -> usize {
    let kind = &kernel.exprs[expr].kind;
    let mut count = match kind {
        ExprKind::Load(access) => touches(access),
        _ => 0,
    };
    kind.for_each_operand(&mut |operand| count += loads_of(kernel, operand, touches));
    count
}
