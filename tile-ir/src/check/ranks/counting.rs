//! Loops over the work-items before the own one, that count some of them.
//!
//! ```text
//! for i in 0..t { if s[i] == d { r += 1; } }
//! for i in 0..256 { if i < t && s[i] == d { r += 1; } }
//! for i in t + 1..256 { r += (s[i] == d) as u32; }
//! ```
//!
//! The loop runs over work-items, and those that it counts are before the own one by their
//! numbers, or behind it, and have a key that is that of the own one. It does nothing else. Either
//! way those that have one key are in one order, and each counts the ones that come before.

use crate::check::interval::literal;
use crate::kernel::{
    ArrayRef, Expr, ExprId, ExprKind, Kernel, LoopRange, Place, Stmt, StmtKind, Type, VarId,
    VarKind, applied, copy_expr, immutable_lets,
};
use crate::op::{BinaryOp, CompareOp, LogicOp};

/// What a loop counts.
pub(super) struct Counting {
    /// Into which variable.
    pub(super) var: VarId,
    /// The loop's counter: a work-item's number.
    pub(super) of: VarId,
    /// The two numbers that are alike of those that are counted.
    pub(super) sides: (ExprId, ExprId),
    /// The array that holds each work-item's key.
    pub(super) keys: ArrayRef,
}

impl Counting {
    pub(super) fn of(kernel: &Kernel, stmt: &Stmt) -> Option<Self> {
        let StmtKind::For { var: of, range, body } = &stmt.kind else { return None };
        let LoopRange::Between { start, end, step: None, .. } = *range else { return None };
        let [axis] = kernel.block.as_deref()? else { return None };
        let is = |expr: ExprId, var: VarId| kernel.exprs[expr].kind == ExprKind::Var(var);
        let is_all = |end: ExprId| kernel.is_same(end, axis.extent);
        let is_behind = |start: ExprId| match kernel.exprs[start].kind {
            ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => {
                is(lhs, axis.var) && literal(kernel, rhs) == Some(1)
            }
            _ => false,
        };
        let from_first = literal(kernel, start) == Some(0);
        let is_ordered = from_first && is(end, axis.var) || is_behind(start) && is_all(end);
        let goes_over_all = from_first && is_all(end);
        if !is_ordered && !goes_over_all {
            return None;
        }
        let mut conditions = Vec::new();
        let var = counted(kernel, body, &mut conditions)?;
        let orders = |cond: &ExprId| match kernel.exprs[*cond].kind {
            ExprKind::Compare { op: CompareOp::Lt | CompareOp::Gt, lhs, rhs } => {
                is(lhs, *of) && is(rhs, axis.var) || is(lhs, axis.var) && is(rhs, *of)
            }
            _ => false,
        };
        let (order, others): (Vec<ExprId>, Vec<ExprId>) = conditions.into_iter().partition(orders);
        let ([alike], true) = (others.as_slice(), order.len() == usize::from(!is_ordered)) else {
            return None;
        };
        let ExprKind::Compare { op: CompareOp::Eq, lhs, rhs } = kernel.exprs[*alike].kind else {
            return None;
        };
        let keys = [lhs, rhs].into_iter().find_map(|side| read_at(kernel, body, (side, *of)))?;
        Some(Self { var, of: *of, sides: (lhs, rhs), keys })
    }

    /// Makes the loop count into another variable.
    pub(super) fn count_into(&self, kernel: &mut Kernel, stmt: &mut Stmt, var: VarId) {
        let of = self.var;
        let replace = |kernel: &mut Kernel, expr: ExprId| {
            copy_expr(kernel, expr, &mut |kernel, named| {
                if named != of {
                    return None;
                }
                let like = kernel.exprs.values().find(|expr| expr.kind == ExprKind::Var(of))?;
                let own = Expr { kind: ExprKind::Var(var), ..like.clone() };
                Some(kernel.exprs.push(own))
            })
        };
        match &mut stmt.kind {
            StmtKind::Update { place: Place::Var(counted), .. } if *counted == of => *counted = var,
            StmtKind::Assign { var: counted, value } if *counted == of => {
                *counted = var;
                *value = replace(kernel, *value);
            }
            kind => {
                for body in kind.bodies_mut() {
                    body.iter_mut().for_each(|stmt| self.count_into(kernel, stmt, var));
                }
            }
        }
    }
}

/// The variable that statements raise by one under some conditions, and do nothing else; adds the
/// conditions.
fn counted(kernel: &Kernel, stmts: &[Stmt], conditions: &mut Vec<ExprId>) -> Option<VarId> {
    let (last, names) = stmts.split_last()?;
    let is_name = |stmt: &Stmt| match stmt.kind {
        StmtKind::Let { var, .. } => kernel.vars[var].kind == VarKind::Let { mutable: false },
        _ => false,
    };
    if !names.iter().all(is_name) {
        return None;
    }
    let var = match &last.kind {
        StmtKind::If { cond, then, otherwise } if otherwise.is_empty() => {
            split(kernel, *cond, conditions);
            return counted(kernel, then, conditions);
        }
        StmtKind::Update { place: Place::Var(var), .. } | StmtKind::Assign { var, .. } => *var,
        _ => return None,
    };
    let ty = kernel.vars[var].ty;
    let is_whole = ty == Type::Index || ty.integer_range().is_some();
    let (BinaryOp::Add, by) = applied(kernel, &last.kind, var)? else { return None };
    let is_one = match kernel.exprs[by].kind {
        ExprKind::Select { cond, then, otherwise } => {
            split(kernel, cond, conditions);
            literal(kernel, then) == Some(1) && literal(kernel, otherwise) == Some(0)
        }
        ExprKind::Cast(of) if kernel.exprs[of].ty == Type::BOOL => {
            split(kernel, of, conditions);
            true
        }
        _ => literal(kernel, by) == Some(1),
    };
    (is_whole && is_one).then_some(var)
}

/// Adds the conditions of which all hold where one does.
fn split(kernel: &Kernel, cond: ExprId, conditions: &mut Vec<ExprId>) {
    match kernel.exprs[cond].kind {
        ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
            split(kernel, lhs, conditions);
            split(kernel, rhs, conditions);
        }
        _ => conditions.push(cond),
    }
}

/// The array of which a number reads the element of a loop's round, be it by way of a name.
fn read_at(kernel: &Kernel, body: &[Stmt], (expr, of): (ExprId, VarId)) -> Option<ArrayRef> {
    match &kernel.exprs[expr].kind {
        ExprKind::Load(access) => match access.indices.as_slice() {
            [index] if kernel.exprs[*index].kind == ExprKind::Var(of) => Some(access.array),
            _ => None,
        },
        ExprKind::Var(var) => {
            let init = *immutable_lets(body, kernel).get(var)?;
            read_at(kernel, body, (init, of))
        }
        kind => kind.operands().into_iter().find_map(|part| read_at(kernel, body, (part, of))),
    }
}
