//! Statements that stand once more, with variables of their own.

use std::collections::BTreeMap;

use crate::kernel::{
    Access, Expr, ExprId, ExprKind, Kernel, LoopRange, Place, Stmt, StmtKind, VarId, any_stmt,
    copy_expr,
};

/// Whether statements may stand twice: they declare nothing that has a place of its own, and
/// nothing is known of a loop by its place.
pub(in crate::check) fn may_be_twice(stmts: &[Stmt]) -> bool {
    !any_stmt(stmts, &mut |kind| {
        matches!(
            kind,
            StmtKind::LetArray { .. }
                | StmtKind::Atomic { old: Some(_), .. }
                | StmtKind::Exchange { .. }
                | StmtKind::Each { .. }
                | StmtKind::Phase { .. }
                | StmtKind::While { .. }
        )
    })
}

/// How statements are copied.
pub(in crate::check) struct Copies<'a> {
    /// The conditions that never hold where the copy stands: what is under them is left out.
    pub(in crate::check) is_over: &'a dyn Fn(&Kernel, ExprId) -> bool,
}

impl Copies<'_> {
    /// The statements again.
    pub(in crate::check) fn of(
        &self,
        kernel: &mut Kernel,
        stmts: &[Stmt],
        own: &mut BTreeMap<VarId, VarId>,
    ) -> Vec<Stmt> {
        stmts
            .iter()
            .map(|stmt| Stmt { kind: self.copy(kernel, &stmt.kind, own), ..*stmt })
            .collect()
    }

    fn copy(
        &self,
        kernel: &mut Kernel,
        kind: &StmtKind,
        own: &mut BTreeMap<VarId, VarId>,
    ) -> StmtKind {
        let named = |var: &VarId, own: &BTreeMap<VarId, VarId>| *own.get(var).unwrap_or(var);
        let expr = |kernel: &mut Kernel, expr: ExprId, own: &BTreeMap<VarId, VarId>| {
            copy_renamed(kernel, expr, own)
        };
        let place = |kernel: &mut Kernel, access: &Access, own: &BTreeMap<VarId, VarId>| {
            let indices = access.indices.iter().map(|index| expr(kernel, *index, own)).collect();
            Access { indices, ..access.clone() }
        };
        match kind {
            StmtKind::Let { var, init } => {
                let var = again(kernel, *var, own);
                StmtKind::Let { var, init: init.map(|init| expr(kernel, init, own)) }
            }
            StmtKind::Assign { var, value } => {
                StmtKind::Assign { var: named(var, own), value: expr(kernel, *value, own) }
            }
            StmtKind::Store { access, value } => StmtKind::Store {
                access: place(kernel, access, own),
                value: expr(kernel, *value, own),
            },
            StmtKind::Update { place: at, op, value } => {
                let at = match at {
                    Place::Var(var) => Place::Var(named(var, own)),
                    Place::Element(access) => Place::Element(place(kernel, access, own)),
                };
                StmtKind::Update { place: at, op: *op, value: expr(kernel, *value, own) }
            }
            StmtKind::Atomic { access, op, expected, value, old } => StmtKind::Atomic {
                access: place(kernel, access, own),
                op: *op,
                expected: expected.map(|expected| expr(kernel, expected, own)),
                value: expr(kernel, *value, own),
                old: *old,
            },
            StmtKind::For { var, range, body } => {
                let mut range = *range;
                match &mut range {
                    LoopRange::Between { start, end, step, .. } => {
                        for bound in [Some(start), Some(end), step.as_mut()].into_iter().flatten() {
                            *bound = expr(kernel, *bound, own);
                        }
                    }
                    LoopRange::Halving(n) | LoopRange::Doubling(n) => *n = expr(kernel, *n, own),
                }
                let var = again(kernel, *var, own);
                StmtKind::For { var, range, body: self.of(kernel, body, own) }
            }
            StmtKind::While { cond, body } => {
                StmtKind::While { cond: expr(kernel, *cond, own), body: self.of(kernel, body, own) }
            }
            StmtKind::If { cond, then, otherwise } => {
                let is_over = (self.is_over)(kernel, *cond);
                StmtKind::If {
                    cond: expr(kernel, *cond, own),
                    then: if is_over { Vec::new() } else { self.of(kernel, then, own) },
                    otherwise: self.of(kernel, otherwise, own),
                }
            }
            StmtKind::Assume { cond } => StmtKind::Assume { cond: expr(kernel, *cond, own) },
            StmtKind::Distinct { values, within } => StmtKind::Distinct {
                values: values.iter().map(|value| expr(kernel, *value, own)).collect(),
                within: *within,
            },
            // Of these there are none but barriers.
            StmtKind::LetArray { .. }
            | StmtKind::Each { .. }
            | StmtKind::Phase { .. }
            | StmtKind::Exchange { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => kind.clone(),
        }
    }
}

/// Another variable in a variable's place.
fn again(kernel: &mut Kernel, var: VarId, own: &mut BTreeMap<VarId, VarId>) -> VarId {
    let copy = kernel.vars[var].clone();
    let copy = kernel.vars.push(copy);
    own.insert(var, copy);
    copy
}

fn copy_renamed(kernel: &mut Kernel, expr: ExprId, own: &BTreeMap<VarId, VarId>) -> ExprId {
    let span = kernel.exprs[expr].span;
    copy_expr(kernel, expr, &mut |kernel, var| {
        let copy = *own.get(&var)?;
        let ty = kernel.vars[var].ty;
        Some(kernel.exprs.push(Expr { kind: ExprKind::Var(copy), ty, span }))
    })
}
