//! Runs of which long loops are run in part.
//!
//! Where the rounds of a loop hand nothing on, those that are run touch what they touch in a
//! run of all. So what collides in a run of some is a race; that nothing does says nothing.
//! Between two rounds of a loop with a barrier in it there is a barrier, whether or not those
//! between the two are run.

use super::super::eval::Value;
use super::super::plan::Body;
use super::Machine;

/// Rounds at either end of a loop that are run.
const ROUNDS: usize = 4;

impl Machine<'_> {
    /// The rounds of a loop that are run, each with its number, of all that it has.
    pub(super) fn rounds_of(&self, all: Vec<Value>, body: &Body<'_>) -> Vec<(usize, Value)> {
        let len = all.len();
        let mut rounds: Vec<(usize, Value)> = all.into_iter().enumerate().collect();
        if self.is_sparse && len > 2 * ROUNDS && self.plan.rounds_stand_alone(body) {
            rounds.drain(ROUNDS..len - ROUNDS);
        }
        rounds
    }
}
