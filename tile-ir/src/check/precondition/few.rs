//! Numbers of a launch of which its preconditions leave few values.
//!
//! `assume(len == 512 || len == 1024)`, `assume(levels >= 1 && levels <= 9)` and
//! `assume(s.is_power_of_two() && s <= 64)` are facts about each launch, as `len == 512` is:
//! what holds at each of the values that they admit holds. The parts of the assumptions that
//! speak of one scalar or dimension alone say from where to where it goes; of the numbers
//! there, or of the powers of two among them where one is asked for, those are left for which
//! no part is false. A part that compares one with another that has few values bounds it too.

use std::collections::{BTreeMap, BTreeSet};

use super::{is_true, preconditions, value};
use crate::kernel::{ExprId, ExprKind, Kernel, Type, VarId, VarKind, number_in_text};
use crate::op::{BinaryOp, CompareOp, LogicOp, MathFn};

/// Most values that are few.
const MAX_VALUES: usize = 66;

/// Most numbers of a range that are asked one by one.
const MAX_ASKED: i128 = 4096;

/// How often it is asked what the values of one say of others.
const MAX_ROUNDS: usize = 4;

/// From where to where a number goes, both ends included.
pub(crate) type Span = (i128, i128);

/// The values that a launch may have of each scalar and dimension of which it has few, in
/// rising order.
pub(crate) fn few_values(kernel: &Kernel) -> BTreeMap<VarId, Vec<i128>> {
    let mut parts: BTreeMap<VarId, Vec<ExprId>> = BTreeMap::new();
    let mut compared = Vec::new();
    for cond in preconditions(kernel) {
        for part in conjuncts(kernel, cond) {
            let mut vars = BTreeSet::new();
            collect_vars(kernel, part, &mut vars);
            match (vars.first(), vars.len()) {
                (Some(var), 1) => parts.entry(*var).or_default().push(part),
                (_, 2) => compared.push(part),
                _ => {}
            }
        }
    }
    let mut few: BTreeMap<VarId, Vec<i128>> = BTreeMap::new();
    for _ in 0..MAX_ROUNDS {
        let found = parts.iter().filter_map(|(var, parts)| {
            let spans = compared.iter().filter_map(|part| span_beside(kernel, *var, *part, &few));
            Some((*var, values(kernel, *var, parts, spans)?))
        });
        let found = found.collect();
        if found == few {
            break;
        }
        few = found;
    }
    few
}

/// From where to where the scalars and dimensions go of which parts of the assumptions speak
/// alone.
pub(crate) fn spans_of_launch(kernel: &Kernel) -> BTreeMap<VarId, Span> {
    let mut spans: BTreeMap<VarId, Span> = BTreeMap::new();
    for part in preconditions(kernel).into_iter().flat_map(|cond| conjuncts(kernel, cond)) {
        let mut vars = BTreeSet::new();
        collect_vars(kernel, part, &mut vars);
        let (Some(var), 1) = (vars.first(), vars.len()) else { continue };
        let Some((own, of)) = span(kernel, *var, part).zip(whole(kernel, *var)) else { continue };
        let (low, high) = spans.get(var).copied().unwrap_or(of);
        spans.insert(*var, (low.max(own.0), high.min(own.1)));
    }
    spans
}

/// Where `var` is where a condition holds that compares it with one that has few values.
fn span_beside(
    kernel: &Kernel,
    var: VarId,
    cond: ExprId,
    few: &BTreeMap<VarId, Vec<i128>>,
) -> Option<Span> {
    let ExprKind::Compare { op, lhs, rhs } = kernel.exprs[cond].kind else { return None };
    let beside = |op: CompareOp, one: ExprId, other: ExprId| {
        let (_, values) = few.iter().find(|(few, _)| is_same(kernel, **few, other))?;
        let (least, most) = (*values.first()?, *values.last()?);
        let (from_least, from_most) = (compared(op, least)?, compared(op, most)?);
        is_same(kernel, var, one)
            .then_some((from_least.0.min(from_most.0), from_least.1.max(from_most.1)))
    };
    beside(op, lhs, rhs).or_else(|| beside(op.mirrored(), rhs, lhs))
}

/// The conditions that all hold where one does.
fn conjuncts(kernel: &Kernel, cond: ExprId) -> Vec<ExprId> {
    match kernel.exprs[cond].kind {
        ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
            [conjuncts(kernel, lhs), conjuncts(kernel, rhs)].concat()
        }
        _ => vec![cond],
    }
}

fn collect_vars(kernel: &Kernel, expr: ExprId, vars: &mut BTreeSet<VarId>) {
    let kind = &kernel.exprs[expr].kind;
    if let ExprKind::Var(var) = kind {
        vars.insert(*var);
    }
    kind.operands().into_iter().for_each(|operand| collect_vars(kernel, operand, vars));
}

/// The values of `var` of which all of `parts` hold and that lie within `spans`, if they are
/// few.
fn values(
    kernel: &Kernel,
    var: VarId,
    parts: &[ExprId],
    spans: impl Iterator<Item = Span>,
) -> Option<Vec<i128>> {
    let whole = whole(kernel, var)?;
    let spans = parts.iter().filter_map(|part| span(kernel, var, *part)).chain(spans);
    let (low, high) = spans.fold(whole, |(low, high), span| (low.max(span.0), high.min(span.1)));
    let candidates: Vec<i128> = if high.checked_sub(low)? < MAX_ASKED {
        (low..=high).collect()
    } else if parts.iter().any(|part| asks_for_power(kernel, var, *part)) {
        let powers = (0..64).map(|places| 1i128 << places);
        let mut powers: Vec<i128> = [whole.0.min(0), 0].into_iter().chain(powers).collect();
        powers.retain(|power| (low..=high).contains(power));
        powers.dedup();
        powers
    } else {
        return None;
    };
    let holds = |number: &i128| {
        let known = |other| (other == var).then_some(*number);
        parts.iter().all(|part| value(kernel, *part, &known).is_none_or(is_true))
    };
    let left: Vec<i128> = candidates.into_iter().filter(holds).take(MAX_VALUES + 1).collect();
    (1..=MAX_VALUES).contains(&left.len()).then_some(left)
}

/// All numbers that a variable of a launch may be.
fn whole(kernel: &Kernel, var: VarId) -> Option<Span> {
    match kernel.vars[var].kind {
        VarKind::Dim => Some((0, i64::MAX.into())),
        VarKind::Scalar(_) => kernel.vars[var].ty.integer_range(),
        VarKind::TileParam(_)
        | VarKind::Grid
        | VarKind::Block
        | VarKind::Each
        | VarKind::Loop
        | VarKind::Let { .. } => None,
    }
}

/// Where `var` is where a condition holds, if that says something of it.
fn span(kernel: &Kernel, var: VarId, cond: ExprId) -> Option<Span> {
    match kernel.exprs[cond].kind {
        ExprKind::Logic { op, lhs, rhs } => {
            let sides = (span(kernel, var, lhs), span(kernel, var, rhs));
            match (op, sides) {
                (LogicOp::And, (Some(one), Some(other))) => {
                    Some((one.0.max(other.0), one.1.min(other.1)))
                }
                (LogicOp::And, (one, other)) => one.or(other),
                (LogicOp::Or, (Some(one), Some(other))) => {
                    Some((one.0.min(other.0), one.1.max(other.1)))
                }
                (LogicOp::Or, _) => None,
            }
        }
        ExprKind::Compare { op, lhs, rhs } => {
            let side = |op: CompareOp, (one, other): (ExprId, ExprId)| {
                let number = number_in_text(kernel, other).filter(|_| is_same(kernel, var, one))?;
                compared(op, number)
            };
            side(op, (lhs, rhs)).or_else(|| side(op.mirrored(), (rhs, lhs)))
        }
        _ => None,
    }
}

/// Where something is that compares so with a number.
fn compared(op: CompareOp, number: i128) -> Option<Span> {
    // No type has numbers so far from 0.
    const FAR: i128 = 1 << 100;
    match op {
        CompareOp::Eq => Some((number, number)),
        CompareOp::Le => Some((-FAR, number)),
        CompareOp::Lt => Some((-FAR, number - 1)),
        CompareOp::Ge => Some((number, FAR)),
        CompareOp::Gt => Some((number + 1, FAR)),
        CompareOp::Ne => None,
    }
}

/// Whether an expression is always the number that `var` is: it, or it in a type that has
/// all its numbers.
fn is_same(kernel: &Kernel, var: VarId, expr: ExprId) -> bool {
    match kernel.exprs[expr].kind {
        ExprKind::Var(other) => other == var,
        ExprKind::Cast(of) => {
            let of_var = whole(kernel, var);
            let fits = of_var.zip(range_of(kernel.exprs[expr].ty));
            let fits = fits.is_some_and(|(of, to)| to.0 <= of.0 && of.1 <= to.1);
            fits && is_same(kernel, var, of)
        }
        _ => false,
    }
}

/// The numbers of a type; an index has 64 bits.
fn range_of(ty: Type) -> Option<Span> {
    match ty {
        Type::Index => Some((i64::MIN.into(), i64::MAX.into())),
        Type::Scalar(_) => ty.integer_range(),
    }
}

/// Whether a condition holds of powers of two alone, and of 0 and the least number of a type:
/// `x.is_power_of_two()`, which counts the ones, or `x & (x - 1) == 0`.
fn asks_for_power(kernel: &Kernel, var: VarId, cond: ExprId) -> bool {
    let ExprKind::Compare { op: CompareOp::Eq, lhs, rhs } = kernel.exprs[cond].kind else {
        return false;
    };
    let is_var = |expr: ExprId| kernel.exprs[expr].kind == ExprKind::Var(var);
    let is_less = |expr: ExprId| match kernel.exprs[expr].kind {
        ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs } => {
            is_var(lhs) && number_in_text(kernel, rhs) == Some(1)
        }
        _ => false,
    };
    // How many ones there are, any type can say.
    let count = |of: ExprId| match kernel.exprs[of].kind {
        ExprKind::Cast(count) => count,
        _ => of,
    };
    let is_asked = |of: ExprId, is: ExprId| match kernel.exprs[count(of)].kind {
        ExprKind::Math { func: MathFn::CountOnes, arg } => {
            is_var(arg) && number_in_text(kernel, is) == Some(1)
        }
        ExprKind::Binary { op: BinaryOp::And, lhs, rhs } if count(of) == of => {
            let is_masked = is_var(lhs) && is_less(rhs) || is_less(lhs) && is_var(rhs);
            is_masked && number_in_text(kernel, is) == Some(0)
        }
        _ => false,
    };
    is_asked(lhs, rhs) || is_asked(rhs, lhs)
}
