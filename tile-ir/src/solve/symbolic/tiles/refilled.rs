//! Cells of tiles that hold one old value of a counter after the other, for a block.
//!
//! Blocks that stay fetch their next piece of work at the end of an iteration: one work-item
//! stores what it has found in a cell, `next[0] = n`, which all read in the next one, as they
//! have read before the loop what was stored there then. At the head of an iteration such a
//! cell holds what one of the block's own updates has found, whichever.
//!
//! # What it rests on
//!
//! - Before the loop the cell held an old value that a work-item of the block had stored.
//! - All that the loop stores in the cell are old values of the same counter, at numbers, by
//!   the same number: variables that only an update declares, and that nothing assigns. Who
//!   stores them, and whether, does not matter: it is of the block.
//! - Of which iteration it is, is not known, so that nothing is said within a block, but that
//!   all see the same; that a barrier parts the stores from the reads is the race rule's
//!   business.

use super::super::algebra::poly::Poly;
use super::super::walk::Walk;
use super::cells::ForBlock;
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, Literal, Place, Stmt, StmtKind, TileId, VarId,
    any_stmt,
};
use crate::op::AtomicOp;

/// A cell at numbers, and what it holds at the head of each iteration.
pub(in super::super) type Refilled = (TileId, Vec<Poly>, ForBlock);

impl Walk<'_> {
    /// The cells that a loop with this body, which comes next, fills again and again from the
    /// counter that has filled them.
    pub(in super::super) fn refilled(&self, body: &[Stmt]) -> Vec<Refilled> {
        if self.cells.handed.is_empty() || self.is_in_point() {
            return Vec::new();
        }
        let held = self.cells.handed.iter().filter(|((tile, _, at, _), _)| {
            let key = self.cells.key(*tile, at, &self.loops);
            self.cells.handed.contains_key(&key)
        });
        let mut cells: Vec<(TileId, Vec<Poly>)> =
            held.map(|((tile, _, at, _), _)| (*tile, at.clone())).collect();
        cells.dedup();
        cells.into_iter().filter_map(|(tile, at)| self.refilled_cell((tile, at), body)).collect()
    }

    fn refilled_cell(&self, (tile, at): (TileId, Vec<Poly>), body: &[Stmt]) -> Option<Refilled> {
        let first = self.cells.handed.get(&self.cells.key(tile, &at, &self.loops))?;
        let slot = &first.slot;
        let numbers = |polys: &[Poly]| polys.iter().map(Poly::as_constant).collect();
        let (cell, of): (Option<Vec<i128>>, Option<Vec<i128>>) =
            (numbers(&at), numbers(slot.indices()));
        let (cell, of, step) = (cell?, of?, slot.step().as_constant()?);
        let counter = Counter { array: slot.array(), of, op: slot.operator(), step };
        let mut n_stores = 0;
        let is_other =
            any_stmt(body, &mut |kind| match self.stores_in(kind, (tile, &cell), &counter) {
                Some(n) => {
                    n_stores += n;
                    false
                }
                None => true,
            });
        let (missed, origin) = (first.missed.clone(), None);
        let kept = ForBlock { slot: slot.kept(), missed, value: None, origin };
        (!is_other && n_stores > 0).then_some((tile, at, kept))
    }

    /// How often a statement alone stores old values of a counter in a cell; `None` where it
    /// may store anything else there.
    fn stores_in(
        &self,
        kind: &StmtKind,
        (tile, cell): (TileId, &[i128]),
        counter: &Counter,
    ) -> Option<usize> {
        let kernel = self.kernel;
        let is_tile = |access: &Access| access.array == ArrayRef::Tile(tile);
        match kind {
            StmtKind::Store { access, value } if is_tile(access) => {
                let at: Option<Vec<i128>> =
                    access.indices.iter().map(|index| number(kernel, *index)).collect();
                match (at, &kernel.exprs[*value].kind) {
                    (Some(at), _) if at != cell => Some(0),
                    (_, ExprKind::Var(old)) if counter.has_old_value(kernel, *old) => Some(1),
                    _ => None,
                }
            }
            StmtKind::Update { place: Place::Element(access), .. }
            | StmtKind::Atomic { access, .. }
                if is_tile(access) =>
            {
                None
            }
            _ => Some(0),
        }
    }

    /// Fills the cells at the head of an iteration.
    pub(in super::super) fn refill(&mut self, refilled: Vec<Refilled>) {
        for (tile, at, held) in refilled {
            let key = self.cells.key(tile, &at, &self.loops);
            self.cells.handed.insert(key, held);
        }
    }
}

/// A counter at numbers, and by which number it goes on.
struct Counter {
    array: ArrayRef,
    of: Vec<i128>,
    op: AtomicOp,
    step: i128,
}

impl Counter {
    /// Whether a variable is never anything else than an old value of it.
    fn has_old_value(&self, kernel: &Kernel, var: VarId) -> bool {
        let (mut n_updates, mut is_changed) = (0, false);
        any_stmt(&kernel.body, &mut |kind| {
            match kind {
                StmtKind::Atomic { access, op, value, old: Some(old), .. } if *old == var => {
                    let at: Option<Vec<i128>> =
                        access.indices.iter().map(|index| number(kernel, *index)).collect();
                    let is_it = access.array == self.array
                        && at.as_ref() == Some(&self.of)
                        && *op == self.op
                        && number(kernel, *value) == Some(self.step);
                    n_updates += 1;
                    is_changed |= !is_it;
                }
                StmtKind::Assign { var: of, .. }
                | StmtKind::Update { place: Place::Var(of), .. } => is_changed |= *of == var,
                _ => {}
            }
            false
        });
        n_updates == 1 && !is_changed
    }
}

/// The number that an expression is in the text.
fn number(kernel: &Kernel, expr: ExprId) -> Option<i128> {
    match &kernel.exprs[expr].kind {
        ExprKind::Literal(Literal::Int(value)) => Some(*value),
        _ => None,
    }
}
