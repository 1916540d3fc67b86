//! Sizes at which comparisons of the text say what they say at no small ones.
//!
//! `if n < 5000 { … }` is passed by at no size that is usually run, and `if b < 1000 { … }`
//! by no block of a small grid; of `n < 50` and `n < 60` one alone may hold at none. Each
//! dimension and scalar by itself is made larger, or less where it may be below 0, until
//! comparisons say something new, and so are two of them and all together: of `n < 5000 ||
//! m < 700` both sides fail at no size that differs from a small one in one number. What is
//! new is what one comparison says, or two say together. The smallest such numbers are run;
//! where a counter is compared, a few rounds more besides. Of blocks and of rounds the last is
//! asked about. Where several sizes decide one comparison, it is solved, each size that is new
//! as it is ([`super::equations`]), and where several comparisons decide one condition, the
//! outcomes of that are sought ([`super::combined`]).

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::combined::Conditions;
use super::equations::Solver;
use super::plain::{Plain, given};
use super::sizes::{Choice, Sizes};
use crate::arena::EntityId as _;
use crate::kernel::{ExprId, ExprKind, Kernel, Literal, LoopRange, Stmt, StmtKind, VarId, VarKind};
use crate::op::{BinaryOp, CompareOp, LogicOp};

/// Usual sizes that are looked at, and most of these that others are made from.
const MAX_USUAL: usize = 64;
const MAX_BASES: usize = 6;

/// Most sizes that are run besides.
const MAX_SIZES: usize = 12;

/// Most comparisons that are looked at in pairs.
const MAX_PAIRED: usize = 24;

/// The largest number that is tried.
const MOST: i64 = i32::MAX as i64;

/// Rounds after one that is new: as many as a small remainder tells apart.
const ROUNDS_MORE: i128 = 8;

/// Most sizes that are run at which comparisons are solved, and most from which others are
/// found.
const MAX_SOLVED: usize = 12;
const MAX_STARTS: usize = 24;

/// The comparisons of a kernel; of the lesser or the greater of two, which it is.
pub(super) struct Comparisons<'a> {
    pub(super) plain: Plain<'a>,
    pub(super) all: Vec<(CompareOp, ExprId, ExprId)>,
    /// The last value of axes and counters.
    last: BTreeMap<VarId, Last>,
    /// The counters of loops.
    counters: Vec<VarId>,
}

/// One before an end, or a first value.
enum Last {
    Before(ExprId),
    Value(ExprId),
}

/// What all comparisons say; `None` where memory decides.
type Answers = Vec<Option<bool>>;

/// What all comparisons say; of those whether sides are equal, which one is less.
type Sides = Vec<(Option<bool>, Option<Ordering>)>;

/// What one comparison says, or two.
type Fact = [(usize, bool); 2];

/// What comparisons have said so far.
#[derive(Default)]
struct Seen(BTreeSet<Fact>);

impl Seen {
    /// Adds what is said at some sizes; says whether something of it is new.
    fn add(&mut self, answers: &Answers) -> bool {
        let known = answers.iter().enumerate().filter_map(|(at, says)| Some((at, (*says)?)));
        let known: Vec<(usize, bool)> = known.collect();
        let mut is_new = false;
        for (number, one) in known.iter().enumerate() {
            is_new |= self.0.insert([*one, *one]);
            for other in known[..number].iter().rev().take(MAX_PAIRED) {
                is_new |= self.0.insert([*other, *one]);
            }
        }
        is_new
    }
}

/// Sizes at which comparisons say together what they do at none of the usual ones.
pub(super) fn beyond(kernel: &Kernel, choice: &Choice<'_>) -> Vec<Sizes> {
    let comparisons = Comparisons::of(kernel);
    if comparisons.all.is_empty() {
        return Vec::new();
    }
    let mut seen = Seen::default();
    let mut conditions = Conditions::of(&comparisons);
    let mut bases: Vec<Sizes> = Vec::new();
    for sizes in choice.sizes(false).take(MAX_USUAL) {
        conditions.note(&sizes);
        if (seen.add(&comparisons.answers(&sizes)) || bases.is_empty()) && bases.len() < MAX_BASES {
            bases.push(sizes);
        }
    }
    let Some(first) = bases.first() else { return Vec::new() };
    let set: Vec<(VarId, i64)> = comparisons.turns(first);
    let mut found: Vec<Sizes> = Vec::new();
    let mut try_with = |base: &Sizes, values: &[(VarId, i64)]| {
        let mut sizes = base.clone();
        for (var, value) in values {
            sizes.values[var.index()] = Some(*value);
        }
        let answers = comparisons.answers(&sizes);
        if seen.add(&answers) {
            found.extend(comparisons.with_more_rounds(&sizes, values, &answers));
            found.push(sizes);
        }
    };
    for one in &set {
        try_with(first, &[*one]);
    }
    for (number, one) in set.iter().enumerate() {
        bases.iter().skip(1).for_each(|base| try_with(base, &[*one]));
        for other in set[..number].iter().filter(|other| other.0 != one.0) {
            try_with(first, &[*one, *other]);
        }
    }
    let all = together(&comparisons, first, &set);
    for sizes in &all {
        seen.add(&comparisons.answers(sizes));
    }
    found.extend(all);
    let mut solved = solved(&comparisons, &bases, &set);
    let size = |value: &i64| value.unsigned_abs();
    let largest = |sizes: &Sizes| sizes.values.iter().flatten().map(size).max();
    found.sort_by_key(largest);
    found.truncate(MAX_SIZES);
    solved.sort_by_key(largest);
    solved.truncate(MAX_SOLVED);
    found.extend(solved);
    for sizes in &found {
        conditions.note(sizes);
    }
    let mut sought = conditions.sought(&bases, &set);
    sought.sort_by_key(largest);
    sought.truncate(MAX_SOLVED);
    found.extend(sought);
    found
}

/// Sizes of the last number of each of three or more, and those of which one has the number
/// before, where all comparisons together say something new.
fn together(comparisons: &Comparisons<'_>, first: &Sizes, set: &[(VarId, i64)]) -> Vec<Sizes> {
    let last: BTreeMap<VarId, i64> = set.iter().copied().collect();
    if last.len() < 3 {
        return Vec::new();
    }
    let mut all = first.clone();
    last.iter().for_each(|(var, value)| all.values[var.index()] = Some(*value));
    let before = last.iter().filter_map(|(var, value)| {
        let mut numbers =
            set.iter().rev().filter(|(other, number)| other == var && number != value);
        let mut sizes = all.clone();
        sizes.values[var.index()] = Some(numbers.next()?.1);
        Some(sizes)
    });
    let mut known = BTreeSet::from([comparisons.answers(first)]);
    let all = std::iter::once(all.clone()).chain(before.collect::<Vec<_>>());
    all.filter(|sizes| known.insert(comparisons.answers(sizes))).collect()
}

/// Sizes at which, since comparisons that several sizes decide are solved, all together say
/// something new: found from usual ones, from those that differ from a usual one in a number or
/// two, and from all numbers.
fn solved(comparisons: &Comparisons<'_>, bases: &[Sizes], set: &[(VarId, i64)]) -> Vec<Sizes> {
    let kernel = comparisons.plain.kernel;
    let mut solver = Solver::of(comparisons, [false, true].map(|below| ladder(kernel, below)));
    let (false, Some(first)) = (solver.is_idle(), bases.first()) else { return Vec::new() };
    let with = |values: &[(VarId, i64)]| {
        let mut sizes = first.clone();
        values.iter().for_each(|(var, value)| sizes.values[var.index()] = Some(*value));
        sizes
    };
    let all: BTreeMap<VarId, i64> = set.iter().copied().collect();
    let pairs = set.iter().enumerate().flat_map(|(number, one)| {
        let others = set[..number].iter().filter(|other| other.0 != one.0);
        others.map(|other| vec![*one, *other])
    });
    let starts = set.iter().map(|one| vec![*one]).chain([all.into_iter().collect()]).chain(pairs);
    let starts: Vec<Sizes> =
        bases.iter().cloned().chain(starts.take(MAX_STARTS).map(|values| with(&values))).collect();
    let mut known: BTreeSet<Answers> =
        starts.iter().map(|sizes| comparisons.answers(sizes)).collect();
    let solutions = starts.iter().flat_map(|start| solver.solutions(start));
    solutions.filter(|sizes| known.insert(comparisons.answers(sizes))).collect()
}

/// The first numbers of other answers than those before, rising: between steps of the
/// ladder that have two answers there is one.
fn turns(ladder: &[i64], answers: &dyn Fn(i64) -> Sides) -> Vec<i64> {
    let mut found = Vec::new();
    let steps: Vec<Sides> = ladder.iter().map(|value| answers(*value)).collect();
    for (at, pair) in steps.windows(2).enumerate() {
        if pair[0] == pair[1] {
            continue;
        }
        let (mut low, mut high) = (ladder[at], ladder[at + 1]);
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if answers(middle) == pair[0] { low = middle } else { high = middle }
        }
        // Below 0 it is the other side that is new.
        found.push(if high <= 0 { low } else { high });
    }
    found
}

/// Numbers that grow fast, and those next to the literals of the text; of what may be below 0
/// the same there.
fn ladder(kernel: &Kernel, has_negatives: bool) -> Vec<i64> {
    let literals = kernel.exprs.values().filter_map(|expr| match expr.kind {
        ExprKind::Literal(Literal::Int(value)) => i64::try_from(value).ok(),
        _ => None,
    });
    let near = literals.flat_map(|value| [value.saturating_sub(1), value, value.saturating_add(1)]);
    let all = (0..31).map(|exponent| 1 << exponent).chain(near);
    let all: BTreeSet<i64> = all.filter(|value| (1..=MOST).contains(value)).collect();
    let below = all.iter().map(|value| -*value).chain([0]).filter(|_| has_negatives);
    let both: BTreeSet<i64> = below.chain(all.iter().copied()).collect();
    both.into_iter().collect()
}

impl<'a> Comparisons<'a> {
    pub(super) fn of(kernel: &'a Kernel) -> Self {
        let all = kernel.exprs.values().filter_map(|expr| match expr.kind {
            ExprKind::Compare { op, lhs, rhs } => Some((op, lhs, rhs)),
            ExprKind::Binary { op: BinaryOp::Min | BinaryOp::Max, lhs, rhs } => {
                Some((CompareOp::Lt, lhs, rhs))
            }
            _ => None,
        });
        let axes = kernel.grid.iter().chain(kernel.block.iter().flatten());
        let last = axes.map(|axis| (axis.var, Last::Before(axis.extent))).collect();
        let mut comparisons =
            Self { plain: Plain::of(kernel), all: all.collect(), last, counters: Vec::new() };
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
                    self.counters.push(*var);
                }
                StmtKind::While { cond, .. } => self.visit_cond(*cond),
                _ => {}
            }
            stmt.kind.bodies().into_iter().for_each(|body| self.visit(body));
        }
    }

    /// What `while k < n` says of its counter: with what value the last round begins.
    fn visit_cond(&mut self, cond: ExprId) {
        let exprs = &self.plain.kernel.exprs;
        if let ExprKind::Logic { op: LogicOp::And, lhs, rhs } = exprs[cond].kind {
            [lhs, rhs].into_iter().for_each(|part| self.visit_cond(part));
        }
        let ExprKind::Compare { op, lhs, rhs } = exprs[cond].kind else { return };
        let (counter, last) = match op {
            CompareOp::Lt | CompareOp::Ne => (lhs, Last::Before(rhs)),
            CompareOp::Le => (lhs, Last::Value(rhs)),
            CompareOp::Gt => (rhs, Last::Before(lhs)),
            CompareOp::Ge => (rhs, Last::Value(lhs)),
            CompareOp::Eq => return,
        };
        let end = match last {
            Last::Before(end) | Last::Value(end) => end,
        };
        if let ExprKind::Var(var) = exprs[counter].kind
            && self.plain.kernel.vars[var].kind == (VarKind::Let { mutable: true })
            && !self.changes(end)
        {
            self.last.insert(var, last);
            self.counters.push(var);
        }
    }

    /// Whether an expression names a variable that may change.
    fn changes(&self, expr: ExprId) -> bool {
        let kernel = self.plain.kernel;
        let kind = &kernel.exprs[expr].kind;
        match kind {
            ExprKind::Var(var) => match self.plain.lets.get(var) {
                Some(of) => self.changes(*of),
                None => matches!(kernel.vars[*var].kind, VarKind::Let { .. }),
            },
            _ => kind.operands().into_iter().any(|operand| self.changes(operand)),
        }
    }

    /// Numbers of each dimension and scalar at which, the others as they are, comparisons
    /// say something else than at the number before.
    fn turns(&self, base: &Sizes) -> Vec<(VarId, i64)> {
        let kernel = self.plain.kernel;
        let ladders = [false, true].map(|has_negatives| ladder(kernel, has_negatives));
        let vars = kernel.vars.iter();
        let vars = vars.filter(|(_, var)| matches!(var.kind, VarKind::Dim | VarKind::Scalar(_)));
        vars.flat_map(|(var, _)| {
            let answers = |value: i64| {
                let mut sizes = base.clone();
                sizes.values[var.index()] = Some(value);
                self.sides(&sizes)
            };
            let found = turns(&ladders[usize::from(self.has_negatives(var))], &answers);
            found.into_iter().map(move |value| (var, value))
        })
        .collect()
    }

    /// Sizes of which the numbers that are new are larger, so that a loop whose counter is
    /// compared has some rounds more; none where there is no such loop, or comparisons say
    /// something else.
    fn with_more_rounds(
        &self,
        sizes: &Sizes,
        values: &[(VarId, i64)],
        answers: &Answers,
    ) -> Option<Sizes> {
        let compared = self.counters.iter().copied().find(|counter| self.compares(*counter))?;
        let last = |sizes: &Sizes| self.last_of(compared, sizes);
        let least = last(sizes)? + ROUNDS_MORE;
        let mut more = sizes.clone();
        (3..16).map(|exponent| 1 << exponent).find_map(|step: i64| {
            for (var, value) in values {
                more.values[var.index()] = Some(value.saturating_add(step).min(MOST));
            }
            let is_more = last(&more)? >= least && self.answers(&more) == *answers;
            is_more.then(|| more.clone())
        })
    }

    /// Whether a counter is named in a comparison.
    fn compares(&self, counter: VarId) -> bool {
        let mut sides = self.all.iter().flat_map(|(_, lhs, rhs)| [*lhs, *rhs]);
        sides.any(|side| self.names(side, counter))
    }

    fn names(&self, expr: ExprId, counter: VarId) -> bool {
        let kind = &self.plain.kernel.exprs[expr].kind;
        match kind {
            ExprKind::Var(var) => match self.plain.lets.get(var) {
                Some(of) => self.names(*of, counter),
                None => *var == counter,
            },
            _ => kind.operands().into_iter().any(|operand| self.names(operand, counter)),
        }
    }

    /// Whether a dimension or a scalar may be below 0.
    pub(super) fn has_negatives(&self, var: VarId) -> bool {
        let declared = &self.plain.kernel.vars[var];
        matches!(declared.kind, VarKind::Scalar(_))
            && declared.ty.integer_range().is_none_or(|(least, _)| least < 0)
    }

    fn sides(&self, sizes: &Sizes) -> Sides {
        let side = |(op, lhs, rhs): &(CompareOp, ExprId, ExprId)| {
            let values = self.value(*lhs, sizes).zip(self.value(*rhs, sizes));
            match op {
                CompareOp::Eq | CompareOp::Ne => (None, values.map(|(lhs, rhs)| lhs.cmp(&rhs))),
                CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge => {
                    (values.map(|(lhs, rhs)| op.holds(lhs, rhs)), None)
                }
            }
        };
        self.all.iter().map(side).collect()
    }

    fn answers(&self, sizes: &Sizes) -> Answers {
        let answer = |(op, lhs, rhs): &(CompareOp, ExprId, ExprId)| {
            Some(op.holds(self.value(*lhs, sizes)?, self.value(*rhs, sizes)?))
        };
        self.all.iter().map(answer).collect()
    }

    pub(super) fn value(&self, expr: ExprId, sizes: &Sizes) -> Option<i128> {
        self.plain.value(expr, &|var| given(sizes, var).or_else(|| self.last_of(var, sizes)))
    }

    /// What says where a coordinate or a counter ends.
    pub(super) fn end(&self, var: VarId) -> Option<ExprId> {
        self.last.get(&var).map(|(Last::Before(end) | Last::Value(end))| *end)
    }

    pub(super) fn last_of(&self, var: VarId, sizes: &Sizes) -> Option<i128> {
        match self.last.get(&var)? {
            Last::Before(end) => Some((self.value(*end, sizes)? - 1).max(0)),
            Last::Value(n) => self.value(*n, sizes),
        }
    }
}
