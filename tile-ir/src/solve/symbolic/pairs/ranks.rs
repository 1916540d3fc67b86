//! Numbers that work-items have of their own, put at other places one by one.
//!
//! A rank among the block's work-items, which a scan or a counter deals out, goes to
//! `(r & 3) * 32 + r / 4`: of `r` below 128 each has a place of its own. Of such a value,
//! made of one number by literals alone, the places are computed for each number that it
//! can be; where no two are the same, accesses meet only where the numbers are equal. Then
//! that is asked, which is short, in place of what is made of it.
//!
//! So it is beside whatever is a multiple of a number: of `place(t) + 64 * row`, with rows
//! that data decides, two are equal only where the places leave the same of 64.

use std::collections::BTreeSet;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Monomial, Poly, Unknown, gcd};
use super::super::terms::table::apply;
use super::super::walk::{Site, Walk};
use super::instance::{Builder, Meeting};

/// Most numbers for which a place is computed.
const MAX_NUMBERS: i128 = 4096;

/// Numbers of one index that are tried, and ends of each.
const MAX_TRIED: usize = 4;

/// Of how many parts of all effort the ends of a number take one.
const PART: u64 = 32;

impl Walk<'_> {
    /// Whether two accesses are disjoint since the numbers differ of which their indices
    /// are made.
    pub(in super::super) fn is_disjoint_by_ranks(
        &self,
        first: &Site,
        second: &Site,
        meeting: Meeting<'_>,
    ) -> bool {
        let Some(hands) = self.hands([first, second], meeting) else { return true };
        let mut equal: Vec<[Poly; 2]> = Vec::new();
        let mut has_rank = false;
        for (axis, (left, right)) in first.indices.iter().zip(&second.indices).enumerate() {
            let is_one = left == right;
            let sites = [first, second];
            let rank = || {
                let rank = self.rank(&hands, sites, axis);
                rank.or_else(|| self.odd_multiple(&hands, sites, axis))
            };
            let rank = if is_one { rank() } else { None };
            has_rank |= rank.is_some();
            equal.push(match rank {
                Some(rank) => [rank.clone(), rank],
                None => [left.clone(), right.clone()],
            });
        }
        has_rank
            && self.meeting_where([first, second], meeting, &equal).is_none_or(|builder| {
                let systems = builder.systems();
                systems.iter().all(|system| system.has_no_solution(&self.effort))
            })
    }

    /// Whether the indices of two accesses are one function of these numbers, of one each, and
    /// another place for each value that the numbers have there.
    pub(in super::super) fn have_places_of(
        &self,
        [first, second]: [&Site; 2],
        axis: usize,
        [one, other]: [&Poly; 2],
    ) -> bool {
        let place = |at: i128| {
            let left = self.at_number(&first.indices[axis], one, at)?;
            let right = self.at_number(&second.indices[axis], other, at)?;
            (left == right).then_some(left)
        };
        let end = || {
            let ends =
                (self.end_of_number(one, first, axis), self.end_of_number(other, second, axis));
            Some(ends.0?.max(ends.1?))
        };
        let mut seen = BTreeSet::new();
        place(0).is_some()
            && end()
                .is_some_and(|end| (0..end).all(|at| place(at).is_some_and(|at| seen.insert(at))))
    }

    /// The number that decides an index of both, each value of which has its own place.
    fn rank(&self, hands: &Builder<'_>, sites: [&Site; 2], axis: usize) -> Option<Poly> {
        let index = &sites[0].indices[axis];
        self.numbers_in(index).into_iter().find(|number| {
            let Some(own) = self.without_shared(hands, index, number) else { return false };
            let end = self.end_for_both(number, sites, axis);
            end.is_some_and(|end| self.has_own_places(&own, number, end))
        })
    }

    /// Below what a number lies where either access is made.
    pub(in super::super) fn end_for_both(
        &self,
        number: &Poly,
        sites: [&Site; 2],
        axis: usize,
    ) -> Option<i128> {
        sites.iter().try_fold(0, |end, site| {
            let site_end = self.end_of_number(number, site, axis)?;
            Some(site_end.max(end))
        })
    }

    /// The numbers that functions in an index are made of, with literals; the innermost first.
    pub(in super::super) fn numbers_in(&self, index: &Poly) -> Vec<Poly> {
        let mut out: Vec<Poly> = Vec::new();
        let mut open: Vec<Unknown> = index.unknowns().collect();
        while let Some(unknown) = open.pop() {
            let Some((_, lhs, rhs)) = self.function_of(unknown) else { continue };
            if lhs.as_constant().is_some() || lhs.is_lost() || out.len() >= MAX_TRIED {
                continue;
            }
            let sum = lhs.plus(-lhs.constant_term());
            for number in [lhs.clone(), sum.divided(sum.content())] {
                if !out.contains(&number) {
                    out.insert(0, number);
                }
            }
            open.extend(lhs.unknowns().chain(rhs.unknowns()));
        }
        out
    }

    /// What a number decides of an index, and a number of which all else is a multiple that
    /// both sides do not have in common: 0 where there is nothing else.
    fn without_shared(
        &self,
        hands: &Builder<'_>,
        index: &Poly,
        number: &Poly,
    ) -> Option<(Poly, i128)> {
        let times = times(index, number)?;
        let rest = index.sub(&number.scaled(times));
        let mut own = number.scaled(times);
        let mut modulus = 0;
        for (product, factor) in rest.terms() {
            let term = Poly::product(*product).scaled(*factor);
            if self.at_number(&term, number, 0).is_some() {
                own = own.add(&term);
            } else if !product.iter().all(|unknown| hands.is_shared(*unknown)) {
                modulus = gcd(modulus, *factor);
            }
        }
        (!rest.is_lost() && !own.is_lost() && modulus != 1).then_some((own, modulus))
    }

    /// Below what a number that is not negative lies where an access is made.
    fn end_of_number(&self, number: &Poly, site: &Site, axis: usize) -> Option<i128> {
        let extent = self.kernel.extents(site.array).get(axis)?;
        let extent = self.extents_of_arrays.get(extent).and_then(Poly::as_constant);
        let mut bounds = Vec::new();
        site.guards.iter().for_each(|guard| guard.collect_bounds(&mut bounds));
        let guarded = bounds.iter().filter_map(|bound| bound.add(number).as_constant());
        let mut ends: Vec<i128> = guarded.map(|last| last.saturating_add(1)).collect();
        ends.extend(extent.into_iter().chain(self.items()));
        ends.retain(|end| (1..=MAX_NUMBERS).contains(end));
        ends.sort_unstable();
        ends.dedup();
        let made = Formula::All(site.guards.clone());
        ends.truncate(MAX_TRIED);
        if let Some(end) =
            ends.iter().find(|end| self.lies_in_spans(site, number, &Poly::constant(**end)))
        {
            return Some(*end);
        }
        ends.into_iter().find(|end| {
            let beyond = Formula::lt(number, &Poly::default())
                .or(Formula::le(&Poly::constant(*end), number));
            self.effort.within_part(PART, || self.is_never(&made.clone().and(beyond)))
        })
    }

    /// How many work-items a block has, where that is a number.
    fn items(&self) -> Option<i128> {
        let last = |(_, axis): &(_, Unknown)| self.high(&Poly::unknown(*axis))?.checked_add(1);
        self.block.iter().flatten().try_fold(1_i128, |all, axis| all.checked_mul(last(axis)?))
    }

    /// Whether an index is a place below `end`, whatever the number is of which it is made.
    pub(in super::super) fn is_place_below(&self, site: &Site, axis: usize, end: &Poly) -> bool {
        let Some(end) = end.as_constant() else { return false };
        let index = &site.indices[axis];
        let is_place = |number: &Poly, at: i128| {
            self.at_number(index, number, at).is_some_and(|place| (0..end).contains(&place))
        };
        self.numbers_in(index).iter().any(|number| {
            is_place(number, 0)
                && self
                    .end_of_number(number, site, axis)
                    .is_some_and(|last| (0..last).all(|at| is_place(number, at)))
        })
    }

    /// Whether what a number below an end decides leaves something else for each.
    fn has_own_places(&self, (own, of): &(Poly, i128), number: &Poly, end: i128) -> bool {
        let mut seen = BTreeSet::new();
        let left = |place: i128| if *of == 0 { place } else { place.rem_euclid(*of) };
        (0..end).all(|at| self.at_number(own, number, at).is_some_and(|at| seen.insert(left(at))))
    }

    /// A value that a number decides, with literals alone, where that number is `at`.
    fn at_number(&self, value: &Poly, number: &Poly, at: i128) -> Option<i128> {
        let times = times(value, number)?;
        let mut sum = times.checked_mul(at)?;
        for (product, factor) in value.sub(&number.scaled(times)).terms() {
            let term = product.iter().try_fold(*factor, |term, unknown| {
                let (function, lhs, rhs) = self.function_of(*unknown)?;
                let [lhs, rhs] = [lhs, rhs].map(|side| self.at_number(side, number, at));
                term.checked_mul(apply(*function, lhs?, rhs?)?)
            });
            sum = sum.checked_add(term?)?;
        }
        (!value.is_lost()).then_some(sum)
    }
}

/// How often a number, that is none of literals, is part of a sum; `None` where parts of it
/// are alone.
pub(in super::super) fn times(sum: &Poly, number: &Poly) -> Option<i128> {
    let factor_of = |of: &Monomial| {
        let found = sum.terms().iter().find(|(product, _)| product == of);
        found.map_or(0, |(_, factor)| *factor)
    };
    let mut parts = number.terms().iter().filter(|(product, _)| !product.is_empty());
    let (first, factor) = parts.next()?;
    let own = factor_of(first);
    let times = (own % factor == 0).then_some(own / factor)?;
    let is_part = |(product, factor): &(Monomial, i128)| {
        factor.checked_mul(times).is_some_and(|part| times == 0 || factor_of(product) == part)
    };
    parts.all(is_part).then_some(times)
}
