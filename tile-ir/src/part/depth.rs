//! Which phases can be parted, and along which axes of their tiles.

use std::collections::{BTreeMap, BTreeSet};

use super::times;
use crate::config::{Config, tile_value};
use crate::kernel::{
    Access, ArrayRef, Expr, ExprId, ExprKind, Kernel, LoopRange, Stmt, StmtKind, TileId, VarId,
    any_stmt, any_subexpr, copy_expr_but, eval_index, immutable_lets,
};
use crate::op::BinaryOp;

/// A phase that can be parted.
pub(super) struct Depth {
    /// The phase's counter.
    counter: VarId,
    /// How far its loop counts.
    pub(super) extent: i128,
    /// Its tiles, each with the axis along which the loop goes.
    pub(super) tiles: BTreeMap<TileId, usize>,
    /// What is set in it beside the loads, which cannot name it.
    lets: BTreeMap<VarId, ExprId>,
    /// Tile sizes.
    sizes: Vec<u32>,
}

impl Depth {
    /// `None` where it cannot be parted, or not in as many parts of one length. `whole` is
    /// the kernel's body.
    pub(super) fn of(
        kernel: &Kernel,
        stmt: &Stmt,
        whole: &[Stmt],
        config: &Config,
    ) -> Option<Self> {
        let StmtKind::Phase { var: counter, range, body } = &stmt.kind else { return None };
        let value = |id| eval_index(kernel, id, &|var| tile_value(kernel, &config.tiles, var));
        let counts_up = |range: &LoopRange| match *range {
            LoopRange::Between { start, end, step, reversed: false } => {
                let by_one = step.is_none_or(|step| value(step) == Some(1));
                (value(start) == Some(0) && by_one).then_some(end)
            }
            _ => None,
        };
        counts_up(range)?;
        let first = body.iter().position(|stmt| stmt.kind == StmtKind::Barrier)?;
        let [compute, last] = body.get(first + 1..)? else { return None };
        let StmtKind::For { var: step, range, body: inner } = &compute.kind else { return None };
        let extent = value(counts_up(range)?)?;
        let parts = i128::from(config.phase_parts);
        if last.kind != StmtKind::Barrier || extent < parts || extent % parts != 0 {
            return None;
        }
        let is_shared = |kind: &StmtKind| {
            matches!(kind, StmtKind::Barrier | StmtKind::Exchange { .. } | StmtKind::Each { .. })
        };
        if any_stmt(inner, &mut |kind| is_shared(kind)) {
            return None;
        }
        let lets = immutable_lets(&body[..first], kernel);
        let mut filled = BTreeSet::new();
        for stmt in &body[..first] {
            match &stmt.kind {
                StmtKind::Let { var, .. } if lets.contains_key(var) => {}
                StmtKind::Each { .. } => {
                    let tile = filled_tile(kernel, stmt, &value)?;
                    if !filled.insert(tile) {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        let mut uses = Uses { kernel, step: *step, tiles: BTreeMap::new(), is_plain: true };
        uses.list(inner);
        let tiles = uses.tiles;
        let depth = Self { counter: *counter, extent, tiles, lets, sizes: config.tiles.clone() };
        let is_as_deep = |(tile, axis): (&TileId, &usize)| {
            let extent = kernel.tiles[*tile].extents.get(*axis);
            filled.contains(tile) && extent.is_some_and(|&id| value(id) == Some(depth.extent))
        };
        let is_of_form = uses.is_plain
            && !filled.is_empty()
            && filled.len() == depth.tiles.len()
            && depth.tiles.iter().all(is_as_deep)
            && !depth.is_named_in(kernel, inner)
            && count_of(kernel, whole, &filled) == count_of(kernel, body, &filled)
            && body[..first].iter().all(|stmt| depth.has_sums_alone(kernel, stmt));
        is_of_form.then_some(depth)
    }

    /// The axis of a tile's store along which the loop goes.
    pub(super) fn axis_of(&self, access: &Access) -> Option<usize> {
        match access.array {
            ArrayRef::Tile(tile) => self.tiles.get(&tile).copied(),
            ArrayRef::Tensor(_) => None,
        }
    }

    /// A loaded value, with the counter times the part's length in place of the counter
    /// times the extent.
    pub(super) fn at_part(&self, kernel: &mut Kernel, value: ExprId, part: i128) -> ExprId {
        copy_expr_but(kernel, value, &mut |kernel, id| {
            if !self.is_product(kernel, id) {
                return None;
            }
            let Expr { ty, span, .. } = kernel.exprs[id];
            let kind = ExprKind::Var(self.counter);
            let counter = kernel.exprs.push(Expr { kind, ty, span });
            Some(times(kernel, counter, part))
        })
    }

    /// Whether the load's value names counter and coordinate in sums `p * W + k` alone.
    fn has_sums_alone(&self, kernel: &Kernel, stmt: &Stmt) -> bool {
        let StmtKind::Each { axes, body, .. } = &stmt.kind else { return true };
        let [Stmt { kind: StmtKind::Store { access, value }, .. }] = body.as_slice() else {
            return false;
        };
        let Some(axis) = self.axis_of(access) else { return false };
        self.is_of_sums(kernel, *value, axes[axis].var)
    }

    fn is_of_sums(&self, kernel: &Kernel, id: ExprId, coord: VarId) -> bool {
        let mut terms = Vec::new();
        added(kernel, id, &mut terms);
        let is_coord = |id: &ExprId| kernel.exprs[*id].kind == ExprKind::Var(coord);
        let n_coords = terms.iter().filter(|id| is_coord(id)).count();
        let n_products = terms.iter().filter(|&&id| self.is_product(kernel, id)).count();
        let others = terms.iter().filter(|id| !is_coord(id) && !self.is_product(kernel, **id));
        n_coords == n_products
            && n_coords < 2
            && others.into_iter().all(|&id| {
                let kind = &kernel.exprs[id].kind;
                let is_of_phase = matches!(kind, ExprKind::Var(var) if self.is_of_phase(*var));
                !is_of_phase && kind.operands().iter().all(|&id| self.is_of_sums(kernel, id, coord))
            })
    }

    /// `p * W`, where the loop goes as far as `W`.
    fn is_product(&self, kernel: &Kernel, id: ExprId) -> bool {
        let ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } = kernel.exprs[id].kind else {
            return false;
        };
        let is_counter = |id: ExprId| kernel.exprs[id].kind == ExprKind::Var(self.counter);
        let is_extent = |id: ExprId| {
            let value = eval_index(kernel, id, &|var| tile_value(kernel, &self.sizes, var));
            value == Some(self.extent)
        };
        (is_counter(lhs) && is_extent(rhs)) || (is_extent(lhs) && is_counter(rhs))
    }

    /// Whether the loop names the phase's counter, or what is set in the phase.
    fn is_named_in(&self, kernel: &Kernel, stmts: &[Stmt]) -> bool {
        names_any(kernel, stmts, &|var| self.is_of_phase(var))
    }

    fn is_of_phase(&self, var: VarId) -> bool {
        var == self.counter || self.lets.contains_key(&var)
    }
}

/// The terms of a sum.
fn added(kernel: &Kernel, id: ExprId, terms: &mut Vec<ExprId>) {
    match kernel.exprs[id].kind {
        ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => {
            added(kernel, lhs, terms);
            added(kernel, rhs, terms);
        }
        _ => terms.push(id),
    }
}

/// The tile that a cooperative loop fills whole, in order.
fn filled_tile(
    kernel: &Kernel,
    stmt: &Stmt,
    value: &dyn Fn(ExprId) -> Option<i128>,
) -> Option<TileId> {
    let StmtKind::Each { axes, body, .. } = &stmt.kind else { return None };
    let [Stmt { kind: StmtKind::Store { access, .. }, .. }] = body.as_slice() else {
        return None;
    };
    let ArrayRef::Tile(tile) = access.array else { return None };
    let extents = &kernel.tiles[tile].extents;
    let is_whole = axes.len() == extents.len()
        && axes.len() == access.indices.len()
        && axes.iter().zip(extents).zip(&access.indices).all(|((axis, &extent), &index)| {
            kernel.exprs[index].kind == ExprKind::Var(axis.var)
                && value(axis.extent).is_some()
                && value(axis.extent) == value(extent)
        });
    (is_whole && !kernel.is_local(access.array)).then_some(tile)
}

/// How a loop uses shared tiles and its counter.
struct Uses<'a> {
    kernel: &'a Kernel,
    step: VarId,
    /// Each tile that is read, with the axis of the counter.
    tiles: BTreeMap<TileId, usize>,
    /// Whether the tiles are only read, each along one axis, and the counter is used for
    /// that alone.
    is_plain: bool,
}

impl Uses<'_> {
    fn list(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            let written = stmt.kind.written();
            if let Some(ArrayRef::Tile(_)) = written
                && written.is_some_and(|array| !self.kernel.is_local(array))
            {
                self.is_plain = false;
            }
            stmt.kind.exprs().into_iter().for_each(|id| self.expr(id));
            stmt.kind.bodies().into_iter().for_each(|body| self.list(body));
        }
    }

    fn expr(&mut self, id: ExprId) {
        let kind = &self.kernel.exprs[id].kind;
        if *kind == ExprKind::Var(self.step) {
            self.is_plain = false;
        }
        match kind {
            ExprKind::Load(access) if matches!(access.array, ArrayRef::Tile(_)) => {
                self.access(access);
            }
            _ => kind.operands().into_iter().for_each(|id| self.expr(id)),
        }
    }

    fn access(&mut self, access: &Access) {
        let ArrayRef::Tile(tile) = access.array else { return };
        if self.kernel.is_local(access.array) {
            access.indices.iter().for_each(|&id| self.expr(id));
            return;
        }
        let is_step = |id: &ExprId| self.kernel.exprs[*id].kind == ExprKind::Var(self.step);
        match access.indices.iter().position(is_step) {
            Some(axis) if *self.tiles.entry(tile).or_insert(axis) == axis => {
                for (at, &id) in access.indices.iter().enumerate() {
                    if at != axis {
                        self.expr(id);
                    }
                }
            }
            _ => self.is_plain = false,
        }
    }
}

/// Whether statements name one of some variables.
fn names_any(kernel: &Kernel, stmts: &[Stmt], is_one: &dyn Fn(VarId) -> bool) -> bool {
    let names = &mut |kind: &ExprKind| matches!(kind, ExprKind::Var(var) if is_one(*var));
    stmts.iter().any(|stmt| {
        stmt.kind.exprs().into_iter().any(|id| any_subexpr(kernel, id, names))
            || stmt.kind.bodies().into_iter().any(|body| names_any(kernel, body, is_one))
    })
}

/// Statements that touch one of some tiles, those inside others too.
fn count_of(kernel: &Kernel, stmts: &[Stmt], tiles: &BTreeSet<TileId>) -> usize {
    let is_one = |array: ArrayRef| matches!(array, ArrayRef::Tile(tile) if tiles.contains(&tile));
    let reads = &mut |kind: &ExprKind| matches!(kind, ExprKind::Load(at) if is_one(at.array));
    let mut count = 0;
    for stmt in stmts {
        let touches = stmt.kind.written().is_some_and(is_one)
            || stmt.kind.exprs().into_iter().any(|id| any_subexpr(kernel, id, reads));
        count += usize::from(touches);
        count +=
            stmt.kind.bodies().into_iter().map(|body| count_of(kernel, body, tiles)).sum::<usize>();
    }
    count
}
