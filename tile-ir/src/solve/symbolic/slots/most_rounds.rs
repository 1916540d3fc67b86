//! How many rounds a loop has at most, where its end is the smaller of two.
//!
//! `for pos in (first + t..min(first + 1024, n)).step_by(256)` goes on below `min(first + 1024, n)`.
//! Ranges of `first` and of that minimum say nothing of their difference; but the minimum is no more
//! than `first + 1024`, and with that in its place `first` is gone: `256 * round < 1024 - t`. So it
//! is with a minimum of minima.

use super::super::algebra::poly::{Poly, Unknown};
use super::super::walk::Walk;

/// Minima within minima that are gone into.
const MAX_LIMITS: usize = 3;

impl Walk<'_> {
    /// How many rounds there are at most, by what bounds the `number` of one from above.
    pub(super) fn most_rounds(&self, number: Unknown) -> Option<i128> {
        let last = self.limits_of(number).iter().filter_map(|row| self.last_by(row, number)).min();
        last?.checked_add(1)
    }

    /// The rows of what is known of an unknown, each at least 0.
    fn limits_of(&self, unknown: Unknown) -> Vec<Poly> {
        let mut rows = Vec::new();
        if let Some(symbol) = self.symbols.get(unknown) {
            symbol.facts.collect_bounds(&mut rows);
        }
        rows.into_iter().filter(|row| !row.is_lost()).collect()
    }

    /// The largest number for which a row is at least 0.
    fn last_by(&self, row: &Poly, number: Unknown) -> Option<i128> {
        let by = row.cofactor(number).as_constant().filter(|by| *by < 0)?;
        let room = row.sub(&Poly::unknown(number).scaled(by));
        if room.mentions(number) {
            return None;
        }
        Some(self.most_with_limits(&room, MAX_LIMITS)?.div_euclid(-by))
    }

    /// What a sum is at most by ranges, limits put in the place of its parts so many times.
    fn most_with_limits(&self, sum: &Poly, depth: usize) -> Option<i128> {
        let above = match depth {
            0 => Vec::new(),
            _ => sum.unknowns().flat_map(|part| self.with_limit(sum, part)).collect(),
        };
        let by_limits = above.iter().filter_map(|above| self.most_with_limits(above, depth - 1));
        by_limits.chain(self.high(sum)).min()
    }

    /// What is no less than a sum, with what limits one of its parts in the place of that.
    fn with_limit(&self, sum: &Poly, part: Unknown) -> Vec<Poly> {
        let Some(times) = sum.cofactor(part).as_constant().filter(|times| *times > 0) else {
            return Vec::new();
        };
        let rows = self.limits_of(part).into_iter();
        let limits = rows.filter(|row| row.cofactor(part).as_constant() == Some(-1));
        let replaced = limits.map(|row| sum.add(&row.scaled(times)));
        replaced.filter(|sum| !sum.is_lost() && !sum.mentions(part)).collect()
    }
}
