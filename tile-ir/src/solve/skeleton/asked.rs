//! Blocks that a condition of the text may tell from others by their coordinates.
//!
//! `if bx == 17 { … }` is of one block, `if bx == tiles(N, T) - 2 { … }` of the last but
//! one, and `if bx % 4 == 2 { … }` of every fourth. Runs of the first blocks and the last
//! come to none of them. `if bx * 64 + t < 200 { … }` parts one block, of which some work-items
//! pass: it is asked with the first and the last coordinates and counters in each block. Where dimensions or scalars
//! decide too, sizes are sought at which it parts the last block ([`super::thresholds`]).

use std::collections::{BTreeMap, BTreeSet};

use super::literals::literals;
use super::plain::{Plain, given};
use super::sizes::Sizes;
use super::thresholds::Comparisons;
use crate::kernel::{ExprId, ExprKind, Kernel, VarId, VarKind};
use crate::op::CompareOp;

/// First blocks along an axis that are run: what remainders tell apart.
const FIRST: i64 = 8;

/// Most blocks along an axis of which it is asked what comparisons say of them.
const MAX_BLOCKS: i64 = 1024;

/// Most kinds of blocks along an axis that comparisons tell apart.
const MAX_KINDS: usize = 16;

type Comparison = (CompareOp, ExprId, ExprId);

/// The comparisons of a kernel that may ask for blocks.
pub(super) struct Asked<'a> {
    known: Comparisons<'a>,
    /// For each axis of the grid, those that name its coordinate.
    comparisons: Vec<Vec<Comparison>>,
    /// Those that name a coordinate of the work-item or a counter too, and no dimension or
    /// scalar.
    parting: Vec<Vec<Comparison>>,
    /// The first coordinates, and those near the literals of the text.
    usual: BTreeSet<i64>,
}

impl<'a> Asked<'a> {
    pub(super) fn of(kernel: &'a Kernel) -> Self {
        let known = Comparisons::of(kernel);
        let all = kernel.exprs.values().filter_map(|expr| match expr.kind {
            ExprKind::Compare { op, lhs, rhs } => Some((op, lhs, rhs)),
            _ => None,
        });
        let all: Vec<Comparison> = all.collect();
        let compared = |var: VarId, is_parting: bool| {
            let names_it = |(_, lhs, rhs): &&Comparison| {
                let sides = [*lhs, *rhs].map(|side| known.plain.names_in(side, var));
                let [Some(one), Some(other)] = sides else { return false };
                let named = one.with(other);
                named.wanted && (named.item == is_parting) && !(is_parting && named.size)
            };
            all.iter().filter(names_it).copied().collect()
        };
        let axes = || kernel.grid.iter().map(|axis| axis.var);
        let comparisons = axes().map(|var| compared(var, false)).collect();
        let parting = axes().map(|var| compared(var, true)).collect();
        let usual = (0..FIRST).chain(near_literals(kernel)).collect();
        Self { known, comparisons, parting, usual }
    }

    /// Whether no comparison asks for blocks.
    pub(super) fn is_empty(&self) -> bool {
        self.comparisons.iter().chain(&self.parting).all(Vec::is_empty)
    }

    /// For each axis of the grid the coordinates that comparisons may ask for at these
    /// sizes; none where there is no such comparison.
    pub(super) fn at(&self, sizes: &Sizes) -> Vec<BTreeSet<i64>> {
        let asked = self.comparisons.iter().zip(&self.parting);
        let axes = self.known.plain.kernel.grid.iter().zip(asked);
        axes.map(|(axis, (comparisons, parting))| {
            if comparisons.is_empty() && parting.is_empty() {
                return BTreeSet::new();
            }
            let blocks = self.known.plain.value(axis.extent, &|var| given(sizes, var)).unwrap_or(0);
            let blocks = i64::try_from(blocks).unwrap_or(MAX_BLOCKS);
            let says = |at| self.says(axis.var, (comparisons, parting), at, sizes);
            let mut all = kinds(blocks, &says);
            all.extend(self.usual.iter().filter(|_| !comparisons.is_empty()));
            all
        })
        .collect()
    }

    /// What comparisons say of the blocks at a coordinate: those of blocks, and of the first
    /// and the last work-item those that part some.
    fn says(
        &self,
        axis: VarId,
        (comparisons, parting): (&[Comparison], &[Comparison]),
        at: i64,
        sizes: &Sizes,
    ) -> Vec<Option<bool>> {
        let value = |var, is_last: bool| match given(sizes, var) {
            _ if var == axis => Some(at.into()),
            Some(given) => Some(given),
            None if is_last => self.known.last_of(var, sizes),
            None => Some(0),
        };
        let says = |(op, lhs, rhs): &Comparison, is_last: bool| {
            let value = |side| self.known.plain.value(side, &|var| value(var, is_last));
            Some(op.holds(value(*lhs)?, value(*rhs)?))
        };
        let first = comparisons.iter().chain(parting).map(|one| says(one, false));
        first.chain(parting.iter().map(|one| says(one, true))).collect()
    }
}

/// Of each kind of so many blocks, by what is said of them, the first and the last one.
fn kinds(blocks: i64, says: &dyn Fn(i64) -> Vec<Option<bool>>) -> BTreeSet<i64> {
    let mut kinds: BTreeMap<Vec<Option<bool>>, [i64; 2]> = BTreeMap::new();
    for at in (0..blocks.min(MAX_BLOCKS)).chain(turns(blocks, says)) {
        let says = says(at);
        if kinds.len() < MAX_KINDS || kinds.contains_key(&says) {
            kinds.entry(says).or_insert([at; 2])[1] = at;
        }
    }
    kinds.into_values().flatten().collect()
}

/// Of more blocks than are asked one by one, those on both sides of where something else is
/// said: between doubled numbers of which other things are said there is one.
fn turns(blocks: i64, says: &dyn Fn(i64) -> Vec<Option<bool>>) -> Vec<i64> {
    let doubled = std::iter::successors(Some(MAX_BLOCKS), |at| at.checked_mul(2));
    let mut steps: Vec<i64> = doubled.take_while(|at| *at < blocks).collect();
    steps.extend((blocks > MAX_BLOCKS).then_some(blocks - 1));
    let between = |pair: &[i64]| {
        let (mut low, mut high) = (pair[0], pair[1]);
        let before = says(low);
        if says(high) == before {
            return [low, high];
        }
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if says(middle) == before { low = middle } else { high = middle }
        }
        [low, high]
    };
    steps.windows(2).flat_map(between).collect()
}

/// Coordinates that are a literal of the text, or next to one.
fn near_literals(kernel: &Kernel) -> impl Iterator<Item = i64> {
    let near = literals(kernel).flat_map(|value| [value - 1, value, value + 1]);
    near.filter(|at| *at >= 0)
}

/// What an expression names.
#[derive(Clone, Copy, Default)]
struct Named {
    /// The coordinate of the block that is asked for.
    wanted: bool,
    /// A coordinate of the work-item, or a counter.
    item: bool,
    /// A dimension or a scalar.
    size: bool,
}

impl Named {
    fn with(self, other: Self) -> Self {
        Self {
            wanted: self.wanted || other.wanted,
            item: self.item || other.item,
            size: self.size || other.size,
        }
    }
}

impl Plain<'_> {
    /// What an expression names; `None` where data decides it.
    fn names_in(&self, expr: ExprId, wanted: VarId) -> Option<Named> {
        let kind = &self.kernel.exprs[expr].kind;
        let none = Named::default();
        match kind {
            ExprKind::Load(_) => None,
            ExprKind::Var(var) => match self.kernel.vars[*var].kind {
                VarKind::Grid => Some(Named { wanted: *var == wanted, ..none }),
                VarKind::Dim | VarKind::Scalar(_) => Some(Named { size: true, ..none }),
                VarKind::Block | VarKind::Each | VarKind::Loop => {
                    Some(Named { item: true, ..none })
                }
                // One that changes is some number.
                VarKind::TileParam(_) | VarKind::Let { mutable: true } => Some(none),
                VarKind::Let { mutable: false } => self.names_in(*self.lets.get(var)?, wanted),
            },
            kind => kind
                .operands()
                .into_iter()
                .try_fold(none, |found, operand| Some(found.with(self.names_in(operand, wanted)?))),
        }
    }
}
