//! Copies of expressions: a kernel's are trees, so each use has its own.

use super::{ExprId, ExprKind, Kernel, VarId};

/// A copy of an expression, in which `replace` may put another expression in
/// place of a variable.
pub(crate) fn copy_expr(
    kernel: &mut Kernel,
    id: ExprId,
    replace: &mut dyn FnMut(&mut Kernel, VarId) -> Option<ExprId>,
) -> ExprId {
    copy_expr_but(kernel, id, &mut |kernel, id| match kernel.exprs[id].kind {
        ExprKind::Var(var) => replace(kernel, var),
        _ => None,
    })
}

/// A copy of an expression in which other expressions stand for those for which `replace`
/// gives one, itself or one inside it.
pub(crate) fn copy_expr_but(
    kernel: &mut Kernel,
    id: ExprId,
    replace: &mut dyn FnMut(&mut Kernel, ExprId) -> Option<ExprId>,
) -> ExprId {
    if let Some(by) = replace(kernel, id) {
        return by;
    }
    let mut expr = kernel.exprs[id].clone();
    let mut copy = |id: &mut ExprId| *id = copy_expr_but(kernel, *id, replace);
    match &mut expr.kind {
        ExprKind::Literal(_) | ExprKind::Var(_) => {}
        ExprKind::Load(access) => access.indices.iter_mut().for_each(&mut copy),
        ExprKind::InBounds { indices, .. } => indices.iter_mut().for_each(&mut copy),
        ExprKind::Unary { operand, .. } | ExprKind::Cast(operand) | ExprKind::Uniform(operand) => {
            copy(operand);
        }
        ExprKind::Math { arg, .. } => copy(arg),
        ExprKind::Binary { lhs, rhs, .. }
        | ExprKind::Compare { lhs, rhs, .. }
        | ExprKind::Logic { lhs, rhs, .. } => {
            copy(lhs);
            copy(rhs);
        }
        ExprKind::Select { cond, then, otherwise } => {
            copy(cond);
            copy(then);
            copy(otherwise);
        }
        ExprKind::Tiles { extent, tile } => {
            copy(extent);
            copy(tile);
        }
    }
    kernel.exprs.push(expr)
}
