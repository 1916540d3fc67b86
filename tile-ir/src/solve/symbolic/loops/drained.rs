//! Variables that move by no more than another number falls.
//!
//! `while n > 1 { let half = n / 2; if x[lo + half - 1] < key { lo += half; } n -= half; }` raises
//! `lo` by no more than it takes from `n`, so that `lo + n` never rises. So it is where a stride is
//! halved in each iteration: what is left of `2 * s` is at least what `lo += s` adds. As the
//! other number is not negative, or at least 1, the variable stays within what both were
//! before the loop.
//!
//! # What it rests on
//!
//! - `x + c * y` is no larger at the end of an iteration than at its start, seen of an arbitrary
//!   one. So at the start of each one it is at most what it was before the loop. Of a counter of
//!   `halving(n)` the next value is at most half of the present one, and twice the first one is at
//!   most `n`.
//! - With that, a bound of `x` alone is seen to be kept by an iteration as others are
//!   ([`super::bounded`]).
//! - The same of a variable that falls: it is the opposite of one that rises.

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Poly, Unknown};
use super::super::algebra::symbol::LoopId;
use super::super::scans::prefix::single;
use super::super::walk::{Value, Walk};
use super::bounded::Tried;
use super::{Carried, Next};
use crate::kernel::{Stmt, VarId};
use crate::span::SpanId;

/// What a variable takes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Var(VarId),
    /// The loop's counter, which is halved.
    Counter,
}

/// That a variable, if it rises, and so many times another number are at most this at the start
/// of each iteration; of one that falls, its opposite.
#[derive(Clone, Debug)]
pub(in super::super) struct Drained {
    by: By,
    times: i128,
    room: Poly,
    rises: bool,
}

/// Another number, so many times: where an iteration starts, where the next one does, and before
/// the loop.
struct Supply {
    by: By,
    times: i128,
    start: Poly,
    end: Poly,
    first: Poly,
}

/// A value, or its opposite.
fn signed(value: &Poly, rises: bool) -> Poly {
    value.scaled(if rises { 1 } else { -1 })
}

impl Drained {
    /// What bounds the variable, if the other number is at least 1, or not below 0.
    fn bounds(&self) -> [(Poly, bool); 2] {
        [-1, 0].map(|by| (signed(&self.room.plus(by), self.rises), self.rises))
    }
}

impl Walk<'_> {
    /// Finds limits of variables that move by no more than other numbers fall.
    pub(super) fn find_drained(
        &mut self,
        carried: &mut [Carried],
        head: (Option<VarId>, SpanId),
        body: &[Stmt],
        enter: &dyn Fn(&mut Self, LoopId) -> Formula,
    ) {
        if carried.iter().all(|of| of.rises().is_none()) {
            return;
        }
        let tried = self.try_iteration(carried, head, body, enter);
        let supplies = self.supplies(carried, head.0, &tried);
        let found: Vec<Option<Drained>> =
            carried.iter().map(|of| self.drained(of, &supplies, &tried)).collect();
        if found.iter().all(Option::is_none) {
            return;
        }
        for (of, found) in carried.iter_mut().zip(found) {
            let bounds = found.as_ref().map(Drained::bounds);
            self.add_limits(of, bounds.into_iter().flatten());
            of.drained = found;
        }
        self.keep_limits(carried, head, body, enter);
    }

    /// The numbers that an iteration may take from.
    fn supplies(&self, carried: &[Carried], counter: Option<VarId>, tried: &Tried) -> Vec<Supply> {
        let mut out = Vec::new();
        for Carried { var, first, step, .. } in carried {
            if let (Some([start, end]), None, false) = (tried.ends(*var), step, first.is_lost()) {
                out.extend([1, 2].map(|times| Supply {
                    by: By::Var(*var),
                    times,
                    start: start.scaled(times),
                    end: end.scaled(times),
                    first: first.scaled(times),
                }));
            }
        }
        let halved = counter.and_then(|counter| tried.counter(counter)).and_then(|value| {
            let stride = single(value).filter(|stride| self.is_halved_in(tried.id, *stride))?;
            let (start, end) = (value.scaled(2), value.clone());
            let first = self.most_of_twice(stride)?;
            Some(Supply { by: By::Counter, times: 2, start, end, first })
        });
        out.extend(halved);
        out
    }

    /// Whether an unknown is half of itself in the next iteration.
    fn is_halved_in(&self, id: LoopId, stride: Unknown) -> bool {
        let mut next = self.all_loops[id.0].next.iter();
        next.any(|(of, next)| *of == stride && matches!(next, Next::Half))
    }

    /// What twice an unknown is at most, by what is known of it.
    fn most_of_twice(&self, unknown: Unknown) -> Option<Poly> {
        let mut rows = Vec::new();
        self.symbols.get(unknown)?.facts.collect_bounds(&mut rows);
        rows.iter().find_map(|row| {
            let most = row.add(&Poly::unknown(unknown).scaled(2));
            (!most.is_lost() && !most.mentions(unknown)).then_some(most)
        })
    }

    /// From which of these numbers a variable takes what an iteration adds to it.
    fn drained(&self, of: &Carried, supplies: &[Supply], tried: &Tried) -> Option<Drained> {
        let rises = of.rises()?;
        let [start, end] = tried.ends(of.var)?.map(|value| signed(value, rises));
        let is_kept = |supply: &&Supply| {
            let (before, after) = (start.add(&supply.start), end.add(&supply.end));
            supply.by != By::Var(of.var) && self.is_seldom_in(tried, Formula::lt(&before, &after))
        };
        let Supply { by, times, first, .. } = supplies.iter().find(is_kept)?;
        let room = signed(&of.first, rises).add(first);
        (!room.is_lost()).then_some(Drained { by: *by, times: *times, room, rises })
    }

    /// What is so at the start of an iteration, where the walk is.
    pub(super) fn drained_here(&self, carried: &[Carried], counter: Option<VarId>) -> Formula {
        let value = |var: VarId| match self.env.get(&var) {
            Some(Value::Int(value)) => Some(value.clone()),
            Some(Value::Cond(_) | Value::Other) | None => None,
        };
        let parts = carried.iter().filter_map(|of| {
            let Drained { by, times, room, rises } = of.drained.as_ref()?;
            let other = match by {
                By::Var(var) => value(*var)?,
                By::Counter => value(counter?)?,
            };
            let both = signed(&value(of.var)?, *rises).add(&other.scaled(*times));
            Some(Formula::le(&both, room))
        });
        Formula::All(parts.collect()).folded()
    }
}
