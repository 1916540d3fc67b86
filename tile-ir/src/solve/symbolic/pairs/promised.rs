//! What the author says of all elements of a tensor that is never written: that no two are
//! equal, or that none is less than the one before it.
//!
//! Rows of a sparse matrix lie behind one another where their first elements are sorted: of
//! `for e in row[v]..row[v + 1]` no two work-items have an `e` in common, since of two rows
//! the one that comes later begins at `row[w]`, and `w` is `v + 1` or beyond it. Behind the
//! tensor's end is the pad: `row[v]..0` and `0..0` hold no place of a tensor.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::terms::loaded::Element;
use super::instance::{Builder, Side};
use crate::kernel::{ArrayRef, Order};

/// Most pairs of loaded values that are told apart: each doubles the work.
const MAX_APART: usize = 4;

/// Most pairs of loaded values of sorted tensors that are compared.
const MAX_SORTED: usize = 8;

/// A loaded value, and who has loaded it.
type Loaded = (Unknown, Side);

/// Values of tensors of which something is promised.
#[derive(Default)]
pub(in super::super) struct Promised {
    /// Those that are mentioned.
    loaded: Vec<Loaded>,
    /// Of two elements that differ: the formula holds, or the pairs are equal.
    pub(in super::super) apart: Vec<(Formula, Vec<(Poly, Poly)>)>,
    n_sorted: usize,
}

impl<'a> Builder<'a> {
    /// Adds what is promised of a loaded value and of those that have been mentioned.
    pub(in super::super) fn keep_promises(&mut self, symbol: Unknown, side: Side) {
        let walk = self.walk;
        let Some(element) = walk.elements.get(&symbol) else { return };
        let promises = walk.kernel.promises.iter();
        let mut orders = promises.filter(|promise| promise.tensor == element.tensor).peekable();
        if orders.peek().is_none() {
            return;
        }
        self.assert_pad_beyond(element, (symbol, side));
        let others = self.promised.loaded.clone();
        self.promised.loaded.push((symbol, side));
        for promise in orders {
            for other in &others {
                match promise.order {
                    Order::Distinct => self.tell_apart(*other, (symbol, side)),
                    Order::Sorted => self.put_in_order(*other, (symbol, side)),
                }
            }
        }
    }

    /// Of two loaded values of one tensor whose elements are distinct: they differ,
    /// or their positions are the same.
    fn tell_apart(&mut self, one: Loaded, other: Loaded) {
        let Some([(first, a), (second, b)]) = self.both(one, other) else { return };
        if self.promised.apart.len() == MAX_APART {
            return;
        }
        let mut cases = vec![Formula::lt(&a, &b), Formula::lt(&b, &a)];
        for ((element, side), value) in [((first, one.1), &a), ((second, other.1), &b)] {
            // Outside, the pad is read, as often as it likes.
            let Some(outside) = self.beyond(element, side) else { return };
            let is_pad = Formula::eq(value, &element.pad);
            cases.extend(outside.into_iter().map(|outside| outside.and(is_pad.clone())));
        }
        let places = first.indices.iter().zip(&second.indices);
        let same = places.map(|(left, right)| (self.on(one.1, left), self.on(other.1, right)));
        let same = same.collect();
        self.promised.apart.push((Formula::Any(cases), same));
    }

    /// Of two loaded values of one tensor whose elements are sorted: the one that stands
    /// behind the other is not less.
    fn put_in_order(&mut self, one: Loaded, other: Loaded) {
        let Some([(first, a), (second, b)]) = self.both(one, other) else { return };
        let ([left], [right]) = (first.indices.as_slice(), second.indices.as_slice()) else {
            return;
        };
        if self.promised.n_sorted == MAX_SORTED {
            return;
        }
        let [Some(mut outside), Some(others)] =
            [(first, one.1), (second, other.1)].map(|(element, side)| self.beyond(element, side))
        else {
            return;
        };
        self.promised.n_sorted += 1;
        outside.extend(others);
        let (left, right) = (self.on(one.1, left), self.on(other.1, right));
        for ([before, least], [behind, most]) in
            [([&left, &a], [&right, &b]), ([&right, &b], [&left, &a])]
        {
            let mut cases = vec![Formula::lt(behind, before), Formula::le(least, most)];
            cases.extend(outside.iter().cloned());
            self.system.assert(&Formula::Any(cases).replace(&|_| None));
        }
    }

    /// A loaded value is from inside of its tensor, or the pad.
    fn assert_pad_beyond(&mut self, element: &Element, (symbol, side): Loaded) {
        let Some(places) = self.places_in(element, side) else { return };
        let inside = places.iter().map(|(index, extent)| Formula::within(index, extent)).collect();
        let is_pad = Formula::eq(&self.unknown(symbol, side), &element.pad);
        let outside = Formula::Any(beyond(&places).collect()).and(is_pad);
        self.system.assert(&Formula::All(inside).or(outside).replace(&|_| None));
    }

    /// Two loaded values of one tensor, and where they were loaded; `None` where they are one.
    fn both(&mut self, one: Loaded, other: Loaded) -> Option<[(&'a Element, Poly); 2]> {
        let elements = &self.walk.elements;
        let (first, second) = (elements.get(&one.0)?, elements.get(&other.0)?);
        let [a, b] = [one, other].map(|(symbol, side)| self.unknown(symbol, side));
        (first.tensor == second.tensor && a != b).then_some([(first, a), (second, b)])
    }

    /// The cases in which a read is outside of its tensor.
    fn beyond(&mut self, element: &Element, side: Side) -> Option<Vec<Formula>> {
        Some(beyond(&self.places_in(element, side)?).collect())
    }

    /// Where a read is, and its tensor's extents, by axis.
    fn places_in(&mut self, element: &Element, side: Side) -> Option<Vec<(Poly, Poly)>> {
        let walk = self.walk;
        let extents = walk.kernel.extents(ArrayRef::Tensor(element.tensor));
        let mut places = Vec::new();
        for (index, extent) in element.indices.iter().zip(extents) {
            let index = self.on(side, index);
            let extent = walk.extents_of_arrays.get(extent)?;
            places.push((index, self.on(Side::First, extent)));
        }
        Some(places)
    }
}

/// The cases in which one of these is outside of its extent.
fn beyond(places: &[(Poly, Poly)]) -> impl Iterator<Item = Formula> {
    places.iter().flat_map(|(index, extent)| {
        [Formula::lt(index, &Poly::default()), Formula::le(extent, index)]
    })
}
