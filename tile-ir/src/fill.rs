//! Fills: a tile to which every work-item brings one element is filled by the block.
//!
//! The textbook's work-items fill a tile with the element at their own place,
//!
//! ```text
//! a_s[ty, tx] = a[by * W + ty, p * W + tx];
//! barrier;
//! ```
//!
//! and whoever computes there is then also whoever brings. But where all elements of the
//! tile are brought before the next barrier, who brings which is no matter: the statement
//! becomes the cooperative loop that `load a_s[i, j] = a[by * W + i, p * W + j];` is.
//! Its accesses then have a layout of their own, run along rows of the tensor in wide
//! vectors, and can be made ahead of time.
//!
//! # When it may
//!
//! - The statement stores to a shared tile, and its indices are the work-item's
//!   coordinates, each once, along axes of the tile that are as long as theirs: so each
//!   element is stored once, by any one work-item.
//! - The value follows from these coordinates and from what all work-items agree on, and
//!   from elements of arrays.
//! - A barrier follows in the same list of statements, so all work-items come by; and
//!   between the barrier before and the one after, nothing else touches the tile or
//!   writes an array that the value is made of: a work-item may otherwise do so without
//!   a barrier where the element is its own.

use std::collections::{BTreeMap, BTreeSet};

use crate::kernel::{
    Access, ArrayRef, Axis, EachOrigin, Expr, ExprId, ExprKind, Kernel, Stmt, StmtKind, TileSpace,
    Var, VarId, VarKind, any_stmt, any_subexpr, copy_expr, immutable_lets,
};

/// The kernel with such statements as cooperative loops.
pub(crate) fn share_out_fills(kernel: &Kernel) -> Kernel {
    let mut kernel = kernel.clone();
    if kernel.block.as_ref().is_some_and(|axes| !axes.is_empty()) {
        let body = std::mem::take(&mut kernel.body);
        let lets = immutable_lets(&body, &kernel);
        kernel.body = Writer { kernel: &mut kernel, lets }.list(&body, false, None);
    }
    kernel
}

/// Whether some statement may be one of those: [`share_out_fills`] looks at all of it.
pub(crate) fn may_have_fills(kernel: &Kernel) -> bool {
    any_stmt(&kernel.body, &mut |kind| match kind {
        StmtKind::Store { access, .. } => coords(kernel, access).is_some(),
        _ => false,
    })
}

/// A copy of an expression with what is set once put in its place, and others that
/// `replace` gives for variables.
fn expanded(
    kernel: &mut Kernel,
    lets: &BTreeMap<VarId, ExprId>,
    id: ExprId,
    replace: &dyn Fn(&mut Kernel, VarId) -> Option<ExprId>,
) -> ExprId {
    copy_expr(kernel, id, &mut |kernel, var| {
        let set_once = lets.get(&var).map(|&init| expanded(kernel, lets, init, replace));
        set_once.or_else(|| replace(kernel, var))
    })
}

/// Where a statement stands: in which list, and where the statement that holds it does.
struct At<'a> {
    list: &'a [Stmt],
    index: usize,
    /// Whether the list is run again and again.
    is_loop: bool,
    outer: Option<&'a At<'a>>,
}

struct Writer<'a> {
    kernel: &'a mut Kernel,
    lets: BTreeMap<VarId, ExprId>,
}

impl Writer<'_> {
    fn list(&mut self, list: &[Stmt], is_loop: bool, outer: Option<&At<'_>>) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(list.len());
        for (index, stmt) in list.iter().enumerate() {
            let at = At { list, index, is_loop, outer };
            out.push(self.shared_out(stmt, &at).unwrap_or_else(|| self.inside(stmt, &at)));
        }
        out
    }

    /// The statement with those inside it looked at.
    fn inside(&mut self, stmt: &Stmt, at: &At<'_>) -> Stmt {
        let mut out = stmt.clone();
        let is_loop = match stmt.kind {
            StmtKind::Phase { .. } | StmtKind::For { .. } | StmtKind::While { .. } => true,
            StmtKind::If { .. } => false,
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
            | StmtKind::WarpBarrier => return out,
        };
        for body in out.kind.bodies_mut() {
            *body = self.list(&std::mem::take(body), is_loop, Some(at));
        }
        out
    }

    /// The cooperative loop that the statement is.
    fn shared_out(&mut self, stmt: &Stmt, at: &At<'_>) -> Option<Stmt> {
        let StmtKind::Store { access, value } = &stmt.kind else { return None };
        let coords = coords(self.kernel, access)?;
        let mut read = BTreeSet::new();
        if !self.is_agreed(*value, &coords, &mut read) || read.contains(&access.array) {
            return None;
        }
        let is_alone = |stmt: &Stmt| !clashes(self.kernel, stmt, access.array, &read);
        if !is_alone_after(at, &is_alone) || !is_alone_before(at, &is_alone) {
            return None;
        }
        Some(self.cooperative(stmt, access, *value, &coords))
    }

    /// Whether a value follows from these coordinates, what all work-items agree on, and
    /// elements of arrays, which are noted.
    fn is_agreed(&self, id: ExprId, coords: &[Axis], read: &mut BTreeSet<ArrayRef>) -> bool {
        let kind = &self.kernel.exprs[id].kind;
        match kind {
            ExprKind::Var(var) => match self.kernel.vars[*var].kind {
                VarKind::Dim
                | VarKind::TileParam(_)
                | VarKind::Scalar(_)
                | VarKind::Grid
                // The barrier after the statement says that its loops are the block's.
                | VarKind::Loop => return true,
                VarKind::Block => return coords.iter().any(|axis| axis.var == *var),
                VarKind::Let { .. } => {
                    let init = self.lets.get(var).copied();
                    return init.is_some_and(|init| {
                        // An element may be another one by now.
                        let loads = &mut |kind: &ExprKind| matches!(kind, ExprKind::Load(_));
                        !any_subexpr(self.kernel, init, loads)
                            && self.is_agreed(init, coords, read)
                    });
                }
                VarKind::Each => return false,
            },
            ExprKind::Load(access) => {
                if self.kernel.is_local(access.array) {
                    return false;
                }
                read.insert(access.array);
            }
            ExprKind::Uniform(_) => return false,
            ExprKind::Literal(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Cast(_)
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => {}
        }
        kind.operands().into_iter().all(|operand| self.is_agreed(operand, coords, read))
    }

    fn cooperative(
        &mut self,
        stmt: &Stmt,
        access: &Access,
        value: ExprId,
        coords: &[Axis],
    ) -> Stmt {
        let mut points = BTreeMap::new();
        let mut axes = Vec::with_capacity(coords.len());
        for axis in coords {
            let point = Var { kind: VarKind::Each, ..self.kernel.vars[axis.var].clone() };
            let var = self.kernel.vars.push(point);
            points.insert(axis.var, var);
            axes.push(Axis { var, extent: axis.extent });
        }
        let at_point = |kernel: &mut Kernel, var: VarId| {
            let point = *points.get(&var)?;
            let Var { ty, span, .. } = kernel.vars[point];
            Some(kernel.exprs.push(Expr { kind: ExprKind::Var(point), ty, span }))
        };
        let lets = &self.lets;
        let mut expand = |id: ExprId| expanded(self.kernel, lets, id, &at_point);
        let indices = access.indices.iter().map(|&index| expand(index)).collect();
        let value = expand(value);
        let access = Access { indices, ..access.clone() };
        let body = vec![Stmt { kind: StmtKind::Store { access, value }, ..stmt.clone() }];
        let kind = StmtKind::Each { axes, body, origin: EachOrigin::Load };
        Stmt { kind, ..stmt.clone() }
    }
}

/// Whether nothing clashes up to the next barrier of the same list, and there is one.
fn is_alone_after(at: &At<'_>, is_alone: &dyn Fn(&Stmt) -> bool) -> bool {
    let after = &at.list[at.index + 1..];
    let barrier = after.iter().position(|stmt| stmt.kind == StmtKind::Barrier);
    barrier.is_some_and(|barrier| after[..barrier].iter().all(is_alone))
}

/// Whether nothing clashes since the barrier before, in all ways of getting here.
fn is_alone_before(at: &At<'_>, is_alone: &dyn Fn(&Stmt) -> bool) -> bool {
    let since_barrier = |stmts: &[Stmt]| {
        let mut run = stmts.iter().rev().take_while(|stmt| stmt.kind != StmtKind::Barrier);
        run.all(is_alone)
    };
    let has_barrier = |stmts: &[Stmt]| stmts.iter().any(|stmt| stmt.kind == StmtKind::Barrier);
    let before = &at.list[..at.index];
    if !since_barrier(before) {
        return false;
    }
    if has_barrier(before) {
        return true;
    }
    // The end of the iteration before.
    if at.is_loop && !since_barrier(&at.list[at.index + 1..]) {
        return false;
    }
    at.outer.is_none_or(|outer| is_alone_before(outer, is_alone))
}

/// Whether a statement, or one inside it, touches the tile or writes one of the arrays.
fn clashes(kernel: &Kernel, stmt: &Stmt, tile: ArrayRef, read: &BTreeSet<ArrayRef>) -> bool {
    let reads_tile =
        &mut |kind: &ExprKind| matches!(kind, ExprKind::Load(access) if access.array == tile);
    stmt.kind.written().is_some_and(|array| array == tile || read.contains(&array))
        || stmt.kind.exprs().into_iter().any(|id| any_subexpr(kernel, id, reads_tile))
        || stmt.kind.bodies().into_iter().flatten().any(|stmt| clashes(kernel, stmt, tile, read))
}

/// The coordinates at which a store fills a shared tile, in the order of the tile's axes:
/// all of the block domain's, each along an axis as long as it.
fn coords(kernel: &Kernel, access: &Access) -> Option<Vec<Axis>> {
    let ArrayRef::Tile(tile) = access.array else { return None };
    let block = kernel.block.as_deref().unwrap_or_default();
    let tile = &kernel.tiles[tile];
    if tile.space != TileSpace::Shared || tile.extents.len() != block.len() {
        return None;
    }
    let coord = |(&index, &extent): (&ExprId, &ExprId)| {
        let ExprKind::Var(var) = kernel.exprs[index].kind else { return None };
        let axis = block.iter().find(|axis| axis.var == var)?;
        kernel.is_same(axis.extent, extent).then(|| axis.clone())
    };
    let coords = access.indices.iter().zip(&tile.extents).map(coord);
    let coords: Vec<Axis> = coords.collect::<Option<_>>()?;
    let different: BTreeSet<VarId> = coords.iter().map(|axis| axis.var).collect();
    (different.len() == block.len()).then_some(coords)
}
