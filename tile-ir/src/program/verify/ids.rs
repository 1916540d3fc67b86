//! Ids: each is of an entry of its table; operands have smaller ids than their
//! user, so that no expression contains itself.

use super::{Place, Verifier};
use crate::arena::{Arena, EntityId};
use crate::program::{
    Access, BufferSource, DomainId, ExprKind, Participants, Stmt, StmtKind, Target,
};

pub(super) fn verify_ids(cx: &mut Verifier<'_>) {
    let kernel = cx.kernel;
    cx.place = Place::Kernel;
    known(cx, &kernel.domains, kernel.block_domain, "domain");
    for (number, axis) in kernel.grid.iter().enumerate() {
        cx.place = Place::Grid(number);
        known(cx, &kernel.vars, axis.var, "variable");
        known(cx, &kernel.exprs, axis.extent, "expression");
    }
    for (id, buffer) in kernel.buffers.iter() {
        cx.place = Place::Buffer(id);
        for &expr in buffer.extents.iter().chain(&buffer.strides) {
            known(cx, &kernel.exprs, expr, "expression");
        }
        if let BufferSource::Workspace(workspace) = buffer.source {
            let program = cx.program;
            known(cx, &program.workspaces, workspace, "workspace");
        }
    }
    for (id, domain) in kernel.domains.iter() {
        cx.place = Place::Domain(id);
        if let Some(projection) = &domain.projection {
            known(cx, &kernel.domains, projection.domain, "domain");
        }
    }
    for (id, fragment) in kernel.fragments.iter() {
        cx.place = Place::Fragment(id);
        known(cx, &kernel.domains, fragment.domain, "domain");
    }
    for (id, expr) in kernel.exprs.iter() {
        cx.place = Place::Expr(id);
        let mut operands = Vec::new();
        expr.kind.for_each_operand(&mut |operand| operands.push(operand));
        for operand in operands {
            cx.require(operand < id, || format!("operand {operand} does not come before its user"));
        }
        verify_expr(cx, &expr.kind);
    }
    verify_list(cx, &kernel.body, &mut 0);
}

fn known<I: EntityId + ToString, T>(cx: &mut Verifier<'_>, table: &Arena<I, T>, id: I, what: &str) {
    let n = table.len();
    cx.require(id.index() < n, || format!("there is no {what} {}; there are {n}", id.to_string()));
}

fn verify_expr(cx: &mut Verifier<'_>, kind: &ExprKind) {
    let kernel = cx.kernel;
    match kind {
        ExprKind::Var(var) => known(cx, &kernel.vars, *var, "variable"),
        ExprKind::Arg(arg) => known(cx, &kernel.args, *arg, "argument"),
        ExprKind::Coord { domain, axis } => {
            known(cx, &kernel.domains, *domain, "domain");
            verify_axis(cx, *domain, *axis);
        }
        ExprKind::Fragment(fragment) => known(cx, &kernel.fragments, *fragment, "fragment"),
        ExprKind::Load(access) => verify_access(cx, access),
        ExprKind::InBounds { buffer, indices } => {
            known(cx, &kernel.buffers, *buffer, "buffer");
            if let Some(info) = kernel.buffers.get(*buffer) {
                verify_rank(cx, info.extents.len(), indices.len());
            }
        }
        ExprKind::Literal(_)
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Fma { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Select { .. }
        | ExprKind::Cast(_)
        | ExprKind::Math { .. }
        | ExprKind::CeilDiv { .. } => {}
    }
}

fn verify_axis(cx: &mut Verifier<'_>, domain: DomainId, axis: u32) {
    let n_axes = cx.kernel.domains.get(domain).map(|domain| domain.axes.len());
    let exists = n_axes.is_none_or(|n_axes| (axis as usize) < n_axes);
    cx.require(exists, || format!("domain {domain} has no axis {axis}"));
}

fn verify_access(cx: &mut Verifier<'_>, access: &Access) {
    let kernel = cx.kernel;
    let rank = match access.target {
        Target::Buffer(id) => {
            known(cx, &kernel.buffers, id, "buffer");
            kernel.buffers.get(id).map(|buffer| buffer.extents.len())
        }
        Target::Tile(id) => {
            known(cx, &kernel.tiles, id, "tile");
            kernel.tiles.get(id).map(|tile| tile.extents.len())
        }
    };
    if let Some(rank) = rank {
        verify_rank(cx, rank, access.indices.len());
    }
    let (n_guards, n_indices) = (access.guards.len(), access.indices.len());
    cx.require(n_guards == n_indices, || {
        format!("{n_guards} guards stand for {n_indices} indices")
    });
    let of_memory = matches!(access.target, Target::Buffer(_));
    cx.require(of_memory || !access.once, || {
        "an element of a tile is said to pass the caches by".to_owned()
    });
}

fn verify_rank(cx: &mut Verifier<'_>, rank: usize, n_indices: usize) {
    cx.require(rank == n_indices, || format!("{n_indices} indices for an array of {rank} axes"));
}

fn verify_list(cx: &mut Verifier<'_>, stmts: &[Stmt], number: &mut usize) {
    for stmt in stmts {
        cx.place = Place::Stmt(*number);
        *number += 1;
        verify_stmt(cx, stmt);
        for body in stmt.kind.bodies() {
            verify_list(cx, body, number);
        }
    }
}

fn verify_stmt(cx: &mut Verifier<'_>, stmt: &Stmt) {
    let kernel = cx.kernel;
    known(cx, &kernel.roles, stmt.role, "role");
    let mut exprs = Vec::new();
    stmt.kind.for_each_expr(&mut |expr| exprs.push(expr));
    for expr in exprs {
        known(cx, &kernel.exprs, expr, "expression");
    }
    match &stmt.kind {
        StmtKind::Let { var, .. }
        | StmtKind::Assign { var, .. }
        | StmtKind::Shuffle { var, .. }
        | StmtKind::Ballot { var, .. }
        | StmtKind::For { var, .. } => {
            known(cx, &kernel.vars, *var, "variable");
        }
        StmtKind::SetFragment { fragment, .. } => {
            known(cx, &kernel.fragments, *fragment, "fragment");
        }
        StmtKind::Store { access, .. } => verify_access(cx, access),
        StmtKind::Atomic { access, old, .. } => {
            verify_access(cx, access);
            if let Some(old) = old {
                known(cx, &kernel.vars, *old, "variable");
            }
        }
        StmtKind::Copy { dst, src, .. } => {
            verify_access(cx, dst);
            verify_access(cx, src);
        }
        StmtKind::Items { domain, .. } => known(cx, &kernel.domains, *domain, "domain"),
        StmtKind::Barrier(Participants::Role(role)) => known(cx, &kernel.roles, *role, "role"),
        StmtKind::Commit(_)
        | StmtKind::Wait { .. }
        | StmtKind::Assume(_)
        | StmtKind::While { .. }
        | StmtKind::If { .. }
        | StmtKind::Barrier(Participants::Block)
        | StmtKind::WarpBarrier => {}
    }
}
