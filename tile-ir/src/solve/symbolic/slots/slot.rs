//! Slots: the old values of a counter, no two of which are the same.
//!
//! A counter is an element to which the atomic updates only add numbers that are
//! not negative, or from which they only take such. Of two updates one is first,
//! and the old value of the other lies beyond the first one's by at least what
//! the first one adds: `old..old + step` is the work-item's alone. So
//! `let slot = atomic n[0] += 1;` gives each work-item an element of its own, and
//! `+= len` gives each one a run of `len` elements. Where it is a number how often a launch
//! makes updates, it is one how far two old values are apart at most.
//!
//! # What it rests on
//!
//! - Both updates are of one element: inside the array, with equal indices.
//! - Nothing sets the element between the two, and all updates of it go one way; those of
//!   other elements, at other numbers, may do what they like. A tensor must not be set at all; a
//!   tile may be, in another iteration of a loop around, or not between the two
//!   in the text: that a barrier separates the setting from the updates is the
//!   race rule's business.
//! - A tile's counter is the block's own: of two blocks it says nothing.
//! - A counter does not leave the range of its type within a launch.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::algebra::symbol::{LoopId, Obstacle};
use super::super::pairs::instance::Meeting;
use super::super::terms::integers::range_of;
use super::super::tiles::spot::Spot;
use super::super::walk::{Value, Walk};
use super::counters::{Way, may_meet};
use super::made::Made;
use super::takers::Start;
use crate::kernel::{Access, AccessKind, ArrayRef, Edge, ExprId, Source, VarId};
use crate::op::AtomicOp;

/// The element that an update is of, and where in the kernel's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Turn {
    pub(in super::super) array: ArrayRef,
    pub(in super::super) indices: Vec<Poly>,
    /// How many places in the text that set the array come before it.
    pub(super) n_sets: usize,
    /// How many barriers that each block passes once come before it.
    pub(super) n_barriers: usize,
    /// The loops around it.
    pub(super) loops: Vec<LoopId>,
    /// What is found outside of the array, if that is known.
    pad: Option<i128>,
}

impl Turn {
    /// The same with its element in other terms.
    pub(super) fn at(self, indices: Vec<Poly>) -> Self {
        Self { indices, ..self }
    }

    /// Whether an access of the array can be of the same element.
    pub(in super::super) fn may_meet(&self, at: &[Poly]) -> bool {
        may_meet(&self.indices, at)
    }

    /// What holds where it is outside of the array, and has found this.
    pub(in super::super) fn outside(&self, found: &Poly) -> Formula {
        self.pad.map_or(Formula::True, |pad| Formula::eq(found, &Poly::constant(pad)))
    }

    /// What is found outside of the array, if that is known.
    pub(in super::super) fn pad(&self) -> Option<i128> {
        self.pad
    }

    /// Whether a place in the text can write that element.
    pub(super) fn may_be_at(&self, spot: &Spot) -> bool {
        spot.may_be(&self.indices)
    }
}

/// What is known of an old value.
#[derive(Clone, Debug)]
pub(in super::super) struct Slot {
    turn: Turn,
    /// What the update adds or takes; not negative.
    step: Poly,
    way: Way,
    holder: Holder,
    /// One of these holds of a work-item that does not come by.
    unmade: Vec<Formula>,
    /// Where some do not.
    made: Option<Made>,
    /// What the counter was set to before, if that is known.
    start: Option<Box<Start>>,
}

/// Who has an old value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Holder {
    /// The work-item that made the update.
    Item,
    /// The same, which has kept it since an earlier iteration.
    Kept,
    /// The warp of that work-item, except where this holds: it may have any value there.
    Warp(Formula),
    /// The same, which has kept it since an earlier iteration.
    WarpKept(Formula),
    /// The block of that work-item.
    Block,
}

impl Slot {
    /// What is found where a counter is read: as if an update had added nothing.
    pub(super) fn of_read(turn: Turn, start: Start) -> Self {
        let (step, start) = (Poly::default(), Some(Box::new(start)));
        let (unmade, made) = (Vec::new(), None);
        Self { turn, step, way: Way::Up, holder: Holder::Item, unmade, made, start }
    }

    /// The same as all of the block have it.
    pub(in super::super) fn handed_on(&self) -> Option<Self> {
        self.is_of_item().then(|| Self { holder: Holder::Block, made: None, ..self.clone() })
    }

    /// The same of those who come by a place, where some pass it by. What a warp has, it may
    /// also know not to have been made.
    pub(in super::super) fn known_to(self, made: Option<Made>, passed_by: Vec<Formula>) -> Self {
        let unmade = match self.is_of_warp() {
            true => [self.unmade.as_slice(), passed_by.as_slice()].concat(),
            false => passed_by,
        };
        Self { made, unmade, ..self }
    }

    /// The same, where `step` is what was added or taken.
    pub(in super::super) fn by(&self, step: Poly) -> Self {
        Self { step, ..self.clone() }
    }

    /// What was added or taken.
    pub(in super::super) fn step(&self) -> &Poly {
        &self.step
    }

    /// The same as all of a warp have it, except where `unless` holds; `unmade` holds where
    /// the update has not been made, as all of the warp know it.
    pub(in super::super) fn of_warp(&self, unless: Formula, unmade: Vec<Formula>) -> Option<Self> {
        let of_warp = || Self { holder: Holder::Warp(unless), unmade, made: None, ..self.clone() };
        self.is_of_item().then(of_warp)
    }

    /// Whether both are what one place in the text has found.
    pub(in super::super) fn is_of_one_update(&self, other: &Self) -> bool {
        self.turn == other.turn && self.step == other.step
    }

    /// Whether a warp has it.
    pub(in super::super) fn is_of_warp(&self) -> bool {
        matches!(self.holder, Holder::Warp(_) | Holder::WarpKept(_))
    }

    /// Where what a warp has is any value.
    pub(in super::super) fn unless(&self) -> Formula {
        match &self.holder {
            Holder::Warp(unless) | Holder::WarpKept(unless) => unless.clone(),
            Holder::Item | Holder::Kept | Holder::Block => Formula::False,
        }
    }

    /// Whether it is the work-item's that made the update.
    pub(in super::super) fn is_of_item(&self) -> bool {
        self.holder == Holder::Item
    }

    /// Whether it is the work-item's that made the update in these loops, or kept it since.
    pub(in super::super) fn is_own_in(&self, loops: &[LoopId]) -> bool {
        matches!(self.holder, Holder::Item | Holder::Kept) && self.turn.loops.starts_with(loops)
    }

    /// Whether another one is of the same element, as large and in the same hands, and no
    /// place in the text sets the array between the two.
    pub(in super::super) fn is_like(&self, other: &Self) -> bool {
        let (one, two) = (&self.turn, &other.turn);
        one.array == two.array
            && one.indices == two.indices
            && one.n_sets == two.n_sets
            && (&self.step, self.way, &self.holder) == (&other.step, other.way, &other.holder)
    }

    /// The same where it may be of an earlier iteration.
    pub(in super::super) fn kept(&self) -> Self {
        let holder = match self.holder.clone() {
            Holder::Item | Holder::Kept => Holder::Kept,
            Holder::Block => Holder::Block,
            Holder::Warp(unless) | Holder::WarpKept(unless) => Holder::WarpKept(unless),
        };
        Self { holder, unmade: vec![Formula::Unknown], made: None, start: None, ..self.clone() }
    }

    /// By which operator the counter goes on.
    pub(in super::super) fn operator(&self) -> AtomicOp {
        match self.way {
            Way::Up => AtomicOp::Add,
            Way::Down => AtomicOp::Sub,
        }
    }

    /// What the update has left of a counter at this number, of which `old` was found, and
    /// what holds where it was not made; of one that rises, and that the work-item or its warp
    /// has.
    pub(in super::super) fn left_at(
        &self,
        (array, at): (ArrayRef, &[Poly]),
        old: &Poly,
    ) -> Option<(Poly, Vec<Formula>)> {
        let is_here = self.turn.array == array
            && self.turn.indices == at
            && at.iter().all(|index| index.as_constant().is_some());
        let unless = match &self.holder {
            Holder::Item => None,
            Holder::Warp(unless) => Some(unless.clone()),
            Holder::Kept | Holder::WarpKept(_) | Holder::Block => return None,
        };
        let unmade = self.unmade.iter().cloned().chain(unless).collect();
        (is_here && self.way == Way::Up).then(|| (old.add(&self.step), unmade))
    }

    /// The cell that the update of an array was of, and what it has left there at least, of
    /// which `old` was found; of one that rises, and has not been handed on.
    pub(in super::super) fn cell_of(&self, array: ArrayRef, old: &Poly) -> Option<(&[Poly], Poly)> {
        let is_here = self.turn.array == array && self.way == Way::Up && self.is_of_item();
        is_here.then(|| (self.turn.indices.as_slice(), old.add(&self.step)))
    }

    /// What holds of a work-item that has not made the update.
    pub(in super::super) fn unmade(&self) -> &[Formula] {
        &self.unmade
    }

    /// That it was made, where some pass the update by.
    pub(in super::super) fn made(&self) -> Option<&Made> {
        self.made.as_ref()
    }

    pub(in super::super) fn made_mut(&mut self) -> Option<&mut Made> {
        self.made.as_mut()
    }

    /// What the counter was set to before, if that is known.
    pub(in super::super) fn start(&self) -> Option<&Start> {
        self.start.as_deref()
    }

    /// Another number, or none, is known that the counter was set to before.
    pub(super) fn set_start(&mut self, start: Option<Start>) {
        self.start = start.map(Box::new);
    }

    /// Whether another one is of another counter: at numbers that differ, or in another array.
    pub(in super::super) fn is_beside(&self, other: &Self) -> bool {
        self.array() != other.array() || !self.turn.may_meet(&other.turn.indices)
    }

    /// Where it was taken.
    pub(super) fn turn(&self) -> &Turn {
        &self.turn
    }

    /// Which way the counter went.
    pub(super) fn way(&self) -> Way {
        self.way
    }

    /// The array that has the counter.
    pub(in super::super) fn array(&self) -> ArrayRef {
        self.turn.array
    }

    /// Where in it.
    pub(in super::super) fn indices(&self) -> &[Poly] {
        &self.turn.indices
    }

    /// Whether a work-item has taken it alone by adding 1.
    pub(in super::super) fn counts_by_1(&self) -> bool {
        self.is_of_item() && self.way == Way::Up && self.step.as_constant() == Some(1)
    }

    /// Whether it is taken in these loops, and in no other.
    pub(in super::super) fn is_taken_in(&self, loops: &[LoopId]) -> bool {
        self.turn.loops == loops
    }

    /// The same, of which an index and the step are put in other terms; `None` where one
    /// cannot be.
    pub(in super::super) fn put(&self, on: &mut dyn FnMut(&Poly) -> Option<Poly>) -> Option<Self> {
        let indices: Option<Vec<Poly>> = self.turn.indices.iter().map(&mut *on).collect();
        let turn = Turn { indices: indices?, ..self.turn.clone() };
        Some(Self { turn, step: on(&self.step)?, ..self.clone() })
    }

    /// What it is made of.
    pub(in super::super) fn polys(&self) -> impl Iterator<Item = &Poly> {
        self.turn.indices.iter().chain([&self.step])
    }

    /// That the counter, of which `value` was found, stays within its type.
    pub(in super::super) fn room(&self, value: &Poly, (min, max): (i128, i128)) -> Formula {
        match self.way {
            Way::Up => Formula::le(&value.add(&self.step), &Poly::constant(max)),
            Way::Down => Formula::le(&Poly::constant(min), &value.sub(&self.step)),
        }
    }
}

/// A condition on what a side sees.
fn on_formula(formula: &Formula, on: &mut dyn FnMut(&Poly) -> Poly) -> Formula {
    match formula {
        Formula::True => Formula::True,
        Formula::False => Formula::False,
        Formula::Unknown => Formula::Unknown,
        Formula::AtLeast(poly) => Formula::AtLeast(on(poly)),
        Formula::Zero(poly) => Formula::Zero(on(poly)),
        Formula::All(parts) => {
            Formula::All(parts.iter().map(|part| on_formula(part, on)).collect())
        }
        Formula::Any(parts) => {
            Formula::Any(parts.iter().map(|part| on_formula(part, on)).collect())
        }
    }
}

impl Walk<'_> {
    /// An atomic update. `old` is declared with the value before.
    pub(in super::super) fn atomic(
        &mut self,
        access: &Access,
        (op, expected): (AtomicOp, Option<ExprId>),
        value: ExprId,
        old: Option<VarId>,
    ) {
        let expected = expected.map(|expected| self.value(expected));
        let indices: Vec<Poly> = access.indices.iter().map(|index| self.index(*index)).collect();
        let operand = self.value(value);
        self.note_below_in(access.array, &operand);
        self.forget_own_cell(access.array);
        let only_looks = self.only_looks(access.array, (op, expected.as_ref()), &operand);
        let (left, op, operand) = match only_looks {
            true => (None, AtomicOp::Add, Value::Int(Poly::default())),
            false => {
                let left = self.left((access.array, &indices), (op, expected), &operand);
                self.note_marking(access.array, &indices, op);
                (left, op, operand)
            }
        };
        let is_followed = self.recording || self.is_at_last;
        let step = if is_followed { self.step(op, operand.clone()) } else { None };
        let step = step.filter(|(_, by)| !self.leaves_type(access.array, by));
        if self.recording {
            let way = step.as_ref().map(|(way, _)| *way);
            let most = match &step {
                Some((_, by)) => self.most_in_all((access.array, &indices), by),
                None => None,
            };
            let takers = match &step {
                Some((_, by)) => self.takers(&indices, by),
                None => None,
            };
            self.counters.note_update((access.array, &indices), way, (most, takers));
        }
        let sums = self.sums_below(access.array);
        match &step {
            Some((Way::Up, by)) => self.note_raise(access, &indices, by),
            Some((Way::Down, _)) | None => {
                let spot = self.spot(access.array, &indices);
                self.lower_cell(access.array, &spot);
            }
        }
        if let Some(old) = old {
            self.named.declare(old);
            self.note_outside(Source::Old(old), access, &indices);
            let turn = self.turn(access.array, &indices);
            let before = self.old_value(access, turn.clone(), step.clone(), old);
            if let (Value::Int(before), Some((way, by))) = (&before, &step) {
                let found = before.unknowns().next();
                found.into_iter().for_each(|old| {
                    self.bound_taken((access, &indices), (old, by, *way), sums);
                });
            }
            if let (Some(left), Value::Int(before)) = (left, &before) {
                self.note_claim(before, turn.clone(), left);
            }
            let ty = self.kernel.vars[old].ty;
            self.note_mark((op, &operand), &before, turn, (ty, access.span));
            if let Value::Int(before) = &before {
                before.unknowns().for_each(|old| self.note_made(old));
            }
            self.env.insert(old, before);
        }
        self.site(access, indices, AccessKind::Atomic);
    }

    /// How far updates here of one element go at most, made once by each work-item that comes
    /// by: of those that an index names, one.
    fn most_in_all(&mut self, (array, indices): (ArrayRef, &[Poly]), step: &Poly) -> Option<Poly> {
        if !self.loops.is_empty() || self.is_in_point() {
            return None;
        }
        let kernel = self.kernel;
        let grid = kernel.grid.iter().filter(|_| matches!(array, ArrayRef::Tensor(_)));
        let extents = kernel.block.iter().flatten().chain(grid).map(|axis| axis.extent);
        let of_grid = self.grid.iter().filter(|_| matches!(array, ArrayRef::Tensor(_)));
        let axes = self.block.iter().flatten().chain(of_grid).map(|(_, axis)| *axis);
        let axes: Vec<_> = extents.zip(axes).collect();
        let mut all = Poly::constant(step.as_constant()?);
        for (extent, axis) in axes {
            let of = Poly::unknown(axis);
            if indices.iter().any(|index| index.sub(&of).as_constant().is_some()) {
                continue;
            }
            let all_along = self.index(extent);
            let last = self
                .most_here(&of)
                .filter(|here| self.most_anywhere(&of).is_none_or(|anywhere| *here < anywhere));
            // Fewer come by than there are, or else the extent says more than a number.
            let fewer = last.map(|last| Poly::constant(last).plus(1)).filter(|fewer| {
                let beyond = Formula::lt(fewer, &all_along);
                !self.is_never_here(&all_along, beyond)
            });
            let count = fewer.unwrap_or(all_along);
            all = all.mul(&count);
        }
        (!all.is_lost()).then_some(all)
    }

    /// Which way an update goes, and how far.
    fn step(&self, op: AtomicOp, operand: Value) -> Option<(Way, Poly)> {
        let Value::Int(operand) = operand else { return None };
        let change = match op {
            AtomicOp::Add => operand,
            AtomicOp::Sub => operand.negated(),
            AtomicOp::And
            | AtomicOp::Or
            | AtomicOp::Xor
            | AtomicOp::Min
            | AtomicOp::Max
            | AtomicOp::Swap
            | AtomicOp::CompareExchange => return None,
        };
        if change.is_lost() {
            return None;
        }
        let below = |value: &Poly| Formula::AtLeast(value.negated().plus(-1));
        let is_natural =
            |value: &Poly| self.is_natural(value) || self.is_never_here(value, below(value));
        if is_natural(&change) {
            return Some((Way::Up, change));
        }
        let fall = change.negated();
        is_natural(&fall).then_some((Way::Down, fall))
    }

    /// An update here, of the element at `indices`.
    pub(super) fn turn(&mut self, array: ArrayRef, indices: &[Poly]) -> Turn {
        let (n_sets, loops) = (self.counters.n_sets(array), self.loops.clone());
        let (pad, n_barriers) = (self.pad_of(array), self.counters.n_barriers());
        Turn { array, indices: indices.to_vec(), n_sets, n_barriers, loops, pad }
    }

    /// What is found outside of an array.
    fn pad_of(&mut self, array: ArrayRef) -> Option<i128> {
        let ArrayRef::Tensor(tensor) = array else { return None };
        match self.kernel.tensors[tensor].edge {
            Edge::DefaultPad => Some(0),
            Edge::Pad(value) => self.index(value).as_constant(),
            Edge::Rule(_) => None,
        }
    }

    fn old_value(
        &mut self,
        access: &Access,
        turn: Turn,
        step: Option<(Way, Poly)>,
        old: VarId,
    ) -> Value {
        let ty = self.kernel.vars[old].ty;
        let value = self.any_of_type(ty, false, (access.span, Obstacle::Old(old)));
        let (Value::Int(poly), Some((way, step)), Some((min, max))) = (&value, step, range_of(ty))
        else {
            return value;
        };
        if let ArrayRef::Tile(tile) = access.array
            && self.cells.is_natural(tile)
        {
            poly.unknowns().for_each(|unknown| self.symbols.set_natural(unknown));
        }
        poly.unknowns().for_each(|old| self.bound_by_floor(access.array, &turn.indices, old));
        let total = self.total_of(&step).or_else(|| self.total_of_warp(&step));
        let step = total.unwrap_or(step);
        let start = self.start_of(access.array, &turn.indices).map(Box::new);
        let unmade = self.passed_by.clone();
        for unknown in poly.unknowns() {
            let (turn, step, unmade) = (turn.clone(), step.clone(), unmade.clone());
            let made = self.made_here(unknown);
            let (holder, start) = (Holder::Item, start.clone());
            let slot = Slot { turn, step, way, holder, unmade, made, start };
            let room = self.room_inside(&slot, poly, (min, max));
            self.slots.insert(unknown, slot);
            self.bound_old(unknown, room);
        }
        value
    }

    /// That a counter stays within its type where the update is made: outside of its tensor
    /// what is found is no count, and may be the type's last number.
    pub(in super::super) fn room_inside(
        &self,
        slot: &Slot,
        found: &Poly,
        range: (i128, i128),
    ) -> Formula {
        let room = slot.room(found, range);
        let ArrayRef::Tensor(_) = slot.turn.array else { return room };
        let beyond = |pad: i128| match slot.way {
            Way::Up => Formula::lt(&Poly::constant(range.1), &slot.step.plus(pad)),
            Way::Down => Formula::lt(&slot.step.negated().plus(pad), &Poly::constant(range.0)),
        };
        if slot.turn.pad.is_some_and(|pad| self.is_never(&beyond(pad))) {
            return room;
        }
        let extents = self.kernel.extents(slot.turn.array).iter();
        slot.turn.indices.iter().zip(extents).fold(room, |room, (index, extent)| {
            let Some(extent) = self.extents_of_arrays.get(extent) else { return Formula::True };
            room.or(Formula::lt(index, &Poly::default())).or(Formula::le(extent, index))
        })
    }

    /// What holds of two old values of different updates, if they are known to
    /// differ; `on` makes a polynomial what the first side sees (`true`) or the
    /// second.
    pub(in super::super) fn apart(
        &self,
        (first, one): (&Poly, &Slot),
        (second, other): (&Poly, &Slot),
        meeting: Meeting<'_>,
        on: &mut dyn FnMut(bool, &Poly) -> Poly,
    ) -> Option<Formula> {
        // Within a block both may be one.
        let is_of_block = one.holder == Holder::Block || other.holder == Holder::Block;
        if is_of_block && meeting.shared_loops().is_some() {
            return None;
        }
        let outside = [one.turn.outside(first), other.turn.outside(second)];
        let pair = [(&one.turn, &outside[0]), (&other.turn, &outside[1])];
        let mut cases = self.of_two_elements(pair, meeting, on)?;
        let way = self.counters.way_between(&one.turn, &other.turn)?;
        let (one_step, other_step) = (on(true, &one.step), on(false, &other.step));
        let (before, after) = match way {
            Way::Up => (
                Formula::le(&first.add(&one_step), second),
                Formula::le(&second.add(&other_step), first),
            ),
            Way::Down => (
                Formula::le(second, &first.sub(&one_step)),
                Formula::le(first, &second.sub(&other_step)),
            ),
        };
        // No further apart than all updates go but the later one.
        let most = self.counters.most(&one.turn, &other.turn).map(|most| on(true, &most));
        let within = |low: &Poly, high: &Poly, step: &Poly| {
            let apart = |most: &Poly| Formula::le(&high.add(step), &low.add(most));
            most.as_ref().map_or(Formula::True, apart)
        };
        let (before, after) = match way {
            Way::Up => (
                before.and(within(first, second, &other_step)),
                after.and(within(second, first, &one_step)),
            ),
            Way::Down => (before, after),
        };
        cases.extend([before, after]);
        for (is_first, slot) in [(true, one), (false, other)] {
            if slot.is_of_warp() {
                cases.push(on_formula(&slot.unless(), &mut |poly| on(is_first, poly)));
            }
        }
        if one.is_of_warp() || other.is_of_warp() {
            cases.extend(self.is_one_warp(one, other, meeting, on));
        }
        Some(Formula::Any(cases))
    }

    /// That both sides are of one warp, and in the same iterations of the loops around
    /// two updates, where none is kept; `None` between blocks.
    fn is_one_warp(
        &self,
        one: &Slot,
        other: &Slot,
        meeting: Meeting<'_>,
        on: &mut dyn FnMut(bool, &Poly) -> Poly,
    ) -> Option<Formula> {
        let shared = meeting.shared_loops()?;
        let are_of_now =
            [one, other].iter().all(|slot| !matches!(slot.holder, Holder::WarpKept(_)));
        let both = one.turn.loops.iter().filter(|id| are_of_now && other.turn.loops.contains(id));
        let apart = both.filter(|id| !shared.contains(id));
        let numbers = apart.map(|id| Poly::unknown(self.all_loops[id.0].number));
        let warp = self.warp_place.as_ref().map(|place| place.warp.clone());
        let parts =
            numbers.chain(warp).map(|part| Formula::eq(&on(true, &part), &on(false, &part)));
        Some(Formula::All(parts.collect()))
    }

    /// The cases in which two updates are of two elements, or of none, if else they are
    /// of one that nothing sets in between. With each, what holds of it outside.
    pub(in super::super) fn of_two_elements(
        &self,
        [(one, one_outside), (other, other_outside)]: [(&Turn, &Formula); 2],
        meeting: Meeting<'_>,
        on: &mut dyn FnMut(bool, &Poly) -> Poly,
    ) -> Option<Vec<Formula>> {
        if one.array != other.array || !self.counters.are_of_one_count(one, other, meeting) {
            return None;
        }
        let mut cases = Vec::new();
        let extents = self.kernel.extents(one.array);
        for ((left, right), extent) in one.indices.iter().zip(&other.indices).zip(extents) {
            let extent = self.extents_of_arrays.get(extent)?;
            let (left_extent, right_extent) = (on(true, extent), on(false, extent));
            let (left, right) = (on(true, left), on(false, right));
            cases.push(Formula::ne(&left, &right));
            for (index, extent, outside) in
                [(&left, &left_extent, one_outside), (&right, &right_extent, other_outside)]
            {
                let beyond = [Formula::lt(index, &Poly::default()), Formula::le(extent, index)];
                cases.extend(beyond.map(|beyond| beyond.and(outside.clone())));
            }
        }
        Some(cases)
    }
}
