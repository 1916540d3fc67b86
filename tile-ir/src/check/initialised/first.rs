//! What whoever comes first to a flag of the block writes.
//!
//! `if t == 0 { flag[0] = 0; }`, and behind a barrier `let old = atomic flag[0].swap(1);` by all
//! work-items: one of them, nobody knows which, finds the 0, whatever the update is. So what
//! stands under `if old == 0` is done by somebody. It rests on the flag holding that number when
//! the first update of an interval comes: all that is ever stored in it is this number, and since
//! the last time nobody has updated it.

use std::collections::BTreeMap;

use super::Flow;
use super::state::State;
use super::writes::Runs;
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, Literal, Place, Stmt, StmtKind, TileId, VarId,
};
use crate::op::CompareOp;

/// The tiles of one cell that one statement updates, with the number that all else stores there.
pub(super) fn flags(kernel: &Kernel) -> BTreeMap<TileId, i128> {
    let mut uses: BTreeMap<TileId, Uses> = BTreeMap::new();
    collect(kernel, &kernel.body, &mut uses);
    let number = |(tile, uses): (TileId, Uses)| match uses {
        Uses { updates: 1, stored: Some(number), has_others: false } => Some((tile, number)),
        _ => None,
    };
    let is_one = |extent: &ExprId| number_of(kernel, *extent) == Some(1);
    let is_single =
        |tile: &TileId| kernel.tiles[*tile].extents.iter().all(is_one) && !is_local(kernel, *tile);
    uses.into_iter().filter_map(number).filter(|(tile, _)| is_single(tile)).collect()
}

/// What is done to a tile.
#[derive(Default)]
struct Uses {
    updates: usize,
    /// The number that is stored.
    stored: Option<i128>,
    /// Whether another one is, or none that the text says.
    has_others: bool,
}

fn collect(kernel: &Kernel, stmts: &[Stmt], uses: &mut BTreeMap<TileId, Uses>) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Atomic { access: Access { array: ArrayRef::Tile(tile), .. }, .. } => {
                uses.entry(*tile).or_default().updates += 1;
            }
            StmtKind::Store { access: Access { array: ArrayRef::Tile(tile), .. }, value } => {
                let (uses, number) = (uses.entry(*tile).or_default(), number_of(kernel, *value));
                let is_same = number.is_some_and(|own| *uses.stored.get_or_insert(own) == own);
                uses.has_others |= !is_same;
            }
            StmtKind::Update { place: Place::Element(access), .. } => {
                if let ArrayRef::Tile(tile) = access.array {
                    uses.entry(tile).or_default().has_others = true;
                }
            }
            _ => {}
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect(kernel, body, uses));
    }
}

fn number_of(kernel: &Kernel, expr: ExprId) -> Option<i128> {
    match kernel.exprs[expr].kind {
        ExprKind::Literal(Literal::Int(number)) => Some(number),
        _ => None,
    }
}

fn is_local(kernel: &Kernel, tile: TileId) -> bool {
    kernel.is_local(ArrayRef::Tile(tile))
}

impl Flow<'_> {
    /// An update, of which the first one of all work-items finds what was stored.
    pub(super) fn update_flag(&mut self, access: &Access, old: Option<VarId>, state: &mut State) {
        let ArrayRef::Tile(tile) = access.array else { return };
        let is_fresh = state.fresh.remove(&tile);
        let Some(old) = old else { return };
        self.firsts.remove(&old);
        let is_inside = access.indices.iter().all(|at| number_of(self.kernel, *at) == Some(0));
        if let Some(number) = self.flags.get(&tile).filter(|_| is_fresh && is_inside)
            && !self.divergent
            && !self.in_each
        {
            self.firsts.insert(old, *number);
        }
    }

    /// Before a loop, and behind it: what is updated in it is not what was stored before.
    pub(super) fn forget_flags(&self, stmts: &[Stmt], state: &mut State) {
        for stmt in stmts {
            if let StmtKind::Atomic { access, .. } = &stmt.kind
                && let ArrayRef::Tile(tile) = access.array
            {
                state.fresh.remove(&tile);
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.forget_flags(body, state));
        }
    }

    /// What `if old == 0 { … }` writes: one work-item does it, which may be any.
    pub(super) fn write_of_first(
        &mut self,
        cond: ExprId,
        [then, otherwise]: [&[Stmt]; 2],
        state: &mut State,
    ) {
        if self.divergent || self.in_each {
            return;
        }
        let Some(holds) = self.is_of_first(cond) else { return };
        let runs = Runs { is_of_any: true, ..Runs::default() };
        self.mark_whole(if holds { then } else { otherwise }, &runs, state);
    }

    /// Whether it is where a condition holds, or does not, that somebody has come first.
    fn is_of_first(&self, cond: ExprId) -> Option<bool> {
        match self.kernel.exprs[cond].kind {
            ExprKind::Var(var) => self.is_of_first(*self.lets.get(&var)?),
            ExprKind::Compare { op: op @ (CompareOp::Eq | CompareOp::Ne), lhs, rhs } => {
                let is_first = [(lhs, rhs), (rhs, lhs)].into_iter().any(|(old, number)| {
                    let ExprKind::Var(old) = self.kernel.exprs[old].kind else { return false };
                    let first = self.firsts.get(&old);
                    first.is_some_and(|first| number_of(self.kernel, number) == Some(*first))
                });
                is_first.then_some(op == CompareOp::Eq)
            }
            _ => None,
        }
    }
}
