//! Interior: blocks away from the edges run without comparisons.
//!
//! Whether some item of an `Items` reaches past an edge is a question about the
//! block, not the item, where the index grows with the items' coordinates: it is
//! asked of the last one.
//!
//! ```text
//! items (i, k) { a_s[i, k] = a[by * 64 + i < M, p * 16 + k < K else 0.0] }
//! ```
//!
//! becomes
//!
//! ```text
//! if by * 64 + 63 < M && p * 16 + 15 < K {
//!     items (i, k) { a_s[i, k] = a[by * 64 + i, p * 16 + k] }
//! } else {
//!     items (i, k) { a_s[i, k] = a[by * 64 + i < M, p * 16 + k < K else 0.0] }
//! }
//! ```
//!
//! The condition is the same for the whole block. It pays where a thread would
//! compare several times. What the author compares of the items' places in the grid,
//! `if i > 0 && i < N - 1`, is such a comparison too.

use std::collections::{BTreeMap, BTreeSet};

use super::guard::{fold_conditions, without_idle_conditions};
use super::rewrite::{Replacement, lets_of, same};
use crate::config::Config;
use crate::op::{BinaryOp, CompareOp, LogicOp, UnaryOp};
use crate::program::{
    Access, ArgSource, BufferId, DomainId, Expr, ExprId, ExprKind, IndexWidth, Literal,
    ProgramKernel, Scope, Stmt, StmtKind, Target, Ty, VarId,
};

/// Most comparisons of the block for one `Items`: more cost more than they save. Both
/// ends of three axes, the volume's and the block's own.
const MAX_CONDITIONS: usize = 8;

/// Writes out the items of interior blocks without comparisons, where `config`
/// asks for it. Assumes that widths are final; guarantees that no access leaves
/// its array.
pub(super) fn split_interior(kernel: &mut ProgramKernel, config: &Config) {
    if config.split_edges {
        let body = std::mem::take(&mut kernel.body);
        let placed = placed_vars(kernel, &body);
        kernel.body = split_in(kernel, body, &placed, None);
    }
}

/// The variables that say where a block is in the grid: its coordinates, and what the block
/// computes of them in the statements of these lists.
pub(super) fn placed_vars(kernel: &ProgramKernel, body: &[Stmt]) -> BTreeSet<VarId> {
    fn collect(kernel: &ProgramKernel, stmts: &[Stmt], placed: &mut BTreeSet<VarId>) {
        for stmt in stmts {
            if let StmtKind::Let { var, value: Some(value) } = stmt.kind
                && stmt.scope == Scope::Block
                && reads_any(kernel, value, placed)
            {
                placed.insert(var);
            }
            stmt.kind.bodies().into_iter().for_each(|body| collect(kernel, body, placed));
        }
    }
    let mut placed = kernel.grid.iter().map(|axis| axis.var).collect();
    collect(kernel, body, &mut placed);
    placed
}

fn reads_any(kernel: &ProgramKernel, expr: ExprId, vars: &BTreeSet<VarId>) -> bool {
    let kind = &kernel.exprs[expr].kind;
    let mut found = matches!(kind, ExprKind::Var(var) if vars.contains(var));
    kind.for_each_operand(&mut |operand| found = found || reads_any(kernel, operand, vars));
    found
}

/// Splits the items of a list. Where `refuted` is a condition, it does not hold
/// there.
fn split_in(
    kernel: &mut ProgramKernel,
    stmts: Vec<Stmt>,
    placed: &BTreeSet<VarId>,
    refuted: Option<ExprId>,
) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in stmts {
        match &mut stmt.kind {
            StmtKind::Items { .. } => {
                let split = split_items(kernel, &stmt, placed, refuted);
                stmt = split.unwrap_or(stmt);
            }
            StmtKind::If { cond, then, otherwise } => {
                *then = split_in(kernel, std::mem::take(then), placed, refuted);
                let cond = Some(*cond);
                *otherwise = split_in(kernel, std::mem::take(otherwise), placed, cond);
            }
            kind => {
                for body in kind.bodies_mut() {
                    *body = split_in(kernel, std::mem::take(body), placed, refuted);
                }
            }
        }
        out.push(stmt);
    }
    out
}

/// `if` the block is inside, the items without comparisons, `else` as they are;
/// `None` where that does not pay, or is known not to hold.
fn split_items(
    kernel: &mut ProgramKernel,
    items: &Stmt,
    placed: &BTreeSet<VarId>,
    refuted: Option<ExprId>,
) -> Option<Stmt> {
    let StmtKind::Items { domain, body } = &items.kind else { return None };
    let domain = *domain;
    let width = Accesses::of(kernel, body).all().map(|access| u32::from(access.width)).max()?;
    if kernel.domains[domain].layout.n_registers() / width < 2 {
        return None;
    }
    let Inside { cond, body, .. } = inside(kernel, domain, body, placed);
    let cond = cond?;
    if refuted.is_some_and(|refuted| same(kernel, refuted, cond)) {
        return None;
    }
    let inside = Stmt { kind: StmtKind::Items { domain, body }, ..items.clone() };
    let kind = StmtKind::If { cond, then: vec![inside], otherwise: vec![items.clone()] };
    Some(Stmt { kind, ..items.clone() })
}

/// A loop's items as the blocks run them that are away from the edges.
pub(super) struct Inside {
    /// What holds for such a block; absent where it holds for all.
    pub(super) cond: Option<ExprId>,
    /// The items' statements without the comparisons that it answers.
    pub(super) body: Vec<Stmt>,
    /// Whether there are comparisons that it does not answer.
    pub(super) is_guarded: bool,
}

/// The items of a loop for a block away from the edges; where the block is, `placed` says
/// ([`placed_vars`]).
pub(super) fn inside(
    kernel: &mut ProgramKernel,
    domain: DomainId,
    body: &[Stmt],
    placed: &BTreeSet<VarId>,
) -> Inside {
    let lets = lets_of(body);
    let mut block = Block { kernel, domain, placed, lets, conditions: Vec::new() };
    // What the text's own conditions leave is all that is asked of accesses.
    let body = block.without_answered(body);
    let mut body = block.without_guards(&body);
    block.unguard_statements(&mut body);
    let conditions = block.conditions;
    let cond = conditions.into_iter().reduce(|lhs, rhs| {
        let kind = ExprKind::Logic { op: LogicOp::And, lhs, rhs };
        kernel.exprs.push(Expr { kind, ty: Ty::BOOL })
    });
    let is_guarded = Accesses::of(kernel, &body).all().any(Access::is_guarded);
    Inside { cond, body, is_guarded }
}

/// The accesses of some statements.
#[derive(Default)]
struct Accesses {
    /// Those of expressions, in the order of their ids.
    loads: BTreeMap<ExprId, Access>,
    /// Those of statements.
    others: Vec<Access>,
    /// What is asked of indices: whether they are inside of a buffer.
    conditions: BTreeMap<ExprId, (BufferId, Vec<ExprId>)>,
    /// Comparisons of indices, `<` or `<=`, the smaller side first.
    comparisons: BTreeMap<ExprId, (CompareOp, ExprId, ExprId)>,
}

impl Accesses {
    fn of(kernel: &ProgramKernel, body: &[Stmt]) -> Self {
        let mut found = Self::default();
        found.collect(kernel, body);
        found
    }

    fn all(&self) -> impl Iterator<Item = &Access> {
        self.loads.values().chain(&self.others)
    }

    fn collect(&mut self, kernel: &ProgramKernel, body: &[Stmt]) {
        for stmt in body {
            stmt.kind.for_each_expr(&mut |expr| self.loads_in(kernel, expr));
            match &stmt.kind {
                StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => {
                    self.others.push(access.clone());
                }
                StmtKind::Copy { dst, src, .. } => {
                    self.others.extend([dst.clone(), src.clone()]);
                }
                kind => kind.bodies().into_iter().for_each(|body| self.collect(kernel, body)),
            }
        }
    }

    fn loads_in(&mut self, kernel: &ProgramKernel, expr: ExprId) {
        let kind = &kernel.exprs[expr].kind;
        match kind {
            ExprKind::Load(access) => {
                self.loads.insert(expr, access.clone());
                // What stands for an element that is outside is read at the edges alone.
                let places = access.slot.iter().chain(&access.indices);
                places.for_each(|&index| self.loads_in(kernel, index));
                return;
            }
            ExprKind::InBounds { buffer, indices } => {
                self.conditions.insert(expr, (*buffer, indices.clone()));
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let comparison = match op {
                    CompareOp::Lt | CompareOp::Le => (*op, *lhs, *rhs),
                    CompareOp::Gt => (CompareOp::Lt, *rhs, *lhs),
                    CompareOp::Ge => (CompareOp::Le, *rhs, *lhs),
                    CompareOp::Eq | CompareOp::Ne => return,
                };
                self.comparisons.insert(expr, comparison);
            }
            _ => {}
        }
        kind.for_each_operand(&mut |operand| self.loads_in(kernel, operand));
    }
}

/// Whether an expression is a dimension of the launch.
fn is_dimension(kernel: &ProgramKernel, expr: ExprId) -> bool {
    match kernel.exprs[expr].kind {
        ExprKind::Arg(arg) => matches!(kernel.args[arg].source, ArgSource::Dim(_)),
        ExprKind::Cast(operand) => {
            kernel.exprs[expr].ty.is_index() && is_dimension(kernel, operand)
        }
        _ => false,
    }
}

/// Which end of an index's range over the items is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Least,
    Most,
}

impl End {
    const fn flipped(self) -> Self {
        match self {
            Self::Least => Self::Most,
            Self::Most => Self::Least,
        }
    }
}

/// The items of one `Items`, and what holds where all of them are inside.
struct Block<'k> {
    kernel: &'k mut ProgramKernel,
    domain: DomainId,
    placed: &'k BTreeSet<VarId>,
    lets: BTreeMap<VarId, ExprId>,
    conditions: Vec<ExprId>,
}

impl Block<'_> {
    /// The statements as they are where the text's own comparisons hold for all items, and
    /// what is left then is inside that is asked for.
    fn without_answered(&mut self, body: &[Stmt]) -> Vec<Stmt> {
        let asked = Accesses::of(self.kernel, body).comparisons.into_iter();
        let answered: Vec<ExprId> = asked
            .filter(|&(_, (op, small, large))| self.is_below(op, small, large))
            .map(|(id, _)| id)
            .collect();
        let body = self.where_all_hold(&answered, body);
        let asked = Accesses::of(self.kernel, &body).conditions.into_iter();
        let answered: Vec<ExprId> = asked
            .filter(|(_, (buffer, indices))| self.is_inside(*buffer, indices))
            .map(|(id, _)| id)
            .collect();
        self.where_all_hold(&answered, &body)
    }

    fn where_all_hold(&mut self, conditions: &[ExprId], body: &[Stmt]) -> Vec<Stmt> {
        let mut replaced = Replacement::default();
        for &id in conditions {
            let always = self.push(ExprKind::Literal(Literal::Bool(true)), Ty::BOOL);
            replaced.exprs.insert(id, always);
        }
        let body = replaced.stmts(self.kernel, body);
        fold_conditions(self.kernel);
        without_idle_conditions(self.kernel, body)
    }

    /// The statements with loads that compare nothing, as far as the block answers it.
    fn without_guards(&mut self, body: &[Stmt]) -> Vec<Stmt> {
        let mut replaced = Replacement::default();
        for (id, access) in Accesses::of(self.kernel, body).loads {
            // Indices may hold loads themselves, of smaller ids.
            let access = replaced.access(self.kernel, &access);
            let access = self.unguarded(access);
            let load = self.push(ExprKind::Load(access), self.kernel.exprs[id].ty);
            replaced.exprs.insert(id, load);
        }
        replaced.stmts(self.kernel, body)
    }

    fn unguard_statements(&mut self, stmts: &mut [Stmt]) {
        for stmt in stmts {
            if let StmtKind::Copy { src, .. } = &mut stmt.kind {
                *src = self.unguarded(src.clone());
            }
            if let Some(access) = stmt.kind.written_accesses_mut() {
                *access = self.unguarded(access.clone());
            }
            for body in stmt.kind.bodies_mut() {
                self.unguard_statements(body);
            }
        }
    }

    /// An access without the comparisons that a condition of the block answers.
    fn unguarded(&mut self, mut access: Access) -> Access {
        for axis in 0..access.indices.len() {
            let index = access.indices[axis];
            if access.guards[axis].lower {
                let condition = self.extreme(index, End::Least).map(|least| {
                    let zero = self.index(0, self.kernel.exprs[least].ty);
                    (CompareOp::Le, zero, least)
                });
                access.guards[axis].lower = !self.holds(condition);
            }
            if access.guards[axis].upper {
                let condition = self.extreme(index, End::Most).map(|most| {
                    let extent = match access.target {
                        Target::Buffer(id) => self.kernel.buffers[id].extents[axis],
                        Target::Tile(id) => {
                            let extent = self.kernel.tiles[id].extents[axis];
                            self.index(extent.into(), self.kernel.exprs[most].ty)
                        }
                    };
                    (CompareOp::Lt, most, extent)
                });
                access.guards[axis].upper = !self.holds(condition);
            }
        }
        if !access.is_guarded() {
            access.pad = None;
        }
        access
    }

    /// Whether conditions of the block answer that indices are inside of a buffer.
    fn is_inside(&mut self, buffer: BufferId, indices: &[ExprId]) -> bool {
        let mut wanted = Vec::new();
        for (axis, &index) in indices.iter().enumerate() {
            let ends = (self.extreme(index, End::Least), self.extreme(index, End::Most));
            let (Some(least), Some(most)) = ends else { return false };
            let zero = self.index(0, self.kernel.exprs[least].ty);
            wanted.push((CompareOp::Le, zero, least));
            wanted.push((CompareOp::Lt, most, self.kernel.buffers[buffer].extents[axis]));
        }
        wanted.into_iter().all(|condition| self.holds(Some(condition)))
    }

    /// Whether a condition of the block answers that all items' index is below another:
    /// one of where they are in the grid, or along a dimension, which most blocks answer
    /// alike. What compares places within the block has another answer in each.
    fn is_below(&mut self, op: CompareOp, small: ExprId, large: ExprId) -> bool {
        let is_index = [small, large].iter().all(|&side| self.kernel.exprs[side].ty.is_index());
        let is_decided = self.is_uniform(small) && self.is_uniform(large);
        let is_of_edge =
            is_dimension(self.kernel, large) || self.is_of_grid(small) || self.is_of_grid(large);
        if !is_index || is_decided || !is_of_edge {
            return false;
        }
        let ends = (self.extreme(small, End::Most), self.extreme(large, End::Least));
        let condition = ends.0.zip(ends.1).map(|(small, large)| (op, small, large));
        self.holds(condition)
    }

    /// Whether a value grows or falls with the block's place in the grid.
    fn is_of_grid(&self, expr: ExprId) -> bool {
        match &self.kernel.exprs[expr].kind {
            ExprKind::Var(var) => {
                let value = self.lets.get(var);
                self.placed.contains(var) || value.is_some_and(|value| self.is_of_grid(*value))
            }
            ExprKind::Cast(operand) | ExprKind::Unary { op: UnaryOp::Neg, operand } => {
                self.is_of_grid(*operand)
            }
            ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, lhs, rhs } => {
                self.is_of_grid(*lhs) || self.is_of_grid(*rhs)
            }
            // A remainder's next value may be any.
            _ => false,
        }
    }

    /// Makes a comparison a condition of the block; whether it is one now.
    fn holds(&mut self, condition: Option<(CompareOp, ExprId, ExprId)>) -> bool {
        let Some((op, lhs, rhs)) = condition else { return false };
        let [lhs, rhs] = self.of_one_width(lhs, rhs);
        let cond = self.push(ExprKind::Compare { op, lhs, rhs }, Ty::BOOL);
        if self.conditions.iter().any(|known| same(self.kernel, *known, cond)) {
            return true;
        }
        let has_room = self.conditions.len() < MAX_CONDITIONS;
        if has_room {
            self.conditions.push(cond);
        }
        has_room
    }

    /// The least or greatest value of an index over the items; `None` where it is
    /// not that of an end of their coordinates.
    fn extreme(&mut self, expr: ExprId, end: End) -> Option<ExprId> {
        if self.is_uniform(expr) {
            return Some(expr);
        }
        let Expr { kind, ty } = self.kernel.exprs[expr].clone();
        match kind {
            ExprKind::Coord { axis, .. } => {
                let extent = self.kernel.domains[self.domain].axes[axis as usize].extent;
                Some(self.index(
                    match end {
                        End::Least => 0,
                        End::Most => i128::from(extent) - 1,
                    },
                    ty,
                ))
            }
            ExprKind::Var(var) => {
                let value = *self.lets.get(&var)?;
                self.extreme(value, end)
            }
            ExprKind::Cast(operand)
                if self.kernel.exprs[operand].ty.is_index() && ty.is_index() =>
            {
                let operand = self.extreme(operand, end)?;
                Some(self.push(ExprKind::Cast(operand), ty))
            }
            ExprKind::Binary { op: BinaryOp::Add, lhs, rhs } => {
                let (lhs, rhs) = (self.extreme(lhs, end)?, self.extreme(rhs, end)?);
                Some(self.sum(BinaryOp::Add, lhs, rhs, ty))
            }
            ExprKind::Binary { op: BinaryOp::Sub, lhs, rhs } => {
                let (lhs, rhs) = (self.extreme(lhs, end)?, self.extreme(rhs, end.flipped())?);
                Some(self.sum(BinaryOp::Sub, lhs, rhs, ty))
            }
            // Of whatever number: the remainder of a division by a power of two.
            ExprKind::Binary { op: BinaryOp::And, lhs, rhs } => {
                let mask = self.kernel.constant(lhs).or_else(|| self.kernel.constant(rhs));
                let mask = mask.filter(|mask| *mask >= 0)?;
                Some(self.index(if end == End::Least { 0 } else { mask }, ty))
            }
            ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs } => {
                let (factor, operand, factor_id) =
                    match (self.kernel.constant(lhs), self.kernel.constant(rhs)) {
                        (Some(factor), _) => (factor, rhs, lhs),
                        (None, Some(factor)) => (factor, lhs, rhs),
                        (None, None) => return None,
                    };
                let end = if factor < 0 { end.flipped() } else { end };
                let (lhs, rhs) = (self.extreme(operand, end)?, factor_id);
                Some(self.push(ExprKind::Binary { op: BinaryOp::Mul, lhs, rhs }, ty))
            }
            _ => None,
        }
    }

    /// Whether a value is the same for all items, and can be computed outside.
    fn is_uniform(&self, expr: ExprId) -> bool {
        let kind = &self.kernel.exprs[expr].kind;
        let mut uniform = match kind {
            ExprKind::Coord { .. } | ExprKind::Fragment(_) => false,
            ExprKind::Var(var) => self.kernel.vars[*var].scope == Scope::Block,
            ExprKind::Load(access) => match access.target {
                Target::Buffer(id) => !self.kernel.buffers[id].written,
                Target::Tile(_) => false,
            },
            _ => true,
        };
        kind.for_each_operand(&mut |operand| uniform = uniform && self.is_uniform(operand));
        uniform
    }

    /// Two indices, widened to the wider one's type.
    fn of_one_width(&mut self, a: ExprId, b: ExprId) -> [ExprId; 2] {
        let wide = Ty::Index(IndexWidth::Bits64);
        let differ = self.kernel.exprs[a].ty != self.kernel.exprs[b].ty;
        [a, b].map(|id| match differ && self.kernel.exprs[id].ty != wide {
            true => self.push(ExprKind::Cast(id), wide),
            false => id,
        })
    }

    /// A sum or difference, of two constants as one.
    fn sum(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId, ty: Ty) -> ExprId {
        match (self.kernel.constant(lhs), self.kernel.constant(rhs)) {
            (Some(lhs), Some(rhs)) if op == BinaryOp::Add => self.index(lhs + rhs, ty),
            (Some(lhs), Some(rhs)) => self.index(lhs - rhs, ty),
            (Some(0), None) if op == BinaryOp::Add => rhs,
            (None, Some(0)) => lhs,
            _ => self.push(ExprKind::Binary { op, lhs, rhs }, ty),
        }
    }

    fn index(&mut self, value: i128, ty: Ty) -> ExprId {
        self.push(ExprKind::Literal(Literal::Int(value)), ty)
    }

    fn push(&mut self, kind: ExprKind, ty: Ty) -> ExprId {
        self.kernel.exprs.push(Expr { kind, ty })
    }
}
