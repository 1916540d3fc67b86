//! Numbers without a sign that stand for one below 0, and numbers too large to be added up.
//!
//! `atomic n[0] += 0xffffffff` takes 1 from a counter of 32 bits, as `-= 1` does: where it is
//! made twice the counter has left its type, and come back. So no counter is taken to rise by
//! it, nor is a scan's sum. It is so of each literal beyond half of its type, and of what the text
//! makes of a number that may be below 0, which in its type is a large one: `row[v + 1] - row[v]` of
//! rows that nobody says are sorted, `1 - 2 * c` of a `c` that is 0 or 1, `p as u32` of a `p: i32`.
//! What is loaded is taken as it is: a length may be as large as its type has it, but is none that
//! stands for one below 0; where the kernel itself has stored it, [`super::super::terms::kept_below`]
//! tells.
//!
//! Of numbers in the text it is known how many fit: a block of 64 that adds 2^27 comes round.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::scans::prefix::single;
use super::super::terms::integers::range_of;
use super::super::terms::value::Function;
use super::super::walk::Walk;
use crate::kernel::{ArrayRef, ExprId, Type};

/// Choices one within the other that are looked into.
const MAX_CHOICES: u32 = 3;

/// Most work-items of a block (CUDA C++ Programming Guide, compute capabilities).
const MAX_ITEMS: i128 = 1024;

impl Walk<'_> {
    /// Whether a counter leaves its type where each work-item of a block makes one update, or by
    /// two: then it comes by old values again.
    pub(super) fn leaves_type(&mut self, array: ArrayRef, step: &Poly) -> bool {
        let ty = Type::Scalar(self.kernel.element_type(array));
        self.kept_below.note_asked();
        self.may_take(step, ty) || self.adds_too_much(step, ty)
    }

    /// Whether a number of the text is so large that a type has not the sum of those of a block.
    pub(in super::super) fn adds_too_much(&mut self, step: &Poly, ty: Type) -> bool {
        let Some((_, max)) = range_of(ty) else { return false };
        let Some(step) = self.number_in_text(step, MAX_CHOICES) else { return false };
        let extents: Vec<ExprId> = self.kernel.block.iter().flatten().map(|of| of.extent).collect();
        let items = extents.into_iter().try_fold(1_i128, |items, extent| {
            let extent = self.index(extent);
            items.checked_mul(self.high(&extent)?)
        });
        let items = items.map_or(MAX_ITEMS, |items| items.min(MAX_ITEMS));
        step.checked_mul(items - 1).is_none_or(|last| last > max)
    }

    /// The largest number that a choice of numbers is.
    fn number_in_text(&self, value: &Poly, depth: u32) -> Option<i128> {
        if let Some(number) = value.as_constant() {
            return Some(number);
        }
        let (_, then, otherwise) = self.choice_of(single(value)?)?;
        let depth = depth.checked_sub(1)?;
        let arms = [then, otherwise].map(|arm| self.number_in_text(arm, depth));
        Some(arms[0]?.max(arms[1]?))
    }

    /// Whether a value of a type without a sign may be one that takes, by its text.
    pub(in super::super) fn may_take(&self, value: &Poly, ty: Type) -> bool {
        let has_no_sign = range_of(ty).filter(|(min, _)| *min == 0);
        has_no_sign
            .is_some_and(|(_, max)| self.takes(value, (&Formula::True, max, ty), MAX_CHOICES))
    }

    /// The same `under` a condition.
    fn takes(&self, value: &Poly, (under, max, ty): (&Formula, i128, Type), depth: u32) -> bool {
        if let Some(number) = value.as_constant() {
            return number > max / 2 + 1;
        }
        let is_found = |part: Unknown| self.kept_below.is_found(part);
        value.unknowns().any(|part| {
            if is_found(part) {
                return self.may_be_large(value, ty, under);
            }
            if let Some((cond, then, otherwise)) = self.choice_of(part) {
                let Some(depth) = depth.checked_sub(1) else { return false };
                let arms = [(&cond.yes, then), (&cond.no, otherwise)];
                return arms.into_iter().any(|(holds, arm)| {
                    self.takes(arm, (&under.clone().and(holds.clone()), max, ty), depth)
                });
            }
            match self.function_of(part) {
                Some((Function::UnsignedTurns, exact, _)) => {
                    (exact.unknowns().any(is_found) || self.may_be_below(exact, under))
                        && self.may_be_large(value, ty, under)
                }
                _ => false,
            }
        })
    }

    /// Whether a value may be below 0 where the walk is, under a condition.
    fn may_be_below(&self, exact: &Poly, under: &Formula) -> bool {
        let below = Formula::lt(exact, &Poly::default()).and(under.clone());
        !self.is_natural(exact)
            && !self.is_never(&below)
            && !self.is_never_here(exact, below.clone())
    }
}
