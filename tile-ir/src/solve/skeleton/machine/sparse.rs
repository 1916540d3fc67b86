//! Runs of which long loops are run in part.
//!
//! Where the rounds of a loop hand nothing on, those that are run touch what they touch in a
//! run of all: the first, the last, and those at numbers of the text. So what collides in a
//! run of some is a race; that nothing does says nothing.
//! Rounds that are left out of a loop with a barrier in it may come by that, under whatever
//! condition: those before them and those after them are taken to be parted by one.

use std::collections::BTreeSet;

use super::super::plan::Body;
use super::trips::{Rounds, Trips};
use super::{Machine, Team, WARP};
use crate::exchange::Group;
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

    /// Rounds of a loop are left out that the team would have run: it may have met in them.
    pub(super) fn leave_rounds_out(&mut self, body: &Body<'_>, team: Team) {
        match body.team {
            Some(Group::Block) => self.end_interval(),
            Some(Group::Warp) => self.end_warp_interval(team.first / WARP),
            None => {}
        }
    }
}
