//! What single work-items hand on in cells of tiles, beyond slots for the whole block
//! ([`super::cells`]): a slot for the own warp, the sum over the block, which the last
//! work-item has from its scan, and what all know anyway, `if tx == 0 { w[0] = b * 64; }`.
//!
//! A cell is one that is written in one place of the text alone, or has not been written
//! since, so a read finds what that place has written; that a barrier parts the two is the
//! race rules' business.

use std::collections::BTreeMap;

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::scans::Sum;
use super::super::scans::prefix::single;
use super::super::slots::slot::Slot;
use super::super::walk::{Value, Walk};
use super::cells::Key;
use super::relayed::Item;
use crate::kernel::{Access, ArrayRef, TileId};

/// Values that are read in cells.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Handed {
    /// Slots that one lane of a warp has written in the warp's own cell, and where it has
    /// not: where one of these holds.
    of_warps: BTreeMap<Key, (Slot, Vec<Formula>)>,
    /// Sums that the last work-item has written.
    totals: BTreeMap<Key, Sum>,
    /// Of tiles in which every work-item has written its part of a scan, as far as the
    /// text goes, and the loops around: the sum.
    scanned: BTreeMap<(TileId, usize, Vec<LoopId>), Sum>,
    /// What one work-item has written, and all of the block know.
    told: BTreeMap<Key, Told>,
}

/// What one work-item has told its block.
#[derive(Clone, Debug)]
struct Told {
    value: Poly,
    /// Where one of these holds, it has not come by.
    missed: Vec<Formula>,
    /// Whether the block knows of parts of the value only that the work-item has them.
    is_own: bool,
}

impl Handed {
    /// The slot of the warp that has this cell, and where there is none.
    pub(in super::super) fn of_warp(&self, key: &Key) -> Option<&(Slot, Vec<Formula>)> {
        self.of_warps.get(key)
    }

    /// In this tile, as far as the text goes, every work-item has its part of a scan.
    pub(in super::super) fn insert_scanned(&mut self, at: (TileId, usize, Vec<LoopId>), sum: Sum) {
        self.scanned.insert(at, sum);
    }

    /// This cell has the sum over the block.
    pub(in super::super) fn insert_total(&mut self, key: Key, sum: Sum) {
        self.totals.insert(key, sum);
    }

    /// What is known of cells that a write of their tile leaves as they are is known after
    /// it: those that `stays` picks, which are later called as `later` says.
    pub(in super::super) fn keep(
        &mut self,
        stays: &dyn Fn(&Key) -> bool,
        later: &dyn Fn(&Key) -> Key,
    ) {
        let kept = self.told.iter().filter(|(key, _)| stays(key));
        let kept: Vec<_> = kept.map(|(key, told)| (later(key), told.clone())).collect();
        self.told.extend(kept);
    }

    /// A tile may be written by another iteration.
    pub(in super::super) fn forget(&mut self, tile: TileId) {
        self.told.retain(|(of, ..), _| *of != tile);
    }

    /// The sum that a cell has.
    pub(in super::super) fn total(&self, key: &Key, last: Option<&Poly>) -> Option<Sum> {
        let (tile, writes, at, loops) = key;
        let is_last = matches!(at.as_slice(), [at] if Some(at) == last);
        let scanned = self.scanned.get(&(*tile, *writes, loops.clone())).filter(|_| is_last);
        self.totals.get(key).or(scanned).cloned()
    }
}

impl Walk<'_> {
    /// Notes that a slot has been stored in a cell, where that is the work-item's warp's.
    pub(in super::super) fn note_handed_to_warp(&mut self, key: Key, slot: &Slot) {
        let Some(place) = self.warp_place.clone() else { return };
        let at = &key.2;
        let is_own = at.iter().any(|index| self.is_agreed(&index.sub(&place.warp)));
        let are_common = at.iter().all(|index| self.is_agreed_by_warp(index))
            && slot.polys().all(|poly| self.is_agreed_by_warp(poly));
        if !is_own || !are_common || !slot.is_taken_in(&self.loops) {
            return;
        }
        let Some(lane) = self.picked_lane(&place.lane) else { return };
        let missed = match self.is_outside_loops() {
            true => Some(Vec::new()),
            false => self.warp_misses(&place.lane, &lane),
        };
        let Some(missed) = missed else { return };
        let lacks = place.lacks(&lane);
        let unless = if self.is_never(&lacks) { Formula::False } else { lacks };
        if let Some(slot) = slot.of_warp(unless, vec![Formula::Unknown]) {
            self.cells.handed_on.of_warps.insert(key, (slot, missed));
        }
    }

    /// Where a lane of each warp does not come by, as all of the warp know it; `None` where
    /// others decide.
    fn warp_misses(&self, own: &Poly, lane: &Poly) -> Option<Vec<Formula>> {
        let (of, at) = self.item_of_lane(own, lane)?;
        let of_lane = |unknown: Unknown| (unknown == of).then(|| at.clone());
        self.missed_where(&of_lane, &|value| self.is_agreed_by_warp(value))
    }

    /// Which unknown tells the lanes of a warp from each other, of which `own` is made, and
    /// what it is in this lane.
    pub(in super::super) fn item_of_lane(
        &self,
        own: &Poly,
        lane: &Poly,
    ) -> Option<(Unknown, Poly)> {
        let (product, factor) = own.terms().iter().find(|(_, factor)| factor.abs() == 1)?;
        let [of] = product.as_slice() else { return None };
        let rest = own.sub(&Poly::unknown(*of).scaled(*factor));
        Some((*of, lane.sub(&rest).scaled(*factor)))
    }

    /// The sum over the block, where only the last work-item is here, and has it as a value
    /// of its own.
    pub(in super::super) fn total_of(&mut self, value: &Poly) -> Option<Poly> {
        if self.is_agreed(value) {
            return None;
        }
        let sum = self.sum_up_to(value).or_else(|| {
            let exact = self.before_any_wrapping(value)?;
            let sum = self.sum_up_to(&exact)?;
            self.is_one_here(value, &exact).then_some(sum)
        })?;
        if !self.is_last_alone() {
            return None;
        }
        let total = self.symbol(Sharing::Block, Some(0), None);
        self.add_sum(total, sum);
        Some(Poly::unknown(total))
    }

    /// Notes that a value has been stored in a cell, where all of the block know both, and
    /// one work-item is sure to have stored it in these iterations.
    pub(in super::super) fn note_told(&mut self, access: &Access, at: &[Poly], value: &Value) {
        let (ArrayRef::Tile(tile), Value::Int(value)) = (access.array, value) else { return };
        let is_here = self.recording && self.walked == 1 && !self.is_in_point();
        if !is_here || !at.iter().all(|poly| self.is_agreed(poly)) {
            return;
        }
        let Some(item) = self.picked_item().filter(|item| self.is_there(item)) else { return };
        // A slot alone is handed on as one, where nothing else is written.
        let is_once = self.cells.written_once.contains(&tile);
        let slot = single(value).and_then(|value| self.slots.get(&value)).filter(|_| is_once);
        let is_slot = slot.is_some_and(|slot| slot.polys().all(|poly| self.is_agreed(poly)));
        let told = match self.is_agreed(value) {
            true => Some((value.clone(), false)),
            false if is_slot => None,
            false => {
                let known = self.relayed_to_block(value, &item).map(|told| (told, false));
                known.or_else(|| Some((self.relayed_as_own(value, &item)?, true)))
            }
        };
        let Some((told, is_own)) = told else { return };
        let key = self.cells.key(tile, at, &self.loops);
        let before = self.told_by(|loops| self.cells.key_before(tile, at, loops));
        let told = match self.is_sure_to_come_by(&item) {
            true => Some(Told { value: told, missed: Vec::new(), is_own }),
            false => match self.told_if_here(&told, before, &item) {
                Some((value, before)) => {
                    Some(Told { value, missed: Vec::new(), is_own: is_own || before })
                }
                None => self.block_misses(&item).map(|missed| Told { value: told, missed, is_own }),
            },
        };
        told.into_iter().for_each(|told| {
            self.cells.handed_on.told.insert(key.clone(), told);
        });
    }

    /// What a cell holds after one work-item has stored something there, if it has come by, and
    /// all know what was there before; and whether that was its own.
    fn told_if_here(
        &mut self,
        told: &Poly,
        before: Option<Told>,
        item: &Item,
    ) -> Option<(Poly, bool)> {
        let before = before.filter(|before| self.is_none_here(&before.missed))?;
        if !self.are_loops_of_block() || !self.is_there(item) {
            return None;
        }
        let here = Cond {
            yes: Formula::All(self.guards.clone()),
            no: Formula::Any(self.passed_by.clone()),
        };
        let here = self.relayed_condition(&here, item);
        match self.either(&here, Value::Int(told.clone()), Value::Int(before.value), true)? {
            Value::Int(value) => Some((value, before.is_own)),
            Value::Cond(_) | Value::Other => None,
        }
    }

    /// What a cell is known by all to hold.
    pub(in super::super) fn told(&self, tile: TileId, at: &[Poly]) -> Option<Value> {
        if self.cells.handed_on.told.is_empty() || !self.recording {
            return None;
        }
        let told = self.told_by(|loops| Some(self.cells.key(tile, at, loops)))?;
        let is_known = !told.is_own && self.is_none_here(&told.missed);
        is_known.then_some(Value::Int(told.value))
    }

    /// What holds of `value`, which a cell is found to hold, by what one work-item has told.
    pub(in super::super) fn told_of(&self, tile: TileId, at: &[Poly], value: &Poly) -> Formula {
        let told = self.told_by(|loops| Some(self.cells.key(tile, at, loops)));
        let Some(told) = told.filter(|told| told.is_own && self.recording) else {
            return Formula::True;
        };
        told.missed.into_iter().fold(Formula::eq(value, &told.value), Formula::or)
    }

    /// What has been written in a cell for all, by its name between two writes of its tile in
    /// these loops.
    fn told_by(&self, key: impl Fn(&[LoopId]) -> Option<Key>) -> Option<Told> {
        // What loops write is forgotten where they begin.
        let mut keys = (0..=self.loops.len()).filter_map(|n| key(&self.loops[..n]));
        keys.find_map(|key| self.cells.handed_on.told.get(&key)).cloned()
    }

    /// Whether no other work-item of a block is here than the last.
    fn is_last_alone(&mut self) -> bool {
        let Some((number, count)) = self.number_of_items() else { return false };
        let others = Formula::ne(&number, &count.plus(-1));
        self.is_never(&Formula::All(self.guards.clone()).and(others))
    }

    /// Whether the conditions around hold for the last work-item of a block.
    fn is_last_there(&mut self) -> bool {
        let (kernel, axes) = (self.kernel, self.block.clone().unwrap_or_default());
        let mut ends = BTreeMap::new();
        for (axis, (_, at)) in kernel.block.iter().flatten().zip(axes) {
            ends.insert(at, self.index(axis.extent).plus(-1));
        }
        let at_end = |unknown: Unknown| ends.get(&unknown).cloned();
        self.are_loops_of_block()
            && self.guards.iter().all(|guard| guard.replace(&at_end) == Formula::True)
    }

    /// The one lane that the conditions around leave of a warp.
    pub(in super::super) fn picked_lane(&self, own: &Poly) -> Option<Poly> {
        let mut zeros = Vec::new();
        self.guards.iter().for_each(|guard| guard.collect_zeros(&mut zeros));
        let lanes = zeros.iter().flat_map(|zero| [own.sub(zero), own.add(zero)]);
        lanes.into_iter().find(|lane| self.is_agreed_by_warp(lane))
    }

    /// Notes that a value has been stored in a cell, where it is a part of a scan.
    pub(in super::super) fn note_scanned(&mut self, key: Key, value: &Poly) {
        let Some((number, _)) = self.number_of_items() else { return };
        let Some(sum) = self.sum_up_to(value).filter(|_| self.is_last_there()) else { return };
        if key.2 == [number.clone()] {
            let (tile, writes, _, loops) = key;
            self.cells.handed_on.scanned.insert((tile, writes, loops), sum);
        } else if key.2.iter().all(|index| self.is_agreed(index)) && self.is_last_alone() {
            self.cells.handed_on.totals.insert(key, sum);
        }
    }
}
