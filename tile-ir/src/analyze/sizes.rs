//! Whether a kernel's results may depend on its tile sizes.
//!
//! Threads, buffers and widths never change a result; tile sizes may, for they stand in
//! the text: a block's sum of `TN` elements is another value where `TN` is another, and
//! floats are summed in another order where a tile is. A search that must not change a
//! bit may try other sizes only where it is shown here that none depends on them.
//!
//! Shown is what a textbook's tiling looks like. A *place* is an index that is the same
//! whatever the sizes are: a sum in which each coordinate inside a tile stands beside
//! the product of the tile's own coordinate and its size, as in `by * TM + i` or
//! `p * TK + k`. Then
//!
//! - every index of a tensor, every condition and every number made of indices is a
//!   place or made of places;
//! - a shared tile that is read is filled by one `load`, and what is read there is what
//!   the `load` reads at those coordinates, for which the same holds;
//! - a variable that is changed in loops whose number of iterations depends on sizes is
//!   changed once, in a `for k in 0..T` inside a loop over `tiles(D, T)` outside of
//!   which it is declared, by something read at a place along `k`: its values are
//!   combined in the order of `D`, and what is read beyond `D` changes nothing, as the
//!   checks have shown of the default pad;
//! - nothing is combined over the block or a warp.
//!
//! Anything else counts as dependent.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::candidate_values;
use crate::kernel::{
    ArrayRef, Axis, EachOrigin, Edge, ExprId, ExprKind, Kernel, Literal, LoopRange, Place, Stmt,
    StmtKind, TileDomain, TileId, TileSpace, Type, VarId, VarKind,
};
use crate::op::BinaryOp;

/// Whether results of a kernel may depend on the values of its tile parameters.
pub fn may_depend_on_sizes(kernel: &Kernel) -> bool {
    let mut sizes = BTreeSet::new();
    for param in kernel.tile_params.values() {
        let is_fixed = match &param.domain {
            TileDomain::Equal(expr) => named(kernel, *expr).is_disjoint(&sizes),
            TileDomain::Any
            | TileDomain::Range { .. }
            | TileDomain::Pow2 { .. }
            | TileDomain::List(_) => candidate_values(&param.domain).len() < 2,
        };
        if !is_fixed {
            sizes.insert(param.var);
        }
    }
    if sizes.is_empty() {
        return false;
    }
    let mut names = Names { kernel, sizes, ..Names::of(kernel) };
    names.axes(&kernel.grid);
    names.axes(kernel.block.as_deref().unwrap_or_default());
    names.stmts(&kernel.body);
    let mut walk = Walk { names: &names, nest: Vec::new(), changed: BTreeSet::new() };
    !walk.are_steady(&kernel.body)
}

/// The variables that an expression names.
fn named(kernel: &Kernel, expr: ExprId) -> BTreeSet<VarId> {
    let kind = &kernel.exprs[expr].kind;
    let own = match kind {
        ExprKind::Var(var) => Some(*var),
        _ => None,
    };
    let inside = kind.operands().into_iter().flat_map(|operand| named(kernel, operand));
    own.into_iter().chain(inside).collect()
}

/// What the kernel's variables and tiles stand for.
struct Names<'a> {
    kernel: &'a Kernel,
    /// Tile parameters of several values.
    sizes: BTreeSet<VarId>,
    /// Coordinates of tiles: grid axes and counters over `tiles(D, T)`, with `T`.
    steps: BTreeMap<VarId, VarId>,
    /// Coordinates inside tiles: axes and counters whose extents depend on sizes, with
    /// those sizes.
    inner: BTreeMap<VarId, BTreeSet<VarId>>,
    /// Indices that are given a name once.
    lets: BTreeMap<VarId, ExprId>,
    /// Tiles with the coordinates and the values of the one `load` that fills each;
    /// `None` of those that are filled otherwise.
    loads: BTreeMap<TileId, Option<(Vec<VarId>, ExprId)>>,
}

impl<'a> Names<'a> {
    fn of(kernel: &'a Kernel) -> Self {
        Self {
            kernel,
            sizes: BTreeSet::new(),
            steps: BTreeMap::new(),
            inner: BTreeMap::new(),
            lets: BTreeMap::new(),
            loads: BTreeMap::new(),
        }
    }

    fn axes(&mut self, axes: &[Axis]) {
        axes.iter().for_each(|axis| self.counter(axis.var, axis.extent));
    }

    /// A variable that runs from 0 to `extent`.
    fn counter(&mut self, var: VarId, extent: ExprId) {
        if let Some(size) = self.tile_of(extent) {
            self.steps.insert(var, size);
            return;
        }
        let sizes: BTreeSet<VarId> =
            named(self.kernel, extent).intersection(&self.sizes).copied().collect();
        if !sizes.is_empty() {
            self.inner.insert(var, sizes);
        }
    }

    /// `T` of `tiles(D, T)`, where `D` does not depend on sizes.
    fn tile_of(&self, extent: ExprId) -> Option<VarId> {
        let ExprKind::Tiles { extent, tile } = self.kernel.exprs[extent].kind else { return None };
        match self.kernel.exprs[tile].kind {
            ExprKind::Var(var) if self.sizes.contains(&var) => {
                named(self.kernel, extent).is_disjoint(&self.sizes).then_some(var)
            }
            _ => None,
        }
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let { var, init: Some(init) } => {
                    let var_of = &self.kernel.vars[*var];
                    if var_of.kind == (VarKind::Let { mutable: false }) && var_of.ty == Type::Index
                    {
                        self.lets.insert(*var, *init);
                    }
                }
                StmtKind::Each { axes, body, origin } => {
                    self.axes(axes);
                    match (origin, body.as_slice()) {
                        (EachOrigin::Load, [one]) => self.load(axes, &one.kind),
                        (EachOrigin::Load | EachOrigin::Each, _) => self.stmts(body),
                    }
                }
                StmtKind::Store { access, .. }
                | StmtKind::Update { place: Place::Element(access), .. }
                | StmtKind::Atomic { access, .. } => {
                    if let ArrayRef::Tile(tile) = access.array {
                        self.loads.insert(tile, None);
                    }
                }
                StmtKind::Phase { var, range, body } | StmtKind::For { var, range, body } => {
                    match self.end_from_zero(range) {
                        Some(end) => self.counter(*var, end),
                        None => {
                            let all = self.sizes.clone();
                            self.inner.insert(*var, all);
                        }
                    }
                    self.stmts(body);
                }
                StmtKind::While { body, .. } => self.stmts(body),
                StmtKind::If { then, otherwise, .. } => {
                    self.stmts(then);
                    self.stmts(otherwise);
                }
                StmtKind::Let { init: None, .. }
                | StmtKind::LetArray { .. }
                | StmtKind::Assign { .. }
                | StmtKind::Update { place: Place::Var(_), .. }
                | StmtKind::Exchange { .. }
                | StmtKind::Assume { .. }
                | StmtKind::Distinct { .. }
                | StmtKind::Barrier
                | StmtKind::WarpBarrier => {}
            }
        }
    }

    /// `load s[i, j] = e;`
    fn load(&mut self, axes: &[Axis], store: &StmtKind) {
        let StmtKind::Store { access, value } = store else { return };
        let ArrayRef::Tile(tile) = access.array else { return };
        let vars: Vec<VarId> = axes.iter().map(|axis| axis.var).collect();
        let is_plain = access.indices.len() == vars.len()
            && access.indices.iter().zip(&vars).all(|(&index, &var)| {
                matches!(self.kernel.exprs[index].kind, ExprKind::Var(own) if own == var)
            });
        let is_first = !self.loads.contains_key(&tile);
        self.loads.insert(tile, (is_plain && is_first).then_some((vars, *value)));
    }

    /// The end of a loop over `0..end`, forwards and one by one.
    fn end_from_zero(&self, range: &LoopRange) -> Option<ExprId> {
        let is = |expr: ExprId, number: i128| matches!(self.kernel.exprs[expr].kind, ExprKind::Literal(Literal::Int(n)) if n == number);
        match *range {
            LoopRange::Between { start, end, step, reversed: false } => {
                (is(start, 0) && step.is_none_or(|step| is(step, 1))).then_some(end)
            }
            LoopRange::Between { .. } | LoopRange::Halving(_) | LoopRange::Doubling(_) => None,
        }
    }

    /// Whether an expression has the same value whatever the sizes are, where the
    /// coordinates of a `load` have those of `at`.
    fn is_steady(&self, expr: ExprId, at: &At<'_>) -> bool {
        let node = &self.kernel.exprs[expr];
        if node.ty == Type::Index {
            return self.is_place(expr, at);
        }
        match &node.kind {
            ExprKind::Load(access) => match access.array {
                ArrayRef::Tensor(_) => access.indices.iter().all(|&index| self.is_place(index, at)),
                ArrayRef::Tile(tile) => match self.kernel.tiles[tile].space {
                    TileSpace::Local { .. } => {
                        access.indices.iter().all(|&index| self.is_place(index, at))
                    }
                    TileSpace::Shared => {
                        let Some(Some((vars, value))) = self.loads.get(&tile) else { return false };
                        let indices = vars.iter().copied().zip(access.indices.iter().copied());
                        self.is_steady(*value, &At { vars: indices.collect(), outer: Some(at) })
                    }
                },
            },
            ExprKind::InBounds { indices, .. } => {
                indices.iter().all(|&index| self.is_place(index, at))
            }
            kind => kind.operands().into_iter().all(|operand| self.is_steady(operand, at)),
        }
    }

    /// Whether an index is a place.
    fn is_place(&self, expr: ExprId, at: &At<'_>) -> bool {
        let mut sum = Sum::default();
        if !self.add_terms(expr, at, &mut sum) {
            return false;
        }
        // Each coordinate inside a tile beside one of the tile, and none left alone.
        let Sum { mut steps, inner } = sum;
        let fits = inner.iter().all(|var| {
            let sizes = self.inner.get(var);
            let place = steps.iter().position(|size| sizes.is_some_and(|s| s.contains(size)));
            place.map(|place| steps.swap_remove(place)).is_some()
        });
        fits && steps.is_empty()
    }

    /// Adds the terms of an index; whether each is one that a place may have.
    fn add_terms(&self, expr: ExprId, at: &At<'_>, sum: &mut Sum) -> bool {
        match &self.kernel.exprs[expr].kind {
            ExprKind::Literal(_) => true,
            ExprKind::Var(var) => {
                if let Some((index, outer)) = at.find(*var) {
                    return self.add_terms(index, outer, sum);
                }
                if let Some(&init) = self.lets.get(var) {
                    return self.add_terms(init, at, sum);
                }
                if self.inner.contains_key(var) {
                    sum.inner.push(*var);
                    return true;
                }
                let is_changed = self.kernel.vars[*var].kind == VarKind::Let { mutable: true };
                !is_changed && !self.sizes.contains(var) && !self.steps.contains_key(var)
            }
            ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => {
                self.add_terms(*lhs, at, sum) && self.add_terms(*rhs, at, sum)
            }
            ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs } => {
                self.add_terms(*lhs, at, sum) && self.is_place(*rhs, at)
            }
            ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => {
                let step = self.step(*lhs, *rhs).or_else(|| self.step(*rhs, *lhs));
                sum.steps.extend(step);
                step.is_some() || (self.is_steady(*lhs, at) && self.is_steady(*rhs, at))
            }
            kind => kind.operands().into_iter().all(|operand| self.is_steady(operand, at)),
        }
    }

    /// The size of which `tile · size` is where a tile begins.
    fn step(&self, tile: ExprId, size: ExprId) -> Option<VarId> {
        match (&self.kernel.exprs[tile].kind, &self.kernel.exprs[size].kind) {
            (ExprKind::Var(tile), ExprKind::Var(size)) => {
                self.steps.get(tile).filter(|own| *own == size).copied()
            }
            _ => None,
        }
    }

    /// Whether an expression reads something of which the counter `var` says where, at
    /// an edge that the checks have looked at.
    fn reads_along(&self, expr: ExprId, var: VarId) -> bool {
        let kind = &self.kernel.exprs[expr].kind;
        let reads = match kind {
            ExprKind::Load(access) => {
                let is_along =
                    access.indices.iter().any(|&index| named(self.kernel, index).contains(&var));
                is_along && self.has_default_edge(access.array)
            }
            _ => false,
        };
        reads || kind.operands().into_iter().any(|operand| self.reads_along(operand, var))
    }

    fn has_default_edge(&self, array: ArrayRef) -> bool {
        match array {
            ArrayRef::Tensor(id) => matches!(self.kernel.tensors[id].edge, Edge::DefaultPad),
            ArrayRef::Tile(tile) => match self.loads.get(&tile) {
                Some(Some((_, value))) => self.has_default_edges(*value),
                Some(None) | None => false,
            },
        }
    }

    fn has_default_edges(&self, expr: ExprId) -> bool {
        let kind = &self.kernel.exprs[expr].kind;
        let own = match kind {
            ExprKind::Load(access) => self.has_default_edge(access.array),
            _ => true,
        };
        own && kind.operands().into_iter().all(|operand| self.has_default_edges(operand))
    }
}

/// The terms of an index.
#[derive(Default)]
struct Sum {
    /// Sizes by which coordinates of tiles are multiplied.
    steps: Vec<VarId>,
    /// Coordinates inside tiles.
    inner: Vec<VarId>,
}

/// The coordinates at which a `load` is looked at.
#[derive(Default)]
struct At<'a> {
    vars: Vec<(VarId, ExprId)>,
    outer: Option<&'a At<'a>>,
}

impl At<'_> {
    /// What a coordinate is, and the coordinates that this is said in.
    fn find(&self, var: VarId) -> Option<(ExprId, &At<'_>)> {
        let (_, index) = self.vars.iter().find(|(known, _)| *known == var)?;
        Some((*index, self.outer?))
    }
}

/// A loop around the present statement.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Loop {
    /// As often whatever the sizes are.
    Steady,
    /// Over `tiles(D, T)`, with `T`.
    Tiles(VarId),
    /// `for k in 0..T`, with `k` and `T`.
    Within(VarId, VarId),
    /// Otherwise dependent on sizes.
    Sized,
}

/// Looks at statements; each method says whether nothing depends on sizes.
struct Walk<'a, 'k> {
    names: &'a Names<'k>,
    /// Loops around the statement, with the variables that are declared in each.
    nest: Vec<(Loop, Vec<VarId>)>,
    /// Variables that were changed in loops that depend on sizes.
    changed: BTreeSet<VarId>,
}

impl Walk<'_, '_> {
    fn are_steady(&mut self, stmts: &[Stmt]) -> bool {
        stmts.iter().all(|stmt| self.is_steady(&stmt.kind))
    }

    fn is_steady(&mut self, kind: &StmtKind) -> bool {
        let here = At::default();
        let names = self.names;
        let value = |expr: ExprId| names.is_steady(expr, &here);
        match kind {
            StmtKind::Let { var, init } => {
                self.declare(*var);
                // An index is looked at where it is used.
                names.lets.contains_key(var) || init.is_none_or(value)
            }
            StmtKind::LetArray { init, .. } => init.is_none_or(value),
            StmtKind::Assign { var, value: new } => value(*new) && self.changes(*var, *new),
            StmtKind::Update { place: Place::Var(var), value: new, .. } => {
                value(*new) && self.changes(*var, *new)
            }
            StmtKind::Store { access, value: new } => {
                let is_tensor = matches!(access.array, ArrayRef::Tensor(_));
                // What is stored in a tile is looked at where it is read.
                let indices = || access.indices.iter().all(|&index| names.is_place(index, &here));
                value(*new) && (!is_tensor || indices()) && !self.is_in_sized_loop()
            }
            StmtKind::Update { place: Place::Element(access), value: new, .. }
            | StmtKind::Atomic { access, value: new, .. } => {
                let is_place = access.indices.iter().all(|&index| names.is_place(index, &here));
                value(*new) && is_place && !self.is_in_sized_loop()
            }
            // Which work-items meet is a matter of sizes.
            StmtKind::Exchange { .. } => false,
            StmtKind::Each { origin: EachOrigin::Load, .. } => true,
            StmtKind::Each { body, .. } => self.are_steady(body),
            StmtKind::Phase { var, range, body } | StmtKind::For { var, range, body } => {
                let what = self.of_loop(*var, range);
                self.nested(what, body)
            }
            StmtKind::While { cond, body } => value(*cond) && self.nested(Loop::Steady, body),
            StmtKind::If { cond, then, otherwise } => {
                value(*cond) && self.are_steady(then) && self.are_steady(otherwise)
            }
            StmtKind::Assume { .. }
            | StmtKind::Distinct { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => true,
        }
    }

    fn nested(&mut self, what: Loop, body: &[Stmt]) -> bool {
        self.nest.push((what, Vec::new()));
        let is_steady = self.are_steady(body);
        self.nest.pop();
        is_steady
    }

    fn of_loop(&self, var: VarId, range: &LoopRange) -> Loop {
        let names = self.names;
        if let Some(size) = names.steps.get(&var) {
            return Loop::Tiles(*size);
        }
        let end = names.end_from_zero(range).map(|end| &names.kernel.exprs[end].kind);
        if let Some(ExprKind::Var(size)) = end
            && names.sizes.contains(size)
        {
            return Loop::Within(var, *size);
        }
        let here = At::default();
        let is_steady = range.exprs().into_iter().all(|expr| names.is_place(expr, &here));
        if is_steady { Loop::Steady } else { Loop::Sized }
    }

    fn declare(&mut self, var: VarId) {
        if let Some((_, declared)) = self.nest.last_mut() {
            declared.push(var);
        }
    }

    fn is_in_sized_loop(&self) -> bool {
        self.nest.iter().any(|(what, _)| *what != Loop::Steady)
    }

    /// A variable is changed: how often and in which order, the loops say since it was
    /// declared.
    fn changes(&mut self, var: VarId, value: ExprId) -> bool {
        let declared = self.nest.iter().position(|(_, declared)| declared.contains(&var));
        let inside = self.nest.iter().skip(declared.map_or(0, |at| at + 1)).map(|(what, _)| *what);
        let sized: Vec<Loop> = inside.filter(|what| *what != Loop::Steady).collect();
        match sized.as_slice() {
            [] => true,
            [Loop::Tiles(outer), Loop::Within(counter, inner)] if outer == inner => {
                let is_all = self.names.kernel.exits.is_empty();
                is_all && self.changed.insert(var) && self.names.reads_along(value, *counter)
            }
            _ => false,
        }
    }
}
