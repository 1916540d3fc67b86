//! Decisions about what is open, and all sequences of them.
//!
//! Each sequence of decisions is a path; all of them are run, where they are few. Of two
//! paths that part late the second has most in common with the first. What a loop had
//! left before each of its iterations is kept, so that the second path takes up the loop
//! shortly before they part.

use std::collections::BTreeMap;

use super::super::value::Value;

/// Most decisions of a path: their number doubles with each.
const MAX_DECISIONS: usize = 6;

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// Whether a condition holds, or a loop is run.
    Whether,
    /// Whether a loop that settles goes on: there is one answer more than questions.
    Further,
}

/// A decision, and between which barriers it is taken.
#[derive(Clone, Copy, Debug)]
struct Decision {
    question: Question,
    holds: bool,
    interval: u32,
}

/// A loop before one of its iterations.
#[derive(Clone, Debug)]
pub(super) struct Trip {
    /// The decisions that had been taken.
    pub(super) taken: usize,
    /// Barriers so far, of the block and of each warp.
    pub(super) interval: u32,
    pub(super) epochs: Vec<u32>,
    /// The workers that had been numbered.
    pub(super) next_worker: u32,
    /// What the iterations have left.
    pub(super) carried: Vec<Value>,
}

/// The decisions of the path that is run.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Path {
    decisions: Vec<Decision>,
    /// How many of them have been taken.
    taken: usize,
    /// What the path before this one has run too ends before this interval.
    parts_in: u32,
    /// Of loops, by the decisions that were taken before them: all their iterations.
    loops: BTreeMap<usize, Vec<Trip>>,
}

impl Path {
    /// The next decision; `None` where they are too many.
    pub(super) fn decide(&mut self, question: Question, interval: u32) -> Option<bool> {
        if self.taken == self.decisions.len() {
            let is_whether = |decision: &&Decision| decision.question == Question::Whether;
            let number = self.decisions.iter().filter(is_whether).count();
            if question == Question::Whether && number == MAX_DECISIONS {
                return None;
            }
            self.decisions.push(Decision { question, holds: true, interval });
        }
        self.taken += 1;
        self.decisions.get(self.taken - 1).map(|decision| decision.holds)
    }

    /// How many decisions have been taken.
    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    /// The iterations of the loop that was come to after `entry` decisions, up to the last
    /// one before which the path before this one was the same; it is gone on from there.
    pub(super) fn resume(&mut self, entry: usize) -> &[Trip] {
        let trips = self.loops.entry(entry).or_default();
        let repeated = trips.iter().take_while(|trip| trip.interval < self.parts_in).count();
        trips.truncate(repeated);
        self.taken = trips.last().map_or(self.taken, |last| last.taken);
        trips
    }

    /// Notes the next iteration of the loop that was come to after `entry` decisions.
    pub(super) fn note(&mut self, entry: usize, trip: Trip) {
        self.loops.entry(entry).or_default().push(trip);
    }

    /// Whether the path before this one was the same to the end of an interval.
    pub(super) fn is_repeated(&self, interval: u32) -> bool {
        interval < self.parts_in
    }

    /// Whether there was something to decide.
    pub(in super::super) fn has_parted(&self) -> bool {
        !self.decisions.is_empty()
    }

    /// Goes on to the next path; `false` where this was the last one.
    pub(in super::super) fn advance(&mut self) -> bool {
        self.taken = 0;
        while let Some(last) = self.decisions.pop() {
            if last.holds {
                self.decisions.push(Decision { holds: false, ..last });
                self.parts_in = last.interval;
                self.forget_from(self.decisions.len());
                return true;
            }
        }
        false
    }

    /// Forgets what loops did after this decision.
    fn forget_from(&mut self, decision: usize) {
        self.loops.retain(|entry, trips| {
            trips.retain(|trip| trip.taken < decision);
            *entry < decision
        });
    }
}
