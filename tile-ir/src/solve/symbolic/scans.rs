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
//! - Both sides speak of one scan: the same statement, in the same iterations.
//! - Sums in 32 bits and more do not leave the range of their type, as counters do
//!   not ([`super::slot`]).

use super::formula::Formula;
use super::instance::{Builder, Side};
use super::integers::range_of;
use super::poly::{Poly, Unknown};
use super::symbol::LoopId;
use super::walk::{Value, Walk};
use crate::exchange::{ExchangeOp, Reduction};
use crate::kernel::Type;

/// What an exchange of the block adds up.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    /// What each work-item adds; not negative.
    of: Poly,
    /// What one adds at most, where that is known.
    most: Option<i128>,
    /// Whose values a work-item gets the sum of.
    over: Over,
    /// The loops around.
    loops: Vec<LoopId>,
}

/// The work-items whose values are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    /// Those before.
    Before,
    /// Those before, and its own.
    UpTo,
    /// All of the block.
    All,
}

impl Walk<'_> {
    /// Notes that `result` is what an exchange of `operand` gives.
    pub(super) fn note_sum(&mut self, op: ExchangeOp, operand: Value, result: &Value, ty: Type) {
        let over = match op {
            ExchangeOp::Scan { exclusive: true } => Over::Before,
            ExchangeOp::Scan { exclusive: false } => Over::UpTo,
            ExchangeOp::Reduce(Reduction::Sum) => Over::All,
            ExchangeOp::Reduce(_)
            | ExchangeOp::WarpReduce(_)
            | ExchangeOp::Shuffle(_)
            | ExchangeOp::Ballot => return,
        };
        let (Value::Int(of), Value::Int(result)) = (operand, result) else { return };
        let Some(symbol) = result.unknowns().next() else { return };
        if of.is_lost() || !self.is_natural(&of) {
            return;
        }
        let flag = self.is_never(&Formula::AtLeast(of.plus(-2)));
        let most = if flag { Some(1) } else { self.high(&of) };
        let items = self.number_of_items();
        self.item_number = items.as_ref().map(|(number, _)| number.clone());
        if !self.holds_sums(ty, items.as_ref().map(|(_, count)| count).zip(most)) {
            return;
        }
        let mut facts = vec![Formula::AtLeast(result.clone())];
        let adders = match (over, &items) {
            (Over::Before, Some((number, _))) => Some(number.clone()),
            (Over::UpTo, Some((number, _))) => Some(number.plus(1)),
            (Over::All, Some((_, count))) => Some(count.clone()),
            (_, None) => None,
        };
        facts.extend(
            adders.zip(most).map(|(adders, most)| Formula::le(result, &adders.scaled(most))),
        );
        let behind = items.as_ref().map(|(number, count)| count.sub(number).plus(-1));
        let sum = Sum { of, most, over, loops: self.loops.clone() };
        for (other, theirs) in &self.sums {
            if theirs.of == sum.of && theirs.loops == sum.loops {
                let other = Poly::unknown(*other);
                facts.extend(within_total((result, &sum), (&other, theirs), behind.as_ref()));
            }
        }
        facts.extend((over == Over::UpTo).then(|| Formula::le(&sum.of, result)));
        self.symbols.add_facts(symbol, Formula::All(facts));
        if over != Over::All {
            self.sums.insert(symbol, sum);
            return;
        }
        // A total that comes later bounds the scans before it.
        let scans: Vec<(Unknown, Formula)> = self
            .sums
            .iter()
            .filter(|(_, scan)| scan.of == sum.of && scan.loops == sum.loops)
            .filter_map(|(scan, theirs)| {
                let value = Poly::unknown(*scan);
                let fact = within_total((&value, theirs), (result, &sum), behind.as_ref())?;
                Some((*scan, fact))
            })
            .collect();
        scans.into_iter().for_each(|(scan, fact)| self.symbols.add_facts(scan, fact));
        self.sums.insert(symbol, sum);
    }

    /// Whether sums over a block, of so many items and at most so much each, stay
    /// within their type: of few bits that must be seen.
    fn holds_sums(&self, ty: Type, most: Option<(&Poly, i128)>) -> bool {
        let Some((_, max)) = range_of(ty) else { return false };
        let exceeds =
            |(count, most): (&Poly, i128)| Formula::lt(&Poly::constant(max), &count.scaled(most));
        max >= i32::MAX.into() || most.is_some_and(|most| self.is_never(&exceeds(most)))
    }

    /// A work-item's number in its block, and how many there are.
    fn number_of_items(&mut self) -> Option<(Poly, Poly)> {
        let (kernel, axes) = (self.kernel, self.block.clone()?);
        let (mut number, mut count) = (Poly::default(), Poly::constant(1));
        for (axis, (_, at)) in kernel.block.iter().flatten().zip(axes) {
            let extent = self.index(axis.extent);
            number = number.mul(&extent).add(&Poly::unknown(at));
            count = count.mul(&extent);
        }
        (!number.is_lost()).then_some((number, count))
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
    let rest = behind.zip(sum.most).map(|(behind, most)| behind.scaled(most));
    let most = rest.map_or(Formula::True, |rest| Formula::le(total, &end.add(&rest)));
    Some(Formula::le(&end, total).and(most))
}

impl Builder<'_> {
    /// Adds how far apart the values are that one scan gives both sides.
    pub(super) fn part_scans(&mut self) {
        let walk = self.walk;
        let meeting = self.meeting;
        let Some(shared) = meeting.shared_loops() else { return };
        for (symbol, sum) in &walk.sums {
            let both = [Side::First, Side::Second];
            if sum.over == Over::All
                || !both.iter().all(|side| self.seen.contains(&(*symbol, *side)))
                || !sum.loops.iter().all(|id| shared.contains(id))
            {
                continue;
            }
            let Some(number) = walk.item_number.clone() else { continue };
            let [first, second] = both.map(|side| {
                let value = Poly::unknown(*symbol);
                [&value, &sum.of, &number].map(|poly| self.on(side, poly))
            });
            // The sum of what lies between two that follow each other so.
            let follows = |[x, e, at]: &[Poly; 3], [y, f, to]: &[Poly; 3]| {
                let least = if sum.over == Over::Before { x.add(e) } else { x.add(f) };
                let mut facts = vec![Formula::lt(at, to), Formula::le(&least, y)];
                let between = to.sub(at).plus(-1);
                facts
                    .extend(sum.most.map(|most| Formula::le(y, &least.add(&between.scaled(most)))));
                Formula::All(facts)
            };
            let same = Formula::eq(&first[0], &second[0]).and(Formula::eq(&first[2], &second[2]));
            let cases =
                Formula::Any(vec![follows(&first, &second), follows(&second, &first), same]);
            self.system.assert(&cases.replace(&|_| None));
        }
    }
}
