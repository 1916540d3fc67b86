//! Outcomes of conditions that no run has shown, and what makes them.
//!
//! `if n % 23 != 4 || n % 29 != 5 || a[t] != 17 { … }` fails only where several numbers agree, and
//! of the few numbers that are run none may. So each condition that data or a launch decides, and
//! that has come out one way alone, is *wanted* to come out the other way, and those around it so
//! that it is asked at all. The sides of its comparisons are taken for numbers that make it so,
//! wherever these sides are compared; two sides that are both unknown, for neighbours. Where the
//! [ranges](Spans) of sides exclude that, they are as they are: that is how it is known that a
//! condition always holds. All else that nothing shows to be impossible may happen.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::data::Number;
use super::doubts::{Doubts, Outcomes, Resting, Seen, Side, Wish};
use super::lacking::{Lacking, Lead};
use super::plain::{Plain, given};
use super::plan::Plan;
use super::reals::Reals;
use super::sizes::Sizes;
use super::spans::Spans;
use crate::check::Origins;
use crate::kernel::{ExprId, ExprKind, Kernel, Literal, Type, VarId, VarKind};
use crate::op::{BinaryOp, CompareOp};

/// Most outcomes that are wanted, by themselves and with one of another comparison.
const MAX_WANTED: usize = 24;
const MAX_TOGETHER: usize = 72;

/// How comparisons are to come out.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wanted {
    lead: Lead,
    /// All comparisons that are made.
    compared: BTreeSet<ExprId>,
}

impl Wanted {
    /// What is wanted of a skeleton whose conditions have come out so.
    pub(super) fn all(
        plan: &Plan<'_>,
        (spans, resting): (&Spans<'_>, &Resting),
        outcomes: &Outcomes,
    ) -> Vec<Self> {
        let plain = spans.plain();
        let kernel = plain.kernel;
        let lacking = Lacking::of(plain, (plan, resting), outcomes);
        let assumed = Assumed::of(kernel, plain);
        let is_open = |cond| resting.has(kernel, cond) || assumed.leaves_open(plain, resting, cond);
        let compared = lacking.compared();
        let mut all: Vec<Self> = Vec::new();
        let mut others: Vec<ExprId> = Vec::new();
        for (cond, lead) in lacking.leads(is_open) {
            let wanted = Self { lead, compared: compared.clone() };
            others.extend(lacking.conditions(cond));
            if all.len() < MAX_WANTED && !all.contains(&wanted) {
                all.push(wanted);
            }
        }
        others.retain(|cond| matches!(kernel.exprs[*cond].kind, ExprKind::Compare { .. }));
        others.sort_unstable();
        others.dedup();
        // Who reads may ask for one comparison more.
        let together: Vec<Self> = all.iter().flat_map(|wanted| wanted.with_each(&others)).collect();
        for wanted in together {
            if all.len() < MAX_TOGETHER && !all.contains(&wanted) {
                all.push(wanted);
            }
        }
        all
    }

    /// The same, and another comparison that comes out one way or the other.
    fn with_each(&self, others: &[ExprId]) -> Vec<Self> {
        let is_other = |cond: &&ExprId| !self.lead.outcomes.iter().any(|(own, _)| own == *cond);
        let others = others.iter().filter(is_other);
        let both = others.flat_map(|cond| [true, false].map(|holds| (*cond, holds)));
        both.map(|other| {
            let mut more = self.clone();
            more.lead.outcomes.push(other);
            more
        })
        .collect()
    }

    /// A block in which the condition around it holds, if there is one.
    pub(super) fn place<'o>(&self, outcomes: &'o Outcomes) -> Option<&'o Rc<Seen>> {
        self.lead.within.and_then(|(cond, holds)| outcomes.example(cond, holds))
    }

    /// How many of the comparisons come out as wanted at some sizes, whatever else is.
    pub(super) fn n_natural(&self, spans: &Spans<'_>, sizes: &Sizes) -> usize {
        let is_natural = |outcome: &&(ExprId, bool)| is_natural(spans.plain(), **outcome, sizes);
        self.lead.outcomes.iter().filter(is_natural).count()
    }

    /// What sides are taken for, at some sizes; `None` where nothing makes it so.
    pub(super) fn doubts(
        &self,
        (spans, resting): (&Spans<'_>, &Resting),
        sizes: &Sizes,
    ) -> Option<Doubts> {
        let taken = Taken {
            spans,
            sizes,
            resting,
            assumed: Assumed::of(spans.plain().kernel, spans.plain()),
        };
        let kernel = spans.plain().kernel;
        let mut sides: BTreeMap<ExprId, [Option<Side>; 2]> = BTreeMap::new();
        let mut insides = BTreeMap::new();
        let mut fixed: Vec<(ExprId, Side)> = Vec::new();
        for (expr, holds) in &self.lead.outcomes {
            if is_natural(spans.plain(), (*expr, *holds), sizes) {
                continue;
            }
            if let ExprKind::Compare { op, lhs, rhs } = kernel.exprs[*expr].kind {
                // What is no number compares as not equal, and else not at all.
                let is_exact = *holds != (op == CompareOp::Ne);
                let op = if *holds { op } else { op.negated() };
                let is_fixed = [lhs, rhs].into_iter().any(|side| taken.of(&fixed, side).is_some());
                if is_fixed || taken.is_one_way((lhs, rhs)) || taken.is_edge((lhs, rhs)) {
                    continue;
                }
                match taken.solve((op, is_exact), lhs, rhs) {
                    Some(Solved::Number(side, of)) => fixed.push((side, of)),
                    Some(Solved::Beside(of)) => {
                        sides.insert(*expr, [Some(of), None]);
                    }
                    None => {}
                }
            } else {
                insides.insert(*expr, *holds);
            }
        }
        for expr in &self.compared {
            let ExprKind::Compare { lhs, rhs, .. } = kernel.exprs[*expr].kind else { continue };
            let own = [lhs, rhs].map(|side| taken.of(&fixed, side));
            if own.iter().any(Option::is_some) {
                sides.insert(*expr, own);
            }
        }
        let is_any = !sides.is_empty() || !insides.is_empty();
        is_any.then(|| Doubts::from_sides(sides, insides, spans.plain()))
    }
}

/// What is assumed of what a launch gives.
#[derive(Default)]
struct Assumed {
    /// Of these no more than how large they are.
    bounded: BTreeSet<VarId>,
    /// And of these something else.
    others: BTreeSet<VarId>,
}

impl Assumed {
    fn of(kernel: &Kernel, plain: &Plain<'_>) -> Self {
        let mut assumed = Self::default();
        for cond in Origins::of(kernel).assumed {
            let named = match is_of_digits(plain, cond) {
                true => &mut assumed.others,
                false => &mut assumed.bounded,
            };
            launched(plain, cond, named);
        }
        assumed
    }

    /// Whether a launch decides an expression, and what is assumed of what it gives says nothing
    /// about that.
    fn leaves_open(&self, plain: &Plain<'_>, resting: &Resting, expr: ExprId) -> bool {
        let mut named = BTreeSet::new();
        launched(plain, expr, &mut named);
        let is_launched = !named.is_empty() || resting.is_launched(plain.kernel, expr);
        is_launched
            && named.is_disjoint(&self.others)
            && (named.is_disjoint(&self.bounded) || is_of_digits(plain, expr))
    }
}

/// Whether an expression asks for digits of something, of which bounds say little.
fn is_of_digits(plain: &Plain<'_>, expr: ExprId) -> bool {
    let kind = &plain.kernel.exprs[expr].kind;
    let is_own = match kind {
        ExprKind::Binary { op, .. } => {
            matches!(op, BinaryOp::Rem | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor)
        }
        ExprKind::Var(var) => plain.lets.get(var).is_some_and(|init| is_of_digits(plain, *init)),
        _ => false,
    };
    is_own || kind.operands().into_iter().any(|part| is_of_digits(plain, part))
}

/// Adds the scalars, dimensions and coordinates of blocks in an expression.
fn launched(plain: &Plain<'_>, expr: ExprId, out: &mut BTreeSet<VarId>) {
    let kind = &plain.kernel.exprs[expr].kind;
    if let ExprKind::Var(var) = kind {
        if let Some(init) = plain.lets.get(var) {
            launched(plain, *init, out);
        } else if matches!(
            plain.kernel.vars[*var].kind,
            VarKind::Scalar(_) | VarKind::Grid | VarKind::Dim
        ) {
            out.insert(*var);
        }
    }
    kind.operands().into_iter().for_each(|part| launched(plain, part, out));
}

/// What makes a comparison come out as wanted.
enum Solved {
    /// A side, by what it stands for, is a number wherever it is compared.
    Number(ExprId, Side),
    /// The left side is next to the right one.
    Beside(Side),
}

/// What sides are taken for at some sizes.
struct Taken<'a> {
    spans: &'a Spans<'a>,
    sizes: &'a Sizes,
    resting: &'a Resting,
    assumed: Assumed,
}

impl Taken<'_> {
    /// What a side is taken for already.
    fn of(&self, fixed: &[(ExprId, Side)], side: ExprId) -> Option<Side> {
        let plain = self.spans.plain();
        let own = plain.resolved(side);
        let found = fixed.iter().find(|(other, _)| plain.kernel.is_same(*other, own));
        found.map(|(_, side)| side.clone())
    }

    /// Whether sides differ by one number whatever they are.
    fn is_one_way(&self, (lhs, rhs): (ExprId, ExprId)) -> bool {
        let kernel = self.spans.plain().kernel;
        let [(one, _), (other, _)] = [lhs, rhs].map(|side| self.shifted(side));
        kernel.is_same(one, other) && is_whole(kernel.exprs[lhs].ty)
    }

    /// Whether it is asked if a work-item lies behind an edge that a launch sets. Sizes that are
    /// run have work-items on both sides of any; what pads say there is not to be passed over.
    fn is_edge(&self, (lhs, rhs): (ExprId, ExprId)) -> bool {
        let plain = self.spans.plain();
        let has_data = |side: ExprId| self.resting.has(plain.kernel, side);
        let is_index = plain.kernel.exprs[lhs].ty == Type::Index;
        let names_item = [lhs, rhs].into_iter().any(|side| self.is_from_item(side));
        is_index && names_item && !has_data(lhs) && !has_data(rhs)
    }

    /// Whether a work-item's coordinate is a summand of an expression.
    fn is_from_item(&self, expr: ExprId) -> bool {
        let plain = self.spans.plain();
        match plain.kernel.exprs[plain.resolved(expr)].kind {
            ExprKind::Var(var) => {
                matches!(plain.kernel.vars[var].kind, VarKind::Block | VarKind::Each)
            }
            ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => {
                self.is_from_item(lhs) || self.is_from_item(rhs)
            }
            ExprKind::Binary { op: BinaryOp::Sub, lhs, .. } => self.is_from_item(lhs),
            _ => false,
        }
    }

    /// An expression without the numbers that are added to it, where that cannot wrap.
    fn shifted(&self, expr: ExprId) -> (ExprId, i128) {
        let plain = self.spans.plain();
        let kernel = plain.kernel;
        let expr = plain.resolved(expr);
        let ExprKind::Binary { op: op @ (BinaryOp::Add | BinaryOp::Sub), lhs, rhs } =
            kernel.exprs[expr].kind
        else {
            return (expr, 0);
        };
        let ExprKind::Literal(Literal::Int(by)) = kernel.exprs[plain.resolved(rhs)].kind else {
            return (expr, 0);
        };
        let by = if op == BinaryOp::Add { by } else { -by };
        let (low, high) = self.range(lhs);
        let whole = kernel.exprs[expr].ty.integer_range().unwrap_or((i128::MIN, i128::MAX));
        let is_kept = low.checked_add(by).is_some_and(|low| low >= whole.0)
            && high.checked_add(by).is_some_and(|high| high <= whole.1);
        if !is_kept {
            return (expr, 0);
        }
        let (base, more) = self.shifted(lhs);
        (base, more.saturating_add(by))
    }

    fn range(&self, side: ExprId) -> (i128, i128) {
        let is_of_data = self.resting.has(self.spans.plain().kernel, side);
        match is_of_data && self.resting.late().is_none() {
            true => self.spans.range(side, self.sizes),
            false => self.spans.range_of_any(side, self.sizes),
        }
    }

    fn is_open(&self, side: ExprId) -> bool {
        let plain = self.spans.plain();
        self.resting.has(plain.kernel, side) || self.assumed.leaves_open(plain, self.resting, side)
    }

    /// What makes `lhs op rhs` hold; `is_exact` says that it is asked for, and not that its
    /// opposite fails: that it does where a side is no number.
    fn solve(&self, (op, is_exact): (CompareOp, bool), lhs: ExprId, rhs: ExprId) -> Option<Solved> {
        let plain = self.spans.plain();
        let ty = plain.kernel.exprs[lhs].ty;
        let is_itself = plain.kernel.is_same(plain.resolved(lhs), plain.resolved(rhs));
        for (side, other, op) in [(lhs, rhs, op), (rhs, lhs, op.mirrored())] {
            if is_itself || !self.is_open(side) {
                continue;
            }
            let Some(known) = self.known(other) else { continue };
            let reals = Reals::of(plain, side);
            let range = self.range(side);
            let nan = (!is_exact).then_some(Number::Float(f64::NAN));
            let around = known.around().into_iter().filter(|number| number.compares(op, known));
            let wish = around.chain(nan.filter(|_| !is_whole(ty))).find(|number| {
                match number.whole().filter(|_| is_whole(ty)) {
                    Some(number) => range.0 <= number && number <= range.1,
                    None => !is_whole(ty) && reals.has(number.real()),
                }
            })?;
            let wish = Some(Wish::Number(wish));
            let own = Side { numbers: Vec::new(), range, reals, wish };
            return Some(Solved::Number(plain.resolved(side), own));
        }
        if !self.is_open(lhs) && !self.is_open(rhs) {
            return None;
        }
        let (range, reals) = (self.range(lhs), Reals::of(plain, lhs));
        if !is_whole(ty) {
            let wish = Some(Wish::Number(Number::Float(f64::NAN)));
            let own = Side { numbers: Vec::new(), range, reals, wish };
            return (!is_exact && self.is_open(lhs))
                .then(|| Solved::Number(plain.resolved(lhs), own));
        }
        let by = match op {
            CompareOp::Eq | CompareOp::Le | CompareOp::Ge => 0,
            CompareOp::Lt => -1,
            CompareOp::Gt | CompareOp::Ne => 1,
        };
        let wish = Some(Wish::Beside(by));
        self.is_open(lhs).then_some(Solved::Beside(Side {
            numbers: Vec::new(),
            range,
            reals,
            wish,
        }))
    }

    fn known(&self, expr: ExprId) -> Option<Number> {
        known(self.spans.plain(), expr, self.sizes)
    }
}

/// The value of what sizes decide alone.
fn known(plain: &Plain<'_>, expr: ExprId, sizes: &Sizes) -> Option<Number> {
    match plain.kernel.exprs[plain.resolved(expr)].kind {
        ExprKind::Literal(Literal::Float(value)) => Some(Number::Float(value)),
        _ => plain.value(expr, &|var| given(sizes, var)).map(Number::Int),
    }
}

/// Whether sizes alone make a comparison come out so.
fn is_natural(plain: &Plain<'_>, (expr, holds): (ExprId, bool), sizes: &Sizes) -> bool {
    let ExprKind::Compare { op, lhs, rhs } = plain.kernel.exprs[expr].kind else { return false };
    let mut named = BTreeSet::new();
    [lhs, rhs].into_iter().for_each(|side| changing(plain, side, &mut named));
    match (known(plain, lhs, sizes), known(plain, rhs, sizes)) {
        (Some(Number::Int(lhs)), Some(Number::Int(rhs))) if named.is_empty() => {
            op.holds(lhs, rhs) == holds
        }
        _ => false,
    }
}

/// Adds what in an expression is not the same all through a launch.
fn changing(plain: &Plain<'_>, expr: ExprId, out: &mut BTreeSet<VarId>) {
    let kind = &plain.kernel.exprs[expr].kind;
    if let ExprKind::Var(var) = kind {
        match (plain.lets.get(var), plain.kernel.vars[*var].kind) {
            (Some(init), _) => changing(plain, *init, out),
            (None, VarKind::Scalar(_) | VarKind::Dim | VarKind::TileParam(_)) => {}
            (None, _) => {
                out.insert(*var);
            }
        }
    }
    kind.operands().into_iter().for_each(|part| changing(plain, part, out));
}

fn is_whole(ty: Type) -> bool {
    ty == Type::Index || ty.integer_range().is_some()
}
