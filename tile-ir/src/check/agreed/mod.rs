//! What work-items are proved to agree on, though each computes it from numbers of its
//! own: it becomes what the block's first work-item computes.
//!
//! ```text
//! if x >= 512 { return; }                          // with x = g * 256 + t below 512
//! for i in (t..64).step_by(16) { …; barrier; }     // four rounds, whatever t is
//! while i < rounded { …; barrier; i += stride; }
//! ```
//!
//! The condition of the `if` is the same for all work-items of a block, and so is the
//! number of rounds of the loops, yet the text of none of them is. Where such a condition
//! decides whether work-items meet, it is replaced by the same condition of the first
//! work-item, whose coordinates are 0 ([`first`]); a loop becomes the one that the first
//! work-item runs, in which each has a counter of its own ([`rounds`]):
//!
//! ```text
//! if g * 256 + 0 >= 512 { return; }
//! for n in (0..64).step_by(16) { let i = n + t; …; barrier; }
//! while i_first < rounded { …; barrier; i += stride; i_first += stride; }
//! ```
//!
//! What holds for everybody, or for nobody, is no condition at all ([`settled`]). What both
//! arms of a condition set alike is set behind it ([`alike`]), exits in a row are one
//! ([`exits`]), and a loop in whose first turns alone work-items meet becomes two ([`turns`]).
//! Where that does not do, a loop that some leave is cut at the last turn in which all meet
//! ([`left`]).
//!
//! What all read at one place is one value, as if `uniform` stood around it ([`read`]).
//!
//! That is the kernel which all other rules judge, which is embedded and which is run:
//! barriers stand in control flow that the text shows to be the block's, and counters are
//! each work-item's own. Only kernels in which somebody may miss a meeting are touched.
//!
//! # Why it means the same
//!
//! Let a block run up to the first such condition at which two of its work-items part.
//! Until then all have run the same statements in the same rounds, so that they come by
//! together there, and [`question`] or [`points`] has shown that of those that do no two
//! find different answers. Hence there is no first one; all answers are the first
//! work-item's, which comes by as well. What it computes is computed beside it: a variable
//! of which its value is asked for has a second one that is assigned at the same places,
//! by all, from what the first work-item has there. That control flow around all these
//! places is the block's is seen in the end; what is not stays as it was.
//!
//! A proof may rest on numbers that a launch must not wrap ([`Exact`], [`narrows`]), and on
//! its preconditions. It counts only where the kernel that comes out asks the launch for all
//! of them.

mod alike;
mod assigned;
pub(super) mod copies;
mod exits;
mod first;
mod left;
mod points;
mod question;
mod read;
mod rounds;
mod settled;
pub(super) mod turns;

use std::collections::BTreeSet;

use self::assigned::Assigned;
use self::first::First;
use self::question::Rest;
use super::exact::Exact;
use super::flow::{self, Flow};
use super::fold::Folds;
use super::narrow::narrows;
use crate::arena::EntityId as _;
use crate::exchange::Group;
use crate::kernel::{
    ExprId, ExprKind, Kernel, LoopRange, Place, Stmt, StmtKind, VarId, any_stmt, any_subexpr,
};

/// Most conditions that are asked for in one kernel, those asked again included.
const MAX_ASKED: usize = 16;

/// Where work-items may part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Parting {
    /// At the condition of an `if`.
    If(ExprId),
    /// At that of a `while`.
    While(ExprId),
    /// At the bounds of a loop with this counter.
    For(VarId),
}

impl Parting {
    fn of(kind: &StmtKind) -> Option<Self> {
        match kind {
            StmtKind::If { cond, .. } => Some(Self::If(*cond)),
            StmtKind::While { cond, .. } => Some(Self::While(*cond)),
            StmtKind::For { var, range: LoopRange::Between { .. }, .. } => Some(Self::For(*var)),
            StmtKind::For { range: LoopRange::Halving(_) | LoopRange::Doubling(_), .. }
            | StmtKind::Phase { .. }
            | StmtKind::Each { .. }
            | StmtKind::Let { .. }
            | StmtKind::LetArray { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Store { .. }
            | StmtKind::Update { .. }
            | StmtKind::Atomic { .. }
            | StmtKind::Exchange { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Distinct { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => None,
        }
    }
}

/// The kernel with what its work-items agree on decided by the first of them, or by what all
/// read; `None` where nothing is seen to be so. `flow` is the kernel's.
pub(super) fn agreed(kernel: &Kernel, flow: &Flow) -> Option<Kernel> {
    let by_first = by_first(kernel, &flow.values);
    if by_first.as_ref().is_some_and(none_part) {
        return by_first;
    }
    let read = read::by_all(kernel, &flow.values);
    let read = read.and_then(|read| match none_part(&read) {
        true => Some(read),
        false => self::by_first(&read, &values_of(&read)).filter(none_part),
    });
    read.or(by_first)
}

/// Whether no work-items of a block or a warp part where they are to meet, or differ in what is
/// said to be the same for all.
fn none_part(kernel: &Kernel) -> bool {
    let flow = super::written::flow_of(kernel, &Folds::of(kernel));
    flow.divergent.is_empty() && flow.not_uniform.is_empty()
}

/// The kernel with what its work-items agree on decided by the first of them; `None` where
/// nothing is seen to be so.
fn by_first(kernel: &Kernel, values: &[bool]) -> Option<Kernel> {
    kernel.block.as_ref()?;
    let mut now = kernel.clone();
    let mut is_settled = settled::leave_out(&mut now);
    is_settled |= alike::move_out(&mut now);
    is_settled |= exits::merge(&mut now);
    let mut values = if is_settled { values_of(&now) } else { values.to_vec() };
    if turns::cut(&mut now, &values) {
        is_settled = true;
        values = values_of(&now);
    }
    let whole = decided(kernel, (now.clone(), values.clone()), is_settled);
    if whole.as_ref().is_some_and(all_meet) || !left::cut(&mut now, &values) {
        return whole;
    }
    values = values_of(&now);
    decided(kernel, (now, values), true).filter(all_meet).or(whole)
}

/// Whether all come to where they are to meet.
fn all_meet(kernel: &Kernel) -> bool {
    let folds = Folds::of(kernel);
    flow::analyse(kernel, &|condition| folds.get(condition), Group::Block).divergent.is_empty()
}

/// What is left of a kernel once all is decided that is seen to be agreed on; `is_settled` says
/// whether it differs already from what was `written`.
fn decided(
    written: &Kernel,
    (mut now, mut values): (Kernel, Vec<bool>),
    mut is_settled: bool,
) -> Option<Kernel> {
    let mut decided = BTreeSet::new();
    let mut rests = Vec::new();
    let (mut refused, mut asked) = (BTreeSet::new(), 0);
    loop {
        let mut open = partings(&now, &values).into_iter();
        let next = open.find(|parting| !refused.contains(parting));
        let Some(parting) = next.filter(|_| asked < MAX_ASKED) else { break };
        asked += 1;
        let settle = || match parting {
            Parting::If(cond) => settled::settled(&now, cond),
            Parting::While(_) | Parting::For(_) => None,
        };
        // Where not even all come by, the first work-item's answer is nobody's.
        let is_apart = stands_apart(&now.body, &values, parting);
        let settled = if is_apart { settle() } else { None };
        let decide = || decide(&now, &values, parting);
        let decision = if settled.is_some() { None } else { decide() };
        let is_open = !is_apart && decision.is_none();
        let settled = settled.or_else(|| if is_open { settle() } else { None });
        if let Some((next, by, more)) = decision {
            now = next;
            decided.insert(by);
            rests.extend(more);
        } else if let Some((next, rest)) = settled {
            (now, is_settled) = (next, true);
            rests.push(rest);
        } else {
            refused.insert(parting);
            continue;
        }
        values = values_of(&now);
        // What one condition decides may be what others ask for.
        refused.clear();
    }
    let exact = Exact::of(&now);
    let is_right = (is_settled || !decided.is_empty())
        && are_common(&now.body, (&values, &decided), true)
        && (narrows(&now) || !narrows(written))
        && rests.iter().all(|rest| rest.is_asked_by(&now, (&exact, narrows(&now))));
    is_right.then_some(now)
}

fn values_of(kernel: &Kernel) -> Vec<bool> {
    let folds = Folds::of(kernel);
    flow::analyse(kernel, &|condition| folds.get(condition), Group::Block).values
}

/// Where work-items may part, as far as it decides whether they meet, outer places first.
fn partings(kernel: &Kernel, values: &[bool]) -> Vec<Parting> {
    let mut deciding = Vec::new();
    collect_deciding((kernel, values, &BTreeSet::new()), &kernel.body, &mut deciding);
    let mut assigned = Assigned::default();
    assigned.add(&kernel.body);
    let mut wanted = assigned.behind(kernel, &deciding);
    wanted.extend(kernel.exits.iter().filter_map(|exit| exit.flag));
    let mut out = Vec::new();
    collect_partings((kernel, values, &wanted), &kernel.body, &mut out);
    out
}

/// The expressions that decide whether statements are run in which work-items meet or one of `vars`
/// is set, and that may differ between work-items.
fn collect_deciding(
    (kernel, values, vars): (&Kernel, &[bool], &BTreeSet<VarId>),
    stmts: &[Stmt],
    out: &mut Vec<ExprId>,
) {
    for stmt in stmts {
        if meets(kernel, stmt) || sets(stmt, vars) {
            out.extend(deciders(&stmt.kind).iter().filter(|expr| !values[expr.index()]));
        }
        let bodies = stmt.kind.bodies().into_iter();
        bodies.for_each(|body| collect_deciding((kernel, values, vars), body, out));
    }
}

fn collect_partings(
    (kernel, values, wanted): (&Kernel, &[bool], &BTreeSet<VarId>),
    stmts: &[Stmt],
    out: &mut Vec<Parting>,
) {
    for stmt in stmts {
        if matches!(stmt.kind, StmtKind::Each { .. }) {
            continue;
        }
        let is_common = deciders(&stmt.kind).iter().all(|expr| values[expr.index()]);
        if !is_common {
            let concerns = meets(kernel, stmt) || sets(stmt, wanted);
            let Some(parting) = Parting::of(&stmt.kind).filter(|_| concerns) else { continue };
            out.push(parting);
        }
        let bodies = stmt.kind.bodies().into_iter();
        bodies.for_each(|body| collect_partings((kernel, values, wanted), body, out));
    }
}

/// The expressions that decide whether and how often the statements inside are run.
fn deciders(kind: &StmtKind) -> Vec<ExprId> {
    match kind {
        StmtKind::Phase { range, .. } | StmtKind::For { range, .. } => range.exprs(),
        StmtKind::While { cond, .. } | StmtKind::If { cond, .. } => vec![*cond],
        StmtKind::Let { .. }
        | StmtKind::LetArray { .. }
        | StmtKind::Assign { .. }
        | StmtKind::Store { .. }
        | StmtKind::Update { .. }
        | StmtKind::Atomic { .. }
        | StmtKind::Exchange { .. }
        | StmtKind::Each { .. }
        | StmtKind::Assume { .. }
        | StmtKind::Distinct { .. }
        | StmtKind::Barrier
        | StmtKind::WarpBarrier => Vec::new(),
    }
}

/// What is asked at a place: the condition, or the bounds of the loop and its step.
fn asked(stmts: &[Stmt], place: Parting) -> Option<Vec<ExprId>> {
    stmts.iter().find_map(|stmt| {
        if Parting::of(&stmt.kind) == Some(place) {
            return Some(deciders(&stmt.kind));
        }
        stmt.kind.bodies().into_iter().find_map(|body| asked(body, place))
    })
}

/// Whether work-items meet inside a statement.
fn meets(kernel: &Kernel, stmt: &Stmt) -> bool {
    let agrees = |expr: &ExprId| {
        any_subexpr(kernel, *expr, &mut |kind| matches!(kind, ExprKind::Uniform(_)))
    };
    stmt.has_meeting()
        || any_stmt(std::slice::from_ref(stmt), &mut |kind| {
            matches!(kind, StmtKind::Phase { .. }) || kind.exprs().iter().any(agrees)
        })
}

/// Whether one of these variables is assigned inside a statement.
fn sets(stmt: &Stmt, vars: &BTreeSet<VarId>) -> bool {
    any_stmt(std::slice::from_ref(stmt), &mut |kind| match kind {
        StmtKind::Assign { var, .. } | StmtKind::Update { place: Place::Var(var), .. } => {
            vars.contains(var)
        }
        _ => false,
    })
}

/// The kernel in which the first work-item decides here, what decides now, and on what the
/// proof rests.
fn decide(
    kernel: &Kernel,
    values: &[bool],
    parting: Parting,
) -> Option<(Kernel, Parting, Vec<Rest>)> {
    let mut next = kernel.clone();
    let mut first = First::new(&mut next, values);
    let by = match parting {
        Parting::If(cond) => first.replace_condition(cond).map(Parting::If),
        Parting::While(cond) => first.replace_condition(cond).map(Parting::While),
        Parting::For(var) => rounds::of_block(&mut first, var).map(Parting::For),
    }?;
    // Before anything is proved: where others decide on what it would be decided by.
    are_common(&next.body, (&values_of(&next), &BTreeSet::from([by])), false).then_some(())?;
    if points::agree(kernel, parting) {
        return Some((next, by, Vec::new()));
    }
    let rests = question::agree(kernel, values, parting)?;
    Some((next, by, rests))
}

/// Whether what decides at these places is the same for all work-items, and what decides
/// whether they come by there too, unless that is left open.
fn are_common(
    stmts: &[Stmt],
    (values, decided): (&[bool], &BTreeSet<Parting>),
    is_whole: bool,
) -> bool {
    stmts.iter().all(|stmt| {
        let is_common = deciders(&stmt.kind).iter().all(|expr| values[expr.index()]);
        let is_decided = Parting::of(&stmt.kind).is_some_and(|of| decided.contains(&of));
        if is_common || !is_whole && !is_decided {
            let mut bodies = stmt.kind.bodies().into_iter();
            return bodies.all(|body| are_common(body, (values, decided), is_whole));
        }
        !is_decided && !holds_any(stmt, decided)
    })
}

/// Whether a place stands where something else lets some come by and not others.
fn stands_apart(stmts: &[Stmt], values: &[bool], place: Parting) -> bool {
    stmts.iter().any(|stmt| {
        let is_it = Parting::of(&stmt.kind) == Some(place);
        let is_common = deciders(&stmt.kind).iter().all(|expr| values[expr.index()]);
        let mut bodies = stmt.kind.bodies().into_iter();
        match is_it || is_common {
            true => bodies.any(|body| stands_apart(body, values, place)),
            false => holds_any(stmt, &BTreeSet::from([place])),
        }
    })
}

/// Whether one of these places is inside a statement.
fn holds_any(stmt: &Stmt, decided: &BTreeSet<Parting>) -> bool {
    let mut is_one = |kind: &StmtKind| Parting::of(kind).is_some_and(|of| decided.contains(&of));
    any_stmt(std::slice::from_ref(stmt), &mut is_one)
}
