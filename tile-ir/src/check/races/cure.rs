//! Where a barrier mends a race.
//!
//! A place is offered only after the kernel with a barrier there has been run
//! again, and only where the whole block comes by: a barrier never goes into a
//! condition or a loop that differs between work-items.

use std::collections::BTreeSet;

use crate::check::{Uniformity, range_exprs};
use crate::kernel::{Kernel, Stmt, StmtKind};
use crate::solve::skeleton::{BUDGET, Conflict, Effort, Pair, Party, enumerate_within, probe};
use crate::span::SpanId;

/// Most places that are tried for one race.
const MAX_TRIES: usize = 8;

/// What all runs of one kernel with barriers put in may take.
pub(super) const FUEL: u32 = 2 * BUDGET;

/// A place for a barrier.
#[derive(Clone, Debug)]
pub(super) struct Cure {
    pub(super) insertion: Insertion,
    /// What still collides with it.
    pub(super) left: BTreeSet<Pair>,
    /// Whether blocks may still meet in the array, for all that is known.
    pub(super) blocks_may_meet: bool,
    /// The kernel with it.
    pub(super) mended: Kernel,
}

/// What came of looking for a place.
#[derive(Clone, Debug)]
pub(super) enum Sought {
    Found(Box<Cure>),
    /// No place mends it.
    Nowhere,
    /// There was too much to run to try all of them.
    Untried,
}

impl Sought {
    pub(super) fn found(self) -> Option<Cure> {
        match self {
            Self::Found(cure) => Some(*cure),
            Self::Nowhere | Self::Untried => None,
        }
    }
}

/// Where in the text a barrier is to be put.
#[derive(Clone, Copy, Debug)]
pub(super) enum Insertion {
    /// As the first statement of the loop with this keyword, or of the kernel.
    First(Option<SpanId>),
    /// As the last statement of the loop with this keyword, behind this line if the loop
    /// does not end on it.
    Last(SpanId, Option<u32>),
    /// Behind this line.
    After(u32),
    /// Between two statements on this line, before this column, from 1.
    Within(u32, u32),
}

/// The best place for a barrier that separates `pair`: that
/// which separates most, and of those the one just before the second access, or
/// the end of the loop that carries the race.
///
/// Where the race was seen at sizes of its own, with `seen`, it is looked for at
/// those.
pub(super) fn find_cure(
    kernel: &Kernel,
    uniformity: &Uniformity,
    pair: &Pair,
    seen: Option<&Conflict>,
    fuel: &mut u32,
) -> Sought {
    // `None` where it could not be run to the end.
    let mut left = |mended: &Kernel, effort: Effort| {
        let mut own = effort.budget().min(*fuel);
        let given = own;
        let mut found = enumerate_within(mended, effort, &mut own);
        if let Some(Conflict { sizes, first, .. }) = seen {
            let block: Vec<i64> = first.block.iter().map(|(_, at)| *at).collect();
            probe(mended, pair.array(), (sizes, &[block]), &mut found, &mut own);
        }
        *fuel -= given - own;
        (*fuel > 0).then_some(found.known)
    };
    // What a short run finds a full one finds too.
    let (mut places, mut is_untried) = (Vec::new(), false);
    for gap in gaps(kernel, uniformity, (pair, seen)).into_iter().take(MAX_TRIES) {
        let mended = with_barrier(kernel, &gap);
        let Some(least) = left(&mended, Effort::Short) else {
            is_untried = true;
            break;
        };
        if least.contains(pair) {
            continue;
        }
        // The first that may mend all is as good as any.
        let whole = if least.is_empty() { left(&mended, Effort::Full) } else { None };
        match whole {
            Some(whole) if whole.is_empty() => {
                return Sought::Found(Box::new(gap.cure(kernel, whole, mended)));
            }
            whole => places.push((least.len(), gap, mended, whole)),
        }
    }
    places.sort_by_key(|(least, ..)| *least);
    let mut best: Option<Cure> = None;
    for (least, gap, mended, whole) in places {
        if best.as_ref().is_some_and(|best| best.left.len() <= least) {
            break;
        }
        let Some(left) = whole.or_else(|| left(&mended, Effort::Full)) else {
            is_untried = true;
            break;
        };
        let fewer = best.as_ref().is_none_or(|best| left.len() < best.left.len());
        if fewer && !left.contains(pair) {
            best = Some(gap.cure(kernel, left, mended));
        }
    }
    match best {
        Some(best) => Sought::Found(Box::new(best)),
        None if is_untried => Sought::Untried,
        None => Sought::Nowhere,
    }
}

/// A statement list that the whole block runs in step.
#[derive(Clone, Debug)]
struct List<'a> {
    /// Which statement, and which of its bodies, from the outside in.
    path: Vec<(usize, usize)>,
    stmts: &'a [Stmt],
    /// The statement that it is a body of.
    owner: Option<&'a Stmt>,
}

impl List<'_> {
    /// Whether it is what a loop repeats.
    fn is_loop(&self) -> bool {
        self.owner.is_some_and(|owner| owner.kind.is_loop())
    }
}

/// A place between the statements of a list.
#[derive(Clone, Debug)]
struct Gap<'a> {
    list: List<'a>,
    at: usize,
}

impl Gap<'_> {
    fn cure(&self, kernel: &Kernel, left: BTreeSet<Pair>, mended: Kernel) -> Cure {
        Cure { insertion: self.insertion(kernel), left, blocks_may_meet: false, mended }
    }

    fn insertion(&self, kernel: &Kernel) -> Insertion {
        let (stmts, owner) = (self.list.stmts, self.list.owner);
        let Some(before) = self.at.checked_sub(1).map(|before| &stmts[before]) else {
            return Insertion::First(owner.map(|owner| owner.head));
        };
        let line = kernel.spans.range(before.span).end_line;
        match (stmts.get(self.at).map(|next| kernel.spans.range(next.span)), owner) {
            (Some(next), _) if next.line == line => Insertion::Within(line, next.column + 1),
            (None, Some(owner)) => {
                let ends_there = kernel.spans.range(owner.span).end_line == line;
                Insertion::Last(owner.head, (!ends_there).then_some(line))
            }
            (Some(_), _) | (None, None) => Insertion::After(line),
        }
    }
}

fn lists<'a>(kernel: &'a Kernel, uniformity: &Uniformity) -> Vec<List<'a>> {
    let mut lists = vec![List { path: Vec::new(), stmts: &kernel.body, owner: None }];
    let mut next = 0;
    while let Some(list) = lists.get(next).cloned() {
        for (index, stmt) in list.stmts.iter().enumerate() {
            let in_step = match &stmt.kind {
                StmtKind::Phase { range, .. } | StmtKind::For { range, .. } => {
                    range_exprs(range).all(|bound| uniformity.is_uniform_value(bound))
                }
                StmtKind::While { cond, .. } | StmtKind::If { cond, .. } => {
                    uniformity.is_uniform_value(*cond)
                }
                StmtKind::Let { .. }
                | StmtKind::LetArray { .. }
                | StmtKind::Assign { .. }
                | StmtKind::Store { .. }
                | StmtKind::Atomic { .. }
                | StmtKind::Update { .. }
                | StmtKind::Exchange { .. }
                | StmtKind::Each { .. }
                | StmtKind::Assume { .. }
                | StmtKind::Distinct { .. }
                | StmtKind::Barrier
                | StmtKind::WarpBarrier => false,
            };
            for (body, stmts) in stmt.kind.bodies().into_iter().enumerate().filter(|_| in_step) {
                let path = [list.path.as_slice(), &[(index, body)]].concat();
                lists.push(List { path, stmts, owner: Some(stmt) });
            }
        }
        next += 1;
    }
    lists
}

/// Whether a race was seen within one iteration of a loop.
fn is_of_one_round(seen: &Conflict, of: &Stmt) -> bool {
    let (StmtKind::For { var, .. } | StmtKind::Phase { var, .. }) = of.kind else { return false };
    let at = |party: &Party| party.counters.iter().find(|(of, _)| *of == var).map(|(_, at)| *at);
    at(&seen.first).is_some_and(|first| at(&seen.second) == Some(first))
}

/// The places between the accesses of `pair`, those to be preferred first.
fn gaps<'a>(
    kernel: &'a Kernel,
    uniformity: &Uniformity,
    (pair, seen): (&Pair, Option<&Conflict>),
) -> Vec<Gap<'a>> {
    let lists = lists(kernel, uniformity);
    let position = |list: &List<'_>, span| list.stmts.iter().position(|stmt| holds(stmt, span));
    // The innermost list around both; of a carried race, the loop's body.
    let around = lists.iter().rev().find_map(|list| {
        let first = position(list, pair.first.stmt)?;
        let second = position(list, pair.second.stmt)?;
        let own = pair.carried.is_none() || list.owner.map(|owner| owner.head) == pair.carried;
        own.then_some((list, first, second))
    });
    let Some((list, first, second)) = around else { return Vec::new() };
    let gap = |list: &List<'a>, at| Gap { list: list.clone(), at };
    // Within one statement of a loop it is iterations that can be put apart.
    if pair.carried.is_some() || first == second && list.is_loop() {
        let mut of_one_round = list.owner.zip(seen).into_iter();
        if pair.carried.is_none() && of_one_round.any(|(owner, seen)| is_of_one_round(seen, owner))
        {
            return Vec::new();
        }
        let places = (first + 1..=list.stmts.len()).rev().chain((0..=second).rev());
        return places.map(|at| gap(list, at)).collect();
    }
    let mut gaps: Vec<Gap<'a>> = (first + 1..=second).rev().map(|at| gap(list, at)).collect();
    // In a loop around the second alone, which then parts its iterations too.
    let inner = lists.iter().filter(|inner| {
        inner.is_loop() && inner.path.len() > list.path.len() && inner.path.starts_with(&list.path)
    });
    let inner: Vec<Gap<'a>> = inner
        .filter(|inner| position(inner, pair.first.stmt).is_none())
        .filter_map(|inner| Some(gap(inner, position(inner, pair.second.stmt)?)))
        .collect();
    // In one around both, where other iterations of theirs may be what meets.
    let ends = [list.stmts.len(), 0].map(|at| gap(list, at));
    let ends = ends.into_iter().filter(|_| list.is_loop());
    let next = gaps.len().min(1);
    gaps.splice(next..next, inner.into_iter().chain(ends));
    gaps
}

/// Whether `stmt` is the statement at `span`, or it is inside.
fn holds(stmt: &Stmt, span: SpanId) -> bool {
    stmt.span == span || stmt.kind.bodies().into_iter().flatten().any(|inner| holds(inner, span))
}

fn with_barrier(kernel: &Kernel, gap: &Gap<'_>) -> Kernel {
    let mut mended = kernel.clone();
    let mut list = &mut mended.body;
    for (stmt, body) in &gap.list.path {
        let Some(inner) = list[*stmt].kind.bodies_mut().into_iter().nth(*body) else {
            return kernel.clone();
        };
        list = inner;
    }
    let span = kernel.span;
    list.insert(gap.at, Stmt { kind: StmtKind::Barrier, span, head: span });
    mended
}
