//! Numbers that the author says to differ between work-items: `assume(distinct_in_block(at));`.
//!
//! Of two accesses behind it, made by two work-items that came by it between the same two
//! meetings of their block, none has a number of the other one's. That is so where both are in
//! the same iteration of all loops around it in which the block meets. Of
//! `distinct_in_grid(…)` it is so wherever they are.

use super::formula::Formula;
use super::instance::{Builder, Side};
use super::poly::Poly;
use super::symbol::LoopId;
use super::walk::{Site, Walk, Worker};
use crate::exchange::Group;
use crate::kernel::{ExprId, Stmt, StmtKind, Within, any_stmt};
use crate::span::SpanId;

/// What is said to differ.
#[derive(Clone, Debug)]
pub(super) struct Differing {
    values: Vec<Poly>,
    within: Within,
    /// The loops around, in whose iterations the block meets.
    loops: Vec<LoopId>,
}

impl Walk<'_> {
    /// Notes that no two work-items have one of these numbers in common.
    pub(super) fn note_differing(&mut self, values: &[ExprId], within: Within) {
        let values = values.iter().map(|value| self.index(*value));
        let values: Vec<Poly> = values.filter(|value| !value.is_lost()).collect();
        let meeting = self.loops.iter().copied().filter(|id| self.meets_in(*id));
        let differing = Differing { values, within, loops: meeting.collect() };
        self.differing_here.push(self.differing.len());
        self.differing.push(differing);
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
    pub(super) fn keep_apart(&mut self, [first, second]: [&Site; 2]) {
        let walk = self.walk;
        let are_items = [first, second].iter().all(|site| site.worker == Worker::Item);
        let both = first.differing.iter().filter(|id| second.differing.contains(id));
        for differing in both.map(|id| &walk.differing[*id]) {
            let is_known = are_items
                && match (differing.within, self.meeting.shared_loops()) {
                    (Within::Grid, _) => true,
                    (Within::Block, None) => false,
                    (Within::Block, Some(shared)) => {
                        differing.loops.iter().all(|id| shared.contains(id))
                    }
                };
            if !is_known {
                continue;
            }
            for one in &differing.values {
                for other in &differing.values {
                    let pair = (self.on(Side::First, one), self.on(Side::Second, other));
                    self.system.assert(&Formula::ne(&pair.0, &pair.1));
                }
            }
        }
    }
}
