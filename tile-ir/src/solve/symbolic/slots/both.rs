//! How far two counters of a block have gone together, of which each work-item moves one.
//!
//! ```text
//! if x > 0 {
//!     let old = atomic lo[0] += 1;
//!     a[old] = x;
//! } else {
//!     let old = atomic hi[0] -= 1;
//!     a[old - 1] = x;
//! }
//! ```
//!
//! What `lo[0]` has risen and what `hi[0]` has fallen is together no more than there are work-items,
//! whichever way each goes. So the two ends of a list never meet. Of `lo[w]` and `hi[w]` it is no
//! more than there are work-items of one `w` ([`super::sharers`]).
//!
//! # What it rests on
//!
//! - Both are set in one iteration of the loops around, and all that moves them is in it, in no other
//!   loops ([`super::takers`]).
//! - Each goes one way alone, and one without a sign that falls does not come to 0.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::pairs::instance::{Builder, Side};
use super::super::walk::Walk;
use super::counters::Way;
use super::sharers::Sharers;
use super::slot::Slot;
use super::takers::{Start, Takers, larger};

/// How far two counters go together.
struct Both<'a> {
    /// What each was set to.
    starts: [&'a Poly; 2],
    end: Poly,
    /// The same where both are at the same place in their arrays.
    ends_of_cell: Vec<Poly>,
}

impl Walk<'_> {
    /// What a counter was set to in an iteration of these loops, and who moves it, each once and
    /// the way of the slot.
    fn moved_once<'a>(
        &'a self,
        slot: &'a Slot,
        loops: &[LoopId],
    ) -> Option<(&'a Start, Vec<&'a Takers>)> {
        let (start, [up, down]) = self.started(slot)?;
        let (own, others) = match slot.way() {
            Way::Up => (up, down),
            Way::Down => (down, up),
        };
        let is_once = |takers: &&Takers| takers.loops == start.loops;
        let is_fit =
            others.is_empty() && loops.starts_with(&start.loops) && own.iter().all(is_once);
        is_fit.then_some((start, own))
    }

    /// How far two counters have gone together at most, of which each work-item moves one in an
    /// iteration of loops.
    fn both<'a>(&'a self, [one, other]: [&'a Slot; 2], loops: &[LoopId]) -> Option<Both<'a>> {
        let (first, ones) = self.moved_once(one, loops)?;
        let (second, others) = self.moved_once(other, loops)?;
        let are_apart =
            |one: &&Takers| others.iter().all(|other| self.are_apart_by_guards(one, other));
        if first.loops != second.loops || !ones.iter().all(are_apart) {
            return None;
        }
        let each = |places: &[&Takers]| {
            places.iter().fold(Poly::default(), |sum, takers| sum.add(&takers.step))
        };
        let steps = [each(&ones), each(&others)];
        let (items, most) = (self.items.as_ref()?, larger(&steps[0], &steps[1])?);
        let end = items.mul(&most);
        let stays = |(slot, start, places): (&Slot, &Start, &[&Takers])| {
            let most = self.most_of_cell(places, &start.loops);
            let least: Vec<Poly> = most.iter().map(|most| start.value.sub(most)).collect();
            slot.way() == Way::Up || self.falls_to_naturals(slot, &least)
        };
        let both = [(one, first, ones.as_slice()), (other, second, others.as_slice())];
        if end.is_lost() || !both.into_iter().all(stays) {
            return None;
        }
        let sharers = common(ones.iter().chain(&others).map(|takers| &takers.sharers));
        let counts = sharers.map(|of| [of.all.clone(), of.known.map(Poly::constant)]);
        let ends_of_cell = counts.into_iter().flatten().flatten().map(|count| count.mul(&most));
        let ends_of_cell = ends_of_cell.filter(|of| !of.is_lost() && *of != end).collect();
        Some(Both { starts: [&first.value, &second.value], end, ends_of_cell })
    }
}

/// Those of all of some places, if they are the same.
fn common<'a>(mut places: impl Iterator<Item = &'a Sharers>) -> Option<&'a Sharers> {
    let first = places.next()?;
    places.all(|other| other == first).then_some(first)
}

impl Builder<'_> {
    /// Adds how far two counters of one block have gone together where two slots were taken.
    pub(in super::super) fn bound_both(&mut self, [one, other]: [(Unknown, &Slot, Side); 2]) {
        let walk = self.walk;
        let Some(loops) = self.meeting.shared_loops() else { return };
        let are_known = one.1.start().is_some() && other.1.start().is_some();
        if !walk.is_walked || !are_known || !one.1.is_beside(other.1) {
            return;
        }
        let Some(Both { starts, end, ends_of_cell }) = walk.both([one.1, other.1], loops) else {
            return;
        };
        let both = [(one, starts[0]), (other, starts[1])].map(|((symbol, slot, side), start)| {
            let old = Poly::unknown(symbol);
            let gone = match slot.way() {
                Way::Up => old.add(slot.step()).sub(start),
                Way::Down => start.sub(&old.sub(slot.step())),
            };
            (self.on(side, &gone), self.formula_on(side, &slot.unless()), self.unmade(slot, side))
        });
        let [(left, unless, unmade), (right, unless_other, unmade_other)] = both;
        let gone = left.add(&right);
        let unmade = unmade.into_iter().chain(unmade_other);
        let unless = unmade.fold(unless.or(unless_other), Formula::or);
        let end = self.on(Side::First, &end);
        self.system.assert(&Formula::le(&gone, &end).or(unless.clone()));
        if ends_of_cell.is_empty() {
            return;
        }
        let apart = self.cells_differ([(one.1, one.2), (other.1, other.2)]);
        for end in ends_of_cell {
            let end = self.on(Side::First, &end);
            self.system.assert(&Formula::le(&gone, &end).or(unless.clone()).or(apart.clone()));
        }
    }

    /// That two slots are of counters at other places in their arrays.
    fn cells_differ(&mut self, [one, other]: [(&Slot, Side); 2]) -> Formula {
        let mut on = |(slot, side): (&Slot, Side)| -> Vec<Poly> {
            slot.indices().iter().map(|index| self.on(side, index)).collect()
        };
        let (first, second) = (on(one), on(other));
        if first.len() != second.len() {
            return Formula::True;
        }
        Formula::Any(
            first.iter().zip(&second).map(|(one, other)| Formula::ne(one, other)).collect(),
        )
        .replace(&|_| None)
    }
}
