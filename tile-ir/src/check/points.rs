//! Expressions computed at points: of axes and counters whose values are numbered, at every
//! admissible choice of the tile parameters that matter.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::tile_value;
use crate::kernel::{
    ElemType, ExprId, ExprKind, Kernel, TileParamId, Type, VarId, VarKind, eval_index_of,
};
use crate::op::{BinaryOp, UnaryOp};
use crate::solve::skeleton::combinations;

/// Expressions that axes, counters and tile parameters decide.
pub(super) struct Computed<'a> {
    kernel: &'a Kernel,
    lets: &'a BTreeMap<VarId, ExprId>,
    exprs: &'a [ExprId],
    /// The tile parameters that decide them.
    params: BTreeSet<TileParamId>,
    /// Parts that are computed in a type whose range they must keep to.
    narrow: Vec<ExprId>,
}

impl<'a> Computed<'a> {
    /// `exprs`, which the variables that `is_point` names and tile parameters decide; `None`
    /// where something else does.
    pub(super) fn of(
        kernel: &'a Kernel,
        lets: &'a BTreeMap<VarId, ExprId>,
        exprs: &'a [ExprId],
        is_point: &dyn Fn(VarId) -> bool,
    ) -> Option<Self> {
        let mut parts = Self { kernel, lets, exprs, params: BTreeSet::new(), narrow: Vec::new() };
        exprs.iter().try_for_each(|expr| parts.add(*expr, is_point))?;
        Some(parts)
    }

    /// The tile parameters that decide them.
    pub(super) fn params(&self) -> impl Iterator<Item = TileParamId> + '_ {
        self.params.iter().copied()
    }

    /// Every admissible choice of the tile parameters that decide them, or `others`; `None`
    /// of too many.
    pub(super) fn sizes(&self, others: &[ExprId]) -> Option<Vec<Vec<u32>>> {
        self.sizes_of(others, std::iter::empty())
    }

    /// The same, where `more` tile parameters matter.
    pub(super) fn sizes_of(
        &self,
        others: &[ExprId],
        more: impl Iterator<Item = TileParamId>,
    ) -> Option<Vec<Vec<u32>>> {
        let mut params = self.params.clone();
        params.extend(more);
        if !self.kernel.constraints.is_empty() {
            params.extend(self.kernel.tile_params.ids());
        }
        let mut pending = others.to_vec();
        while let Some(expr) = pending.pop() {
            if let ExprKind::Var(var) = self.kernel.exprs[expr].kind
                && let VarKind::TileParam(param) = self.kernel.vars[var].kind
            {
                params.insert(param);
            }
            pending.extend(self.kernel.exprs[expr].kind.operands());
        }
        combinations(self.kernel, &params).ok()
    }

    /// Their values at a point; `None` where one leaves the range of its type.
    pub(super) fn at(&self, tiles: &[u32], point: &BTreeMap<VarId, i128>) -> Option<Vec<i128>> {
        let var = |var| point.get(&var).copied().or_else(|| tile_value(self.kernel, tiles, var));
        let is_exact = self.narrow.iter().all(|part| self.is_exact(*part, &var));
        if !is_exact {
            return None;
        }
        self.exprs.iter().map(|expr| self.value(*expr, &var)).collect()
    }

    fn add(&mut self, expr: ExprId, is_point: &dyn Fn(VarId) -> bool) -> Option<()> {
        let of = &self.kernel.exprs[expr];
        match of.kind {
            ExprKind::Var(var) if is_point(var) => return Some(()),
            ExprKind::Var(var) => match self.kernel.vars[var].kind {
                VarKind::TileParam(param) => {
                    self.params.insert(param);
                    return Some(());
                }
                VarKind::Let { mutable: false } => {
                    return self.add(*self.lets.get(&var)?, is_point);
                }
                _ => return None,
            },
            ExprKind::Load(_) | ExprKind::Math { .. } | ExprKind::InBounds { .. } => return None,
            ExprKind::Unary { .. } | ExprKind::Binary { .. } | ExprKind::Cast(_)
                if of.ty != Type::Index && of.ty != Type::BOOL =>
            {
                if matches!(of.kind, ExprKind::Unary { op: UnaryOp::Not, .. }) {
                    return None;
                }
                range(of.ty)?;
                self.narrow.push(expr);
            }
            _ => {}
        }
        of.kind.operands().into_iter().try_for_each(|operand| self.add(operand, is_point))
    }

    fn value(&self, expr: ExprId, var: &dyn Fn(VarId) -> Option<i128>) -> Option<i128> {
        let kernel = self.kernel;
        eval_index_of(kernel, expr, &|leaf| match kernel.exprs[leaf].kind {
            ExprKind::Var(id) => var(id).or_else(|| self.value(*self.lets.get(&id)?, var)),
            ExprKind::Cast(operand) => self.value(operand, var),
            _ => None,
        })
    }

    /// Whether a part keeps to its type, so that what was computed is what it is.
    fn is_exact(&self, part: ExprId, var: &dyn Fn(VarId) -> Option<i128>) -> bool {
        let of = &self.kernel.exprs[part];
        let Some((min, max)) = range(of.ty) else { return false };
        let has_room = |value: i128| (min..=max).contains(&value);
        let is_shift = |op| matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let shifted_by = match of.kind {
            ExprKind::Binary { op, rhs, .. } if is_shift(op) => self.value(rhs, var),
            _ => Some(0),
        };
        self.value(part, var).is_some_and(has_room)
            && shifted_by.is_some_and(|by| (0..8).contains(&by))
    }
}

/// Every point of axes of so many values each, the last axis first.
pub(super) fn points(
    axes: &[(VarId, u64)],
) -> impl Iterator<Item = BTreeMap<VarId, i128>> + use<'_> {
    let count: u64 = axes.iter().map(|(_, extent)| *extent).product();
    (0..count).map(move |number| {
        let mut rest = number;
        let at = axes.iter().rev().map(|(axis, extent)| {
            let at = rest % extent;
            rest /= extent;
            (*axis, i128::from(at))
        });
        at.collect()
    })
}

/// The numbers that a type of integers has.
fn range(ty: Type) -> Option<(i128, i128)> {
    match ty {
        Type::Scalar(ElemType::Concrete(dtype)) => dtype.integer_range(),
        Type::Index | Type::Scalar(_) => None,
    }
}
