//! What a kernel does to the counters in its arrays: where it sets them, and where they go on.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::poly::Poly;
use super::super::algebra::symbol::LoopId;
use super::super::pairs::instance::Meeting;
use super::super::tiles::spot::Spot;
use super::slot::{Slot, Turn};
use super::takers::Takers;
use crate::kernel::ArrayRef;
use crate::span::SpanId;

/// Where a counter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Way {
    Up,
    Down,
}

/// A place that updates an array.
#[derive(Clone, Debug)]
struct Update {
    at: Vec<Poly>,
    /// How many places in the text that set the array come before it.
    n_sets: usize,
    /// How many barriers that each block passes once come before it.
    n_barriers: usize,
    /// Which way it goes, if it is a step.
    way: Option<Way>,
    /// How far all that a launch, or of a tile a block, makes there go at most.
    most: Option<Poly>,
    /// Who makes it, of a step in a tile.
    takers: Option<Takers>,
}

/// What the kernel does to arrays that it updates atomically.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Counters {
    /// Each place that updates an array.
    updates: BTreeMap<ArrayRef, Vec<Update>>,
    /// Each place that sets an array, as the text has them: the element, and the loops
    /// around.
    sets: BTreeMap<ArrayRef, Vec<(Spot, Vec<LoopId>)>>,
    /// How many of these come before the first one that sets something else than 0.
    n_zeros: BTreeMap<ArrayRef, usize>,
    /// How many barriers that each block passes once have come so far.
    n_barriers: usize,
    /// By store in a counter's cell, whether it leaves there no more than was found before.
    lowerings: BTreeMap<SpanId, bool>,
}

/// Whether two accesses of one array can be of one element: not where both are at numbers,
/// and these differ.
pub(in super::super) fn may_meet(one: &[Poly], other: &[Poly]) -> bool {
    let differ =
        |(a, b): (&Poly, &Poly)| a.as_constant().zip(b.as_constant()).is_some_and(|(a, b)| a != b);
    !one.iter().zip(other).any(differ)
}

impl Counters {
    /// Notes a place that sets an element.
    pub(in super::super) fn note_set(&mut self, array: ArrayRef, spot: Spot, loops: &[LoopId]) {
        self.sets.entry(array).or_default().push((spot, loops.to_vec()));
    }

    /// How many places in the text set an array, so far.
    pub(in super::super) fn n_sets(&self, array: ArrayRef) -> usize {
        self.sets.get(&array).map_or(0, Vec::len)
    }

    /// Notes that the next place sets something else than 0.
    pub(in super::super) fn note_other_than_0(&mut self, array: ArrayRef) {
        let n_sets = self.n_sets(array);
        self.n_zeros.entry(array).or_insert(n_sets);
    }

    /// Notes whether a store leaves no more in its cell than was found there.
    pub(super) fn note_lowering(&mut self, store: SpanId, lowers: bool) {
        self.lowerings.entry(store).and_modify(|all| *all &= lowers).or_insert(lowers);
    }

    /// Whether a store leaves no more in its cell than was found there, each time.
    pub(super) fn only_lowers(&self, store: SpanId) -> bool {
        self.lowerings.get(&store) == Some(&true)
    }

    /// Whether the first places in the text that set an array, so many, set it to 0.
    pub(in super::super) fn are_0(&self, array: ArrayRef, n_sets: usize) -> bool {
        self.n_zeros.get(&array).is_none_or(|zeros| n_sets <= *zeros)
    }

    /// Notes a place that updates an element: which way it goes there, how far all that are made
    /// there go, and who makes them.
    pub(super) fn note_update(
        &mut self,
        (array, at): (ArrayRef, &[Poly]),
        way: Option<Way>,
        (most, takers): (Option<Poly>, Option<Takers>),
    ) {
        let (n_sets, n_barriers) = (self.n_sets(array), self.n_barriers);
        let update = Update { at: at.to_vec(), n_sets, n_barriers, way, most, takers };
        self.updates.entry(array).or_default().push(update);
    }

    /// How many places in the text update an array, so far.
    pub(in super::super) fn n_updates(&self, array: ArrayRef) -> usize {
        self.updates.get(&array).map_or(0, Vec::len)
    }

    /// The way that all updates go of an element that two of them are of.
    fn way(&self, one: &Turn, other: &Turn) -> Option<Way> {
        way_of_all(self.of(one, other))
    }

    /// The way that all updates go which may come between two of one element: of a tile, none that
    /// a barrier parts from both.
    pub(super) fn way_between(&self, one: &Turn, other: &Turn) -> Option<Way> {
        let passed = [one.n_barriers, other.n_barriers];
        let between = passed[0].min(passed[1])..=passed[0].max(passed[1]);
        let is_of_block = matches!(one.array, ArrayRef::Tile(_));
        let may_be = |update: &&Update| !is_of_block || between.contains(&update.n_barriers);
        way_of_all(self.of(one, other).filter(may_be))
    }

    /// Notes that each block passes a barrier, once.
    pub(in super::super) fn note_barrier(&mut self) {
        self.n_barriers += 1;
    }

    /// How many barriers that each block passes once have come so far.
    pub(super) fn n_barriers(&self) -> usize {
        self.n_barriers
    }

    /// The places, so far, that may have set an element of an array, the last one first: how many
    /// had set the array with each.
    pub(in super::super) fn sets_of(&self, array: ArrayRef, at: &[Poly]) -> Vec<usize> {
        let sets = self.sets.get(&array).map(Vec::as_slice).unwrap_or_default();
        let own = sets.iter().enumerate().rev().filter(|(_, (spot, _))| spot.may_be(at));
        own.map(|(place, _)| place + 1).collect()
    }

    /// How far all updates of an element that two of them are of go at most.
    pub(super) fn most(&self, one: &Turn, other: &Turn) -> Option<Poly> {
        let none = Poly::default();
        self.of(one, other).try_fold(none, |sum, update| Some(sum.add(update.most.as_ref()?)))
    }

    /// The places that update the element of a slot: where that is, how many places in the text that
    /// set the array come before each, and who makes it; `None` where not all are known.
    pub(super) fn updates_of(&self, slot: &Slot) -> Option<Vec<(&[Poly], usize, &Takers)>> {
        let all = self.of(slot.turn(), slot.turn());
        all.map(|update| Some((update.at.as_slice(), update.n_sets, update.takers.as_ref()?)))
            .collect()
    }

    /// The places in a loop that may set the element of a slot: how many had set the array with
    /// each.
    pub(super) fn sets_in(&self, slot: &Slot, id: LoopId) -> Vec<usize> {
        let sets = self.sets.get(&slot.array()).map(Vec::as_slice).unwrap_or_default();
        let own = sets
            .iter()
            .enumerate()
            .filter(move |(_, (spot, loops))| slot.turn().may_be_at(spot) && loops.contains(&id));
        own.map(|(place, _)| place + 1).collect()
    }

    /// Who raises the element of a slot, and who lowers it; `None` where not all are known, or
    /// some do neither.
    pub(super) fn takers_of(&self, slot: &Slot) -> Option<[Vec<&Takers>; 2]> {
        let [mut up, mut down] = [Vec::new(), Vec::new()];
        for update in self.of(slot.turn(), slot.turn()) {
            let found = match update.way? {
                Way::Up => &mut up,
                Way::Down => &mut down,
            };
            found.push(update.takers.as_ref()?);
        }
        Some([up, down])
    }

    /// The updates of an element that two of them are of.
    fn of(&self, one: &Turn, other: &Turn) -> impl Iterator<Item = &Update> {
        let all = self.updates.get(&one.array).map(Vec::as_slice).unwrap_or_default();
        all.iter().filter(|update| one.may_meet(&update.at) && other.may_meet(&update.at))
    }

    /// Whether the counter of a slot, which rises, has not been set nor fallen since.
    pub(in super::super) fn has_only_risen(&self, slot: &Slot) -> bool {
        let turn = slot.turn();
        let sets = self.sets.get(&turn.array).and_then(|sets| sets.get(turn.n_sets..));
        let is_set = sets.unwrap_or_default().iter().any(|(spot, _)| turn.may_be_at(spot));
        !is_set && self.way(turn, turn) == Some(Way::Up)
    }

    /// Whether the counter of a slot, which rises, is not set nor falls until as many places
    /// in the text have set the array.
    pub(in super::super) fn has_risen_until(&self, slot: &Slot, n_sets: usize) -> bool {
        let turn = slot.turn();
        let sets = self.sets.get(&turn.array).map(Vec::as_slice).unwrap_or_default();
        let since = sets.get(turn.n_sets..n_sets.min(sets.len()).max(turn.n_sets));
        let is_set = since.unwrap_or_default().iter().any(|(spot, _)| turn.may_be_at(spot));
        !is_set && self.way(turn, turn) == Some(Way::Up)
    }

    /// Whether all updates of an array that have been seen add what is not negative.
    pub(in super::super) fn all_rise(&self, array: ArrayRef) -> bool {
        let updates = self.updates.get(&array).map(Vec::as_slice).unwrap_or_default();
        updates.iter().all(|update| update.way == Some(Way::Up))
    }

    /// Whether the counter of a slot is set in one of these loops.
    pub(in super::super) fn is_set_in(&self, slot: &Slot, loops: &[LoopId]) -> bool {
        let sets = self.sets.get(&slot.turn().array).map(Vec::as_slice).unwrap_or_default();
        let own = sets.iter().filter(|(spot, _)| slot.turn().may_be_at(spot));
        own.flat_map(|(_, around)| around).any(|around| loops.contains(around))
    }

    /// Whether nothing sets the element between two updates of it.
    pub(in super::super) fn are_of_one_count(
        &self,
        one: &Turn,
        other: &Turn,
        meeting: Meeting<'_>,
    ) -> bool {
        let is_own = |spot: &Spot| one.may_be_at(spot) && other.may_be_at(spot);
        let sets = self.sets.get(&one.array).map(Vec::as_slice).unwrap_or_default();
        let Some(shared) = meeting.shared_loops() else {
            return matches!(one.array, ArrayRef::Tensor(_))
                && !sets.iter().any(|(spot, _)| is_own(spot));
        };
        let is_parted = |around: &LoopId| {
            !shared.contains(around)
                && sets.iter().any(|(spot, loops)| is_own(spot) && loops.contains(around))
        };
        let (first, last) = (one.n_sets.min(other.n_sets), one.n_sets.max(other.n_sets));
        let between = sets.get(first..last).unwrap_or(sets);
        !between.iter().any(|(spot, _)| is_own(spot))
            && !one.loops.iter().chain(&other.loops).any(is_parted)
    }
}

/// The way that all of some updates go.
fn way_of_all<'u>(updates: impl Iterator<Item = &'u Update>) -> Option<Way> {
    let ways: Option<BTreeSet<Way>> = updates.map(|update| update.way).collect();
    ways.filter(|ways| ways.len() == 1)?.first().copied()
}
