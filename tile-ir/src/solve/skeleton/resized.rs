//! Sizes at which conditions may come out as they have at none that was run.
//!
//! Of the sizes that a tile parameter or a dimension may have few are run, and `T + k == 18 * k`
//! may hold at another one. Each size is looked at, and run where the [ranges](Spans) of what is
//! compared let the conditions come out so.

use std::collections::BTreeSet;

use super::doubts::{Outcomes, Resting};
use super::lacking::{Lacking, Lead};
use super::plan::Plan;
use super::sizes::Sizes;
use super::spans::Spans;
use crate::kernel::{ExprId, ExprKind, VarId};
use crate::op::CompareOp;

/// Most conditions that are led to.
const MAX_LEADS: usize = 24;

/// What leads to an outcome that may depend on sizes, and these.
pub(super) struct Resized {
    lead: Lead,
    /// Tile parameters, dimensions and scalars.
    pub(super) sizes: BTreeSet<VarId>,
}

impl Resized {
    pub(super) fn all(plan: &Plan<'_>, spans: &Spans<'_>, outcomes: &Outcomes) -> Vec<Self> {
        let resting = Resting::default();
        let lacking = Lacking::of(spans.plain(), (plan, &resting), outcomes);
        let mut all: Vec<Self> = Vec::new();
        for (_, lead) in lacking.leads(|cond| !spans.sizes_in(cond).is_empty()) {
            if all.len() < MAX_LEADS && !all.iter().any(|other| other.lead == lead) {
                let sizes = lead.outcomes.iter().flat_map(|(cond, _)| spans.sizes_in(*cond));
                let sizes = sizes.collect();
                all.push(Self { lead, sizes });
            }
        }
        all
    }

    /// Whether all comes out so at some sizes, as far as ranges tell.
    pub(super) fn may_be(&self, spans: &Spans<'_>, sizes: &Sizes) -> bool {
        self.lead.outcomes.iter().all(|(cond, holds)| may_come_out(spans, (*cond, *holds), sizes))
    }
}

fn may_come_out(spans: &Spans<'_>, (cond, holds): (ExprId, bool), sizes: &Sizes) -> bool {
    let ExprKind::Compare { op, lhs, rhs } = spans.plain().kernel.exprs[cond].kind else {
        return true;
    };
    let [one, other] = [lhs, rhs].map(|side| spans.range(side, sizes));
    match if holds { op } else { op.negated() } {
        CompareOp::Eq => one.0 <= other.1 && other.0 <= one.1,
        CompareOp::Ne => one.0 != one.1 || one != other,
        CompareOp::Lt => one.0 < other.1,
        CompareOp::Le => one.0 <= other.1,
        CompareOp::Gt => one.1 > other.0,
        CompareOp::Ge => one.1 >= other.0,
    }
}
