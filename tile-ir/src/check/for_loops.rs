//! `while` loops that count, written with a counter for the proof.
//!
//! ```text
//! while i < n { …; i += 2; … }
//! ```
//!
//! A counter goes from a bound to a bound: it is known how many rounds there are, and how far
//! what is doubled or halved beside it comes. Where nothing else is done to `i`, and `n` stays
//! what it is, the loop above does what this one does:
//!
//! ```text
//! for k in (i..n).step_by(2) { i = k; …; i += 2; … }
//! ```
//!
//! What is counted down by ones goes the other way round, from `i` to `n + 1`.

use super::Exact;
use super::agreed::turns::{declare, is_fixed, like, replace};
use super::ending::Way;
use super::stepped::change;
use crate::kernel::{
    Expr, ExprId, ExprKind, Kernel, Literal, LoopRange, Place, Stmt, StmtKind, Type, VarId, VarKind,
    any_stmt, any_subexpr,
};
use crate::op::{BinaryOp, CompareOp};

/// The kernel with such loops written with counters, if it has one.
pub(super) fn counted(kernel: &Kernel) -> Option<Kernel> {
    let mut out = kernel.clone();
    let is_changed = replace(&mut out, &|kernel, stmt| {
        let count = Count::of(kernel, stmt)?;
        Some(vec![count.write(kernel, stmt)])
    });
    let asks_alike = || Exact::of(&out).is_asked_of(&out, &Exact::of(kernel), kernel);
    (is_changed && asks_alike()).then_some(out)
}

/// How a loop counts.
struct Count {
    var: VarId,
    /// What it does not reach, or not go beyond where it `meets` that.
    end: ExprId,
    meets: bool,
    way: Way,
    /// How far it goes in a round.
    step: i128,
}

impl Count {
    fn of(kernel: &Kernel, stmt: &Stmt) -> Option<Self> {
        let StmtKind::While { cond, body } = &stmt.kind else { return None };
        let ExprKind::Compare { op, lhs, rhs } = kernel.exprs[*cond].kind else { return None };
        Self::until(kernel, (op, lhs, rhs), body)
            .or_else(|| Self::until(kernel, (op.mirrored(), rhs, lhs), body))
    }

    /// Where the first of two that are compared is the counter.
    fn until(
        kernel: &Kernel,
        (op, counter, end): (CompareOp, ExprId, ExprId),
        body: &[Stmt],
    ) -> Option<Self> {
        let ExprKind::Var(var) = kernel.exprs[counter].kind else { return None };
        let (way, meets) = match op {
            CompareOp::Lt => (Way::Up, false),
            CompareOp::Le => (Way::Up, true),
            CompareOp::Gt => (Way::Down, false),
            CompareOp::Ge => (Way::Down, true),
            CompareOp::Eq | CompareOp::Ne => return None,
        };
        let is_integer = kernel.exprs[counter].ty.integer_range().is_some()
            || kernel.exprs[counter].ty == Type::Index;
        let is_let = kernel.vars[var].kind == VarKind::Let { mutable: true };
        let names = |kind: &ExprKind| *kind == ExprKind::Var(var);
        let is_known = is_fixed(kernel, end, body) && !any_subexpr(kernel, end, &mut |kind| names(kind));
        if !is_integer || !is_let || !is_known {
            return None;
        }
        let mut sets = 0;
        any_stmt(body, &mut |kind| {
            sets += usize::from(sets_var(kind, var));
            false
        });
        let mut steps = body.iter().filter_map(|stmt| change(kernel, stmt));
        let (_, (gone, by)) = steps.find(|(of, _)| *of == var)?;
        let ExprKind::Literal(Literal::Int(step)) = kernel.exprs[by].kind else { return None };
        let is_steady = sets == 1 && gone == way && step > 0 && (way == Way::Up || step == 1);
        is_steady.then_some(Self { var, end, meets, way, step })
    }

    fn write(&self, kernel: &mut Kernel, stmt: &Stmt) -> Stmt {
        let own = like(kernel, self.end, ExprKind::Var(self.var));
        kernel.exprs[own].ty = kernel.vars[self.var].ty;
        let (first, end) = (index(kernel, own), index(kernel, self.end));
        let range = match self.way {
            Way::Up => LoopRange::Between {
                start: first,
                end: if self.meets { after(kernel, end) } else { end },
                step: (self.step > 1).then(|| number(kernel, end, self.step)),
                reversed: false,
            },
            Way::Down => LoopRange::Between {
                start: if self.meets { end } else { after(kernel, end) },
                end: after(kernel, first),
                step: None,
                reversed: true,
            },
        };
        let name = kernel.vars[self.var].name.clone();
        let counter = declare(kernel, self.var, name, true);
        let mut value = like(kernel, first, ExprKind::Var(counter));
        if kernel.vars[self.var].ty != Type::Index {
            value = like(kernel, own, ExprKind::Cast(value));
        }
        let at = |kind| Stmt { kind, span: stmt.span, head: stmt.head };
        let mut body = vec![at(StmtKind::Assign { var: self.var, value })];
        body.extend(stmt.kind.bodies().into_iter().flatten().cloned());
        at(StmtKind::For { var: counter, range, body })
    }
}

/// Whether a statement gives a variable a value.
fn sets_var(kind: &StmtKind, of: VarId) -> bool {
    match kind {
        StmtKind::Assign { var, .. }
        | StmtKind::Let { var, .. }
        | StmtKind::Exchange { var, .. }
        | StmtKind::Update { place: Place::Var(var), .. } => *var == of,
        StmtKind::Atomic { old, .. } => *old == Some(of),
        _ => false,
    }
}

/// An integer as an index.
fn index(kernel: &mut Kernel, expr: ExprId) -> ExprId {
    let Expr { ty, span, .. } = kernel.exprs[expr];
    match ty {
        Type::Index => expr,
        Type::Scalar(_) => {
            kernel.exprs.push(Expr { kind: ExprKind::Cast(expr), ty: Type::Index, span })
        }
    }
}

fn number(kernel: &mut Kernel, beside: ExprId, number: i128) -> ExprId {
    like(kernel, beside, ExprKind::Literal(Literal::Int(number)))
}

/// The index after another one.
fn after(kernel: &mut Kernel, lhs: ExprId) -> ExprId {
    let rhs = number(kernel, lhs, 1);
    like(kernel, lhs, ExprKind::Binary { op: BinaryOp::Add, lhs, rhs })
}
