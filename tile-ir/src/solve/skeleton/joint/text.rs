//! What a kernel's text says of coordinates, variables and what tiles hold.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::super::plain::Plain;
use super::super::preimages::Values;
use super::made::Made;
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, Literal, LoopRange, Place, Stmt, StmtKind, TileId,
    VarId,
};
use crate::solve::symbolic::Effort;

/// Which part of what a kernel's proofs may take looking for numbers by sums may.
const OF_SUMS: usize = 40;

/// Into how many expressions is looked, of all launches that are looked for: what most kernels
/// need is a tenth of it, and half of it the most.
const MAX_LOOKS: u64 = 3_000_000;

/// What a kernel says of what a launch, a block and a work-item are made of.
pub(in super::super) struct Text<'a> {
    pub(super) plain: &'a Plain<'a>,
    pub(super) values: Values,
    /// The extents of axes, and the ranges of loops.
    pub(super) extents: BTreeMap<VarId, ExprId>,
    pub(super) rounds: BTreeMap<VarId, LoopRange>,
    /// Of loads of tiles, what is stored there, or may be.
    pub(super) stored: BTreeMap<ExprId, Vec<ExprId>>,
    pub(super) made: Made,
    /// What looking for numbers by sums may take.
    pub(super) effort: Effort,
    /// Into how many expressions may still be looked.
    looks: Cell<u64>,
}

impl<'a> Text<'a> {
    /// Whether loops, exchanges or updates make numbers of data that a search may take for any.
    pub(in super::super) fn has_made(&self) -> bool {
        !self.made.is_empty()
    }

    /// Of a kernel, and of these tiles what is asked whether they are filled.
    pub(in super::super) fn of(plain: &'a Plain<'a>, tiles: &BTreeSet<TileId>) -> Self {
        let kernel = plain.kernel;
        let axes = kernel.grid.iter().chain(kernel.block.iter().flatten());
        let mut text = Self {
            plain,
            values: Values::of(&kernel.body),
            extents: axes.map(|axis| (axis.var, axis.extent)).collect(),
            rounds: BTreeMap::new(),
            stored: BTreeMap::new(),
            made: Made::of(kernel, tiles),
            effort: Effort::parts(1, OF_SUMS),
            looks: Cell::new(MAX_LOOKS),
        };
        let mut stores = Vec::new();
        text.visit(&kernel.body, &mut stores);
        for (load, expr) in kernel.exprs.iter() {
            if let ExprKind::Load(access) = &expr.kind
                && matches!(access.array, ArrayRef::Tile(_))
            {
                text.stored.insert(load, stored(kernel, access, &stores));
            }
        }
        text
    }

    /// Takes one look off; `None` where none is left.
    pub(super) fn look(&self) -> Option<()> {
        self.looks.set(self.looks.get().checked_sub(1)?);
        Some(())
    }

    /// Whether nothing can be looked for any more.
    pub(super) fn is_exhausted(&self) -> bool {
        self.looks.get() == 0
    }

    fn visit(&mut self, stmts: &'a [Stmt], stores: &mut Vec<(&'a Access, ExprId)>) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Store { access, value }
                | StmtKind::Update { place: Place::Element(access), value, .. } => {
                    stores.push((access, *value));
                }
                StmtKind::Each { axes, .. } => {
                    self.extents.extend(axes.iter().map(|axis| (axis.var, axis.extent)));
                }
                StmtKind::Phase { var, range, .. } | StmtKind::For { var, range, .. } => {
                    self.rounds.insert(*var, *range);
                }
                _ => {}
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.visit(body, stores));
        }
    }
}

/// What is stored to an element that is loaded, or may be to it.
fn stored(kernel: &Kernel, load: &Access, stores: &[(&Access, ExprId)]) -> Vec<ExprId> {
    let number = |expr: ExprId| match kernel.exprs[expr].kind {
        ExprKind::Literal(Literal::Int(value)) => Some(value),
        _ => None,
    };
    let pairs = |store: &Access| -> Vec<(ExprId, ExprId)> {
        store.indices.iter().copied().zip(load.indices.iter().copied()).collect()
    };
    let is_same = |store: &Access| pairs(store).iter().all(|(a, b)| kernel.is_same(*a, *b));
    let is_other = |store: &Access| {
        let numbers = pairs(store).into_iter().filter_map(|(a, b)| number(a).zip(number(b)));
        numbers.into_iter().any(|(a, b)| a != b)
    };
    let all = stores.iter().filter(|(store, _)| store.array == load.array && !is_other(store));
    let same: Vec<ExprId> =
        all.clone().filter(|(store, _)| is_same(store)).map(|(_, value)| *value).collect();
    if same.is_empty() { all.map(|(_, value)| *value).collect() } else { same }
}
