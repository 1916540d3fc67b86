//! How many slots the work-items of a block take from a counter in a tile.
//!
//! A cell that was set to `c` ([`super::super::tiles::floors`]) holds `c` and what updates
//! have added since. Each place of the text that updates it is come by by each work-item of
//! the block once in each round of the loops around it. So nobody finds more there than `c`
//! and all of that, but for what it adds itself: with `if t == 0 { n[0] = 0; }` before, `let
//! slot = atomic n[0] += 1;` finds less than there are work-items. Of two counters, of which
//! each work-item raises one, both together have gone no further than one of them could alone.
//!
//! # What it rests on
//!
//! - Whatever may update the cell adds what is not negative, and it is the block's own.
//! - All such places are in the loops around the one that sets the cell, which sets it in
//!   every iteration, or in more loops, of which the number of rounds is known.
//! - No update is made by the points of a cooperative loop.
//! - All updates have been seen: it is said of a kernel that has been walked to its end.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::pairs::instance::{Builder, Side};
use super::super::walk::Walk;
use super::slot::Slot;
use crate::kernel::ArrayRef;

/// What a cell was set to, and the loops around.
#[derive(Clone, Debug)]
pub(in super::super) struct Start {
    pub(in super::super) value: Poly,
    pub(in super::super) loops: Vec<LoopId>,
}

/// Who raises a cell in one place.
#[derive(Clone, Debug)]
pub(in super::super) struct Takers {
    /// By how much at most.
    step: Poly,
    loops: Vec<LoopId>,
    /// Hold for each.
    guards: Vec<Formula>,
    /// How many there are at most, if that is a number.
    count: Option<i128>,
}

/// How many work-items there are.
#[derive(Clone, Copy)]
enum Count {
    /// All of the block.
    Block,
    /// Those that can come by, as a number.
    Known,
}

impl Walk<'_> {
    /// Those who raise a cell here.
    pub(in super::super) fn takers(&self, by: &Poly) -> Option<Takers> {
        if self.is_in_point() {
            return None;
        }
        let step = match self.is_of_launch_alone(by) {
            true => by.clone(),
            false => Poly::constant(self.most_here(by)?),
        };
        let mut axes = self.block.iter().flatten();
        let count = axes.try_fold(1_i128, |all, (_, axis)| {
            let last = self.most_here(&Poly::unknown(*axis))?;
            all.checked_mul(last.checked_add(1)?.max(0))
        });
        Some(Takers { step, loops: self.loops.clone(), guards: self.guards.clone(), count })
    }

    /// Whether a value is one number for the whole launch.
    fn is_of_launch_alone(&self, value: &Poly) -> bool {
        !value.is_lost() && value.unknowns().all(|unknown| self.is_one_for_launch(unknown))
    }

    /// Notes how many work-items a block has, where tiles have counters.
    pub(in super::super) fn note_items(&mut self) {
        if self.counting.iter().any(|array| matches!(array, ArrayRef::Tile(_))) {
            self.items = match self.block {
                Some(_) => self.number_of_items().map(|(_, count)| count),
                None => Some(Poly::constant(1)),
            };
            self.items = self.items.take().filter(|items| self.is_of_launch_alone(items));
        }
    }

    /// Notes how many iterations a loop has, if it is one number for the launch.
    pub(in super::super) fn note_length(&mut self, id: LoopId, rounds: &Poly) {
        let is_known =
            self.items.is_some() && self.is_of_launch_alone(rounds) && self.is_natural(rounds);
        if let Some(known) = self.all_loops.get_mut(id.0).filter(|_| is_known) {
            known.rounds = Some(rounds.clone());
        }
    }

    /// How many iterations of a loop there are at most.
    fn length_of(&self, id: LoopId) -> Option<Poly> {
        let known = self.all_loops.get(id.0)?;
        let number = Poly::unknown(known.number);
        let high = || Some(Poly::constant(self.high(&number)?.checked_add(1)?));
        known.rounds.clone().or_else(high)
    }

    /// How far the updates of a place go since the cell was set in these loops.
    fn taken_by(&self, takers: &Takers, around: &[LoopId], count: Count) -> Option<Poly> {
        let inner = takers.loops.strip_prefix(around)?;
        let count = match count {
            Count::Block => self.items.clone()?,
            Count::Known => Poly::constant(takers.count?),
        };
        let all = count.mul(&takers.step);
        inner.iter().try_fold(all, |all, id| Some(all.mul(&self.length_of(*id)?)))
    }

    /// How far the updates of some places go together at most, in an iteration of the loops
    /// `around`; one bound or several.
    pub(in super::super) fn most_taken<'a>(
        &self,
        places: impl Iterator<Item = Option<&'a Takers>>,
        around: &[LoopId],
    ) -> Vec<Poly> {
        let Some(places) = places.collect::<Option<Vec<&Takers>>>() else { return Vec::new() };
        let end = |count: Count| {
            let mut places = places.iter();
            places.try_fold(Poly::default(), |end, takers| {
                Some(end.add(&self.taken_by(takers, around, count)?))
            })
        };
        let mut ends: Vec<Poly> =
            [Count::Block, Count::Known].into_iter().filter_map(end).collect();
        ends.retain(|end| !end.is_lost());
        ends.dedup();
        ends
    }

    /// What the counter of a slot holds at most, after all updates.
    fn ends_of(&self, slot: &Slot) -> Vec<Poly> {
        let start = slot.start().filter(|start| self.is_of_launch_alone(&start.value));
        let Some((start, takers)) = start.zip(self.counters.takers_of(slot)) else {
            return Vec::new();
        };
        let taken = self.most_taken(takers.into_iter().map(Some), &start.loops);
        let ends = taken.into_iter().map(|taken| start.value.add(&taken));
        ends.filter(|end| !end.is_lost()).collect()
    }

    /// Adds how large slots are at most, now that all updates are known.
    pub(in super::super) fn bound_by_takers(&mut self) {
        let mut bounds = Vec::new();
        for (old, slot) in self.slots.iter().filter(|(_, slot)| slot.start().is_some()) {
            let left = Poly::unknown(*old).add(slot.step());
            let bound = |end: Poly| Formula::le(&left, &end).or(slot.unless());
            bounds.extend(self.ends_of(slot).into_iter().map(|end| (*old, bound(end))));
        }
        bounds.into_iter().for_each(|(old, bound)| self.bound_old(old, bound));
        self.is_walked = true;
    }

    /// What two counters together hold at most, of which each work-item raises one.
    fn end_of_both(&self, one: &Slot, other: &Slot) -> Option<Poly> {
        let starts = [one, other].map(|slot| {
            let start = slot.start().filter(|start| start.loops.is_empty());
            start.filter(|start| self.is_of_launch_alone(&start.value))
        });
        let [Some(first), Some(second)] = starts else { return None };
        let [ones, others] = [self.counters.takers_of(one)?, self.counters.takers_of(other)?];
        let is_once = |takers: &&Takers| takers.loops.is_empty();
        if !ones.iter().chain(&others).all(is_once) {
            return None;
        }
        let are_apart = |one: &Takers, other: &Takers| {
            let both = one.guards.iter().chain(&other.guards).cloned();
            self.is_never(&Formula::All(both.collect()))
        };
        if !ones.iter().all(|one| others.iter().all(|other| are_apart(one, other))) {
            return None;
        }
        let each = |places: &[&Takers]| {
            places.iter().fold(Poly::default(), |sum, takers| sum.add(&takers.step))
        };
        let (each_one, each_other) = (each(&ones), each(&others));
        let most = match (each_one.as_constant(), each_other.as_constant()) {
            (Some(one), Some(other)) => Poly::constant(one.max(other)),
            _ if each_one == each_other => each_one,
            _ => return None,
        };
        let end = first.value.add(&second.value).add(&self.items.as_ref()?.mul(&most));
        (!end.is_lost()).then_some(end)
    }
}

impl Builder<'_> {
    /// Adds how large two slots of two counters of one block are together.
    pub(in super::super) fn bound_both(&mut self, [one, other]: [(Unknown, &Slot, Side); 2]) {
        let walk = self.walk;
        let of_block = self.meeting.shared_loops().is_some();
        let are_known = one.1.start().is_some() && other.1.start().is_some();
        if !walk.is_walked || !of_block || !are_known || !one.1.is_beside(other.1) {
            return;
        }
        let Some(end) = walk.end_of_both(one.1, other.1) else { return };
        let both = [one, other].map(|(symbol, slot, side)| {
            let left = Poly::unknown(symbol).add(slot.step());
            (self.on(side, &left), self.formula_on(side, &slot.unless()), self.unmade(slot, side))
        });
        let end = self.on(Side::First, &end);
        let [(left, unless, unmade), (right, unless_other, unmade_other)] = both;
        let bound = Formula::le(&left.add(&right), &end).or(unless).or(unless_other);
        let bound = unmade.into_iter().chain(unmade_other).fold(bound, Formula::or);
        self.system.assert(&bound);
    }
}
