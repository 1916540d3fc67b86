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

mod accesses;
mod block;

use std::collections::BTreeSet;

use self::accesses::Accesses;
use self::block::Block;
use super::rewrite::{lets_of, same};
use crate::config::Config;
use crate::op::LogicOp;
use crate::program::{
    Access, DomainId, Expr, ExprId, ExprKind, ProgramKernel, Scope, Stmt, StmtKind, Ty, VarId,
};

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
