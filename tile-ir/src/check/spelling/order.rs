//! An order of expressions that does not depend on how they stand to each other.

use crate::kernel::{ExprId, ExprKind, Kernel, VarKind, print_expr};

/// How far an expression varies, and how it is written: what is alike in both is alike.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Weight(Varies, String);

impl Weight {
    /// That of an expression.
    pub(super) fn of(kernel: &Kernel, expr: ExprId) -> Self {
        Self(Varies::of(kernel, expr), print_expr(kernel, expr))
    }
}

/// Of what an expression is made that varies most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Varies {
    Never,
    Launch,
    Block,
    WorkItem,
    Turn,
    Variable,
    Element,
}

impl Varies {
    fn of(kernel: &Kernel, expr: ExprId) -> Self {
        let kind = &kernel.exprs[expr].kind;
        let own = match kind {
            ExprKind::Var(var) => match kernel.vars[*var].kind {
                VarKind::Dim | VarKind::TileParam(_) | VarKind::Scalar(_) => Self::Launch,
                VarKind::Grid => Self::Block,
                VarKind::Block | VarKind::Each => Self::WorkItem,
                VarKind::Loop => Self::Turn,
                VarKind::Let { .. } => Self::Variable,
            },
            ExprKind::Load(_) => Self::Element,
            _ => Self::Never,
        };
        kind.operands().into_iter().map(|part| Self::of(kernel, part)).fold(own, Self::max)
    }
}
