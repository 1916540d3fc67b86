//! Copies of expressions and statements with parts replaced.
//!
//! Expressions are shared by id and immutable once made, so a pass that wants a
//! statement at another value of a counter makes new expressions.

use std::collections::BTreeMap;

use super::compact::each_operand;
use crate::arena::EntityId as _;
use crate::op::BinaryOp;
use crate::program::{
    Access, Expr, ExprId, ExprKind, Literal, LoopRange, ProgramKernel, Stmt, StmtKind, Target,
    TileId, VarId, assigned_vars,
};

/// What is replaced in a copy.
#[derive(Clone, Debug, Default)]
pub(super) struct Replacement {
    /// Variables, and what stands for each.
    pub(super) vars: BTreeMap<VarId, ExprId>,
    /// Expressions, and what stands for each.
    pub(super) exprs: BTreeMap<ExprId, ExprId>,
    /// Tiles, and which of their buffers their accesses take.
    pub(super) slot: Option<(Vec<TileId>, ExprId)>,
}

impl Replacement {
    /// A statement with everything in it replaced.
    pub(super) fn stmt(&self, kernel: &mut ProgramKernel, stmt: &Stmt) -> Stmt {
        let kind = match &stmt.kind {
            StmtKind::Let { var, value } => {
                StmtKind::Let { var: *var, value: value.map(|value| self.expr(kernel, value)) }
            }
            StmtKind::Assign { var, value } => {
                StmtKind::Assign { var: *var, value: self.expr(kernel, *value) }
            }
            StmtKind::SetFragment { fragment, value } => {
                StmtKind::SetFragment { fragment: *fragment, value: self.expr(kernel, *value) }
            }
            StmtKind::Store { access, value } => StmtKind::Store {
                access: self.access(kernel, access),
                value: self.expr(kernel, *value),
            },
            StmtKind::Atomic { access, op, expected, value, old } => StmtKind::Atomic {
                access: self.access(kernel, access),
                op: *op,
                expected: expected.map(|expected| self.expr(kernel, expected)),
                value: self.expr(kernel, *value),
                old: *old,
            },
            StmtKind::Copy { dst, src, token } => StmtKind::Copy {
                dst: self.access(kernel, dst),
                src: self.access(kernel, src),
                token: *token,
            },
            StmtKind::Items { domain, body } => {
                StmtKind::Items { domain: *domain, body: self.stmts(kernel, body) }
            }
            StmtKind::For { var, range, unroll, body } => StmtKind::For {
                var: *var,
                range: self.range(kernel, range),
                unroll: *unroll,
                body: self.stmts(kernel, body),
            },
            StmtKind::While { cond, body } => {
                StmtKind::While { cond: self.expr(kernel, *cond), body: self.stmts(kernel, body) }
            }
            StmtKind::If { cond, then, otherwise } => StmtKind::If {
                cond: self.expr(kernel, *cond),
                then: self.stmts(kernel, then),
                otherwise: self.stmts(kernel, otherwise),
            },
            StmtKind::Assume(fact) => {
                let mut fact = fact.clone();
                fact.exprs_mut().for_each(|expr| *expr = self.expr(kernel, *expr));
                StmtKind::Assume(fact)
            }
            StmtKind::Commit(token) => StmtKind::Commit(*token),
            StmtKind::Wait { token, pending } => {
                StmtKind::Wait { token: *token, pending: *pending }
            }
            StmtKind::Shuffle { var, value, lane } => StmtKind::Shuffle {
                var: *var,
                value: self.expr(kernel, *value),
                lane: self.expr(kernel, *lane),
            },
            StmtKind::Ballot { var, cond } => {
                StmtKind::Ballot { var: *var, cond: self.expr(kernel, *cond) }
            }
            StmtKind::WarpBarrier => StmtKind::WarpBarrier,
            StmtKind::Barrier(participants) => StmtKind::Barrier(*participants),
        };
        Stmt { kind, ..stmt.clone() }
    }

    /// Statements with everything in them replaced.
    pub(super) fn stmts(&self, kernel: &mut ProgramKernel, stmts: &[Stmt]) -> Vec<Stmt> {
        stmts.iter().map(|stmt| self.stmt(kernel, stmt)).collect()
    }

    fn range(&self, kernel: &mut ProgramKernel, range: &LoopRange) -> LoopRange {
        match *range {
            LoopRange::Between { start, end, step, reversed } => LoopRange::Between {
                start: self.expr(kernel, start),
                end: self.expr(kernel, end),
                step: self.expr(kernel, step),
                reversed,
            },
            LoopRange::Halving(n) => LoopRange::Halving(self.expr(kernel, n)),
            LoopRange::Doubling(n) => LoopRange::Doubling(self.expr(kernel, n)),
        }
    }

    /// An access with everything in it replaced.
    pub(super) fn access(&self, kernel: &mut ProgramKernel, access: &Access) -> Access {
        let slot = match (&self.slot, access.target) {
            (Some((tiles, slot)), Target::Tile(tile)) if tiles.contains(&tile) => Some(*slot),
            _ => access.slot.map(|slot| self.expr(kernel, slot)),
        };
        Access {
            slot,
            indices: access.indices.iter().map(|&index| self.expr(kernel, index)).collect(),
            pad: access.pad.map(|pad| self.expr(kernel, pad)),
            ..access.clone()
        }
    }

    /// An expression with everything in it replaced: itself where nothing is.
    pub(super) fn expr(&self, kernel: &mut ProgramKernel, id: ExprId) -> ExprId {
        if let Some(&by) = self.exprs.get(&id) {
            return by;
        }
        let Expr { kind, ty } = kernel.exprs[id].clone();
        let mut map = |id: ExprId| self.expr(kernel, id);
        let new = match &kind {
            ExprKind::Literal(_)
            | ExprKind::Arg(_)
            | ExprKind::Coord { .. }
            | ExprKind::Fragment(_) => return id,
            ExprKind::Var(var) => {
                return self.vars.get(var).copied().unwrap_or(id);
            }
            ExprKind::Load(access) => ExprKind::Load(self.access(kernel, access)),
            ExprKind::Unary { op, operand } => ExprKind::Unary { op: *op, operand: map(*operand) },
            ExprKind::Binary { op, lhs, rhs } => {
                ExprKind::Binary { op: *op, lhs: map(*lhs), rhs: map(*rhs) }
            }
            ExprKind::Fma { a, b, c } => ExprKind::Fma { a: map(*a), b: map(*b), c: map(*c) },
            ExprKind::Compare { op, lhs, rhs } => {
                ExprKind::Compare { op: *op, lhs: map(*lhs), rhs: map(*rhs) }
            }
            ExprKind::Logic { op, lhs, rhs } => {
                ExprKind::Logic { op: *op, lhs: map(*lhs), rhs: map(*rhs) }
            }
            ExprKind::Select { cond, then, otherwise } => {
                ExprKind::Select { cond: map(*cond), then: map(*then), otherwise: map(*otherwise) }
            }
            ExprKind::Cast(operand) => ExprKind::Cast(map(*operand)),
            ExprKind::Math { func, arg } => ExprKind::Math { func: *func, arg: map(*arg) },
            ExprKind::CeilDiv { n, d } => ExprKind::CeilDiv { n: map(*n), d: map(*d) },
            ExprKind::InBounds { buffer, indices } => ExprKind::InBounds {
                buffer: *buffer,
                indices: indices.iter().map(|&index| map(index)).collect(),
            },
        };
        if new == kind { id } else { folded(kernel, Expr { kind: new, ty }) }
    }
}

/// Adds an expression, folded where a replaced part has become a constant.
fn folded(kernel: &mut ProgramKernel, expr: Expr) -> ExprId {
    let value = |id: ExprId| kernel.constant(id);
    if let (ExprKind::Binary { op, lhs, rhs }, true) = (&expr.kind, expr.ty.is_index()) {
        match (op, value(*lhs), value(*rhs)) {
            (BinaryOp::Mul, Some(a), Some(b)) if a == 0 || b == 0 => {
                return kernel
                    .exprs
                    .push(Expr { kind: ExprKind::Literal(Literal::Int(0)), ..expr });
            }
            (BinaryOp::Add, Some(0), _) => return *rhs,
            (BinaryOp::Add | BinaryOp::Sub, _, Some(0)) => return *lhs,
            _ => {}
        }
    }
    kernel.exprs.push(expr)
}

/// Whether two expressions are written alike.
pub(super) fn same(kernel: &ProgramKernel, a: ExprId, b: ExprId) -> bool {
    if a == b {
        return true;
    }
    let parts = |id: ExprId| {
        let mut kind = kernel.exprs[id].kind.clone();
        let mut operands = Vec::new();
        each_operand(&mut kind, &mut |operand| {
            operands.push(*operand);
            *operand = ExprId::from_index(0);
        });
        (kind, kernel.exprs[id].ty, operands)
    };
    let ((a, a_ty, of_a), (b, b_ty, of_b)) = (parts(a), parts(b));
    a == b
        && a_ty == b_ty
        && of_a.len() == of_b.len()
        && of_a.into_iter().zip(of_b).all(|(a, b)| same(kernel, a, b))
}

/// The values of the items' variables that have only one: those that the body
/// declares, not a statement inside another, and that nothing assigns.
pub(super) fn lets_of(body: &[Stmt]) -> BTreeMap<VarId, ExprId> {
    let assigned = assigned_vars(body);
    let lets = body.iter().filter_map(|stmt| match stmt.kind {
        StmtKind::Let { var, value: Some(value) } => Some((var, value)),
        _ => None,
    });
    lets.filter(|(var, _)| !assigned.contains(var)).collect()
}
