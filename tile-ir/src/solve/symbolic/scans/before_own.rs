//! The cell before the own one, of sums that have what was counted in a cell too.
//!
//! After an inclusive scan in a tile a work-item finds in `s[t]` what all up to itself have
//! added. What all before it have is in the cell before its own, of which the first one has
//! none: `let at = if t > 0 { s[t - 1] } else { 0 };`. That is what an exclusive scan of the same
//! counts gives it ([`super::prefix`]), so of two work-items the later one's lies behind the
//! earlier one's by what that has counted at least.
//!
//! # What it rests on
//!
//! - The first cell's sum has what was counted there, and begins with no less than 0.
//! - Where the choice gives 0, the cell after the one that is read is the first of the scan;
//!   where it gives the sum, it is a later one. Both are proved of the choice's own condition.
//! - Of cells that are none of the scan's nothing is said, as of any of its reads.

use super::super::algebra::formula::{Cond, Formula};
use super::super::algebra::poly::{Poly, Unknown};
use super::super::pairs::instance::{Builder, Side};
use super::super::tiles::rows::Cell;
use super::super::walk::Walk;
use super::prefix::{Read, Scan, single};

impl Walk<'_> {
    /// Notes that a symbol is one of two values, by a condition: that is what those before a
    /// cell have counted, if one of them is the sum in the cell before it.
    pub(in super::super) fn note_before_own(
        &mut self,
        symbol: Unknown,
        cond: &Cond,
        (then, otherwise): (&Poly, &Poly),
    ) {
        let none = Poly::default();
        let (sum, is_sum, is_none) = match (*then == none, *otherwise == none) {
            (false, true) => (then, &cond.yes, &cond.no),
            (true, false) => (otherwise, &cond.no, &cond.yes),
            (true, true) | (false, false) => return,
        };
        let Some(Read { scan, at, .. }) = single(sum).and_then(|of| self.prefixes.reads.get(&of))
        else {
            return;
        };
        let (scan, Some(at)) = (*scan, at.alone().map(|at| at.plus(1))) else { return };
        let found = &self.prefixes.scans[scan];
        let first = &found.cells[0];
        let is_it = found.is_inclusive && found.is_whole && !found.is_backward;
        if !is_it || !self.recording {
            return;
        }
        let later = is_sum.clone().and(Formula::le(&at, first));
        let other = is_none.clone().and(Formula::ne(&at, first));
        if !self.is_never(&later) || !self.is_never(&other) {
            return;
        }
        let scan = self.exclusive_of(scan);
        let at = Cell { row: Vec::new(), at };
        let found = self.prefixes.scans[scan].clone();
        let count = self.count_at(&found, &at);
        let is_inside = self.is_never(&Formula::Any(self.prefixes.outside(scan, &at)));
        self.note_prefix(symbol, Read { scan, at, count, is_inside });
    }

    /// The scan of the same counts in which a cell's sum is of those before it alone.
    fn exclusive_of(&mut self, scan: usize) -> usize {
        if let Some(known) = self.prefixes.exclusive.get(&scan) {
            return *known;
        }
        let found = self.prefixes.scans[scan].clone();
        self.prefixes.scans.push(Scan { is_inclusive: false, own: None, kept: None, ..found });
        let number = self.prefixes.scans.len() - 1;
        self.prefixes.exclusive.insert(scan, number);
        number
    }
}

impl Builder<'_> {
    /// Whether the first read is of the exclusive scan of what the second one is the inclusive
    /// scan of.
    pub(in super::super) fn are_of_one_count(&self, first: &Read, second: &Read) -> bool {
        self.walk.prefixes.exclusive.get(&second.scan) == Some(&first.scan)
    }

    /// Adds how far apart the sum before one cell and the sum up to another one are.
    pub(in super::super) fn part_from_before(
        &mut self,
        ((before, one), read): ((Unknown, Side), &Read),
        ((up_to, other), end): ((Unknown, Side), &Read),
    ) {
        let mut cases = self.outside(read, one);
        cases.extend(self.outside(end, other));
        let [at, sum, count] =
            [&read.at.at, &Poly::unknown(before), &read.count].map(|poly| self.on(one, poly));
        let [to, all] = [&end.at.at, &Poly::unknown(up_to)].map(|poly| self.on(other, poly));
        cases.push(Formula::le(&at, &to).and(Formula::le(&sum.add(&count), &all)));
        cases.push(Formula::lt(&to, &at).and(Formula::le(&all, &sum)));
        self.system.assert(&Formula::Any(cases).replace(&|_| None));
    }
}
