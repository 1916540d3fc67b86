//! Halo: the aligned part of a cooperative loop's rows gets a loop of its own.
//!
//! ```text
//! items (i, j) in 20 x 68 { s[i, j] = a[by * 16 + i - 2, bx * 64 + j - 2] }
//! ```
//!
//! becomes
//!
//! ```text
//! items (i, j) in 20 x 2 { s[i, j] = a[by * 16 + i - 2, bx * 64 + j - 2] }
//! items (i, j) in 20 x 64 { s[i, j + 2] = a[by * 16 + i - 2, bx * 64 + (j + 2) - 2] }
//! items (i, j) in 20 x 2 { s[i, j + 66] = a[by * 16 + i - 2, bx * 64 + (j + 66) - 2] }
//! ```
//!
//! so that the rows of a tile with a halo move in vectors but for their ends. The
//! points are the same, and of a cooperative loop each is run once, in any order.

use super::distribute::global_accesses;
use super::divisor::Divisors;
use super::rewrite::Replacement;
use super::rows::{Maker, coords_of, with_extent};
use super::vectorise::elem_bytes;
use crate::config::Config;
use crate::kernel;
use crate::op::BinaryOp;
use crate::program::{
    Access, DomainId, ExprKind, ItemLayout, ProgramKernel, Stmt, StmtKind, Target,
};

/// Splits what lies so, where accesses may be wide at all. Assumes that no loop has been
/// pipelined and that no item is on a thread yet; loops that may be pipelined stay.
pub(super) fn split_halos(
    kernel: &mut ProgramKernel,
    config: &Config,
    divisors: &[(kernel::VarId, u32)],
) {
    let body = std::mem::take(&mut kernel.body);
    let seen = body.clone();
    let divisors = Divisors::of(&seen, divisors);
    // `global_accesses` looks for the items in the body.
    kernel.body = body.clone();
    kernel.body = split_in(kernel, body, config, &divisors, false);
}

fn split_in(
    kernel: &mut ProgramKernel,
    stmts: Vec<Stmt>,
    config: &Config,
    divisors: &Divisors<'_>,
    may_be_staged: bool,
) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in stmts {
        if let StmtKind::Items { domain, .. } = &stmt.kind {
            let domain = *domain;
            let columns = match may_be_staged || domain == kernel.block_domain {
                true => None,
                false => aligned_columns(kernel, domain, config, divisors),
            };
            match columns {
                Some(columns) => out.extend(columns.split(kernel, domain, &stmt)),
                None => out.push(stmt),
            }
            continue;
        }
        let is_loop = matches!(stmt.kind, StmtKind::For { .. });
        let inside = may_be_staged || (is_loop && config.stages > 1);
        for body in stmt.kind.bodies_mut() {
            *body = split_in(kernel, std::mem::take(body), config, divisors, inside);
        }
        out.push(stmt);
    }
    out
}

/// The columns of a cooperative loop that begin and end with a whole access.
#[derive(Clone, Copy)]
struct Columns {
    first: u32,
    n: u32,
    /// Of the whole loop.
    extent: u32,
}

/// The aligned columns, where all accesses to global memory agree on them and there are
/// others beside.
fn aligned_columns(
    kernel: &ProgramKernel,
    domain: DomainId,
    config: &Config,
    divisors: &Divisors<'_>,
) -> Option<Columns> {
    let extent = kernel.domains[domain].axes.last()?.extent;
    let accesses = global_accesses(kernel, domain);
    let widest = accesses.iter().map(|access| elem_bytes(kernel, access.target)).max()?;
    let width = config.copy_bytes / widest;
    if width < 2 {
        return None;
    }
    let mut first = None;
    for access in &accesses {
        let own = first_aligned(kernel, domain, divisors, access, width)?;
        if first.is_some_and(|first| first != own) {
            return None;
        }
        first = Some(own);
    }
    let first = first?;
    let n = extent.checked_sub(first)? / width * width;
    (n >= width && n < extent).then_some(Columns { first, n, extent })
}

/// The first column at which an access may begin that moves `width` elements; `None`
/// where rows do not lie alike.
fn first_aligned(
    kernel: &ProgramKernel,
    domain: DomainId,
    divisors: &Divisors<'_>,
    access: &Access,
    width: u32,
) -> Option<u32> {
    let Target::Buffer(id) = access.target else { return None };
    let buffer = &kernel.buffers[id];
    let (&last, others) = access.indices.split_last()?;
    let (&stride, strides) = buffer.strides.split_last()?;
    let of = |id| divisors.at_group(kernel, id, domain);
    let is_whole = |n: u64| n.is_multiple_of(u64::from(width));
    let rows_are_alike = others
        .iter()
        .zip(strides)
        .all(|(&index, &stride)| of(index).checked_mul(of(stride)).is_some_and(is_whole));
    let extent = *buffer.extents.last()?;
    let guard_is_shared = !access.guards.last()?.upper || is_whole(of(extent));
    if kernel.constant(stride) != Some(1) || !rows_are_alike || !guard_is_shared {
        return None;
    }
    let axis = kernel.domains[domain].axes.len().checked_sub(1)? as u32;
    let column = ExprKind::Coord { domain, axis };
    let sum = divisors.sum(kernel, last);
    let (columns, rest): (Vec<_>, Vec<_>) =
        sum.terms.into_iter().partition(|(_, id)| kernel.exprs[*id].kind == column);
    let is_unit = matches!(columns.as_slice(), [(1, _)]);
    if !is_unit || !rest.into_iter().all(|(_, id)| is_whole(of(id))) {
        return None;
    }
    u32::try_from((-sum.constant).rem_euclid(i128::from(width))).ok()
}

impl Columns {
    /// The loop's parts, each over its own columns.
    fn split(self, kernel: &mut ProgramKernel, domain: DomainId, items: &Stmt) -> Vec<Stmt> {
        let past = self.first + self.n;
        let parts = [(0, self.first), (self.first, self.n), (past, self.extent - past)];
        let parts = parts.into_iter().filter(|(_, n)| *n > 0);
        parts.map(|(first, n)| part(kernel, domain, items, first, n)).collect()
    }
}

/// The items of `n` columns from `first` on.
fn part(kernel: &mut ProgramKernel, whole: DomainId, items: &Stmt, first: u32, n: u32) -> Stmt {
    let last = kernel.domains[whole].axes.len().saturating_sub(1) as u32;
    let mut domain = with_extent(&kernel.domains[whole], last, n);
    domain.layout = ItemLayout::one_per_thread(&domain.extents());
    domain.projection = None;
    let domain = kernel.domains.push(domain);
    let coords = coords_of(kernel, whole);
    let mut make = Maker::new(kernel);
    let mut replaced = Replacement::default();
    for (id, axis, ty) in coords {
        let mut coord = make.push(ExprKind::Coord { domain, axis }, ty);
        if axis == last {
            let first = make.literal(first.into(), ty);
            coord = make.binary(BinaryOp::Add, coord, first);
        }
        replaced.exprs.insert(id, coord);
    }
    let StmtKind::Items { body, .. } = &items.kind else { return items.clone() };
    let body = replaced.stmts(kernel, body);
    Stmt { kind: StmtKind::Items { domain, body }, ..items.clone() }
}
