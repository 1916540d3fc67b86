//! Cells of tiles that all work-items of a block read alike.
//!
//! A cell at an index that is the same for the whole block has one value from one write of its
//! tile in the text to the next: its reads are in the same iterations, and what a read could
//! race with is reported on its own. If the tile is written in one place alone, by one
//! work-item that `if tx == 0` picks, and what it writes is a slot of a counter
//! ([`super::super::slots::slot`]), then the block has that slot; in a loop, if that work-item
//! comes by in every iteration ([`super::coming`]).
//!
//! Where several work-items each write a slot, a read at any index finds that of one
//! of them: what is read at one index is one slot, at two indices it is two.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Obstacle, Sharing, Symbol};
use super::super::pairs::instance::{Builder, Side};
use super::super::slots::slot::Slot;
use super::super::terms::natural::natural_tiles;
use super::super::walk::{Value, Walk};
use super::by_place::ByPlace;
use super::handed::Handed;
use super::same_slot::Origin;
use super::spot::Spot;
use crate::kernel::{Access, ArrayRef, ExprId, Kernel, Place, Stmt, StmtKind, TileId};

/// A cell between two writes of its tile.
pub(in super::super) type Key = (TileId, usize, Vec<Poly>, Vec<LoopId>);

/// A slot that was read in a tile of them.
#[derive(Clone, Debug)]
pub(in super::super) struct Dealt {
    tile: TileId,
    /// In which cell.
    at: Vec<Poly>,
    /// The loops around what has written it.
    loops: Vec<LoopId>,
    slot: Slot,
    /// Where one of these holds, the work-item has not come by.
    passed_by: Vec<Formula>,
}

/// A slot that one work-item has written for its block.
#[derive(Clone, Debug)]
pub(in super::super) struct ForBlock {
    pub(in super::super) slot: Slot,
    /// Where one of these holds, it has not.
    pub(in super::super) missed: Vec<Formula>,
    /// What is found there where it has, if somebody has looked.
    pub(in super::super) value: Option<Unknown>,
    /// Whose old value it is, if it is known of which iteration.
    pub(super) origin: Option<Origin>,
}

/// What is known of the cells of tiles.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Cells {
    /// Writes in the text, so far.
    writes: BTreeMap<TileId, usize>,
    values: BTreeMap<Key, Unknown>,
    /// The slots that single work-items have written for their blocks.
    pub(in super::super) handed: BTreeMap<Key, ForBlock>,
    /// By tile of which each cell has a slot: as far as the text goes, and the loops
    /// around what has written them.
    dealt: BTreeMap<(TileId, usize, Vec<LoopId>), Slot>,
    /// By tile of which each work-item has written its own cell, as far as the text goes, what it
    /// has stored there.
    pub(super) by_place: BTreeMap<(TileId, usize), ByPlace>,
    /// Other values that single work-items have written.
    pub(in super::super) handed_on: Handed,
    /// The tiles that are written in one place alone.
    pub(in super::super) written_once: BTreeSet<TileId>,
    /// The tiles of which no element is ever negative.
    natural: BTreeSet<TileId>,
}

impl Cells {
    /// Those of `kernel`, of which nothing has been read yet.
    pub(in super::super) fn of(kernel: &Kernel) -> Self {
        let mut writes = BTreeMap::new();
        count_writes(&kernel.body, &mut writes);
        let is_once = |(tile, writes): &(TileId, usize)| {
            *writes == 1 && !kernel.is_local(ArrayRef::Tile(*tile))
        };
        let written_once = writes.into_iter().filter(is_once).map(|(tile, _)| tile).collect();
        Self { written_once, natural: natural_tiles(kernel), ..Self::default() }
    }

    /// Whether no element of a tile is ever negative.
    pub(in super::super) fn is_natural(&self, tile: TileId) -> bool {
        self.natural.contains(&tile)
    }

    /// A write of an array in the text. What is known of other cells stays.
    pub(in super::super) fn note_write(&mut self, array: ArrayRef, spot: &Spot) {
        let ArrayRef::Tile(tile) = array else { return };
        let writes = self.writes.entry(tile).or_default();
        let before = *writes;
        *writes += 1;
        let stays =
            |(of, count, cell, _): &&Key| *of == tile && *count == before && !spot.may_be(cell);
        let later = |(of, count, cell, loops): &Key| (*of, count + 1, cell.clone(), loops.clone());
        self.handed_on.keep(&|key| stays(&key), &later);
        let values: Vec<(Key, Unknown)> = self
            .values
            .iter()
            .filter(|(key, _)| stays(key))
            .map(|(key, value)| (later(key), *value))
            .collect();
        self.values.extend(values);
        let handed: Vec<(Key, ForBlock)> = self
            .handed
            .iter()
            .filter(|(key, _)| stays(key))
            .map(|(key, handed)| (later(key), handed.clone()))
            .collect();
        self.handed.extend(handed);
    }

    pub(in super::super) fn key(&self, tile: TileId, at: &[Poly], loops: &[LoopId]) -> Key {
        let writes = self.writes.get(&tile).copied().unwrap_or_default();
        (tile, writes, at.to_vec(), loops.to_vec())
    }

    /// A cell before the last write of its tile in the text.
    pub(in super::super) fn key_before(
        &self,
        tile: TileId,
        at: &[Poly],
        loops: &[LoopId],
    ) -> Option<Key> {
        let before = self.writes.get(&tile)?.checked_sub(1)?;
        Some((tile, before, at.to_vec(), loops.to_vec()))
    }
}

/// How many places write each tile.
pub(super) fn count_writes(stmts: &[Stmt], out: &mut BTreeMap<TileId, usize>) {
    for stmt in stmts {
        if let StmtKind::Store { access, .. }
        | StmtKind::Update { place: Place::Element(access), .. }
        | StmtKind::Atomic { access, .. } = &stmt.kind
            && let ArrayRef::Tile(tile) = access.array
        {
            *out.entry(tile).or_default() += 1;
        }
        stmt.kind.bodies().into_iter().for_each(|body| count_writes(body, out));
    }
}

impl Walk<'_> {
    /// What a work-item finds in a tile's cell.
    pub(in super::super) fn held_in(
        &mut self,
        expr: ExprId,
        access: &Access,
        at: &[Poly],
    ) -> Option<Value> {
        let ArrayRef::Tile(tile) = access.array else { return None };
        if self.kernel.is_local(access.array) || self.is_in_point() {
            return None;
        }
        if let Some(value) = self.tabled(tile, at).or_else(|| self.told(tile, at)) {
            return Some(value);
        }
        let known = if self.has_total(tile, at) { None } else { self.prefix(expr, tile, at) };
        let known = known.or_else(|| self.cell(expr, access, at));
        let known = match known {
            None => match self.found_again(expr, tile, at) {
                Some((again, true)) => {
                    self.note_place(expr, (tile, at), &again);
                    return Some(again);
                }
                first => first.map(|(value, _)| value),
            },
            Some(value) => {
                self.note_found_by_all(tile, at, &value);
                Some(value)
            }
        };
        let value = known.unwrap_or_else(|| self.opaque(expr, self.kernel.exprs[expr].ty));
        if let (true, Value::Int(value)) = (self.cells.is_natural(tile), &value)
            && let [(product, 1)] = value.terms()
            && let [symbol] = product.as_slice()
        {
            self.symbols.set_natural(*symbol);
        }
        self.note_place(expr, (tile, at), &value);
        self.note_read(access.array, at, &value);
        self.note_total_read(tile, at, &value);
        self.note_last_read(tile, at, &value);
        Some(value)
    }

    /// Whether a cell holds the sum over the block.
    fn has_total(&mut self, tile: TileId, at: &[Poly]) -> bool {
        let last = self.number_of_items().map(|(_, count)| count.plus(-1));
        let mut around = (0..=self.loops.len()).map(|n| &self.loops[..n]);
        let total = |key: &Key| self.cells.handed_on.total(key, last.as_ref());
        at.iter().all(|index| self.is_agreed(index))
            && around.any(|loops| total(&self.cells.key(tile, at, loops)).is_some())
    }

    /// The value of a tile's cell at an index of the block.
    pub(in super::super) fn cell(
        &mut self,
        expr: ExprId,
        access: &Access,
        at: &[Poly],
    ) -> Option<Value> {
        let ArrayRef::Tile(tile) = access.array else { return None };
        if self.kernel.is_local(access.array) || at.iter().any(Poly::is_lost) || self.is_in_point()
        {
            return None;
        }
        if at.iter().any(|index| self.is_of_one_item(index)) {
            return self.dealt_cell(expr, tile, at);
        }
        let (min, max) = super::super::terms::integers::range_of(self.kernel.exprs[expr].ty)?;
        // What is handed on before a loop is the same in all of its iterations, if nothing
        // else is written there.
        let last = self.number_of_items().map(|(_, count)| count.plus(-1));
        let least = if self.cells.written_once.contains(&tile) { 0 } else { self.loops.len() };
        let mut around = (least..=self.loops.len()).rev().map(|n| &self.loops[..n]);
        let total = |key: &Key| self.cells.handed_on.total(key, last.as_ref());
        let for_block = |key: &Key| {
            self.cells.handed.get(key).filter(|handed| self.is_none_here(&handed.missed))
        };
        let is_handed = |loops: &&[LoopId]| {
            let key = self.cells.key(tile, at, loops);
            for_block(&key).is_some() || total(&key).is_some()
        };
        let handed = around.find(is_handed).unwrap_or(&self.loops).to_vec();
        let key = self.cells.key(tile, at, &handed);
        let total = total(&key);
        let for_block = for_block(&key).cloned();
        let known = match &for_block {
            Some(for_block) => for_block.value.or_else(|| self.found_beside(&key, for_block)),
            None => self.cells.values.get(&key).copied(),
        };
        if let Some(known) = known {
            self.note_made(known);
            self.bound_by_floor(access.array, at, known);
            return Some(Value::Int(Poly::unknown(known)));
        }
        let least = if self.cells.natural.contains(&tile) { min.max(0) } else { min };
        let value = Poly::unknown(self.symbols.next());
        let range = Formula::le(&Poly::constant(least), &value)
            .and(Formula::le(&value, &Poly::constant(max)));
        let slot = for_block.map(|for_block| for_block.slot);
        let room = slot.as_ref().map_or(Formula::True, |slot| slot.room(&value, (min, max)));
        let unknown = self.symbols.push(Symbol {
            sharing: Sharing::Block,
            loops: handed,
            low: Some(least),
            facts: range,
            obstacle: Some((self.kernel.exprs[expr].span, Obstacle::Load)),
        });
        match (slot, self.cells.handed.get_mut(&key)) {
            (Some(slot), Some(for_block)) => {
                for_block.value = Some(unknown);
                self.insert_handed(unknown, slot, room);
            }
            _ => {
                self.cells.values.insert(key, unknown);
            }
        }
        if let Some(total) = total {
            self.add_sum(unknown, total);
        }
        let told = self.told_of(tile, at, &value);
        self.symbols.add_facts(unknown, told);
        self.bound_by_floor(access.array, at, unknown);
        self.bound_old_values(tile, at, unknown);
        Some(Value::Int(value))
    }

    /// The slot that a cell at an index of the work-item's own has, if every cell of
    /// the tile has one.
    fn dealt_cell(&mut self, expr: ExprId, tile: TileId, at: &[Poly]) -> Option<Value> {
        let range = super::super::terms::integers::range_of(self.kernel.exprs[expr].ty)?;
        let writes = self.cells.writes.get(&tile).copied().unwrap_or_default();
        let key = self.cells.key(tile, at, &self.loops);
        if let Some((slot, missed)) = self.cells.handed_on.of_warp(&key) {
            let slot = self.is_none_here(missed).then(|| slot.clone())?;
            return self.cell_of_warp(expr, key, slot);
        }
        let around = (0..=self.loops.len()).rev().map(|n| self.loops[..n].to_vec());
        let dealt = around
            .map(|loops| (tile, writes, loops))
            .find_map(|key| Some((key.2.clone(), self.cells.dealt.get(&key)?.clone())));
        let (loops, slot) = match dealt {
            Some(dealt) => dealt,
            None => {
                (Vec::new(), self.slot_by_place((tile, writes), at, self.kernel.exprs[expr].span)?)
            }
        };
        let key = self.cells.key(tile, at, &loops);
        if let Some(known) = self.cells.values.get(&key) {
            return Some(Value::Int(Poly::unknown(*known)));
        }
        // Of who passes by here, its step would tell what it has not taken.
        let passed_by = match slot.step().as_constant() {
            Some(_) => Vec::new(),
            None => self.passed_by.clone(),
        };
        let obstacle = (self.kernel.exprs[expr].span, Obstacle::Load);
        let Value::Int(value) = self.any_of_type(self.kernel.exprs[expr].ty, false, obstacle)
        else {
            return None;
        };
        let unknown = value.unknowns().next()?;
        let room = passed_by.iter().cloned().chain([slot.room(&value, range)]);
        self.symbols.add_facts(unknown, Formula::Any(room.collect()));
        self.cells.values.insert(key, unknown);
        self.dealt.insert(unknown, Dealt { tile, at: at.to_vec(), loops, slot, passed_by });
        Some(Value::Int(value))
    }

    /// The slot that the cell of a work-item's warp has.
    fn cell_of_warp(&mut self, expr: ExprId, key: Key, slot: Slot) -> Option<Value> {
        if let Some(known) = self.cells.values.get(&key) {
            return Some(Value::Int(Poly::unknown(*known)));
        }
        let ty = self.kernel.exprs[expr].ty;
        let obstacle = (self.kernel.exprs[expr].span, Obstacle::Load);
        let value = self.any_of_type(ty, false, obstacle);
        let Value::Int(poly) = &value else { return None };
        let unknown = poly.unknowns().next()?;
        let unless = slot.unless();
        let room = slot.room(poly, super::super::terms::integers::range_of(ty)?).or(unless.clone());
        self.note_common(unknown, unless);
        self.cells.values.insert(key, unknown);
        self.insert_handed(unknown, slot, room);
        Some(value)
    }

    /// Notes what has been stored in a tile's cell.
    pub(in super::super) fn note_stored(&mut self, access: &Access, at: &[Poly], value: &Value) {
        self.note_table(access, at, value);
        self.note_filled(access, at, value);
        self.note_told(access, at, value);
        let (ArrayRef::Tile(tile), Value::Int(value)) = (access.array, value) else { return };
        if !self.sums.is_empty() && self.cells.written_once.contains(&tile) {
            self.note_scanned(self.cells.key(tile, at, &self.loops), value);
        }
        let [(product, 1)] = value.terms() else { return };
        let [unknown] = product.as_slice() else { return };
        let Some(mut slot) = self.slots.get(unknown).cloned() else { return };
        if slot.is_of_item()
            && let Some(total) = self.total_of_block(slot.step())
        {
            slot = slot.by(total);
        }
        let is_agreed = slot.polys().all(|poly| self.is_agreed(poly));
        // What a warp has, several of its work-items may write.
        if slot.is_of_warp() {
            return;
        }
        let is_agreed = is_agreed && at.iter().all(|index| self.is_agreed(index));
        let item = self.picked_item();
        let is_once = self.cells.written_once.contains(&tile);
        let is_always = is_once && self.is_the_same_always(&slot);
        if let Some(of_block) = slot.handed_on().filter(|_| is_agreed)
            && let Some(item) = &item
            && let Some(missed) = match is_always {
                // Who has not come by has left the cell as it was: of an earlier iteration.
                true => Some(Vec::new()),
                false => self.block_misses(item),
            }
        {
            let origin = self.origin_of((tile, *unknown), (&slot, item), is_always);
            let for_block = ForBlock { slot: of_block, missed, value: None, origin };
            self.cells.handed.insert(self.cells.key(tile, at, &self.loops), for_block);
        }
        let writes = self.cells.writes.get(&tile).copied().unwrap_or_default();
        if !is_once {
            self.note_by_place((tile, writes), at, &slot);
            return;
        }
        self.note_handed_to_warp(self.cells.key(tile, at, &self.loops), &slot);
        // Of iterations that are walked one by one a cell may hold what an earlier one dealt.
        let is_of_now = self.walked == 1 || self.guards.is_empty();
        let is_dealt = is_of_now && slot.is_taken_in(&self.loops) && self.is_the_same_always(&slot);
        if is_dealt && slot.polys().all(|poly| self.is_agreed(poly)) {
            self.cells.dealt.insert((tile, writes, self.loops.clone()), slot);
        } else {
            self.note_by_place((tile, writes), at, &slot);
        }
    }

    /// Adds that a counter that is read is beyond what the work-item's own updates have
    /// found there before.
    fn bound_old_values(&mut self, tile: TileId, at: &[Poly], counter: Unknown) {
        if self.is_in_point() || !self.recording {
            return;
        }
        let now = Poly::unknown(counter);
        let facts: Vec<Formula> = self
            .slots
            .iter()
            .filter(|(_, slot)| slot.is_taken_in(&self.loops))
            .filter(|(_, slot)| self.counters.has_only_risen(slot))
            .filter_map(|(old, slot)| {
                let of = (ArrayRef::Tile(tile), at);
                let (end, mut cases) = slot.left_at(of, &Poly::unknown(*old))?;
                cases.push(Formula::le(&end, &now));
                Some(Formula::Any(cases))
            })
            .collect();
        facts.into_iter().for_each(|fact| self.symbols.add_facts(counter, fact));
    }

    /// Whether a work-item is there, and the conditions around hold for it.
    pub(in super::super) fn is_sure_to_come_by(&mut self, item: &BTreeMap<Unknown, Poly>) -> bool {
        let of_item = |unknown: Unknown| item.get(&unknown).cloned();
        self.is_there(item)
            && self.are_loops_of_block()
            && self.guards.iter().all(|guard| guard.replace(&of_item) == Formula::True)
    }

    /// Where a work-item does not come by, as all of its block know it; `None` where others
    /// decide.
    pub(in super::super) fn block_misses(
        &mut self,
        item: &BTreeMap<Unknown, Poly>,
    ) -> Option<Vec<Formula>> {
        let of_item = |unknown: Unknown| item.get(&unknown).cloned();
        let is_there = self.is_there(item);
        let missed = self.missed_where(&of_item, &|value| self.is_agreed(value));
        missed.filter(|_| is_there)
    }

    /// Whether every block has a work-item.
    pub(in super::super) fn is_there(&mut self, item: &BTreeMap<Unknown, Poly>) -> bool {
        let (kernel, axes) = (self.kernel, self.block.clone().unwrap_or_default());
        for (axis, (_, symbol)) in kernel.block.iter().flatten().zip(axes) {
            let Some(at) = item.get(&symbol) else { return false };
            let extent = self.index(axis.extent);
            let outside = Formula::lt(at, &Poly::default()).or(Formula::le(&extent, at));
            if !self.is_never(&outside) {
                return false;
            }
        }
        true
    }

    /// Whether all work-items of a block have one value.
    pub(in super::super) fn is_agreed(&self, value: &Poly) -> bool {
        !value.is_lost() && !self.is_of_one_item(value)
    }

    /// Whether a value may differ between the work-items of a block.
    fn is_of_one_item(&self, value: &Poly) -> bool {
        value.unknowns().any(|unknown| self.is_private(unknown))
    }
}

impl Builder<'_> {
    /// Adds that slots of two cells of a tile are two, and those of one cell one.
    pub(in super::super) fn part_dealt(&mut self) {
        let walk = self.walk;
        let meeting = self.meeting;
        for (first, one) in &walk.dealt {
            for (second, other) in &walk.dealt {
                let are_seen = self.seen.contains(&(*first, Side::First))
                    && self.seen.contains(&(*second, Side::Second));
                if !are_seen || walk.counters.is_set_in(&one.slot, &one.loops) {
                    continue;
                }
                let values = (Poly::unknown(*first), Poly::unknown(*second));
                let left = self.on(Side::First, &values.0);
                let right = self.on(Side::Second, &values.1);
                let apart = walk.apart(
                    (&left, &one.slot),
                    (&right, &other.slot),
                    meeting,
                    &mut |is_first, poly| {
                        self.on(if is_first { Side::First } else { Side::Second }, poly)
                    },
                );
                let Some(apart) = apart else { continue };
                let mut cases = vec![apart];
                for (side, dealt) in [(Side::First, one), (Side::Second, other)] {
                    cases
                        .extend(dealt.passed_by.iter().map(|passed| self.formula_on(side, passed)));
                }
                if let Some(shared) = meeting.shared_loops() {
                    let is_now = |dealt: &Dealt| dealt.loops.iter().all(|id| shared.contains(id));
                    let is_one = one.tile == other.tile && is_now(one) && is_now(other);
                    let mut same = vec![Formula::eq(&left, &right)];
                    let cells = one.at.iter().zip(&other.at);
                    // Of other iterations, or in another tile, it may be one slot in two cells.
                    for (a, b) in cells.filter(|_| is_one) {
                        let (a, b) = (self.on(Side::First, a), self.on(Side::Second, b));
                        same.push(Formula::eq(&a, &b));
                    }
                    cases.push(Formula::All(same));
                }
                self.system.assert(&Formula::Any(cases).replace(&|_| None));
            }
        }
    }
}
