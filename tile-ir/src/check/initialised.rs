//! TK0501: a variable or a tile that may be read before it is written.
//!
//! A variable must have been assigned on every path to its use. A tile's cell
//! must have been written on every path; that it was is shown by one of:
//!
//! 1. a statement before it writes the whole tile: a `load`, an `each`, all
//!    work-items together, or loops within these or shared out among them, whose
//!    indices run over the tile's extents;
//! 2. the same work-item (or the same point of an `each`) has written an element
//!    with equal indices;
//! 3. one work-item, picked by `if tx == 0`, has written the cell or, with the
//!    others of its row, the whole tile;
//! 4. every work-item has written a cell of its own, and there are as many.
//!
//! Loops may run zero times, unless their trip count is provably at least 1.
//! What none of these shows is decided by running the kernel's skeleton at small
//! sizes ([`crate::solve::skeleton`]): a read of a cell that nobody has written is
//! the finding. Without such a read the tile is accepted: a part that is left out
//! is left out at small sizes too, in one of the blocks that a comparison may ask for.
//! Where no run comes to its end, it is an error.
//! That the write and the read are ordered is the business of the race rules.
//!
//! A `let` without `mut` that gets its value later gets it once (TK0105).

use std::collections::{BTreeMap, BTreeSet};

use super::fold::Folds;
use super::poly::{Bounds, Poly, assigned_in};
use super::strided::Strided;
use super::taken::Taken;
use super::uniform::Uniformity;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::kernel::{
    Access, ArrayRef, Axis, ExprId, ExprKind, Kernel, Literal, LoopRange, Place, Stmt, StmtKind,
    TileId, VarId, VarKind, print_access,
};
use crate::op::{CompareOp, LogicOp};
use crate::solve::skeleton::{Fills, Unwritten, Worker};
use crate::span::SpanId;

/// Whether the text shows that whatever is read has been written.
pub(super) fn is_shown(kernel: &Kernel, facts: (&Uniformity, &Folds)) -> bool {
    let mut diags = Diagnostics::new();
    check_initialised(kernel, facts, &Fills::default(), &BTreeSet::new(), &mut diags);
    !diags.has_errors()
}

/// Reports every variable and tile that may be read before it is written; not the
/// tiles that are `stray`: where an access leaves a tile, that comes first.
pub(super) fn check_initialised(
    kernel: &Kernel,
    (uniform, folds): (&Uniformity, &Folds),
    fills: &Fills,
    stray: &BTreeSet<ArrayRef>,
    diags: &mut Diagnostics,
) {
    let mut cx = Flow {
        kernel,
        uniform,
        folds,
        fills,
        taken: Taken::of(kernel, uniform),
        bounds: Bounds::new(kernel),
        divergent: false,
        in_each: false,
        maybe_empty: BTreeSet::new(),
        by_condition: BTreeSet::new(),
        starts: BTreeMap::new(),
        reported_tiles: kernel
            .tiles
            .ids()
            .filter(|tile| stray.contains(&ArrayRef::Tile(*tile)))
            .collect(),
        reported_vars: BTreeSet::new(),
        diags,
    };
    cx.walk(&kernel.body, &mut State::default());
}

/// What was written on every path so far.
#[derive(Clone, Debug, Default)]
struct State {
    assigned: BTreeSet<VarId>,
    /// Assigned on some path.
    maybe_assigned: BTreeSet<VarId>,
    tiles: BTreeMap<TileId, Written>,
}

/// The cells of a tile that were written.
#[derive(Clone, Debug, Default)]
struct Written {
    /// All of them.
    whole: bool,
    /// Those with these indices, by this very work-item or point.
    own: BTreeSet<Vec<Poly>>,
    /// Those with these indices, which are the same for the whole block.
    common: BTreeSet<Vec<Poly>>,
}

impl State {
    /// What holds whichever of two paths was taken.
    fn join(&mut self, other: Self) {
        self.assigned.retain(|var| other.assigned.contains(var));
        self.maybe_assigned.extend(other.maybe_assigned);
        for (tile, written) in &mut self.tiles {
            let Some(others) = other.tiles.get(tile) else {
                *written = Written::default();
                continue;
            };
            let covers =
                |set: &BTreeSet<Vec<Poly>>, cell: &Vec<Poly>| others.whole || set.contains(cell);
            if written.whole && !others.whole {
                *written = others.clone();
            } else {
                written.own.retain(|cell| covers(&others.own, cell));
                written.common.retain(|cell| covers(&others.common, cell));
            }
        }
    }

    /// A counter or a point's index ends: cells named by it are named no more.
    fn end_var(&mut self, var: VarId) {
        for written in self.tiles.values_mut() {
            written.own.retain(|cell| !cell.iter().any(|index| index.mentions(var)));
            written.common.retain(|cell| !cell.iter().any(|index| index.mentions(var)));
        }
    }
}

struct Flow<'a> {
    kernel: &'a Kernel,
    uniform: &'a Uniformity,
    folds: &'a Folds,
    /// What running the kernel at small sizes has shown.
    fills: &'a Fills,
    taken: Taken<'a>,
    bounds: Bounds<'a>,
    /// Whether only some of the work-items (or points) may be here.
    divergent: bool,
    in_each: bool,
    /// The keywords of loops that may run zero times.
    maybe_empty: BTreeSet<SpanId>,
    /// The keywords of `while` loops.
    by_condition: BTreeSet<SpanId>,
    /// By keyword, with what value a `while` loop's counter comes to it.
    starts: BTreeMap<SpanId, Poly>,
    reported_tiles: BTreeSet<TileId>,
    reported_vars: BTreeSet<VarId>,
    diags: &'a mut Diagnostics,
}

impl Flow<'_> {
    fn walk(&mut self, stmts: &[Stmt], state: &mut State) {
        for stmt in stmts {
            self.walk_stmt(stmt, state);
        }
    }

    fn walk_stmt(&mut self, stmt: &Stmt, state: &mut State) {
        match &stmt.kind {
            StmtKind::Let { var, init } => {
                let Some(init) = init else {
                    // In a loop it is a fresh variable each time.
                    state.assigned.remove(var);
                    state.maybe_assigned.remove(var);
                    self.bounds.forget(*var);
                    return;
                };
                self.read(*init, state);
                state.assigned.insert(*var);
                self.set_value(*var, *init);
            }
            StmtKind::LetArray { tile, init } => {
                self.read_all(init.as_slice(), state);
                let written = Written { whole: init.is_some(), ..Written::default() };
                state.tiles.insert(*tile, written);
            }
            StmtKind::Assign { var, value } => {
                self.read(*value, state);
                self.check_once(*var, stmt.span, state);
                state.assigned.insert(*var);
                state.maybe_assigned.insert(*var);
                self.set_value(*var, *value);
            }
            StmtKind::Store { access, value } => {
                self.read_all(&access.indices, state);
                self.read(*value, state);
                self.write(access, state);
            }
            StmtKind::Update { place: Place::Var(var), value, .. } => {
                self.read(*value, state);
                self.read_var(*var, stmt.span, state);
                self.bounds.forget(*var);
            }
            StmtKind::Update { place: Place::Element(access), value, .. } => {
                self.read_all(&access.indices, state);
                self.read(*value, state);
                self.read_access(access, state);
            }
            StmtKind::Exchange { var, value, lane, .. } => {
                self.read(*value, state);
                lane.iter().for_each(|lane| self.read(*lane, state));
                state.assigned.insert(*var);
            }
            StmtKind::Atomic { access, expected, value, old, .. } => {
                self.read_all(&access.indices, state);
                self.read_all(expected.as_slice(), state);
                self.read(*value, state);
                self.read_access(access, state);
                if let Some(old) = *old {
                    state.assigned.insert(old);
                    self.bounds.forget(old);
                }
            }
            StmtKind::Each { axes, body, .. } => self.walk_each(axes, body, state),
            StmtKind::Phase { var, range, body } | StmtKind::For { var, range, body } => {
                self.walk_loop(*var, range, (stmt.head, body), state);
            }
            StmtKind::While { cond, body } => {
                if let Some(found) = Strided::of(self.kernel, *cond, body) {
                    let start = self.bounds.poly(found.bounds.0);
                    self.starts.insert(stmt.head, start);
                }
                self.forget_all(body);
                self.read(*cond, state);
                let mut inside = state.clone();
                self.walk_divided(*cond, body, &mut inside);
                self.by_condition.insert(stmt.head);
                state.maybe_assigned.extend(inside.maybe_assigned);
                self.forget_all(body);
            }
            StmtKind::If { cond, then, otherwise } => {
                self.read(*cond, state);
                if let Some(holds) = self.folds.get(*cond) {
                    return self.walk(if holds { then } else { otherwise }, state);
                }
                let mut other = state.clone();
                self.walk_divided(*cond, then, state);
                self.walk_divided(*cond, otherwise, &mut other);
                self.forget_all(then);
                self.forget_all(otherwise);
                state.join(other);
                self.write_picked(*cond, then, state);
            }
            StmtKind::Assume { cond } => self.read(*cond, state),
            StmtKind::Barrier | StmtKind::WarpBarrier => {}
        }
        self.write_whole(stmt, state);
    }

    fn set_value(&mut self, var: VarId, value: ExprId) {
        if self.bounds.is_index(value) {
            let value = self.bounds.poly(value);
            self.bounds.set(var, value);
        }
    }

    fn forget_all(&mut self, stmts: &[Stmt]) {
        for var in assigned_in(stmts) {
            self.bounds.forget(var);
        }
    }

    /// Statements that a condition or a bound decides on.
    fn walk_divided(&mut self, cond: ExprId, stmts: &[Stmt], state: &mut State) {
        let outer = self.divergent;
        self.divergent |= !self.uniform.is_uniform_value(cond);
        self.walk(stmts, state);
        self.divergent = outer;
    }

    fn walk_each(&mut self, axes: &[Axis], body: &[Stmt], state: &mut State) {
        let (divergent, in_each) = (self.divergent, self.in_each);
        (self.divergent, self.in_each) = (false, true);
        self.bounds.enter(axes);
        let mut inside = state.clone();
        self.walk(body, &mut inside);
        (self.divergent, self.in_each) = (divergent, in_each);
    }

    fn walk_loop(
        &mut self,
        var: VarId,
        range: &LoopRange,
        (head, body): (SpanId, &[Stmt]),
        state: &mut State,
    ) {
        self.read_all(&range.exprs(), state);
        let length = self.length(range);
        if let Some(length) = &length
            && counts_from_0(self.kernel, range)
        {
            self.bounds.enter_counter(var, length.clone());
        }
        self.forget_all(body);
        let mut inside = state.clone();
        inside.maybe_assigned.extend(assigned_in(body));
        let outer = self.divergent;
        let bounds = range.exprs();
        self.divergent |= !bounds.into_iter().all(|bound| self.uniform.is_uniform_value(bound));
        self.walk(body, &mut inside);
        self.divergent = outer;
        self.forget_all(body);
        inside.end_var(var);
        state.maybe_assigned.extend(inside.maybe_assigned.iter().copied());
        if length.is_some_and(|length| self.bounds.is_positive(&length)) {
            *state = inside;
        } else {
            self.maybe_empty.insert(head);
        }
    }

    /// What is at least 1 where a loop runs at all; of step 1, how often it runs.
    fn length(&mut self, range: &LoopRange) -> Option<Poly> {
        match *range {
            LoopRange::Between { start, end, step, .. } => {
                let is_upward = |step: ExprId| {
                    let kind = &self.kernel.exprs[step].kind;
                    matches!(kind, ExprKind::Literal(Literal::Int(step)) if *step > 0)
                };
                step.is_none_or(is_upward).then(|| {
                    let start = self.bounds.poly(start);
                    self.bounds.poly(end).sub(&start)
                })
            }
            LoopRange::Halving(n) | LoopRange::Doubling(n) => {
                Some(self.bounds.poly(n).sub(&Poly::constant(1)))
            }
        }
    }
}

/// Whether a loop's counter takes the values 0, 1, 2, …, in any order.
fn counts_from_0(kernel: &Kernel, range: &LoopRange) -> bool {
    match range {
        LoopRange::Between { start, step: None, .. } => {
            kernel.exprs[*start].kind == ExprKind::Literal(Literal::Int(0))
        }
        LoopRange::Between { .. } | LoopRange::Halving(_) | LoopRange::Doubling(_) => false,
    }
}

/// How often a statement runs.
#[derive(Clone, Debug)]
struct Runs {
    /// By some of the work-items only: it can write whole local arrays alone.
    apart: bool,
    /// For every value of these: the block's axes, or an `each`'s.
    items: Vec<VarId>,
    /// For every value of these counters, one after the other.
    loops: Vec<VarId>,
    /// Only where these axes have these values.
    pinned: Vec<(VarId, Poly)>,
}

/// Writes.
impl Flow<'_> {
    fn write(&mut self, access: &Access, state: &mut State) {
        let ArrayRef::Tile(tile) = access.array else { return };
        let cell = access.indices.iter().map(|index| self.bounds.poly(*index)).collect();
        let written = state.tiles.entry(tile).or_default();
        written.own.insert(cell);
    }

    /// Marks the tiles that a statement, run by all work-items or points, has
    /// written whole.
    fn write_whole(&mut self, stmt: &Stmt, state: &mut State) {
        let apart = self.divergent || self.in_each;
        let items = if apart { Vec::new() } else { self.block_vars() };
        let runs = Runs { apart, items, loops: Vec::new(), pinned: Vec::new() };
        self.mark_whole(std::slice::from_ref(stmt), &runs, state);
    }

    fn block_vars(&self) -> Vec<VarId> {
        self.kernel.block.iter().flatten().map(|axis| axis.var).collect()
    }

    /// Marks what `stmts` write whole as they run.
    fn mark_whole(&mut self, stmts: &[Stmt], runs: &Runs, state: &mut State) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Store { access, .. } => self.mark_store(access, runs, state),
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
                    }
                }
                StmtKind::While { cond, body } => {
                    let found = Strided::of(self.kernel, *cond, body);
                    let Some((found, start)) = found.zip(self.starts.get(&stmt.head).cloned())
                    else {
                        continue;
                    };
                    let [end, step] =
                        [found.bounds.1, found.step].map(|bound| self.bounds.poly(bound));
                    if let Some((runs, end)) = self.strided(found.var, [start, end, step], runs) {
                        self.bounds.set(found.var, Poly::var(found.var));
                        self.bounds.enter_counter(found.var, end);
                        self.mark_whole(found.body, &runs, state);
                        self.bounds.forget(found.var);
                    }
                }
                StmtKind::Phase { .. }
                | StmtKind::Let { .. }
                | StmtKind::LetArray { .. }
                | StmtKind::Assign { .. }
                | StmtKind::Update { .. }
                | StmtKind::Atomic { .. }
                | StmtKind::Exchange { .. }
                | StmtKind::If { .. }
                | StmtKind::Assume { .. }
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
        let of_others = if is_local { !runs.pinned.is_empty() } else { runs.apart };
        if of_others {
            return;
        }
        let pin = |var: VarId| {
            let pinned = runs.pinned.iter().find(|(other, _)| *other == var);
            pinned.map(|(_, value)| value.clone())
        };
        let cell: Vec<Poly> =
            access.indices.iter().map(|index| self.bounds.poly(*index).replace(&pin)).collect();
        let extents = self.kernel.tiles[tile].extents.iter();
        let extents: Vec<Poly> = extents.map(|extent| self.bounds.poly(*extent)).collect();
        let items = runs.items.iter().filter(|_| !is_local);
        let axes: Vec<VarId> = items.chain(&runs.loops).copied().collect();
        let mut free = axes.clone();
        let covers = cell
            .iter()
            .zip(&extents)
            .all(|(index, extent)| index_covers(&self.bounds, index, extent, &mut free));
        // What the cell does not name must run at all for it to be written.
        let is_run = |var: &VarId| {
            self.bounds.extent(*var).is_some_and(|extent| self.bounds.is_positive(extent))
        };
        let written = state.tiles.entry(tile).or_default();
        written.whole |= covers && free.iter().all(is_run);
        let is_common = |index: &Poly| !axes.iter().any(|axis| index.mentions(*axis));
        if !runs.pinned.is_empty() && axes.iter().all(is_run) && cell.iter().all(is_common) {
            written.common.insert(cell);
        }
    }

    /// What `if tx == 0 { … }` writes: one work-item along the axis does it, and
    /// always the same.
    fn write_picked(&mut self, cond: ExprId, then: &[Stmt], state: &mut State) {
        if self.divergent || self.in_each {
            return;
        }
        let mut pinned = Vec::new();
        if !self.pins(cond, &mut pinned) {
            return;
        }
        let items = self.block_vars().into_iter();
        let items = items.filter(|axis| !pinned.iter().any(|(other, _)| other == axis)).collect();
        let runs = Runs { apart: false, items, loops: Vec::new(), pinned };
        self.mark_whole(then, &runs, state);
    }

    /// Whether a condition says no more than that axes of the block have certain
    /// values that they do take.
    fn pins(&mut self, cond: ExprId, out: &mut Vec<(VarId, Poly)>) -> bool {
        match self.kernel.exprs[cond].kind {
            ExprKind::Logic { op: LogicOp::And, lhs, rhs } => {
                self.pins(lhs, out) && self.pins(rhs, out)
            }
            ExprKind::Compare { op: CompareOp::Eq, lhs, rhs } if self.bounds.is_index(lhs) => {
                let (lhs, rhs) = (self.bounds.poly(lhs), self.bounds.poly(rhs));
                let block = self.block_vars();
                let (axis, value) = match (lhs.as_var(), rhs.as_var()) {
                    (Some(var), _) if block.contains(&var) => (var, rhs),
                    (_, Some(var)) if block.contains(&var) => (var, lhs),
                    _ => return false,
                };
                let fixed = !block.iter().any(|var| value.mentions(*var));
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

/// Reads.
impl Flow<'_> {
    fn read_all(&mut self, ids: &[ExprId], state: &State) {
        for id in ids {
            self.read(*id, state);
        }
    }

    fn read(&mut self, id: ExprId, state: &State) {
        let expr = &self.kernel.exprs[id];
        self.read_all(&expr.kind.operands(), state);
        match &expr.kind {
            ExprKind::Var(var) => self.read_var(*var, expr.span, state),
            ExprKind::Load(access) => self.read_access(access, state),
            ExprKind::Literal(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Cast(_)
            | ExprKind::Uniform(_)
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => {}
        }
    }

    fn read_var(&mut self, var: VarId, span: SpanId, state: &State) {
        let declared = &self.kernel.vars[var];
        let is_let = matches!(declared.kind, VarKind::Let { .. });
        if !is_let || state.assigned.contains(&var) || !self.reported_vars.insert(var) {
            return;
        }
        let name = &declared.name;
        let message = if state.maybe_assigned.contains(&var) {
            format!("`{name}` has no value on some path to here")
        } else {
            format!("`{name}` has no value yet")
        };
        self.diags.push(
            Diagnostic::error(Code::Uninitialised, span, message)
                .label(declared.span, format!("`{name}` is declared here without a value")),
        );
    }

    /// A second value for a `let` that is not `mut`.
    fn check_once(&mut self, var: VarId, span: SpanId, state: &State) {
        let declared = &self.kernel.vars[var];
        let once = declared.kind == VarKind::Let { mutable: false };
        if !once || !state.maybe_assigned.contains(&var) || !self.reported_vars.insert(var) {
            return;
        }
        let name = &declared.name;
        let message = format!("`{name}` is not `mut` and may have a value already");
        self.diags.push(
            Diagnostic::error(Code::NotAssignable, span, message)
                .label(declared.span, format!("`{name}` is declared here"))
                .help(format!("declare it as `let mut {name}`")),
        );
    }

    fn read_access(&mut self, access: &Access, state: &State) {
        let ArrayRef::Tile(tile) = access.array else { return };
        if let Some(written) = state.tiles.get(&tile) {
            let cell: Vec<Poly> =
                access.indices.iter().map(|index| self.bounds.poly(*index)).collect();
            if written.whole || written.own.contains(&cell) || written.common.contains(&cell) {
                return;
            }
        }
        let example =
            self.fills.unwritten.iter().find(|unwritten| unwritten.site.span == access.span);
        if example.is_none() && self.fills.run.contains(&tile) {
            return;
        }
        if self.taken.is_written(tile, access) {
            return;
        }
        if self.reported_tiles.insert(tile) {
            self.report_tile(tile, access, example);
        }
    }

    fn report_tile(&mut self, tile: TileId, access: &Access, example: Option<&Unwritten>) {
        let name = &self.kernel.tiles[tile].name;
        let mut writes = Vec::new();
        collect_writes(&self.kernel.body, tile, &mut Vec::new(), &mut writes);
        let Some((write, around)) = writes.first() else {
            let message = format!("`{name}` is read and never written");
            let diagnostic = Diagnostic::error(Code::Uninitialised, access.span, message);
            self.diags.push(diagnostic.label(self.kernel.tiles[tile].span, "it is declared here"));
            return;
        };
        let position = |span| {
            let range = self.kernel.spans.range(span);
            (range.line, range.column)
        };
        // Statements around the write but not around the read may be passed by.
        let mut passed = around.iter().filter(|stmt| !is_in(self.kernel, access.span, stmt));
        let empty = passed.clone().find_map(|stmt| {
            let text = if self.maybe_empty.contains(&stmt.head) {
                "this loop may run zero times"
            } else if self.by_condition.contains(&stmt.head) {
                "this loop was not shown to write every cell before it ends"
            } else {
                return None;
            };
            Some((stmt.head, text))
        });
        let is_conditional = passed.any(|stmt| matches!(stmt.kind, StmtKind::If { .. }));
        let text = if position(*write) > position(access.span) {
            format!("`{name}` is written only here")
        } else if empty.is_some() {
            format!("`{name}` is written here")
        } else if is_conditional {
            format!("`{name}` is written here, under a condition")
        } else {
            format!("this was not shown to write every cell of `{name}`")
        };
        let message =
            format!("`{}` may be read before it is written", print_access(self.kernel, access));
        let mut diagnostic =
            Diagnostic::error(Code::Uninitialised, access.span, message).label(*write, text);
        if let Some((head, text)) = empty {
            diagnostic = diagnostic.label(head, text);
        }
        if let Some(example) = example {
            diagnostic = diagnostic.note(self.tell(name, example));
        }
        let help = match self.kernel.is_local(access.array) {
            true => format!("give it a first value: `let mut {name}: […] = [0; …];`"),
            false => format!("fill it first: `load {name}[…] = …;`"),
        };
        self.diags.push(diagnostic.help(help));
    }
}

impl Flow<'_> {
    /// An example in words.
    fn tell(&self, name: &str, example: &Unwritten) -> String {
        let values = |values: &[(VarId, i64)]| -> String {
            let texts = values
                .iter()
                .map(|(var, value)| format!("{} = {value}", self.kernel.vars[*var].name));
            texts.collect::<Vec<_>>().join(", ")
        };
        let who = match &example.party.worker {
            Worker::Item(at) => format!("work-item ({})", values(at)),
            Worker::Point(_, at) => format!("the point ({})", values(at)),
            Worker::Body => "the block".to_owned(),
        };
        let element: Vec<String> = example.element.iter().map(ToString::to_string).collect();
        let mut text = format!("{who} reads `{name}[{}]`", element.join(", "));
        if !example.party.counters.is_empty() {
            text = format!("{text} at {}", values(&example.party.counters));
        }
        if !example.sizes.is_empty() {
            text = format!("with {}, {text}", values(&example.sizes));
        }
        format!("{text}, which nobody has written")
    }
}

/// The writes to a tile, with the statements around each.
fn collect_writes<'a>(
    stmts: &'a [Stmt],
    tile: TileId,
    around: &mut Vec<&'a Stmt>,
    out: &mut Vec<(SpanId, Vec<&'a Stmt>)>,
) {
    for stmt in stmts {
        if let StmtKind::Store { access, .. } = &stmt.kind
            && access.array == ArrayRef::Tile(tile)
        {
            out.push((access.span, around.clone()));
        }
        around.push(stmt);
        for body in stmt.kind.bodies() {
            collect_writes(body, tile, around, out);
        }
        around.pop();
    }
}

/// Whether `span` stands within a statement.
fn is_in(kernel: &Kernel, span: SpanId, stmt: &Stmt) -> bool {
    let (at, range) = (kernel.spans.range(span), kernel.spans.range(stmt.span));
    (range.line, range.column) <= (at.line, at.column)
        && (at.end_line, at.end_column) <= (range.end_line, range.end_column)
}
