//! What the work-item does that a cell names.
//!
//! `if any(r > 5) { if r > 5 { atomic lead[0].swap(t); } barrier; if uniform(lead[0]) == t { … } … }`:
//! somebody has `r > 5`, so the cell holds the number of one of those who have, nobody knows
//! whose. That one comes by the second condition too and finds its own number, so what stands
//! under it is done by somebody.
//!
//! # What it rests on
//!
//! - The cell was set by all of the block, by those with a condition that the block knows
//!   somebody to have, or by one that its coordinates pick; by `compare_exchange`, where the
//!   cell held what is asked for. Nobody has set it since.
//! - What was stored, and what the cell is compared with, is one integer of a work-item for the
//!   whole launch: of its coordinates, scalars, and elements that nobody writes. How many have
//!   the same one is the business of the race rules, and so is it that the stores are over when
//!   the cell is read.
//! - A condition is of variables that nobody has assigned in between.

use std::collections::{BTreeMap, BTreeSet};

use super::Flow;
use super::state::State;
use super::writes::Runs;
use crate::exchange::{ExchangeOp, Reduction};
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, Literal, Place, Stmt, StmtKind, TileId, VarId,
    VarKind, any_stmt, any_subexpr,
};
use crate::op::{AtomicOp, CompareOp, UnaryOp};

/// Least number up to which a type must go for no coordinate to wrap in it.
const MAX_COORDINATE: i128 = i32::MAX as i128;

/// A cell of a tile at numbers.
pub(super) type Cell = (TileId, Vec<i128>);

/// What somebody has stored, as it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    value: ExprId,
    /// Whether it is read in another type.
    is_cast: bool,
}

/// What is known of numbers that somebody has stored in a cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Elections {
    /// What one of the work-items that came by has stored.
    cells: BTreeMap<Cell, ExprId>,
    /// The variables that hold what a cell held.
    found: BTreeMap<VarId, Held>,
    /// The conditions of which variables say whether somebody has them.
    asked: BTreeMap<VarId, ExprId>,
    /// The conditions that somebody has.
    had: BTreeSet<ExprId>,
}

impl Elections {
    /// What holds whichever of two paths was taken.
    pub(super) fn join(&mut self, other: &Self) {
        self.cells.retain(|cell, value| other.cells.get(cell) == Some(value));
        self.found.retain(|var, value| other.found.get(var) == Some(value));
        self.asked.retain(|var, cond| other.asked.get(var) == Some(cond));
        self.had.retain(|cond| other.had.contains(cond));
    }

    /// Cells hold what somebody has stored.
    pub(super) fn set(&mut self, elected: Vec<(Cell, ExprId)>) {
        self.cells.extend(elected);
    }

    /// A variable has another value.
    fn forget_var(&mut self, kernel: &Kernel, var: VarId) {
        let names = |expr: ExprId| {
            any_subexpr(kernel, expr, &mut |kind| matches!(kind, ExprKind::Var(of) if *of == var))
        };
        self.found.remove(&var);
        self.asked.retain(|of, cond| *of != var && !names(*cond));
        self.had.retain(|cond| !names(*cond));
    }

    /// Somebody may set a cell of a tile: the one at these numbers, or any.
    fn forget_cell(&mut self, tile: TileId, at: Option<&Vec<i128>>) {
        self.cells.retain(|(of, cell), _| *of != tile || at.is_some_and(|at| at != cell));
    }
}

impl Flow<'_> {
    /// What a statement changes, once what it evaluates has been read.
    pub(super) fn follow_elections(&self, stmt: &Stmt, state: &mut State) {
        let elections = &mut state.elections;
        let is_for_all = !self.divergent && !self.in_each;
        match &stmt.kind {
            StmtKind::Let { var, init } => {
                self.assign(*var, init.filter(|_| is_for_all), elections);
            }
            StmtKind::Assign { var, value } => {
                self.assign(*var, Some(*value).filter(|_| is_for_all), elections);
            }
            StmtKind::Exchange { var, op, value, .. } => {
                elections.forget_var(self.kernel, *var);
                if *op == ExchangeOp::Reduce(Reduction::Any) && self.is_steady(*value) {
                    elections.asked.insert(*var, *value);
                }
            }
            StmtKind::Store { .. } | StmtKind::Atomic { .. } | StmtKind::Update { .. } => {
                let own = self.elected_by(stmt, elections).filter(|_| is_for_all);
                self.forget_elections(std::slice::from_ref(stmt), elections);
                elections.cells.extend(own);
            }
            StmtKind::LetArray { .. }
            | StmtKind::Each { .. }
            | StmtKind::Phase { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Distinct { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => {}
        }
    }

    fn assign(&self, var: VarId, value: Option<ExprId>, elections: &mut Elections) {
        let held = value.and_then(|value| self.held_by(value, elections));
        elections.forget_var(self.kernel, var);
        elections.found.extend(held.map(|held| (var, held)));
    }

    /// Before a loop, and where it is left: what is set in it is not what was.
    pub(super) fn forget_elections(&self, stmts: &[Stmt], elections: &mut Elections) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Store { access, .. }
                | StmtKind::Update { place: Place::Element(access), .. }
                | StmtKind::Atomic { access, .. } => {
                    let at = self.cell_of(access).map(|(_, at)| at);
                    if let ArrayRef::Tile(tile) = access.array {
                        elections.forget_cell(tile, at.as_ref());
                    }
                }
                _ => {}
            }
            let var = match &stmt.kind {
                StmtKind::Let { var, .. }
                | StmtKind::Assign { var, .. }
                | StmtKind::Update { place: Place::Var(var), .. }
                | StmtKind::Exchange { var, .. }
                | StmtKind::Phase { var, .. }
                | StmtKind::For { var, .. } => Some(*var),
                StmtKind::Atomic { old, .. } => *old,
                _ => None,
            };
            var.into_iter().for_each(|var| elections.forget_var(self.kernel, var));
            let bodies = stmt.kind.bodies();
            bodies.into_iter().for_each(|body| self.forget_elections(body, elections));
        }
    }

    /// What a condition says of others where it holds, or does not.
    pub(super) fn enter_elected(&self, cond: ExprId, holds: bool, state: &mut State) {
        match self.kernel.exprs[cond].kind {
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                self.enter_elected(operand, !holds, state);
            }
            ExprKind::Var(var) if holds => {
                let had = state.elections.asked.get(&var).copied();
                state.elections.had.extend(had);
            }
            _ => {}
        }
    }

    /// What cells hold after `if cond { then }`, of which somebody makes the stores.
    pub(super) fn elected_under(
        &mut self,
        cond: ExprId,
        [then, otherwise]: [&[Stmt]; 2],
        elections: &Elections,
    ) -> Vec<(Cell, ExprId)> {
        if self.divergent || self.in_each {
            return Vec::new();
        }
        let meant = |expr| self.meant(expr);
        let is_had = |had: &ExprId| self.kernel.is_same_by(*had, cond, &meant);
        let somebody = self.is_steady(cond) && elections.had.iter().any(is_had);
        if !somebody && !self.pins(cond, &mut Vec::new()) {
            return Vec::new();
        }
        let all = then.iter().filter_map(|stmt| self.elected_by(stmt, elections));
        let is_alone = |((tile, _), _): &(Cell, ExprId)| {
            let array = Some(ArrayRef::Tile(*tile));
            let sets = |stmts| {
                let mut count = 0;
                any_stmt(stmts, &mut |kind| {
                    count += usize::from(kind.written() == array);
                    false
                });
                count
            };
            sets(then) == 1 && sets(otherwise) == 0
        };
        all.filter(is_alone).collect()
    }

    /// What a statement leaves in a cell if somebody makes it.
    fn elected_by(&self, stmt: &Stmt, elections: &Elections) -> Option<(Cell, ExprId)> {
        let (access, value) = match &stmt.kind {
            StmtKind::Store { access, value }
            | StmtKind::Atomic { access, op: AtomicOp::Swap, value, .. } => (access, *value),
            StmtKind::Atomic {
                access,
                op: AtomicOp::CompareExchange,
                expected: Some(expected),
                value,
                ..
            } => {
                let held = elections.cells.get(&self.cell_of(access)?)?;
                let number = self.number_of(*held)?;
                (self.number_of(*expected) == Some(number)).then_some((access, *value))?
            }
            _ => return None,
        };
        let is_integer = self.kernel.exprs[value].ty.integer_range().is_some();
        (is_integer && self.is_fixed(value)).then_some((self.cell_of(access)?, value))
    }

    /// What `if lead[0] == t { … }` writes: one work-item does it, which may be any.
    pub(super) fn write_of_elected(
        &mut self,
        cond: ExprId,
        [then, otherwise]: [&[Stmt]; 2],
        (before, state): (&Elections, &mut State),
    ) {
        if self.divergent || self.in_each {
            return;
        }
        let Some(holds) = self.is_of_elected(cond, before) else { return };
        let runs = Runs { is_of_any: true, ..Runs::default() };
        self.mark_whole(if holds { then } else { otherwise }, &runs, state);
    }

    /// Whether it is where a condition holds, or does not, that somebody is named.
    fn is_of_elected(&self, cond: ExprId, elections: &Elections) -> Option<bool> {
        match self.kernel.exprs[cond].kind {
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                Some(!self.is_of_elected(operand, elections)?)
            }
            ExprKind::Compare { op: op @ (CompareOp::Eq | CompareOp::Ne), lhs, rhs } => {
                let is_named = [(lhs, rhs), (rhs, lhs)].into_iter().any(|(cell, own)| {
                    self.held_by(cell, elections).is_some_and(|held| self.is_one_number(held, own))
                });
                is_named.then_some(op == CompareOp::Eq)
            }
            _ => None,
        }
    }

    /// Whether a work-item that has stored what is read finds that it is `own`.
    fn is_one_number(&self, held: Held, own: ExprId) -> bool {
        if held.is_cast {
            let [held, own] = [held.value, own].map(|expr| self.coordinate(expr));
            return held.is_some() && held == own;
        }
        self.is_fixed(own) && self.kernel.is_same_by(held.value, own, &|expr| self.meant(expr))
    }

    /// The coordinate that an expression gives in types that have room for it.
    fn coordinate(&self, expr: ExprId) -> Option<VarId> {
        let expr = self.meant(expr);
        match self.kernel.exprs[expr].kind {
            ExprKind::Cast(operand) if self.has_room(expr) => self.coordinate(operand),
            ExprKind::Var(var) if self.kernel.vars[var].kind == VarKind::Block => Some(var),
            _ => None,
        }
    }

    /// Whether no coordinate wraps in the type of an expression.
    fn has_room(&self, expr: ExprId) -> bool {
        let range = self.kernel.exprs[expr].ty.integer_range();
        self.bounds.is_index(expr) || range.is_some_and(|(_, max)| max >= MAX_COORDINATE)
    }

    /// What somebody has stored in the cell that an expression reads, or has read.
    fn held_by(&self, expr: ExprId, elections: &Elections) -> Option<Held> {
        match &self.kernel.exprs[expr].kind {
            ExprKind::Uniform(operand) => self.held_by(*operand, elections),
            ExprKind::Cast(operand) if self.has_room(expr) && self.has_room(*operand) => {
                Some(Held { is_cast: true, ..self.held_by(*operand, elections)? })
            }
            ExprKind::Var(var) => elections.found.get(var).copied(),
            ExprKind::Load(access) => {
                let value = *elections.cells.get(&self.cell_of(access)?)?;
                Some(Held { value, is_cast: false })
            }
            _ => None,
        }
    }

    /// The cell of a tile that numbers name.
    fn cell_of(&self, access: &Access) -> Option<Cell> {
        let ArrayRef::Tile(tile) = access.array else { return None };
        let at = access.indices.iter().map(|index| self.number_of(*index));
        (!self.kernel.is_local(access.array)).then_some((tile, at.collect::<Option<_>>()?))
    }

    fn number_of(&self, expr: ExprId) -> Option<i128> {
        match self.kernel.exprs[expr].kind {
            ExprKind::Literal(Literal::Int(number)) => Some(number),
            ExprKind::Unary { op: UnaryOp::Neg, operand } => self.number_of(operand)?.checked_neg(),
            _ => None,
        }
    }

    /// What an expression stands for: the value of a `let` that is the same for the whole launch.
    fn meant(&self, expr: ExprId) -> ExprId {
        match self.kernel.exprs[expr].kind {
            ExprKind::Uniform(operand) => self.meant(operand),
            ExprKind::Var(var) => match self.lets.get(&var) {
                Some(init) if self.is_fixed(*init) => self.meant(*init),
                _ => expr,
            },
            _ => expr,
        }
    }

    /// Whether a work-item computes one value of it in the whole launch.
    fn is_fixed(&self, expr: ExprId) -> bool {
        let kinds = &self.kernel.exprs[expr].kind;
        let own = match kinds {
            ExprKind::Var(var) => match self.kernel.vars[*var].kind {
                VarKind::Dim
                | VarKind::TileParam(_)
                | VarKind::Scalar(_)
                | VarKind::Grid
                | VarKind::Block => true,
                VarKind::Let { mutable: false } => {
                    self.lets.get(var).is_some_and(|init| self.is_fixed(*init))
                }
                VarKind::Each | VarKind::Loop | VarKind::Let { mutable: true } => false,
            },
            _ => self.reads_nothing_written(kinds),
        };
        own && kinds.operands().into_iter().all(|operand| self.is_fixed(operand))
    }

    /// Whether an expression has one value while its variables have.
    fn is_steady(&self, expr: ExprId) -> bool {
        let mut changes = |kind: &ExprKind| !self.reads_nothing_written(kind);
        !any_subexpr(self.kernel, expr, &mut changes)
    }

    fn reads_nothing_written(&self, kind: &ExprKind) -> bool {
        match kind {
            ExprKind::Load(Access { array: ArrayRef::Tensor(tensor), .. }) => {
                !self.written.contains(*tensor)
            }
            ExprKind::Load(_) => false,
            _ => true,
        }
    }
}
