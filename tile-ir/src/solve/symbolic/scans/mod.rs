//! Scans: places that work-items get by adding up each other's values.
//!
//! Let `e` be a number of each work-item that is not negative. What the exclusive
//! scan of it gives two work-items lies as far apart as those between them, and the
//! first of the two itself, have added: `x..x + e` is the work-item's alone, and
//! all of them lie below the sum over the block. So a flag's scan gives each
//! work-item that has the flag a place of its own, which is how a block compacts.
//!
//! # What it rests on
//!
//! - Both sides speak of one scan: the same statement, in the same iterations, and of a
//!   warp's scan ([`super::exchange::ballots`]) in one warp.
//! - Sums in 32 bits and more do not leave the range of their type, as counters do
//!   not ([`super::slots::slot`]).

pub(super) mod all_counted;
mod before_own;
mod beside;
pub(super) mod ended;
mod kept;
pub(super) mod last_own;
mod last_part;
pub(super) mod prefix;
pub(super) mod row_major;
pub(super) mod spans;
mod storing;
pub(super) mod summed;
pub(super) mod together;
pub(super) mod windows;

use super::algebra::formula::Formula;
use super::algebra::poly::{Poly, Unknown};
use super::algebra::symbol::LoopId;
use super::pairs::instance::{Builder, Side};
use super::terms::integers::range_of;
use super::walk::{Value, Walk};
use crate::exchange::{ExchangeOp, Group, Reduction, WARP_ITEMS};
use crate::kernel::Type;
use prefix::single;

/// How many flags a work-item may add, those of its elements.
const FLAGS: [i128; 5] = [2, 3, 4, 6, MAX_FLAGS];
/// The most of them.
const MAX_FLAGS: i128 = 8;

/// What an exchange of a block or a warp adds up.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    /// What each work-item adds; not negative.
    of: Poly,
    /// What one adds at most, where that is known.
    most: Option<i128>,
    /// Whose values a work-item gets the sum of.
    over: Over,
    /// Of which work-items: those of a block, or of a warp.
    group: Group,
    /// The loops around.
    loops: Vec<LoopId>,
    /// How many guards there are at the place in the text.
    depth: usize,
    /// Of how many of the group's first members it is known, if not of all.
    within: Option<Poly>,
}

impl Sum {
    /// A sum of natural numbers.
    pub(super) fn new(
        of: Poly,
        most: Option<i128>,
        over: Over,
        (group, loops): (Group, Vec<LoopId>),
    ) -> Self {
        Self { of, most, over, group, loops, depth: 0, within: None }
    }

    /// The same of as many of the group's first members; of the others it is a part.
    pub(super) fn within(self, width: Poly) -> Self {
        Self { within: Some(width), ..self }
    }

    /// What each work-item adds.
    pub(super) fn of(&self) -> &Poly {
        &self.of
    }

    /// How many guards there are at the place in the text where it is known.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Whether it is what all of a block add.
    fn is_over_block(&self) -> bool {
        self.over == Over::All && self.group == Group::Block && self.within.is_none()
    }

    /// Whether both are sums of the same numbers.
    fn is_of_same(&self, other: &Self) -> bool {
        self.of == other.of && self.group == other.group && self.loops == other.loops
    }
}

/// The work-items whose values are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Over {
    /// Those before.
    Before,
    /// Those before, and its own.
    UpTo,
    /// All of the block, or of the warp.
    All,
}

impl Walk<'_> {
    /// Notes that `result` is what an exchange of `operand` gives.
    pub(super) fn note_sum(&mut self, op: ExchangeOp, operand: Value, result: &Value, ty: Type) {
        let (over, group) = match op {
            ExchangeOp::Scan { exclusive: true } => (Over::Before, Group::Block),
            ExchangeOp::Scan { exclusive: false } => (Over::UpTo, Group::Block),
            ExchangeOp::Reduce(Reduction::Sum) => (Over::All, Group::Block),
            ExchangeOp::WarpReduce(Reduction::Sum) => (Over::All, Group::Warp),
            ExchangeOp::Reduce(_)
            | ExchangeOp::WarpReduce(_)
            | ExchangeOp::Shuffle(_)
            | ExchangeOp::Ballot => return,
        };
        let (Value::Int(of), Value::Int(result)) = (operand, result) else { return };
        let Some(symbol) = result.unknowns().next() else { return };
        if of.is_lost() || !self.is_natural(&of) || self.adds_too_much(&of, ty) {
            return;
        }
        // Who adds comes by.
        let high = self.most_here(&of);
        self.add_sum_of(symbol, (&of, over), (group, self.loops.clone()), (ty, None, high));
    }

    /// Adds what holds of a sum of natural numbers in a type, if that holds it; each of them
    /// is known to be so `high` at most.
    pub(super) fn add_sum_of(
        &mut self,
        symbol: Unknown,
        (of, over): (&Poly, Over),
        (group, loops): (Group, Vec<LoopId>),
        (ty, within, high): (Type, Option<&Poly>, Option<i128>),
    ) {
        let most = self.most_added(of, high);
        self.kept_below.note_asked();
        if self.may_take(of, ty) {
            return;
        }
        // Nobody's sum of those before it has all of them.
        let most_of = |count: Poly| if over == Over::Before { count.plus(-1) } else { count };
        let count = self.members(group).map(|members| most_of(members.count));
        if self.holds_sums(ty, count.as_ref().zip(most)) {
            let sum = Sum::new(of.clone(), most, over, (group, loops));
            self.add_sum(
                symbol,
                match within {
                    Some(width) => sum.within(width.clone()),
                    None => sum,
                },
            );
            if within.is_none() && over == Over::Before {
                self.note_room_of_scan(symbol, of, ty);
            }
        }
    }

    /// Notes that what a scan gives a work-item, with what that adds, is of its type.
    fn note_room_of_scan(&mut self, symbol: Unknown, of: &Poly, ty: Type) {
        if let Some((_, max)) = range_of(ty).filter(|(_, max)| *max >= i32::MAX.into()) {
            let end = Poly::unknown(symbol).add(of);
            self.symbols.add_facts(symbol, Formula::le(&end, &Poly::constant(max)));
        }
    }

    /// What a work-item adds at most: of a flag 1, of those of a few elements as many.
    fn most_added(&self, of: &Poly, high: Option<i128>) -> Option<i128> {
        let is_most = |most: &i128| self.is_never(&Formula::AtLeast(of.plus(-1 - most)));
        let is_close = high.is_some_and(|high| high <= MAX_FLAGS);
        if high.is_some_and(|high| high <= 1) || is_most(&1) {
            return Some(1);
        }
        let few = || FLAGS.iter().copied().find(is_most);
        if is_close || of.terms().len() < 2 { high } else { few().or(high) }
    }

    /// Adds what holds of a sum: how large it is, and what it has to do with others of the
    /// same numbers.
    pub(super) fn add_sum(&mut self, symbol: Unknown, sum: Sum) {
        let sum = Sum { depth: self.guards.len(), ..sum };
        let result = Poly::unknown(symbol);
        let members = self.members(sum.group);
        if sum.group == Group::Block {
            self.item_number = members.as_ref().map(|members| members.number.clone());
            self.item_count = members.as_ref().map(|members| members.count.clone());
        }
        let mut facts = vec![Formula::AtLeast(result.clone())];
        let most = members.as_ref().zip(sum.most).map(|(members, most)| match sum.over {
            Over::Before => members.number.scaled(most),
            Over::UpTo => members.number.scaled(most).add(&sum.of),
            Over::All => members.count.scaled(most),
        });
        facts.extend(most.map(|most| Formula::le(&result, &most)));
        let behind = members.as_ref().map(Members::behind);
        for (other, theirs) in &self.sums {
            if theirs.is_of_same(&sum) {
                let other = Poly::unknown(*other);
                facts.extend(within_total((&result, &sum), (&other, theirs), behind.as_ref()));
            }
        }
        let has_own = match sum.over {
            Over::Before => false,
            Over::UpTo => true,
            // Of flags: who has one is counted.
            Over::All => sum.most == Some(1),
        };
        facts.extend(has_own.then(|| Formula::le(&sum.of, &result)));
        self.symbols.add_facts(symbol, Formula::All(facts));
        self.note_exclusive(symbol, &sum);
        if sum.over != Over::All {
            self.sums.insert(symbol, sum);
            return;
        }
        // A total that comes later bounds the scans before it.
        let scans: Vec<(Unknown, Formula)> = self
            .sums
            .iter()
            .filter(|(_, scan)| scan.is_of_same(&sum))
            .filter_map(|(scan, theirs)| {
                let value = Poly::unknown(*scan);
                let fact = within_total((&value, theirs), (&result, &sum), behind.as_ref())?;
                Some((*scan, fact))
            })
            .collect();
        scans.into_iter().for_each(|(scan, fact)| self.symbols.add_facts(scan, fact));
        self.sums.insert(symbol, sum);
    }

    /// Whether a value is the sum over the block of which another one is the part up to a
    /// work-item.
    pub(super) fn is_total_beyond(&self, value: &Poly, part: &Poly) -> bool {
        let Some(part) = self.sum_up_to(part) else { return false };
        self.sums.iter().any(|(symbol, sum)| {
            sum.over == Over::All && sum.is_of_same(&part) && Poly::unknown(*symbol) == *value
        })
    }

    /// The sum over the block of which a value is the part up to a work-item.
    pub(super) fn sum_up_to(&self, value: &Poly) -> Option<Sum> {
        self.sums.iter().find_map(|(scan, sum)| {
            let scan = Poly::unknown(*scan);
            let is_part = match sum.over {
                Over::Before => *value == scan.add(&sum.of),
                Over::UpTo => *value == scan,
                Over::All => false,
            };
            let is_whole = sum.group == Group::Block && sum.within.is_none();
            let is_here = is_whole && sum.loops == self.loops;
            (is_part && is_here).then(|| Sum { over: Over::All, ..sum.clone() })
        })
    }

    /// The sum over the warp of which a value is the part up to a work-item, where it comes
    /// by here.
    pub(super) fn sum_up_to_in_warp(&self, value: &Poly) -> Option<Sum> {
        self.sums.iter().find_map(|(scan, sum)| {
            if sum.group != Group::Warp || sum.within.is_some() || sum.loops != self.loops {
                return None;
            }
            let scan = Poly::unknown(*scan);
            let is_part = match sum.over {
                Over::Before => {
                    let has_flag = || {
                        let none = Formula::ne(&sum.of, &Poly::constant(1));
                        self.is_never(&Formula::All(self.guards.clone()).and(none))
                    };
                    *value == scan.add(&sum.of) || *value == scan.plus(1) && has_flag()
                }
                Over::UpTo => *value == scan,
                Over::All => false,
            };
            is_part.then(|| Sum { over: Over::All, ..sum.clone() })
        })
    }

    /// The sum of flags over the block's work-items in these loops, where `place` is that of
    /// those before this one.
    pub(super) fn flags_before(&self, place: &Poly, loops: &[LoopId]) -> Option<&Sum> {
        let found = self.sums.iter().find(|(scan, sum)| {
            let scan = Poly::unknown(**scan);
            let is_place = match sum.over {
                Over::Before => *place == scan,
                // Of a flag that is set.
                Over::UpTo => *place == scan.plus(-1) || *place == scan.sub(&sum.of),
                Over::All => false,
            };
            let is_whole = sum.group == Group::Block && sum.within.is_none();
            is_place && sum.most == Some(1) && is_whole && sum.loops == loops
        });
        found.map(|(_, sum)| sum)
    }

    /// What each work-item of a block adds to a sum over all of them, in these loops.
    pub(super) fn added_by_all(&self, sum: Unknown, loops: &[LoopId]) -> Option<&Poly> {
        let sum = self.sums.get(&sum)?;
        (sum.is_over_block() && sum.loops == loops).then_some(&sum.of)
    }

    /// The sum of a value over all work-items of a block, in these loops.
    pub(super) fn total_over_block(&self, of: &Poly, loops: &[LoopId]) -> Option<Unknown> {
        let is_it = |sum: &Sum| sum.is_over_block() && sum.of == *of && sum.loops == loops;
        self.sums.iter().find(|(_, sum)| is_it(sum)).map(|(symbol, _)| *symbol)
    }

    /// The sums over all of what another one is a part of.
    pub(super) fn totals(&self, part: &Sum) -> impl Iterator<Item = Unknown> {
        let is_total = |sum: &Sum| sum.over == Over::All && sum.is_of_same(part);
        self.sums.iter().filter(move |(_, sum)| is_total(sum)).map(|(symbol, _)| *symbol)
    }

    /// What a scan of the block here adds up that has given this value, and whether a
    /// work-item's own is part of it. In the first warp a scan of the warp is one of the block: no
    /// others have a lesser number. What is known of the first members alone, as of a scan by hand of
    /// few steps, is one where only these come by.
    pub(super) fn scan_of_block(&self, value: &Poly) -> Option<(Poly, bool)> {
        self.sums.iter().find_map(|(scan, sum)| {
            let is_here = sum.loops == self.loops && self.is_within_here(sum);
            let (given, has_own) = (Poly::unknown(*scan), sum.over == Over::UpTo);
            let other = if has_own { given.sub(&sum.of) } else { given.add(&sum.of) };
            let is_it = is_here && sum.over != Over::All;
            let is_inclusive = match () {
                () if *value == given => has_own,
                () if *value == other => !has_own,
                () => return None,
            };
            let is_of_block = || sum.group == Group::Block || self.is_in_first_warp();
            (is_it && is_of_block()).then(|| (sum.of.clone(), is_inclusive))
        })
    }

    /// Whether a sum is known of all who come by here.
    fn is_within_here(&self, sum: &Sum) -> bool {
        let Some(width) = &sum.within else { return true };
        let number = match sum.group {
            Group::Warp => self.warp_place.as_ref().map(|place| &place.lane),
            Group::Block => self.item_number.as_ref(),
        };
        number.is_some_and(|number| {
            let here = Formula::All(self.guards.clone());
            self.is_never(&here.and(Formula::le(width, number)))
        })
    }

    /// What each lane of the first warp, which alone comes by here, adds to a sum over all of it.
    fn added_by_first_warp(&self, value: &Poly) -> Option<Poly> {
        let sum = self.sums.get(&single(value)?)?;
        let is_whole = sum.over == Over::All && sum.group == Group::Warp && sum.within.is_none();
        let is_here = is_whole && sum.loops == self.loops && self.is_in_first_warp();
        is_here.then(|| sum.of.clone())
    }

    /// A work-item's number among those of its group.
    fn members(&mut self, group: Group) -> Option<Members> {
        match group {
            Group::Block => {
                let (number, count) = self.number_of_items()?;
                Some(Members { number, count })
            }
            Group::Warp => {
                let number = self.warp_place.as_ref()?.lane.clone();
                Some(Members { number, count: Poly::constant(WARP_ITEMS.into()) })
            }
        }
    }

    /// A work-item's number in its group, where scans over that are known.
    fn place_in_group(&self, group: Group) -> Option<Poly> {
        match group {
            Group::Block => self.item_number.clone(),
            Group::Warp => self.warp_place.as_ref().map(|place| place.lane.clone()),
        }
    }

    /// Whether sums over a block, of so many items and at most so much each, stay
    /// within their type: of few bits that must be seen.
    fn holds_sums(&self, ty: Type, most: Option<(&Poly, i128)>) -> bool {
        let Some((_, max)) = range_of(ty) else { return false };
        let exceeds =
            |(count, most): (&Poly, i128)| Formula::lt(&Poly::constant(max), &count.scaled(most));
        // What is known to leave even a large type is no sum; else that is taken to hold it.
        let leaves = |(count, most): (&Poly, i128)| {
            count.as_constant().is_some_and(|count| most < max && count.saturating_mul(most) > max)
        };
        match max >= i32::MAX.into() {
            true => !most.is_some_and(leaves),
            false => most.is_some_and(|most| self.is_never(&exceeds(most))),
        }
    }

    /// A work-item's number in its block, and how many there are.
    pub(super) fn number_of_items(&mut self) -> Option<(Poly, Poly)> {
        let (kernel, axes) = (self.kernel, self.block.clone()?);
        self.number_along(kernel.block.as_deref().unwrap_or_default(), &axes)
    }
}

/// The work-items of a group, as one of them sees them.
struct Members {
    /// Its number.
    number: Poly,
    /// How many there are at most.
    count: Poly,
}

impl Members {
    /// How many have a greater number, at most.
    fn behind(&self) -> Poly {
        self.count.sub(&self.number).plus(-1)
    }
}

/// That a scan's value is no more than the sum of all, and less by no more than those
/// `behind` add.
fn within_total(
    (one, sum): (&Poly, &Sum),
    (other, total): (&Poly, &Sum),
    behind: Option<&Poly>,
) -> Option<Formula> {
    let is_whole = |sum: &Sum| sum.over == Over::All;
    let ((scan, sum), total) = match (is_whole(sum), is_whole(total)) {
        (false, true) => ((one, sum), other),
        (true, false) => ((other, total), one),
        (true, true) => return Some(Formula::eq(one, other)),
        (false, false) => return None,
    };
    let end = if sum.over == Over::Before { scan.add(&sum.of) } else { scan.clone() };
    let rest = behind
        .filter(|_| sum.within.is_none())
        .zip(sum.most)
        .map(|(behind, most)| behind.scaled(most));
    let most = rest.map_or(Formula::True, |rest| Formula::le(total, &end.add(&rest)));
    Some(Formula::le(&end, total).and(most))
}

impl Builder<'_> {
    /// Adds how far apart the values are that one scan gives both sides.
    pub(super) fn part_scans(&mut self) {
        let walk = self.walk;
        if self.meeting.shared_loops().is_none() {
            return;
        }
        for (symbol, sum) in &walk.sums {
            if sum.over != Over::All && self.is_seen_by_both(*symbol) {
                self.part_scan(*symbol, sum);
            }
        }
    }

    fn is_seen_by_both(&self, symbol: Unknown) -> bool {
        [Side::First, Side::Second].into_iter().all(|side| self.seen.contains(&(symbol, side)))
    }

    /// Adds how far apart the values are that a scan gives both sides, one by itself and those of
    /// which it is the last part.
    fn part_scan(&mut self, symbol: Unknown, sum: &Sum) {
        let walk = self.walk;
        let Some(mut cases) = self.of_two_groups(sum) else { return };
        let Some(number) = walk.place_in_group(sum.group) else { return };
        let value = Poly::unknown(symbol);
        let mut values = vec![(&value, sum)];
        let parts = walk.together.iter().filter(|of| of.last == symbol);
        let parts = parts.filter(|of| of.value.unknowns().all(|part| self.is_seen_by_both(part)));
        values.extend(parts.map(|of| (&of.value, &of.sum)));
        for pair in [[Side::First, Side::Second], [Side::Second, Side::First]] {
            let [at, to] = pair.map(|side| self.on(side, &number));
            let mut facts = vec![Formula::lt(&at, &to)];
            let between = to.sub(&at).plus(-1);
            for (value, sum) in &values {
                facts.extend(self.gap_of_scan((value, sum), pair, &between));
            }
            facts.extend(self.added_beside((&value, sum), &number, pair));
            cases.push(Formula::All(facts));
        }
        let both = [Side::First, Side::Second];
        if let Some(width) = &sum.within {
            let beyond =
                both.map(|side| Formula::le(&self.on(side, width), &self.on(side, &number)));
            cases.extend(beyond);
        }
        let same = [&value, &number].map(|of| {
            let [first, second] = both.map(|side| self.on(side, of));
            Formula::eq(&first, &second)
        });
        cases.push(Formula::All(same.to_vec()));
        self.system.assert(&Formula::Any(cases).replace(&|_| None));
    }

    /// What a scan gives the second of these sides beyond what it gives the first one, which
    /// comes before it with so many work-items between them.
    fn gap_of_scan(
        &mut self,
        (value, sum): (&Poly, &Sum),
        [one, other]: [Side; 2],
        between: &Poly,
    ) -> Vec<Formula> {
        let [x, y] = [one, other].map(|side| self.on(side, value));
        let added = self.on(if sum.over == Over::Before { one } else { other }, &sum.of);
        let least = x.add(&added);
        let mut facts = vec![Formula::le(&least, &y)];
        facts.extend(sum.most.map(|most| Formula::le(&y, &least.add(&between.scaled(most)))));
        facts
    }

    /// The cases in which both sides are in two iterations of these loops; `None` between blocks.
    fn in_two_rounds(&mut self, loops: &[LoopId]) -> Option<Vec<Formula>> {
        let (walk, shared) = (self.walk, self.meeting.shared_loops()?);
        let others: Vec<LoopId> = loops.iter().filter(|id| !shared.contains(id)).copied().collect();
        let differs = |id: LoopId| {
            let number = Poly::unknown(walk.all_loops[id.0].number);
            let (left, right) = (self.on(Side::First, &number), self.on(Side::Second, &number));
            Formula::ne(&left, &right)
        };
        Some(others.into_iter().map(differs).collect())
    }

    /// The cases in which both sides are of two groups, or in other iterations; `None`
    /// between blocks.
    fn of_two_groups(&mut self, sum: &Sum) -> Option<Vec<Formula>> {
        match sum.group {
            Group::Block => self.in_two_rounds(&sum.loops),
            Group::Warp => self.in_two_warps(&sum.loops),
        }
    }
}
