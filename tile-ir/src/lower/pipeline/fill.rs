//! Fills: the cooperative stores that a pipelined loop begins with.

use std::collections::BTreeSet;

use crate::dtype::DType;
use crate::lower::rewrite::Replacement;
use crate::program::{
    Access, Buffer, BufferSpace, DomainId, Expr, ExprId, ExprKind, Fragment, FragmentId, Literal,
    ProgramKernel, Stmt, StmtKind, Target, TileId, TileSpace, TokenId, Ty, VarId,
};

/// A cooperative store that fills a tile.
pub(super) struct Fill {
    domain: DomainId,
    access: Access,
    value: ExprId,
    pub(super) tile: TileId,
    items: Stmt,
    store: Stmt,
}

impl Fill {
    /// A store of each element of a tile by a cooperative loop over its extents.
    pub(super) fn of(kernel: &ProgramKernel, stmt: &Stmt) -> Option<Self> {
        let StmtKind::Items { domain, body } = &stmt.kind else { return None };
        let [store] = body.as_slice() else { return None };
        let StmtKind::Store { access, value } = &store.kind else { return None };
        let Target::Tile(tile) = access.target else { return None };
        let extents = kernel.domains[*domain].extents();
        let is_coord = |(axis, &index): (usize, &ExprId)| {
            let coord = ExprKind::Coord { domain: *domain, axis: axis as u32 };
            kernel.exprs[index].kind == coord
        };
        let is_whole = *domain != kernel.block_domain
            && kernel.tiles[tile].space == TileSpace::Shared
            && extents == kernel.tiles[tile].extents
            && access.indices.iter().enumerate().all(is_coord);
        (is_whole && !access.is_guarded() && access.slot.is_none()).then(|| Self {
            domain: *domain,
            access: access.clone(),
            value: *value,
            tile,
            items: stmt.clone(),
            store: store.clone(),
        })
    }

    /// Whether the value is the same before the computation of the iteration
    /// before: it reads nothing that is written there.
    pub(super) fn may_run_ahead(&self, kernel: &ProgramKernel, assigned: &BTreeSet<VarId>) -> bool {
        is_unchanged(kernel, self.value, assigned)
    }

    /// Bytes of one access where the value is a plain element, both sides alike
    /// in type and width, that reads as zero bits outside: what an asynchronous
    /// copy can do.
    pub(super) fn copy_bytes(&self, kernel: &ProgramKernel) -> Option<u32> {
        let ExprKind::Load(src) = &kernel.exprs[self.value].kind else { return None };
        let Target::Buffer(buffer) = src.target else { return None };
        let Buffer { dtype, space, .. } = kernel.buffers[buffer];
        let pads_with_zero = !src.is_guarded()
            || src.pad.is_some_and(|pad| match kernel.exprs[pad].kind {
                ExprKind::Literal(Literal::Int(value)) => value == 0,
                ExprKind::Literal(Literal::Float(value)) => value.to_bits() == 0,
                ExprKind::Literal(Literal::Bool(value)) => !value,
                _ => false,
            });
        let bytes = u32::from(src.width) * dtype.size_bytes();
        let fits = space == BufferSpace::Global
            && dtype == kernel.tiles[self.tile].dtype
            && src.width == self.access.width
            && matches!(bytes, 4 | 8 | 16)
            && pads_with_zero;
        fits.then_some(bytes)
    }

    /// The fill with its parts replaced, as a copy where it has a token.
    pub(super) fn at_once(
        &self,
        kernel: &mut ProgramKernel,
        with: &Replacement,
        token: Option<TokenId>,
    ) -> Stmt {
        let stmt = with.stmt(kernel, &self.store);
        let kind = match (stmt.kind, token) {
            (StmtKind::Store { access, value }, Some(_)) => {
                match kernel.exprs[value].kind.clone() {
                    ExprKind::Load(src) => StmtKind::Copy { dst: access, src, token },
                    _ => StmtKind::Store { access, value },
                }
            }
            (kind, _) => kind,
        };
        self.items(vec![Stmt { kind, ..self.store.clone() }])
    }

    /// Registers for what one iteration fetches.
    pub(super) fn fragment(&self, kernel: &mut ProgramKernel) -> FragmentId {
        let name = format!("{}_next", kernel.tiles[self.tile].name);
        let ty = kernel.exprs[self.value].ty;
        kernel.fragments.push(Fragment { name, ty, domain: self.domain, accumulator: false })
    }

    /// Zeros in those registers.
    pub(super) fn cleared(&self, kernel: &mut ProgramKernel, staged: FragmentId) -> Stmt {
        let ty = kernel.fragments[staged].ty;
        let zero = match ty {
            Ty::Scalar(DType::Bool) => Literal::Bool(false),
            Ty::Scalar(dtype) if dtype.is_float() => Literal::Float(0.0),
            Ty::Scalar(_) | Ty::Index(_) => Literal::Int(0),
        };
        let value = kernel.exprs.push(Expr { kind: ExprKind::Literal(zero), ty });
        let kind = StmtKind::SetFragment { fragment: staged, value };
        self.items(vec![Stmt { kind, ..self.store.clone() }])
    }

    pub(super) fn fetch(
        &self,
        kernel: &mut ProgramKernel,
        with: &Replacement,
        staged: FragmentId,
    ) -> Stmt {
        let value = with.expr(kernel, self.value);
        let kind = StmtKind::SetFragment { fragment: staged, value };
        self.items(vec![Stmt { kind, ..self.store.clone() }])
    }

    pub(super) fn put(
        &self,
        kernel: &mut ProgramKernel,
        with: &Replacement,
        staged: FragmentId,
    ) -> Stmt {
        let ty = kernel.fragments[staged].ty;
        let value = kernel.exprs.push(Expr { kind: ExprKind::Fragment(staged), ty });
        let store = Stmt {
            kind: StmtKind::Store { access: self.access.clone(), value },
            ..self.store.clone()
        };
        let store = with.stmt(kernel, &store);
        self.items(vec![store])
    }

    fn items(&self, body: Vec<Stmt>) -> Stmt {
        Stmt { kind: StmtKind::Items { domain: self.domain, body }, ..self.items.clone() }
    }
}

/// Whether a value reads neither of these variables nor what a kernel writes.
pub(super) fn is_unchanged(kernel: &ProgramKernel, id: ExprId, assigned: &BTreeSet<VarId>) -> bool {
    let own = match &kernel.exprs[id].kind {
        ExprKind::Load(access) => match access.target {
            Target::Buffer(buffer) => !kernel.buffers[buffer].written,
            Target::Tile(_) => false,
        },
        ExprKind::Var(var) => !assigned.contains(var),
        ExprKind::Fragment(_) => false,
        ExprKind::Literal(_)
        | ExprKind::Arg(_)
        | ExprKind::Coord { .. }
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Fma { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Select { .. }
        | ExprKind::Cast(_)
        | ExprKind::Math { .. }
        | ExprKind::CeilDiv { .. }
        | ExprKind::InBounds { .. } => true,
    };
    let mut operands = true;
    kernel.exprs[id].kind.for_each_operand(&mut |operand| {
        operands = operands && is_unchanged(kernel, operand, assigned);
    });
    own && operands
}
