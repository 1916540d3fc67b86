//! Which tiles may lie in the same place: those that are never in use together.

use super::{
    Access, ExprId, ExprKind, Participants, ProgramKernel, Stmt, StmtKind, Target, TileId,
};

/// Whether the places of two tiles may overlap: all accesses to one come before all
/// those to the other, with a barrier of the whole block between them on every path.
///
/// The statements of the body are looked at in order; a loop or a conditional that
/// touches both tiles keeps them apart. Asynchronous copies into a tile are waited
/// for before what they bring is read, which is an access as well.
pub fn may_share(kernel: &ProgramKernel, a: TileId, b: TileId) -> bool {
    is_before(kernel, a, b) || is_before(kernel, b, a)
}

/// Whether `first` is done with, behind a barrier, before `then` is touched.
fn is_before(kernel: &ProgramKernel, first: TileId, then: TileId) -> bool {
    let body = &kernel.body;
    let last = body.iter().rposition(|stmt| touches(kernel, stmt, first));
    let next = body.iter().position(|stmt| touches(kernel, stmt, then));
    match (last, next) {
        (Some(last), Some(next)) if last < next => {
            body[last + 1..next].iter().any(is_barrier)
                || ends_quietly(kernel, &body[..next], first)
                || begins_quietly(kernel, &body[last + 1..], then)
        }
        (Some(_), Some(_)) => false,
        // Nothing lies in a tile that nobody touches.
        (None, _) | (_, None) => true,
    }
}

fn is_barrier(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Barrier(Participants::Block))
}

/// Whether a barrier comes after the last access to a tile on every path that has
/// one.
fn ends_quietly(kernel: &ProgramKernel, stmts: &[Stmt], tile: TileId) -> bool {
    for stmt in stmts.iter().rev() {
        if is_barrier(stmt) {
            return true;
        }
        if touches(kernel, stmt, tile) {
            return quiet_inside(kernel, stmt, tile, ends_quietly);
        }
    }
    true
}

/// Whether a barrier comes before the first access to a tile on every path that has
/// one.
fn begins_quietly(kernel: &ProgramKernel, stmts: &[Stmt], tile: TileId) -> bool {
    for stmt in stmts {
        if is_barrier(stmt) {
            return true;
        }
        if touches(kernel, stmt, tile) {
            return quiet_inside(kernel, stmt, tile, begins_quietly);
        }
    }
    true
}

/// Whether all lists directly inside a statement are quiet, and nothing else of it
/// touches the tile.
fn quiet_inside(
    kernel: &ProgramKernel,
    stmt: &Stmt,
    tile: TileId,
    is_quiet: fn(&ProgramKernel, &[Stmt], TileId) -> bool,
) -> bool {
    let is_control =
        matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::If { .. });
    is_control
        && !touches_itself(kernel, stmt, tile)
        && stmt.kind.bodies().into_iter().all(|body| is_quiet(kernel, body, tile))
}

/// Whether a statement, or one inside it, reads or writes a tile.
fn touches(kernel: &ProgramKernel, stmt: &Stmt, tile: TileId) -> bool {
    touches_itself(kernel, stmt, tile)
        || stmt.kind.bodies().into_iter().flatten().any(|stmt| touches(kernel, stmt, tile))
}

fn touches_itself(kernel: &ProgramKernel, stmt: &Stmt, tile: TileId) -> bool {
    let is_of_tile = |access: &Access| access.target == Target::Tile(tile);
    let mut found = match &stmt.kind {
        StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => is_of_tile(access),
        StmtKind::Copy { dst, src, .. } => is_of_tile(dst) || is_of_tile(src),
        StmtKind::Let { .. }
        | StmtKind::Assign { .. }
        | StmtKind::SetFragment { .. }
        | StmtKind::Commit(_)
        | StmtKind::Wait { .. }
        | StmtKind::Items { .. }
        | StmtKind::For { .. }
        | StmtKind::While { .. }
        | StmtKind::If { .. }
        | StmtKind::Assume(_)
        | StmtKind::Barrier(_)
        | StmtKind::Shuffle { .. }
        | StmtKind::Ballot { .. }
        | StmtKind::WarpBarrier => false,
    };
    stmt.kind.for_each_expr(&mut |expr| found = found || reads(kernel, expr, tile));
    found
}

fn reads(kernel: &ProgramKernel, expr: ExprId, tile: TileId) -> bool {
    let kind = &kernel.exprs[expr].kind;
    let mut found = match kind {
        ExprKind::Load(access) => access.target == Target::Tile(tile),
        _ => false,
    };
    kind.for_each_operand(&mut |operand| found = found || reads(kernel, operand, tile));
    found
}
