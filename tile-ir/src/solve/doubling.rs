//! Variables that a loop does nothing to but double.
//!
//! One of 32 bits that is doubled from a power of two on is a power of two until it
//! wraps. Then it is 0, with a sign by way of the least number of its type, and stays
//! so. A loop that runs while such a variable is below a bound never ends once it has
//! wrapped: a launch that comes to its end has not wrapped it.

use std::collections::BTreeMap;

use crate::kernel::{
    ExprId, ExprKind, Kernel, Literal, Stmt, StmtKind, VarId, any_subexpr, applied,
};
use crate::op::{BinaryOp, CompareOp, LogicOp};

/// How a body doubles a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Doubling {
    /// The greatest factor, a power of two; or a number by which a type still holds it.
    pub(super) factor: i128,
    /// Whether each iteration doubles it once.
    pub(super) is_steady: bool,
}

/// The variables of integer types that `body` assigns nothing but a multiple by a power
/// of two.
pub(super) fn doubled(kernel: &Kernel, body: &[Stmt]) -> BTreeMap<VarId, Doubling> {
    let mut doubled = grown(kernel, body);
    doubled.retain(|var, _| range(kernel, *var).is_some());
    doubled
}

/// The same, indices too, which do not wrap.
pub(super) fn grown(kernel: &Kernel, body: &[Stmt]) -> BTreeMap<VarId, Doubling> {
    let mut found = BTreeMap::new();
    collect(kernel, body, true, &mut found);
    found.into_iter().filter_map(|(var, doubling)| Some((var, doubling?))).collect()
}

/// Of these, the ones that are below a bound that the loop does not change as long as
/// it runs, and nothing else ends it.
pub(super) fn rising(kernel: &Kernel, cond: ExprId, body: &[Stmt]) -> BTreeMap<VarId, Doubling> {
    let mut rising = doubled(kernel, body);
    if rising.is_empty() {
        return rising;
    }
    let mut assigned = Vec::new();
    collect_assigned(body, &mut assigned);
    rising.retain(|var, _| ends_only_above(kernel, cond, *var, &assigned));
    rising
}

/// The range of a variable's integer type.
pub(super) fn range(kernel: &Kernel, var: VarId) -> Option<(i128, i128)> {
    kernel.vars[var].ty.integer_range()
}

/// Whether `cond`, where it holds, holds of any smaller value of `var` too.
fn ends_only_above(kernel: &Kernel, cond: ExprId, var: VarId, assigned: &[VarId]) -> bool {
    let is_var = |expr: ExprId| kernel.exprs[expr].kind == ExprKind::Var(var);
    match &kernel.exprs[cond].kind {
        ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
            [lhs, rhs].into_iter().all(|part| ends_only_above(kernel, *part, var, assigned))
        }
        ExprKind::Compare { op: CompareOp::Lt | CompareOp::Le, lhs, rhs } if is_var(*lhs) => {
            is_fixed(kernel, *rhs, assigned)
        }
        ExprKind::Compare { op: CompareOp::Gt | CompareOp::Ge, lhs, rhs } if is_var(*rhs) => {
            is_fixed(kernel, *lhs, assigned)
        }
        _ => is_fixed(kernel, cond, assigned),
    }
}

/// Whether an expression has one value as long as none of `assigned` changes.
fn is_fixed(kernel: &Kernel, expr: ExprId, assigned: &[VarId]) -> bool {
    !any_subexpr(kernel, expr, &mut |kind| match kind {
        ExprKind::Load(_) => true,
        ExprKind::Var(var) => assigned.contains(var),
        _ => false,
    })
}

/// The variables that statements change, at any depth.
fn collect_assigned(stmts: &[Stmt], out: &mut Vec<VarId>) {
    for stmt in stmts {
        out.extend(stmt.kind.given_var());
        stmt.kind.bodies().into_iter().for_each(|body| collect_assigned(body, out));
    }
}

fn collect(
    kernel: &Kernel,
    stmts: &[Stmt],
    is_top: bool,
    found: &mut BTreeMap<VarId, Option<Doubling>>,
) {
    for stmt in stmts {
        if let Some(var) = stmt.kind.given_var() {
            let factor = factor(kernel, &stmt.kind, var);
            let new = factor.map(|factor| Doubling { factor, is_steady: is_top && factor == 2 });
            found
                .entry(var)
                .and_modify(|known| {
                    *known = known.zip(new).map(|(one, two)| Doubling {
                        factor: one.factor.max(two.factor),
                        is_steady: false,
                    });
                })
                .or_insert(new);
        }
        let bodies = stmt.kind.bodies();
        bodies.into_iter().for_each(|body| collect(kernel, body, false, found));
    }
}

/// The power of two by which a statement multiplies `var`.
fn factor(kernel: &Kernel, kind: &StmtKind, var: VarId) -> Option<i128> {
    let is_var = |expr: ExprId| kernel.exprs[expr].kind == ExprKind::Var(var);
    let number = |expr: ExprId| match kernel.exprs[expr].kind {
        ExprKind::Literal(Literal::Int(value)) => Some(value),
        _ => None,
    };
    let by = |op: BinaryOp, operand: ExprId| match op {
        BinaryOp::Mul => number(operand).filter(|by| *by > 1 && by.count_ones() == 1),
        BinaryOp::Shl => number(operand).filter(|by| (1..31).contains(by)).map(|by| 1 << by),
        BinaryOp::Add => is_var(operand).then_some(2),
        BinaryOp::Sub
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shr
        | BinaryOp::Min
        | BinaryOp::Max
        | BinaryOp::Pow
        | BinaryOp::Atan2
        | BinaryOp::Hypot
        | BinaryOp::Copysign => None,
    };
    let (op, operand) = applied(kernel, kind, var)?;
    by(op, operand)
}
