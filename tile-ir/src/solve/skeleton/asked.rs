//! Blocks that a condition of the text may tell from others by their coordinates.
//!
//! `if bx == 17 { … }` is of one block, and `if bx % 4 == 2 { … }` of every fourth. Runs of
//! the first blocks and the last come to neither.

use std::collections::{BTreeMap, BTreeSet};

use super::sizes::largest_literal;
use crate::kernel::{ExprId, ExprKind, Kernel, Literal, VarId, VarKind, immutable_lets};

/// First blocks along an axis that are run: what remainders tell apart.
const FIRST: i64 = 8;

/// For each axis of the grid the coordinates that comparisons for a whole block may ask
/// for; none where there is no such comparison.
pub(super) fn asked(kernel: &Kernel) -> Vec<BTreeSet<i64>> {
    let lets = immutable_lets(&kernel.body, kernel);
    let largest = largest_literal(kernel);
    let literals = kernel.exprs.values().filter_map(|expr| match expr.kind {
        ExprKind::Literal(Literal::Int(value)) => i64::try_from(value).ok(),
        _ => None,
    });
    let literals = literals.filter(|value| (0..=largest).contains(value));
    let near = literals.flat_map(|value| [value - 1, value, value + 1]);
    let all: BTreeSet<i64> = (0..FIRST).chain(near.filter(|at| *at >= 0)).collect();
    let compared = |var: VarId| {
        kernel.exprs.values().any(|expr| match expr.kind {
            ExprKind::Compare { lhs, rhs, .. } => {
                let sides = [lhs, rhs].map(|side| names(kernel, &lets, side, var));
                matches!(sides, [Some(one), Some(other)] if one || other)
            }
            _ => false,
        })
    };
    let coordinates = |var| if compared(var) { all.clone() } else { BTreeSet::new() };
    kernel.grid.iter().map(|axis| coordinates(axis.var)).collect()
}

/// Whether an expression names a coordinate of the block; `None` where it is not the same
/// for all of the block, or data or loops decide it.
fn names(
    kernel: &Kernel,
    lets: &BTreeMap<VarId, ExprId>,
    expr: ExprId,
    wanted: VarId,
) -> Option<bool> {
    let kind = &kernel.exprs[expr].kind;
    match kind {
        ExprKind::Load(_) => None,
        ExprKind::Var(var) => match kernel.vars[*var].kind {
            VarKind::Grid => Some(*var == wanted),
            VarKind::Dim | VarKind::TileParam(_) | VarKind::Scalar(_) => Some(false),
            // One that changes is some number.
            VarKind::Let { mutable: true } => Some(false),
            VarKind::Let { mutable: false } => names(kernel, lets, *lets.get(var)?, wanted),
            VarKind::Block | VarKind::Each | VarKind::Loop => None,
        },
        kind => kind
            .operands()
            .into_iter()
            .try_fold(false, |found, operand| Some(names(kernel, lets, operand, wanted)? || found)),
    }
}
