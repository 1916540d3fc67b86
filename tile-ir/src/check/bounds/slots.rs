//! Slots of a tile's counter that leave the tile whose places they are.
//!
//! `let j = atomic n[0] += 1; q[j] = x;` by each of 64 work-items fills 64 places. Where nothing of
//! data decides how often a counter is updated, its old values are known from a run in which the
//! work-items update it one after the other. Of another one it is undecided where its slots go.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::uses::Use;
use crate::check::assumed::Origins;
use crate::kernel::{ArrayRef, ExprId, ExprKind, Kernel, Source, Stmt};
use crate::solve::skeleton::{Stray, spilt};

/// The old values of counters that data does not decide.
pub(super) struct Slots<'a> {
    kernel: &'a Kernel,
    origins: Origins,
    /// The arrays of which data decides what is stored, where, or whether.
    of_data: BTreeSet<ArrayRef>,
    /// By tile, the accesses that have been seen to leave it.
    strays: RefCell<BTreeMap<ArrayRef, Vec<Stray>>>,
}

impl<'a> Slots<'a> {
    pub(super) fn of(kernel: &'a Kernel) -> Self {
        let (origins, of_data) = (Origins::of(kernel), BTreeSet::new());
        let mut slots = Self { kernel, origins, of_data, strays: RefCell::default() };
        slots.note_of_data(&kernel.body, &mut Vec::new());
        slots
    }

    /// An access that is seen to leave its tile by a slot.
    pub(super) fn stray(&self, used: &Use<'_>) -> Option<Stray> {
        let of_index = used.access.indices.iter();
        let mut vars = of_index.flat_map(|index| self.origins.vars(self.kernel, *index));
        let is_decided = |counter: ArrayRef| {
            matches!(counter, ArrayRef::Tile(_)) && !self.of_data.contains(&counter)
        };
        let old = vars.find(|var| self.origins.updated(*var).is_some_and(is_decided))?;
        let tile = used.access.array;
        let mut known = self.strays.borrow_mut();
        let strays =
            known.entry(tile).or_insert_with(|| spilt(self.kernel, tile, Source::Old(old)));
        strays.iter().find(|stray| stray.site.span == used.access.span).cloned()
    }

    /// Collects the arrays of which data decides what is stored, where, or whether.
    fn note_of_data(&mut self, stmts: &[Stmt], around: &mut Vec<ExprId>) {
        for stmt in stmts {
            let own = stmt.kind.exprs();
            if let Some(array) = stmt.kind.written()
                && own.iter().chain(around.iter()).any(|expr| self.is_of_data(*expr))
            {
                self.of_data.insert(array);
            }
            let is_around = !stmt.kind.bodies().is_empty();
            let before = around.len();
            around.extend(own.iter().filter(|_| is_around));
            stmt.kind.bodies().into_iter().for_each(|body| self.note_of_data(body, around));
            around.truncate(before);
        }
    }

    /// Whether memory decides a value, be it by way of variables.
    fn is_of_data(&self, expr: ExprId) -> bool {
        self.origins.reaches(self.kernel, expr, &|kind| match kind {
            ExprKind::Load(_) | ExprKind::Uniform(_) => true,
            // What work-items get of each other is not followed.
            kind => self.origins.is_exchanged(kind),
        })
    }
}
