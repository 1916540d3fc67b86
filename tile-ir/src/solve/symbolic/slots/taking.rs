//! Numbers without a sign that stand for one below 0.
//!
//! `atomic n[0] += 0xffffffff` takes 1 from a counter of 32 bits, as `-= 1` does: where it is
//! made twice the counter has left its type, and come back. So no counter is taken to rise by
//! it, nor is a scan's sum. It is so of each literal beyond half of its type, and of what wraps
//! to such numbers, `1 - 2 * c` of a `c` that is 0 or 1.

use super::super::algebra::poly::Poly;
use super::super::scans::prefix::single;
use super::super::terms::integers::range_of;
use super::super::walk::Walk;
use crate::kernel::{ArrayRef, Type};

/// Choices one within the other that are looked into.
const MAX_CHOICES: u32 = 3;

impl Walk<'_> {
    /// Whether a counter leaves its type where each work-item of a block, of which the number is
    /// known, makes one update, or by two: then it comes by old values again.
    pub(super) fn leaves_type(&mut self, array: ArrayRef, step: &Poly) -> bool {
        let kernel = self.kernel;
        let ty = Type::Scalar(kernel.element_type(array));
        if self.may_take(step, ty) {
            return true;
        }
        let range = range_of(ty);
        let (Some(step), Some((_, max))) = (step.as_constant(), range) else { return false };
        let mut extents = kernel.block.iter().flatten().map(|axis| axis.extent);
        let items = extents
            .try_fold(1_i128, |all, extent| all.checked_mul(self.index(extent).as_constant()?));
        items.is_some_and(|items| step.checked_mul(items - 1).is_none_or(|last| last > max))
    }

    /// Whether a value of a type without a sign may be one that takes, by its text.
    pub(in super::super) fn may_take(&self, value: &Poly, ty: Type) -> bool {
        range_of(ty).is_some_and(|(min, max)| min == 0 && self.takes(value, (ty, max), MAX_CHOICES))
    }

    fn takes(&self, value: &Poly, (ty, max): (Type, i128), depth: u32) -> bool {
        if let Some(number) = value.as_constant() {
            return number > max / 2 + 1;
        }
        if let Some(exact) = self.before_wrapping(value, ty) {
            let beyond = self.high(&exact.negated());
            let is_below = beyond.is_some_and(|least| least > 0 && least <= max / 2);
            return is_below && self.high(&exact).is_some_and(|high| high <= max / 2);
        }
        let chosen = single(value).and_then(|choice| self.choices.get(&choice));
        chosen.is_some_and(|(_, then, otherwise)| {
            depth > 0 && [then, otherwise].iter().any(|arm| self.takes(arm, (ty, max), depth - 1))
        })
    }
}
