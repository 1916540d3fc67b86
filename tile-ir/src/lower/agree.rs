//! Agree: what the checks call the same for the whole block is made so that it
//! can be computed once per block.
//!
//! The divergence rule follows values through the text; lowering stores a
//! variable once per block or once per work-item, for good. Between the two lie
//!
//! - conditions that are the same for all work-items only because of their
//!   sizes, as `tx < TN` with `tx` in `TN`: they become what they are, and an
//!   `if` on one of them its arm;
//! - variables that hold a work-item's value at one time and a common one at
//!   another, used as the bound of a loop around a barrier in the meantime. Such
//!   a variable gets a *twin*, which is assigned wherever the variable is
//!   assigned a common value by all work-items, and read wherever its value is
//!   the common one.
//!
//! Why the twin is right: where the value of the variable is the same for all
//! work-items, each assignment that can have made it is of a common value and
//! made by all ([`crate::check::Uniformity::is_uniform_value`]), so the twin was
//! assigned the same at the same time. Elsewhere the twin holds an old or a
//! meaningless number that nobody reads.

mod spare;

use std::collections::{BTreeMap, BTreeSet};

use crate::check::{Folds, Uniformity, uniformity};
use crate::exchange::{ExchangeOp, Group, Reduction};
use crate::kernel::{
    Expr, ExprId, ExprKind, Kernel, Literal, Place, Stmt, StmtKind, Type, Var, VarId, VarKind,
    copy_expr,
};

/// A kernel that means the same, in which control flow around collective
/// statements is decided by variables of the block.
pub(super) fn make_agreed(kernel: &Kernel) -> Kernel {
    let mut kernel = kernel.clone();
    decide_conditions(&mut kernel);
    let uniform = uniformity(&kernel);
    let mut needs = Needs { kernel: &kernel, uniform: &uniform, vars: BTreeSet::new() };
    needs.find();
    let needed = needs.vars;
    if !needed.is_empty() {
        let body = std::mem::take(&mut kernel.body);
        let mut twins =
            Twins { kernel: &mut kernel, uniform: &uniform, needed, twins: BTreeMap::new() };
        let body = twins.stmts(body, true);
        let split = twins.twins.into_keys().collect();
        kernel.body = body;
        spare::remove_unread(&mut kernel, &split);
    }
    kernel
}

/// Puts known conditions in place, and arms of an `if` in place of it.
fn decide_conditions(kernel: &mut Kernel) {
    let folds = Folds::of(kernel);
    // Those of the header are what sizes are admitted by, not what is computed.
    let mut header = kernel.constraints.clone();
    let mut kept = BTreeSet::new();
    while let Some(id) = header.pop() {
        kept.insert(id);
        header.extend(kernel.exprs[id].kind.operands());
    }
    for (id, expr) in kernel.exprs.iter_mut() {
        if let Some(value) = folds.get(id)
            && !kept.contains(&id)
        {
            expr.kind = ExprKind::Literal(Literal::Bool(value));
        }
    }
    let body = std::mem::take(&mut kernel.body);
    kernel.body = chosen(kernel, body);
}

fn chosen(kernel: &Kernel, stmts: Vec<Stmt>) -> Vec<Stmt> {
    let mut out = Vec::with_capacity(stmts.len());
    for mut stmt in stmts {
        if let StmtKind::If { cond, then, otherwise } = &mut stmt.kind
            && let ExprKind::Literal(Literal::Bool(value)) = kernel.exprs[*cond].kind
        {
            let arm = std::mem::take(if value { then } else { otherwise });
            out.extend(chosen(kernel, arm));
            continue;
        }
        for body in stmt.kind.bodies_mut() {
            *body = chosen(kernel, std::mem::take(body));
        }
        out.push(stmt);
    }
    out
}

/// Whether the whole block runs a statement together.
fn is_collective(kind: &StmtKind) -> bool {
    match kind {
        StmtKind::Barrier | StmtKind::Each { .. } | StmtKind::Phase { .. } => true,
        StmtKind::Exchange { op, .. } => op.group() == Group::Block,
        StmtKind::Let { .. }
        | StmtKind::LetArray { .. }
        | StmtKind::Assign { .. }
        | StmtKind::Store { .. }
        | StmtKind::Atomic { .. }
        | StmtKind::Update { .. }
        | StmtKind::For { .. }
        | StmtKind::While { .. }
        | StmtKind::If { .. }
        | StmtKind::Assume { .. }
        | StmtKind::Distinct { .. }
        | StmtKind::WarpBarrier => false,
    }
}

/// The expressions that decide how control flow goes on within a statement.
fn deciders(kind: &StmtKind) -> Vec<ExprId> {
    match kind {
        StmtKind::Phase { range, .. } | StmtKind::For { range, .. } => range.exprs(),
        StmtKind::While { cond, .. } | StmtKind::If { cond, .. } => vec![*cond],
        StmtKind::Let { .. }
        | StmtKind::LetArray { .. }
        | StmtKind::Assign { .. }
        | StmtKind::Store { .. }
        | StmtKind::Atomic { .. }
        | StmtKind::Update { .. }
        | StmtKind::Exchange { .. }
        | StmtKind::Each { .. }
        | StmtKind::Assume { .. }
        | StmtKind::Distinct { .. }
        | StmtKind::Barrier
        | StmtKind::WarpBarrier => Vec::new(),
    }
}

/// Which variables need a twin.
struct Needs<'a> {
    kernel: &'a Kernel,
    uniform: &'a Uniformity,
    vars: BTreeSet<VarId>,
}

impl Needs<'_> {
    fn find(&mut self) {
        let kernel = self.kernel;
        self.collectives(&kernel.body);
        loop {
            let before = self.vars.len();
            self.definitions(&kernel.body, &mut Vec::new());
            if self.vars.len() == before {
                return;
            }
        }
    }

    /// What decides on collective statements. Gives whether there are any.
    fn collectives(&mut self, stmts: &[Stmt]) -> bool {
        let mut any = false;
        for stmt in stmts {
            let own = is_collective(&stmt.kind);
            let mut inside = false;
            for body in stmt.kind.bodies() {
                inside |= self.collectives(body);
            }
            if own || inside {
                deciders(&stmt.kind).into_iter().for_each(|id| self.read(id));
                any = true;
            }
        }
        any
    }

    /// What the values of needed variables, and whether they are assigned,
    /// depend on. `around` are the expressions that decide whether `stmts` run.
    fn definitions(&mut self, stmts: &[Stmt], around: &mut Vec<ExprId>) {
        for stmt in stmts {
            let defined = match &stmt.kind {
                StmtKind::Let { var, init } => Some((*var, *init)),
                StmtKind::Assign { var, value }
                | StmtKind::Update { place: Place::Var(var), value, .. } => {
                    Some((*var, Some(*value)))
                }
                StmtKind::For { var, .. } | StmtKind::Phase { var, .. } => Some((*var, None)),
                StmtKind::Exchange { var, .. } => Some((*var, None)),
                StmtKind::Store { .. }
                | StmtKind::LetArray { .. }
                | StmtKind::Atomic { .. }
                | StmtKind::Update { place: Place::Element(_), .. }
                | StmtKind::Each { .. }
                | StmtKind::While { .. }
                | StmtKind::If { .. }
                | StmtKind::Assume { .. }
                | StmtKind::Distinct { .. }
                | StmtKind::Barrier
                | StmtKind::WarpBarrier => None,
            };
            let of_stmt = deciders(&stmt.kind);
            if let Some((var, value)) = defined
                && self.vars.contains(&var)
            {
                value.into_iter().chain(of_stmt.iter().copied()).for_each(|id| self.read(id));
                around.iter().for_each(|id| self.read(*id));
            }
            let outer = around.len();
            around.extend(of_stmt);
            for body in stmt.kind.bodies() {
                self.definitions(body, around);
            }
            around.truncate(outer);
        }
    }

    /// The variables of work-items in an expression that has a common value.
    fn read(&mut self, id: ExprId) {
        if !self.uniform.is_uniform_value(id) {
            return;
        }
        if let ExprKind::Var(var) = self.kernel.exprs[id].kind
            && !self.uniform.is_uniform_var(var)
        {
            self.vars.insert(var);
        }
        self.kernel.exprs[id].kind.operands().into_iter().for_each(|id| self.read(id));
    }
}

/// Adds the twins.
struct Twins<'a> {
    kernel: &'a mut Kernel,
    uniform: &'a Uniformity,
    needed: BTreeSet<VarId>,
    twins: BTreeMap<VarId, VarId>,
}

impl Twins<'_> {
    /// Statements that all work-items run, if `together`.
    fn stmts(&mut self, stmts: Vec<Stmt>, together: bool) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(stmts.len());
        for mut stmt in stmts {
            let deciders = deciders(&stmt.kind);
            let inside = together
                && !matches!(stmt.kind, StmtKind::Each { .. })
                && deciders.iter().all(|id| self.uniform.is_uniform_value(*id));
            let twin = if together { self.twin_of(&stmt) } else { None };
            if inside {
                deciders.into_iter().for_each(|id| self.read_twins(id));
            }
            for body in stmt.kind.bodies_mut() {
                *body = self.stmts(std::mem::take(body), inside);
            }
            out.push(stmt);
            out.extend(twin);
        }
        out
    }

    /// The statement that does to a twin what `stmt` does to its variable.
    fn twin_of(&mut self, stmt: &Stmt) -> Option<Stmt> {
        let kind = match &stmt.kind {
            StmtKind::Let { var, init } => {
                if !self.needed.contains(var) {
                    return None;
                }
                let common = init.filter(|init| self.uniform.is_uniform_value(*init));
                let init = match common {
                    Some(init) => self.copy(init),
                    None => self.zero(*var, stmt),
                };
                let mut declared: Var = self.kernel.vars[*var].clone();
                if common.is_none() {
                    declared.kind = VarKind::Let { mutable: true };
                }
                let twin = self.kernel.vars.push(declared);
                self.twins.insert(*var, twin);
                StmtKind::Let { var: twin, init: Some(init) }
            }
            StmtKind::Assign { var, value } if self.uniform.is_uniform_value(*value) => {
                let var = *self.twins.get(var)?;
                StmtKind::Assign { var, value: self.copy(*value) }
            }
            StmtKind::Update { place: Place::Var(var), op, value }
                if self.uniform.is_uniform_value(*value) =>
            {
                let place = Place::Var(*self.twins.get(var)?);
                StmtKind::Update { place, op: *op, value: self.copy(*value) }
            }
            // What a warp agrees on, in a block of one: any of its values is the block's.
            StmtKind::Exchange { var, .. } if self.needed.contains(var) => {
                let declared: Var = self.kernel.vars[*var].clone();
                let ty = declared.ty;
                let twin = self.kernel.vars.push(declared);
                self.twins.insert(*var, twin);
                let own = Expr { kind: ExprKind::Var(*var), ty, span: stmt.span };
                let value = self.kernel.exprs.push(own);
                let reduction = if ty == Type::BOOL { Reduction::Any } else { Reduction::Max };
                StmtKind::Exchange {
                    var: twin,
                    op: ExchangeOp::Reduce(reduction),
                    value,
                    lane: None,
                }
            }
            StmtKind::Assign { .. }
            | StmtKind::LetArray { .. }
            | StmtKind::Update { .. }
            | StmtKind::Store { .. }
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
            | StmtKind::WarpBarrier => return None,
        };
        Some(Stmt { kind, span: stmt.span, head: stmt.head })
    }

    /// Any value, until there is one that means something.
    fn zero(&mut self, var: VarId, stmt: &Stmt) -> ExprId {
        let ty = self.kernel.vars[var].ty;
        let literal = if ty == Type::BOOL { Literal::Bool(false) } else { Literal::Int(0) };
        self.kernel.exprs.push(Expr { kind: ExprKind::Literal(literal), ty, span: stmt.span })
    }

    /// A copy of an expression that reads twins.
    fn copy(&mut self, id: ExprId) -> ExprId {
        let twins = &self.twins;
        let span = self.kernel.exprs[id].span;
        copy_expr(self.kernel, id, &mut |kernel, var| {
            let twin = *twins.get(&var)?;
            let ty = kernel.vars[twin].ty;
            Some(kernel.exprs.push(Expr { kind: ExprKind::Var(twin), ty, span }))
        })
    }

    /// Lets an expression, which has no other user, read twins.
    fn read_twins(&mut self, id: ExprId) {
        if let ExprKind::Var(var) = &mut self.kernel.exprs[id].kind {
            *var = self.twins.get(var).copied().unwrap_or(*var);
        }
        self.kernel.exprs[id].kind.operands().into_iter().for_each(|id| self.read_twins(id));
    }
}
