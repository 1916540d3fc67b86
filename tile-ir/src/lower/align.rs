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
use super::interior::inside;
use super::rewrite::Replacement;
use super::vectorise::{elem_bytes, step_of};
use crate::config::Config;
use crate::kernel;
use crate::op::{BinaryOp, CompareOp, UnaryOp};
use crate::program::{
    Access, Domain, DomainId, Expr, ExprId, ExprKind, Literal, ProgramKernel, Scope, Stmt,
    StmtKind, Target, Ty, Var,
};

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

/// The one store to global memory of a loop's items.
struct Row {
    access: Access,
    /// The axis of the loop along which the store has unit stride.
    axis: u32,
    /// Elements of the alignment: a power of two of at least 2.
    elems: u32,
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
        let row = self.row(kernel, domain, body)?;
        if self.begins_aligned(kernel, domain, &row) {
            return None;
        }
        let inside = inside(kernel, domain, body);
        if inside.is_guarded {
            return None;
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
        Some(match inside.cond {
            None => parts.to_vec(),
            Some(cond) => {
                let otherwise = vec![items.clone()];
                let kind = StmtKind::If { cond, then: parts.to_vec(), otherwise };
                vec![Stmt { kind, ..items.clone() }]
            }
        })
    }

    /// The store that can be aligned and is not known to be; `None` where there
    /// is no such store, or another one beside it.
    fn row(&self, kernel: &ProgramKernel, domain: DomainId, body: &[Stmt]) -> Option<Row> {
        if domain == kernel.block_domain || kernel.domains[domain].projection.is_some() {
            return None;
        }
        let mut stores = body.iter().filter_map(|stmt| match &stmt.kind {
            StmtKind::Store { access, .. } => Some(access),
            _ => None,
        });
        let (Some(access), None) = (stores.next(), stores.next()) else { return None };
        let is_simple = |stmt: &Stmt| {
            matches!(stmt.kind, StmtKind::Store { .. } | StmtKind::Let { value: Some(_), .. })
        };
        let Target::Buffer(buffer) = access.target else { return None };
        let elems = self.config.align_bytes / elem_bytes(kernel, access.target);
        let (&last, before) = access.indices.split_last()?;
        let step = |index: ExprId, axis| step_of(kernel, &self.divisors, index, domain, axis);
        let axis = (0..kernel.domains[domain].axes.len() as u32)
            .find(|&axis| step(last, axis) == Some(1))?;
        let extent = kernel.domains[domain].axes[axis as usize].extent;
        let last_stride = *kernel.buffers[buffer].strides.last()?;
        let fits = body.iter().all(is_simple)
            && elems > 1
            && extent.is_multiple_of(elems)
            && extent >= 2 * elems
            && kernel.constant(last_stride) == Some(1)
            && access.indices.iter().all(|&index| !reads_own(kernel, index))
            && before.iter().all(|&index| step(index, axis) == Some(0));
        fits.then(|| Row { access: access.clone(), axis, elems })
    }

    /// Whether rows are known to begin at an aligned element.
    fn begins_aligned(&self, kernel: &mut ProgramKernel, domain: DomainId, row: &Row) -> bool {
        let Target::Buffer(buffer) = row.access.target else { return true };
        let mut first = Replacement::default();
        for (expr, axis, ty) in coords_of(kernel, domain) {
            if axis == row.axis {
                let kind = ExprKind::Literal(Literal::Int(0));
                first.exprs.insert(expr, kernel.exprs.push(Expr { kind, ty }));
            }
        }
        let begin = first.access(kernel, &row.access);
        let strides = &kernel.buffers[buffer].strides;
        begin.indices.iter().zip(strides).all(|(&index, &stride)| {
            let of = |id| self.divisors.at_group(kernel, id, domain);
            let offset = of(index).checked_mul(of(stride));
            offset.is_some_and(|offset| offset.is_multiple_of(row.elems.into()))
        })
    }
}

/// Whether an expression reads a variable of the item: it may be one of the
/// loop's body, which has no value yet where the row begins.
fn reads_own(kernel: &ProgramKernel, id: ExprId) -> bool {
    let kind = &kernel.exprs[id].kind;
    let mut reads = matches!(kind, ExprKind::Var(var) if kernel.vars[*var].scope != Scope::Block);
    kind.for_each_operand(&mut |operand| reads |= reads_own(kernel, operand));
    reads
}

fn with_extent(domain: &Domain, axis: u32, extent: u32) -> Domain {
    let mut domain = domain.clone();
    domain.axes[axis as usize].extent = extent;
    domain
}

/// The items of a loop that come to one of the two.
#[derive(Clone, Copy)]
enum Part {
    /// Those from each row's first aligned element on.
    Middle(DomainId),
    /// Those that are left at the ends of each row, when so many are taken.
    Ends(DomainId, u32),
}

impl Part {
    const fn domain(self) -> DomainId {
        match self {
            Self::Middle(domain) | Self::Ends(domain, _) => domain,
        }
    }
}

/// A loop's body for the items of a part.
fn part_of(
    kernel: &mut ProgramKernel,
    row: &Row,
    from: DomainId,
    body: &[Stmt],
    part: Part,
) -> Vec<Stmt> {
    let coords: Vec<(ExprId, u32, Ty)> = coords_of(kernel, from);
    let mut make = Maker { kernel, lets: Vec::new() };
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
            Part::Middle(_) => {
                let shift = make.cast(shift, ty);
                make.binary(BinaryOp::Add, shift, coord)
            }
            Part::Ends(_, taken) => make.end(coord, shift, taken),
        };
        for &(expr, _, ty) in along {
            let place = make.cast(place, ty);
            moved.exprs.insert(expr, place);
        }
    }
    let lets = make.lets;
    let mut stmts: Vec<Stmt> = Vec::new();
    if let Some(like) = body.first() {
        stmts.extend(lets.into_iter().map(|kind| Stmt { kind, ..like.clone() }));
    }
    stmts.extend(moved.stmts(kernel, body));
    if let Part::Middle(_) = part {
        let accesses = stmts.iter_mut().filter_map(|stmt| match &mut stmt.kind {
            StmtKind::Store { access, .. } => Some(access),
            _ => None,
        });
        accesses.for_each(|access| access.aligned_elems = row.elems);
    }
    stmts
}

/// The coordinates of a domain, wherever they stand: axis and type of each.
fn coords_of(kernel: &ProgramKernel, wanted: DomainId) -> Vec<(ExprId, u32, Ty)> {
    let coords = kernel.exprs.iter().filter_map(|(id, expr)| match expr.kind {
        ExprKind::Coord { domain, axis } if domain == wanted => Some((id, axis, expr.ty)),
        _ => None,
    });
    coords.collect()
}

/// Makes index expressions, and variables that hold them.
struct Maker<'k> {
    kernel: &'k mut ProgramKernel,
    lets: Vec<StmtKind>,
}

impl Maker<'_> {
    /// How many elements come before the first aligned one of the row that
    /// begins at this element.
    fn shift(&mut self, begin: &Access, elems: u32) -> ExprId {
        let Target::Buffer(buffer) = begin.target else { return self.literal(0, Ty::INDEX32) };
        let strides = self.kernel.buffers[buffer].strides.clone();
        let is_wide = begin.indices.iter().chain(&strides).any(|&id| self.ty(id) == Ty::INDEX64);
        let ty = if is_wide { Ty::INDEX64 } else { Ty::INDEX32 };
        let mut offset = self.literal(0, ty);
        for (&index, &stride) in begin.indices.iter().zip(&strides) {
            let [index, stride] = [index, stride].map(|id| self.cast(id, ty));
            let term = self.binary(BinaryOp::Mul, index, stride);
            offset = self.binary(BinaryOp::Add, offset, term);
        }
        let negative = self.push(ExprKind::Unary { op: UnaryOp::Neg, operand: offset }, ty);
        let mask = self.literal(i128::from(elems) - 1, ty);
        let shift = self.binary(BinaryOp::And, negative, mask);
        self.named("shift", shift)
    }

    /// Where an item of the ends stands: before the shift, or behind so many.
    fn end(&mut self, coord: ExprId, shift: ExprId, taken: u32) -> ExprId {
        let ty = self.ty(coord);
        let shift = self.cast(shift, ty);
        let is_before = ExprKind::Compare { op: CompareOp::Lt, lhs: coord, rhs: shift };
        let cond = self.push(is_before, Ty::BOOL);
        let taken = self.literal(taken.into(), ty);
        let behind = self.binary(BinaryOp::Add, coord, taken);
        let place = self.push(ExprKind::Select { cond, then: coord, otherwise: behind }, ty);
        self.named("end", place)
    }

    fn named(&mut self, name: &str, value: ExprId) -> ExprId {
        let ty = self.ty(value);
        let var = Var { name: name.to_owned(), ty, scope: Scope::Thread };
        let var = self.kernel.vars.push(var);
        self.lets.push(StmtKind::Let { var, value: Some(value) });
        self.push(ExprKind::Var(var), ty)
    }

    fn cast(&mut self, id: ExprId, ty: Ty) -> ExprId {
        match (self.ty(id) == ty, self.kernel.constant(id)) {
            (true, _) => id,
            (false, Some(value)) => self.literal(value, ty),
            (false, None) => self.push(ExprKind::Cast(id), ty),
        }
    }

    fn binary(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        let ty = self.ty(lhs);
        match (op, self.kernel.constant(lhs), self.kernel.constant(rhs)) {
            (BinaryOp::Add, Some(0), _) => rhs,
            (BinaryOp::Add, _, Some(0)) | (BinaryOp::Mul, _, Some(1)) => lhs,
            _ => self.push(ExprKind::Binary { op, lhs, rhs }, ty),
        }
    }

    fn literal(&mut self, value: i128, ty: Ty) -> ExprId {
        self.push(ExprKind::Literal(Literal::Int(value)), ty)
    }

    fn ty(&self, id: ExprId) -> Ty {
        self.kernel.exprs[id].ty
    }

    fn push(&mut self, kind: ExprKind, ty: Ty) -> ExprId {
        self.kernel.exprs.push(Expr { kind, ty })
    }
}
