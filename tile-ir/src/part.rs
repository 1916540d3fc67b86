//! Parts: a phase that brings less at a time.
//!
//! A kernel may give the tile that a block computes and the depth of a phase one size:
//! the textbook's product has square tiles, `W` wide and `W` deep. A block large enough to
//! reuse what it brings then has tiles that fill its shared memory, and no room for those
//! of the next iteration. But where the loop that uses them goes through them in the order
//! in which they could be brought,
//!
//! ```text
//! phase p in tiles(N, W) {
//!     load a_s[i, k] = a[by * W + i, p * W + k];      // W x W
//!     load b_s[k, j] = b[p * W + k, bx * W + j];
//!     barrier;
//!     for k in 0..W { acc += a_s[ty, k] * b_s[k, tx] }
//!     barrier;
//! }
//! ```
//!
//! becomes, in four parts and with `D = W / 4`,
//!
//! ```text
//! phase p in 0..tiles(N, W) * 4 {
//!     load a_s[i, k] = a[by * W + i, p * D + k];      // W x D
//!     load b_s[k, j] = b[p * D + k, bx * W + j];
//!     barrier;
//!     for k in 0..D { acc += a_s[ty, k] * b_s[k, tx] }
//!     barrier;
//! }
//! ```
//!
//! with the same operations in the same order: the same bits.
//!
//! # When it may
//!
//! - The phase counts from 0 in steps of 1, and its body is loads of whole tiles, a
//!   barrier, one loop from 0 in steps of 1, a barrier.
//! - The tiles are used in that loop alone, and only read; each has one axis that is as
//!   long as the loop, and every access in the loop has the counter as its index there
//!   and nowhere else.
//! - The loaded values name the phase's counter `p` and the point's coordinate `k` on that
//!   axis only as the sum `p * W + k`.
//! - Otherwise neither counter is used.

mod depth;

use crate::config::Config;
use crate::kernel::{
    Expr, ExprId, ExprKind, Kernel, Literal, LoopRange, Stmt, StmtKind, Type, VarKind, any_stmt,
};
use crate::op::BinaryOp;

use self::depth::Depth;

/// The kernel with its phases in `config.phase_parts` parts, and the configuration that
/// says no more of them. `None` where it has no phase of the form, or one part is asked
/// for.
pub(crate) fn parted(kernel: &Kernel, config: &Config) -> Option<(Kernel, Config)> {
    if config.phase_parts < 2 {
        return None;
    }
    let mut kernel = kernel.clone();
    let mut body = std::mem::take(&mut kernel.body);
    let whole = body.clone();
    let any = part_in(&mut kernel, &mut body, &whole, config);
    kernel.body = body;
    any.then(|| (kernel, Config { phase_parts: 1, ..config.clone() }))
}

/// Whether [`parted`] gives a kernel.
pub(crate) fn can_be_parted(kernel: &Kernel, config: &Config) -> bool {
    fn any_in(kernel: &Kernel, stmts: &[Stmt], config: &Config) -> bool {
        stmts.iter().any(|stmt| {
            Depth::of(kernel, stmt, &kernel.body, config).is_some()
                || stmt.kind.bodies().into_iter().any(|body| any_in(kernel, body, config))
        })
    }
    config.phase_parts > 1 && any_in(kernel, &kernel.body, config)
}

/// Whether a phase's depth is a tile size that also says how long the block's tile is:
/// then parts are the way to have another.
pub(crate) fn has_tied_depth(kernel: &Kernel) -> bool {
    let names = |exprs: &[ExprId]| {
        let mut found = Vec::new();
        let mut rest = exprs.to_vec();
        while let Some(id) = rest.pop() {
            if let ExprKind::Var(var) = kernel.exprs[id].kind
                && let VarKind::TileParam(param) = kernel.vars[var].kind
            {
                found.push(param);
            }
            rest.extend(kernel.exprs[id].kind.operands());
        }
        found
    };
    let block: Vec<ExprId> = kernel.block.iter().flatten().map(|axis| axis.extent).collect();
    let of_block = names(&block);
    any_stmt(&kernel.body, &mut |kind| match kind {
        StmtKind::Phase { range, .. } => {
            names(&range.exprs()).iter().any(|param| of_block.contains(param))
        }
        _ => false,
    })
}

/// Parts the phases among statements that the block runs together.
fn part_in(kernel: &mut Kernel, stmts: &mut [Stmt], whole: &[Stmt], config: &Config) -> bool {
    let mut any = false;
    for stmt in stmts {
        if let Some(depth) = Depth::of(kernel, stmt, whole, config) {
            part(kernel, stmt, &depth, config.phase_parts);
            any = true;
            continue;
        }
        for body in stmt.kind.bodies_mut() {
            any |= part_in(kernel, body, whole, config);
        }
    }
    any
}

fn part(kernel: &mut Kernel, stmt: &mut Stmt, depth: &Depth, parts: u32) {
    let StmtKind::Phase { range: LoopRange::Between { end, .. }, body, .. } = &mut stmt.kind else {
        return;
    };
    let part = depth.extent / i128::from(parts);
    *end = times(kernel, *end, i128::from(parts));
    let length = index(kernel, part);
    for (tile, axis) in &depth.tiles {
        kernel.tiles[*tile].extents[*axis] = length;
    }
    body.retain(|stmt| !matches!(stmt.kind, StmtKind::Let { .. }));
    for stmt in body {
        match &mut stmt.kind {
            StmtKind::Each { axes, body, .. } => {
                let [store] = body.as_mut_slice() else { continue };
                let StmtKind::Store { access, value } = &mut store.kind else { continue };
                let Some(axis) = depth.axis_of(access) else { continue };
                axes[axis].extent = length;
                *value = depth.at_part(kernel, *value, part);
            }
            StmtKind::For { range: LoopRange::Between { end, .. }, .. } => *end = length,
            _ => {}
        }
    }
}

fn index(kernel: &mut Kernel, value: i128) -> ExprId {
    let span = kernel.span;
    let kind = ExprKind::Literal(Literal::Int(value));
    kernel.exprs.push(Expr { kind, ty: Type::Index, span })
}

fn times(kernel: &mut Kernel, lhs: ExprId, factor: i128) -> ExprId {
    let span = kernel.exprs[lhs].span;
    let rhs = index(kernel, factor);
    let kind = ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs };
    kernel.exprs.push(Expr { kind, ty: Type::Index, span })
}
