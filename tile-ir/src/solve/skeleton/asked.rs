//! Blocks that a condition of the text may tell from others by their coordinates.
//!
//! `if bx == 17 { … }` is of one block, `if bx == tiles(N, T) - 2 { … }` of the last but
//! one, and `if bx % 4 == 2 { … }` of every fourth. Runs of the first blocks and the last
//! come to none of them.

use std::collections::{BTreeMap, BTreeSet};

use super::plain::{Plain, given};
use super::sizes::{Sizes, literals};
use crate::kernel::{ExprId, ExprKind, Kernel, VarId, VarKind, eval_compare};
use crate::op::CompareOp;

/// First blocks along an axis that are run: what remainders tell apart.
const FIRST: i64 = 8;

/// Most blocks along an axis of which it is asked what comparisons say of them.
const MAX_BLOCKS: i64 = 1024;

/// Most kinds of blocks along an axis that comparisons tell apart.
const MAX_KINDS: usize = 16;

/// The comparisons of a kernel that may ask for blocks.
pub(super) struct Asked<'a> {
    plain: Plain<'a>,
    /// For each axis of the grid, those that name its coordinate.
    comparisons: Vec<Vec<(CompareOp, ExprId, ExprId)>>,
    /// The first coordinates, and those near the literals of the text.
    usual: BTreeSet<i64>,
}

impl<'a> Asked<'a> {
    pub(super) fn of(kernel: &'a Kernel) -> Self {
        let plain = Plain::of(kernel);
        let compared = |var: VarId| {
            let all = kernel.exprs.values().filter_map(|expr| match expr.kind {
                ExprKind::Compare { op, lhs, rhs } => Some((op, lhs, rhs)),
                _ => None,
            });
            let names_it = |(_, lhs, rhs): &(CompareOp, ExprId, ExprId)| {
                let sides = [*lhs, *rhs].map(|side| names(kernel, &plain.lets, side, var));
                matches!(sides, [Some(one), Some(other)] if one || other)
            };
            all.filter(names_it).collect()
        };
        let comparisons = kernel.grid.iter().map(|axis| compared(axis.var)).collect();
        let usual = (0..FIRST).chain(near_literals(kernel)).collect();
        Self { plain, comparisons, usual }
    }

    /// Whether no comparison asks for blocks.
    pub(super) fn is_empty(&self) -> bool {
        self.comparisons.iter().all(Vec::is_empty)
    }

    /// For each axis of the grid the coordinates that comparisons may ask for at these
    /// sizes; none where there is no such comparison.
    pub(super) fn at(&self, sizes: &Sizes) -> Vec<BTreeSet<i64>> {
        let axes = self.plain.kernel.grid.iter().zip(&self.comparisons);
        axes.map(|(axis, comparisons)| {
            if comparisons.is_empty() {
                return BTreeSet::new();
            }
            let blocks = self.plain.value(axis.extent, &|var| given(sizes, var)).unwrap_or(0);
            let blocks = i64::try_from(blocks).unwrap_or(MAX_BLOCKS).min(MAX_BLOCKS);
            let mut all = self.usual.clone();
            all.extend(self.kinds(axis.var, comparisons, blocks, sizes));
            all
        })
        .collect()
    }

    /// Of each kind of blocks along an axis, by what comparisons say of them, the first and
    /// the last one.
    fn kinds(
        &self,
        axis: VarId,
        comparisons: &[(CompareOp, ExprId, ExprId)],
        blocks: i64,
        sizes: &Sizes,
    ) -> BTreeSet<i64> {
        let mut kinds: BTreeMap<Vec<Option<bool>>, [i64; 2]> = BTreeMap::new();
        for at in 0..blocks {
            let value = |var| if var == axis { Some(at.into()) } else { given(sizes, var) };
            let says = comparisons.iter().map(|(op, lhs, rhs)| {
                Some(eval_compare(
                    *op,
                    self.plain.value(*lhs, &value)?,
                    self.plain.value(*rhs, &value)?,
                ))
            });
            let says = says.collect();
            if kinds.len() < MAX_KINDS || kinds.contains_key(&says) {
                kinds.entry(says).or_insert([at; 2])[1] = at;
            }
        }
        kinds.into_values().flatten().collect()
    }
}

/// Coordinates that are a literal of the text, or next to one.
fn near_literals(kernel: &Kernel) -> impl Iterator<Item = i64> {
    let near = literals(kernel).flat_map(|value| [value - 1, value, value + 1]);
    near.filter(|at| *at >= 0)
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
