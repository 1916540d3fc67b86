//! Runs of which long loops are run in part.
//!
//! Where the rounds of a loop hand nothing on, those that are run touch what they touch in a
//! run of all: the first, the last, and those at numbers of the text. So what collides in a
//! run of some is a race; that nothing does says nothing.
//! Between two rounds of a loop with a barrier in it there is a barrier, whether or not those
//! between the two are run.

use std::collections::BTreeSet;

use super::super::plan::Body;
use super::Machine;
use super::trips::{Rounds, Trips};
use crate::kernel::{ExprKind, Literal};

/// Rounds at either end of a loop that are run.
const ROUNDS: usize = 4;

/// How far from a number of the text rounds are run.
const NEAR: i64 = 2;

impl Machine<'_> {
    /// The same run, of which long loops are run in part, where their rounds stand alone.
    pub(in super::super) fn sparse(self) -> Self {
        let literals = self.kernel.exprs.values().filter_map(|expr| match expr.kind {
            ExprKind::Literal(Literal::Int(value)) => i64::try_from(value).ok(),
            _ => None,
        });
        Self { is_sparse: true, sparse_at: literals.collect(), ..self }
    }

    /// The rounds of a loop that are run, of all that it has.
    pub(super) fn rounds_of(&self, all: Trips, body: &Body<'_>) -> Rounds {
        let len = all.len();
        if !self.is_sparse || len <= 2 * ROUNDS || !self.plan.rounds_stand_alone(body) {
            return all.all();
        }
        // What a round asks its counter may be about a number of the text.
        let near =
            |literal: &i64| all.between(literal.saturating_sub(NEAR), literal.saturating_add(NEAR));
        let mut which: BTreeSet<usize> = self.sparse_at.iter().flat_map(near).collect();
        which.extend((0..ROUNDS).chain(len - ROUNDS..len));
        all.only(which.into_iter().collect())
    }
}
