//! In step: a loop that each work-item begins at its own place becomes the block's.
//!
//! The textbook's work-items take every `W`th element, or a window around their own,
//!
//! ```text
//! for j in (tx..C).step_by(W) { sum += a[i, j]; }
//! for j in col - r..=col + r  { sum += a[i, j]; }
//! ```
//!
//! Each has bounds of its own, so that a thread runs the loops of its items one after the
//! other, and what neighbours read lies in different iterations. But the loops' lengths are
//! the block's: they become
//!
//! ```text
//! for n in 0..tiles(C, W) { let j = tx + n * W; if j < C { sum += a[i, j]; } }
//! for n in 0..2 * r + 1   { let j = col - r + n; sum += a[i, j]; }
//! ```
//!
//! in which the items of a thread go along together, and their accesses may be one.
//!
//! # When it may
//!
//! - All work-items come to the loop, and nothing in it makes them meet: between two
//!   barriers they run in any order.
//! - Its bounds are made of what nothing assigns, and of no memory.
//! - Either the distance from its first value to its end is the same for all; or the end
//!   and the step are, and the first value is least where the coordinates in the block are
//!   0. Then the longest of the loops is the block's, and who is past the end does nothing.

use std::collections::BTreeMap;

use crate::check::{Uniformity, uniformity};
use crate::kernel::{
    Expr, ExprId, ExprKind, Kernel, Literal, LoopRange, Stmt, StmtKind, Type, Var, VarId, VarKind,
    any_stmt, copy_expr, immutable_lets,
};
use crate::op::{BinaryOp, CompareOp, UnaryOp};
use crate::span::SpanId;

/// The kernel with such loops as the block's; `None` where there are none.
pub(super) fn walk_in_step(kernel: &Kernel) -> Option<Kernel> {
    let may_be = |kind: &StmtKind| {
        matches!(kind, StmtKind::For { range: LoopRange::Between { start, .. }, .. }
            if !matches!(kernel.exprs[*start].kind, ExprKind::Literal(_)))
    };
    if kernel.block.is_none() || !any_stmt(&kernel.body, &mut |kind| may_be(kind)) {
        return None;
    }
    let mut kernel = kernel.clone();
    let uniform = uniformity(&kernel);
    let body = std::mem::take(&mut kernel.body);
    let lets = immutable_lets(&body, &kernel);
    let mut walk = Walk { kernel: &mut kernel, uniform, lets, has_changed: false };
    let body = walk.list(body);
    let has_changed = walk.has_changed;
    kernel.body = body;
    has_changed.then_some(kernel)
}

/// A sum of expressions with their factors, and a constant.
#[derive(Default)]
struct Sum {
    constant: i128,
    terms: Vec<(i128, ExprId)>,
}

struct Walk<'k> {
    kernel: &'k mut Kernel,
    /// Of the expressions that the kernel had.
    uniform: Uniformity,
    lets: BTreeMap<VarId, ExprId>,
    has_changed: bool,
}

impl Walk<'_> {
    /// Statements that all work-items run.
    fn list(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        stmts.into_iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&mut self, mut stmt: Stmt) -> Stmt {
        let is_common = match &stmt.kind {
            StmtKind::Phase { .. } => true,
            StmtKind::For { range, .. } => {
                range.exprs().iter().all(|&id| self.uniform.is_uniform_expr(id))
            }
            StmtKind::While { cond, .. } | StmtKind::If { cond, .. } => {
                self.uniform.is_uniform_expr(*cond)
            }
            StmtKind::Each { .. }
            | StmtKind::Let { .. }
            | StmtKind::LetArray { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Store { .. }
            | StmtKind::Update { .. }
            | StmtKind::Atomic { .. }
            | StmtKind::Exchange { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Distinct { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => false,
        };
        if !is_common && let Some(in_step) = self.in_step(&stmt) {
            self.has_changed = true;
            stmt = in_step;
        } else if !is_common {
            return stmt;
        }
        for body in stmt.kind.bodies_mut() {
            *body = self.list(std::mem::take(body));
        }
        stmt
    }

    /// The loop of the block that a loop of work-items is.
    fn in_step(&mut self, stmt: &Stmt) -> Option<Stmt> {
        let StmtKind::For { var, range, body } = &stmt.kind else { return None };
        let LoopRange::Between { start, end, step, reversed: false } = *range else { return None };
        let is_common = |id: &ExprId| self.uniform.is_uniform_expr(*id);
        // They are computed anew in each iteration, and must be what they were.
        if !self.is_fixed(start) || !self.is_fixed(end) {
            return None;
        }
        if !step.iter().all(is_common) || body.iter().any(Stmt::has_meeting) {
            return None;
        }
        let (first, past) = (self.sum(start)?, self.sum(end)?);
        let length = self.difference(&past, &first);
        let is_same_length = length.terms.iter().all(|(_, term)| is_common(term));
        let length = if is_same_length {
            length
        } else {
            // The first of the block's items has the longest.
            let is_strided = step.is_some() && is_common(&end);
            is_strided.then(|| self.least(&first))?.map(|least| self.difference(&past, &least))?
        };
        let at = Place { var: *var, start, end, step, span: stmt.span };
        let body = if is_same_length { body.clone() } else { vec![self.guarded(&at, body, stmt)] };
        Some(self.of_block(&at, &length, body, stmt))
    }

    /// `if j < end { … }`
    fn guarded(&mut self, at: &Place, body: &[Stmt], stmt: &Stmt) -> Stmt {
        let lhs = self.index(ExprKind::Var(at.var), at.span);
        let rhs = copy_expr(self.kernel, at.end, &mut |_, _| None);
        let cond = ExprKind::Compare { op: CompareOp::Lt, lhs, rhs };
        let cond = self.kernel.exprs.push(Expr { kind: cond, ty: Type::BOOL, span: at.span });
        let kind = StmtKind::If { cond, then: body.to_vec(), otherwise: Vec::new() };
        Stmt { kind, ..*stmt }
    }

    /// `for n in 0..tiles(length, step) { let j = start + n * step; … }`
    fn of_block(&mut self, at: &Place, length: &Sum, body: Vec<Stmt>, stmt: &Stmt) -> Stmt {
        let Place { var, start, step, span, .. } = *at;
        let copy = |kernel: &mut Kernel, id| copy_expr(kernel, id, &mut |_, _| None);
        let counter = Var {
            name: format!("{}_step", self.kernel.vars[var].name),
            ty: Type::Index,
            kind: VarKind::Loop,
            accumulator: false,
            span: self.kernel.vars[var].span,
        };
        let counter = self.kernel.vars.push(counter);
        let extent = self.expr_of(length, span);
        let end = match step {
            Some(step) => {
                let tile = copy(self.kernel, step);
                self.index(ExprKind::Tiles { extent, tile }, span)
            }
            None => extent,
        };
        let n = self.index(ExprKind::Var(counter), span);
        let distance = match step {
            Some(step) => {
                let rhs = copy(self.kernel, step);
                self.index(ExprKind::Binary { op: BinaryOp::Mul, lhs: n, rhs }, span)
            }
            None => n,
        };
        let lhs = copy(self.kernel, start);
        let init = ExprKind::Binary { op: BinaryOp::Add, lhs, rhs: distance };
        let init = Some(self.index(init, span));
        // What was the loop's variable is set once in each iteration.
        self.kernel.vars[var].kind = VarKind::Let { mutable: false };
        let place = Stmt { kind: StmtKind::Let { var, init }, ..*stmt };
        let body = std::iter::once(place).chain(body).collect();
        let start = self.index(ExprKind::Literal(Literal::Int(0)), span);
        let range = LoopRange::Between { start, end, step: None, reversed: false };
        Stmt { kind: StmtKind::For { var: counter, range, body }, ..*stmt }
    }

    /// An index as a sum, through what is set once; `None` of another type.
    fn sum(&self, id: ExprId) -> Option<Sum> {
        let mut sum = Sum::default();
        let is_index = self.kernel.exprs[id].ty == Type::Index;
        is_index.then(|| self.collect(id, 1, &mut sum))?;
        Some(sum)
    }

    fn collect(&self, id: ExprId, sign: i128, sum: &mut Sum) {
        let expr = &self.kernel.exprs[id];
        match &expr.kind {
            ExprKind::Literal(Literal::Int(value)) => {
                sum.constant = sum.constant.saturating_add(sign.saturating_mul(*value));
            }
            ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => {
                self.collect(*lhs, sign, sum);
                self.collect(*rhs, sign, sum);
            }
            ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs } => {
                self.collect(*lhs, sign, sum);
                self.collect(*rhs, -sign, sum);
            }
            ExprKind::Unary { op: UnaryOp::Neg, operand } => self.collect(*operand, -sign, sum),
            ExprKind::Var(var) => match self.lets.get(var) {
                Some(&init) if self.is_fixed(init) => self.collect(init, sign, sum),
                _ => sum.terms.push((sign, id)),
            },
            _ => sum.terms.push((sign, id)),
        }
    }

    /// Whether an index has the same value wherever it is computed, as long as the variables
    /// of it are the same: it reads none that is assigned, and no memory.
    fn is_fixed(&self, id: ExprId) -> bool {
        let expr = &self.kernel.exprs[id];
        let is_fixed = match &expr.kind {
            // Of another type it may wrap.
            _ if expr.ty != Type::Index => false,
            ExprKind::Var(var) => self.kernel.vars[*var].kind != VarKind::Let { mutable: true },
            ExprKind::Literal(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Tiles { .. } => true,
            // A scalar of the launch.
            ExprKind::Cast(operand) => {
                return matches!(self.kernel.exprs[*operand].kind, ExprKind::Var(var)
                    if matches!(self.kernel.vars[var].kind, VarKind::Scalar(_)));
            }
            ExprKind::Load(_)
            | ExprKind::InBounds { .. }
            | ExprKind::Math { .. }
            | ExprKind::Uniform(_)
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. } => false,
        };
        is_fixed && expr.kind.operands().into_iter().all(|id| self.is_fixed(id))
    }

    /// A difference, without the terms that cancel.
    fn difference(&self, of: &Sum, minus: &Sum) -> Sum {
        let mut terms = of.terms.clone();
        for &(factor, term) in &minus.terms {
            let same = terms
                .iter()
                .position(|&(other, known)| other == factor && self.kernel.is_same(known, term));
            match same {
                Some(at) => drop(terms.remove(at)),
                None => terms.push((-factor, term)),
            }
        }
        Sum { constant: of.constant.saturating_sub(minus.constant), terms }
    }

    /// The sum for the block's first item, where it is least; `None` where it may not be.
    fn least(&self, sum: &Sum) -> Option<Sum> {
        let (common, own): (Vec<_>, Vec<_>) =
            sum.terms.iter().partition(|(_, term)| self.uniform.is_uniform_expr(*term));
        let is_least = own.iter().all(|&(factor, term)| factor > 0 && self.grows_from_0(term));
        is_least.then_some(Sum { constant: sum.constant, terms: common })
    }

    /// Whether a value is 0 for the block's first item and not less for others: a
    /// coordinate, or one so many times.
    fn grows_from_0(&self, id: ExprId) -> bool {
        match &self.kernel.exprs[id].kind {
            ExprKind::Var(var) => self.kernel.vars[*var].kind == VarKind::Block,
            ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => {
                (self.grows_from_0(*lhs) && self.is_natural(*rhs))
                    || (self.grows_from_0(*rhs) && self.is_natural(*lhs))
            }
            _ => false,
        }
    }

    /// Whether a value is never negative, whatever the launch.
    fn is_natural(&self, id: ExprId) -> bool {
        match &self.kernel.exprs[id].kind {
            ExprKind::Literal(Literal::Int(value)) => *value >= 0,
            ExprKind::Var(var) => match self.kernel.vars[*var].kind {
                VarKind::Dim
                | VarKind::TileParam(_)
                | VarKind::Grid
                | VarKind::Block
                | VarKind::Each => true,
                VarKind::Scalar(_) | VarKind::Loop | VarKind::Let { .. } => false,
            },
            ExprKind::Binary { op: BinaryOp::Mul | BinaryOp::Add, lhs, rhs } => {
                self.is_natural(*lhs) && self.is_natural(*rhs)
            }
            _ => false,
        }
    }

    /// An expression of a sum.
    fn expr_of(&mut self, sum: &Sum, span: SpanId) -> ExprId {
        let mut terms = sum.terms.clone();
        // What is added first is no negation.
        terms.sort_by_key(|(factor, _)| *factor < 0);
        let mut all: Option<ExprId> = None;
        for (factor, term) in terms {
            let rhs = copy_expr(self.kernel, term, &mut |_, _| None);
            let op = if factor < 0 { BinaryOp::Sub } else { BinaryOp::Add };
            all = Some(match (all, op) {
                (None, BinaryOp::Add) => rhs,
                (lhs, op) => {
                    let zero = ExprKind::Literal(Literal::Int(0));
                    let lhs = lhs.unwrap_or_else(|| self.index(zero, span));
                    self.index(ExprKind::Binary { op, lhs, rhs }, span)
                }
            });
        }
        let constant =
            |walk: &mut Self, value| walk.index(ExprKind::Literal(Literal::Int(value)), span);
        match (all, sum.constant) {
            (None, value) => constant(self, value),
            (Some(all), 0) => all,
            (Some(lhs), value) => {
                let rhs = constant(self, value);
                self.index(ExprKind::Binary { op: BinaryOp::Add, lhs, rhs }, span)
            }
        }
    }

    fn index(&mut self, kind: ExprKind, span: SpanId) -> ExprId {
        self.kernel.exprs.push(Expr { kind, ty: Type::Index, span })
    }
}

/// A loop's variable and bounds, and where it stands in the text.
struct Place {
    var: VarId,
    start: ExprId,
    end: ExprId,
    step: Option<ExprId>,
    span: SpanId,
}
