//! Variables that are assigned to, where that is as good as declaring them anew.
//!
//! `i *= 4;` is `let i = i * 4;` where nothing but what stands behind it in its list sees
//! what it sets: in the list that declares `i`, and in an arm of an `if` there behind which
//! nobody names `i`. So it becomes that, and what is known of a `let` is known of it; what
//! else is assigned, around a loop above all, stays as it is. The kernel that is checked,
//! of which a launch is asked whether its numbers wrap, and that is run is this one.
//!
//! Only numbers of 32 bits ask for it. Those that are multiplied as random numbers are stay:
//! they wrap on purpose, and of a `let` a launch would be asked.

use super::exact::MAX_PLAIN_FACTOR;
use crate::dtype::DType;
use crate::kernel::{
    ElemType, Expr, ExprId, ExprKind, Kernel, Literal, Place, Stmt, StmtKind, Type, Var, VarId,
    VarKind, any_stmt, any_subexpr, var_uses_in,
};
use crate::op::BinaryOp;

/// Makes variables of what is assigned to variables.
pub(super) fn declare_anew(kernel: &mut Kernel) {
    let mut body = std::mem::take(&mut kernel.body);
    let mut split = Vec::new();
    each_list(&mut body, &mut |stmts| split_lets(kernel, stmts, &mut split));
    // What nobody assigns to any more is what it was declared as.
    split.retain(|var| !body.iter().any(|stmt| assigns(stmt, *var)));
    each_list(&mut body, &mut |stmts| {
        for stmt in stmts {
            if let StmtKind::Let { var, init: Some(_) } = stmt.kind
                && split.contains(&var)
            {
                kernel.vars[var].kind = VarKind::Let { mutable: false };
            }
        }
    });
    kernel.body = body;
}

/// Does something to each list of statements, outer ones first.
fn each_list(stmts: &mut Vec<Stmt>, act: &mut dyn FnMut(&mut Vec<Stmt>)) {
    act(stmts);
    for stmt in stmts {
        stmt.kind.bodies_mut().into_iter().for_each(|body| each_list(body, act));
    }
}

/// Follows the variables that a list declares, those it has come to declare too; collects
/// those of which others were made.
fn split_lets(kernel: &mut Kernel, stmts: &mut [Stmt], split: &mut Vec<VarId>) {
    for at in 0..stmts.len() {
        let Some((first, rest)) = stmts.get_mut(at..).and_then(<[Stmt]>::split_first_mut) else {
            return;
        };
        if let StmtKind::Let { var, init } = first.kind
            && is_narrow(&kernel.vars[var])
            && !init.is_some_and(|init| is_random(kernel, init))
            && !rest.iter().any(|stmt| sets_random(kernel, stmt, var))
        {
            split_from(kernel, rest, var, split);
        }
    }
}

/// Makes a variable of the first assignment to `var` in a list at whose end it is forgotten.
fn split_from(kernel: &mut Kernel, stmts: &mut [Stmt], var: VarId, split: &mut Vec<VarId>) {
    for at in 0..stmts.len() {
        let Some((first, rest)) = stmts.get_mut(at..).and_then(<[Stmt]>::split_first_mut) else {
            return;
        };
        if let Some(value) = set_by(kernel, first, var) {
            let declared = kernel.vars[var].clone();
            let anew = kernel.vars.push(declared);
            first.kind = StmtKind::Let { var: anew, init: Some(value) };
            rest.iter_mut().for_each(|stmt| rename(kernel, stmt, (var, anew)));
            split.extend([var, anew]);
            return;
        }
        if let StmtKind::If { then, otherwise, .. } = &mut first.kind
            && !rest.iter().any(|stmt| names(kernel, stmt, var))
        {
            split_from(kernel, then, var, split);
            split_from(kernel, otherwise, var, split);
        }
    }
}

/// The value that a statement itself gives a variable.
fn set_by(kernel: &mut Kernel, stmt: &Stmt, var: VarId) -> Option<ExprId> {
    match stmt.kind {
        StmtKind::Assign { var: own, value } if own == var => Some(value),
        StmtKind::Update { place: Place::Var(own), op, value } if own == var => {
            let ty = kernel.vars[var].ty;
            let lhs = kernel.exprs.push(Expr { kind: ExprKind::Var(var), ty, span: stmt.head });
            // Operands come before their user.
            let kind = ExprKind::Binary { op, lhs, rhs: value };
            Some(kernel.exprs.push(Expr { kind, ty, span: stmt.span }))
        }
        _ => None,
    }
}

/// Whether a variable is one of those that are followed.
fn is_narrow(var: &Var) -> bool {
    let Type::Scalar(ElemType::Concrete(dtype)) = var.ty else { return false };
    var.kind == VarKind::Let { mutable: true }
        && !var.accumulator
        && matches!(dtype, DType::I32 | DType::U32)
}

/// Whether a statement, or one inside it, sets a variable to what is multiplied as random
/// numbers are.
fn sets_random(kernel: &Kernel, stmt: &Stmt, var: VarId) -> bool {
    any_stmt(std::slice::from_ref(stmt), &mut |kind| match *kind {
        StmtKind::Assign { var: own, value } => own == var && is_random(kernel, value),
        StmtKind::Update { place: Place::Var(own), op, value } => {
            own == var
                && (is_random(kernel, value) || op == BinaryOp::Mul && is_large(kernel, value))
        }
        _ => false,
    })
}

fn is_random(kernel: &Kernel, value: ExprId) -> bool {
    any_subexpr(kernel, value, &mut |kind| match *kind {
        ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => {
            is_large(kernel, lhs) || is_large(kernel, rhs)
        }
        _ => false,
    })
}

fn is_large(kernel: &Kernel, factor: ExprId) -> bool {
    let ExprKind::Literal(Literal::Int(value)) = kernel.exprs[factor].kind else { return false };
    value.abs() > MAX_PLAIN_FACTOR
}

/// Whether a statement, or one inside it, assigns to a variable.
fn assigns(stmt: &Stmt, var: VarId) -> bool {
    any_stmt(std::slice::from_ref(stmt), &mut |kind| target(kind) == Some(var))
}

fn target(kind: &StmtKind) -> Option<VarId> {
    match kind {
        StmtKind::Assign { var, .. } | StmtKind::Update { place: Place::Var(var), .. } => {
            Some(*var)
        }
        _ => None,
    }
}

/// Whether a statement, or one inside it, names a variable.
fn names(kernel: &Kernel, stmt: &Stmt, var: VarId) -> bool {
    any_stmt(std::slice::from_ref(stmt), &mut |kind| {
        let mut read = kind.exprs().into_iter();
        target(kind) == Some(var) || read.any(|expr| var_uses_in(kernel, expr, var) > 0)
    })
}

/// Puts one variable in another's place.
fn rename(kernel: &mut Kernel, stmt: &mut Stmt, (from, to): (VarId, VarId)) {
    let mut open = stmt.kind.exprs();
    while let Some(expr) = open.pop() {
        let kind = &mut kernel.exprs[expr].kind;
        open.extend(kind.operands());
        if *kind == ExprKind::Var(from) {
            *kind = ExprKind::Var(to);
        }
    }
    if let StmtKind::Assign { var, .. } | StmtKind::Update { place: Place::Var(var), .. } =
        &mut stmt.kind
        && *var == from
    {
        *var = to;
    }
    let inner = stmt.kind.bodies_mut().into_iter().flatten();
    inner.for_each(|stmt| rename(kernel, stmt, (from, to)));
}
