//! Choices between two elements of one tensor that are one where the first is taken.
//!
//! A read by `#[edge(clamp)]` is a choice: `a[i]` where `i` is inside, else `a[max(min(i, n - 1),
//! 0)]`. But inside both are one element, so that it is the second in either case. Of a tensor whose
//! elements are sorted, the order of what is read then follows from the order of the places.
//!
//! # What it rests on
//!
//! - The tensor is never written, so that an element is a function of its place.
//! - That no two places differ where the condition holds is proved.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::Poly;
use super::super::scans::prefix::single;
use super::super::walk::Walk;
use crate::kernel::Order;

impl Walk<'_> {
    /// The element of a sorted tensor that a choice between two of its elements is in any case.
    pub(in super::super) fn same_element(
        &self,
        cond: &Cond,
        then: &Poly,
        otherwise: &Poly,
    ) -> Option<Poly> {
        let promises = &self.kernel.promises;
        if !promises.iter().any(|promise| matches!(promise.order, Order::Sorted)) {
            return None;
        }
        let [one, other] = [then, otherwise].map(|of| self.elements.get(&single(of)?));
        let (one, other) = (one?, other?);
        let is_sorted = promises
            .iter()
            .any(|promise| promise.tensor == one.tensor && matches!(promise.order, Order::Sorted));
        if !is_sorted || one.tensor != other.tensor || one.pad != other.pad {
            return None;
        }
        let places = one.indices.iter().zip(&other.indices);
        let differ = places.map(|(one, other)| Formula::ne(one, other)).collect();
        let differ = cond.yes.clone().and(Formula::Any(differ).folded());
        self.is_never(&differ).then(|| otherwise.clone())
    }
}
