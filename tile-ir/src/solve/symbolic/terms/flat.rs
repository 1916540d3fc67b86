//! Numbers of work-items in their block, where an index is made of them.
//!
//! `let flat = ty * TX + tx;` numbers a block's work-items, and `flat / TY` and `flat % TY`
//! turn its rectangle. Digits come apart far easier where the number is one unknown than
//! where it is a sum. It may be one: of each work-item it is another number between 0 and
//! how many there are, and every such number is some work-item's. So the fastest axis is
//! what the number leaves of the others, and what then still speaks of these is left out,
//! which only makes the system weaker. That two work-items of one block are not the same
//! one is that their numbers differ; of two blocks nothing is said about them.
//!
//! It is tried where something is computed of the number as a whole.
//!
//! A block's number in its grid only bounds what is divided out of it.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::pairs::instance::{Builder, Meeting, Side};
use super::super::search::system::System;
use super::super::walk::{Site, Walk, Worker};
use crate::kernel::{Axis, VarId};

/// Of how many parts of a kernel's effort it takes one at most.
const PART: u64 = 24;

/// A work-item's number as one side has it.
struct Number {
    value: Poly,
    /// How many there are.
    count: Poly,
    /// The axis that it counts one by one.
    fast: Unknown,
    others: Vec<Unknown>,
}

impl Walk<'_> {
    /// Notes the work-items' number, if their block has several axes, and that of blocks in
    /// their grid.
    pub(in super::super) fn note_flat(&mut self) {
        if self.block.as_ref().is_some_and(|axes| axes.len() > 1) {
            self.flat = self.number_of_items();
        }
        if self.grid.len() > 1 {
            let (kernel, axes) = (self.kernel, self.grid.clone());
            self.number_of_block = self.number_along(&kernel.grid, &axes);
        }
    }

    /// The number that places along axes have, the last one counted one by one, and how many
    /// there are.
    pub(in super::super) fn number_along(
        &mut self,
        axes: &[Axis],
        places: &[(VarId, Unknown)],
    ) -> Option<(Poly, Poly)> {
        let (mut number, mut count) = (Poly::default(), Poly::constant(1));
        for (axis, (_, at)) in axes.iter().zip(places) {
            let extent = self.index(axis.extent);
            number = number.mul(&extent).add(&Poly::unknown(*at));
            count = count.mul(&extent);
        }
        (!number.is_lost()).then_some((number, count))
    }

    /// Whether two accesses are disjoint by the numbers of who makes them.
    pub(in super::super) fn is_disjoint_by_flat_numbers(
        &self,
        first: &Site,
        second: &Site,
        meeting: Meeting<'_>,
    ) -> bool {
        let are_items = [first, second].iter().all(|site| matches!(site.worker, Worker::Item));
        are_items
            && self.is_flat_used()
            && self.effort.within_part(PART, || self.never_meet_flat([first, second], meeting))
    }

    /// Whether something is computed of the work-items' number as a whole.
    fn is_flat_used(&self) -> bool {
        let (Some((number, _)), Some(axes)) = (&self.flat, &self.block) else { return false };
        let is_axis = |unknown: Unknown| axes.iter().any(|(_, axis)| *axis == unknown);
        self.functions
            .keys()
            .any(|(_, of, _)| of.unknowns().any(is_axis) && !of.sub(number).unknowns().any(is_axis))
    }

    fn never_meet_flat(&self, sites: [&Site; 2], meeting: Meeting<'_>) -> bool {
        let Some(mut builder) = self.colliding(sites, meeting) else { return true };
        let numbers = [Side::First, Side::Second].map(|side| builder.flat_number(side));
        let [Some(first), Some(second)] = numbers else { return false };
        let numbers = [first, second];
        builder.systems().into_iter().all(|system| {
            let system = system.with_flat_numbers(&numbers, meeting);
            system.is_some_and(|system| system.has_no_solution(&self.effort))
        })
    }
}

impl Builder<'_> {
    fn flat_number(&mut self, side: Side) -> Option<Number> {
        let (value, count) = self.walk.flat.as_ref()?;
        let (_, fast) = self.walk.block.as_ref()?.last()?;
        let [value, count] = [value, count].map(|of| self.on(side, of));
        let axes = self.walk.block.as_ref()?.iter();
        let mut copies: Vec<Unknown> = axes
            .flat_map(|(_, axis)| self.unknown(*axis, side).unknowns().collect::<Vec<_>>())
            .collect();
        let fast = self.unknown(*fast, side).unknowns().next()?;
        copies.retain(|copy| *copy != fast);
        Some(Number { value, count, fast, others: copies })
    }
}

impl System {
    /// The same system, in which the two numbers are unknowns of their own, and nothing
    /// speaks of axes.
    fn with_flat_numbers(mut self, numbers: &[Number; 2], meeting: Meeting<'_>) -> Option<Self> {
        let mentioned = numbers
            .iter()
            .flat_map(|number| number.value.unknowns().chain(number.count.unknowns()));
        let next = self.unused().max(mentioned.max()?.checked_add(1))?;
        let names = [Poly::unknown(next), Poly::unknown(next.checked_add(1)?)];
        for (number, name) in numbers.iter().zip(&names) {
            // value = name, so the fastest axis is what is left of it.
            let rest = number.value.sub(&Poly::unknown(number.fast));
            self.replace(number.fast, &name.sub(&rest));
        }
        let is_free = |poly: &Poly| {
            let mut others = numbers.iter().flat_map(|number| &number.others);
            !others.any(|other| poly.mentions(*other))
        };
        self.retain(&is_free);
        for (number, name) in numbers.iter().zip(&names) {
            self.assert(&Formula::within(name, &number.count));
        }
        let [one, other] = &names;
        if matches!(meeting, Meeting::InBlock(..)) {
            self.assert(&Formula::ne(one, other));
        }
        Some(self)
    }
}
