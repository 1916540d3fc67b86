//! Statements of the kernel: what stands at block scope, and what in items.

use super::interval::Interval;
use super::{Slot, Specialiser};
use crate::arena::EntityId as _;
use crate::exchange::Group;
use crate::kernel::{self, Place, StmtKind as KernelStmt, Type, VarKind};
use crate::lower::LowerError;
use crate::program::{
    ExprKind, Fragment, LoopRange, Participants, RoleId, Scope, Stmt, StmtKind, Ty, Unroll,
};
use crate::span::SpanId;

/// Bodies of constant loops up to this many iterations are repeated in the text.
const MAX_FULL_UNROLL: i128 = 32;

/// Block-scope statements, and the items that the last of them gathers.
#[derive(Default)]
struct BlockList {
    done: Vec<Stmt>,
    items: Vec<Stmt>,
}

impl Specialiser<'_> {
    /// A statement list at block scope.
    pub(super) fn block_body(&mut self, stmts: &[kernel::Stmt]) -> Result<Vec<Stmt>, LowerError> {
        let mut list = BlockList::default();
        for stmt in stmts {
            self.block_stmt(stmt, &mut list)?;
        }
        self.flush(&mut list);
        Ok(list.done)
    }

    fn flush(&self, list: &mut BlockList) {
        if let Some(first) = list.items.first() {
            let span = first.span;
            let body = std::mem::take(&mut list.items);
            let domain = self.b.kernel.block_domain;
            list.done.push(stmt_at(StmtKind::Items { domain, body }, Scope::Block, span));
        }
    }

    fn block_stmt(&mut self, stmt: &kernel::Stmt, list: &mut BlockList) -> Result<(), LowerError> {
        if let KernelStmt::Let { var, init } = &stmt.kind
            && self.uniform.is_uniform_var(*var)
        {
            return self.uniform_let(*var, *init, stmt.span, list);
        }
        if !self.is_block_level(stmt) {
            let items = self.item_stmt(stmt, true)?;
            list.items.extend(items);
            return Ok(());
        }
        if let KernelStmt::Each { axes, .. } = &stmt.kind
            && axes.iter().any(|axis| self.is_empty(axis))
        {
            return Ok(());
        }
        self.flush(list);
        if let KernelStmt::Exchange { var, op, value, lane: None } = &stmt.kind {
            list.done.extend(self.exchange(*var, *op, *value, stmt.span)?);
            return Ok(());
        }
        let kind = match &stmt.kind {
            KernelStmt::Barrier => StmtKind::Barrier(Participants::Block),
            KernelStmt::Each { axes, body, .. } => {
                let domain = self.domain_of(axes)?;
                let outer = std::mem::replace(&mut self.present, domain);
                self.each = Some(axes.iter().map(|axis| axis.var).collect());
                let body = self.item_body(body)?;
                self.each = None;
                self.present = outer;
                StmtKind::Items { domain, body }
            }
            KernelStmt::Phase { var, range, body } => {
                let range = self.loop_range(range)?;
                let var = self.counter(*var, &range, Scope::Block);
                StmtKind::For { var, range, unroll: Unroll::Never, body: self.block_body(body)? }
            }
            KernelStmt::For { var, range, body } => {
                let range = self.loop_range(range)?;
                // As a phase: the block meets in each iteration, and there is much to do.
                let meets = body.iter().any(kernel::Stmt::has_meeting);
                let unroll = if meets { Unroll::Never } else { self.unroll_of(&range) };
                let var = self.counter(*var, &range, Scope::Block);
                StmtKind::For { var, range, unroll, body: self.block_body(body)? }
            }
            KernelStmt::While { cond, body } => {
                StmtKind::While { cond: self.expr(*cond)?, body: self.block_body(body)? }
            }
            KernelStmt::If { cond, then, otherwise } => StmtKind::If {
                cond: self.expr(*cond)?,
                then: self.block_body(then)?,
                otherwise: self.block_body(otherwise)?,
            },
            KernelStmt::Assign { var, value } => {
                let value = self.expr(*value)?;
                self.assignment(*var, value)?
            }
            KernelStmt::Update { place: Place::Var(var), op, value } => {
                let old = self.var_value(*var)?;
                let value = self.updated(*op, old, *value)?;
                self.assignment(*var, value)?
            }
            KernelStmt::Let { .. }
            | KernelStmt::LetArray { .. }
            | KernelStmt::Store { .. }
            | KernelStmt::Atomic { .. }
            | KernelStmt::Exchange { .. }
            | KernelStmt::Assume { .. }
            | KernelStmt::Distinct { .. }
            | KernelStmt::WarpBarrier
            | KernelStmt::Update { .. } => {
                return Err(self.broken("a work-item's statement at block scope"));
            }
        };
        list.done.push(stmt_at(kind, Scope::Block, stmt.span));
        Ok(())
    }

    /// A variable that the whole block shares. Its declaration may go before the
    /// items gathered so far: it is fresh, and no item changes what it reads.
    fn uniform_let(
        &mut self,
        var: kernel::VarId,
        init: Option<kernel::ExprId>,
        span: SpanId,
        list: &mut BlockList,
    ) -> Result<(), LowerError> {
        let value = init.map(|init| self.expr(init)).transpose()?;
        let (ty, range) = self.variable_type(var, value)?;
        let value = value.map(|value| self.fit(value, ty));
        let var = self.push_var(var, ty, Scope::Block, range);
        list.done.push(stmt_at(StmtKind::Let { var, value }, Scope::Block, span));
        Ok(())
    }

    /// Whether a statement stands at block scope: it is collective, or uniform
    /// control flow over such statements or over a counted loop, or it assigns a
    /// variable of the block.
    fn is_block_level(&self, stmt: &kernel::Stmt) -> bool {
        match &stmt.kind {
            KernelStmt::Barrier | KernelStmt::Each { .. } | KernelStmt::Phase { .. } => true,
            KernelStmt::Exchange { op, .. } => op.group() == Group::Block,
            KernelStmt::For { range, .. } => {
                range.exprs().iter().all(|&expr| self.uniform.is_uniform_expr(expr))
            }
            KernelStmt::While { cond, body } => {
                self.uniform.is_uniform_expr(*cond) && self.any_block_level(body)
            }
            KernelStmt::If { cond, then, otherwise } => {
                self.uniform.is_uniform_expr(*cond)
                    && (self.any_block_level(then) || self.any_block_level(otherwise))
            }
            KernelStmt::Assign { var, .. } | KernelStmt::Update { place: Place::Var(var), .. } => {
                self.uniform.is_uniform_var(*var)
            }
            KernelStmt::Let { .. }
            | KernelStmt::LetArray { .. }
            | KernelStmt::Store { .. }
            | KernelStmt::Atomic { .. }
            | KernelStmt::Assume { .. }
            | KernelStmt::Distinct { .. }
            | KernelStmt::WarpBarrier
            | KernelStmt::Update { .. } => false,
        }
    }

    fn any_block_level(&self, stmts: &[kernel::Stmt]) -> bool {
        stmts.iter().any(|stmt| self.is_block_level(stmt))
    }

    fn item_body(&mut self, stmts: &[kernel::Stmt]) -> Result<Vec<Stmt>, LowerError> {
        let mut out = Vec::new();
        for stmt in stmts {
            out.extend(self.item_stmt(stmt, false)?);
        }
        Ok(out)
    }

    /// A statement of one item. `outer` where it stands directly in the block
    /// domain's items: its `let`s may outlive them.
    fn item_stmt(&mut self, stmt: &kernel::Stmt, outer: bool) -> Result<Vec<Stmt>, LowerError> {
        let kind = match &stmt.kind {
            KernelStmt::Let { var, init } => {
                let value = init.map(|init| self.expr(init)).transpose()?;
                let (ty, range) = self.variable_type(*var, value)?;
                let value = value.map(|value| self.fit(value, ty));
                if outer {
                    let fragment = self.b.kernel.fragments.push(Fragment {
                        name: self.kernel.vars[*var].name.clone(),
                        ty,
                        domain: self.b.kernel.block_domain,
                        accumulator: self.kernel.vars[*var].accumulator,
                    });
                    self.slots.insert(*var, Slot::Fragment(fragment, range));
                    match value {
                        Some(value) => StmtKind::SetFragment { fragment, value },
                        None => return Ok(Vec::new()),
                    }
                } else {
                    let var = self.push_var(*var, ty, Scope::Thread, range);
                    StmtKind::Let { var, value }
                }
            }
            KernelStmt::LetArray { tile, init } => {
                return self.local_array(*tile, *init, stmt.span);
            }
            KernelStmt::Assign { var, value } => {
                let value = self.expr(*value)?;
                self.assignment(*var, value)?
            }
            KernelStmt::Update { place: Place::Var(var), op, value } => {
                let old = self.var_value(*var)?;
                let value = self.updated(*op, old, *value)?;
                self.assignment(*var, value)?
            }
            KernelStmt::Store { access, value } => {
                let value = self.expr(*value)?;
                StmtKind::Store { access: self.access(access)?, value }
            }
            KernelStmt::Atomic { access, op, expected, value, old } => {
                let expected = expected.map(|expected| self.expr(expected)).transpose()?;
                let value = self.expr(*value)?;
                let access = self.access(access)?;
                let (old, kept) = match *old {
                    Some(old) => self.old_value(old, outer)?,
                    None => (None, None),
                };
                let update = StmtKind::Atomic { access, op: *op, expected, value, old };
                let all = std::iter::once(update).chain(kept);
                return Ok(all.map(|kind| stmt_at(kind, Scope::Thread, stmt.span)).collect());
            }
            KernelStmt::Update { place: Place::Element(access), op, value } => {
                let target = self.access(access)?;
                let elem = match access.array {
                    kernel::ArrayRef::Tensor(id) => self.kernel.tensors[id].elem,
                    kernel::ArrayRef::Tile(id) => self.kernel.tiles[id].elem,
                };
                let dtype = self.scalar_type(Type::Scalar(elem));
                let dtype = dtype.ok_or_else(|| self.broken("an untyped array"))?;
                let old = self.b.scalar(ExprKind::Load(target.clone()), dtype);
                let value = self.updated(*op, old, *value)?;
                StmtKind::Store { access: target, value }
            }
            KernelStmt::For { var, range, body } => {
                let range = self.loop_range(range)?;
                let unroll = self.unroll_of(&range);
                let var = self.counter(*var, &range, Scope::Thread);
                StmtKind::For { var, range, unroll, body: self.item_body(body)? }
            }
            KernelStmt::While { cond, body } => {
                StmtKind::While { cond: self.expr(*cond)?, body: self.item_body(body)? }
            }
            KernelStmt::If { cond, then, otherwise } => StmtKind::If {
                cond: self.expr(*cond)?,
                then: self.item_body(then)?,
                otherwise: self.item_body(otherwise)?,
            },
            KernelStmt::Assume { cond } => StmtKind::Assume(Box::new(self.assumption(*cond)?)),
            KernelStmt::Distinct { values, within } => {
                StmtKind::Assume(Box::new(self.distinction(values, *within)?))
            }
            KernelStmt::Exchange { var, op, value, lane: None }
                if !self.is_checked && op.group() == Group::Block =>
            {
                return self.lonely_exchange(*var, *value, stmt.span);
            }
            KernelStmt::Exchange { var, op, value, lane } => {
                return self.warp_exchange(*var, *op, (*value, *lane), (stmt.span, outer));
            }
            KernelStmt::WarpBarrier => {
                return Ok(vec![stmt_at(StmtKind::WarpBarrier, Scope::Warp, stmt.span)]);
            }
            KernelStmt::Barrier if !self.is_checked => StmtKind::Barrier(Participants::Block),
            KernelStmt::Each { .. } if !self.is_checked => {
                return self.lonely_each(stmt.span);
            }
            KernelStmt::Phase { var, range, body } if !self.is_checked => {
                let range = self.loop_range(range)?;
                let var = self.counter(*var, &range, Scope::Thread);
                let body = self.item_body(body)?;
                StmtKind::For { var, range, unroll: Unroll::Never, body }
            }
            KernelStmt::Barrier | KernelStmt::Each { .. } | KernelStmt::Phase { .. } => {
                return Err(self.broken("a collective statement where work-items diverge"));
            }
        };
        Ok(vec![stmt_at(kind, Scope::Thread, stmt.span)])
    }

    /// The variable that an atomic update declares; where the value may outlive
    /// its items, also the statement that keeps it in a fragment.
    fn old_value(
        &mut self,
        old: kernel::VarId,
        outer: bool,
    ) -> Result<(Option<crate::program::VarId>, Option<StmtKind>), LowerError> {
        let (ty, range) = self.variable_type(old, None)?;
        let var = self.push_var(old, ty, Scope::Thread, range);
        if !outer {
            return Ok((Some(var), None));
        }
        let value = self.var_value(old)?;
        let fragment = self.b.kernel.fragments.push(Fragment {
            name: self.kernel.vars[old].name.clone(),
            ty,
            domain: self.b.kernel.block_domain,
            accumulator: false,
        });
        self.slots.insert(old, Slot::Fragment(fragment, range));
        Ok((Some(var), Some(StmtKind::SetFragment { fragment, value })))
    }

    fn var_value(&mut self, var: kernel::VarId) -> Result<crate::program::ExprId, LowerError> {
        let (kind, ty, range) = match self.slots.get(&var).copied() {
            Some(Slot::Var(id, range)) => (ExprKind::Var(id), self.b.kernel.vars[id].ty, range),
            Some(Slot::Fragment(id, range)) => {
                (ExprKind::Fragment(id), self.b.kernel.fragments[id].ty, range)
            }
            _ => return Err(self.broken("an update of what is no variable")),
        };
        Ok(match ty {
            Ty::Index(width) => self.b.index_of_width(kind, width, range),
            Ty::Scalar(dtype) => self.b.scalar(kind, dtype),
        })
    }

    fn assignment(
        &mut self,
        var: kernel::VarId,
        value: crate::program::ExprId,
    ) -> Result<StmtKind, LowerError> {
        match self.slots.get(&var).copied() {
            Some(Slot::Var(id, _)) => {
                let value = self.fit(value, self.b.kernel.vars[id].ty);
                Ok(StmtKind::Assign { var: id, value })
            }
            Some(Slot::Fragment(fragment, _)) => {
                let value = self.fit(value, self.b.kernel.fragments[fragment].ty);
                Ok(StmtKind::SetFragment { fragment, value })
            }
            _ => Err(self.broken("an assignment to what is no variable")),
        }
    }

    /// An index value at its variable's width.
    fn fit(&mut self, value: crate::program::ExprId, ty: Ty) -> crate::program::ExprId {
        match ty {
            Ty::Index(width) => self.b.widen(value, width),
            Ty::Scalar(_) => value,
        }
    }

    /// Type and range of a `let`. An index that is assigned again takes 64 bits.
    fn variable_type(
        &self,
        var: kernel::VarId,
        value: Option<crate::program::ExprId>,
    ) -> Result<(Ty, Interval), LowerError> {
        let declared = &self.kernel.vars[var];
        if declared.ty != Type::Index {
            let dtype = self.scalar_type(declared.ty);
            let dtype = dtype.ok_or_else(|| self.broken("an untyped variable"))?;
            return Ok((Ty::Scalar(dtype), Interval::ALL));
        }
        let fixed = declared.kind == (VarKind::Let { mutable: false });
        match value.filter(|_| fixed) {
            Some(value) => Ok((self.b.ty(value), self.b.range(value))),
            None => Ok((Ty::INDEX64, Interval::ALL)),
        }
    }

    fn loop_range(&mut self, range: &kernel::LoopRange) -> Result<LoopRange, LowerError> {
        Ok(match *range {
            kernel::LoopRange::Between { start, end, step, reversed } => {
                let (start, end) = (self.expr(start)?, self.expr(end)?);
                let step = match step {
                    Some(step) => self.expr(step)?,
                    None => self.index_literal(1),
                };
                // The counter may pass the end by one step.
                let past = Interval {
                    min: self.b.range(start).min,
                    max: self.b.range(end).max + self.b.range(step).max.max(0),
                };
                let width = self.b.common_width(&[start, end, step], Some(past));
                LoopRange::Between {
                    start: self.b.widen(start, width),
                    end: self.b.widen(end, width),
                    step: self.b.widen(step, width),
                    reversed,
                }
            }
            kernel::LoopRange::Halving(n) => LoopRange::Halving(self.expr(n)?),
            kernel::LoopRange::Doubling(n) => {
                let n = self.expr(n)?;
                let past = Interval { min: 0, max: self.b.range(n).max.saturating_mul(2) };
                let width = self.b.common_width(&[n], Some(past));
                LoopRange::Doubling(self.b.widen(n, width))
            }
        })
    }

    fn counter(
        &mut self,
        var: kernel::VarId,
        range: &LoopRange,
        scope: Scope,
    ) -> crate::program::VarId {
        let (of, values) = match *range {
            LoopRange::Between { start, end, .. } => {
                let (start_range, end_range) = (self.b.range(start), self.b.range(end));
                let max = (end_range.max - 1).max(start_range.min);
                (start, Interval { min: start_range.min, max })
            }
            LoopRange::Halving(n) | LoopRange::Doubling(n) => {
                (n, Interval { min: 1, max: self.b.range(n).max.max(1) })
            }
        };
        let ty = self.b.ty(of);
        self.push_var(var, ty, scope, values)
    }

    fn unroll_of(&self, range: &LoopRange) -> Unroll {
        let LoopRange::Between { start, end, step, .. } = *range else { return Unroll::Auto };
        let known = [start, end, step].map(|expr| self.b.constant_value(expr));
        match known {
            [Some(start), Some(end), Some(step)]
                if step > 0 && (end - start) <= MAX_FULL_UNROLL * step =>
            {
                Unroll::Full
            }
            _ => Unroll::Auto,
        }
    }
}

pub(super) fn stmt_at(kind: StmtKind, scope: Scope, span: SpanId) -> Stmt {
    Stmt { kind, scope, role: RoleId::from_index(0), span }
}
