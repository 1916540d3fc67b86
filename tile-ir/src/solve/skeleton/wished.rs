//! Launches that come to what stands under conditions on scalars, dimensions and blocks.
//!
//! ```text
//! if z == 1 {
//!     let mut r = 0;
//!     for base in (0..C).step_by(64) { s[r, t] = …; r += 1; }     // of six rows
//! }
//! ```
//!
//! Runs with long loops, and those that ask for outcomes of comparisons, have usual scalars, at
//! which nothing is run here. So all runs are made once more for each way through the conditions
//! that a launch decides and that usual sizes do not take: each scalar, or dimension, of which a
//! condition asks something is put where that is so, as far as one such comparison says it.

use super::plain::{Plain, given};
use super::sizes::Sizes;
use crate::kernel::{Exit, ExprId, ExprKind, Kernel, Stmt, StmtKind, VarKind};
use crate::op::LogicOp;

/// Most ways that are run besides.
const MAX_WAYS: usize = 4;

/// Conditions that are to hold, and that are not to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wishes {
    pub(super) conditions: Vec<(ExprId, bool)>,
    /// Whether one of them asks for blocks.
    pub(super) are_of_blocks: bool,
}

impl Wishes {
    /// The ways through a kernel that usual sizes do not take; those are only asked for where a
    /// launch decides anything.
    pub(super) fn all(kernel: &Kernel, usual: impl FnOnce() -> Option<Sizes>) -> Vec<Self> {
        let plain = Plain::of(kernel);
        let mut ways = vec![Vec::new()];
        collect(&plain, &kernel.body, &mut Vec::new(), &mut ways);
        let stays: Vec<(ExprId, bool)> =
            kernel.exits.iter().filter_map(|exit| stays(&plain, exit)).collect();
        let is_straight = ways.len() == 1 && stays.is_empty();
        let Some(usual) = (!is_straight).then(usual).flatten() else { return Vec::new() };
        let mut all: Vec<Self> = Vec::new();
        for way in ways.iter().filter(|way| !ways.iter().any(|other| goes_on(way, other))) {
            let is_open = |(cond, _): &&(ExprId, bool)| way.iter().all(|(own, _)| own != cond);
            let stays = stays.iter().filter(is_open);
            let conditions: Vec<(ExprId, bool)> = way.iter().chain(stays).copied().collect();
            let is_new = conditions.iter().any(|wish| !holds(&plain, *wish, &usual));
            let are_of_blocks = conditions.iter().any(|(cond, _)| names_block(&plain, *cond));
            let own = Self { conditions, are_of_blocks };
            if is_new && !all.contains(&own) {
                all.push(own);
            }
        }
        all.truncate(MAX_WAYS);
        all
    }
}

/// Whether another way begins with this one and goes on.
fn goes_on(way: &[(ExprId, bool)], other: &[(ExprId, bool)]) -> bool {
    other.len() > way.len() && other.starts_with(way)
}

fn collect(
    plain: &Plain<'_>,
    stmts: &[Stmt],
    way: &mut Vec<(ExprId, bool)>,
    out: &mut Vec<Vec<(ExprId, bool)>>,
) {
    for stmt in stmts {
        if let StmtKind::If { cond, then, otherwise } = &stmt.kind {
            for (arm, holds) in [(then, true), (otherwise, false)] {
                let outer = way.len();
                asked(plain, (*cond, holds), way);
                if way.len() > outer && !arm.is_empty() {
                    out.push(way.clone());
                }
                collect(plain, arm, way, out);
                way.truncate(outer);
            }
        } else {
            let bodies = stmt.kind.bodies().into_iter();
            bodies.for_each(|body| collect(plain, body, way, out));
        }
    }
}

/// What a launch decides of a condition that is to hold, or not to.
fn asked(plain: &Plain<'_>, (cond, holds): (ExprId, bool), out: &mut Vec<(ExprId, bool)>) {
    if is_of_launch(plain, cond) {
        out.push((cond, holds));
    } else if let ExprKind::Logic { op, lhs, rhs } = plain.kernel.exprs[plain.resolved(cond)].kind
        && (op == LogicOp::And) == holds
    {
        [lhs, rhs].into_iter().for_each(|part| asked(plain, (part, holds), out));
    }
}

/// What is to be so that nobody leaves there.
fn stays(plain: &Plain<'_>, exit: &Exit) -> Option<(ExprId, bool)> {
    exit.cond.filter(|cond| is_of_launch(plain, *cond)).map(|cond| (cond, false))
}

/// Whether scalars, dimensions and coordinates of blocks decide a condition.
fn is_of_launch(plain: &Plain<'_>, cond: ExprId) -> bool {
    let is_given = |kind| matches!(kind, VarKind::Scalar(_) | VarKind::Dim | VarKind::Grid);
    plain.names(cond, &is_given)
        && !plain.names(cond, &|kind| {
            matches!(kind, VarKind::Block | VarKind::Each | VarKind::Loop | VarKind::Let { .. })
        })
        && !plain.reads(cond)
}

fn names_block(plain: &Plain<'_>, cond: ExprId) -> bool {
    plain.names(cond, &|kind| matches!(kind, VarKind::Grid))
}

/// Whether a wish is fulfilled at some sizes; what is not known is not.
fn holds(plain: &Plain<'_>, (cond, holds): (ExprId, bool), sizes: &Sizes) -> bool {
    let value = plain.value(cond, &|var| given(sizes, var));
    value.is_some_and(|value| (value != 0) == holds)
}
