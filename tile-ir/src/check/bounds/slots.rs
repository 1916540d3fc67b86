//! Slots of a tile's counter that leave the tile whose places they are.
//!
//! `let j = atomic n[0] += 1; q[j] = x;` by each of 64 work-items fills 64 places. Where nothing of
//! data decides how often a counter is updated, its old values are known from a run in which the
//! work-items update it one after the other. Of another one it is undecided where its slots go.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::uses::Use;
use crate::check::assumed::Origins;
use crate::check::counted::collect_exchanged;
use crate::kernel::{ArrayRef, ExprId, ExprKind, Kernel, Source, Stmt, StmtKind, VarId};
use crate::solve::skeleton::{Stray, spilt};

/// The old values of counters that data does not decide.
pub(super) struct Slots<'a> {
    kernel: &'a Kernel,
    origins: Origins,
    counters: BTreeMap<VarId, ArrayRef>,
    /// What work-items get of each other.
    exchanged: BTreeSet<VarId>,
    /// By tile, the accesses that have been seen to leave it.
    strays: RefCell<BTreeMap<ArrayRef, Vec<Stray>>>,
}

impl<'a> Slots<'a> {
    pub(super) fn of(kernel: &'a Kernel) -> Self {
        let (mut counters, mut exchanged) = (BTreeMap::new(), BTreeSet::new());
        collect(&kernel.body, &mut counters);
        collect_exchanged(&kernel.body, &mut exchanged);
        let (origins, strays) = (Origins::of(kernel), RefCell::default());
        let mut slots = Self { kernel, origins, counters, exchanged, strays };
        let mut decided = Vec::new();
        slots.note_decided(&kernel.body, &mut Vec::new(), &mut decided);
        slots.counters.retain(|_, counter| !decided.contains(counter));
        slots
    }

    /// An access that is seen to leave its tile by a slot.
    pub(super) fn stray(&self, used: &Use<'_>) -> Option<Stray> {
        let of_index = used.access.indices.iter();
        let mut vars = of_index.flat_map(|index| self.origins.vars(self.kernel, *index));
        let old = vars.find(|var| self.counters.contains_key(var))?;
        let tile = used.access.array;
        let mut known = self.strays.borrow_mut();
        let strays =
            known.entry(tile).or_insert_with(|| spilt(self.kernel, tile, Source::Old(old)));
        strays.iter().find(|stray| stray.site.span == used.access.span).cloned()
    }

    /// Collects the arrays of which data decides what is stored, where, or whether.
    fn note_decided(&self, stmts: &[Stmt], around: &mut Vec<ExprId>, out: &mut Vec<ArrayRef>) {
        for stmt in stmts {
            let own = stmt.kind.exprs();
            if let Some(array) = stmt.kind.written()
                && own.iter().chain(around.iter()).any(|expr| self.is_of_data(*expr))
            {
                out.push(array);
            }
            let is_around = !stmt.kind.bodies().is_empty();
            let before = around.len();
            around.extend(own.iter().filter(|_| is_around));
            stmt.kind.bodies().into_iter().for_each(|body| self.note_decided(body, around, out));
            around.truncate(before);
        }
    }

    /// Whether memory decides a value, be it by way of variables.
    fn is_of_data(&self, expr: ExprId) -> bool {
        self.origins.reaches(self.kernel, expr, &|kind| match kind {
            ExprKind::Load(_) | ExprKind::Uniform(_) => true,
            // What work-items get of each other is not followed.
            ExprKind::Var(var) => self.exchanged.contains(var),
            _ => false,
        })
    }
}

/// Collects the old values of tiles' counters.
fn collect(stmts: &[Stmt], counters: &mut BTreeMap<VarId, ArrayRef>) {
    for stmt in stmts {
        if let StmtKind::Atomic { access, old: Some(old), .. } = &stmt.kind
            && let ArrayRef::Tile(_) = access.array
        {
            counters.insert(*old, access.array);
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect(body, counters));
    }
}
