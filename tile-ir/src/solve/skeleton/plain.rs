//! Values of index expressions at sizes, as if no type had limits: which runs are made need
//! not be exact.

use std::collections::BTreeMap;

use super::sizes::Sizes;
use crate::arena::EntityId as _;
use crate::kernel::{ExprId, ExprKind, Kernel, VarId, VarKind, eval_index_of, immutable_lets};

/// The variables of a kernel that are set once, and what to.
pub(super) struct Plain<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) lets: BTreeMap<VarId, ExprId>,
}

impl<'a> Plain<'a> {
    pub(super) fn of(kernel: &'a Kernel) -> Self {
        Self { kernel, lets: immutable_lets(&kernel.body, kernel) }
    }

    /// What a name stands for that is set once.
    pub(super) fn resolved(&self, mut expr: ExprId) -> ExprId {
        while let ExprKind::Var(var) = self.kernel.exprs[expr].kind
            && let Some(init) = self.lets.get(&var)
        {
            expr = *init;
        }
        expr
    }

    /// An expression's value where `var` says what variables are that are not set once.
    pub(super) fn value(&self, expr: ExprId, var: &dyn Fn(VarId) -> Option<i128>) -> Option<i128> {
        let kernel = self.kernel;
        eval_index_of(kernel, expr, &|leaf| match kernel.exprs[leaf].kind {
            ExprKind::Var(id) => match (self.lets.get(&id), kernel.vars[id].kind) {
                (Some(of), _) => self.value(*of, var),
                // Coordinates along other axes, and variables before they are changed.
                (None, VarKind::Grid | VarKind::Let { .. }) => Some(var(id).unwrap_or(0)),
                (None, _) => var(id),
            },
            ExprKind::Cast(operand) => self.value(operand, var),
            _ => None,
        })
    }
}

/// What a launch of these sizes gives a variable.
pub(super) fn given(sizes: &Sizes, var: VarId) -> Option<i128> {
    sizes.values.get(var.index()).copied().flatten().map(i128::from)
}
