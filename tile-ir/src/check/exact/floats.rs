//! Integers that are made of floating-point parameters.
//!
//! `x0 as i32` of a parameter `x0: f64` is one number of the launch, as an integer parameter
//! is. A launch knows it: what is behind the point is cut off, what the type does not have is
//! its nearest end, and what is no number is 0, as in Rust.

use crate::check::interval::Range;
use crate::kernel::{ElemType, ExprId, ExprKind, Kernel, Type, VarId, VarKind};

/// The values of an index.
const WHOLE: Range = (i64::MIN as i128, i64::MAX as i128);

/// The parameter, of a floating-point type, that an expression makes an integer of.
pub(super) fn whole_of(kernel: &Kernel, expr: ExprId) -> Option<VarId> {
    let node = &kernel.exprs[expr];
    let ExprKind::Cast(of) = node.kind else { return None };
    let ExprKind::Var(var) = kernel.exprs[of].kind else { return None };
    let declared = &kernel.vars[var];
    let Type::Scalar(ElemType::Concrete(dtype)) = declared.ty else { return None };
    let is_integer = node.ty == Type::Index || node.ty.integer_range().is_some();
    (is_integer && dtype.is_float() && matches!(declared.kind, VarKind::Scalar(_))).then_some(var)
}

/// The integer of a type that is made of a number, of which what is behind the point is cut
/// off.
pub(super) fn nearest(number: i128, ty: Type) -> i128 {
    let (min, max) = ends(ty);
    number.clamp(min, max)
}

/// The integers that may be made so.
pub(super) fn ends(ty: Type) -> Range {
    ty.integer_range().unwrap_or(WHOLE)
}
