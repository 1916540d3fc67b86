//! Writes, and which of them fill a tile.

use std::iter::repeat;

use super::Flow;
use super::cover::{Cover, Domain};
use super::state::State;
use crate::check::poly::{Bounds, Poly};
use crate::check::strided::Strided;
use crate::check::uniform::Uniformity;
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, Literal, LoopRange, Stmt, StmtKind, VarId,
};
use crate::op::{CompareOp, LogicOp};

/// Whether a loop's counter takes the values 0, 1, 2, …, in any order.
pub(super) fn counts_from_0(kernel: &Kernel, range: &LoopRange) -> bool {
    match range {
        LoopRange::Between { start, step: None, .. } => {
            kernel.exprs[*start].kind == ExprKind::Literal(Literal::Int(0))
        }
        LoopRange::Between { .. } | LoopRange::Halving(_) | LoopRange::Doubling(_) => false,
    }
}

/// How often a statement runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    /// By some of the work-items only: it can write whole local arrays alone.
    pub(super) apart: bool,
    /// For every value of these: the block's axes, or an `each`'s.
    pub(super) items: Vec<VarId>,
    /// For every value of these counters, one after the other.
    pub(super) loops: Vec<VarId>,
    /// And of these, of which each work-item may have others.
    pub(super) stepped: Vec<VarId>,
    /// By one of the work-items, of which it is not known which.
    pub(super) is_of_any: bool,
    /// Only where these axes have these values.
    pub(super) pinned: Vec<(VarId, Poly)>,
    /// And where these conditions hold, or do not.
    pub(super) guards: Vec<(ExprId, bool)>,
}

impl Flow<'_> {
    pub(super) fn write(&mut self, access: &Access, state: &mut State) {
        let ArrayRef::Tile(tile) = access.array else { return };
        let cell = access.indices.iter().map(|index| self.bounds.poly(*index)).collect();
        let written = state.tiles.entry(tile).or_default();
        written.own.insert(cell);
    }

    /// Marks the tiles that a statement, run by all work-items or points, has
    /// written whole.
    pub(super) fn write_whole(&mut self, stmt: &Stmt, state: &mut State) {
        let apart = self.divergent || self.in_each;
        let items = if apart { Vec::new() } else { self.block_vars() };
        let runs = Runs { apart, items, ..Runs::default() };
        self.mark_whole(std::slice::from_ref(stmt), &runs, state);
    }

    fn block_vars(&self) -> Vec<VarId> {
        self.kernel.block.iter().flatten().map(|axis| axis.var).collect()
    }

    /// Marks what `stmts` write whole as they run.
    pub(super) fn mark_whole(&mut self, stmts: &[Stmt], runs: &Runs, state: &mut State) {
        for stmt in stmts {
            if let Some(access) = stmt.kind.set_element() {
                self.mark_store(access, runs, state);
                continue;
            }
            match &stmt.kind {
                StmtKind::Each { axes, body, .. } => {
                    let items = axes.iter().map(|axis| axis.var).collect();
                    self.mark_whole(body, &Runs { items, ..runs.clone() }, state);
                }
                StmtKind::For { var, range, body } | StmtKind::Phase { var, range, body }
                    if counts_from_0(self.kernel, range) =>
                {
                    let mut runs = runs.clone();
                    runs.loops.push(*var);
                    self.mark_whole(body, &runs, state);
                }
                StmtKind::For { var, range, body } => {
                    let LoopRange::Between { start, end, step: Some(step), .. } = *range else {
                        continue;
                    };
                    let bounds = [start, end, step].map(|bound| self.bounds.poly(bound));
                    if let Some((runs, end)) = self.strided(*var, bounds, runs) {
                        self.bounds.enter_counter(*var, end);
                        self.mark_whole(body, &runs, state);
                    } else {
                        let mut runs = runs.clone();
                        runs.stepped.push(*var);
                        self.steps.insert(*var, Domain::Steps([start, end, step]));
                        self.mark_whole(body, &runs, state);
                        self.steps.remove(var);
                    }
                }
                StmtKind::While { cond, body } => {
                    let found = Strided::of(self.kernel, *cond, body);
                    let Some((found, start)) = found.zip(self.starts.get(&stmt.head).cloned())
                    else {
                        continue;
                    };
                    let ends = [found.bounds.1, found.step];
                    let [end, step] = ends.map(|bound| self.bounds.poly(bound));
                    let bounds = [start.clone(), end, step];
                    self.bounds.set(found.var, Poly::var(found.var));
                    if let Some((runs, end)) = self.strided(found.var, bounds, runs) {
                        self.bounds.enter_counter(found.var, end);
                        self.mark_whole(found.body, &runs, state);
                    } else {
                        let mut runs = runs.clone();
                        runs.stepped.push(found.var);
                        self.steps.insert(found.var, Domain::From(start, ends));
                        self.mark_whole(found.body, &runs, state);
                        self.steps.remove(&found.var);
                    }
                    self.bounds.forget(found.var);
                }
                StmtKind::If { cond, then, otherwise } => {
                    for (body, holds) in [(then, true), (otherwise, false)] {
                        let mut runs = runs.clone();
                        runs.guards.push((*cond, holds));
                        self.mark_whole(body, &runs, state);
                    }
                }
                StmtKind::Phase { .. }
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
    }

    /// Of a loop that the work-items share out, `for i in (tx..n).step_by(B)`: its
    /// counter runs over all values below the end, which is given, and takes the
    /// place of the work-items.
    fn strided(
        &mut self,
        var: VarId,
        [start, end, step]: [Poly; 3],
        runs: &Runs,
    ) -> Option<(Runs, Poly)> {
        let is_shared = |bound: &Poly| !runs.items.iter().any(|item| bound.mentions(*item));
        let mut items = runs.items.clone();
        let covers = !runs.apart
            && index_covers(&self.bounds, &start, &step, &mut items)
            && is_shared(&end)
            && is_shared(&step);
        items.push(var);
        covers.then(|| (Runs { items, ..runs.clone() }, end))
    }

    fn mark_store(&mut self, access: &Access, runs: &Runs, state: &mut State) {
        let ArrayRef::Tile(tile) = access.array else { return };
        // Of an array of its own a work-item writes what its own loops run over.
        let is_local = self.kernel.is_local(access.array);
        let is_counted = !runs.stepped.is_empty() || !runs.guards.is_empty();
        let is_of_one = !runs.pinned.is_empty() || runs.is_of_any;
        let is_parted = is_of_one || is_counted;
        let of_others = if is_local { is_parted } else { runs.apart };
        if of_others {
            return;
        }
        let pin = |var: VarId| {
            let pinned = runs.pinned.iter().find(|(other, _)| *other == var);
            pinned.map(|(_, value)| value.clone())
        };
        let cell: Vec<Poly> =
            access.indices.iter().map(|index| self.bounds.poly(*index).replace(&pin)).collect();
        let ends = self.ends.get(&tile).cloned().unwrap_or_default().into_iter();
        let extents = self.kernel.tiles[tile].extents.iter().zip(ends.chain(repeat(None)));
        let extents = extents.map(|(extent, end)| end.unwrap_or_else(|| self.bounds.poly(*extent)));
        let extents: Vec<Poly> = extents.collect();
        let items = runs.items.iter().filter(|_| !is_local);
        let mut axes: Vec<VarId> = items.chain(&runs.loops).copied().collect();
        if is_counted {
            axes.extend(&runs.stepped);
            let number = if !is_of_one { self.cover(access, &axes, &runs.guards) } else { None };
            state.tiles.entry(tile).or_default().covers.extend(number);
            return;
        }
        let mut free = axes.clone();
        let covers = cell
            .iter()
            .zip(&extents)
            .all(|(index, extent)| index_covers(&self.bounds, index, extent, &mut free));
        let may_cover = !covers && !is_of_one;
        let number = may_cover.then(|| self.cover(access, &axes, &[])).flatten();
        // What the cell does not name must run at all for it to be written.
        let is_run = |var: &VarId| {
            self.bounds.extent(*var).is_some_and(|extent| self.bounds.is_positive(extent))
        };
        let written = state.tiles.entry(tile).or_default();
        written.covers.extend(number);
        let is_whole = covers && free.iter().all(is_run);
        written.whole |= is_whole;
        if is_whole && !is_local {
            state.fresh.insert(tile);
        }
        let is_named = |index: &Poly| !axes.iter().any(|axis| index.mentions(*axis));
        let is_common = |(index, expr): (&Poly, &ExprId)| {
            is_named(index) && is_of_block(self.uniform, *expr, index)
        };
        let are_common = cell.iter().zip(&access.indices).all(is_common);
        if is_of_one && axes.iter().all(is_run) && are_common {
            written.common.insert(cell);
        }
    }

    /// The number of a store that may fill its tile, made for every value of `axes` at which
    /// `guards` let it; `None` where it is not known how many those have.
    fn cover(
        &mut self,
        access: &Access,
        axes: &[VarId],
        guards: &[(ExprId, bool)],
    ) -> Option<usize> {
        let axes = axes.iter().map(|axis| {
            let domain = match self.steps.get(axis) {
                Some(steps) => steps.clone(),
                None => Domain::Below(self.bounds.extent(*axis)?.clone()),
            };
            Some((*axis, domain))
        });
        let axes: Vec<_> = axes.collect::<Option<_>>()?;
        let known = self.covers.iter().position(|cover| cover.is_of(access, &axes, guards));
        known.or_else(|| {
            let ends = match access.array {
                ArrayRef::Tile(tile) => self.ends.get(&tile).cloned().unwrap_or_default(),
                ArrayRef::Tensor(_) => Vec::new(),
            };
            self.covers.push(Cover::of(access, (axes, ends), guards));
            Some(self.covers.len() - 1)
        })
    }

    /// What `if tx == 0 { … }` writes: one work-item along the axis does it, and
    /// always the same.
    pub(super) fn write_picked(&mut self, cond: ExprId, then: &[Stmt], state: &mut State) {
        if self.divergent || self.in_each {
            return;
        }
        let mut pinned = Vec::new();
        if !self.pins(cond, &mut pinned) {
            return;
        }
        let items = self.block_vars().into_iter();
        let items = items.filter(|axis| !pinned.iter().any(|(other, _)| other == axis)).collect();
        let runs = Runs { items, pinned, ..Runs::default() };
        self.mark_whole(then, &runs, state);
    }

    /// Whether a condition says no more than that axes of the block have certain
    /// values that they do take.
    pub(super) fn pins(&mut self, cond: ExprId, out: &mut Vec<(VarId, Poly)>) -> bool {
        match self.kernel.exprs[cond].kind {
            ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
                self.pins(lhs, out) && self.pins(rhs, out)
            }
            ExprKind::Compare { op: CompareOp::Eq, lhs, rhs } if self.bounds.is_index(lhs) => {
                let sides = [lhs, rhs].map(|side| (side, self.bounds.poly(side)));
                let block = self.block_vars();
                let [(_, one), (_, two)] = &sides;
                let (axis, (expr, value)) = match (one.as_var(), two.as_var(), sides) {
                    (Some(var), _, [_, other]) if block.contains(&var) => (var, other),
                    (_, Some(var), [other, _]) if block.contains(&var) => (var, other),
                    _ => return false,
                };
                let fixed = !block.iter().any(|var| value.mentions(*var))
                    && is_of_block(self.uniform, expr, &value);
                let Some(extent) = self.bounds.extent(axis).cloned() else { return false };
                let last = extent.sub(&Poly::constant(1)).sub(&value);
                let taken =
                    self.bounds.is_never_negative(&value) && self.bounds.is_never_negative(&last);
                let fresh = !out.iter().any(|(other, _)| *other == axis);
                out.push((axis, value));
                fixed && taken && fresh
            }
            _ => false,
        }
    }
}

/// Whether an expression, or what it comes to, is one value for the whole block.
fn is_of_block(uniform: &Uniformity, expr: ExprId, value: &Poly) -> bool {
    uniform.is_uniform_value(expr) || value.is_made_of(&|var| uniform.is_uniform_var(var))
}

/// Whether `index` takes every value below `extent` while the `free` variables
/// run; takes the used ones away.
fn index_covers(bounds: &Bounds<'_>, index: &Poly, extent: &Poly, free: &mut Vec<VarId>) -> bool {
    if index.as_constant() == Some(0) && extent.as_constant() == Some(1) {
        return true;
    }
    let one = free
        .iter()
        .position(|var| *index == Poly::var(*var) && bounds.extent(*var) == Some(extent));
    if let Some(position) = one {
        free.remove(position);
        return true;
    }
    // `outer * n + inner` with `inner` in 0..n.
    let pair = free.iter().copied().find_map(|inner| {
        let n = bounds.extent(inner)?;
        let outer = free.iter().copied().find(|outer| {
            let value = Poly::var(*outer).mul(n).add(&Poly::var(inner));
            *outer != inner
                && *index == value
                && bounds.extent(*outer).is_some_and(|m| m.mul(n) == *extent)
        })?;
        Some((outer, inner))
    });
    let Some((outer, inner)) = pair else { return false };
    free.retain(|var| *var != outer && *var != inner);
    true
}
