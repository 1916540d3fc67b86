//! Conditions that have one value for all work-items at every admissible size,
//! and which: `tx < TN` with `tx` in `TN`.
//!
//! Shown by the signs of polynomials ([`super::poly`]), over what holds wherever
//! a name is in scope: extents of axes, counters that start at 0, the one value
//! of a `let` that is never assigned again. What is not shown stays open.

use std::collections::BTreeSet;

use super::poly::{Bounds, Poly};
use crate::arena::EntityId as _;
use crate::kernel::{
    ExprId, ExprKind, Kernel, Literal, LoopRange, Stmt, StmtKind, Type, VarId, VarKind,
};
use crate::op::{CompareOp, LogicOp, UnaryOp};

/// The conditions of a kernel's body that are known.
#[derive(Clone, Debug)]
pub(crate) struct Folds(Vec<Option<bool>>);

impl Folds {
    /// Decides the conditions of a kernel.
    pub(crate) fn of(kernel: &Kernel) -> Self {
        let mut bounds = Bounds::new(kernel);
        enter_all(kernel, &kernel.body, &mut bounds);
        let mut folds = Self(vec![None; kernel.exprs.len()]);
        // Operands have smaller ids than their users.
        for (id, expr) in kernel.exprs.iter() {
            if expr.ty == Type::BOOL {
                folds.0[id.index()] = folds.decide(kernel, &mut bounds, &expr.kind);
            }
        }
        folds
    }

    /// The value of a condition, where it has one.
    pub(crate) fn get(&self, expr: ExprId) -> Option<bool> {
        self.0.get(expr.index()).copied().flatten()
    }

    fn decide(&self, kernel: &Kernel, bounds: &mut Bounds<'_>, kind: &ExprKind) -> Option<bool> {
        match kind {
            ExprKind::Literal(Literal::Bool(value)) => Some(*value),
            ExprKind::Compare { op, lhs, rhs } if kernel.exprs[*lhs].ty == Type::Index => {
                let (lhs, rhs) = (bounds.poly(*lhs), bounds.poly(*rhs));
                compare(bounds, *op, &lhs, &rhs)
            }
            ExprKind::Logic { op, lhs, rhs } => {
                let (lhs, rhs) = (self.get(*lhs), self.get(*rhs));
                // What alone decides the result, on either side.
                let decisive = match op {
                    LogicOp::And => false,
                    LogicOp::Or => true,
                };
                if lhs == Some(decisive) || rhs == Some(decisive) {
                    Some(decisive)
                } else {
                    (lhs.is_some() && rhs.is_some()).then_some(!decisive)
                }
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.get(*operand).map(|value| !value),
            ExprKind::Uniform(operand) => self.get(*operand),
            ExprKind::Literal(Literal::Int(_) | Literal::Float(_) | Literal::Named(_))
            | ExprKind::Compare { .. }
            | ExprKind::Unary { op: UnaryOp::Neg, .. }
            | ExprKind::Var(_)
            | ExprKind::Load(_)
            | ExprKind::Binary { .. }
            | ExprKind::Select { .. }
            | ExprKind::Cast(_)
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => None,
        }
    }
}

fn compare(bounds: &Bounds<'_>, op: CompareOp, lhs: &Poly, rhs: &Poly) -> Option<bool> {
    let one = Poly::constant(1);
    let at_least = |a: &Poly, b: &Poly| bounds.is_never_negative(&a.clone().sub(b));
    let above = |a: &Poly, b: &Poly| at_least(&a.clone().sub(&one), b);
    let known = |yes: bool, no: bool| (yes || no).then_some(yes);
    match op {
        CompareOp::Lt => known(above(rhs, lhs), at_least(lhs, rhs)),
        CompareOp::Le => known(at_least(rhs, lhs), above(lhs, rhs)),
        CompareOp::Gt => known(above(lhs, rhs), at_least(rhs, lhs)),
        CompareOp::Ge => known(at_least(lhs, rhs), above(rhs, lhs)),
        CompareOp::Eq => known(lhs == rhs, above(lhs, rhs) || above(rhs, lhs)),
        CompareOp::Ne => known(above(lhs, rhs) || above(rhs, lhs), lhs == rhs),
    }
}

/// Brings into force what holds of a body's variables wherever they are in
/// scope. What depends on a variable that is assigned again is left out: its
/// value at the declaration may not be that at a use.
pub(super) fn enter_all(kernel: &Kernel, stmts: &[Stmt], bounds: &mut Bounds<'_>) {
    let mutable: BTreeSet<VarId> = kernel
        .vars
        .iter()
        .filter(|(_, var)| var.kind == VarKind::Let { mutable: true })
        .map(|(id, _)| id)
        .collect();
    let is_fixed = |value: &Poly| !mutable.iter().any(|var| value.mentions(*var));
    enter(kernel, stmts, bounds, &is_fixed);
}

fn enter(
    kernel: &Kernel,
    stmts: &[Stmt],
    bounds: &mut Bounds<'_>,
    is_fixed: &dyn Fn(&Poly) -> bool,
) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Let { var, init: Some(init) } => {
                let fixed = kernel.vars[*var].kind == VarKind::Let { mutable: false };
                if fixed && bounds.is_index(*init) {
                    let value = bounds.poly(*init);
                    if is_fixed(&value) {
                        bounds.set(*var, value);
                    }
                }
            }
            StmtKind::Each { axes, .. } => bounds.enter(axes),
            StmtKind::Phase { var, range, .. } | StmtKind::For { var, range, .. } => {
                if let Some(end) = end_of_count(kernel, range) {
                    let end = bounds.poly(end);
                    if is_fixed(&end) {
                        bounds.enter_counter(*var, end);
                    }
                }
            }
            StmtKind::Let { init: None, .. }
            | StmtKind::LetArray { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Store { .. }
            | StmtKind::Atomic { .. }
            | StmtKind::Update { .. }
            | StmtKind::Exchange { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Distinct { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => {}
        }
        for body in stmt.kind.bodies() {
            enter(kernel, body, bounds, is_fixed);
        }
    }
}

/// What the counter of a loop stays below, where it counts up from 0.
fn end_of_count(kernel: &Kernel, range: &LoopRange) -> Option<ExprId> {
    match range {
        LoopRange::Between { start, end, .. } => {
            let from_0 = kernel.exprs[*start].kind == ExprKind::Literal(Literal::Int(0));
            from_0.then_some(*end)
        }
        LoopRange::Halving(_) => None,
        LoopRange::Doubling(_) => None,
    }
}
