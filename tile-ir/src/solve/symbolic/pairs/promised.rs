//! What the author says of all elements of a tensor that is never written: that no two are
//! equal, or that none is less than the one before it.
//!
//! Rows of a sparse matrix lie behind one another where their first elements are sorted: of
//! `for e in row[v]..row[v + 1]` no two work-items have an `e` in common, since of two rows
//! the one that comes later begins at `row[w]`, and `w` is `v + 1` or beyond it. Behind the
//! tensor's end is the pad: `row[v]..0` and `0..0` hold no place of a tensor.
//!
//! What is made of sorted elements by one monotone function is sorted as they are, and so is what
//! stands at places that are clamped in one way ([`super::super::terms::monotone`]): of
//! `row[min(v, n)] / 2` and `row[min(w, n)] / 2` the first is not less if `v` is not. Clamped into
//! the tensor, a place is outside of it only if the tensor has no elements.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::scans::prefix::single;
use super::super::terms::loaded::Element;
use super::super::terms::monotone::Step;
use super::super::terms::value::Function;
use super::instance::{Builder, Side};
use crate::kernel::{ArrayRef, Order};

/// Most pairs of loaded values that are told apart: each doubles the work.
const MAX_APART: usize = 4;

/// Most pairs of loaded values of sorted tensors that are compared.
const MAX_SORTED: usize = 8;

/// A loaded value, and who has loaded it.
type Loaded = (Unknown, Side);

/// A value of one side that is a monotone function of an element.
#[derive(Clone)]
struct Image {
    value: Unknown,
    side: Side,
    element: Unknown,
    steps: Vec<Step>,
}

/// Values of tensors of which something is promised.
#[derive(Default)]
pub(in super::super) struct Promised {
    /// Those that are mentioned.
    loaded: Vec<Loaded>,
    /// Of two elements that differ: the formula holds, or the pairs are equal.
    pub(in super::super) apart: Vec<(Formula, Vec<(Poly, Poly)>)>,
    n_sorted: usize,
    /// Those that are made of sorted elements.
    images: Vec<Image>,
    n_images: usize,
}

impl<'a> Builder<'a> {
    /// Adds what is promised of a loaded value and of those that have been mentioned.
    pub(in super::super) fn keep_promises(&mut self, symbol: Unknown, side: Side) {
        let walk = self.walk;
        let Some(element) = walk.elements.get(&symbol) else {
            return self.put_image_in_order(symbol, side);
        };
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
        if self.promised.n_sorted < MAX_SORTED
            && self.order_of([(first, one.1), (second, other.1)], [&a, &b])
        {
            self.promised.n_sorted += 1;
        }
    }

    /// The same of a value that is made of an element of a sorted tensor, and of those that are made
    /// so of other elements.
    fn put_image_in_order(&mut self, value: Unknown, side: Side) {
        let walk = self.walk;
        let Some(own) = self.image(value, side) else { return };
        let Some(of) = walk.elements.get(&own.element) else { return };
        if is_rounded(&own.steps) {
            self.assert_image_beyond(&own, of);
        }
        for other in self.promised.images.clone() {
            let Some(of_other) = walk.elements.get(&other.element) else { continue };
            let [a, b] = [&own, &other].map(|image| self.unknown(image.value, image.side));
            if other.steps == own.steps
                && of_other.tensor == of.tensor
                && a != b
                && self.promised.n_images < MAX_SORTED
                && self.order_of([(of, side), (of_other, other.side)], [&a, &b])
            {
                self.promised.n_images += 1;
            }
        }
        self.promised.images.push(own);
    }

    /// What a value is a monotone function of, if that is an element of a sorted tensor.
    fn image(&self, value: Unknown, side: Side) -> Option<Image> {
        let walk = self.walk;
        let sorted = || {
            let promises = walk.kernel.promises.iter();
            promises.filter(|of| matches!(of.order, Order::Sorted))
        };
        sorted().next()?;
        let (of, steps) = walk.monotone_of(&Poly::unknown(value), &|of| self.is_shared(of));
        let element = single(&of).filter(|_| !steps.is_empty())?;
        let tensor = walk.elements.get(&element)?.tensor;
        sorted().any(|of| of.tensor == tensor).then_some(Image { value, side, element, steps })
    }

    /// Whether a value is a quotient of an element that may be below 0, rounded towards 0: what is
    /// known of that has cases, and is left aside. That it is in order says what rows need.
    pub(in super::super) fn stands_for_element(&self, value: Unknown, side: Side) -> bool {
        let image = self.image(value, side);
        image.is_some_and(|image| {
            let is_natural = self.walk.is_natural(&Poly::unknown(image.element));
            !is_natural && is_rounded(&image.steps)
        })
    }

    /// The quotient of a loaded value is of one from inside of its tensor, or of a pad of 0.
    fn assert_image_beyond(&mut self, image: &Image, element: &Element) {
        let is_pad = match element.pad.as_constant() {
            Some(0) => Formula::Zero(self.unknown(image.value, image.side)),
            Some(_) | None => Formula::True,
        };
        self.assert_inside_or(element, image.side, is_pad);
    }

    /// Adds that of two values, which are made in one way of two elements of a sorted tensor, the
    /// one whose element stands behind the other is not less.
    fn order_of(
        &mut self,
        [(first, one), (second, other)]: [(&'a Element, Side); 2],
        [a, b]: [&Poly; 2],
    ) -> bool {
        let ([left], [right]) = (first.indices.as_slice(), second.indices.as_slice()) else {
            return false;
        };
        let [Some(mut outside), Some(others)] =
            [(first, one), (second, other)].map(|(element, side)| self.beyond(element, side))
        else {
            return false;
        };
        outside
            .extend(others.into_iter().filter(|case| !outside.contains(case)).collect::<Vec<_>>());
        // Of places that are clamped in one way those before that say which is before which.
        let [from, to] =
            [left, right].map(|at| self.walk.monotone_of(at, &|of| self.is_shared(of)));
        let (left, right) = match is_clamped(&from.1) && from.1 == to.1 {
            true => (&from.0, &to.0),
            false => (left, right),
        };
        let (left, right) = (self.on(one, left), self.on(other, right));
        for ([before, least], [behind, most]) in
            [([&left, a], [&right, b]), ([&right, b], [&left, a])]
        {
            let mut cases = vec![Formula::lt(behind, before), Formula::le(least, most)];
            cases.extend(outside.iter().cloned());
            self.system.assert(&Formula::Any(cases).replace(&|_| None));
        }
        true
    }

    /// A loaded value is from inside of its tensor, or the pad.
    fn assert_pad_beyond(&mut self, element: &Element, (symbol, side): Loaded) {
        let is_pad = Formula::eq(&self.unknown(symbol, side), &element.pad);
        self.assert_inside_or(element, side, is_pad);
    }

    /// A read is inside of its tensor, or this holds of what it gives.
    fn assert_inside_or(&mut self, element: &Element, side: Side, is_pad: Formula) {
        let Some(places) = self.places_in(element, side) else { return };
        let inside = places.iter().map(|(index, extent)| Formula::within(index, extent)).collect();
        let Some(outside) = self.beyond(element, side) else { return };
        let outside = Formula::Any(outside).and(is_pad);
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
        let places = self.places_in(element, side)?;
        match self.clamped_extent(element) {
            Some(extent) => {
                let extent = self.on(Side::First, extent);
                Some(vec![Formula::le(&extent, &Poly::default())])
            }
            None => Some(beyond(&places).collect()),
        }
    }

    /// The extent of a tensor of one axis, if an element's place is clamped into it, as far as it
    /// has elements.
    fn clamped_extent(&self, element: &Element) -> Option<&'a Poly> {
        let walk = self.walk;
        let [index] = element.indices.as_slice() else { return None };
        let [extent] = walk.kernel.extents(ArrayRef::Tensor(element.tensor)) else { return None };
        let extent = walk.extents_of_arrays.get(extent)?;
        let function = |of: &Poly| walk.function_of(single(of)?);
        let (Function::Max, one, other) = function(index)? else { return None };
        let (inner, zero) = if one.as_constant().is_some() { (other, one) } else { (one, other) };
        let (Function::Min, one, other) = function(inner)? else { return None };
        let last = extent.plus(-1);
        (zero.as_constant() == Some(0) && (*one == last || *other == last)).then_some(extent)
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

/// Whether something is clamped, and nothing else is done to it.
fn is_clamped(steps: &[Step]) -> bool {
    let is_clamp = |step: &Step| matches!(step, Step::Function(Function::Min | Function::Max, _));
    !steps.is_empty() && steps.iter().all(is_clamp)
}

/// Whether something is divided, and nothing else is done to it.
fn is_rounded(steps: &[Step]) -> bool {
    let is_quotient = |step: &Step| matches!(step, Step::Function(Function::Quotient, _));
    !steps.is_empty() && steps.iter().all(is_quotient)
}

/// The cases in which one of these is outside of its extent.
fn beyond(places: &[(Poly, Poly)]) -> impl Iterator<Item = Formula> {
    places.iter().flat_map(|(index, extent)| {
        [Formula::lt(index, &Poly::default()), Formula::le(extent, index)]
    })
}
