//! The one work-item, or the one coordinate along an axis, that conditions leave.
//!
//! `if ty == 0 && tx == 3` says each coordinate. So does `if ty * 32 + tx == 35` of a block whose
//! rows have 32 work-items, since each number has one pair of coordinates; and with `== 0` whatever
//! the length of a row is, since of naturals a sum is 0 where all of them are.

use std::collections::BTreeMap;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::walk::Walk;

impl Walk<'_> {
    /// The coordinates of the one work-item of a block that the conditions around leave.
    pub(in super::super) fn picked_item(&self) -> Option<BTreeMap<Unknown, Poly>> {
        let axes = self.block.as_ref()?.iter();
        axes.map(|(_, axis)| Some((*axis, self.fixed_at(*axis)?))).collect()
    }

    /// The one coordinate that the conditions around leave of an axis.
    pub(in super::super) fn fixed_at(&self, axis: Unknown) -> Option<Poly> {
        self.fixed_by(&self.guards, axis)
    }

    /// The one coordinate that conditions leave of an axis.
    pub(in super::super) fn fixed_by(&self, guards: &[Formula], axis: Unknown) -> Option<Poly> {
        let mut fixed = Vec::new();
        guards.iter().for_each(|guard| guard.collect_zeros(&mut fixed));
        let own = Poly::unknown(axis);
        let values = fixed.iter().flat_map(|zero| [own.sub(zero), own.add(zero)]);
        let said = values.into_iter().find(|value| self.is_agreed(value));
        said.or_else(|| fixed.iter().find_map(|zero| self.told_by_number(zero, axis)))
    }

    /// The coordinate that a work-item has along an axis where this is 0, the difference of its
    /// number and a literal.
    fn told_by_number(&self, zero: &Poly, axis: Unknown) -> Option<Poly> {
        let both = [zero.clone(), zero.negated()];
        let zero = both.into_iter().find(|zero| {
            let mut factors = zero.terms().iter().filter(|(product, _)| !product.is_empty());
            !zero.is_lost() && factors.all(|(_, factor)| *factor > 0)
        })?;
        match zero.constant_term() {
            0 => self.is_told_to_be_0(&zero, axis).then(Poly::default),
            rest => self.digit(&zero, rest.checked_neg()?, axis).map(Poly::constant),
        }
    }

    /// Whether a coordinate is 0 where a sum of naturals is.
    fn is_told_to_be_0(&self, sum: &Poly, axis: Unknown) -> bool {
        let is_at_least = |unknown: &Unknown, least: i128| {
            self.symbols.low(&Poly::unknown(*unknown)).is_some_and(|low| low >= least)
        };
        let mut terms = sum.terms().iter();
        let are_natural =
            terms.clone().all(|(product, _)| product.iter().all(|unknown| is_at_least(unknown, 0)));
        let is_own = |product: &[Unknown]| {
            let others = product.iter().filter(|unknown| **unknown != axis);
            product.contains(&axis) && others.into_iter().all(|unknown| is_at_least(unknown, 1))
        };
        are_natural && terms.any(|(product, _)| is_own(product.as_slice()))
    }

    /// The coordinate along an axis of the work-item of this number, where factors and extents
    /// are literals, and each number is one work-item's.
    fn digit(&self, sum: &Poly, number: i128, axis: Unknown) -> Option<i128> {
        let axes = self.block.as_ref()?;
        let terms = sum.terms().iter().filter(|(product, _)| !product.is_empty());
        let digits = terms.map(|(product, factor)| {
            let [of] = product.as_slice() else { return None };
            let is_axis = axes.iter().any(|(_, axis)| axis == of);
            let last = self.high(&Poly::unknown(*of)).filter(|_| is_axis)?;
            Some((*factor, last, *of))
        });
        let mut digits: Vec<(i128, i128, Unknown)> = digits.collect::<Option<_>>()?;
        digits.sort_unstable();
        let all = digits.iter().try_fold(0_i128, |below, (factor, last, _)| {
            let next = below.checked_add(factor.checked_mul(*last)?)?;
            (below < *factor).then_some(next)
        })?;
        if !(0..=all).contains(&number) {
            return None;
        }
        let (mut rest, mut found) = (number, None);
        for (factor, last, of) in digits.iter().rev() {
            let digit = rest / factor;
            rest %= factor;
            if digit > *last {
                return None;
            }
            if *of == axis {
                found = Some(digit);
            }
        }
        found.filter(|_| rest == 0)
    }
}
