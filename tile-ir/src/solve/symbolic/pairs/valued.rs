//! Proofs for each of the few values that a scalar parameter has where it matters.
//!
//! `if stride == 1 || stride == 2 { … }` and `if s >= 1 && s <= 4 { … }` leave few values.
//! With each of them put in for the parameter, products and shifts by it are linear, and
//! digits come apart. A launch has one value: one of those that conditions compare it with,
//! or of those between, or another one, which is a case of its own; so whatever the
//! conditions are about, what is proved in each case is proved. Where a condition asks of
//! one whether it is a power of two, that is what its cases are ([`super::power_cases`]). And
//! where a launch is refused unless it has one of few values ([`few_values`]), there are no
//! other cases. `min(levels, 8)` is such a comparison too. One that is true or false has two.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Unproved;
use super::super::algebra::formula::Formula;
use super::super::algebra::poly::Poly;
use super::super::terms::integers::range_of;
use super::super::walk::Case;
use super::cases::{Patience, Shares, combined, unproved_in_case};
use super::listed::unproved_in_each;
use super::power_cases::{self, CASES};
use crate::check::{Uniformity, few_values};
use crate::kernel::{ExprId, ExprKind, Kernel, Literal, Type, VarId, VarKind, immutable_lets};
use crate::op::{BinaryOp, CompareOp};

/// Most values of one parameter, and most combinations.
const MAX_VALUES: i128 = 34;
const MAX_CASES: usize = 64;

/// What is known of a scalar parameter in a case.
#[derive(Clone, Debug)]
pub(in super::super) enum Given {
    Is(i128),
    /// It is none of these.
    Not(BTreeSet<i128>),
    /// It is a power of two.
    Power,
    /// It is at least 3, and no power of two.
    NoPower,
    /// It is not above 0.
    NotAbove,
    /// It is above this.
    Above(i128),
}

impl Given {
    /// What holds of the parameter's value.
    pub(in super::super) fn holds_of(&self, value: &Poly) -> Formula {
        match self {
            Self::Is(number) => Formula::eq(value, &Poly::constant(*number)),
            Self::Power => Formula::le(&Poly::constant(1), value),
            Self::NoPower => Formula::le(&Poly::constant(3), value),
            Self::NotAbove => Formula::le(value, &Poly::default()),
            Self::Above(number) => Formula::lt(&Poly::constant(*number), value),
            Self::Not(numbers) => {
                let below = |end: i128| Formula::lt(value, &Poly::constant(end));
                let above = |last: i128| Formula::lt(&Poly::constant(last), value);
                let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else {
                    return Formula::True;
                };
                let gaps = numbers.iter().zip(numbers.iter().skip(1));
                let gaps = gaps.filter(|(one, next)| *next - *one > 1);
                let between = gaps.map(|(one, next)| above(*one).and(below(*next)));
                Formula::Any([below(*first), above(*last)].into_iter().chain(between).collect())
            }
        }
    }
}

/// Those of `open` that are not proved for each value.
pub(in super::super) fn unproved_for_each_value(
    (kernel, uniformity): (&Kernel, &Uniformity),
    patience: &Patience,
    open: &[Unproved],
) -> Vec<Unproved> {
    if open.is_empty() {
        return Vec::new();
    }
    let said = cases(kernel);
    let left = unproved_in_cases((kernel, uniformity), (&said, patience), open);
    let few = few(kernel);
    if few.is_empty() {
        return left;
    }
    let all = said.into_iter().chain(few).collect();
    unproved_in_cases((kernel, uniformity), (&all, patience), &left)
}

/// Those of `open` that are not proved in each of these cases.
fn unproved_in_cases(
    (kernel, uniformity): (&Kernel, &Uniformity),
    (cases, patience): (&Cases, &Patience),
    open: &[Unproved],
) -> Vec<Unproved> {
    let of_each = cases.iter().map(|(var, given)| (*var, given.as_slice()));
    let cases = combined(of_each, MAX_CASES);
    if open.is_empty() || cases.iter().all(BTreeMap::is_empty) {
        return open.to_vec();
    }
    let shares = Shares::of(cases.len(), patience);
    unproved_in_each(&cases, open, &shares, &|values, is_asked| {
        let case = Case { values: values.clone(), ..Case::default() };
        unproved_in_case((kernel, uniformity), case, &shares, is_asked)
    })
}

/// The cases of scalar parameters.
pub(in super::super) type Cases = BTreeMap<VarId, Vec<Given>>;

/// The cases of each scalar parameter that has some.
fn cases(kernel: &Kernel) -> Cases {
    let of_values = values(kernel).into_iter().map(|(var, numbers)| {
        let is = numbers.iter().rev().map(|number| Given::Is(*number));
        (var, is.chain([Given::Not(numbers.clone())]).collect())
    });
    let of_powers = power_cases::asked(kernel).into_iter().map(|var| (var, CASES.to_vec()));
    let of_flags = flags(kernel).map(|var| (var, vec![Given::Is(1), Given::Is(0)]));
    of_values.chain(of_powers).chain(of_flags).collect()
}

/// The scalar parameters that are true or false and that something asks.
fn flags(kernel: &Kernel) -> impl Iterator<Item = VarId> {
    let asked = kernel.exprs.values().filter_map(|expr| match expr.kind {
        ExprKind::Var(var) => Some(var),
        _ => None,
    });
    let is_flag = |var: &VarId| {
        let var = &kernel.vars[*var];
        matches!(var.kind, VarKind::Scalar(_)) && var.ty == Type::BOOL
    };
    asked.filter(is_flag).collect::<BTreeSet<_>>().into_iter()
}

/// The cases of each scalar parameter of which a launch has one of few values.
pub(in super::super) fn few(kernel: &Kernel) -> Cases {
    let is_scalar = |var: &VarId| matches!(kernel.vars[*var].kind, VarKind::Scalar(_));
    let few = few_values(kernel).into_iter();
    let few = few.filter(|(var, values)| is_scalar(var) && values.len() as i128 <= MAX_VALUES);
    few.map(|(var, values)| (var, values.into_iter().rev().map(Given::Is).collect())).collect()
}

/// The cases of each scalar parameter of which a launch has one of few values, or of which it is
/// the same from some value on: of `min(levels, 8)` all above 8 are as 8.
pub(in super::super) fn few_or_clamped(kernel: &Kernel) -> Cases {
    let few = few(kernel);
    let clamped = values(kernel).into_iter().filter(|(var, _)| !few.contains_key(var));
    let clamped: Cases = clamped
        .filter_map(|(var, numbers)| {
            let (min, _) = range_of(kernel.vars[var].ty)?;
            let last = *numbers.last().filter(|last| (1..MAX_VALUES).contains(*last))?;
            let (beside, first) = if min < 0 { (Some(Given::NotAbove), 1) } else { (None, 0) };
            let is = (first..=last).rev().map(Given::Is);
            Some((var, [Given::Above(last)].into_iter().chain(beside).chain(is).collect()))
        })
        .collect();
    few.into_iter().chain(clamped).collect()
}

/// The values of scalar parameters of which conditions speak: those that one is compared
/// with, and those between where some is less or more.
fn values(kernel: &Kernel) -> BTreeMap<VarId, BTreeSet<i128>> {
    let lets = immutable_lets(&kernel.body, kernel);
    let mut found: BTreeMap<VarId, (BTreeSet<i128>, bool)> = BTreeMap::new();
    for expr in kernel.exprs.values() {
        let (is_equality, lhs, rhs) = match expr.kind {
            ExprKind::Compare { op, lhs, rhs } => {
                (matches!(op, CompareOp::Eq | CompareOp::Ne), lhs, rhs)
            }
            ExprKind::Binary { op: BinaryOp::Min | BinaryOp::Max, lhs, rhs } => (false, lhs, rhs),
            _ => continue,
        };
        let sides = [(lhs, rhs), (rhs, lhs)];
        let compared = sides.iter().find_map(|(scalar, number)| {
            let ExprKind::Literal(Literal::Int(number)) = kernel.exprs[*number].kind else {
                return None;
            };
            Some((scalar_of(kernel, &lets, *scalar)?, number))
        });
        let Some((var, number)) = compared else { continue };
        let (numbers, is_ordered) = found.entry(var).or_default();
        numbers.insert(number);
        *is_ordered |= !is_equality;
    }
    let all = found.into_iter().filter_map(|(var, (mut numbers, is_ordered))| {
        if is_ordered {
            let (min, _) = range_of(kernel.vars[var].ty)?;
            numbers.extend((min == 0).then_some(0));
            let (first, last) = (*numbers.first()?, *numbers.last()?);
            if last.checked_sub(first)? >= MAX_VALUES {
                return None;
            }
            numbers.extend(first..=last);
        }
        ((1..=MAX_VALUES).contains(&(numbers.len() as i128))).then_some((var, numbers))
    });
    all.collect()
}

/// The scalar parameter that an expression is, converted or named.
pub(in super::super) fn scalar_of(
    kernel: &Kernel,
    lets: &BTreeMap<VarId, ExprId>,
    expr: ExprId,
) -> Option<VarId> {
    match kernel.exprs[expr].kind {
        ExprKind::Var(var) => match kernel.vars[var].kind {
            VarKind::Scalar(_) => range_of(kernel.vars[var].ty).map(|_| var),
            _ => scalar_of(kernel, lets, *lets.get(&var)?),
        },
        ExprKind::Cast(of) => scalar_of(kernel, lets, of),
        _ => None,
    }
}
