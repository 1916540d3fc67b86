//! Sizes at which a comparison of the text goes the other way than at all small ones.
//!
//! `if n < 5000 { … }` is passed by at no size that is usually run, and `if b < 1000 { … }`
//! by no block of a small grid. Where a comparison has one answer at all of these, each
//! dimension and scalar by itself is made so large that it has another one, if there is such
//! a number: the smallest one is run. Of blocks and of rounds the last is asked about.

use std::collections::{BTreeMap, BTreeSet};

use super::plain::{Plain, given};
use super::sizes::{Choice, Sizes};
use crate::arena::EntityId as _;
use crate::kernel::{
    ExprId, ExprKind, Kernel, Literal, LoopRange, Stmt, StmtKind, VarId, VarKind, eval_compare,
};
use crate::op::CompareOp;

/// Usual sizes that are looked at.
const MAX_USUAL: usize = 64;

/// Most sizes that are run besides.
const MAX_SIZES: usize = 6;

/// The largest number that is tried.
const MOST: i64 = i32::MAX as i64;

/// The comparisons of a kernel.
struct Comparisons<'a> {
    plain: Plain<'a>,
    all: Vec<(CompareOp, ExprId, ExprId)>,
    /// The last value of axes and counters.
    last: BTreeMap<VarId, Last>,
}

/// One before an end, or a first value.
enum Last {
    Before(ExprId),
    Value(ExprId),
}

/// Such sizes, as few as there need be.
pub(super) fn beyond(kernel: &Kernel, choice: &Choice<'_>) -> Vec<Sizes> {
    let comparisons = Comparisons::of(kernel);
    let usual: Vec<Sizes> = choice.sizes(false).take(MAX_USUAL).collect();
    let Some(first) = usual.first() else { return Vec::new() };
    let ladder = ladder(kernel);
    let mut found: Vec<Sizes> = Vec::new();
    for comparison in &comparisons.all {
        let seen: BTreeSet<Option<bool>> =
            usual.iter().map(|sizes| comparisons.says(comparison, sizes)).collect();
        // What cannot be computed may be anything.
        if seen.len() != 1 || seen.contains(&None) {
            continue;
        }
        for (var, declared) in kernel.vars.iter() {
            if !matches!(declared.kind, VarKind::Dim | VarKind::Scalar(_)) {
                continue;
            }
            let with = |value: i64| {
                let mut sizes = first.clone();
                sizes.values[var.index()] = Some(value);
                sizes
            };
            let is_new = |value: i64| {
                let says = comparisons.says(comparison, &with(value));
                says.is_some() && !seen.contains(&says)
            };
            if let Some(value) = first_where(&ladder, &is_new) {
                found.push(with(value));
            }
        }
    }
    found.sort_by_key(|sizes| sizes.values.iter().flatten().copied().max());
    found.dedup();
    found.truncate(MAX_SIZES);
    found
}

/// The least number of which something holds that holds of a step of the ladder, where it
/// holds of all between.
fn first_where(ladder: &[i64], holds: &dyn Fn(i64) -> bool) -> Option<i64> {
    let at = ladder.iter().position(|value| holds(*value))?;
    let mut high = ladder[at];
    let mut low = if at == 0 { high } else { ladder[at - 1] };
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// Numbers that grow fast, and those next to the literals of the text.
fn ladder(kernel: &Kernel) -> Vec<i64> {
    let literals = kernel.exprs.values().filter_map(|expr| match expr.kind {
        ExprKind::Literal(Literal::Int(value)) => i64::try_from(value).ok(),
        _ => None,
    });
    let near = literals.flat_map(|value| [value.saturating_sub(1), value, value.saturating_add(1)]);
    let all: BTreeSet<i64> = (0..31).map(|exponent| 1 << exponent).chain(near).collect();
    all.into_iter().filter(|value| (1..=MOST).contains(value)).collect()
}

impl<'a> Comparisons<'a> {
    fn of(kernel: &'a Kernel) -> Self {
        let all = kernel.exprs.values().filter_map(|expr| match expr.kind {
            ExprKind::Compare { op, lhs, rhs } => Some((op, lhs, rhs)),
            _ => None,
        });
        let axes = kernel.grid.iter().chain(kernel.block.iter().flatten());
        let last = axes.map(|axis| (axis.var, Last::Before(axis.extent))).collect();
        let mut comparisons = Self { plain: Plain::of(kernel), all: all.collect(), last };
        comparisons.visit(&kernel.body);
        comparisons
    }

    fn visit(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Each { axes, .. } => {
                    let axes = axes.iter().map(|axis| (axis.var, Last::Before(axis.extent)));
                    self.last.extend(axes);
                }
                StmtKind::Phase { var, range, .. } | StmtKind::For { var, range, .. } => {
                    let last = match *range {
                        LoopRange::Between { end, .. } => Last::Before(end),
                        LoopRange::Halving(n) | LoopRange::Doubling(n) => Last::Value(n),
                    };
                    self.last.insert(*var, last);
                }
                _ => {}
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.visit(body));
        }
    }

    /// What a comparison says at these sizes; `None` where memory decides it.
    fn says(&self, (op, lhs, rhs): &(CompareOp, ExprId, ExprId), sizes: &Sizes) -> Option<bool> {
        Some(eval_compare(*op, self.value(*lhs, sizes)?, self.value(*rhs, sizes)?))
    }

    fn value(&self, expr: ExprId, sizes: &Sizes) -> Option<i128> {
        self.plain.value(expr, &|var| {
            given(sizes, var).or_else(|| match self.last.get(&var)? {
                Last::Before(end) => Some((self.value(*end, sizes)? - 1).max(0)),
                Last::Value(n) => self.value(*n, sizes),
            })
        })
    }
}
