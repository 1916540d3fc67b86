//! Bank conflicts: the wavefronts of shared-memory accesses, by enumeration.
//!
//! # Source
//!
//! CUDA C++ Programming Guide, "Shared Memory" of compute capability 5.x and
//! later: 32 banks of 4 bytes; lanes that read one word share it; an access of
//! a warp takes as many wavefronts as the busiest bank has distinct words.

use std::collections::BTreeSet;

use crate::kernel::eval_index_binary;
use crate::op::UnaryOp;
use crate::program::{
    Access, DomainId, ExprId, ExprKind, Literal, ProgramKernel, Stmt, StmtKind, Target, TileId,
};

/// Threads of a warp.
const WARP: u32 = 32;
/// Banks of shared memory.
const BANKS: u64 = 32;
/// Bytes of a bank's word.
const WORD_BYTES: u64 = 4;

/// Wavefronts of one warp's request for these byte addresses.
pub fn wavefronts(addresses: &[u64], size_bytes: u32) -> u32 {
    let mut banks: Vec<BTreeSet<u64>> = vec![BTreeSet::new(); BANKS as usize];
    for &address in addresses {
        let first = address / WORD_BYTES;
        let last = (address + u64::from(size_bytes) - 1) / WORD_BYTES;
        for word in first..=last {
            banks[(word % BANKS) as usize].insert(word);
        }
    }
    banks.iter().map(|words| words.len() as u32).max().unwrap_or(0)
}

/// Wavefronts of all accesses to a tile, each counted once for the first warp of
/// its domain; variables other than the domain's coordinates count as 0, as they
/// are the same for the whole warp.
pub fn tile_wavefronts(kernel: &ProgramKernel, tile: TileId) -> u64 {
    let mut total = 0;
    visit(kernel, &kernel.body, None, &mut |access, domain| {
        if access.target == Target::Tile(tile) {
            total += u64::from(access_wavefronts(kernel, access, tile, domain));
        }
    });
    total
}

fn access_wavefronts(
    kernel: &ProgramKernel,
    access: &Access,
    tile: TileId,
    domain: DomainId,
) -> u32 {
    let info = &kernel.tiles[tile];
    let items = &kernel.domains[domain];
    let size_bytes = info.dtype.size_bytes();
    let addresses = (0..WARP).filter_map(|thread| {
        let coords = items.layout.coords(items.axes.len(), thread, 0)?;
        let indices: Option<Vec<u32>> = access
            .indices
            .iter()
            .map(|&index| {
                let value = value_at(kernel, index, domain, &coords)?;
                u32::try_from(value).ok()
            })
            .collect();
        Some(u64::from(info.layout.offset(&indices?)) * u64::from(size_bytes))
    });
    wavefronts(&addresses.collect::<Vec<u64>>(), size_bytes)
}

/// The value of an index at an item, other variables at 0.
fn value_at(
    kernel: &ProgramKernel,
    expr: ExprId,
    domain: DomainId,
    coords: &[u32],
) -> Option<i128> {
    let eval = |id| value_at(kernel, id, domain, coords);
    match &kernel.exprs[expr].kind {
        ExprKind::Literal(Literal::Int(value)) => Some(*value),
        ExprKind::Coord { domain: found, axis } if *found == domain => {
            coords.get(*axis as usize).map(|&coord| i128::from(coord))
        }
        ExprKind::Var(_) | ExprKind::Arg(_) | ExprKind::Fragment(_) | ExprKind::Coord { .. } => {
            Some(0)
        }
        ExprKind::Cast(operand) => eval(*operand),
        ExprKind::Unary { op: UnaryOp::Neg, operand } => eval(*operand)?.checked_neg(),
        ExprKind::Binary { op, lhs, rhs } => eval_index_binary(*op, eval(*lhs)?, eval(*rhs)?),
        ExprKind::Literal(_)
        | ExprKind::Load(_)
        | ExprKind::Unary { .. }
        | ExprKind::Fma { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Select { .. }
        | ExprKind::Math { .. }
        | ExprKind::CeilDiv { .. }
        | ExprKind::InBounds { .. } => None,
    }
}

fn visit(
    kernel: &ProgramKernel,
    stmts: &[Stmt],
    domain: Option<DomainId>,
    f: &mut impl FnMut(&Access, DomainId),
) {
    for stmt in stmts {
        let domain = match &stmt.kind {
            StmtKind::Items { domain, .. } => Some(*domain),
            _ => domain,
        };
        if let Some(domain) = domain {
            match &stmt.kind {
                StmtKind::Store { access, .. } => f(access, domain),
                StmtKind::Copy { dst, src, .. } => {
                    f(dst, domain);
                    f(src, domain);
                }
                _ => {}
            }
            stmt.kind.for_each_expr(&mut |expr| visit_expr(kernel, expr, domain, f));
        }
        for body in stmt.kind.bodies() {
            visit(kernel, body, domain, f);
        }
    }
}

fn visit_expr(
    kernel: &ProgramKernel,
    expr: ExprId,
    domain: DomainId,
    f: &mut impl FnMut(&Access, DomainId),
) {
    if let ExprKind::Load(access) = &kernel.exprs[expr].kind {
        f(access, domain);
    }
    kernel.exprs[expr].kind.for_each_operand(&mut |operand| visit_expr(kernel, operand, domain, f));
}
