//! What is added to be divided and rounded up: `n + size - 1`.
//!
//! A difference of unsigned numbers may wrap on purpose. This one cannot be below 0 where any
//! block runs, and of a launch without a block nothing is asked: what is taken away is 1, and the
//! size is 1 at least.

use super::sources::Sources;
use crate::check::interval::literal;
use crate::kernel::{ExprId, ExprKind, Kernel, Literal, VarId, VarKind};
use crate::op::BinaryOp;

impl Sources {
    /// Whether an expression takes 1 from a sum of which a part is a positive size.
    pub(super) fn rounds_up(&self, kernel: &Kernel, expr: ExprId) -> bool {
        let ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs } = kernel.exprs[expr].kind else {
            return false;
        };
        literal(kernel, rhs) == Some(1) && self.has_positive(kernel, lhs)
    }

    /// Whether a sum has a positive size in it.
    fn has_positive(&self, kernel: &Kernel, sum: ExprId) -> bool {
        match kernel.exprs[sum].kind {
            ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => {
                self.has_positive(kernel, lhs) || self.has_positive(kernel, rhs)
            }
            _ => self.is_positive(kernel, sum),
        }
    }

    /// Whether an expression is 1 at least where any block runs: it is made of literals, tile
    /// sizes and the extents of grid and block.
    fn is_positive(&self, kernel: &Kernel, expr: ExprId) -> bool {
        let is_positive = |part: ExprId| self.is_positive(kernel, part);
        match kernel.exprs[expr].kind {
            ExprKind::Literal(Literal::Int(value)) => value >= 1,
            ExprKind::Var(var) => match kernel.vars[var].kind {
                VarKind::TileParam(_) => true,
                VarKind::Dim => self.is_extent(kernel, var),
                VarKind::Let { .. } => self.lets.get(&var).copied().is_some_and(is_positive),
                _ => false,
            },
            ExprKind::Cast(of) => is_positive(of),
            ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => {
                is_positive(lhs) && is_positive(rhs)
            }
            _ => false,
        }
    }

    /// Whether a dimension is how many blocks or work-items there are on an axis.
    fn is_extent(&self, kernel: &Kernel, dim: VarId) -> bool {
        let mut axes = kernel.grid.iter().chain(kernel.block.iter().flatten());
        axes.any(|axis| matches!(kernel.exprs[axis.extent].kind, ExprKind::Var(var) if var == dim))
    }
}
