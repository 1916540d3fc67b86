//! Iterations and blocks that are gone through for many others.
//!
//! Iterations that move every address by whole sectors, or whole words of banks,
//! count alike, as long as all guards and conditions have the same outcomes. Each
//! of these compares numbers that grow or fall steadily with the counter, so that
//! an outcome that is the same in two iterations, a multiple of the period apart,
//! is the same in those between them. So iterations are taken in groups, one for
//! each place within the period ([`super::period`]) and each value of what is
//! carried from one to the next. Of a group in which nothing is compared with the
//! counter, one is gone through; of another the ends, and where they differ, parts of it,
//! until two ends agree.

use std::rc::Rc;

use super::machine::Machine;
use super::tally::Tally;

/// Iterations that are all gone through.
const FEW: u64 = 4;
/// Iterations of which nothing is known that are gone through; the last stands for
/// those beyond.
const MOST: u64 = 1 << 14;

/// Iterations that differ in nothing but their counter.
#[derive(Clone, Debug)]
pub(super) enum Trips {
    /// So many, at a fixed distance.
    Every { first: u64, step: u64, n: u64 },
    /// These.
    Listed(Vec<u64>),
}

impl Trips {
    fn len(&self) -> u64 {
        match self {
            Self::Every { n, .. } => *n,
            Self::Listed(trips) => trips.len() as u64,
        }
    }

    fn at(&self, place: u64) -> u64 {
        match self {
            Self::Every { first, step, .. } => first + step * place,
            Self::Listed(trips) => trips[place as usize],
        }
    }
}

/// Iterations from 0 to `n`, by their place within the period.
pub(super) fn by_period(n: u64, period: u64) -> Vec<Trips> {
    let period = period.max(1);
    let of = |first| Trips::Every { first, step: period, n: (n - first).div_ceil(period) };
    (0..period.min(n)).map(of).collect()
}

/// Whether sampling groups saves anything.
pub(super) fn is_worth_it(n: u64, n_groups: u64) -> bool {
    n > FEW && n_groups.saturating_mul(2) < n
}

impl Machine<'_> {
    /// Goes through all iterations in turn.
    pub(super) fn run_each(&mut self, n: u64, run: &mut dyn FnMut(&mut Self, u64)) {
        let mut trip = 0;
        while trip < n {
            let left = n - trip;
            if left > 1 && (trip >= MOST || !self.step()) {
                // The last stands for what is left.
                let last = self.one(trip, run);
                return self.add_sample(&last, left);
            }
            run(self, trip);
            trip += 1;
        }
        self.tally.note(n);
    }

    /// Goes through as many iterations of a group as it takes to know all: one, unless it
    /// `decides` something in each; where there is no work left to be spent, one too, or
    /// none if one of another group is known.
    pub(super) fn run_group(
        &mut self,
        group: &Trips,
        decides: bool,
        known: &mut Option<Rc<Tally>>,
        run: &mut dyn FnMut(&mut Self, u64),
    ) {
        let n = group.len();
        if n == 0 {
            return;
        }
        let is_spent = !self.step();
        if let (true, Some(known)) = (is_spent, &known) {
            return self.add_sample(known, n);
        }
        let first = self.one(group.at(0), run);
        *known = Some(first.clone());
        if is_spent && n > 1 {
            return self.add_sample(&first, n);
        }
        if n == 1 || !decides {
            return self.tally.add(&first, n);
        }
        self.tally.add(&first, 1);
        let last = self.one(group.at(n - 1), run);
        self.tally.add(&last, 1);
        self.between(group, (0, &first), (n - 1, &last), 0, run);
    }

    /// Adds one iteration for others that nobody has looked at.
    fn add_sample(&mut self, one: &Tally, n: u64) {
        let sample = Tally { is_exact: false, ..one.clone() };
        self.tally.add(&sample, n);
    }

    /// Adds what lies between two iterations of a group.
    fn between(
        &mut self,
        group: &Trips,
        (low, of_low): (u64, &Rc<Tally>),
        (high, of_high): (u64, &Rc<Tally>),
        depth: u32,
        run: &mut dyn FnMut(&mut Self, u64),
    ) {
        let n = high - low - 1;
        if n == 0 {
            return;
        }
        let agree = of_low == of_high;
        if agree || !self.step() {
            let mut all = (**of_low).clone();
            all.is_exact &= agree;
            return self.tally.add(&all, n);
        }
        // Edges are mostly of one iteration.
        let middle = match depth {
            0 => high - 1,
            1 => low + 1,
            _ => low + (high - low) / 2,
        };
        let found = self.one(group.at(middle), run);
        self.tally.add(&found, 1);
        self.between(group, (low, of_low), (middle, &found), depth + 1, run);
        self.between(group, (middle, &found), (high, of_high), depth + 1, run);
    }

    /// What one iteration counts.
    fn one(&mut self, trip: u64, run: &mut dyn FnMut(&mut Self, u64)) -> Rc<Tally> {
        let fresh = Tally::new(self.tally.cells.len());
        let outer = std::mem::replace(&mut self.tally, fresh);
        run(self, trip);
        Rc::new(std::mem::replace(&mut self.tally, outer))
    }
}
