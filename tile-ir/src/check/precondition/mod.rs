//! What a kernel assumes of a launch's scalars and sizes alone, whatever its work-items do.
//!
//! `assume(width % 4 == 0);` in the body itself, under no condition and in no loop, is no
//! guess about data: a launch knows whether it holds, and one for which it does not is
//! refused, on every device. So such an assumption is a fact, and one that says what a scalar
//! is, `assume(width == 512);`, gives it that value: the kernel that is checked, of which a
//! launch is asked whether its numbers wrap, and that is run is one with 512 in the place of
//! `width`. Where assumptions leave few values ([`few_values`]), each can be asked.

mod few;

use std::collections::{BTreeMap, BTreeSet};

use crate::dtype::DType;
use crate::kernel::{
    ElemType, ExprId, ExprKind, Kernel, Literal, StmtKind, Type, VarId, VarKind, any_subexpr,
    ceil_div,
};
use crate::op::{CompareOp, LogicOp, MathFn};
use crate::semantics;
use crate::value::ScalarValue;
pub(crate) use few::{few_values, spans_of_launch};

/// The conditions that a launch is asked, in program order.
pub fn preconditions(kernel: &Kernel) -> Vec<ExprId> {
    let assumed = kernel.body.iter().filter_map(|stmt| match stmt.kind {
        StmtKind::Assume { cond } => Some(cond),
        _ => None,
    });
    assumed
        .filter(|cond| !any_subexpr(kernel, *cond, &mut |kind| !is_of_launch(kernel, kind)))
        .collect()
}

/// Whether a launch knows its value, if it knows those of its operands.
fn is_of_launch(kernel: &Kernel, kind: &ExprKind) -> bool {
    match kind {
        ExprKind::Var(var) => match kernel.vars[*var].kind {
            VarKind::Dim | VarKind::TileParam(_) => true,
            VarKind::Scalar(_) => kernel.vars[*var].ty.integer_range().is_some(),
            VarKind::Grid
            | VarKind::Block
            | VarKind::Each
            | VarKind::Loop
            | VarKind::Let { .. } => false,
        },
        ExprKind::Literal(Literal::Int(_) | Literal::Bool(_))
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Logic { .. }
        | ExprKind::Select { .. }
        | ExprKind::Cast(_)
        | ExprKind::Tiles { .. } => true,
        ExprKind::Math { func, .. } => is_of_bits(*func),
        ExprKind::Literal(Literal::Float(_) | Literal::Named(_))
        | ExprKind::Load(_)
        | ExprKind::Uniform(_)
        | ExprKind::InBounds { .. } => false,
    }
}

/// Whether a function counts the bits of an integer, as `is_power_of_two` does.
fn is_of_bits(func: MathFn) -> bool {
    matches!(func, MathFn::CountOnes | MathFn::LeadingZeros | MathFn::TrailingZeros)
}

/// The first of a kernel's `conditions` that does not hold where `var` says what dimensions,
/// tile parameters and scalars are. What it does not know is not asked.
pub fn broken_precondition(
    kernel: &Kernel,
    conditions: &[ExprId],
    var: &dyn Fn(VarId) -> Option<i128>,
) -> Option<ExprId> {
    let is_broken = |cond: &ExprId| value(kernel, *cond, var).is_some_and(|holds| !is_true(holds));
    conditions.iter().copied().find(is_broken)
}

fn is_true(value: ScalarValue) -> bool {
    value.bits & 1 == 1
}

/// The value of an expression, computed as the kernel computes it.
fn value(
    kernel: &Kernel,
    expr: ExprId,
    var: &dyn Fn(VarId) -> Option<i128>,
) -> Option<ScalarValue> {
    let of = |id: ExprId| value(kernel, id, var);
    let node = kernel.exprs.get(expr)?;
    let dtype = dtype(node.ty)?;
    match node.kind {
        ExprKind::Literal(Literal::Int(number)) => Some(number_of(number, dtype)),
        ExprKind::Literal(Literal::Bool(holds)) => Some(number_of(holds.into(), dtype)),
        ExprKind::Var(id) => Some(number_of(var(id)?, dtype)),
        ExprKind::Cast(operand) => semantics::cast(of(operand)?, dtype),
        ExprKind::Unary { op, operand } => semantics::unary(op, of(operand)?),
        ExprKind::Binary { op, lhs, rhs } => semantics::binary(op, of(lhs)?, of(rhs)?),
        ExprKind::Compare { op, lhs, rhs } => {
            let holds = semantics::compare(op, of(lhs)?, of(rhs)?)?;
            Some(number_of(holds.into(), dtype))
        }
        ExprKind::Logic { op, lhs, rhs } => {
            let goes_on = op == LogicOp::And;
            match of(lhs) {
                Some(lhs) if is_true(lhs) != goes_on => Some(lhs),
                Some(_) => of(rhs),
                // What is not known may be either.
                None => of(rhs).filter(|rhs| is_true(*rhs) != goes_on),
            }
        }
        ExprKind::Select { cond, then, otherwise } => {
            if is_true(of(cond)?) {
                of(then)
            } else {
                of(otherwise)
            }
        }
        ExprKind::Tiles { extent, tile } => {
            let number = |id: ExprId| Some(i128::from(of(id)?.bits.cast_signed()));
            Some(number_of(ceil_div(number(extent)?, number(tile)?), dtype))
        }
        ExprKind::Math { func, arg } => semantics::math(func, of(arg)?),
        ExprKind::Literal(Literal::Float(_) | Literal::Named(_))
        | ExprKind::Load(_)
        | ExprKind::Uniform(_)
        | ExprKind::InBounds { .. } => None,
    }
}

/// The type in which a value is computed; an index has 64 bits.
fn dtype(ty: Type) -> Option<DType> {
    match ty {
        Type::Index => Some(DType::I64),
        Type::Scalar(ElemType::Concrete(dtype)) => Some(dtype),
        Type::Scalar(ElemType::Param(_) | ElemType::Acc(_)) => None,
    }
}

/// An integer in a type: its lowest bits.
fn number_of(number: i128, dtype: DType) -> ScalarValue {
    let bits = 8 * dtype.size_bytes();
    let mask = u64::MAX >> (64 - bits.clamp(1, 64));
    ScalarValue { dtype, bits: number as u64 & mask }
}

/// Puts the values that preconditions give in the place of scalars, everywhere but in what is
/// assumed.
pub(super) fn put_in_values(kernel: &mut Kernel) {
    let mut values = BTreeMap::new();
    for cond in preconditions(kernel) {
        collect_values(kernel, cond, &mut values);
    }
    if values.is_empty() {
        return;
    }
    let kept = assumed_parts(kernel);
    put_in(kernel, &values, &kept);
}

/// All that assumptions are made of.
pub(super) fn assumed_parts(kernel: &Kernel) -> BTreeSet<ExprId> {
    let mut parts = BTreeSet::new();
    super::Origins::of(kernel)
        .assumed
        .iter()
        .for_each(|cond| collect_parts(kernel, *cond, &mut parts));
    parts
}

/// The kernel with these values in the place of scalars.
pub(crate) fn with_values(kernel: &Kernel, values: &BTreeMap<VarId, i128>) -> Kernel {
    let mut with = kernel.clone();
    put_in(&mut with, values, &BTreeSet::new());
    with
}

/// Puts values in the place of scalars everywhere but in what is `kept`.
fn put_in(kernel: &mut Kernel, values: &BTreeMap<VarId, i128>, kept: &BTreeSet<ExprId>) {
    let ids: Vec<ExprId> = kernel.exprs.ids().filter(|id| !kept.contains(id)).collect();
    for id in ids {
        let expr = &mut kernel.exprs[id];
        if let ExprKind::Var(var) = expr.kind
            && let Some(value) = values.get(&var)
        {
            expr.kind = ExprKind::Literal(Literal::Int(*value));
        }
    }
}

/// The scalars that a condition says the value of; the first word counts where two differ,
/// which another rule reports.
fn collect_values(kernel: &Kernel, cond: ExprId, values: &mut BTreeMap<VarId, i128>) {
    match kernel.exprs[cond].kind {
        ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
            collect_values(kernel, lhs, values);
            collect_values(kernel, rhs, values);
        }
        ExprKind::Compare { op: CompareOp::Eq, lhs, rhs } => {
            let given = scalar(kernel, lhs).zip(number(kernel, rhs));
            let given = given.or_else(|| scalar(kernel, rhs).zip(number(kernel, lhs)));
            if let Some((var, value)) = given
                && kernel.vars[var]
                    .ty
                    .integer_range()
                    .is_some_and(|(min, max)| (min..=max).contains(&value))
            {
                values.entry(var).or_insert(value);
            }
        }
        _ => {}
    }
}

fn scalar(kernel: &Kernel, expr: ExprId) -> Option<VarId> {
    match kernel.exprs[expr].kind {
        ExprKind::Var(var) => matches!(kernel.vars[var].kind, VarKind::Scalar(_)).then_some(var),
        _ => None,
    }
}

fn number(kernel: &Kernel, expr: ExprId) -> Option<i128> {
    match kernel.exprs[expr].kind {
        ExprKind::Literal(Literal::Int(value)) => Some(value),
        _ => None,
    }
}

/// Adds all that an expression is made of.
pub(super) fn collect_parts(kernel: &Kernel, expr: ExprId, parts: &mut BTreeSet<ExprId>) {
    if parts.insert(expr) {
        let operands = kernel.exprs[expr].kind.operands();
        operands.into_iter().for_each(|operand| collect_parts(kernel, operand, parts));
    }
}
