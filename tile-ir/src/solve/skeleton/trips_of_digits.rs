//! Loops that have no more rounds than a number has digits.
//!
//! `while v > 0 { v = v / 2; … }`: whatever `v` is at first, it is 0 after as many halvings as its
//! type has bits, the sign not counted. So it is with each division by 2 or more, with a shift to
//! the right if it is asked whether `v` is above a number that is 0 at least (below 0 that fails at
//! once), and with `v & (v - 1)`, which takes a bit away, of numbers without a sign.
//!
//! The loop must change `v` there alone, in its own list of statements, so that each round does.

use crate::check::assigned_in;
use crate::kernel::number_in_text;
use crate::kernel::{ExprId, ExprKind, Kernel, Place, Stmt, StmtKind, Type, VarId};
use crate::op::{BinaryOp, CompareOp, LogicOp};

/// How many rounds a loop has at most, if it has no more than a number has digits.
pub(super) fn most_rounds(kernel: &Kernel, cond: ExprId, body: &[Stmt]) -> Option<i128> {
    match kernel.exprs[cond].kind {
        ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
            most_rounds(kernel, lhs, body).or_else(|| most_rounds(kernel, rhs, body))
        }
        ExprKind::Compare { op, lhs, rhs } => {
            let (var, least) = (var_of(kernel, lhs)?, number_in_text(kernel, rhs)?);
            // That it is above 0.
            let is_above = match op {
                CompareOp::Gt => least >= 0,
                CompareOp::Ge => least >= 1,
                CompareOp::Ne => least == 0 && is_natural(kernel.vars[var].ty),
                CompareOp::Lt | CompareOp::Le | CompareOp::Eq => false,
            };
            let ty = kernel.vars[var].ty;
            let bits = match ty.integer_range() {
                Some((_, most)) => i128::from(128 - most.leading_zeros()),
                None if ty == Type::Index => 63,
                None => return None,
            };
            (is_above && loses_digits(kernel, var, body)).then_some(bits)
        }
        _ => None,
    }
}

fn is_natural(ty: Type) -> bool {
    ty.integer_range().is_some_and(|(least, _)| least == 0)
}

fn var_of(kernel: &Kernel, expr: ExprId) -> Option<VarId> {
    match kernel.exprs[expr].kind {
        ExprKind::Var(var) => Some(var),
        _ => None,
    }
}

/// Whether each round takes digits of a variable away, and does nothing else to it.
pub(super) fn loses_digits(kernel: &Kernel, var: VarId, body: &[Stmt]) -> bool {
    let mut changing =
        body.iter().filter(|stmt| assigned_in(std::slice::from_ref(stmt)).contains(&var));
    let (Some(only), None) = (changing.next(), changing.next()) else { return false };
    match only.kind {
        StmtKind::Update { place: Place::Var(of), op, value } => {
            of == var && takes_away(kernel, var, op, value)
        }
        StmtKind::Assign { var: of, value } => match kernel.exprs[value].kind {
            ExprKind::Binary { op, lhs, rhs } => {
                of == var && var_of(kernel, lhs) == Some(var) && takes_away(kernel, var, op, rhs)
            }
            _ => false,
        },
        _ => false,
    }
}

fn takes_away(kernel: &Kernel, var: VarId, op: BinaryOp, by: ExprId) -> bool {
    let number = number_in_text(kernel, by);
    match op {
        BinaryOp::Div => number.is_some_and(|by| by >= 2),
        BinaryOp::Shr => number.is_some_and(|by| (1..8).contains(&by)),
        BinaryOp::And => match kernel.exprs[by].kind {
            ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs } => {
                is_natural(kernel.vars[var].ty)
                    && var_of(kernel, lhs) == Some(var)
                    && number_in_text(kernel, rhs) == Some(1)
            }
            _ => false,
        },
        _ => false,
    }
}
