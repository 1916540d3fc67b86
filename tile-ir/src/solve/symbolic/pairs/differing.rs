//! Numbers that the author says to differ between work-items: `assume(distinct_in_block(at));`.
//!
//! Of two accesses behind it, made by two work-items that came by it between the same two
//! meetings of their block, none has a number of the other one's. That is so where both are in
//! the same iteration of all loops around it in which the block meets. Of
//! `distinct_in_grid(…)` it is so wherever they are.
//!
//! Accesses at the very numbers are disjoint by that alone, whatever these are made of, as places
//! are that data chooses between and that may wrap. So are accesses at what the numbers decide one
//! to one, as `(r & 3) * 256 + r / 4` of `r` below 1024 ([`super::ranks`]).

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::algebra::symbol::LoopId;
use super::super::walk::{Site, Walk, Worker};
use super::instance::{Builder, Meeting, Side};
use crate::exchange::Group;
use crate::kernel::{ExprId, Stmt, StmtKind, Within, any_stmt};
use crate::span::SpanId;

/// What is said to differ.
#[derive(Clone, Debug)]
pub(in super::super) struct Differing {
    /// The numbers in the text.
    said: Vec<ExprId>,
    values: Vec<Poly>,
    within: Within,
    /// The loops around, in whose iterations the block meets.
    loops: Vec<LoopId>,
    /// Whether it holds too for different rounds of those loops around that are walked round by
    /// round.
    is_of_all_rounds: bool,
}

impl Walk<'_> {
    /// Notes that no two work-items have one of these numbers in common.
    pub(in super::super) fn note_differing(&mut self, said: &[ExprId], within: Within) {
        let values = said.iter().map(|value| self.index(*value));
        let values: Vec<Poly> = values.filter(|value| !value.is_lost()).collect();
        let meeting = self.loops.iter().copied().filter(|id| self.meets_in(*id));
        let loops = meeting.collect();
        // Copies of a statement may stand on both sides of a barrier.
        let is_of_all_rounds = within == Within::Grid
            || self.is_said_once(said) && self.meets_around(&self.kernel.body, said) == Some(false);
        let said = said.to_vec();
        let differing = Differing { said, values, within, loops, is_of_all_rounds };
        self.differing_here.push(self.differing.len());
        self.differing.push(differing);
    }

    /// Whether this is said in one place of the text.
    fn is_said_once(&self, said: &[ExprId]) -> bool {
        let mut count = 0;
        any_stmt(&self.kernel.body, &mut |kind| {
            count +=
                usize::from(matches!(kind, StmtKind::Distinct { values, .. } if values == said));
            false
        });
        count == 1
    }

    /// Whether the block may meet in a round of a loop around this that is walked round by round;
    /// `None` where it is not said in these statements.
    fn meets_around(&self, stmts: &[Stmt], said: &[ExprId]) -> Option<bool> {
        stmts.iter().find_map(|stmt| {
            if let StmtKind::Distinct { values, .. } = &stmt.kind {
                return (values == said).then_some(false);
            }
            let mut bodies = stmt.kind.bodies().into_iter();
            let inner = bodies.find_map(|body| self.meets_around(body, said))?;
            let is_walked = !matches!(stmt.kind, StmtKind::If { .. })
                && !self.loops.iter().any(|id| self.all_loops[id.0].head == stmt.head);
            Some(inner || is_walked && any_stmt(std::slice::from_ref(stmt), &mut is_met_by_block))
        })
    }

    /// Whether several numbers are said to differ where both accesses are made.
    pub(in super::super) fn are_several_differing(&self, [first, second]: [&Site; 2]) -> bool {
        let both = self.said_of_both([first, second]).into_iter();
        both.map(|[id, _]| self.differing[id].values.len()).sum::<usize>() > 1
    }

    /// What was said where both accesses are made, as it was for the first and for the second: in
    /// different rounds of a loop that is walked round by round, the last before each of the two.
    fn said_of_both(&self, [first, second]: [&Site; 2]) -> Vec<[usize; 2]> {
        let shared = first.differing.iter().filter(|id| second.differing.contains(id));
        let mut both: Vec<[usize; 2]> = shared.map(|id| [*id, *id]).collect();
        let is_last = |of: &Site, id: usize| {
            let mut later = of.differing.iter().filter(|other| **other > id);
            later.all(|other| self.differing[*other].said != self.differing[id].said)
        };
        for one in first.differing.iter().filter(|id| is_last(first, **id)) {
            let is_same = |other: &&usize| {
                let [one, other] = [*one, **other].map(|id| &self.differing[id]);
                one.said == other.said && one.is_of_all_rounds
            };
            let rounds = second.differing.iter().filter(|id| is_last(second, **id));
            let others = rounds.filter(is_same).filter(|other| *other != one);
            both.extend(others.map(|other| [*one, *other]));
        }
        both
    }

    /// The numbers that are said to differ where both accesses are made: each of the first one's
    /// with each of the second one's.
    pub(in super::super) fn said_apart<'a>(
        &'a self,
        [first, second]: [&Site; 2],
        meeting: Meeting<'_>,
    ) -> Vec<[&'a Poly; 2]> {
        if [first, second].iter().any(|site| site.worker != Worker::Item) {
            return Vec::new();
        }
        let mut apart = Vec::new();
        for [one, other] in self.said_of_both([first, second]) {
            let [one, other] = [one, other].map(|id| &self.differing[id]);
            let is_known = match (one.within, meeting.shared_loops()) {
                (Within::Grid, _) => true,
                (Within::Block, None) => false,
                (Within::Block, Some(shared)) => one.loops.iter().all(|id| shared.contains(id)),
            };
            if is_known {
                let pairs = |one| other.values.iter().map(move |other| [one, other]);
                apart.extend(one.values.iter().flat_map(pairs));
            }
        }
        apart
    }

    /// Whether two accesses are disjoint since what is said to differ is what they index by, or
    /// decides it one to one. What the numbers are made of need not be looked into.
    pub(in super::super) fn is_told_apart(&self, sites: [&Site; 2], meeting: Meeting<'_>) -> bool {
        let apart = self.said_apart(sites, meeting);
        (0..sites[0].indices.len()).any(|axis| {
            let indices = sites.map(|site| &site.indices[axis]);
            apart.contains(&indices)
                || apart.iter().any(|numbers| self.have_places_of(sites, axis, *numbers))
        })
    }

    /// Whether the block may meet in an iteration of a loop. That its warps do says nothing.
    fn meets_in(&self, id: LoopId) -> bool {
        let mut found = Vec::new();
        loops_at(&self.kernel.body, self.all_loops[id.0].head, &mut found);
        let meets = |stmt: &Stmt| any_stmt(std::slice::from_ref(stmt), &mut is_met_by_block);
        found.is_empty() || found.into_iter().any(meets)
    }
}

fn is_met_by_block(kind: &StmtKind) -> bool {
    match kind {
        StmtKind::Each { .. } | StmtKind::Barrier => true,
        StmtKind::Exchange { op, .. } => op.group() == Group::Block,
        _ => false,
    }
}

/// The loops with this keyword: of one that was cut in two, both.
fn loops_at<'k>(stmts: &'k [Stmt], head: SpanId, found: &mut Vec<&'k Stmt>) {
    for stmt in stmts {
        let bodies = stmt.kind.bodies();
        if stmt.head == head && !bodies.is_empty() {
            found.push(stmt);
        }
        bodies.into_iter().for_each(|body| loops_at(body, head, found));
    }
}

impl Builder<'_> {
    /// That what is said to differ where both accesses are made does.
    pub(in super::super) fn keep_apart(&mut self, sites: [&Site; 2]) {
        for [one, other] in self.walk.said_apart(sites, self.meeting) {
            let pair = (self.on(Side::First, one), self.on(Side::Second, other));
            self.system.assert(&Formula::ne(&pair.0, &pair.1));
        }
    }
}
