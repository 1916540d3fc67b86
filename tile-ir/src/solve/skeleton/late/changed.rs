//! Variables that loops change in another way than evenly.
//!
//! `at += 3;` goes on evenly, and so does the larger of what was and what is new. Of few values in
//! turn (`cur = (cur + 1) % 3`) there is a period. `m = m * 3;`, `at += k;` of a counter and
//! `p = q; q = p + q;` do neither, if the loop has as many rounds as a launch says: they are late.
//! Of a loop that is bounded all rounds are run.
//!
//! What is halved, or doubled in a loop that asks how large it is, comes to each of its values
//! within as many rounds as numbers have digits. What is changed together with it, in an arm that
//! asks whether it is above a number (`if t < n { at <<= 1; n >>= 1; }`), is changed so often at
//! most if it begins bounded and is changed there alone. But how many rounds these are (`c += 1;`)
//! is a number that no small launch makes large: a *count*.
//!
//! What a loop sets back (`c += 1; if c == 60 { c = 0; q += 1; }`) comes round within the rounds that
//! are run, if they are few enough. Where one such counter drives another, as the digits of a clock
//! do, the latter goes on once in as many rounds as the product of what the others are asked for,
//! or divided by: up to [`NESTED`] it goes on evenly, else it is late.

use std::collections::{BTreeMap, BTreeSet};

use super::super::sizes::Sizes;
use super::super::spans::Spans;
use super::super::trips_of_digits::loses_digits;
use super::{BOUNDED, DIVISOR, NESTED, is_whole};
use crate::kernel::{
    ExprId, ExprKind, Kernel, LoopRange, Place, Stmt, StmtKind, Type, VarId, VarKind,
};
use crate::op::{BinaryOp, CompareOp, LogicOp};

/// Those variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Changed {
    late: BTreeSet<VarId>,
    counts: BTreeSet<VarId>,
    of_scalars: BTreeSet<VarId>,
    /// All that such loops change.
    all: BTreeSet<VarId>,
}

impl Changed {
    pub(super) fn of(kernel: &Kernel, spans: &Spans<'_>, sizes: &Sizes) -> Self {
        let mut found = Found {
            kernel,
            spans,
            sizes,
            declared: BTreeMap::new(),
            loops: Vec::new(),
            changes: BTreeMap::new(),
        };
        found.visit(&kernel.body, &Around::default());
        let all: BTreeSet<VarId> = found.changes.keys().copied().collect();
        let late = all.iter().copied().filter(|var| found.way_of(*var) == Way::Late);
        let late = late.collect();
        let counts = all.iter().copied().filter(|var| found.is_count(*var)).collect();
        let of_scalars = all.iter().copied().filter(|var| found.is_of_scalars(*var)).collect();
        Self { late, counts, of_scalars, all }
    }

    pub(super) fn is_late(&self, var: VarId) -> bool {
        self.late.contains(&var)
    }

    /// Whether it counts rounds of which there are as many as a number has digits.
    pub(super) fn is_count(&self, var: VarId) -> bool {
        self.counts.contains(&var)
    }

    /// Whether it is doubled or halved as often as scalars say.
    pub(super) fn is_of_scalars(&self, var: VarId) -> bool {
        self.of_scalars.contains(&var)
    }

    /// Whether a loop changes a variable that no launch bounds.
    pub(super) fn has(&self, var: VarId) -> bool {
        self.all.contains(&var)
    }
}

/// How a variable goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Even,
    /// Halved, or doubled.
    Digits,
    Late,
}

/// What a variable is set to, or changed by, in these loops, which are not bounded.
struct Change {
    op: Option<BinaryOp>,
    value: ExprId,
    loops: Vec<usize>,
    /// The conditions around.
    conds: Vec<ExprId>,
}

/// Where a statement stands.
#[derive(Clone, Default)]
struct Around {
    loops: Vec<usize>,
    conds: Vec<ExprId>,
    /// Variables of which a change in these arms takes digits away, until none is run.
    ending: Vec<VarId>,
}

/// How many counters that drive one the other are looked into.
const MAX_DRIVERS: u32 = 6;

/// A loop.
#[derive(Clone, Copy)]
enum Loop {
    Bounded,
    Counted,
    /// Over powers of two.
    Digits,
    While(ExprId),
}

struct Found<'a, 's> {
    kernel: &'a Kernel,
    spans: &'s Spans<'a>,
    sizes: &'s Sizes,
    /// How many loops are around where a variable is declared.
    declared: BTreeMap<VarId, usize>,
    loops: Vec<Loop>,
    /// What loops change that no launch bounds.
    changes: BTreeMap<VarId, Vec<Change>>,
}

impl Found<'_, '_> {
    fn visit(&mut self, stmts: &[Stmt], around: &Around) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let { var, .. } => {
                    self.declared.insert(*var, around.loops.len());
                }
                StmtKind::Assign { var, value } => self.note(*var, (None, *value), around),
                StmtKind::Update { place: Place::Var(var), op, value } => {
                    self.note(*var, (Some(*op), *value), around);
                }
                _ => {}
            }
            for (number, body) in stmt.kind.bodies().into_iter().enumerate() {
                let mut inner = around.clone();
                if let StmtKind::If { cond, .. } = &stmt.kind {
                    inner.conds.push(*cond);
                    let ended = self.ended(*cond, body).filter(|_| number == 0);
                    inner.ending.extend(ended);
                } else {
                    inner.ending.clear();
                }
                if let Some(own) = self.loop_of(&stmt.kind) {
                    inner.loops.push(self.loops.len());
                    self.loops.push(own);
                }
                self.visit(body, &inner);
            }
        }
    }

    fn loop_of(&self, kind: &StmtKind) -> Option<Loop> {
        let (is_bounded, own) = match kind {
            StmtKind::Phase { range, .. } | StmtKind::For { range, .. } => match *range {
                LoopRange::Between { start, end, .. } => {
                    let (first, last) = (self.range(start).0, self.range(end).1);
                    (first >= -BOUNDED && last <= BOUNDED, Loop::Counted)
                }
                LoopRange::Halving(n) | LoopRange::Doubling(n) => {
                    (self.range(n).1 <= BOUNDED, Loop::Digits)
                }
            },
            StmtKind::While { cond, .. } => (self.is_bounded_by(*cond), Loop::While(*cond)),
            _ => return None,
        };
        Some(if is_bounded { Loop::Bounded } else { own })
    }

    /// The variable that a condition asks to be above a number that is 0 at least, if it begins
    /// bounded and nothing changes it but a statement of the arm that takes digits away.
    fn ended(&self, cond: ExprId, arm: &[Stmt]) -> Option<VarId> {
        let kernel = self.kernel;
        let ExprKind::Compare { op, lhs, rhs } = kernel.exprs[cond].kind else { return None };
        let (most, least) = match op {
            CompareOp::Lt => (rhs, lhs),
            CompareOp::Gt => (lhs, rhs),
            CompareOp::Le | CompareOp::Ge | CompareOp::Eq | CompareOp::Ne => return None,
        };
        let ExprKind::Var(var) = kernel.exprs[most].kind else { return None };
        // What it is at first, and what is changed in the arm.
        let is_changed_once = self.spans.made_by(var).count() == 2;
        let mut first =
            self.spans.set_to(var).iter().filter(|value| !self.names(**value).contains(&var));
        let begins = first.next().is_some_and(|first| self.is_bounded(*first));
        let is_above = self.range(least).0 >= 0;
        (begins && is_changed_once && is_above && loses_digits(kernel, var, arm)).then_some(var)
    }

    fn note(&mut self, var: VarId, (op, value): (Option<BinaryOp>, ExprId), around: &Around) {
        let declared = self.declared.get(&var).copied().unwrap_or(0);
        // One that is declared further inside begins again.
        let ends = |other: &VarId| self.declared.get(other).is_some_and(|own| *own <= declared);
        if around.ending.iter().any(ends) {
            return;
        }
        let is_open = |own: &&usize| !matches!(self.loops.get(**own), Some(Loop::Bounded) | None);
        let loops = around.loops.iter().skip(declared);
        let loops: Vec<usize> = loops.filter(is_open).copied().collect();
        if !loops.is_empty() {
            let change = Change { op, value, loops, conds: around.conds.clone() };
            self.changes.entry(var).or_default().push(change);
        }
    }

    fn range(&self, expr: ExprId) -> (i128, i128) {
        self.spans.range_of_any(expr, self.sizes)
    }

    fn is_within(&self, expr: ExprId, bound: i128) -> bool {
        let (low, high) = self.range(expr);
        is_whole(self.kernel.exprs[expr].ty) && low >= -bound && high <= bound
    }

    fn is_bounded(&self, expr: ExprId) -> bool {
        self.is_within(expr, BOUNDED)
    }

    /// Whether a condition of a loop compares numbers that come from bounded ones.
    fn is_bounded_by(&self, cond: ExprId) -> bool {
        match self.kernel.exprs[cond].kind {
            // Each part may end it; flags are set by what is asked elsewhere.
            ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
                let [one, other] = [lhs, rhs].map(|part| self.is_bounded_by(part));
                (one || self.is_flag(lhs)) && (other || self.is_flag(rhs)) && (one || other)
            }
            ExprKind::Compare { lhs, rhs, .. } => {
                [lhs, rhs].into_iter().all(|side| self.begins_bounded(side))
            }
            _ => false,
        }
    }

    fn is_flag(&self, cond: ExprId) -> bool {
        match self.kernel.exprs[cond].kind {
            ExprKind::Var(_) => true,
            ExprKind::Unary { operand, .. } => self.is_flag(operand),
            _ => false,
        }
    }

    fn begins_bounded(&self, expr: ExprId) -> bool {
        if self.is_bounded(expr) {
            return true;
        }
        let kind = &self.kernel.exprs[expr].kind;
        match kind {
            ExprKind::Var(var) if matches!(self.kernel.vars[*var].kind, VarKind::Let { .. }) => {
                let set = self.spans.set_to(*var);
                let is_own = |value: &ExprId| self.names(*value).contains(var);
                !set.iter().all(is_own)
                    && set.iter().all(|value| is_own(value) || self.is_bounded(*value))
            }
            ExprKind::Var(_) | ExprKind::Load(_) | ExprKind::Literal(_) => false,
            _ => kind.operands().into_iter().all(|part| self.begins_bounded(part)),
        }
    }

    fn way_of(&self, var: VarId) -> Way {
        let changes = self.changes.get(&var).into_iter().flatten();
        let ways = changes.map(|change| {
            let is_late =
                self.comes_round(var, change) || self.period(var, change, MAX_DRIVERS) > NESTED;
            if is_late { Way::Late } else { self.way(var, change) }
        });
        ways.max().unwrap_or(Way::Even)
    }

    /// In how many rounds a variable is changed once, as far as counters say when.
    fn period(&self, var: VarId, change: &Change, depth: u32) -> i128 {
        let Some(depth) = depth.checked_sub(1) else { return 1 };
        let mut drivers = BTreeMap::new();
        let exprs = change.conds.iter().chain([&change.value]);
        exprs.for_each(|expr| self.collect_drivers(*expr, &mut drivers));
        drivers.remove(&var);
        drivers.into_iter().fold(1_i128, |period, (driver, asked)| {
            let changes = self.changes.get(&driver).into_iter().flatten();
            let own = changes.map(|change| self.period(driver, change, depth)).max().unwrap_or(1);
            period.saturating_mul(asked).saturating_mul(own)
        })
    }

    /// Adds the counters that an expression compares or divides, and by how much at most.
    fn collect_drivers(&self, expr: ExprId, out: &mut BTreeMap<VarId, i128>) {
        let expr = self.spans.plain().resolved(expr);
        let kind = &self.kernel.exprs[expr].kind;
        let sides = match *kind {
            ExprKind::Compare { lhs, rhs, .. } => vec![(lhs, rhs), (rhs, lhs)],
            ExprKind::Binary { op: BinaryOp::Div | BinaryOp::Rem | BinaryOp::And, lhs, rhs } => {
                vec![(lhs, rhs)]
            }
            _ => Vec::new(),
        };
        for (side, by) in sides {
            // What no number bounds is asked where it is compared.
            if !self.is_bounded(by) {
                continue;
            }
            let (low, high) = self.range(by);
            for counter in self.names(side).into_iter().filter(|var| self.is_counter(*var)) {
                let most = out.entry(counter).or_insert(1);
                *most = low.abs().max(high.abs()).max(*most);
            }
        }
        kind.operands().into_iter().for_each(|part| self.collect_drivers(part, out));
    }

    /// Whether a variable counts rounds that no launch bounds.
    fn is_counter(&self, var: VarId) -> bool {
        match self.kernel.vars[var].kind {
            VarKind::Loop => self.spans.range_of_any_var(var, self.sizes).1 > BOUNDED,
            VarKind::Let { .. } => self.changes.contains_key(&var),
            _ => false,
        }
    }

    fn way(&self, var: VarId, change: &Change) -> Way {
        let value = self.spans.plain().resolved(change.value);
        let ty = self.kernel.vars[var].ty;
        // Numbers of 16 bits begin again from 0 after more rounds than are run.
        let is_narrow = ty.integer_range().is_some_and(|(_, most)| most > 255 && most < 1 << 30);
        if is_narrow && change.op.is_some() {
            return Way::Late;
        }
        if ty == Type::BOOL || self.is_within(value, DIVISOR) && change.op.is_none() {
            return Way::Even;
        }
        match (change.op, &self.kernel.exprs[value].kind) {
            (Some(op), _) => self.way_by(var, op, change.value, change),
            (None, ExprKind::Binary { op, lhs, rhs }) if self.is_var(*lhs, var) => {
                self.way_by(var, *op, *rhs, change)
            }
            (None, _) if !self.names(value).contains(&var) => Way::Even,
            (None, _) if self.is_straight(value, var) => Way::Even,
            (None, _) => Way::Late,
        }
    }

    /// How a variable goes on that is changed by this.
    fn way_by(&self, var: VarId, op: BinaryOp, by: ExprId, change: &Change) -> Way {
        let is_own = self.names(by).contains(&var);
        match op {
            BinaryOp::Min | BinaryOp::Max if !is_own => Way::Even,
            // Digits are only taken away.
            BinaryOp::And => Way::Digits,
            _ if is_own => Way::Late,
            BinaryOp::Add | BinaryOp::Sub if self.is_bounded(by) => Way::Even,
            BinaryOp::Or | BinaryOp::Xor | BinaryOp::Rem if self.is_within(by, DIVISOR) => {
                Way::Even
            }
            BinaryOp::Div | BinaryOp::Shr if self.is_bounded(by) => Way::Digits,
            BinaryOp::Mul | BinaryOp::Shl if self.is_bounded(by) => {
                let asks = |own: &usize| match self.loops.get(*own) {
                    Some(Loop::While(cond)) => self.names(*cond).contains(&var),
                    _ => false,
                };
                if change.loops.iter().all(asks) { Way::Digits } else { Way::Late }
            }
            _ => Way::Late,
        }
    }

    fn is_var(&self, expr: ExprId, var: VarId) -> bool {
        self.kernel.exprs[self.spans.plain().resolved(expr)].kind == ExprKind::Var(var)
    }

    /// Whether an expression goes on evenly from what a variable was.
    fn is_straight(&self, expr: ExprId, var: VarId) -> bool {
        let expr = self.spans.plain().resolved(expr);
        let is_step = |part: ExprId| !self.names(part).contains(&var) && self.is_bounded(part);
        let holds = |part: ExprId| !self.names(part).contains(&var) || self.is_straight(part, var);
        match self.kernel.exprs[expr].kind {
            ExprKind::Var(of) => of == var,
            ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Sub, lhs, rhs } => {
                self.is_straight(lhs, var) && is_step(rhs)
                    || is_step(lhs) && self.is_straight(rhs, var)
            }
            ExprKind::Binary { op: BinaryOp::Min | BinaryOp::Max, lhs, rhs } => {
                holds(lhs) && holds(rhs)
            }
            ExprKind::Select { then, otherwise, .. } => holds(then) && holds(otherwise),
            _ => false,
        }
    }

    /// Whether a variable is made of one that is made of it, not only handed on.
    fn comes_round(&self, var: VarId, change: &Change) -> bool {
        let value = self.spans.plain().resolved(change.value);
        let is_handed_on =
            change.op.is_none() && matches!(self.kernel.exprs[value].kind, ExprKind::Var(_));
        if is_handed_on || change.op.is_none() && self.is_within(value, DIVISOR) {
            return false;
        }
        let mut open = self.names(value);
        // What goes on from itself is asked elsewhere.
        open.remove(&var);
        let mut seen = open.clone();
        while let Some(next) = open.pop_first() {
            if next == var {
                return self.kernel.vars[var].ty != Type::BOOL;
            }
            for change in self.changes.get(&next).into_iter().flatten() {
                open.extend(self.names(change.value).into_iter().filter(|name| seen.insert(*name)));
            }
        }
        false
    }

    /// Whether a variable counts the rounds of a loop that asks for digits, or for what is late.
    fn is_count(&self, var: VarId) -> bool {
        let changes = self.changes.get(&var).into_iter().flatten();
        let loops: BTreeSet<usize> = changes.flat_map(|change| change.loops.clone()).collect();
        self.kernel.vars[var].ty != Type::BOOL
            && self.way_of(var) == Way::Even
            && self.changes.get(&var).into_iter().flatten().any(|change| self.grows(var, change))
            && loops.into_iter().any(|own| match self.loops.get(own) {
                Some(Loop::While(cond)) => self.deciding(*cond).into_iter().any(|other| {
                    let changes = self.changes.get(&other).into_iter().flatten();
                    let mut loops = changes.flat_map(|change| &change.loops);
                    self.way_of(other) != Way::Even && loops.any(|of| *of == own)
                }),
                Some(Loop::Digits) => true,
                Some(Loop::Bounded | Loop::Counted) | None => false,
            })
    }

    /// Whether a change makes a variable more, or less, and does not come back to what it was.
    fn grows(&self, var: VarId, change: &Change) -> bool {
        let value = self.spans.plain().resolved(change.value);
        let is_made_of_it = || self.names(value).contains(&var) && !self.is_within(value, DIVISOR);
        match (change.op, &self.kernel.exprs[value].kind) {
            (Some(op), _) => matches!(op, BinaryOp::Add | BinaryOp::Sub),
            // `1 - at` is the other of two.
            (None, ExprKind::Binary { op: BinaryOp::Sub, lhs, .. }) => {
                is_made_of_it() && self.names(*lhs).contains(&var)
            }
            (None, ExprKind::Binary { op: BinaryOp::Xor | BinaryOp::Or | BinaryOp::Rem, .. }) => {
                false
            }
            (None, _) => is_made_of_it(),
        }
    }

    /// Whether nothing but scalars says how often a variable is doubled or halved: each of its
    /// values is run.
    fn is_of_scalars(&self, var: VarId) -> bool {
        let changes = self.changes.get(&var).into_iter().flatten();
        let mut loops = changes.flat_map(|change| &change.loops);
        self.way_of(var) == Way::Digits
            && loops.all(|own| match self.loops.get(*own) {
                Some(Loop::While(cond)) => self.names(*cond).into_iter().all(|other| {
                    other == var || matches!(self.kernel.vars[other].kind, VarKind::Scalar(_))
                }),
                Some(Loop::Bounded | Loop::Counted | Loop::Digits) | None => false,
            })
    }

    /// The variables that decide a condition, by way of flags too.
    fn deciding(&self, cond: ExprId) -> BTreeSet<VarId> {
        let mut open = self.names(cond);
        let mut seen = open.clone();
        let mut found = BTreeSet::new();
        while let Some(var) = open.pop_first() {
            if self.kernel.vars[var].ty == Type::BOOL {
                let set = self.spans.set_to(var).iter().flat_map(|value| self.names(*value));
                open.extend(set.filter(|name| seen.insert(*name)));
            } else {
                found.insert(var);
            }
        }
        found
    }

    /// The variables that an expression is made of, by way of names that are given once too.
    fn names(&self, expr: ExprId) -> BTreeSet<VarId> {
        let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            let kind = &self.kernel.exprs[expr].kind;
            if let ExprKind::Var(var) = kind {
                match self.spans.plain().lets.get(var) {
                    Some(init) if seen.insert(*var) => open.push(*init),
                    Some(_) => {}
                    None => {
                        found.insert(*var);
                    }
                }
            }
            open.extend(kind.operands());
        }
        found
    }
}
