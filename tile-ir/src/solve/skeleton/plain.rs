//! Values of index expressions at sizes, as if no type had limits: which runs are made need
//! not be exact.

use std::collections::BTreeMap;

use super::sizes::Sizes;
use crate::arena::EntityId as _;
use crate::kernel::{
    ExprId, ExprKind, Kernel, VarId, VarKind, any_subexpr, eval_index_of, immutable_lets,
};

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

    /// The scalar parameter or dimension that an expression is, alone, by whatever name.
    pub(super) fn parameter(&self, expr: ExprId) -> Option<VarId> {
        match self.kernel.exprs[self.resolved(expr)].kind {
            ExprKind::Cast(operand) => self.parameter(operand),
            ExprKind::Var(var) => match self.kernel.vars[var].kind {
                VarKind::Scalar(_) | VarKind::Dim => Some(var),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether an expression names a variable of such a kind, by what it stands for where that is
    /// set once.
    pub(super) fn names(&self, expr: ExprId, is_wanted: &dyn Fn(VarKind) -> bool) -> bool {
        any_subexpr(self.kernel, expr, &mut |kind| match kind {
            ExprKind::Var(var) => match self.lets.get(var) {
                Some(of) => self.names(*of, is_wanted),
                None => is_wanted(self.kernel.vars[*var].kind),
            },
            _ => false,
        })
    }

    /// Whether what is loaded, or whether an element exists, is in an expression.
    pub(super) fn reads(&self, expr: ExprId) -> bool {
        any_subexpr(self.kernel, expr, &mut |kind| match kind {
            ExprKind::Load(_) | ExprKind::InBounds { .. } => true,
            ExprKind::Var(var) => self.lets.get(var).is_some_and(|of| self.reads(*of)),
            _ => false,
        })
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
