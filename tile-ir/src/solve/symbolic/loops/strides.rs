//! Numbers that loops deal out in strides: `for p in (b..N).step_by(G) { … }`.
//!
//! Of `b + i*G` and `b' + i'*G` with `b, b' < G` radix shows that they are equal only where
//! `b = b'`: no two blocks have the same. What a kernel does with its number, taking it
//! apart into digits and putting them together anew, is another matter, and far easier to
//! follow where the number is one unknown than where it is a sum with a product. So the two
//! questions are asked one after the other: whether different hands have different
//! numbers; and whether, with numbers that differ, of which no more is known than what the
//! text says of them as a whole, they meet.
//!
//! That the number is an unknown of its own is a change of unknowns: one that stands in it
//! once, with the factor 1 or -1, is what the number leaves of it. What then still speaks
//! of the round is left out, which only makes the system weaker. Nothing here rests on what
//! the numbers are: products with sizes, wrapping and negative strides are what the facts
//! of the first question say of them.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::pairs::instance::{Builder, Meeting, Side};
use super::super::search::system::System;
use super::super::walk::{Site, Walk};

/// Numbers of one loop that are tried, on each side.
const MAX_TRIED: usize = 2;

/// Of how many parts of a kernel's effort each of the questions takes one at most.
const PART: u64 = 24;

/// What a variable is in an arbitrary round of a loop that goes on by the same each time.
#[derive(Debug)]
pub(in super::super) struct Stride {
    id: LoopId,
    /// The number of the round, from 0.
    round: Unknown,
    value: Poly,
}

/// A number as one side has it.
struct Number {
    value: Poly,
    low: Option<i128>,
    /// The round that it is of.
    round: Poly,
}

impl Walk<'_> {
    /// Notes what a variable is in a round, if each goes on by a stride.
    pub(in super::super) fn note_stride(&mut self, (id, round): (LoopId, Unknown), value: &Poly) {
        let is_stride = value.terms().iter().any(|(product, factor)| {
            product.contains(&round) && (product.len() > 1 || factor.abs() > 1)
        });
        if self.recording && is_stride && !value.is_lost() {
            self.strides.push(Stride { id, round, value: value.clone() });
        }
    }

    /// The numbers of the outermost loop around an access that deals some out.
    fn strides_around(&self, site: &Site) -> Vec<&Stride> {
        let has_some = |id: &&LoopId| self.strides.iter().any(|stride| stride.id == **id);
        let Some(outermost) = site.loops.iter().find(has_some) else { return Vec::new() };
        self.strides.iter().filter(|stride| stride.id == *outermost).take(MAX_TRIED).collect()
    }

    /// Whether two accesses are disjoint since different hands have different numbers.
    pub(in super::super) fn is_disjoint_by_numbers(
        &self,
        first: &Site,
        second: &Site,
        meeting: Meeting<'_>,
    ) -> bool {
        let (ours, theirs) = (self.strides_around(first), self.strides_around(second));
        ours.iter().any(|one| {
            theirs.iter().any(|other| {
                let asked = ([first, second], [*one, *other], meeting);
                self.effort.within_part(PART, || self.have_own_numbers(asked))
                    && self.effort.within_part(PART, || self.never_meet_at(asked))
            })
        })
    }

    /// Whether different hands have different numbers.
    fn have_own_numbers(
        &self,
        (sites, strides, meeting): ([&Site; 2], [&Stride; 2], Meeting<'_>),
    ) -> bool {
        let Some(mut builder) = self.hands(sites, meeting) else { return true };
        builder.assert_equal(&strides[0].value, &strides[1].value);
        builder.systems().iter().all(|system| system.has_no_solution(&self.effort))
    }

    /// Whether the accesses are of different elements where the numbers differ.
    fn never_meet_at(
        &self,
        (sites, strides, meeting): ([&Site; 2], [&Stride; 2], Meeting<'_>),
    ) -> bool {
        let Some(mut builder) = self.colliding(sites, meeting) else { return true };
        let numbers = [(Side::First, strides[0]), (Side::Second, strides[1])]
            .map(|(side, stride)| builder.number(side, stride));
        builder.systems().into_iter().all(|system| {
            let system = system.with_numbers(&numbers);
            system.is_some_and(|system| system.has_no_solution(&self.effort))
        })
    }
}

impl Builder<'_> {
    fn number(&mut self, side: Side, stride: &Stride) -> Number {
        let walk = self.walk;
        let round = Poly::unknown(stride.round);
        let low = walk.symbols.low(&stride.value);
        Number { value: self.on(side, &stride.value), low, round: self.on(side, &round) }
    }
}

impl System {
    /// The same system, in which two numbers that differ are unknowns of their own, and
    /// nothing speaks of the rounds; `None` where one cannot be.
    fn with_numbers(mut self, [first, second]: &[Number; 2]) -> Option<Self> {
        let numbers = [first, second];
        let rounds: Vec<Unknown> =
            numbers.iter().flat_map(|number| number.round.unknowns()).collect();
        // What both are made of is no more the one's than the other's.
        let own = |value: &Poly, other: &Poly| {
            once_in(value).find(|unknown| !rounds.contains(unknown) && !other.mentions(*unknown))
        };
        let replaced = [own(&first.value, &second.value)?, own(&second.value, &first.value)?];
        let known = numbers.iter().flat_map(|number| number.value.unknowns()).max();
        let next = self.unused().max(known?.checked_add(1))?;
        let names = [Poly::unknown(next), Poly::unknown(next.checked_add(1)?)];
        for ((number, unknown), name) in numbers.iter().zip(replaced).zip(&names) {
            let factor = number.value.cofactor(unknown).as_constant()?;
            let rest = number.value.sub(&Poly::unknown(unknown).scaled(factor));
            // value = name, so the unknown is what is left of it.
            self.replace(unknown, &name.sub(&rest).scaled(factor));
            number
                .low
                .iter()
                .for_each(|low| self.assert_at_least(&name.plus(low.saturating_neg())));
        }
        self.forget(&rounds);
        let [one, other] = &names;
        self.assert(&Formula::ne(one, other));
        Some(self)
    }

    /// Leaves out what speaks of these.
    fn forget(&mut self, unknowns: &[Unknown]) {
        let is_free = |poly: &Poly| !unknowns.iter().any(|unknown| poly.mentions(*unknown));
        self.retain(&is_free);
    }
}

/// The unknowns that a value has in one term alone, with the factor 1 or -1.
fn once_in(value: &Poly) -> impl Iterator<Item = Unknown> {
    value.terms().iter().filter_map(|(product, factor)| {
        let ([unknown], 1 | -1) = (product.as_slice(), *factor) else { return None };
        let once = value.unknowns().filter(|other| other == unknown).count() == 1;
        once.then_some(*unknown)
    })
}
