//! Whether the order in which work-items run shows in a kernel's results.
//!
//! A kernel without races means the same in any order, but for its atomic
//! updates. Those of integers give one result, since their operations commute
//! and are exact; a sum of floating-point numbers depends on its order. So does
//! what an exchange leaves behind, and the old value of any update: it tells who
//! came first.

use crate::dtype::Bound;
use crate::kernel::{ElemType, Kernel, Stmt, StmtKind};

/// Whether results are the same in whatever order work-items run. Of an element
/// type that may be floating-point it is taken to be.
pub(super) fn is_order_independent(kernel: &Kernel) -> bool {
    !kernel.body.iter().any(|stmt| depends_on_order(kernel, stmt))
}

fn depends_on_order(kernel: &Kernel, stmt: &Stmt) -> bool {
    let own = match &stmt.kind {
        StmtKind::Atomic { access, op, old, .. } => {
            old.is_some()
                || !op.commutes()
                || may_be_float(kernel, kernel.element_type(access.array))
        }
        StmtKind::Let { .. }
        | StmtKind::LetArray { .. }
        | StmtKind::Assign { .. }
        | StmtKind::Store { .. }
        | StmtKind::Update { .. }
        | StmtKind::Each { .. }
        | StmtKind::Phase { .. }
        | StmtKind::For { .. }
        | StmtKind::Exchange { .. }
        | StmtKind::While { .. }
        | StmtKind::If { .. }
        | StmtKind::Assume { .. }
        | StmtKind::Distinct { .. }
        | StmtKind::Barrier
        | StmtKind::WarpBarrier => false,
    };
    own || stmt.kind.bodies().into_iter().flatten().any(|inner| depends_on_order(kernel, inner))
}

fn may_be_float(kernel: &Kernel, elem: ElemType) -> bool {
    match elem {
        ElemType::Concrete(dtype) => dtype.is_float(),
        ElemType::Param(param) | ElemType::Acc(param) => {
            kernel.type_params[param].bound != Bound::Integer
        }
    }
}
