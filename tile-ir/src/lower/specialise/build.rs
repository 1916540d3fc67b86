//! The program under construction: expressions with their ranges.

use super::interval::Interval;
use crate::arena::EntityId as _;
use crate::dtype::DType;
use crate::op::BinaryOp;
use crate::program::{Expr, ExprId, ExprKind, IndexWidth, Literal, ProgramKernel, Ty};

/// A program's kernel, and the range of each index expression in it.
pub(super) struct Builder {
    pub(super) kernel: ProgramKernel,
    ranges: Vec<Interval>,
}

impl Builder {
    pub(super) fn new(kernel: ProgramKernel) -> Self {
        Self { kernel, ranges: Vec::new() }
    }

    /// Adds an expression that is not an index.
    pub(super) fn scalar(&mut self, kind: ExprKind, dtype: DType) -> ExprId {
        self.push(kind, Ty::Scalar(dtype), Interval::ALL)
    }

    /// Adds a condition.
    pub(super) fn condition(&mut self, kind: ExprKind) -> ExprId {
        self.scalar(kind, DType::Bool)
    }

    /// Adds an index of the width that its range asks for.
    pub(super) fn index(&mut self, kind: ExprKind, range: Interval) -> ExprId {
        self.push(kind, Ty::Index(range.width()), range)
    }

    /// Adds an index whose width is given by what it reads.
    pub(super) fn index_of_width(
        &mut self,
        kind: ExprKind,
        width: IndexWidth,
        range: Interval,
    ) -> ExprId {
        self.push(kind, Ty::Index(width), range)
    }

    pub(super) fn constant(&mut self, value: i128) -> ExprId {
        self.index(ExprKind::Literal(Literal::Int(value)), Interval::exactly(value))
    }

    fn push(&mut self, kind: ExprKind, ty: Ty, range: Interval) -> ExprId {
        let id = self.kernel.exprs.push(Expr { kind, ty });
        self.ranges.resize(id.index() + 1, Interval::ALL);
        self.ranges[id.index()] = range;
        id
    }

    pub(super) fn ty(&self, id: ExprId) -> Ty {
        self.kernel.exprs[id].ty
    }

    pub(super) fn range(&self, id: ExprId) -> Interval {
        self.ranges[id.index()]
    }

    /// The value of an index literal.
    pub(super) fn constant_value(&self, id: ExprId) -> Option<i128> {
        match (&self.kernel.exprs[id].kind, self.ty(id)) {
            (ExprKind::Literal(Literal::Int(value)), Ty::Index(_)) => Some(*value),
            _ => None,
        }
    }

    /// `id` with at least this width.
    pub(super) fn widen(&mut self, id: ExprId, width: IndexWidth) -> ExprId {
        let range = self.range(id);
        match (self.ty(id), self.constant_value(id)) {
            (Ty::Index(found), _) if found == width => id,
            (Ty::Index(IndexWidth::Bits64), _) | (Ty::Scalar(_), _) => id,
            (Ty::Index(IndexWidth::Bits32), Some(value)) => {
                self.index_of_width(ExprKind::Literal(Literal::Int(value)), width, range)
            }
            (Ty::Index(IndexWidth::Bits32), None) => {
                self.index_of_width(ExprKind::Cast(id), width, range)
            }
        }
    }

    /// The common width of operands, and of a result of this range.
    pub(super) fn common_width(&self, ids: &[ExprId], range: Option<Interval>) -> IndexWidth {
        let widths = ids.iter().filter_map(|&id| match self.ty(id) {
            Ty::Index(width) => Some(width),
            Ty::Scalar(_) => None,
        });
        let own = range.map_or(IndexWidth::Bits32, Interval::width);
        widths.fold(own, IndexWidth::max)
    }

    /// An index operator, folded where the operands are known.
    pub(super) fn index_binary(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        let known = (self.constant_value(lhs), self.constant_value(rhs));
        if let (Some(a), Some(b)) = known
            && let Some(value) = crate::kernel::eval_index_binary(op, a, b)
            && i64::try_from(value).is_ok()
        {
            return self.constant(value);
        }
        match (op, known) {
            (BinaryOp::Add, (Some(0), _)) | (BinaryOp::Mul, (Some(1), _)) => return rhs,
            (BinaryOp::Add | BinaryOp::Sub, (_, Some(0)))
            | (BinaryOp::Mul | BinaryOp::Div, (_, Some(1))) => return lhs,
            (BinaryOp::Mul, (Some(0), _) | (_, Some(0))) => return self.constant(0),
            _ => {}
        }
        let range = Interval::binary(op, self.range(lhs), self.range(rhs));
        let width = self.common_width(&[lhs, rhs], Some(range));
        let (lhs, rhs) = (self.widen(lhs, width), self.widen(rhs, width));
        self.index_of_width(ExprKind::Binary { op, lhs, rhs }, width, range)
    }

    /// `ceil(n / d)`.
    pub(super) fn ceil_div(&mut self, n: ExprId, d: ExprId) -> ExprId {
        if let (Some(n), Some(d)) = (self.constant_value(n), self.constant_value(d)) {
            return self.constant(crate::kernel::ceil_div(n, d));
        }
        let range = Interval::ceil_div(self.range(n), self.range(d));
        let width = self.common_width(&[n, d], Some(range));
        let (n, d) = (self.widen(n, width), self.widen(d, width));
        self.index_of_width(ExprKind::CeilDiv { n, d }, width, range)
    }
}
