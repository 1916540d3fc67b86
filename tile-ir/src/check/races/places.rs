//! Whether a pair is settled where work-items are said to have different places:
//! `assume(distinct_in_block(at));`.
//!
//! It is offered only where the pair is proved with it, at the place in the text where it is
//! to stand: before the accesses, in their list of statements, from where on what their
//! indices are made of stays as it is.

use std::collections::BTreeSet;

use super::undecided::scope_of;
use crate::check::agreed::turns::like;
use crate::check::{Origins, Uniformity, uniformity};
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, Place, Stmt, StmtKind, VarId, Within, any_subexpr,
    copy_expr, print_converted, print_expr,
};
use crate::op::BinaryOp;
use crate::solve::skeleton::Scope;
use crate::solve::symbolic::{Unproved, prove_among};
use crate::span::SpanId;

/// Two accesses of one array, by their places in the text, and whose they are.
pub(super) struct Asked {
    pub(super) array: ArrayRef,
    pub(super) places: [SpanId; 2],
    pub(super) scope: Scope,
}

/// What the author could say of the places of work-items, in words.
pub(super) fn settling_places(
    kernel: &Kernel,
    uniformity: &Uniformity,
    asked: &Asked,
    is_of: &dyn Fn(&Unproved) -> bool,
) -> Option<String> {
    let (list, at) = list_of(kernel, &kernel.body, asked)?;
    let indices = asked.places.map(|place| indices_at(kernel, &list[at..], asked.array, place));
    let [Some(first), Some(second)] = indices else { return None };
    let offer = Offer { kernel, uniformity, asked, indices: [first, second], head: list[at].span };
    let offered = match asked.scope {
        Scope::Grid => offer.settling(Within::Grid, is_of),
        Scope::Block => {
            let is_left = |found: &Unproved| is_of(found) || scope_of(found) == Scope::Grid;
            let of_block = offer.said(Within::Block);
            // What holds of a block alone is not enough where blocks may meet as well.
            let is_enough = of_block.as_ref().is_some_and(|said| !said.leaves(&is_left));
            let of_grid = (!is_enough).then(|| offer.settling(Within::Grid, &is_left)).flatten();
            of_grid.or_else(|| of_block.filter(|said| !said.leaves(is_of)))
        }
    };
    let Offered { texts, within, .. } = offered?;
    let place = before(kernel, offer.head);
    let group = match within {
        Within::Block => "the block",
        Within::Grid => "the launch",
    };
    Some(format!(
        "if the places of the work-items of {group} are known to differ, say so {place}: \
         `assume({}({}));`",
        within.name(),
        texts.join(", ")
    ))
}

/// The place in the text before the statement at `head`: its line, and its column where something
/// else may stand before it on that line: another statement, a condition, or an `else`.
fn before(kernel: &Kernel, head: SpanId) -> String {
    let at = kernel.spans.range(head);
    let is_behind = |other: SpanId| {
        let other = kernel.spans.range(other);
        other.line == at.line && other.column < at.column
    };
    let is_shared = is_behind(kernel.span)
        || kernel.exprs.values().any(|expr| is_behind(expr.span))
        || any_stmt_at(&kernel.body, &|stmt| is_behind(stmt.span) || begins_else(stmt, head));
    if is_shared {
        return format!("on line {}, before column {}", at.line, at.column + 1);
    }
    format!("before line {}", at.line)
}

/// Whether what is done where a condition does not hold begins with the statement at `head`.
fn begins_else(stmt: &Stmt, head: SpanId) -> bool {
    matches!(&stmt.kind, StmtKind::If { otherwise, .. }
        if otherwise.first().is_some_and(|first| first.span == head))
}

/// Whether one of these statements, or of those in them, is such.
fn any_stmt_at(stmts: &[Stmt], is_such: &dyn Fn(&Stmt) -> bool) -> bool {
    stmts.iter().any(|stmt| {
        is_such(stmt) || stmt.kind.bodies().into_iter().any(|body| any_stmt_at(body, is_such))
    })
}

/// What is to be said: that these differ, and between whom.
struct Offered {
    texts: Vec<String>,
    within: Within,
    /// What has no proof then.
    unproved: Vec<Unproved>,
}

impl Offered {
    /// Whether something stays unproved that `is_of` asks about.
    fn leaves(&self, is_of: &dyn Fn(&Unproved) -> bool) -> bool {
        self.unproved.iter().any(is_of)
    }
}

/// What may be said of the places of two accesses, before the statement at `head`.
struct Offer<'k> {
    kernel: &'k Kernel,
    uniformity: &'k Uniformity,
    asked: &'k Asked,
    indices: [&'k [ExprId]; 2],
    head: SpanId,
}

impl Offer<'_> {
    /// What is to be said, if nothing stays unproved then that `is_of` asks about.
    fn settling(&self, within: Within, is_of: &dyn Fn(&Unproved) -> bool) -> Option<Offered> {
        self.said(within).filter(|said| !said.leaves(is_of))
    }

    /// Of which numbers it may be said that they differ: of the index along one axis, or of those
    /// along several put together.
    fn said(&self, within: Within) -> Option<Offered> {
        let n_axes = self.indices[0].len().min(self.indices[1].len());
        let axes: Vec<usize> = (0..n_axes).filter(|axis| !self.is_common(*axis, within)).collect();
        let (mut vouched, values) = match axes.as_slice() {
            [axis] => (self.kernel.clone(), self.indices.map(|indices| indices[*axis])),
            [_, _, ..] => self.joined(&axes)?,
            [] => return None,
        };
        if !values.iter().all(|value| self.is_data(&vouched, *value)) {
            return None;
        }
        let text = |value: ExprId| match axes.len() {
            1 => print_expr(&vouched, value),
            _ => print_converted(&vouched, value),
        };
        let mut texts: Vec<String> = values.into_iter().map(text).collect();
        let n_values = if texts[0] == texts[1] { 1 } else { 2 };
        texts.truncate(n_values);
        self.vouch(&mut vouched, &values[..n_values], within);
        let places = BTreeSet::from(self.asked.places);
        let is_asked = |_: ArrayRef, met: [SpanId; 2], _: bool| BTreeSet::from(met) == places;
        let unproved = prove_among(&vouched, &uniformity(&vouched), &is_asked);
        Some(Offered { texts, within, unproved })
    }

    /// Whether the indices along an axis are one number for all of a group.
    fn is_common(&self, axis: usize, within: Within) -> bool {
        self.indices.iter().all(|indices| match within {
            Within::Block => self.uniformity.is_uniform_value(indices[axis]),
            Within::Grid => {
                matches!(self.kernel.exprs[indices[axis]].kind, ExprKind::Literal(_))
            }
        })
    }

    /// Whether data decides about a value.
    fn is_data(&self, kernel: &Kernel, value: ExprId) -> bool {
        Origins::of(kernel).is_open(kernel, value) && !self.uniformity.is_uniform_value(value)
    }

    /// The kernel with one number for the indices along some axes, of either access, as an array
    /// of one axis would have it.
    fn joined(&self, axes: &[usize]) -> Option<(Kernel, [ExprId; 2])> {
        let mut out = self.kernel.clone();
        let extents = self.kernel.extents(self.asked.array).to_vec();
        let mut join = |indices: &[ExprId]| {
            let (first, others) = axes.split_first()?;
            let all = indices[*first];
            Some(others.iter().fold(all, |all, axis| {
                let extent = copy_expr(&mut out, extents[*axis], &mut |_, _| None);
                let kind = ExprKind::Binary { op: BinaryOp::Mul, lhs: all, rhs: extent };
                let all = like(&mut out, all, kind);
                let kind = ExprKind::Binary { op: BinaryOp::Add, lhs: all, rhs: indices[*axis] };
                like(&mut out, all, kind)
            }))
        };
        let [first, second] = self.indices;
        let values = [join(first)?, join(second)?];
        Some((out, values))
    }

    /// Says it in a kernel.
    fn vouch(&self, vouched: &mut Kernel, values: &[ExprId], within: Within) {
        let mut body = std::mem::take(&mut vouched.body);
        let kind = StmtKind::Distinct { values: values.to_vec(), within };
        insert(&mut body, Stmt { kind, span: self.head, head: self.head });
        vouched.body = body;
    }
}

/// The list in which both accesses stand, each in a statement of its own or in one, with the
/// first one's place, where nothing from there on changes what the second one is indexed by.
fn list_of<'k>(kernel: &Kernel, stmts: &'k [Stmt], asked: &Asked) -> Option<(&'k [Stmt], usize)> {
    let holds = |stmt: &Stmt, place: SpanId| accesses(kernel, stmt, asked.array, place).is_some();
    let at = asked.places.map(|place| stmts.iter().position(|stmt| holds(stmt, place)));
    if let [Some(first), Some(second)] = at {
        let (from, to) = (first.min(second), first.max(second));
        let later = asked.places[usize::from(second >= first)];
        let indices = indices_at(kernel, &stmts[to..], asked.array, later)?;
        let mut used = BTreeSet::new();
        indices.iter().for_each(|index| collect_vars(kernel, *index, &mut used));
        let is_kept = stmts[from..to].iter().all(|stmt| !sets(stmt, &used));
        return is_kept.then_some((stmts, from));
    }
    let mut bodies = stmts.iter().flat_map(|stmt| stmt.kind.bodies());
    bodies.find_map(|body| list_of(kernel, body, asked))
}

fn collect_vars(kernel: &Kernel, expr: ExprId, used: &mut BTreeSet<VarId>) {
    any_subexpr(kernel, expr, &mut |kind| {
        if let ExprKind::Var(var) = kind {
            used.insert(*var);
        }
        false
    });
}

/// Whether a statement declares or changes one of these.
fn sets(stmt: &Stmt, used: &BTreeSet<VarId>) -> bool {
    let own = match &stmt.kind {
        StmtKind::Let { var, .. }
        | StmtKind::Assign { var, .. }
        | StmtKind::Update { place: Place::Var(var), .. }
        | StmtKind::Exchange { var, .. } => used.contains(var),
        StmtKind::Atomic { old, .. } => old.is_some_and(|old| used.contains(&old)),
        StmtKind::Store { .. } | StmtKind::Update { place: Place::Element(_), .. } => false,
        StmtKind::LetArray { .. }
        | StmtKind::Each { .. }
        | StmtKind::Phase { .. }
        | StmtKind::For { .. }
        | StmtKind::While { .. }
        | StmtKind::If { .. }
        | StmtKind::Assume { .. }
        | StmtKind::Distinct { .. }
        | StmtKind::Barrier
        | StmtKind::WarpBarrier => false,
    };
    own || stmt.kind.bodies().into_iter().flatten().any(|stmt| sets(stmt, used))
}

/// What the access at this place of a list of statements is indexed by.
fn indices_at<'k>(
    kernel: &'k Kernel,
    stmts: &'k [Stmt],
    array: ArrayRef,
    place: SpanId,
) -> Option<&'k [ExprId]> {
    stmts.iter().find_map(|stmt| accesses(kernel, stmt, array, place))
}

/// The indices of the statement's own access at this place.
fn accesses<'k>(
    kernel: &'k Kernel,
    stmt: &'k Stmt,
    array: ArrayRef,
    place: SpanId,
) -> Option<&'k [ExprId]> {
    let is_it = |access: &Access| access.array == array && access.span == place;
    if let StmtKind::Store { access, .. }
    | StmtKind::Atomic { access, .. }
    | StmtKind::Update { place: Place::Element(access), .. } = &stmt.kind
        && is_it(access)
    {
        return Some(&access.indices);
    }
    let mut open = stmt.kind.exprs();
    while let Some(expr) = open.pop() {
        if let ExprKind::Load(access) = &kernel.exprs[expr].kind
            && is_it(access)
        {
            return Some(&access.indices);
        }
        open.extend(kernel.exprs[expr].kind.operands());
    }
    None
}

/// Puts a statement before the one at its place.
fn insert(stmts: &mut Vec<Stmt>, new: Stmt) {
    if let Some(at) = stmts.iter().position(|stmt| stmt.span == new.span) {
        stmts.insert(at, new);
        return;
    }
    for stmt in stmts {
        for body in stmt.kind.bodies_mut() {
            insert(body, new.clone());
        }
    }
}
