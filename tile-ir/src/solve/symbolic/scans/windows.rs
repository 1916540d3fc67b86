//! Scans by hand: sums over the work-items just before, of which each step doubles how many
//! they are.
//!
//! `let v = shuffle_up(x, d); if lane >= d { x += v; }` adds what the lane `d` before has. If
//! `x` was the sum over the last `d` lanes, it is the sum over the last `2 * d` then: of a
//! lane that has not so many before it, over all that there are. What a work-item begins
//! with is the sum over the last one, its own. So after steps of 1, 2, 4, 8 and 16 each lane
//! has the sum over those before it and its own, as a collective scan gives it
//! ([`super`]); after fewer, the first lanes have.
//!
//! # What it rests on
//!
//! - All of a group make a step together, which the divergence rule sees to, with one
//!   distance.
//! - Who adds and who does not, the work-item's number in its group tells, and nothing else.
//! - In a loop the distance doubles with what it has added up: that is taken for true at the
//!   head of an iteration, and an iteration that does not leave it so takes it back.
//! - Sums do not leave the range of their type, as those of collective scans do not.

use std::collections::{BTreeMap, BTreeSet};

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::{LoopId, Obstacle, Sharing};
use super::super::loops::{Carried, Kind};
use super::super::terms::integers::is_integer;
use super::super::walk::{Value, Walk};
use super::Over;
use super::prefix::single;
use crate::exchange::{ExchangeOp, Group, Shuffle, WARP_ITEMS};
use crate::kernel::{ExprId, ExprKind, LoopRange, Stmt, StmtKind, Type, VarId, any_subexpr};
use crate::op::BinaryOp;
use crate::span::SpanId;

/// A sum over a work-item and those before it in its group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Window {
    /// What each one adds; not negative.
    of: Poly,
    /// What each one adds at most, where that is known.
    most: Option<i128>,
    /// Over how many, its own included; fewer where there are no more before it.
    width: Poly,
    group: Group,
    /// The loops around in the iterations of which they add it.
    loops: Vec<LoopId>,
}

/// What the work-item so far before has, as it is somewhere in the text.
#[derive(Clone, Debug)]
struct Shifted {
    value: Poly,
    /// What it is at most, in all that have it.
    most: Option<i128>,
    by: Poly,
    group: Group,
    loops: Vec<LoopId>,
    ty: Type,
    span: SpanId,
}

/// What is known of sums that are made by hand.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Windows {
    known: BTreeMap<Unknown, Window>,
    shifted: BTreeMap<Unknown, Shifted>,
    /// Of sums: to what was added what somebody before has, or nothing.
    added: BTreeMap<Unknown, Shifted>,
}

/// A variable of which each iteration of a loop doubles the window.
#[derive(Clone, Debug)]
pub(in super::super) struct Widened {
    /// What it is before the loop.
    first: Window,
    /// What is as large as the window is wide.
    width: Width,
    at: (Type, SpanId),
}

/// What is as large as a window is wide at the head of an iteration.
#[derive(Clone, Copy, Debug)]
enum Width {
    /// The loop's own counter, of `doubling(n)`; or two to the power of one that counts from 0.
    Counter(VarId),
    /// A variable that the body doubles.
    Var(VarId),
}

impl Width {
    fn var(self) -> VarId {
        let (Self::Counter(var) | Self::Var(var)) = self;
        var
    }
}

impl Walk<'_> {
    /// Notes that `result` is what the lane `by` before has as `value`.
    pub(in super::super) fn note_shifted(
        &mut self,
        (value, by): (&Poly, &Poly),
        result: Unknown,
        (ty, span): (Type, SpanId),
    ) {
        if value.is_lost() || by.is_lost() || !self.is_agreed_by_warp(by) {
            return;
        }
        // All lanes come by, and hand it on.
        let most = if self.is_by_hand(value) { None } else { self.most_here(value) };
        let (value, by, loops) = (value.clone(), by.clone(), self.loops.clone());
        let shifted = Shifted { value, most, by, group: Group::Warp, loops, ty, span };
        self.windows.shifted.insert(result, shifted);
    }

    /// Notes that `result` is what the work-item of the block that is `by` before has as `value`.
    pub(in super::super) fn note_before_in_block(
        &mut self,
        (value, by): (&Poly, &Poly),
        result: &Poly,
        expr: ExprId,
    ) {
        let Some(result) = single(result).filter(|_| !value.is_lost() && !by.is_lost()) else {
            return;
        };
        let most = if self.is_by_hand(value) { None } else { self.most_anywhere(value) };
        let (value, by, loops) = (value.clone(), by.clone(), self.loops.clone());
        let (ty, span) = (self.kernel.exprs[expr].ty, self.kernel.exprs[expr].span);
        let shifted = Shifted { value, most, by, group: Group::Block, loops, ty, span };
        self.windows.shifted.insert(result, shifted);
    }

    /// Whether a value is a sum that is made by hand.
    pub(in super::super) fn is_by_hand(&self, value: &Poly) -> bool {
        single(value).is_some_and(|value| self.windows.known.contains_key(&value))
    }

    /// Whether a value is one to which work-items may add that of the one just before.
    pub(in super::super) fn begins_sum(&self, value: &Poly) -> bool {
        self.windows.shifted.values().any(|shifted| {
            let is_step = shifted.group == Group::Block && shifted.by == Poly::constant(1);
            is_step && shifted.value == *value
        })
    }

    /// The value after a choice in which one side adds what a work-item before has, where
    /// that makes a sum over more of them; or takes what the one before has as a sum.
    pub(in super::super) fn widened(
        &mut self,
        cond: &Cond,
        then: &Poly,
        otherwise: &Poly,
    ) -> Option<Poly> {
        if self.windows.shifted.is_empty() {
            return None;
        }
        let flipped = cond.clone().negated();
        self.widened_by(cond, then, otherwise)
            .or_else(|| self.widened_by(&flipped, otherwise, then))
    }

    fn widened_by(&mut self, cond: &Cond, more: &Poly, less: &Poly) -> Option<Poly> {
        // What was chosen under the same condition before.
        let chosen = single(more).and_then(|more| self.choices.get(&more));
        let more = match chosen {
            Some((before, then, _)) if before.yes == cond.yes => then.clone(),
            Some((before, _, otherwise)) if before.no == cond.yes => otherwise.clone(),
            Some(_) | None => more.clone(),
        };
        if let Some(shifted) = single(&more).and_then(|more| self.windows.added.get(&more)) {
            // Where nobody is so far before, nothing was added.
            let shifted = shifted.clone();
            return (shifted.value == *less && self.is_from(cond, &shifted)).then_some(more);
        }
        let step = self.shifted_in(&more)?;
        let shifted = self.windows.shifted.get(&step)?.clone();
        let exact = self.before_wrapping(&more, shifted.ty).unwrap_or_else(|| more.clone());
        let added = exact.sub(&Poly::unknown(step));
        if added == *less && added == shifted.value {
            return self.is_from(cond, &shifted).then(|| self.add_shifted(&shifted)).flatten();
        }
        let takes_it = exact == Poly::unknown(step) && *less == Poly::default();
        (takes_it && self.is_from(cond, &shifted)).then(|| self.taken_before(&shifted)).flatten()
    }

    /// The value of a sum of which one part is what a work-item before has, or 0 where there
    /// is none, where that makes a sum over more of them.
    pub(in super::super) fn widened_by_sum(&mut self, lhs: &Poly, rhs: &Poly) -> Option<Poly> {
        if self.windows.shifted.is_empty() {
            return None;
        }
        [(lhs, rhs), (rhs, lhs)].into_iter().find_map(|(value, step)| {
            let (cond, then, otherwise) = self.choices.get(&single(step)?)?.clone();
            let (cond, step) = match (then == Poly::default(), otherwise == Poly::default()) {
                (false, true) => (cond, then),
                (true, false) => (cond.negated(), otherwise),
                _ => return None,
            };
            let shifted = self.windows.shifted.get(&single(&step)?)?.clone();
            let is_it = shifted.value == *value && self.is_from(&cond, &shifted);
            is_it.then(|| self.add_shifted(&shifted)).flatten()
        })
    }

    /// The part of a value that a work-item before has.
    fn shifted_in(&self, value: &Poly) -> Option<Unknown> {
        let mut unknowns = value.terms().iter().filter(|(_, factor)| *factor == 1);
        unknowns.find_map(|(product, _)| match product.as_slice() {
            [unknown] if self.windows.shifted.contains_key(unknown) => Some(*unknown),
            _ => None,
        })
    }

    /// Whether a condition holds of those who have somebody so far before them, and of
    /// nobody else.
    fn is_from(&mut self, cond: &Cond, shifted: &Shifted) -> bool {
        if shifted.loops != self.loops || !cond.yes.is_exact() || !cond.no.is_exact() {
            return false;
        }
        let Some(number) = self.number_in(shifted.group) else { return false };
        let here = Formula::All(self.guards.clone());
        let has_none = Formula::lt(&number, &shifted.by);
        let has_one = Formula::le(&shifted.by, &number);
        self.is_never(&here.clone().and(cond.yes.clone()).and(has_none))
            && self.is_never(&here.and(cond.no.clone()).and(has_one))
    }

    /// A work-item's number in its group.
    fn number_in(&mut self, group: Group) -> Option<Poly> {
        match group {
            Group::Warp => Some(self.warp_place.as_ref()?.lane.clone()),
            Group::Block => Some(self.number_of_items()?.0),
        }
    }

    /// Of what a value is the sum, if a sum is known.
    fn known_window(&self, value: &Poly, group: Group) -> Option<Window> {
        let known = single(value).and_then(|unknown| self.windows.known.get(&unknown));
        known.filter(|known| known.group == group).cloned()
    }

    /// The sum of a value and no others, which is so much at most.
    fn window_of_one(&self, value: &Poly, most: Option<i128>, group: Group) -> Window {
        let (of, loops) = (value.clone(), self.loops.clone());
        Window { of, most, width: Poly::constant(1), group, loops }
    }

    /// Of what a value that a work-item before has is the sum: of itself, if of no others.
    fn window_of(&self, Shifted { value, most, group, .. }: &Shifted) -> Window {
        let known = self.known_window(value, *group);
        known.unwrap_or_else(|| self.window_of_one(value, *most, *group))
    }

    /// What a work-item has that adds to its value that of the one so far before, if there is
    /// one.
    fn add_shifted(&mut self, shifted: &Shifted) -> Option<Poly> {
        let window = self.window_of(shifted);
        if window.width != shifted.by || !self.is_natural(&window.of) {
            return None;
        }
        let width = window.width.scaled(2);
        let at = (shifted.ty, shifted.span);
        let sum = self.sum_by_hand(Window { width, ..window }, &Formula::True, at)?;
        self.windows.added.insert(single(&sum)?, shifted.clone());
        Some(sum)
    }

    /// What a work-item has that takes the value of the one just before it, or 0.
    fn taken_before(&mut self, shifted: &Shifted) -> Option<Poly> {
        let window = self.window_of(shifted);
        let is_next = shifted.by == Poly::constant(1);
        if !is_next || !self.is_natural(&window.of) || !self.is_whole(&window, &Formula::True) {
            return None;
        }
        let before = self.any_by_hand((shifted.ty, shifted.span))?;
        self.note_by_hand(single(&before)?, (&window, Over::Before), (shifted.ty, None));
        Some(before)
    }

    /// A sum over this window, where `known` holds of its width.
    fn sum_by_hand(
        &mut self,
        window: Window,
        known: &Formula,
        (ty, span): (Type, SpanId),
    ) -> Option<Poly> {
        let value = self.any_by_hand((ty, span))?;
        let symbol = single(&value)?;
        let is_whole = self.is_whole(&window, known);
        if is_whole || window.width.as_constant().is_some() {
            let within = (!is_whole).then_some(&window.width);
            self.note_by_hand(symbol, (&window, Over::UpTo), (ty, within));
        }
        self.windows.known.insert(symbol, window);
        Some(value)
    }

    fn any_by_hand(&mut self, (ty, span): (Type, SpanId)) -> Option<Poly> {
        let op = ExchangeOp::Shuffle(Shuffle::Up);
        match self.any_of_type(ty, false, (span, Obstacle::Exchange(op))) {
            Value::Int(value) => Some(value),
            Value::Cond(_) | Value::Other => None,
        }
    }

    /// Whether a window reaches back to the first of the group from each of its members.
    fn is_whole(&mut self, window: &Window, known: &Formula) -> bool {
        let count = match window.group {
            Group::Warp => Some(Poly::constant(WARP_ITEMS.into())),
            Group::Block => self.number_of_items().map(|(_, count)| count),
        };
        count.is_some_and(|count| {
            self.is_never(&known.clone().and(Formula::lt(&window.width, &count)))
        })
    }

    fn note_by_hand(
        &mut self,
        symbol: Unknown,
        (window, over): (&Window, Over),
        (ty, within): (Type, Option<&Poly>),
    ) {
        if self.recording {
            let group = (window.group, window.loops.clone());
            self.add_sum_of(symbol, (&window.of, over), group, (ty, within, window.most));
        }
    }

    /// Of what a loop carries on, what may be sums of which each iteration doubles the
    /// window.
    pub(in super::super) fn may_widen(
        &self,
        counter: Option<VarId>,
        carried: &mut [Carried],
        body: &[Stmt],
    ) {
        let mut shifted = BTreeSet::new();
        self.collect_shifted(body, &mut shifted);
        let cells = self.local_elements.own_cells();
        shifted.extend(cells.into_iter().filter(|cell| carried.iter().any(|it| it.var == *cell)));
        if shifted.is_empty() || self.leaves(body) {
            return;
        }
        let doubled = carried.iter().find_map(|carried| {
            let first = carried.first.as_constant()?;
            (carried.kind == Kind::Power).then_some((Width::Var(carried.var), first))
        });
        let Some((width, first)) = counter.map(|of| (Width::Counter(of), 1)).or(doubled) else {
            return;
        };
        for carried in carried {
            let ty = self.type_of(carried.var);
            let (span, group) = match self.kernel.vars.get(carried.var) {
                Some(declared) => (declared.span, Group::Warp),
                None => (self.kernel.span, Group::Block),
            };
            if !shifted.contains(&carried.var) || carried.first.is_lost() || !is_integer(ty) {
                continue;
            }
            let known = self.known_window(&carried.first, group);
            // Who hands it on in the loop has come to it.
            let most = |walk: &Self| match group {
                Group::Warp => walk.most_here(&carried.first),
                Group::Block => walk.most_anywhere(&carried.first),
            };
            let window =
                known.unwrap_or_else(|| self.window_of_one(&carried.first, most(self), group));
            if window.width.as_constant() == Some(first) && self.is_natural(&window.of) {
                let at = (ty, span);
                carried.widened = Some(Widened { first: window, width, at });
            }
        }
    }

    /// The variables of which a body takes what a lane before has.
    fn collect_shifted(&self, stmts: &[Stmt], out: &mut BTreeSet<VarId>) {
        for stmt in stmts {
            if let StmtKind::Exchange { op: ExchangeOp::Shuffle(Shuffle::Up), value, .. } =
                &stmt.kind
            {
                any_subexpr(self.kernel, *value, &mut |kind| {
                    if let ExprKind::Var(var) = kind {
                        out.insert(*var);
                    }
                    false
                });
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.collect_shifted(body, out));
        }
    }

    /// At the head of an iteration: what is taken to be as wide as the loop has come.
    pub(in super::super) fn take_for_widened(&mut self, carried: &[Carried]) {
        for Carried { var, widened, .. } in carried {
            let Some(Widened { first, width, .. }) = widened else { continue };
            let Some([head, _]) = self.widths(*width) else { continue };
            if let Some(Value::Int(value)) = self.env.get(var)
                && let Some(symbol) = single(value)
            {
                self.windows.known.insert(symbol, Window { width: head, ..first.clone() });
            }
        }
    }

    /// How wide a window is at the head of an iteration, as far as that has come, and how
    /// wide it is at the head of the next one.
    fn widths(&mut self, width: Width) -> Option<[Poly; 2]> {
        let var = width.var();
        let Some(Value::Int(now)) = self.env.get(&var).cloned() else { return None };
        match width {
            Width::Var(_) => Some([now.clone(), now]),
            Width::Counter(_) if self.powers.contains(&single(&now)?) => {
                Some([now.clone(), now.scaled(2)])
            }
            // The counter of `1 << s`, from 0 on.
            Width::Counter(_) => {
                let id = self.all_loops.get(self.loops.last()?.0)?;
                let is_number = now == Poly::unknown(id.number);
                let at = (self.kernel.vars[var].span, BinaryOp::Shl);
                is_number.then(|| {
                    let power = self.power(&now, Type::Index, at);
                    [power.clone(), power.scaled(2)]
                })
            }
        }
    }

    /// Whether an iteration that leaves `end` has doubled a variable's window.
    pub(in super::super) fn is_widened(&mut self, widened: &Widened, end: Option<&Value>) -> bool {
        let Some(Value::Int(end)) = end else { return false };
        let Some([_, width]) = self.widths(widened.width) else { return false };
        let found = single(end).and_then(|end| self.windows.known.get(&end));
        found.is_some_and(|found| *found == Window { width, ..widened.first.clone() })
    }

    /// After a loop that has counted to its end.
    pub(in super::super) fn leave_widened_counted(
        &mut self,
        carried: &[Carried],
        (range, bounds): (&LoopRange, &[Poly]),
    ) {
        let width = match (range, bounds) {
            (LoopRange::Doubling(_), [n]) => self.doubled_beyond(n),
            (LoopRange::Between { step: None, reversed: false, .. }, [start, end])
                if *start == Poly::default() =>
            {
                let count = end.as_constant().filter(|count| (0..32).contains(count));
                count.map(|count| Poly::constant(1 << count))
            }
            (LoopRange::Doubling(_) | LoopRange::Between { .. } | LoopRange::Halving(_), _) => None,
        };
        if let Some(width) = width {
            self.leave_widened(carried, &|_, _| Some(width.clone()), &Formula::True);
        }
    }

    /// What is doubled from 1 on until it is `n` or more.
    fn doubled_beyond(&mut self, n: &Poly) -> Option<Poly> {
        if let Some(n) = n.as_constant() {
            let power = u64::try_from(n.max(1)).ok()?.checked_next_power_of_two()?;
            return Some(Poly::constant(power.into()));
        }
        if n.is_lost() {
            return None;
        }
        let symbol = self.symbol(Sharing::Private, Some(1), None);
        let width = Poly::unknown(symbol);
        self.symbols.add_facts(symbol, Formula::le(n, &width));
        Some(width)
    }

    /// After a loop that has gone on until this held.
    pub(in super::super) fn leave_widened_until(&mut self, carried: &[Carried], reached: &Formula) {
        let width = |walk: &Self, width: Width| match (width, walk.env.get(&width.var())) {
            (Width::Var(_), Some(Value::Int(width))) => Some(width.clone()),
            _ => None,
        };
        self.leave_widened(carried, &width, reached);
    }

    fn leave_widened(
        &mut self,
        carried: &[Carried],
        width_of: &dyn Fn(&Self, Width) -> Option<Poly>,
        reached: &Formula,
    ) {
        for Carried { var, widened, .. } in carried {
            let Some(Widened { first, width, at }) = widened else { continue };
            let Some(width) = width_of(self, *width) else { continue };
            let window = Window { width, ..first.clone() };
            if let Some(value) = self.sum_by_hand(window, reached, *at) {
                self.note_scanned_by_hand(*var, &value);
                self.env.insert(*var, Value::Int(value));
            }
        }
    }
}
