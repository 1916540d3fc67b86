//! How far the work-items of a block bring counters in tiles, and which slots they take so.
//!
//! A cell that was set to `c` ([`super::super::tiles::settings`]) holds `c` and what updates
//! have added and taken since. Each place of the text that updates it is come by by each work-item
//! of the block once in each round of the loops around it. So nobody finds more there than `c`
//! and all that is added, but for what it adds itself: with `if t == 0 { n[0] = 0; }` before, `let
//! slot = atomic n[0] += 1;` finds less than there are work-items. Nor does it find less than `c`
//! without all that is taken: with `n[0] = T` before, `atomic n[0] -= 1` of `T` work-items finds 1
//! and more.
//!
//! Of those who come by a place that names the cell by their coordinates, `n[t / 32]`, no more are of
//! one cell than have it as theirs ([`super::sharers`]). Of places of which each work-item comes by
//! one, those of the arms of an `if`, all together are made by no more than there are work-items.
//!
//! # What it rests on
//!
//! - Whatever may update the cell adds or takes, and it is the block's own.
//! - All such places are in the loops around the one that sets the cell, which sets it in
//!   every iteration, or in more loops, of which the number of rounds is known and which do not set
//!   it. If one of these sets it, it sets it anew for each round ([`super::renewed`]).
//! - No update is made by the points of a cooperative loop.
//! - A counter without a sign that falls cannot have come to 0.
//! - All updates have been seen: it is said of a kernel that has been walked to its end.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::terms::integers::range_of;
use super::super::walk::Walk;
use super::counters::Way;
use super::sharers::Sharers;
use super::slot::Slot;
use crate::kernel::{ArrayRef, Type};

/// Most places that update a cell of which it is asked whether some exclude each other.
const MAX_PLACES: usize = 8;

/// What a cell was set to.
#[derive(Clone, Debug)]
pub(in super::super) struct Start {
    pub(in super::super) value: Poly,
    /// The loops around, which set it in each iteration.
    pub(in super::super) loops: Vec<LoopId>,
    /// Those around the update that are inside of these.
    pub(in super::super) inner: Vec<LoopId>,
    /// Whether it is so in the first round alone of the outermost of those.
    pub(in super::super) is_at_first: bool,
}

/// Who updates a cell in one place.
#[derive(Clone, Debug)]
pub(in super::super) struct Takers {
    /// By how much at most.
    pub(super) step: Poly,
    pub(super) loops: Vec<LoopId>,
    /// Hold for each.
    pub(super) guards: Vec<Formula>,
    /// How many there are at most, if that is a number.
    count: Option<i128>,
    /// Those of them who are of one cell.
    pub(super) sharers: Sharers,
}

/// How many work-items there are.
#[derive(Clone, Copy)]
enum Count {
    /// All of the block.
    Block,
    /// Those that can come by, as a number.
    Known,
    /// All of the block who are of one cell.
    Cell,
    /// Those of one cell that can come by, as a number.
    KnownOfCell,
}

impl Walk<'_> {
    /// Those who update a cell here.
    pub(in super::super) fn takers(&mut self, at: &[Poly], by: &Poly) -> Option<Takers> {
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
        let sharers = self.sharers(at);
        Some(Takers {
            step,
            loops: self.loops.clone(),
            guards: self.guards.clone(),
            count,
            sharers,
        })
    }

    /// Whether a value is one number for the whole launch.
    pub(super) fn is_of_launch_alone(&self, value: &Poly) -> bool {
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
        let most = || {
            let high = self.high(&number).and_then(|high| high.checked_add(1));
            high.into_iter().chain(self.most_rounds(known.number)).min().map(Poly::constant)
        };
        known.rounds.clone().or_else(most)
    }

    /// How far the updates of a place go since the cell was set in these loops.
    fn taken_by(&self, takers: &Takers, around: &[LoopId], count: Count) -> Option<Poly> {
        let count = match count {
            Count::Block => self.items.clone()?,
            Count::Known => Poly::constant(takers.count?),
            Count::Cell => takers.sharers.all.clone()?,
            Count::KnownOfCell => Poly::constant(takers.sharers.known?),
        };
        self.taken_in_rounds(count.mul(&takers.step), takers, around)
    }

    /// The same, of what is taken in a round of all loops.
    fn taken_in_rounds(&self, each: Poly, takers: &Takers, around: &[LoopId]) -> Option<Poly> {
        let mut inner = takers.loops.strip_prefix(around)?.iter();
        inner.try_fold(each, |all, id| Some(all.mul(&self.length_of(*id)?)))
    }

    /// How far the updates of some places go together at most, in all cells and in an iteration of
    /// the loops `around`; one bound or several.
    pub(in super::super) fn most_taken<'a>(
        &self,
        places: impl Iterator<Item = Option<&'a Takers>>,
        around: &[LoopId],
    ) -> Vec<Poly> {
        let Some(places) = places.collect::<Option<Vec<&Takers>>>() else { return Vec::new() };
        self.sums_of(&places, around, [Count::Block, Count::Known]).collect()
    }

    /// The same of one cell.
    pub(super) fn most_of_cell(&self, places: &[&Takers], around: &[LoopId]) -> Vec<Poly> {
        let mut ends: Vec<Poly> =
            self.sums_of(places, around, [Count::Cell, Count::KnownOfCell]).collect();
        ends.extend(self.most_of_groups(places, around));
        ends.dedup();
        ends
    }

    /// How far the updates of some places go, each by itself.
    fn sums_of<'a>(
        &'a self,
        places: &'a [&Takers],
        around: &'a [LoopId],
        counts: [Count; 2],
    ) -> impl Iterator<Item = Poly> + use<'a> {
        let sum = move |count: Count| {
            places.iter().try_fold(Poly::default(), |end, takers| {
                Some(end.add(&self.taken_by(takers, around, count)?))
            })
        };
        counts.into_iter().filter_map(sum).filter(|end| !end.is_lost())
    }

    /// How far the updates of some places of one cell go, if of some of them each work-item comes by
    /// one at most.
    fn most_of_groups(&self, places: &[&Takers], around: &[LoopId]) -> Vec<Poly> {
        if !(2..=MAX_PLACES).contains(&places.len()) {
            return Vec::new();
        }
        let mut groups: Vec<Vec<&Takers>> = Vec::new();
        for takers in places {
            let is_of = |group: &&mut Vec<&Takers>| {
                group.iter().all(|other| {
                    other.loops == takers.loops && self.are_apart_by_guards(takers, other)
                })
            };
            match groups.iter_mut().find(is_of) {
                Some(group) => group.push(takers),
                None => groups.push(vec![takers]),
            }
        }
        if groups.len() == places.len() {
            return Vec::new();
        }
        let sum = |count: Count| {
            groups.iter().try_fold(Poly::default(), |end, group| {
                Some(end.add(&self.most_of_group(group, around, count)?))
            })
        };
        let ends = [Count::Cell, Count::KnownOfCell].into_iter().filter_map(sum);
        ends.filter(|end| !end.is_lost()).collect()
    }

    /// How far the updates of places go of which each work-item comes by one at most.
    fn most_of_group(&self, group: &[&Takers], around: &[LoopId], count: Count) -> Option<Poly> {
        let (first, others) = group.split_first()?;
        if others.is_empty() {
            return self.taken_by(first, around, count);
        }
        let is_one_count = others.iter().all(|other| other.sharers == first.sharers);
        let step = first.step.clone();
        let step = others.iter().try_fold(step, |most, other| larger(&most, &other.step))?;
        match is_one_count {
            true => self.taken_by(&Takers { step, ..(*first).clone() }, around, count),
            false => self.taken_in_rounds(self.items.as_ref()?.mul(&step), first, around),
        }
    }

    /// Whether no work-item comes by two places in one round.
    pub(super) fn are_apart_by_guards(&self, one: &Takers, other: &Takers) -> bool {
        let both = one.guards.iter().chain(&other.guards).cloned();
        self.is_never(&Formula::All(both.collect()))
    }

    /// What is known of the old value of a slot, now that all updates are known.
    pub(super) fn bounds_of(&self, old: Unknown, slot: &Slot) -> Vec<Formula> {
        let Some((start, [up, down])) = self.started(slot) else { return Vec::new() };
        let [up, down] = [up, down].map(|places| self.most_of_cell(&places, &start.loops));
        let most = up.iter().map(|up| start.value.add(up));
        let least: Vec<Poly> = down.iter().map(|down| start.value.sub(down)).collect();
        if !self.falls_to_naturals(slot, &least) {
            return Vec::new();
        }
        let (old, step) = (Poly::unknown(old), slot.step());
        let is_news = |least: &&Poly| {
            let known = self.symbols.low(&old);
            known.is_none_or(|known| least.as_constant().is_none_or(|least| known < least))
        };
        let bounds: Vec<Formula> = match slot.way() {
            Way::Up => {
                let most = most.map(|end| Formula::le(&old.add(step), &end));
                most.chain(least.iter().filter(is_news).map(|end| Formula::le(end, &old))).collect()
            }
            Way::Down => {
                let most = most.map(|end| Formula::le(&old, &end));
                most.chain(least.iter().map(|end| Formula::le(end, &old.sub(step)))).collect()
            }
        };
        bounds.into_iter().map(|bound| bound.or(slot.unless())).collect()
    }

    /// What the counter of a slot was set to, and who raises and lowers it since.
    pub(super) fn started<'a>(
        &'a self,
        slot: &'a Slot,
    ) -> Option<(&'a Start, [Vec<&'a Takers>; 2])> {
        Some((slot.start()?, self.counters.takers_of(slot)?))
    }

    /// Whether a counter that holds no less than one of these has not fallen below 0, if its type
    /// has no sign.
    pub(super) fn falls_to_naturals(&self, slot: &Slot, least: &[Poly]) -> bool {
        let ty = Type::Scalar(self.kernel.element_type(slot.array()));
        let has_sign = range_of(ty).is_some_and(|(min, _)| min < 0);
        has_sign || least.iter().any(|least| self.is_natural(least))
    }

    /// Adds how large and how small slots are, now that all updates are known.
    pub(in super::super) fn bound_by_takers(&mut self) {
        self.renew_starts();
        let started = self.slots.iter().filter(|(_, slot)| slot.start().is_some());
        let bounds: Vec<(Unknown, Formula)> = started
            .flat_map(|(old, slot)| {
                let bounds = self.bounds_of(*old, slot).into_iter();
                bounds.map(|bound| (*old, bound))
            })
            .collect();
        bounds.into_iter().for_each(|(old, bound)| self.bound_old(old, bound));
        self.bound_brought();
        self.is_walked = true;
    }
}

/// The larger of two values: of numbers, or of one value twice.
pub(super) fn larger(one: &Poly, other: &Poly) -> Option<Poly> {
    match (one.as_constant(), other.as_constant()) {
        (Some(one), Some(other)) => Some(Poly::constant(one.max(other))),
        _ => (one == other).then(|| one.clone()),
    }
}
