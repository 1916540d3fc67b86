//! Accesses that are disjoint since those of each block, or of each work-item, lie between bounds
//! of its own.
//!
//! A tiled merge has block `g` write `min(g * c, n)..min((g + 1) * c, n)`, piece by piece, and of
//! each piece a work-item its share, up to the smaller of two ends: of two accesses that is all
//! cases of one times all cases of the other. But the case of one access decides nothing about
//! the other one. So bounds are looked for that are made of less, as of a block's number alone:
//! what counters and smaller ends are at least and at most is put in for them, one after the
//! other. Of each bound it is asked, of one access alone, whether its index ever lies beyond;
//! and then, of all that is known of the bounds alone, whether those of two different hands let
//! both be in one place.
//!
//! How a bound was found is of no matter, since it is proved of each access that it is one. What
//! is asked last then follows from a collision, and where it has no solution there is none.

use std::collections::BTreeSet;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown, gcd};
use super::super::algebra::symbol::{LoopId, Sharing};
use super::super::terms::value::Function;
use super::super::walk::{Site, Walk};
use super::instance::{Builder, Meeting, Side, copy_of};

/// Of how many parts of a kernel's effort a pair of accesses takes one at most.
const PART: u64 = 12;

/// Of how many parts the question about bounds of two accesses takes one at most.
const PAIR_PART: u64 = 24;

/// Of how many parts the question about one bound takes one at most.
const BOUND_PART: u64 = 64;

/// Sums on the way to bounds that are looked at.
const MAX_SUMS: usize = 48;

/// Bounds to one side that are asked about.
const MAX_ASKED: usize = 4;

/// Bounds to one side that are used.
const MAX_BOUNDS: usize = 2;

/// Bounds that are as far away are of no use: they are what a type of 32 bits can hold.
const TOO_FAR: i128 = (1 << 31) - 1;

/// What something is at least and at most.
type Ends = (Poly, Poly);

/// Whether a bound may be made of an unknown.
type IsKept<'a> = &'a dyn Fn(Unknown) -> bool;

/// To which side of an index a bound lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Low,
    High,
}

/// What an index is at least and at most.
struct Bracket {
    lows: Vec<Poly>,
    highs: Vec<Poly>,
}

impl Walk<'_> {
    /// Whether bounds show that two accesses never meet.
    pub(in super::super) fn is_disjoint_by_bounds(
        &self,
        sites: [&Site; 2],
        meeting: Meeting<'_>,
    ) -> bool {
        let [first, second] = sites.map(|site| self.with_guards_of_bounds(site));
        self.bracketed.ask([&first, &second], meeting, || {
            self.bracketed
                .spend(&self.effort, PART, || self.are_bracketed([&first, &second], meeting))
        })
    }

    fn are_bracketed(&self, [first, second]: [&Site; 2], meeting: Meeting<'_>) -> bool {
        let levels = match meeting {
            Meeting::BetweenBlocks => 1,
            Meeting::InBlock(..) => {
                let both = first.loops.iter().zip(&second.loops);
                both.take_while(|(one, other)| one == other).count()
            }
        };
        (0..levels).rev().any(|level| {
            let loops = first.loops.get(..level).unwrap_or_default();
            let is_kept = |unknown| match meeting {
                Meeting::BetweenBlocks => self.is_of_block(unknown),
                Meeting::InBlock(..) => self.is_of_hand(unknown, loops),
            };
            (0..first.indices.len().min(second.indices.len())).any(|axis| {
                let Some(ours) = self.bracket((first, axis), &is_kept) else { return false };
                let theirs = match second.is_like(first) {
                    true => None,
                    false => match self.bracket((second, axis), &is_kept) {
                        Some(theirs) => Some(theirs),
                        None => return false,
                    },
                };
                let brackets = [&ours, theirs.as_ref().unwrap_or(&ours)];
                self.are_bounded_apart([first, second], (brackets, &is_kept), meeting)
            })
        })
    }

    /// Whether no place lies between the bounds of two hands that differ.
    fn are_bounded_apart(
        &self,
        sites: [&Site; 2],
        ([ours, theirs], is_kept): ([&Bracket; 2], IsKept<'_>),
        meeting: Meeting<'_>,
    ) -> bool {
        // Between blocks all is about the numbers of blocks.
        let ways: &[bool] = if meeting.is_between_blocks() { &[false] } else { &[true, false] };
        let ends = |of: &Bracket, at: usize| {
            let [low, high] = [(&of.lows, at / MAX_BOUNDS), (&of.highs, at % MAX_BOUNDS)]
                .map(|(bounds, at)| bounds.get(at).or(bounds.first()).cloned());
            low.zip(high)
        };
        ways.iter().any(|is_short| {
            let mut tried = Vec::new();
            // One bound to each side at a time: others bring in what they are made of.
            (0..MAX_BOUNDS * MAX_BOUNDS).any(|at| {
                let (Some(own), Some(other)) = (ends(ours, at), ends(theirs, at)) else {
                    return false;
                };
                let bounds = [own, other];
                let is_new = !tried.contains(&bounds);
                tried.push(bounds.clone());
                is_new && self.never_meet_between(sites, (&bounds, is_kept), (meeting, *is_short))
            })
        })
    }

    /// Whether no place lies between these bounds of one hand, and those of another one.
    fn never_meet_between(
        &self,
        sites: [&Site; 2],
        (bounds, is_kept): (&[Ends; 2], IsKept<'_>),
        (meeting, is_short): (Meeting<'_>, bool),
    ) -> bool {
        let Some(mut builder) = self.hands(sites, meeting) else { return true };
        if is_short {
            builder.leave_out_values_of_block();
        }
        for (side, site) in [Side::First, Side::Second].into_iter().zip(sites) {
            let is_of_kept = |poly: &Poly| poly.unknowns().all(is_kept);
            let guards = site.guards.iter().filter(|guard| guard.is_made_of(&is_of_kept));
            guards.for_each(|guard| builder.assert(side, guard));
        }
        builder.assert_met(bounds);
        let systems = builder.systems();
        self.effort.within_part(PAIR_PART, || {
            systems.iter().all(|system| system.has_none_at_all(&self.effort))
        })
    }

    /// Whether an unknown is one number for a block.
    fn is_of_block(&self, unknown: Unknown) -> bool {
        self.symbols.get(unknown).is_some_and(|symbol| match &symbol.sharing {
            Sharing::Launch => true,
            Sharing::Block => symbol.loops.is_empty(),
            Sharing::Function(of) => of.iter().all(|of| self.is_of_block(*of)),
            Sharing::Iteration(_) | Sharing::Private => false,
        })
    }

    /// Whether an unknown is one number for a block, a work-item's coordinate, or the number of
    /// an iteration of one of these loops.
    fn is_of_hand(&self, unknown: Unknown, loops: &[LoopId]) -> bool {
        let axes = || self.block.iter().flatten().map(|(_, axis)| *axis);
        let numbers = || loops.iter().map(|id| self.all_loops[id.0].number);
        self.is_of_block(unknown) || axes().chain(numbers()).any(|of| of == unknown)
    }

    /// What an index is at least and at most, by what is kept.
    fn bracket(&self, (site, axis): (&Site, usize), is_kept: IsKept<'_>) -> Option<Bracket> {
        let index = site.indices.get(axis).filter(|index| !index.is_lost())?;
        if index.unknowns().all(is_kept) {
            return None;
        }
        let rows = self.rows_around(site);
        let bounds = |end| self.bounds((site, index), end, (&rows, is_kept));
        let lows = Some(bounds(End::Low)).filter(|lows| !lows.is_empty())?;
        let highs = Some(bounds(End::High)).filter(|highs| !highs.is_empty())?;
        Some(Bracket { lows, highs })
    }

    /// What holds of what an access is made of, without choices.
    fn rows_around(&self, site: &Site) -> Vec<Poly> {
        let mut rows = Vec::new();
        site.guards.iter().for_each(|guard| guard.collect_bounds(&mut rows));
        for part in self.parts_around(site) {
            if let Some(symbol) = self.symbols.get(part) {
                symbol.facts.collect_bounds(&mut rows);
            }
        }
        // What a type can hold says nothing of where an access is.
        rows.retain(|row| row.constant_term().abs() < TOO_FAR);
        rows
    }

    /// The bounds of an index to one side that are proved to be some.
    fn bounds(
        &self,
        (site, index): (&Site, &Poly),
        end: End,
        (rows, is_kept): (&[Poly], IsKept<'_>),
    ) -> Vec<Poly> {
        let mut sums = vec![index.clone()];
        let mut at = 0;
        let mut found: Vec<Poly> = Vec::new();
        while let Some(sum) = sums.get(at).cloned() {
            at += 1;
            let Some(unknown) = sum.unknowns().filter(|unknown| !is_kept(*unknown)).max() else {
                found.push(sum);
                continue;
            };
            let is_next = |next: &Poly| next.unknowns().all(|of| of < unknown || is_kept(of));
            for next in self.without(&sum, unknown, end, rows).into_iter().filter(is_next) {
                if sums.len() < MAX_SUMS && !sums.contains(&next) {
                    sums.push(next);
                }
            }
        }
        let is_bound = |bound: &Poly| {
            let beyond = match end {
                End::Low => Formula::lt(index, bound),
                End::High => Formula::lt(bound, index),
            };
            self.is_never_at(site, &beyond)
        };
        found.into_iter().take(MAX_ASKED).filter(is_bound).take(MAX_BOUNDS).collect()
    }

    /// Whether something never holds where an access is made. What values of the block are is
    /// seldom of matter to that: it is asked first without it.
    fn is_never_at(&self, site: &Site, condition: &Formula) -> bool {
        [true, false].into_iter().any(|is_short| {
            let mut builder = Builder::new(self, Meeting::BetweenBlocks);
            if is_short {
                builder.leave_out_values_of_block();
            }
            builder.made.extend(site.made.iter().map(|old| (*old, Side::First)));
            builder.assert(Side::First, &self.is_made(site));
            builder.assert(Side::First, condition);
            let systems = builder.systems();
            self.effort.within_part(BOUND_PART, || {
                systems.iter().all(|system| system.has_no_solution(&self.effort))
            })
        })
    }

    /// A sum with something in place of an unknown that may be less, or more.
    fn without(&self, sum: &Poly, unknown: Unknown, end: End, rows: &[Poly]) -> Vec<Poly> {
        let factor = sum.cofactor(unknown);
        if factor.is_lost() || factor.mentions(unknown) {
            return Vec::new();
        }
        let by_rows = rows.iter().filter_map(|row| {
            // sum <= sum + times * row, and sum >= sum - times * row.
            let times = self.times(&factor, &row.cofactor(unknown), end)?;
            Some(match end {
                End::High => sum.add(&row.mul(&times)),
                End::Low => sum.sub(&row.mul(&times)),
            })
        });
        let with = |value: &Poly| sum.replace(&|of| (of == unknown).then(|| value.clone()));
        let by_values = self.alternatives_of(unknown).into_iter().map(|value| with(&value));
        by_rows.chain(by_values).filter(|sum| !sum.is_lost()).collect()
    }

    /// How often a row is to be added to a sum, or taken off, for an unknown to fall out that they
    /// have with these factors; `None` where that is not seen to be a natural number.
    fn times(&self, of_sum: &Poly, of_row: &Poly, end: End) -> Option<Poly> {
        let of_sum = match end {
            End::High => of_sum.negated(),
            End::Low => of_sum.clone(),
        };
        let [whole, part] = [&of_sum, of_row]
            .map(|of| of.terms().iter().fold(0, |divisor, (_, factor)| gcd(divisor, *factor)));
        let by_number = (part != 0 && whole % part == 0)
            .then(|| Poly::constant(whole / part))
            .filter(|times| of_row.mul(times) == of_sum);
        let by_unit = || match of_row.as_constant() {
            Some(1) => Some(of_sum.clone()),
            Some(-1) => Some(of_sum.negated()),
            _ => None,
        };
        by_number.or_else(by_unit).filter(|times| {
            times.as_constant() != Some(0) && self.symbols.low(times).is_some_and(|low| low >= 0)
        })
    }

    /// Of which values an unknown is one.
    fn alternatives_of(&self, unknown: Unknown) -> Vec<Poly> {
        if let Some((_, then, otherwise)) = self.choice_of(unknown) {
            return vec![then.clone(), otherwise.clone()];
        }
        match self.function_of(unknown) {
            Some((Function::Min | Function::Max, one, other)) => vec![one.clone(), other.clone()],
            _ => Vec::new(),
        }
    }

    /// An access without the guards that speak of what no bound of an index is made of.
    fn with_guards_of_bounds(&self, site: &Site) -> Site {
        let parts = self.parts_of_indices(site);
        let is_part = |unknown: Unknown| {
            let is_arithmetic =
                || self.function_of(unknown).is_some() || self.choices.contains_key(&unknown);
            parts.contains(&unknown) || self.is_of_block(unknown) || is_arithmetic()
        };
        let mut own = site.clone();
        own.guards.retain(|guard| {
            let mut asked = Vec::new();
            guard.collect_unknowns(&mut asked);
            !asked.is_empty() && asked.into_iter().all(is_part)
        });
        own
    }

    /// What an access is made of, its guards among it, and what is said of that.
    fn parts_around(&self, site: &Site) -> BTreeSet<Unknown> {
        let mut open: Vec<Unknown> = site.indices.iter().flat_map(Poly::unknowns).collect();
        site.guards.iter().for_each(|guard| guard.collect_unknowns(&mut open));
        self.parts_from(open)
    }
}

impl Builder<'_> {
    /// Takes values of the block for any numbers: what is known of them is left out.
    fn leave_out_values_of_block(&mut self) {
        let walk = self.walk;
        let is_function = |unknown: &Unknown| {
            let symbol = walk.symbols.get(*unknown);
            symbol.is_some_and(|symbol| matches!(symbol.sharing, Sharing::Function(_)))
                && walk.is_of_block(*unknown)
        };
        let of_block = (0..walk.symbols.next()).filter(is_function);
        let sides = |unknown| [(unknown, Side::First), (unknown, Side::Second)];
        self.seen.extend(of_block.flat_map(sides));
    }

    /// That one place lies between both bounds of the first side, and both of the second one.
    fn assert_met(&mut self, [(low, high), (their_low, their_high)]: &[Ends; 2]) {
        let widths = [high.sub(low), their_high.sub(their_low)].map(|width| width.as_constant());
        match widths {
            // Of numbers of few values digits are told apart.
            [Some(width), Some(their_width)] => {
                let next = self.walk.symbols.next();
                let [own, theirs] = [1, 2].map(|copy| copy_of(next, copy));
                for (digit, width) in [(&own, width), (&theirs, their_width)] {
                    self.system.assert(&Formula::within(digit, &Poly::constant(width + 1)));
                }
                let (low, their_low) =
                    (self.on(Side::First, low), self.on(Side::Second, their_low));
                self.system.assert_collision(&low.add(&own), &their_low.add(&theirs));
            }
            _ => {
                self.assert_below((Side::First, low), (Side::Second, their_high));
                self.assert_below((Side::Second, their_low), (Side::First, high));
            }
        }
    }

    /// That what is at least on one side is no more than what is at most on another one.
    fn assert_below(&mut self, (one, low): (Side, &Poly), (other, high): (Side, &Poly)) {
        let (low, high) = (self.on(one, low), self.on(other, high));
        self.system.assert(&Formula::le(&low, &high));
    }
}
