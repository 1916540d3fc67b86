//! Numbers from which a loop takes the lowest bit each time: `while m != 0 { …; m &= m - 1; }`.
//!
//! After `n` iterations such a number has `n` ones fewer than before the loop, or is 0. So where
//! an iteration begins with a one, no more have been made than there were ones, but for this: what
//! is counted beside, `j += 1`, is below that.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::scans::prefix::single;
use super::super::terms::integers::range_of;
use super::super::terms::value::Function;
use super::super::walk::Walk;
use crate::kernel::Type;
use crate::op::MathFn;

impl Walk<'_> {
    /// Says of a number that was `first` before a loop, is `at` where an iteration starts and
    /// `end` after it, how many ones it has, if each iteration takes the lowest.
    pub(super) fn note_bit_by_bit(
        &mut self,
        (id, ty): (LoopId, Type),
        (first, at, end): (&Poly, Unknown, &Poly),
    ) {
        let Some((0, max)) = range_of(ty) else { return };
        let own = Poly::unknown(at);
        let function = single(end).and_then(|unknown| self.function_of(unknown));
        let Some((Function::And, value, less)) = function else { return };
        if first.is_lost() || *value != own || !self.is_one_less(less, value) {
            return;
        }
        let (head, number) = (self.all_loops[id.0].head, self.all_loops[id.0].number);
        let width = i128::from(max.count_ones());
        let [before, now] =
            [first, &own].map(|of| self.count_of_bits(MathFn::CountOnes, (of, width), head));
        let number = Poly::unknown(number);
        let is_gone = Formula::Zero(own.clone()).and(Formula::le(&before, &number));
        let is_left = Formula::All(vec![
            Formula::AtLeast(own.plus(-1)),
            Formula::AtLeast(now.plus(-1)),
            Formula::eq(&now.add(&number), &before),
        ]);
        self.symbols.add_facts(at, is_gone.or(is_left));
    }
}
