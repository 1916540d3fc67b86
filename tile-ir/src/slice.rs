//! Slices: groups of work-items share out the iterations of a reduction.
//!
//! A block whose tile is small for its device has too few warps to hide the
//! latency of what they do: the threads hold all of its accumulators, and more
//! threads would have fewer each, hence more loads per operation. But each
//! accumulator may stand in several threads, with a part of the sum in each. So
//!
//! ```text
//! let acc = 0
//! phase p { …; for k in 0..TK { acc += f(k) }; … }
//! c[y, x] = acc
//! ```
//!
//! becomes, with two slices, on a block of twice as many work-items,
//!
//! ```text
//! let acc = 0
//! phase p { …; for k in 0..TK / 2 { acc += f(slice * (TK / 2) + k) }; … }
//! if slice > 0 { acc_parts[slice - 1, y, x] = acc }
//! barrier
//! if slice == 0 { acc += acc_parts[0, y, x]; c[y, x] = acc }
//! ```
//!
//! # When it may
//!
//! - The loop's iterations are known by number and only update accumulators,
//!   each by one operator whose terms may come in any order: integers, minima
//!   and maxima at all times, sums and products of floats where the author
//!   declared `Acc<T>` and the configuration may reassociate.
//! - The accumulators are declared at the top of the body, and nothing else reads
//!   or writes them up to the end of the statement there that holds the last such
//!   loop.
//! - Up to there no work-item writes memory of its own accord: the work-items of
//!   all slices come by. (Cooperative loops may write, they are one for all.)
//! - After it nothing is collective: only the first slice goes on.
//!
//! A loop or an accumulator for which this does not hold stays as it is; the
//! other slices then do the same as the first.

mod find;

use std::collections::BTreeMap;

use self::find::{Found, find_reductions};
use crate::config::{AxisItems, Config};
use crate::dtype::DType;
use crate::kernel::{
    Access, ArrayRef, Axis, Expr, ExprId, ExprKind, Kernel, Literal, LoopRange, Place, Stmt,
    StmtKind, Tile, TileId, TileSpace, Type, Var, VarId, VarKind, copy_expr,
};
use crate::op::{BinaryOp, CompareOp};
use crate::span::SpanId;

/// The kernel with its reductions shared out among `config.slices` slices, a new
/// outermost axis of its block domain, and the configuration with that axis.
/// `None` where it has no reduction of the form, and with one slice.
pub(crate) fn sliced(
    kernel: &Kernel,
    types: &[DType],
    config: &Config,
) -> Option<(Kernel, Config)> {
    if config.slices < 2 {
        return None;
    }
    let found = find_reductions(kernel, types, config)?;
    let mut kernel = kernel.clone();
    let span = kernel.body[found.last].head;
    let slice = kernel.vars.push(Var {
        name: "slice".to_owned(),
        ty: Type::Index,
        kind: VarKind::Block,
        accumulator: false,
        span,
    });
    let mut writer = Writer { kernel: &mut kernel, found: &found, slice, n: config.slices, span };
    writer.write();
    let mut config = config.clone();
    config.block.insert(0, AxisItems::strided(config.slices));
    config.slices = 1;
    Some((kernel, config))
}

/// Whether [`sliced`] gives a kernel.
pub(crate) fn can_be_sliced(kernel: &Kernel, types: &[DType], config: &Config) -> bool {
    config.slices > 1 && find_reductions(kernel, types, config).is_some()
}

struct Writer<'a> {
    kernel: &'a mut Kernel,
    found: &'a Found,
    slice: VarId,
    n: u32,
    /// Of what the text does not show.
    span: SpanId,
}

impl Writer<'_> {
    fn write(&mut self) {
        let items = self.kernel.block.clone().unwrap_or_default();
        let mut body = std::mem::take(&mut self.kernel.body);
        let rest = body.split_off(self.found.last + 1);
        for stmt in &mut body {
            self.share_out(stmt);
            self.start_at_identity(stmt);
        }
        let mut parts = BTreeMap::new();
        for &var in self.found.accumulators.keys() {
            parts.insert(var, self.parts(var, &items));
        }
        let puts = parts.iter().map(|(&var, &tile)| self.put(var, tile, &items)).collect();
        let has_parts = self.compare_slice(CompareOp::Gt);
        body.push(self.only_if(has_parts, puts));
        body.push(self.stmt(StmtKind::Barrier));
        let mut first = Vec::new();
        for (&var, &tile) in &parts {
            first.extend((1..self.n).map(|number| self.combine(var, tile, number, &items)));
        }
        first.extend(rest);
        let is_first = self.compare_slice(CompareOp::Eq);
        body.push(self.only_if(is_first, first));
        self.kernel.body = body;
        let extent = self.index(self.n.into());
        let axis = Axis { var: self.slice, extent };
        self.kernel.block.get_or_insert_default().insert(0, axis);
    }

    /// Gives each slice its part of the iterations.
    fn share_out(&mut self, stmt: &mut Stmt) {
        if let StmtKind::For { var, range, body } = &mut stmt.kind
            && let Some(counts) = self.found.loops.get(var)
        {
            let each = counts.n / i128::from(self.n);
            let (start, end) = (self.index(0), self.index(each));
            *range = LoopRange::Between { start, end, step: None, reversed: false };
            let counter = *var;
            for stmt in body {
                self.at_iterations_of_slice(stmt, counter, counts.start, counts.step, each);
            }
            return;
        }
        match &mut stmt.kind {
            StmtKind::Phase { body, .. }
            | StmtKind::For { body, .. }
            | StmtKind::While { body, .. } => body.iter_mut().for_each(|stmt| self.share_out(stmt)),
            StmtKind::If { then, otherwise, .. } => {
                then.iter_mut().chain(otherwise).for_each(|stmt| self.share_out(stmt));
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
            | StmtKind::WarpBarrier => {}
        }
    }

    /// What an iteration computes, where `counter` counts those of a slice.
    fn at_iterations_of_slice(
        &mut self,
        stmt: &mut Stmt,
        counter: VarId,
        start: i128,
        step: i128,
        each: i128,
    ) {
        let value = match &mut stmt.kind {
            StmtKind::Let { init: Some(value), .. }
            | StmtKind::Assign { value, .. }
            | StmtKind::Update { value, .. } => value,
            // The search admits no others.
            _ => return,
        };
        let (slice, span) = (self.slice, self.span);
        *value = copy_expr(self.kernel, *value, &mut |kernel, var| {
            if var != counter {
                return None;
            }
            let mut at = Writer { kernel, found: self.found, slice, n: self.n, span };
            let (first, size) = (at.var(slice), at.index(each));
            let first = at.binary(BinaryOp::Mul, first, size);
            let own = at.var(counter);
            let mut number = at.binary(BinaryOp::Add, first, own);
            if step != 1 {
                let step = at.index(step);
                number = at.binary(BinaryOp::Mul, number, step);
            }
            if start != 0 {
                let start = at.index(start);
                number = at.binary(BinaryOp::Add, start, number);
            }
            Some(number)
        });
    }

    /// The first value counts once: the other slices begin with what changes
    /// nothing.
    fn start_at_identity(&mut self, stmt: &mut Stmt) {
        let StmtKind::Let { var, init: Some(init) } = &mut stmt.kind else { return };
        let Some(op) = self.found.accumulators.get(var) else { return };
        let identity = match op {
            BinaryOp::Mul => 1,
            // Taken twice they are what they were.
            BinaryOp::Min | BinaryOp::Max | BinaryOp::And | BinaryOp::Or => return,
            _ => 0,
        };
        let ty = self.kernel.vars[*var].ty;
        let is_identity = |literal: Literal| match literal {
            Literal::Int(value) => value == identity,
            Literal::Float(value) => value == identity as f64 && value.is_sign_positive(),
            Literal::Bool(_) | Literal::Named(_) => false,
        };
        if let ExprKind::Literal(literal) = self.kernel.exprs[*init].kind
            && is_identity(literal)
        {
            return;
        }
        let cond = self.compare_slice(CompareOp::Eq);
        let otherwise = self.push(ExprKind::Literal(Literal::Int(identity)), ty);
        *init = self.push(ExprKind::Select { cond, then: *init, otherwise }, ty);
    }

    /// The tile that holds the other slices' parts of an accumulator.
    fn parts(&mut self, var: VarId, items: &[Axis]) -> TileId {
        let Var { name, ty, span, .. } = self.kernel.vars[var].clone();
        let mut extents = vec![self.index((self.n - 1).into())];
        for axis in items {
            extents.push(copy_expr(self.kernel, axis.extent, &mut |_, _| None));
        }
        let elem = match ty {
            Type::Scalar(elem) => elem,
            // The search admits no indices.
            Type::Index => crate::kernel::ElemType::Concrete(DType::I64),
        };
        let name = format!("{name}_parts");
        self.kernel.tiles.push(Tile { name, space: TileSpace::Shared, elem, extents, span })
    }

    fn part(&mut self, tile: TileId, number: ExprId, items: &[Axis]) -> Access {
        let mut indices = vec![number];
        indices.extend(items.iter().map(|axis| self.var(axis.var)));
        Access { array: ArrayRef::Tile(tile), indices, span: self.span }
    }

    /// `acc_parts[slice - 1, y, x] = acc`
    fn put(&mut self, var: VarId, tile: TileId, items: &[Axis]) -> Stmt {
        let (slice, one) = (self.var(self.slice), self.index(1));
        let number = self.binary(BinaryOp::Sub, slice, one);
        let access = self.part(tile, number, items);
        let value = self.var(var);
        self.stmt(StmtKind::Store { access, value })
    }

    /// `acc ⊕= acc_parts[number - 1, y, x]`
    fn combine(&mut self, var: VarId, tile: TileId, number: u32, items: &[Axis]) -> Stmt {
        let ty = self.kernel.vars[var].ty;
        let op = self.found.accumulators.get(&var).copied().unwrap_or(BinaryOp::Add);
        let number = self.index((number - 1).into());
        let access = self.part(tile, number, items);
        let value = self.push(ExprKind::Load(access), ty);
        match op {
            BinaryOp::Min | BinaryOp::Max => {
                let own = self.var(var);
                let value = self.push(ExprKind::Binary { op, lhs: own, rhs: value }, ty);
                self.stmt(StmtKind::Assign { var, value })
            }
            _ => self.stmt(StmtKind::Update { place: Place::Var(var), op, value }),
        }
    }

    /// `slice ? 0`
    fn compare_slice(&mut self, op: CompareOp) -> ExprId {
        let (lhs, rhs) = (self.var(self.slice), self.index(0));
        self.push(ExprKind::Compare { op, lhs, rhs }, Type::BOOL)
    }

    fn only_if(&self, cond: ExprId, then: Vec<Stmt>) -> Stmt {
        self.stmt(StmtKind::If { cond, then, otherwise: Vec::new() })
    }

    fn stmt(&self, kind: StmtKind) -> Stmt {
        Stmt { kind, span: self.span, head: self.span }
    }

    fn var(&mut self, var: VarId) -> ExprId {
        let ty = self.kernel.vars[var].ty;
        self.push(ExprKind::Var(var), ty)
    }

    fn index(&mut self, value: i128) -> ExprId {
        self.push(ExprKind::Literal(Literal::Int(value)), Type::Index)
    }

    fn binary(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        self.push(ExprKind::Binary { op, lhs, rhs }, Type::Index)
    }

    fn push(&mut self, kind: ExprKind, ty: Type) -> ExprId {
        self.kernel.exprs.push(Expr { kind, ty, span: self.span })
    }
}
