//! Where counters of taken cells begin: at 0, or at as many cells as have been stored before.
//!
//! ```text
//! if t == 0 { q[0] = source; n[0] = 1; }
//! barrier;
//! ```
//!
//! A counter that is set to `v` says that the cells below `v` are stored, as one that each taker
//! raises by 1 does, if they are: each by the work-item that sets the counter, under the same
//! conditions, or all by the block's work-items, of which each stores in the cell of its number.
//! Who reads a cell because of what it has found in the counter comes behind a barrier after the
//! setting, or races; the store is behind that barrier only if no read of the array stands between
//! the two in the text.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::walk::{Site, Walk, Worker};
use super::lanes::Lane;
use super::packed::are_numbers;
use crate::kernel::{
    Access, AccessKind, ArrayRef, ExprId, ExprKind, Literal, Place, Stmt, StmtKind, number_in_text,
};

/// Most cells that a work-item stores one by one before it sets a counter.
const MAX_CELLS: i128 = 8;

/// A counter, or one cell of it, and the array whose cells it counts in a lane.
#[derive(Clone, Copy)]
struct Counted<'c> {
    counter: ArrayRef,
    cell: Option<&'c [Poly]>,
    array: ArrayRef,
    lane: &'c Lane,
}

impl Counted<'_> {
    /// Which slot's cell a store is in, of those that a setting's cell counts.
    fn slot_of(&self, store: &Site, setting: &Site) -> Option<Poly> {
        let slot = self.lane.slot_at(&store.indices, &setting.indices)?;
        (store.indices.len() > 1 || are_numbers(&setting.indices)).then_some(slot)
    }
}

impl Walk<'_> {
    /// Whether nothing is ever stored in a counter, or in a cell of it, but how many cells of an
    /// array have been stored, or what lowers it.
    pub(super) fn begins_with_stored(
        &self,
        (counter, cell): (ArrayRef, Option<&[Poly]>),
        (array, lane): (ArrayRef, &Lane),
    ) -> bool {
        self.sets_to_stored(&self.kernel.body, &Counted { counter, cell, array, lane })
    }

    fn sets_to_stored(&self, stmts: &[Stmt], of: &Counted<'_>) -> bool {
        stmts.iter().all(|stmt| {
            let here = match &stmt.kind {
                StmtKind::Store { access, value } if access.array == of.counter => {
                    self.is_other(access, of.cell)
                        || self.counters.only_lowers(access.span)
                        || self.are_stored_below(access, *value, of)
                }
                StmtKind::Update { place: Place::Element(access), .. } => {
                    access.array != of.counter || self.is_other(access, of.cell)
                }
                _ => true,
            };
            let mut bodies = stmt.kind.bodies().into_iter();
            here && bodies.all(|body| self.sets_to_stored(body, of))
        })
    }

    /// Whether an access at numbers is one to another cell.
    fn is_other(&self, access: &Access, cell: Option<&[Poly]>) -> bool {
        let number = |index: &ExprId| number_in_text(self.kernel, *index);
        let at: Option<Vec<i128>> = access.indices.iter().map(number).collect();
        let of_cell =
            |cell: &[Poly]| cell.iter().map(Poly::as_constant).collect::<Option<Vec<_>>>();
        at.is_some_and(|at| cell.and_then(of_cell).is_some_and(|cell| cell != at))
    }

    /// Whether the cells below what a counter is set to are stored.
    fn are_stored_below(&self, access: &Access, value: ExprId, of: &Counted<'_>) -> bool {
        let number = match self.kernel.exprs[value].kind {
            ExprKind::Literal(Literal::Int(0)) => return true,
            ExprKind::Literal(Literal::Int(number)) => Some(number),
            _ => None,
        };
        let mut settings = self.sites.iter().enumerate().filter(|(_, site)| {
            site.array == of.counter && site.span == access.span && site.kind == AccessKind::Write
        });
        let (Some((id, setting)), None) = (settings.next(), settings.next()) else { return false };
        let stores = self.sites.iter().enumerate().filter(|(at, site)| {
            site.array == of.array
                && site.kind == AccessKind::Write
                && site.worker == Worker::Item
                && site.loops == setting.loops
                && of.slot_of(site, setting).is_some()
                && !self.is_read_between(of.array, (id.min(*at), id.max(*at)))
        });
        let stores: Vec<&Site> = stores.map(|(_, site)| site).collect();
        let is_own = |store: &&&Site| {
            store.guards == setting.guards
                && store.guards.iter().all(Formula::is_exact)
                && store.made == setting.made
        };
        let is_stored = |cell: i128| {
            let is_it = |store: &&Site| {
                of.slot_of(store, setting).is_some_and(|slot| slot.as_constant() == Some(cell))
            };
            stores.iter().filter(is_own).any(is_it)
        };
        let one_by_one = setting.worker == Worker::Item
            && number.is_some_and(|number| {
                (1..=MAX_CELLS).contains(&number) && (0..number).all(is_stored)
            });
        one_by_one
            || stores.iter().any(|store| {
                let slot = of.slot_of(store, setting);
                slot.is_some_and(|slot| self.is_stored_by_all(store, value, &slot))
            })
    }

    fn is_read_between(&self, array: ArrayRef, (from, to): (usize, usize)) -> bool {
        let between = self.sites.iter().take(to).skip(from);
        between.filter(|site| site.array == array).any(|site| site.kind != AccessKind::Write)
    }

    /// Whether each work-item stores in the cell of its number, and there are as many as a value
    /// says, or more.
    fn is_stored_by_all(&self, store: &Site, value: ExprId, slot: &Poly) -> bool {
        let kernel = self.kernel;
        let (Some([(_, number)]), Some([of_block])) =
            (self.block.as_deref(), kernel.block.as_deref())
        else {
            return false;
        };
        let as_many = match (&kernel.exprs[value].kind, &kernel.exprs[of_block.extent].kind) {
            (ExprKind::Literal(Literal::Int(number)), ExprKind::Literal(Literal::Int(extent))) => {
                number <= extent
            }
            (ExprKind::Cast(inner), extent) => kernel.exprs[*inner].kind == *extent,
            (value, extent) => value == extent,
        };
        let is_each = *slot == Poly::unknown(*number);
        as_many && is_each && store.guards.is_empty() && store.made.is_empty()
    }
}
