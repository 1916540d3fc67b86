//! Expressions of the kernel, at the bound types.

use super::interval::Interval;
use super::literal::literal_of;
use super::{Slot, Specialiser};
use crate::dtype::DType;
use crate::kernel::{self, ArrayRef, Edge, Type};
use crate::lower::LowerError;
use crate::op::{BinaryOp, UnaryOp};
use crate::program::{Access, AxisGuard, ExprId, ExprKind, Target, Ty};

impl Specialiser<'_> {
    /// The scalar type of a kernel's type; `None` for an index.
    pub(super) fn scalar_type(&self, ty: Type) -> Option<DType> {
        match ty {
            Type::Index => None,
            Type::Scalar(elem) => elem.bind(&self.binding.types),
        }
    }

    pub(super) fn expr(&mut self, id: kernel::ExprId) -> Result<ExprId, LowerError> {
        let node = &self.kernel.exprs[id];
        let dtype = self.scalar_type(node.ty);
        match &node.kind {
            kernel::ExprKind::Literal(literal) => self.literal(*literal, dtype),
            kernel::ExprKind::Var(var) => self.var(*var),
            kernel::ExprKind::Load(access) => {
                let access = self.access(access)?;
                Ok(self.value(ExprKind::Load(access), dtype, Interval::ALL))
            }
            kernel::ExprKind::Unary { op, operand } => {
                let operand = self.expr(*operand)?;
                let range = match op {
                    UnaryOp::Neg => self.b.range(operand).negate(),
                    UnaryOp::Not => Interval::ALL,
                };
                if let (None, Some(value)) = (dtype, self.b.constant_value(operand))
                    && *op == UnaryOp::Neg
                {
                    return Ok(self.b.constant(-value));
                }
                if dtype.is_some() {
                    return Ok(self.value(ExprKind::Unary { op: *op, operand }, dtype, range));
                }
                let width = self.b.common_width(&[operand], Some(range));
                let operand = self.b.widen(operand, width);
                let kind = ExprKind::Unary { op: *op, operand };
                Ok(self.b.index_of_width(kind, width, range))
            }
            kernel::ExprKind::Binary { op, lhs, rhs } => match dtype {
                None => {
                    let (lhs, rhs) = (self.expr(*lhs)?, self.expr(*rhs)?);
                    Ok(self.b.index_binary(*op, lhs, rhs))
                }
                Some(dtype) => self.scalar_binary(*op, *lhs, *rhs, dtype),
            },
            kernel::ExprKind::Compare { op, lhs, rhs } => {
                let (lhs, rhs) = self.same_width(*lhs, *rhs)?;
                Ok(self.b.condition(ExprKind::Compare { op: *op, lhs, rhs }))
            }
            kernel::ExprKind::Logic { op, lhs, rhs } => {
                let (lhs, rhs) = (self.expr(*lhs)?, self.expr(*rhs)?);
                Ok(self.b.condition(ExprKind::Logic { op: *op, lhs, rhs }))
            }
            kernel::ExprKind::Select { cond, then, otherwise } => {
                if let Some(inside) = self.kernel.read_at_edge(id) {
                    // Where its comparisons fail, a read gives its pad, and only then
                    // is that one evaluated.
                    let pad = self.expr(*otherwise)?;
                    let access = Access { pad: Some(pad), ..self.access(inside)? };
                    return Ok(self.value(ExprKind::Load(access), dtype, Interval::ALL));
                }
                let cond = self.expr(*cond)?;
                let (then, otherwise) = self.same_width(*then, *otherwise)?;
                let range = self.b.range(then).hull(self.b.range(otherwise));
                let kind = ExprKind::Select { cond, then, otherwise };
                Ok(match (dtype, self.b.ty(then)) {
                    (None, Ty::Index(width)) => self.b.index_of_width(kind, width, range),
                    _ => self.value(kind, dtype, range),
                })
            }
            kernel::ExprKind::Cast(operand) => self.cast(*operand, dtype),
            kernel::ExprKind::Math { func, arg } => {
                let arg = self.expr(*arg)?;
                let range = self.b.range(arg).hull(self.b.range(arg).negate());
                let kind = ExprKind::Math { func: *func, arg };
                Ok(match self.b.ty(arg) {
                    Ty::Index(width) => self.b.index_of_width(kind, width, range),
                    Ty::Scalar(_) => self.value(kind, dtype, range),
                })
            }
            kernel::ExprKind::Uniform(operand) => {
                let outer = std::mem::replace(&mut self.by_all, true);
                let value = self.expr(*operand);
                self.by_all = outer;
                value
            }
            kernel::ExprKind::Tiles { extent, tile } => {
                let (extent, tile) = (self.expr(*extent)?, self.expr(*tile)?);
                Ok(self.b.ceil_div(extent, tile))
            }
            kernel::ExprKind::InBounds { tensor, indices } => {
                let indices = self.exprs(indices)?;
                let buffer = self.buffers[tensor];
                Ok(self.b.condition(ExprKind::InBounds { buffer, indices }))
            }
        }
    }

    fn exprs(&mut self, ids: &[kernel::ExprId]) -> Result<Vec<ExprId>, LowerError> {
        ids.iter().map(|&id| self.expr(id)).collect()
    }

    fn value(&mut self, kind: ExprKind, dtype: Option<DType>, range: Interval) -> ExprId {
        match dtype {
            Some(dtype) => self.b.scalar(kind, dtype),
            None => self.b.index(kind, range),
        }
    }

    pub(super) fn literal(
        &mut self,
        literal: kernel::Literal,
        dtype: Option<DType>,
    ) -> Result<ExprId, LowerError> {
        match (literal, dtype) {
            (kernel::Literal::Int(value), None) => Ok(self.b.constant(value)),
            (_, None) => Err(self.broken("an index literal that is not an integer")),
            (literal, Some(dtype)) => {
                let literal = literal_of(literal, dtype)
                    .ok_or_else(|| self.broken("a constant that its type does not have"))?;
                Ok(self.b.scalar(ExprKind::Literal(literal), dtype))
            }
        }
    }

    pub(super) fn var(&mut self, var: kernel::VarId) -> Result<ExprId, LowerError> {
        let Some(slot) = self.slots.get(&var).copied() else {
            return Err(self.broken("a variable used before its declaration"));
        };
        Ok(match slot {
            Slot::Const(value) => self.b.constant(value),
            Slot::Arg(arg, range) => {
                let kind = ExprKind::Arg(arg);
                match self.b.kernel.args[arg].ty {
                    Ty::Index(width) => self.b.index_of_width(kind, width, range),
                    Ty::Scalar(dtype) => self.b.scalar(kind, dtype),
                }
            }
            Slot::Coord(domain, axis, extent) => self.b.index(
                ExprKind::Coord { domain, axis },
                Interval { min: 0, max: i128::from(extent.max(1)) - 1 },
            ),
            Slot::Var(var, range) => {
                let kind = ExprKind::Var(var);
                match self.b.kernel.vars[var].ty {
                    Ty::Index(width) => self.b.index_of_width(kind, width, range),
                    Ty::Scalar(dtype) => self.b.scalar(kind, dtype),
                }
            }
            Slot::Fragment(fragment, range) => {
                let kind = ExprKind::Fragment(fragment);
                match self.b.kernel.fragments[fragment].ty {
                    Ty::Index(width) => self.b.index_of_width(kind, width, range),
                    Ty::Scalar(dtype) => self.b.scalar(kind, dtype),
                }
            }
        })
    }

    fn same_width(
        &mut self,
        lhs: kernel::ExprId,
        rhs: kernel::ExprId,
    ) -> Result<(ExprId, ExprId), LowerError> {
        let (lhs, rhs) = (self.expr(lhs)?, self.expr(rhs)?);
        let width = self.b.common_width(&[lhs, rhs], None);
        Ok((self.b.widen(lhs, width), self.b.widen(rhs, width)))
    }

    fn cast(&mut self, operand: kernel::ExprId, to: Option<DType>) -> Result<ExprId, LowerError> {
        let operand = self.expr(operand)?;
        Ok(match (self.b.ty(operand), to) {
            (Ty::Index(_), None) => operand,
            (Ty::Scalar(from), Some(to)) if from == to => operand,
            (_, Some(to)) => self.b.scalar(ExprKind::Cast(operand), to),
            (Ty::Scalar(from), None) => {
                let range = from.integer_range().map_or(Interval::ALL, |(min, max)| Interval {
                    min,
                    max: max.min(Interval::ALL.max),
                });
                self.b.index(ExprKind::Cast(operand), range)
            }
        })
    }

    /// A scalar operator; a product that feeds a sum of `f32` or `f64` is fused,
    /// the left one where both operands are products.
    fn scalar_binary(
        &mut self,
        op: BinaryOp,
        lhs: kernel::ExprId,
        rhs: kernel::ExprId,
        dtype: DType,
    ) -> Result<ExprId, LowerError> {
        let subtract = op == BinaryOp::Sub;
        if matches!(op, BinaryOp::Add | BinaryOp::Sub) && is_fused(dtype) {
            if let Some((a, b)) = self.product(lhs) {
                let (a, b, c) = (self.expr(a)?, self.expr(b)?, self.expr(rhs)?);
                let c = if subtract { self.negate(c, dtype) } else { c };
                return Ok(self.b.scalar(ExprKind::Fma { a, b, c }, dtype));
            }
            if let Some((a, b)) = self.product(rhs) {
                let (c, a, b) = (self.expr(lhs)?, self.expr(a)?, self.expr(b)?);
                let a = if subtract { self.negate(a, dtype) } else { a };
                return Ok(self.b.scalar(ExprKind::Fma { a, b, c }, dtype));
            }
        }
        let (lhs, rhs) = (self.expr(lhs)?, self.expr(rhs)?);
        Ok(self.b.scalar(ExprKind::Binary { op, lhs, rhs }, dtype))
    }

    /// `old ⊕ value`, fused by the same rule.
    pub(super) fn updated(
        &mut self,
        op: BinaryOp,
        old: ExprId,
        value: kernel::ExprId,
    ) -> Result<ExprId, LowerError> {
        match (self.b.ty(old), op) {
            (Ty::Index(_), _) => {
                let value = self.expr(value)?;
                Ok(self.b.index_binary(op, old, value))
            }
            (Ty::Scalar(dtype), BinaryOp::Add | BinaryOp::Sub) if is_fused(dtype) => {
                let Some((a, b)) = self.product(value) else {
                    let rhs = self.expr(value)?;
                    return Ok(self.b.scalar(ExprKind::Binary { op, lhs: old, rhs }, dtype));
                };
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                let a = if op == BinaryOp::Sub { self.negate(a, dtype) } else { a };
                Ok(self.b.scalar(ExprKind::Fma { a, b, c: old }, dtype))
            }
            (Ty::Scalar(dtype), _) => {
                let rhs = self.expr(value)?;
                Ok(self.b.scalar(ExprKind::Binary { op, lhs: old, rhs }, dtype))
            }
        }
    }

    fn negate(&mut self, operand: ExprId, dtype: DType) -> ExprId {
        self.b.scalar(ExprKind::Unary { op: UnaryOp::Neg, operand }, dtype)
    }

    fn product(&self, id: kernel::ExprId) -> Option<(kernel::ExprId, kernel::ExprId)> {
        match self.kernel.exprs[id].kind {
            kernel::ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => Some((lhs, rhs)),
            _ => None,
        }
    }

    /// An access, guarded on every side of a tensor; `guard` deletes what is not
    /// needed.
    pub(super) fn access(&mut self, access: &kernel::Access) -> Result<Access, LowerError> {
        let indices = self.exprs(&access.indices)?;
        let n_axes = indices.len();
        match access.array {
            ArrayRef::Tensor(tensor) => {
                let param = &self.kernel.tensors[tensor];
                let dtype = self.scalar_type(Type::Scalar(param.elem));
                let pad = match param.edge {
                    Edge::DefaultPad | Edge::Rule(_) => {
                        self.literal(kernel::Literal::Int(0), dtype)?
                    }
                    Edge::Pad(value) => self.expr(value)?,
                };
                Ok(Access {
                    target: Target::Buffer(self.buffers[&tensor]),
                    slot: None,
                    indices,
                    guards: vec![AxisGuard::BOTH; n_axes],
                    pad: Some(pad),
                    width: 1,
                    aligned_elems: 1,
                    agreed: self.by_all,
                    once: false,
                })
            }
            ArrayRef::Tile(tile) => {
                let dtype = self.scalar_type(Type::Scalar(self.kernel.tiles[tile].elem));
                let guards = self.tile_guards(tile, &indices);
                let guarded = guards.iter().any(|guard| guard.any());
                let pad = match guarded {
                    true => Some(self.literal(kernel::Literal::Int(0), dtype)?),
                    false => None,
                };
                Ok(Access {
                    target: Target::Tile(self.tiles[&tile]),
                    slot: None,
                    indices,
                    guards,
                    pad,
                    width: 1,
                    aligned_elems: 1,
                    agreed: self.by_all,
                    once: false,
                })
            }
        }
    }

    /// Comparisons only where the ranges do not show that an index is inside.
    fn tile_guards(&self, tile: kernel::TileId, indices: &[ExprId]) -> Vec<AxisGuard> {
        let extents = &self.b.kernel.tiles[self.tiles[&tile]].extents;
        let guards = indices.iter().zip(extents).map(|(&index, &extent)| {
            let range = self.b.range(index);
            AxisGuard { lower: range.min < 0, upper: range.max >= i128::from(extent) }
        });
        guards.collect()
    }

    /// An index literal 0 or 1 and the like for the builder's own needs.
    pub(super) fn index_literal(&mut self, value: i128) -> ExprId {
        self.b.constant(value)
    }
}

/// Whether products are fused into sums of this type.
fn is_fused(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64)
}
