//! What a block's own comparisons answer for all of its items.

use std::collections::{BTreeMap, BTreeSet};

use super::accesses::Accesses;
use crate::lower::guard::{fold_conditions, without_idle_conditions};
use crate::lower::rewrite::{Replacement, same};
use crate::op::{BinaryOp, CompareOp, UnaryOp};
use crate::program::{
    Access, ArgSource, BufferId, DomainId, Expr, ExprId, ExprKind, IndexWidth, Literal,
    ProgramKernel, Scope, Stmt, StmtKind, Target, Ty, VarId,
};

/// Most comparisons of the block for one `Items`: more cost more than they save. Both
/// ends of three axes, the volume's and the block's own.
const MAX_CONDITIONS: usize = 8;

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
pub(super) struct Block<'k> {
    pub(super) kernel: &'k mut ProgramKernel,
    pub(super) domain: DomainId,
    pub(super) placed: &'k BTreeSet<VarId>,
    pub(super) lets: BTreeMap<VarId, ExprId>,
    pub(super) conditions: Vec<ExprId>,
}

impl Block<'_> {
    /// The statements as they are where the text's own comparisons hold for all items, and
    /// what is left then is inside that is asked for.
    pub(super) fn without_answered(&mut self, body: &[Stmt]) -> Vec<Stmt> {
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
    pub(super) fn without_guards(&mut self, body: &[Stmt]) -> Vec<Stmt> {
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

    pub(super) fn unguard_statements(&mut self, stmts: &mut [Stmt]) {
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
