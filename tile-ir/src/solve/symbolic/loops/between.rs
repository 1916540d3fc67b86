//! Rounds between two that no barrier parts.
//!
//! `if r % 2 == 1 { barrier; }`: where the block comes from a round to one that is not the next
//! without a barrier, it has passed by the barriers of each round in between. So the conditions
//! hold there under which an iteration is gone through without one: in the round after the
//! earlier of the two, in the one before the later, and, where there are so many, in those that
//! follow the earlier one. Where a condition is made of what is left of the round's number by a
//! literal, it comes out alike in every so many rounds; in so many that follow each other it
//! comes out in all ways that there are, which is how many are looked at.
//!
//! What a symbol is in a round in between is an unknown of its own, of which the facts hold that
//! hold in each round; what the loop does not change is what it is for the work-item that makes
//! one of the two accesses.

use std::collections::BTreeSet;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::pairs::flow::{Distance, Path};
use super::super::pairs::instance::{Builder, Meeting, Side, copy_of};
use super::super::walk::Walk;
use crate::kernel::lcm;

/// Rounds behind the earlier one that are looked at, at most.
pub(in super::super) const MAX_BETWEEN: u32 = 8;

/// Symbols of a round in between of which facts are taken in.
const MAX_SYMBOLS: usize = 12;

/// The first number of a copy of a round in between; those below are the sides'.
const FIRST_COPY: u32 = 3;

/// What is known of the rounds in between.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Between {
    /// What holds in each.
    passed: Vec<Formula>,
    /// How many of those behind the earlier one are looked at.
    n_rounds: u32,
}

/// A round in between.
struct Round {
    id: LoopId,
    /// Its number.
    number: Poly,
    /// The work-item that is asked what the loop does not change.
    side: Side,
    /// Which copy of symbols is this round's.
    copy: u32,
}

impl Walk<'_> {
    /// What holds in the rounds of a loop in between, by what holds on a way `through` one.
    pub(in super::super) fn between(&self, id: LoopId, through: Option<&Path>) -> Between {
        let passed: Vec<Formula> =
            through.into_iter().flat_map(Path::conditions).cloned().collect();
        let mut symbols = Vec::new();
        passed.iter().for_each(|condition| condition.collect_unknowns(&mut symbols));
        symbols.retain(|symbol| self.symbols.is_inside(*symbol, id));
        symbols.sort_unstable();
        symbols.dedup();
        let divisor = |symbol: &Unknown| self.function_of(*symbol)?.2.as_constant();
        let divisors = symbols.iter().filter_map(divisor).filter(|divisor| *divisor > 0);
        let period = divisors.fold(1, lcm).min(MAX_BETWEEN.into());
        Between { passed, n_rounds: u32::try_from(period).unwrap_or(1) }
    }
}

impl Builder<'_> {
    /// Where the second of two accesses is in a later iteration of a loop than the next one, and
    /// no barrier stands on the way: what holds in the rounds in between.
    pub(in super::super) fn pass_rounds(&mut self) {
        let Meeting::InBlock(Distance::Later(_, id), _) = self.meeting else { return };
        let id = *id;
        let walk = self.walk;
        let found = &walk.all_loops[id.0];
        let number = Poly::unknown(found.number);
        let [first, second] = [Side::First, Side::Second].map(|side| self.on(side, &number));
        for after in 1..=found.between.n_rounds {
            let (side, number) = (Side::First, first.plus(after.into()));
            let is_not_between = match after {
                1 => Formula::False,
                _ => Formula::le(&second, &number),
            };
            let round = Round { id, number, side, copy: FIRST_COPY + after };
            if let Some(holds) = self.in_round(&round) {
                self.system.assert(&is_not_between.or(holds));
            }
        }
        let number = second.plus(-1);
        let round = Round { id, number, side: Side::Second, copy: FIRST_COPY };
        if let Some(holds) = self.in_round(&round) {
            self.system.assert(&holds);
        }
    }

    /// What holds in a round in between; `None` where that takes too many symbols.
    fn in_round(&mut self, round: &Round) -> Option<Formula> {
        let walk = self.walk;
        let found = &walk.all_loops[round.id.0];
        let is_own =
            |symbol: &Unknown| *symbol != found.number && walk.symbols.is_inside(*symbol, round.id);
        let mut parts = found.between.passed.clone();
        let (mut seen, mut known) = (BTreeSet::new(), 0);
        while let Some(part) = parts.get(known) {
            known += 1;
            let mut symbols = Vec::new();
            part.collect_unknowns(&mut symbols);
            for symbol in symbols.into_iter().filter(|symbol| seen.insert(*symbol)) {
                if is_own(&symbol) {
                    parts.push(walk.symbols.get(symbol)?.facts.clone());
                }
            }
            if parts.len() > found.between.passed.len() + MAX_SYMBOLS {
                return None;
            }
        }
        let fixed = seen.into_iter().filter(|symbol| *symbol != found.number && !is_own(symbol));
        self.mention(round.side, fixed);
        Some(Formula::All(parts).replace(&|symbol| {
            Some(match symbol {
                symbol if symbol == found.number => round.number.clone(),
                symbol if is_own(&symbol) => copy_of(symbol, round.copy),
                symbol => self.unknown(symbol, round.side),
            })
        }))
    }
}
