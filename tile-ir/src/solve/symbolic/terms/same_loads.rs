//! Loads of one element by both sides.
//!
//! A tensor that is never written has one value at each place, and one outside; a tile has one in
//! each cell from one write to the next ([`super::super::tiles::reread`]). Where two
//! work-items meet in one element of an array, `order[v]`, and each has loaded what a table
//! has at that place, `degree[v]`, they have loaded the same.
//!
//! Which places are the same is told by the indices of the two accesses, of which it is asked
//! whether they are equal, and by other loads that are the same. Where counters are compared,
//! it is a case whether they are of one element, and so it is of what a table has there.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::pairs::instance::{Builder, Side};
use super::congruent::{Array, Read};
use crate::kernel::ArrayRef;

/// Most loads of one side that are compared with those of the other one.
const MAX_LOADS: usize = 16;

/// Most pairs of loads of which it is a case whether they are of one place.
const MAX_CASES: usize = 2;

impl<'a> Builder<'a> {
    /// Adds that what is loaded at one place is the same on both sides.
    pub(in super::super) fn join_loads(&mut self) {
        let [first, second] = [Side::First, Side::Second].map(|side| self.loads_of(side));
        let pairs = first.iter().flat_map(|one| second.iter().map(move |other| (one, other)));
        let mut open: Vec<(&Read<'a>, &Read<'a>)> =
            pairs.filter(|(one, other)| one.array == other.array).collect();
        loop {
            let before = open.len();
            open.retain(|(one, other)| {
                let are_one = self.places(one, other).iter().all(|gap| self.is_none(gap));
                if are_one {
                    let gap = self.gap(&Poly::unknown(one.value), &Poly::unknown(other.value));
                    self.system.assert(&Formula::Zero(gap.clone()));
                    self.zeros.push(gap);
                }
                !are_one
            });
            if open.len() == before {
                break;
            }
        }
        let counted = self.counted_places();
        let as_counted = |gap: &Poly| counted.iter().any(|other| is_like(gap, other));
        let cases: Vec<_> = open
            .into_iter()
            .map(|(one, other)| (one.value, other.value, self.places(one, other)))
            .filter(|(.., gaps)| gaps.iter().all(|gap| self.is_none(gap) || as_counted(gap)))
            .take(MAX_CASES)
            .collect();
        for (one, other, gaps) in cases {
            let same = self.gap(&Poly::unknown(one), &Poly::unknown(other));
            let differ = gaps.iter().flat_map(|gap| {
                [Formula::AtLeast(gap.plus(-1)), Formula::AtLeast(gap.negated().plus(-1))]
            });
            let cases = differ.chain([Formula::Zero(same)]);
            self.system.assert(&Formula::Any(cases.collect()).replace(&|_| None));
        }
    }

    /// The loads of arrays that are one for both sides, of one side alone, and those that say
    /// where these are from.
    fn loads_of(&self, side: Side) -> Vec<Read<'a>> {
        let walk = self.walk;
        let mut open: Vec<Unknown> =
            self.seen.iter().filter(|(_, of)| *of == side).map(|(symbol, _)| *symbol).collect();
        let mut loads: Vec<Read<'a>> = Vec::new();
        while let Some(symbol) = open.pop() {
            if self.is_shared(symbol) || loads.iter().any(|known| known.value == symbol) {
                continue;
            }
            for read in walk.reads_of(symbol).filter(|read| self.is_one_array(read)) {
                if loads.len() < MAX_LOADS {
                    open.extend(read.at.iter().flat_map(|at| at.unknowns()));
                    loads.push(read);
                }
            }
        }
        loads
    }

    /// Whether both sides find the same in an array: in a tensor that is never written, or, within
    /// a block and in one iteration of the loops around the read, in a tile between two writes.
    fn is_one_array(&self, read: &Read<'_>) -> bool {
        let walk = self.walk;
        match read.array {
            Array::Tensor(_) => true,
            Array::Written(..) => false,
            Array::Tile(tile, _) => {
                let read_in = walk.symbols.get(read.value).map(|symbol| &symbol.loops);
                !walk.kernel.is_local(ArrayRef::Tile(tile))
                    && self.meeting.shared_loops().zip(read_in).is_some_and(|(shared, loops)| {
                        loops.iter().all(|around| shared.contains(around))
                    })
            }
        }
    }

    /// By axis, how far apart two places are.
    fn places(&self, one: &Read<'_>, other: &Read<'_>) -> Vec<Poly> {
        one.at.iter().zip(&other.at).map(|(one, other)| self.gap(one, other)).collect()
    }

    /// How far apart the counters are of which old values have been compared, by axis.
    fn counted_places(&self) -> Vec<Poly> {
        let slots = |pair: &(Unknown, Unknown)| {
            Some((self.walk.slots.get(&pair.0)?, self.walk.slots.get(&pair.1)?))
        };
        let pairs = self.parted.iter().filter_map(slots);
        let axes = pairs.flat_map(|(one, other)| one.indices().iter().zip(other.indices()));
        axes.map(|(one, other)| self.gap(one, other)).collect()
    }

    /// A value of the first side, less one of the second.
    fn gap(&self, first: &Poly, second: &Poly) -> Poly {
        let [first, second] = [(Side::First, first), (Side::Second, second)]
            .map(|(side, of)| of.replace(&|symbol| Some(self.unknown(symbol, side))));
        by_content(&first.sub(&second))
    }

    /// Whether this is 0 where the two accesses are of one element.
    fn is_none(&self, gap: &Poly) -> bool {
        gap.as_constant() == Some(0) || self.zeros.iter().any(|zero| is_like(zero, gap))
    }
}

/// Whether one is 0 where the other is.
fn is_like(one: &Poly, other: &Poly) -> bool {
    !one.is_lost() && (one == other || one.negated() == *other)
}

/// The same without a number that all its terms have as a factor: 0 where it is.
pub(in super::super) fn by_content(poly: &Poly) -> Poly {
    let content = poly.content();
    match content > 1 && poly.constant_term() % content == 0 {
        true => poly.divided(content),
        false => poly.clone(),
    }
}
