//! What the work-items of a warp agree on, computed for each work-item of a block.
//!
//! With the block `(ty in 16, tx in 16)` all of a warp have one value of `ty < 2` and of
//! `(ty * 16 + tx) / 32`, though no axis is the same for a warp. Where the axes of the
//! block and tile parameters of few values decide a value, it is computed at every size.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::{block_extents, tile_value};
use crate::exchange::WARP_ITEMS;
use crate::kernel::{
    Axis, ElemType, ExprId, ExprKind, Kernel, TileParamId, Type, VarId, VarKind, eval_index_of,
};
use crate::op::{BinaryOp, UnaryOp};
use crate::solve::skeleton::combinations;

/// Most work-items, of all sizes together, for which an expression is computed.
const MAX_POINTS: u64 = 1 << 14;

/// Whether an expression has one value for each warp, at every admissible size.
pub(super) fn agree(kernel: &Kernel, lets: &BTreeMap<VarId, ExprId>, expr: ExprId) -> bool {
    let axes = kernel.block.as_deref().unwrap_or_default();
    let Some(parts) = Parts::of(kernel, lets, axes, expr) else { return false };
    let Ok(all) = combinations(kernel, &parts.params) else { return false };
    let mut left = MAX_POINTS;
    all.iter().all(|tiles| {
        let extents = block_extents(kernel, tiles);
        let items = extents.iter().map(|extent| u64::from(*extent)).product::<u64>();
        let is_affordable = items <= left;
        left = left.saturating_sub(items);
        is_affordable && parts.agree_at(tiles, axes, &extents, items)
    })
}

/// What an expression is made of.
struct Parts<'a> {
    kernel: &'a Kernel,
    lets: &'a BTreeMap<VarId, ExprId>,
    expr: ExprId,
    /// The tile parameters that decide it, or how many work-items there are.
    params: BTreeSet<TileParamId>,
    /// Parts of it that are computed in a type whose range they must keep to.
    narrow: Vec<ExprId>,
}

impl<'a> Parts<'a> {
    /// `None` where something else decides it too.
    fn of(
        kernel: &'a Kernel,
        lets: &'a BTreeMap<VarId, ExprId>,
        axes: &[Axis],
        expr: ExprId,
    ) -> Option<Self> {
        let mut parts = Self { kernel, lets, expr, params: BTreeSet::new(), narrow: Vec::new() };
        parts.add(expr)?;
        axes.iter().try_for_each(|axis| parts.add(axis.extent))?;
        if !kernel.constraints.is_empty() {
            parts.params.extend(kernel.tile_params.ids());
        }
        Some(parts)
    }

    fn add(&mut self, expr: ExprId) -> Option<()> {
        let of = &self.kernel.exprs[expr];
        match of.kind {
            ExprKind::Var(var) => match self.kernel.vars[var].kind {
                VarKind::Block => return Some(()),
                VarKind::TileParam(param) => {
                    self.params.insert(param);
                    return Some(());
                }
                VarKind::Let { mutable: false } => return self.add(*self.lets.get(&var)?),
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
        of.kind.operands().into_iter().try_for_each(|operand| self.add(operand))
    }

    /// Whether the work-items of each warp agree at these sizes.
    fn agree_at(&self, tiles: &[u32], axes: &[Axis], extents: &[u32], items: u64) -> bool {
        let mut of_warp = None;
        (0..items).all(|item| {
            let mut rest = item;
            let mut at: BTreeMap<VarId, i128> = BTreeMap::new();
            for (axis, extent) in axes.iter().zip(extents).rev() {
                at.insert(axis.var, (rest % u64::from(*extent)).into());
                rest /= u64::from(*extent);
            }
            let var = |var| at.get(&var).copied().or_else(|| tile_value(self.kernel, tiles, var));
            let Some(value) = self.value(self.expr, &var) else { return false };
            if !self.narrow.iter().all(|part| self.is_exact(*part, &var)) {
                return false;
            }
            if item % u64::from(WARP_ITEMS) == 0 {
                of_warp = Some(value);
            }
            of_warp == Some(value)
        })
    }

    fn value(&self, expr: ExprId, var: &dyn Fn(VarId) -> Option<i128>) -> Option<i128> {
        let kernel = self.kernel;
        eval_index_of(kernel, expr, &|leaf| match kernel.exprs[leaf].kind {
            ExprKind::Var(id) => match self.lets.get(&id) {
                Some(of) => self.value(*of, var),
                None => var(id),
            },
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

/// The numbers that a type of integers has.
fn range(ty: Type) -> Option<(i128, i128)> {
    match ty {
        Type::Scalar(ElemType::Concrete(dtype)) => dtype.integer_range(),
        Type::Index | Type::Scalar(_) => None,
    }
}
