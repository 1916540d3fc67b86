//! Rows of tensors that begin anywhere, and the items of a loop that go along
//! them.

use super::divisor::Divisors;
use super::rewrite::{Replacement, lets_of};
use super::vectorise::{elem_bytes, step_of};
use crate::config::Config;
use crate::op::{BinaryOp, CompareOp, UnaryOp};
use crate::program::{
    Access, Domain, DomainId, Expr, ExprId, ExprKind, Literal, ProgramKernel, Scope, Stmt,
    StmtKind, Target, Ty, Var,
};

/// The one store to global memory of a loop's items.
pub(super) struct Row {
    pub(super) access: Access,
    /// The axis of the loop along which the store has unit stride.
    pub(super) axis: u32,
    /// Elements of the alignment: a power of two of at least 2.
    pub(super) elems: u32,
}

/// The store of a cooperative loop that can be aligned to `config.align_bytes`;
/// `None` where there is no such store, or another one beside it.
pub(super) fn stored_row(
    kernel: &mut ProgramKernel,
    config: &Config,
    divisors: &Divisors<'_>,
    domain: DomainId,
    body: &[Stmt],
) -> Option<Row> {
    if domain == kernel.block_domain || kernel.domains[domain].projection.is_some() {
        return None;
    }
    let mut stores = body.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::Store { access, .. } => Some(access),
        _ => None,
    });
    let (Some(access), None) = (stores.next(), stores.next()) else { return None };
    let access = &without_vars(kernel, body, access);
    let Target::Buffer(buffer) = access.target else { return None };
    let elems = config.align_bytes / elem_bytes(kernel, access.target);
    let (&last, before) = access.indices.split_last()?;
    let step = |index: ExprId, axis| step_of(kernel, divisors, index, domain, axis);
    let axis =
        (0..kernel.domains[domain].axes.len() as u32).find(|&axis| step(last, axis) == Some(1))?;
    let extent = kernel.domains[domain].axes[axis as usize].extent;
    let last_stride = *kernel.buffers[buffer].strides.last()?;
    let fits = body.iter().all(is_simple)
        && elems > 1
        && extent.is_multiple_of(elems)
        && extent >= 2 * elems
        && kernel.constant(last_stride) == Some(1)
        && (access.aligned_elems.is_multiple_of(elems)
            || access.indices.iter().all(|&index| !reads_own(kernel, index)))
        && before.iter().all(|&index| step(index, axis) == Some(0));
    fits.then(|| Row { access: access.clone(), axis, elems })
}

/// An access with the values of the body's variables in their place, where these
/// have only one: it stands for the same element before the body as within it.
pub(super) fn without_vars(kernel: &mut ProgramKernel, body: &[Stmt], access: &Access) -> Access {
    let mut values = Replacement::default();
    let lets = lets_of(body);
    for stmt in body {
        if let StmtKind::Let { var, value: Some(value) } = stmt.kind
            && lets.contains_key(&var)
        {
            let value = values.expr(kernel, value);
            values.vars.insert(var, value);
        }
    }
    values.access(kernel, access)
}

/// Whether a statement may stand among those of a loop that is split.
pub(super) fn is_simple(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Store { .. } | StmtKind::Let { value: Some(_), .. })
}

/// Whether rows are known to begin at an aligned element: those of `access` where
/// the coordinate along `axis` is 0.
pub(super) fn begins_aligned(
    kernel: &mut ProgramKernel,
    divisors: &Divisors<'_>,
    domain: DomainId,
    row: &Row,
) -> bool {
    let Target::Buffer(buffer) = row.access.target else { return true };
    let begin = at_first(kernel, domain, &row.access, |axis| axis == row.axis);
    let strides = &kernel.buffers[buffer].strides;
    begin.indices.iter().zip(strides).all(|(&index, &stride)| {
        let of = |id| divisors.at_group(kernel, id, domain);
        let offset = of(index).checked_mul(of(stride));
        offset.is_some_and(|offset| offset.is_multiple_of(row.elems.into()))
    })
}

/// An access by the first item along some axes of a domain.
pub(super) fn at_first(
    kernel: &mut ProgramKernel,
    domain: DomainId,
    access: &Access,
    is_along: impl Fn(u32) -> bool,
) -> Access {
    let mut first = Replacement::default();
    for (expr, axis, ty) in coords_of(kernel, domain) {
        if is_along(axis) {
            let kind = ExprKind::Literal(Literal::Int(0));
            first.exprs.insert(expr, kernel.exprs.push(Expr { kind, ty }));
        }
    }
    first.access(kernel, access)
}

/// Whether an expression reads a variable of the item: it may be one of the
/// loop's body, which has no value yet where the row begins.
pub(super) fn reads_own(kernel: &ProgramKernel, id: ExprId) -> bool {
    let kind = &kernel.exprs[id].kind;
    let mut reads = matches!(kind, ExprKind::Var(var) if kernel.vars[*var].scope != Scope::Block);
    kind.for_each_operand(&mut |operand| reads |= reads_own(kernel, operand));
    reads
}

/// A domain with another extent along an axis.
pub(super) fn with_extent(domain: &Domain, axis: u32, extent: u32) -> Domain {
    let mut domain = domain.clone();
    domain.axes[axis as usize].extent = extent;
    domain
}

/// The coordinates of a domain, wherever they stand: axis and type of each.
pub(super) fn coords_of(kernel: &ProgramKernel, wanted: DomainId) -> Vec<(ExprId, u32, Ty)> {
    let coords = kernel.exprs.iter().filter_map(|(id, expr)| match expr.kind {
        ExprKind::Coord { domain, axis } if domain == wanted => Some((id, axis, expr.ty)),
        _ => None,
    });
    coords.collect()
}

/// The items of a domain as those of another: each coordinate stands for the one
/// of its axis.
pub(super) fn as_items_of(kernel: &mut ProgramKernel, from: DomainId, to: DomainId) -> Replacement {
    let mut moved = Replacement::default();
    for (expr, axis, ty) in coords_of(kernel, from) {
        let kind = ExprKind::Coord { domain: to, axis };
        moved.exprs.insert(expr, kernel.exprs.push(Expr { kind, ty }));
    }
    moved
}

/// Makes index expressions, and variables that hold them.
pub(super) struct Maker<'k> {
    pub(super) kernel: &'k mut ProgramKernel,
    pub(super) lets: Vec<StmtKind>,
}

impl<'k> Maker<'k> {
    pub(super) fn new(kernel: &'k mut ProgramKernel) -> Self {
        Self { kernel, lets: Vec::new() }
    }

    /// The type in which the offsets of an access fit.
    pub(super) fn offset_type(&self, access: &Access) -> Ty {
        let Target::Buffer(buffer) = access.target else { return Ty::INDEX32 };
        let strides = &self.kernel.buffers[buffer].strides;
        let is_wide = access.indices.iter().chain(strides).any(|&id| self.ty(id) == Ty::INDEX64);
        if is_wide { Ty::INDEX64 } else { Ty::INDEX32 }
    }

    /// The offset in memory of the element of an access, in elements.
    pub(super) fn offset(&mut self, access: &Access, ty: Ty) -> ExprId {
        let mut offset = self.literal(0, ty);
        let Target::Buffer(buffer) = access.target else { return offset };
        let strides = self.kernel.buffers[buffer].strides.clone();
        for (&index, &stride) in access.indices.iter().zip(&strides) {
            let [index, stride] = [index, stride].map(|id| self.cast(id, ty));
            let term = self.binary(BinaryOp::Mul, index, stride);
            offset = self.binary(BinaryOp::Add, offset, term);
        }
        offset
    }

    /// How many elements come before the first aligned one of the row that
    /// begins at this element.
    pub(super) fn shift(&mut self, begin: &Access, elems: u32) -> ExprId {
        let ty = self.offset_type(begin);
        let offset = self.offset(begin, ty);
        let negative = self.push(ExprKind::Unary { op: UnaryOp::Neg, operand: offset }, ty);
        let shift = self.modulo(negative, elems);
        self.named("shift", shift, Scope::Thread)
    }

    /// The remainder of a division by a power of two, of a negative number too.
    pub(super) fn modulo(&mut self, value: ExprId, elems: u32) -> ExprId {
        let mask = self.literal(i128::from(elems) - 1, self.ty(value));
        self.binary(BinaryOp::And, value, mask)
    }

    /// Whether one index is less than another.
    pub(super) fn less(&mut self, lhs: ExprId, rhs: ExprId) -> ExprId {
        self.push(ExprKind::Compare { op: CompareOp::Lt, lhs, rhs }, Ty::BOOL)
    }

    /// A variable with this value.
    pub(super) fn named(&mut self, name: &str, value: ExprId, scope: Scope) -> ExprId {
        let ty = self.ty(value);
        let var = Var { name: name.to_owned(), ty, scope };
        let var = self.kernel.vars.push(var);
        self.lets.push(StmtKind::Let { var, value: Some(value) });
        self.push(ExprKind::Var(var), ty)
    }

    /// An index as one of this width.
    pub(super) fn cast(&mut self, id: ExprId, ty: Ty) -> ExprId {
        match (self.ty(id) == ty, self.kernel.constant(id)) {
            (true, _) => id,
            (false, Some(value)) => self.literal(value, ty),
            (false, None) => self.push(ExprKind::Cast(id), ty),
        }
    }

    /// An operation on two indices of one width.
    pub(super) fn binary(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        let ty = self.ty(lhs);
        match (op, self.kernel.constant(lhs), self.kernel.constant(rhs)) {
            (BinaryOp::Add, Some(0), _) => rhs,
            (BinaryOp::Mul, Some(0), _) | (BinaryOp::Mul, _, Some(0)) => self.literal(0, ty),
            (BinaryOp::Add | BinaryOp::Sub, _, Some(0)) | (BinaryOp::Mul, _, Some(1)) => lhs,
            _ => self.push(ExprKind::Binary { op, lhs, rhs }, ty),
        }
    }

    pub(super) fn literal(&mut self, value: i128, ty: Ty) -> ExprId {
        self.push(ExprKind::Literal(Literal::Int(value)), ty)
    }

    pub(super) fn ty(&self, id: ExprId) -> Ty {
        self.kernel.exprs[id].ty
    }

    pub(super) fn push(&mut self, kind: ExprKind, ty: Ty) -> ExprId {
        self.kernel.exprs.push(Expr { kind, ty })
    }
}
