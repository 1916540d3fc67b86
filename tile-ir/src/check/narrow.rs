//! Kernels that number their work-items in 32 bits.
//!
//! `(bx * B + tx) as i32` wraps from 2^31 work-items on. A kernel whose indices or
//! conditions rest on such a number is proved for launches of fewer work-items, and
//! a launch of more is refused. Where a block's share is larger than its work-items, as
//! in `bx in tiles(N, 4 * B)`, the numbers of its places wrap first, and are limited too.

use super::assumed::Origins;
use crate::dtype::DType;
use crate::kernel::{Axis, ElemType, ExprId, ExprKind, Kernel, Place, Stmt, StmtKind, Type};

/// Most work-items of a launch of a kernel that numbers them in 32 bits, and most places
/// that the pieces of its grid have.
pub(crate) const MAX_NARROW_ITEMS: u64 = i32::MAX as u64;

/// Whether an index, a condition or a bound of a loop depends on an index that was
/// converted to 32 bits or fewer.
pub(crate) fn narrows(kernel: &Kernel) -> bool {
    let converts = |kind: &ExprKind, ty: Type| {
        let from_index =
            matches!(kind, ExprKind::Cast(from) if kernel.exprs[*from].ty == Type::Index);
        from_index && is_narrow(ty)
    };
    if !kernel.exprs.values().any(|expr| converts(&expr.kind, expr.ty)) {
        return false;
    }
    let mut roots = Vec::new();
    for expr in kernel.exprs.values() {
        if let ExprKind::Load(access) = &expr.kind {
            roots.extend(&access.indices);
        } else if let ExprKind::Select { cond, .. } = &expr.kind {
            roots.push(*cond);
        }
    }
    collect(&kernel.body, &mut roots);
    let origins = Origins::of(kernel);
    let narrow = |kind: &ExprKind| {
        let mut same = kernel.exprs.values().filter(|expr| expr.kind == *kind);
        matches!(kind, ExprKind::Cast(_)) && same.any(|expr| converts(&expr.kind, expr.ty))
    };
    roots.into_iter().any(|root| origins.reaches(kernel, root, &narrow))
}

/// The length of the pieces that an axis of the grid counts: `t` of `tiles(n, t)`. `None`
/// where it counts something else.
pub fn piece(kernel: &Kernel, axis: &Axis) -> Option<ExprId> {
    match kernel.exprs[axis.extent].kind {
        ExprKind::Tiles { tile, .. } => Some(tile),
        ExprKind::Literal(_)
        | ExprKind::Var(_)
        | ExprKind::Load(_)
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Select { .. }
        | ExprKind::Cast(_)
        | ExprKind::Math { .. }
        | ExprKind::Uniform(_)
        | ExprKind::InBounds { .. } => None,
    }
}

fn is_narrow(ty: Type) -> bool {
    let Type::Scalar(ElemType::Concrete(dtype)) = ty else { return false };
    matches!(dtype, DType::I32 | DType::U32 | DType::I16 | DType::U16 | DType::I8 | DType::U8)
}

/// The indices, conditions and bounds of statements.
fn collect(stmts: &[Stmt], out: &mut Vec<ExprId>) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Store { access, .. }
            | StmtKind::Update { place: Place::Element(access), .. }
            | StmtKind::Atomic { access, .. } => out.extend(&access.indices),
            StmtKind::Phase { range, .. } | StmtKind::For { range, .. } => {
                out.extend(range.exprs());
            }
            StmtKind::While { cond, .. } | StmtKind::If { cond, .. } => out.push(*cond),
            StmtKind::Let { .. }
            | StmtKind::LetArray { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Update { place: Place::Var(_), .. }
            | StmtKind::Exchange { .. }
            | StmtKind::Each { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Distinct { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => {}
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect(body, out));
    }
}
