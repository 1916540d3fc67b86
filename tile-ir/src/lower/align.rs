//! Align: cooperative loops store whole sectors of rows that begin anywhere.
//!
//! A row of a tensor whose stride is odd begins in the middle of a sector. The
//! first-level cache puts together what the loads of neighbouring warps have in
//! common of a sector, but hands each store on as it comes: a warp that begins in
//! the middle of a sector writes two of them in part, and its stores cannot be
//! vectors. The items of a loop may run in any order, so those of each row are
//! counted from the first aligned element on; as many as one alignment has, from
//! both ends of the row, are left to a second loop.
//!
//! ```text
//! items (j, i) of 64 x 128 { b[bx * 64 + j, by * 128 + i] = s[i, j] }
//! ```
//!
//! becomes, with stores aligned to 8 elements,
//!
//! ```text
//! if bx * 64 + 63 < C && by * 128 + 127 < R {
//!     items (j, i) of 64 x 120 {
//!         let shift = -((bx * 64 + j) * R + by * 128) & 7
//!         b[bx * 64 + j, by * 128 + (shift + i)] = s[shift + i, j]
//!     }
//!     items (j, i) of 64 x 8 {
//!         let shift = -((bx * 64 + j) * R + by * 128) & 7
//!         let end = i < shift ? i : i + 120
//!         b[bx * 64 + j, by * 128 + end] = s[end, j]
//!     }
//! } else {
//!     items (j, i) of 64 x 128 { b[bx * 64 + j < C, by * 128 + i < R] = s[i, j] }
//! }
//! ```

use super::distribute::{cooperative_layout, row_layout};
use super::divisor::Divisors;
use super::interior::{Inside, inside, placed_vars};
use super::rewrite::Replacement;
use super::rows::{Maker, Row, as_items_of, begins_aligned, coords_of, stored_row, with_extent};
use super::vectorise::elem_bytes;
use crate::config::Config;
use crate::kernel;
use crate::op::BinaryOp;
use crate::program::{DomainId, Expr, ExprId, ExprKind, ProgramKernel, Scope, Stmt, StmtKind, Ty};

/// Aligns the stores of cooperative loops to `config.align_bytes`, where nothing
/// says that they are. Assumes that guards are those that are needed and that no
/// item of a loop depends on another; guarantees that each item of a loop runs
/// once, in one of the loops that come of it.
pub(super) fn align_rows(
    kernel: &mut ProgramKernel,
    config: &Config,
    divisors: &[(kernel::VarId, u32)],
) {
    if config.align_bytes > 0 {
        let body = std::mem::take(&mut kernel.body);
        let facts = body.clone();
        let pass = Pass { config, divisors: Divisors::of(&facts, divisors) };
        kernel.body = pass.stmts(kernel, body);
    }
}

struct Pass<'a> {
    config: &'a Config,
    divisors: Divisors<'a>,
}

impl Pass<'_> {
    fn stmts(&self, kernel: &mut ProgramKernel, stmts: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = Vec::new();
        for mut stmt in stmts {
            if let StmtKind::Items { domain, body } = &stmt.kind {
                match self.aligned_items(kernel, *domain, body, &stmt) {
                    Some(aligned) => out.extend(aligned),
                    None => out.push(stmt),
                }
                continue;
            }
            for body in stmt.kind.bodies_mut() {
                *body = self.stmts(kernel, std::mem::take(body));
            }
            out.push(stmt);
        }
        out
    }

    /// What stands for one `Items`; `None` where it stays.
    fn aligned_items(
        &self,
        kernel: &mut ProgramKernel,
        domain: DomainId,
        body: &[Stmt],
        items: &Stmt,
    ) -> Option<Vec<Stmt>> {
        let row = stored_row(kernel, self.config, &self.divisors, domain, body)?;
        let is_promised = row.access.aligned_elems.is_multiple_of(row.elems);
        if !is_promised && begins_aligned(kernel, &self.divisors, domain, &row) {
            return None;
        }
        let placed = placed_vars(kernel, &[]);
        let inside = inside(kernel, domain, body, &placed);
        if inside.is_guarded {
            return None;
        }
        if is_promised {
            return Some(self.promised_items(kernel, domain, &row, inside, items));
        }
        let most = kernel.domains[domain].axes[row.axis as usize].extent - row.elems;
        let of_extent = |extent| with_extent(&kernel.domains[domain], row.axis, extent);
        let (middle, ends) = (of_extent(most), of_extent(row.elems));
        let [middle, ends] = [middle, ends].map(|domain| kernel.domains.push(domain));
        let bytes = elem_bytes(kernel, row.access.target);
        kernel.domains[middle].layout =
            row_layout(&kernel.domains[middle].extents(), self.config, row.axis as usize, bytes);
        let parts = [Part::Middle(middle), Part::Ends(ends, most)];
        let parts = parts.map(|part| {
            let body = part_of(kernel, &row, domain, &inside.body, part);
            let kind = StmtKind::Items { domain: part.domain(), body };
            Stmt { kind, ..items.clone() }
        });
        let layout =
            cooperative_layout(kernel, ends, row.axis as usize, self.config, &self.divisors);
        kernel.domains[ends].layout = layout;
        Some(either(inside.cond, parts.to_vec(), items))
    }

    /// Items that begin aligned already ([`super::reach`]): away from the edges
    /// they get the layout of rows.
    fn promised_items(
        &self,
        kernel: &mut ProgramKernel,
        domain: DomainId,
        row: &Row,
        inside: Inside,
        items: &Stmt,
    ) -> Vec<Stmt> {
        let mut rows = kernel.domains[domain].clone();
        let bytes = elem_bytes(kernel, row.access.target);
        rows.layout = row_layout(&rows.extents(), self.config, row.axis as usize, bytes);
        let rows = kernel.domains.push(rows);
        let moved = as_items_of(kernel, domain, rows);
        let body = with_own_vars(kernel, moved, &inside.body);
        let kind = StmtKind::Items { domain: rows, body };
        either(inside.cond, vec![Stmt { kind, ..items.clone() }], items)
    }
}

/// A copy of statements, which declares variables of its own.
fn with_own_vars(
    kernel: &mut ProgramKernel,
    mut replaced: Replacement,
    stmts: &[Stmt],
) -> Vec<Stmt> {
    let mut copies = Vec::new();
    for stmt in stmts {
        let mut copy = replaced.stmt(kernel, stmt);
        if let StmtKind::Let { var, .. } = &mut copy.kind {
            let own = kernel.vars[*var].clone();
            let ty = own.ty;
            let own = kernel.vars.push(own);
            let read = kernel.exprs.push(Expr { kind: ExprKind::Var(own), ty });
            replaced.vars.insert(*var, read);
            *var = own;
        }
        copies.push(copy);
    }
    copies
}

/// The statements `then` where a condition of the block holds, else the items as
/// they are.
pub(super) fn either(cond: Option<ExprId>, then: Vec<Stmt>, items: &Stmt) -> Vec<Stmt> {
    let Some(cond) = cond else { return then };
    let kind = StmtKind::If { cond, then, otherwise: vec![items.clone()] };
    vec![Stmt { kind, ..items.clone() }]
}

/// The items of a loop that come to one of those that it is split into.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// Those before each row's first aligned element.
    Head(DomainId),
    /// Those from each row's first aligned element on.
    Middle(DomainId),
    /// Those that are left at the ends of each row, when so many are taken.
    Ends(DomainId, u32),
}

impl Part {
    const fn domain(self) -> DomainId {
        match self {
            Self::Head(domain) | Self::Middle(domain) | Self::Ends(domain, _) => domain,
        }
    }
}

/// A loop's body for the items of a part.
pub(super) fn part_of(
    kernel: &mut ProgramKernel,
    row: &Row,
    from: DomainId,
    body: &[Stmt],
    part: Part,
) -> Vec<Stmt> {
    let coords: Vec<(ExprId, u32, Ty)> = coords_of(kernel, from);
    let mut make = Maker::new(kernel);
    let (mut first, mut moved) = (Replacement::default(), Replacement::default());
    for &(expr, axis, ty) in &coords {
        let coord = make.push(ExprKind::Coord { domain: part.domain(), axis }, ty);
        let begin = if axis == row.axis { make.literal(0, ty) } else { coord };
        first.exprs.insert(expr, begin);
        moved.exprs.insert(expr, coord);
    }
    let begin = first.access(make.kernel, &row.access);
    let shift = make.shift(&begin, row.elems);
    let along = coords.iter().filter(|(_, axis, _)| *axis == row.axis);
    if let Some(&(any, _, ty)) = along.clone().next() {
        let coord = moved.exprs[&any];
        let place = match part {
            Part::Head(_) => coord,
            Part::Middle(_) => {
                let shift = make.cast(shift, ty);
                make.binary(BinaryOp::Add, shift, coord)
            }
            Part::Ends(_, taken) => end(&mut make, coord, shift, taken),
        };
        for &(expr, _, ty) in along {
            let place = make.cast(place, ty);
            moved.exprs.insert(expr, place);
        }
    }
    let cond = match part {
        Part::Head(_) => {
            coords.iter().find(|(_, axis, _)| *axis == row.axis).map(|(any, _, ty)| {
                let shift = make.cast(shift, *ty);
                make.less(moved.exprs[any], shift)
            })
        }
        Part::Middle(_) | Part::Ends(..) => None,
    };
    let lets = make.lets;
    let Some(like) = body.first() else { return Vec::new() };
    let mut stmts: Vec<Stmt> = lets.into_iter().map(|kind| Stmt { kind, ..like.clone() }).collect();
    let moved = moved.stmts(kernel, body);
    match cond {
        Some(cond) => {
            let kind = StmtKind::If { cond, then: moved, otherwise: Vec::new() };
            stmts.push(Stmt { kind, ..like.clone() });
        }
        None => stmts.extend(moved),
    }
    if let Part::Middle(_) = part {
        let accesses = stmts.iter_mut().filter_map(|stmt| match &mut stmt.kind {
            StmtKind::Store { access, .. } => Some(access),
            _ => None,
        });
        accesses.for_each(|access| access.aligned_elems = row.elems);
    }
    stmts
}

/// Where an item of the ends stands: before the shift, or behind so many.
fn end(make: &mut Maker<'_>, coord: ExprId, shift: ExprId, taken: u32) -> ExprId {
    let ty = make.ty(coord);
    let shift = make.cast(shift, ty);
    let cond = make.less(coord, shift);
    let taken = make.literal(taken.into(), ty);
    let behind = make.binary(BinaryOp::Add, coord, taken);
    let place = make.push(ExprKind::Select { cond, then: coord, otherwise: behind }, ty);
    make.named("end", place, Scope::Thread)
}
