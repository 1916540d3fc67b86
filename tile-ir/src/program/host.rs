//! What the host computes from a program at a launch: extents and strides.

use super::{ExprId, ExprKind, Literal, ProgramKernel};
use crate::arena::EntityId as _;
use crate::kernel::{ceil_div, eval_index_binary};
use crate::value::ArgValue;

impl ProgramKernel {
    /// The value of an index expression over literals and launch arguments:
    /// an extent of the grid or of a buffer, a stride.
    ///
    /// `args` holds one value per argument, by id. `None` where the expression
    /// is of another kind or an argument is missing.
    pub fn eval_on_host(&self, expr: ExprId, args: &[ArgValue]) -> Option<i64> {
        let eval = |id| self.eval_on_host(id, args).map(i128::from);
        let value = match &self.exprs.get(expr)?.kind {
            ExprKind::Literal(Literal::Int(value)) => *value,
            ExprKind::Arg(id) => match args.get(id.index())? {
                ArgValue::Index(value) => i128::from(*value),
                ArgValue::Scalar(_) => return None,
            },
            ExprKind::Binary { op, lhs, rhs } => eval_index_binary(*op, eval(*lhs)?, eval(*rhs)?)?,
            ExprKind::CeilDiv { n, d } => ceil_div(eval(*n)?, eval(*d)?),
            ExprKind::Cast(operand) => eval(*operand)?,
            ExprKind::Literal(Literal::Float(_) | Literal::Bool(_))
            | ExprKind::Var(_)
            | ExprKind::Coord { .. }
            | ExprKind::Fragment(_)
            | ExprKind::Load(_)
            | ExprKind::Unary { .. }
            | ExprKind::Fma { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Math { .. }
            | ExprKind::InBounds { .. } => return None,
        };
        i64::try_from(value).ok()
    }

    /// Number of blocks along each grid axis, outermost first; no axis for a
    /// single block. `None` as for [`Self::eval_on_host`].
    pub fn grid_extents(&self, args: &[ArgValue]) -> Option<Vec<u64>> {
        let extents = self.grid.iter().map(|axis| self.eval_on_host(axis.extent, args));
        extents.map(|extent| extent.map(|value| value.max(0).unsigned_abs())).collect()
    }
}
