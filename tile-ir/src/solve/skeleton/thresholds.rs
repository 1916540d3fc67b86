//! Sizes at which comparisons of the text say what they say at no small ones.
//!
//! `if n < 5000 { … }` is passed by at no size that is usually run, and `if b < 1000 { … }`
//! by no block of a small grid; of `n < 50` and `n < 60` one alone may hold at none. Each
//! dimension and scalar by itself is made larger until comparisons say something new
//! together, and the smallest such numbers are run. Of blocks and of rounds the last is
//! asked about.

use std::collections::{BTreeMap, BTreeSet};

use super::plain::{Plain, given};
use super::sizes::{Choice, Sizes};
use crate::arena::EntityId as _;
use crate::kernel::{
    ExprId, ExprKind, Kernel, Literal, LoopRange, Stmt, StmtKind, VarId, VarKind, eval_compare,
};
use crate::op::{BinaryOp, CompareOp};

/// Usual sizes that are looked at.
const MAX_USUAL: usize = 64;

/// Most sizes that are run besides.
const MAX_SIZES: usize = 8;

/// The largest number that is tried.
const MOST: i64 = i32::MAX as i64;

/// The comparisons of a kernel; of the lesser or the greater of two, which it is.
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

/// What all comparisons say; `None` where memory decides.
type Answers = Vec<Option<bool>>;

/// Sizes at which comparisons say together what they do at none of the usual ones.
pub(super) fn beyond(kernel: &Kernel, choice: &Choice<'_>) -> Vec<Sizes> {
    let comparisons = Comparisons::of(kernel);
    if comparisons.all.is_empty() {
        return Vec::new();
    }
    let usual: Vec<Sizes> = choice.sizes(false).take(MAX_USUAL).collect();
    let Some(first) = usual.first() else { return Vec::new() };
    let mut seen: BTreeSet<Answers> =
        usual.iter().map(|sizes| comparisons.answers(sizes)).collect();
    let ladder = ladder(kernel);
    let mut found: Vec<Sizes> = Vec::new();
    for (var, declared) in kernel.vars.iter() {
        if !matches!(declared.kind, VarKind::Dim | VarKind::Scalar(_)) {
            continue;
        }
        let with = |value: i64| {
            let mut sizes = first.clone();
            sizes.values[var.index()] = Some(value);
            sizes
        };
        for value in turns(&ladder, &|value| comparisons.answers(&with(value))) {
            let sizes = with(value);
            if seen.insert(comparisons.answers(&sizes)) {
                found.push(sizes);
            }
        }
    }
    found.sort_by_key(|sizes| sizes.values.iter().flatten().copied().max());
    found.truncate(MAX_SIZES);
    found
}

/// The first numbers of other answers than those before, rising: between steps of the
/// ladder that have two answers there is one.
fn turns(ladder: &[i64], answers: &dyn Fn(i64) -> Answers) -> Vec<i64> {
    let mut found = Vec::new();
    let steps: Vec<Answers> = ladder.iter().map(|value| answers(*value)).collect();
    for (at, pair) in steps.windows(2).enumerate() {
        if pair[0] == pair[1] {
            continue;
        }
        let (mut low, mut high) = (ladder[at], ladder[at + 1]);
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if answers(middle) == pair[0] { low = middle } else { high = middle }
        }
        found.push(high);
    }
    found
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
            ExprKind::Binary { op: BinaryOp::Min | BinaryOp::Max, lhs, rhs } => {
                Some((CompareOp::Lt, lhs, rhs))
            }
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

    fn answers(&self, sizes: &Sizes) -> Answers {
        let answer = |(op, lhs, rhs): &(CompareOp, ExprId, ExprId)| {
            Some(eval_compare(*op, self.value(*lhs, sizes)?, self.value(*rhs, sizes)?))
        };
        self.all.iter().map(answer).collect()
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
