//! Whether a system of polynomial constraints has no integer solution.
//!
//! A search over cases, each closed by the linear test ([`self::linear`]) in
//! which every product of unknowns is an unknown of its own. What makes products
//! tractable is one rule. Let an equality be `C * f + rest = 0`, where `f` is an
//! unknown and the cofactor `C` is not constant; let `D` be `C` without the number
//! and the unknowns that all its products have in common. An integer `D` is 0, at
//! least 1, or at most -1. In the first case `C * f` vanishes. In the second,
//! `(D - 1) * m >= 0` holds for every product `m` of unknowns that are not
//! negative, so that `D * f >= f` meets whatever bounds `rest` by `f`; the third
//! is its mirror image. With `0 <= r, r' < f`, for instance, `q*f + r = q'*f + r'`
//! leaves only `q = q'`, then `r = r'`: row-major indices of any rank and any
//! extents are this rule, applied once for each axis.
//!
//! Of a system of which a solution is found at once ([`self::evident`]) there is nothing to
//! prove. Sizes are counted from others where products are shorter then ([`self::beyond`]). Before
//! unknowns are replaced, equalities whose factors differ in weight are cut into digits
//! ([`self::radix`], [`self::digits`]). What need not be asked is not ([`self::unneeded`]).
//!
//! Everything asserted is a consequence of the system or one of cases that
//! together cover it. Hence a positive answer is a proof. A negative one says
//! only that no proof was found within [`MAX_TESTS`].

mod at_least;
mod beyond;
mod by_sums;
pub(super) mod combined;
mod digits;
mod equality;
mod evident;
pub(super) mod linear;
pub(super) mod model;
mod radix;
pub(super) mod ranges;
mod reduce;
mod simplex;
mod sized;
mod spared;
pub(super) mod system;
mod told_flags;
mod unneeded;
pub(super) mod whole_point;

use self::linear::Effort;
use self::system::System;
use super::algebra::formula::Formula;
use super::algebra::poly::Poly;

/// Linear tests spent on one system.
const MAX_TESTS: u32 = 160;

/// The part of a kernel's effort, one of so many, that a search takes before it is asked
/// whether there are digits, and then the first one by their names.
const SHORT_PART: u64 = 64;

/// The part that one without their names takes before all is left to them.
const PLAIN_PART: u64 = 8;

/// Of how many numbers it is asked last which of two others they are, where that is of use.
const MANY_ALTERNATIVES: usize = 3;

/// Nested cases.
const MAX_DEPTH: u32 = 12;

impl System {
    /// Whether no integers fulfil all constraints; `false` where that could not
    /// be shown.
    pub(super) fn has_no_solution(&self, effort: &Effort) -> bool {
        match effort.is_spent() {
            true => self.is_refuted_at_once(effort),
            false => !self.has_evident_solution() && self.is_refuted(effort),
        }
    }

    /// The same, where it may be asked of what is multiplied whether it is positive.
    pub(super) fn has_none_at_all(&self, effort: &Effort) -> bool {
        if effort.is_spent() {
            return self.is_refuted_at_once(effort);
        }
        !self.has_evident_solution()
            && (self.is_refuted(effort)
                || self.is_refuted_by_factors(effort)
                || self.is_refuted_by_spared_factor(effort))
    }

    /// Whether that is seen without a search, when nothing is left for one.
    fn is_refuted_at_once(&self, effort: &Effort) -> bool {
        if effort.is_spent_beyond() {
            return false;
        }
        let is_settled = |mut system: Self| {
            while system.count_from_another() {}
            system.settle();
            effort.spend_beyond(system.take_work());
            system.contradictory
        };
        is_settled(self.clone()) || self.with_digits().is_some_and(is_settled)
    }

    fn is_refuted(&self, effort: &Effort) -> bool {
        let prove = |system| Search::new(effort).refute(system, MAX_DEPTH);
        let (is_refuted, is_cut_short) =
            effort.within_part(SHORT_PART, || (prove(self.clone()), effort.is_spent()));
        if is_refuted {
            return true;
        }
        if effort.is_spent() {
            return self.is_refuted_at_once(effort);
        }
        let plain = || is_cut_short && prove(self.clone());
        let by_digits = match self.with_digits() {
            // Where products are long, the search by them alone would leave nothing for digits.
            Some(digits) => {
                let short = || effort.within_part(SHORT_PART, || prove(digits.clone()));
                short() || effort.within_part(PLAIN_PART, plain) || prove(digits)
            }
            None => plain(),
        };
        let later =
            || Search { defers: true, ..Search::new(effort) }.refute(self.clone(), MAX_DEPTH);
        by_digits || self.has_many_alternatives() && effort.within_part(PLAIN_PART, later)
    }

    /// Whether it is said of several numbers which of two others each of them is, and there are
    /// choices of more.
    fn has_many_alternatives(&self) -> bool {
        let n_alternatives = self.choices.iter().filter(|parts| is_alternative(parts)).count();
        n_alternatives >= MANY_ALTERNATIVES && self.choices.iter().any(|parts| parts.len() > 2)
    }

    fn is_refuted_by_spared_factor(&self, effort: &Effort) -> bool {
        let system = self.with_spared_factor();
        system.is_some_and(|system| effort.within_part(PLAIN_PART, || system.is_refuted(effort)))
    }

    fn is_refuted_by_factors(&self, effort: &Effort) -> bool {
        let system = self.with_factors();
        system.is_some_and(|system| Search::new(effort).refute(system, MAX_DEPTH))
    }
}

/// Whether a choice only tells which of two is larger: of products that speak of both it is
/// of use where other choices have brought them together.
fn is_order(parts: &[Formula]) -> bool {
    parts.iter().all(|part| matches!(part, Formula::AtLeast(_)))
}

/// Whether a choice only tells whether an unknown is 0 or 1, which bounds say of it already: of
/// many flags most do not matter, and others are decided by what is.
pub(super) fn is_flag(parts: &[Formula]) -> bool {
    let [Formula::All(one), Formula::All(other)] = parts else { return false };
    let numbers_in = |parts: &[Formula]| -> Vec<(Poly, i128)> {
        let zeros = parts.iter().filter_map(|part| match part {
            Formula::Zero(zero) => number_of(zero),
            _ => None,
        });
        zeros.collect()
    };
    let others = numbers_in(other);
    let is_other = |(flag, number): (Poly, i128)| others.contains(&(flag, 1 - number));
    numbers_in(one).into_iter().any(is_other)
}

/// Whether a choice tells which of two numbers another one is, as of the smaller one: its bounds
/// may be all that matters.
fn is_alternative(parts: &[Formula]) -> bool {
    matches!(parts, [Formula::Zero(_), Formula::Zero(_)])
}

/// The unknown that an equality says to be 0 or 1, and which of these it is.
fn number_of(zero: &Poly) -> Option<(Poly, i128)> {
    let third = zero.constant_term();
    let rest = zero.plus(-third);
    let (own, number) = match rest.terms() {
        [(product, 1)] if product.len() == 1 => (rest, -third),
        [(product, -1)] if product.len() == 1 => (rest.negated(), third),
        _ => return None,
    };
    (0..=1).contains(&number).then_some((own, number))
}

/// Whether no integers fulfil all constraints of a system, by tests that know nothing of whole
/// numbers but what equalities say of them.
pub(super) fn refute_of_fractions(system: System, effort: &Effort) -> bool {
    Search { of_fractions: true, ..Search::new(effort) }.refute(system, MAX_DEPTH)
}

/// Whether a formula is made of bounds alone.
pub(super) fn is_of_bounds(formula: &Formula) -> bool {
    match formula {
        Formula::AtLeast(_) => true,
        Formula::Any(parts) => parts.iter().all(is_of_bounds),
        Formula::True | Formula::False | Formula::Unknown | Formula::Zero(_) | Formula::All(_) => {
            false
        }
    }
}

/// A search with what is left of its budget.
struct Search<'a> {
    tests: u32,
    effort: &'a Effort,
    of_fractions: bool,
    /// Whether it is asked last which of two numbers another one is.
    defers: bool,
}

impl<'a> Search<'a> {
    fn new(effort: &'a Effort) -> Self {
        Self { tests: MAX_TESTS, effort, of_fractions: false, defers: false }
    }

    fn is_empty(&mut self, system: &System) -> bool {
        if system.contradictory || system.is_out_of_range() {
            return true;
        }
        if self.tests == 0 || !self.effort.spend(system.size()) {
            return false;
        }
        self.tests -= 1;
        match self.of_fractions {
            true => system.is_empty_of_fractions(self.effort),
            false => system.is_linearly_empty(self.effort),
        }
    }

    fn refute(&mut self, mut system: System, depth: u32) -> bool {
        while system.count_from_another() {}
        loop {
            system.settle();
            let goes_on = self.effort.spend(system.take_work());
            if system.contradictory || !goes_on {
                return system.contradictory;
            }
            if system.prune()
                || system.tell_flags()
                || system.leave_out_choice()
                || system.shift_size()
                || system.turn_negative()
                || system.name_digits()
            {
                continue;
            }
            if self.is_empty(&system) {
                return true;
            }
            if system.is_to_compare() {
                break;
            }
            if let Some(split) = self.forced(&system) {
                system = system.with_zero(&split);
            } else if !self.size_factors(&mut system) {
                break;
            }
        }
        if depth == 0 || self.tests == 0 {
            return false;
        }
        let smallest = (0..system.choices.len()).min_by_key(|at| {
            let parts = &system.choices[*at];
            let is_late = is_flag(parts) || self.defers && is_alternative(parts);
            (is_late, parts.len(), !system.decides_sign(parts), is_order(parts))
        });
        // Of squares little is left once it is known which of two is larger; who is in which
        // hands is asked of what they leave.
        let is_late =
            |at: &usize| system.is_to_compare() && system.choices[*at].iter().all(is_of_bounds);
        let (late, first) = (smallest.filter(is_late), smallest.filter(|at| !is_late(at)));
        if first.is_none()
            && let Some(cases) = system.next_comparison()
        {
            // Of many products elimination costs more.
            return cases.into_iter().all(|case| {
                case.is_empty_of_fractions(self.effort) || self.refute(case, depth - 1)
            });
        }
        if let Some(at) = first.or(late) {
            let parts = system.choices.remove(at);
            return parts.iter().all(|part| self.refute(system.in_case(part), depth - 1));
        }
        if system.combine_equalities() {
            return self.refute(system, depth - 1);
        }
        if system.is_beyond_zero(self.effort) {
            return true;
        }
        if system.bound_products() && self.is_empty(&system) {
            return true;
        }
        // By now more is known than where they were asked about.
        if system.ask_again() && (self.size_factors(&mut system) | system.multiply_decided()) {
            return self.refute(system, depth - 1);
        }
        let open = system.splits().into_iter().chain(system.vanishing());
        let Some(split) = open.into_iter().find(|split| !system.is_decided(split)) else {
            return false;
        };
        let mut cases = [
            system.with_positive(&split),
            system.with_positive(&split.negated()),
            system.with_zero(&split),
        ];
        if system.asked.is_some() {
            cases.iter_mut().for_each(|case| {
                case.multiply_decided();
            });
        }
        cases.into_iter().all(|case| self.refute(case, depth - 1))
    }

    /// Finds out which factors are positive; whether there is one.
    fn size_factors(&mut self, system: &mut System) -> bool {
        for factor in system.unsized_factors() {
            system.note_asked(&factor);
            for factor in [factor.negated(), factor] {
                let mut rest = system.without_positive(&factor);
                rest.settle();
                if self.effort.spend(rest.take_work()) && self.is_empty(&rest) {
                    system.set_positive(&factor);
                    return true;
                }
            }
        }
        false
    }

    /// A split of which only the case 0 is possible.
    fn forced(&mut self, system: &System) -> Option<Poly> {
        system.splits().into_iter().find(|split| {
            !system.is_decided(split) && {
                let mut above = system.with_positive(split);
                above.settle();
                self.effort.spend(above.take_work()) && self.is_empty(&above) && {
                    let mut below = system.with_positive(&split.negated());
                    below.settle();
                    self.effort.spend(below.take_work()) && self.is_empty(&below)
                }
            }
        })
    }
}
