//! What the block's first work-item computes, computed by all.
//!
//! An expression in which the coordinates in the block are 0, elements of tensors that
//! the kernel never writes are read where that one reads them, and each variable that
//! differs between work-items is the first one's. For such a variable there is a second
//! one: wherever the first is declared or assigned, what the first work-item assigns there
//! is assigned to the second just before. It is right where all come by at those places
//! together; where they do not, its value is not the block's by the text either.

use std::collections::BTreeMap;

use super::super::uniform::WrittenTensors;
use crate::arena::EntityId as _;
use crate::kernel::{
    ArrayRef, Expr, ExprId, ExprKind, Kernel, Literal, Place, Stmt, StmtKind, Var, VarId, VarKind,
    copy_expr,
};

pub(super) struct First<'k> {
    pub(super) kernel: &'k mut Kernel,
    /// Of the expressions that the kernel had, whether they are the same for all.
    values: &'k [bool],
    written: WrittenTensors,
    /// The first work-item's, by variable.
    vars: BTreeMap<VarId, VarId>,
    /// Those that are still to be assigned.
    open: Vec<VarId>,
}

impl<'k> First<'k> {
    pub(super) fn new(kernel: &'k mut Kernel, values: &'k [bool]) -> Self {
        let written = WrittenTensors::of(kernel);
        Self { kernel, values, written, vars: BTreeMap::new(), open: Vec::new() }
    }

    /// Whether an expression that the kernel had is the same for all.
    pub(super) fn is_common(&self, expr: ExprId) -> bool {
        self.values.get(expr.index()).is_some_and(|is| *is)
    }

    /// Puts the first work-item's condition in a condition's place, and gives it.
    pub(super) fn replace_condition(&mut self, cond: ExprId) -> Option<ExprId> {
        let first = self.of(cond)?;
        let mut body = std::mem::take(&mut self.kernel.body);
        each_stmt(&mut body, &mut |stmt| {
            if let StmtKind::If { cond: own, .. } | StmtKind::While { cond: own, .. } =
                &mut stmt.kind
                && *own == cond
            {
                *own = first;
            }
        });
        self.kernel.body = body;
        self.assign()?;
        Some(first)
    }

    /// What an expression is for the first work-item; `None` where it reads what only that
    /// one has.
    pub(super) fn of(&mut self, expr: ExprId) -> Option<ExprId> {
        if self.is_common(expr) {
            return Some(copy_expr(self.kernel, expr, &mut |_, _| None));
        }
        let mut own = self.kernel.exprs[expr].clone();
        match &mut own.kind {
            ExprKind::Literal(_) => {}
            ExprKind::Var(var) => match self.kernel.vars[*var].kind {
                VarKind::Block => own.kind = ExprKind::Literal(Literal::Int(0)),
                VarKind::Let { .. } => *var = self.var(*var),
                VarKind::Dim
                | VarKind::TileParam(_)
                | VarKind::Scalar(_)
                | VarKind::Grid
                | VarKind::Each
                | VarKind::Loop => return None,
            },
            ExprKind::Load(access) => {
                match access.array {
                    ArrayRef::Tensor(tensor) if !self.written.contains(tensor) => {}
                    ArrayRef::Tensor(_) | ArrayRef::Tile(_) => return None,
                }
                self.all(&mut access.indices)?;
            }
            ExprKind::InBounds { indices, .. } => self.all(indices)?,
            ExprKind::Unary { operand, .. } | ExprKind::Cast(operand) => {
                *operand = self.of(*operand)?;
            }
            ExprKind::Math { arg, .. } => *arg = self.of(*arg)?,
            ExprKind::Binary { lhs, rhs, .. }
            | ExprKind::Compare { lhs, rhs, .. }
            | ExprKind::Logic { lhs, rhs, .. } => {
                (*lhs, *rhs) = (self.of(*lhs)?, self.of(*rhs)?);
            }
            ExprKind::Select { cond, then, otherwise } => {
                *cond = self.of(*cond)?;
                (*then, *otherwise) = (self.of(*then)?, self.of(*otherwise)?);
            }
            ExprKind::Tiles { extent, tile } => {
                (*extent, *tile) = (self.of(*extent)?, self.of(*tile)?);
            }
            // It is the same for all, or an error.
            ExprKind::Uniform(_) => return None,
        }
        Some(self.kernel.exprs.push(own))
    }

    fn all(&mut self, exprs: &mut [ExprId]) -> Option<()> {
        exprs.iter_mut().try_for_each(|expr| {
            *expr = self.of(*expr)?;
            Some(())
        })
    }

    /// The first work-item's variable for one that differs.
    fn var(&mut self, var: VarId) -> VarId {
        if let Some(first) = self.vars.get(&var) {
            return *first;
        }
        let own = &self.kernel.vars[var];
        let name = format!("{}_first", own.name);
        let first = self.kernel.vars.push(Var { name, ..own.clone() });
        self.vars.insert(var, first);
        self.open.push(var);
        first
    }

    /// Has the first work-item's variables assigned wherever those that they stand for are;
    /// `None` where one is assigned what only the first work-item has.
    pub(super) fn assign(&mut self) -> Option<()> {
        while let Some(var) = self.open.pop() {
            let body = std::mem::take(&mut self.kernel.body);
            self.kernel.body = self.assigned(body, var)?;
        }
        Some(())
    }

    fn assigned(&mut self, stmts: Vec<Stmt>, var: VarId) -> Option<Vec<Stmt>> {
        let mut out = Vec::with_capacity(stmts.len());
        for mut stmt in stmts {
            if let Some(kind) = self.beside(&stmt.kind, var)? {
                out.push(Stmt { kind, ..stmt });
            }
            for body in stmt.kind.bodies_mut() {
                *body = self.assigned(std::mem::take(body), var)?;
            }
            out.push(stmt);
        }
        Some(out)
    }

    /// What stands before a statement that sets `var`; `None` within where it does not set
    /// it, and without where the first work-item's value is its own.
    #[expect(clippy::option_option, reason = "that there is nothing to do is no failure")]
    fn beside(&mut self, kind: &StmtKind, var: VarId) -> Option<Option<StmtKind>> {
        let first = self.var(var);
        Some(match kind {
            StmtKind::Let { var: own, init } if *own == var => {
                let init = match init {
                    Some(init) => Some(self.of(*init)?),
                    None => None,
                };
                Some(StmtKind::Let { var: first, init })
            }
            StmtKind::Assign { var: own, value } if *own == var => {
                Some(StmtKind::Assign { var: first, value: self.of(*value)? })
            }
            StmtKind::Update { place: Place::Var(own), op, value } if *own == var => {
                let (place, value) = (Place::Var(first), self.of(*value)?);
                Some(StmtKind::Update { place, op: *op, value })
            }
            StmtKind::Exchange { var: own, .. } | StmtKind::Atomic { old: Some(own), .. }
                if *own == var =>
            {
                return None;
            }
            StmtKind::Let { .. }
            | StmtKind::LetArray { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Store { .. }
            | StmtKind::Update { .. }
            | StmtKind::Atomic { .. }
            | StmtKind::Exchange { .. }
            | StmtKind::Each { .. }
            | StmtKind::Phase { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Distinct { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => None,
        })
    }

    /// An expression of the same type and place as another one.
    pub(super) fn like(&mut self, expr: ExprId, kind: ExprKind) -> ExprId {
        let Expr { ty, span, .. } = self.kernel.exprs[expr];
        self.kernel.exprs.push(Expr { kind, ty, span })
    }
}

/// Does something to each statement.
pub(super) fn each_stmt(stmts: &mut [Stmt], act: &mut dyn FnMut(&mut Stmt)) {
    for stmt in stmts {
        act(stmt);
        stmt.kind.bodies_mut().into_iter().for_each(|body| each_stmt(body, act));
    }
}
