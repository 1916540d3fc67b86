//! Variables that a loop does nothing to but halve, while they are above 0.
//!
//! Half of a power of two, rounded down, is a power of two or 0, and of 0 it is 0. So of a
//! variable that was one of these before `while stride > 0 { …; stride /= 2; }` each
//! iteration that is entered finds a power of two.

use std::collections::BTreeSet;

use crate::kernel::{ExprId, ExprKind, Kernel, Literal, Place, Stmt, StmtKind, VarId};
use crate::op::{BinaryOp, CompareOp, LogicOp};

/// The variables that `body` assigns nothing but a quotient by a power of two, and that
/// are above 0 where `cond` holds.
pub(super) fn falling(kernel: &Kernel, cond: ExprId, body: &[Stmt]) -> BTreeSet<VarId> {
    let mut falling = halved(kernel, body);
    falling.retain(|var| is_above_zero(kernel, cond, *var));
    falling
}

/// Of the variables that fall so, those that each iteration halves at least once.
pub(super) fn falling_steadily(kernel: &Kernel, cond: ExprId, body: &[Stmt]) -> BTreeSet<VarId> {
    let halved_at_top = |var: &VarId| {
        body.iter()
            .any(|stmt| stmt.kind.given_var() == Some(*var) && halves(kernel, &stmt.kind, *var))
    };
    let mut falling = falling(kernel, cond, body);
    falling.retain(halved_at_top);
    falling
}

/// The variables that `body` assigns nothing but a quotient by a power of two.
pub(super) fn halved(kernel: &Kernel, body: &[Stmt]) -> BTreeSet<VarId> {
    let (mut halved, mut others) = (BTreeSet::new(), BTreeSet::new());
    collect(kernel, body, (&mut halved, &mut others));
    halved.retain(|var| !others.contains(var));
    halved
}

fn collect(
    kernel: &Kernel,
    stmts: &[Stmt],
    (halved, others): (&mut BTreeSet<VarId>, &mut BTreeSet<VarId>),
) {
    for stmt in stmts {
        if let Some(var) = stmt.kind.given_var() {
            let found =
                if is_halved(kernel, &stmt.kind, var) { &mut *halved } else { &mut *others };
            found.insert(var);
        }
        let bodies = stmt.kind.bodies();
        bodies.into_iter().for_each(|body| collect(kernel, body, (&mut *halved, &mut *others)));
    }
}

/// Whether a statement divides `var` by a power of two.
fn is_halved(kernel: &Kernel, kind: &StmtKind, var: VarId) -> bool {
    divisor(kernel, kind, var).is_some()
}

/// Whether it leaves half of it at most.
fn halves(kernel: &Kernel, kind: &StmtKind, var: VarId) -> bool {
    divisor(kernel, kind, var).is_some_and(|by| by > 1)
}

/// The power of two by which a statement divides `var`.
fn divisor(kernel: &Kernel, kind: &StmtKind, var: VarId) -> Option<i128> {
    let number = |expr: ExprId| match kernel.exprs[expr].kind {
        ExprKind::Literal(Literal::Int(value)) => Some(value),
        _ => None,
    };
    let by = |op: BinaryOp, operand: ExprId| match op {
        BinaryOp::Div => number(operand).filter(|by| *by > 0 && by.count_ones() == 1),
        BinaryOp::Shr => number(operand).filter(|by| (0..31).contains(by)).map(|by| 1 << by),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Rem
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::Min
        | BinaryOp::Max
        | BinaryOp::Pow
        | BinaryOp::Atan2
        | BinaryOp::Hypot
        | BinaryOp::Copysign => None,
    };
    match kind {
        StmtKind::Update { place: Place::Var(_), op, value } => by(*op, *value),
        StmtKind::Assign { value, .. } => match kernel.exprs[*value].kind {
            ExprKind::Binary { op, lhs, rhs } if kernel.exprs[lhs].kind == ExprKind::Var(var) => {
                by(op, rhs)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether `cond` holds of no value of `var` but those above 0, of all that are not below.
pub(super) fn is_above_zero(kernel: &Kernel, cond: ExprId, var: VarId) -> bool {
    let is_var = |expr: ExprId| kernel.exprs[expr].kind == ExprKind::Var(var);
    let is_from = |expr: ExprId, least: i128| match kernel.exprs[expr].kind {
        ExprKind::Literal(Literal::Int(value)) => value >= least,
        _ => false,
    };
    let is_zero = |expr: ExprId| kernel.exprs[expr].kind == ExprKind::Literal(Literal::Int(0));
    match kernel.exprs[cond].kind {
        ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
            [lhs, rhs].into_iter().any(|part| is_above_zero(kernel, part, var))
        }
        ExprKind::Compare { op, lhs, rhs } => match op {
            CompareOp::Gt => is_var(lhs) && is_from(rhs, 0),
            CompareOp::Ge => is_var(lhs) && is_from(rhs, 1),
            CompareOp::Lt => is_var(rhs) && is_from(lhs, 0),
            CompareOp::Le => is_var(rhs) && is_from(lhs, 1),
            CompareOp::Ne => is_var(lhs) && is_zero(rhs) || is_var(rhs) && is_zero(lhs),
            CompareOp::Eq => false,
        },
        _ => false,
    }
}
