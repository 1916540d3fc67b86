//! Accesses that are disjoint by the digits of their indices.
//!
//! Of `64*x + j = 64*x' + j'` with `j, j'` in `0..64` both digits are equal; so they are of
//! `x*w + j` with `j` in `0..w`, where `w` is one size for both accesses, and what `x` and `j`
//! are made of may have digits again. Which products leave digits wherever an access is made,
//! the text tells ([`super::weighed`]). What is one for the launch on both sides is no part of
//! it. So is what both accesses know to be one number for the launch: that two work-items are
//! the last one of the grid says that all their digits are equal.
//!
//! To leave out what is known makes a system weaker: what is left of the meeting is asked with
//! bounds alone first.
//!
//! Where a guard says what a division leaves, as in `if i % 32 == 0 { d[i / 32] = …; }`, two
//! quotients are equal where what is divided is, and that is cut.

use super::super::algebra::poly::Poly;
use super::super::search::combined::multiplied_out;
use super::super::search::linear::Effort;
use super::super::search::refute_of_fractions;
use super::super::search::system::System;
use super::super::walk::{Site, Walk};
use super::instance::Meeting;
use super::weighed::Product;

/// Of how many parts of a kernel's effort a pair of accesses takes one at most.
const PART: u64 = 12;

/// Choices one within the other that are looked into before equalities are put in.
const MAX_DEPTH: usize = 3;

/// Digits of one index.
const MAX_CUTS: usize = 8;

/// Equalities that both accesses are under, and that are cut.
const MAX_ALIKE: usize = 4;

/// What is equal where two accesses meet, as each of them has it.
type Pair = [Poly; 2];

impl Walk<'_> {
    /// Whether two accesses are disjoint by the digits of their indices.
    pub(in super::super) fn is_disjoint_by_weights(
        &self,
        sites: [&Site; 2],
        meeting: Meeting<'_>,
    ) -> bool {
        let [first, second] = sites;
        let mut equal = Vec::new();
        let mut is_cut = false;
        for (left, right) in first.indices.iter().zip(&second.indices) {
            let mut digits = Vec::new();
            let mut found = self.cut(sites, [left.clone(), right.clone()], &mut digits);
            if !found && let Some(pair) = divided(sites, [left, right]) {
                digits.clear();
                found = self.cut(sites, pair, &mut digits);
            }
            is_cut |= found;
            equal.append(&mut digits);
        }
        for pair in alike(self, sites) {
            let mut digits = Vec::new();
            if self.cut(sites, pair, &mut digits) {
                is_cut = true;
                equal.append(&mut digits);
            }
        }
        if !is_cut {
            return false;
        }
        let is_made = |value: &Poly| value.unknowns().any(|of| self.choices.contains_key(&of));
        let is_plain = |value: &Poly| value.is_linear() && !is_made(value);
        let are_plain = equal.iter().flatten().all(is_plain);
        let builder = self.meeting_where([first, second], meeting, &equal);
        let Some(builder) = builder else { return true };
        self.effort.within_part(PART, || {
            builder.systems().iter().all(|system| {
                if system.has_evident_solution() {
                    return false;
                }
                let bounds = system.by_bounds();
                bounds.is_empty_in_each_case(&self.effort, MAX_DEPTH)
                    || refute_of_fractions(bounds, &self.effort)
                    || !are_plain && self.is_empty_of_digits(system)
            })
        })
    }

    /// Whether a system in which digits are equal has no solution.
    fn is_empty_of_digits(&self, system: &System) -> bool {
        system.with_plain_equalities().has_none_at_all(&self.effort)
    }

    /// Cuts two values that are equal into digits, as far as products of the text tell
    /// them. Whether there was one.
    fn cut(&self, sites: [&Site; 2], pair: Pair, equal: &mut Vec<Pair>) -> bool {
        let mut open = vec![pair];
        let mut cuts = 0;
        while let Some(pair) = open.pop() {
            let found = if cuts < MAX_CUTS { self.weights_of(sites, &pair) } else { None };
            let Some(([left, right], [our, their])) = found else {
                equal.push(pair);
                continue;
            };
            cuts += 1;
            open.push([our.rest(&left), their.rest(&right)]);
            open.push([our.times.clone(), their.times.clone()]);
        }
        cuts > 0
    }

    /// The products of one weight that leave digits of both values; of these what is one for
    /// the launch, and the same, may be left out, or a part of it.
    fn weights_of(&self, sites: [&Site; 2], pair: &Pair) -> Option<(Pair, [Product; 2])> {
        let alone = self.without_common(pair);
        let later = self.offsets().iter().filter_map(|offset| without_offset(pair, offset));
        let numbers = self.number_offsets();
        let behind = numbers.iter().filter_map(|offset| without_offset(pair, offset));
        let mut tried = std::iter::once(pair.clone()).chain(alone).chain(later).chain(behind);
        tried.find_map(|pair| {
            let [ours, theirs] = [0, 1].map(|at| self.digits(sites[at], &pair[at]));
            let found = ours.iter().rev().find_map(|our| {
                let their = theirs.iter().find(|their| their.weight == our.weight)?;
                Some([our.clone(), their.clone()])
            });
            Some((pair, found?))
        })
    }

    /// Two values without what is one for the launch, if that is the same, and no number.
    fn without_common(&self, [left, right]: &Pair) -> Option<Pair> {
        let common = self.part_of_launch(left);
        let is_common = common.as_constant().is_none() && common == self.part_of_launch(right);
        is_common.then(|| [left.sub(&common), right.sub(&common)])
    }

    /// What of a sum is one for the launch.
    fn part_of_launch(&self, value: &Poly) -> Poly {
        value.terms().iter().fold(Poly::default(), |part, (product, factor)| {
            match product.iter().all(|unknown| self.is_one_for_launch(*unknown)) {
                true => part.add(&Poly::product(*product).scaled(*factor)),
                false => part,
            }
        })
    }
}

/// What is equal where two values are that are made of quotients, if guards of both say what
/// the divisions leave.
fn divided(sites: [&Site; 2], values: [&Poly; 2]) -> Option<Pair> {
    let whole = |at: usize| {
        let mut zeros = Vec::new();
        sites[at].guards.iter().for_each(|guard| guard.collect_zeros(&mut zeros));
        multiplied_out(values[at], &zeros)
    };
    let ((ours, our), (theirs, their)) = (whole(0)?, whole(1)?);
    let rest = ours.constant_term();
    let common = if rest == theirs.constant_term() { rest } else { 0 };
    (our == their).then(|| [ours, theirs].map(|value| value.plus(-common)))
}

/// Two values without this, if it is a part of both: of each there is less of what it is made of.
fn without_offset(pair: &Pair, offset: &Poly) -> Option<Pair> {
    let is_part = |value: &Poly| {
        offset.terms().iter().all(|(product, factor)| {
            let own = value.terms().iter().find(|(own, _)| own == product);
            own.is_some_and(|(_, own)| own.signum() == factor.signum() && own.abs() >= factor.abs())
        })
    };
    pair.iter().all(is_part).then(|| [pair[0].sub(offset), pair[1].sub(offset)])
}

impl System {
    /// Whether it has no solution in each case of so many choices, as it stands.
    fn is_empty_in_each_case(&self, effort: &Effort, depth: usize) -> bool {
        let is_empty =
            self.contradictory || effort.spend(self.size()) && self.is_empty_of_fractions(effort);
        if is_empty || depth == 0 {
            return is_empty;
        }
        let shortest = (0..self.choices.len()).min_by_key(|at| self.choices[*at].len());
        shortest.is_some_and(|at| {
            let mut rest = self.clone();
            let parts = rest.choices.remove(at);
            parts.iter().all(|part| {
                let mut case = rest.clone();
                case.assert(part);
                case.is_empty_in_each_case(effort, depth - 1)
            })
        })
    }
}

/// What both accesses know to be one number for the launch, and the same.
fn alike(walk: &Walk<'_>, sites: [&Site; 2]) -> Vec<Pair> {
    let [ours, theirs] = sites.map(|site| {
        let mut zeros = Vec::new();
        site.guards.iter().for_each(|guard| guard.collect_zeros(&mut zeros));
        let parts = zeros.into_iter().filter(|zero| !zero.is_lost()).map(|zero| {
            let known = walk.part_of_launch(&zero);
            (zero.sub(&known), known)
        });
        parts.filter(|(part, _)| part.terms().len() > 1).collect::<Vec<_>>()
    });
    let pairs = ours.iter().flat_map(|(our, known)| {
        let same = theirs.iter().filter(move |(_, of)| of == known);
        same.flat_map(move |(their, _)| {
            let pair = [our.clone(), their.clone()];
            [pair.clone(), pair.map(|part| part.negated())]
        })
    });
    pairs.take(MAX_ALIKE).collect()
}
