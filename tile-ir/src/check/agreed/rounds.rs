//! A loop of which all work-items run as many rounds becomes that of the first one, in
//! which each has the value that it would have in that round.
//!
//! `start + r * step` is the value of round `r`, be they taken in falling order or not. So
//! what a work-item's value is above the first one's is what its start is above that one's:
//!
//! ```text
//! let i_start = start;
//! let i_start_first = start of the first work-item;
//! for n in (i_start_first..end of the first work-item).step_by(step) {
//!     let i = n + (i_start - i_start_first);
//!     …
//! }
//! ```

use super::first::First;
use crate::kernel::{
    Expr, ExprId, ExprKind, Literal, LoopRange, Stmt, StmtKind, Type, Var, VarId, VarKind,
};
use crate::op::BinaryOp;
use crate::span::SpanId;

/// Makes the loop with this counter the block's, and gives the counter that it has then.
pub(super) fn of_block(first: &mut First<'_>, var: VarId) -> Option<VarId> {
    let body = std::mem::take(&mut first.kernel.body);
    let mut counter = None;
    let body = list(first, body, var, &mut counter)?;
    first.kernel.body = body;
    first.assign()?;
    counter
}

fn list(
    first: &mut First<'_>,
    stmts: Vec<Stmt>,
    var: VarId,
    counter: &mut Option<VarId>,
) -> Option<Vec<Stmt>> {
    let mut out = Vec::with_capacity(stmts.len());
    for mut stmt in stmts {
        if let StmtKind::For { var: own, range, body } = &mut stmt.kind
            && *own == var
        {
            let (new, before) = rewrite(first, (var, range), body, (stmt.span, stmt.head))?;
            *own = new;
            *counter = Some(new);
            out.extend(before);
        } else {
            for body in stmt.kind.bodies_mut() {
                *body = list(first, std::mem::take(body), var, counter)?;
            }
        }
        out.push(stmt);
    }
    Some(out)
}

/// The counter, and what stands before the loop.
fn rewrite(
    first: &mut First<'_>,
    (var, range): (VarId, &mut LoopRange),
    body: &mut Vec<Stmt>,
    (span, head): (SpanId, SpanId),
) -> Option<(VarId, Vec<Stmt>)> {
    let LoopRange::Between { start, end, step, .. } = range else { return None };
    if !step.is_none_or(|step| first.is_common(step)) {
        return None;
    }
    let own_start = *start;
    *end = first.of(*end)?;
    if first.is_common(own_start) {
        return Some((var, Vec::new()));
    }
    let at_first = first.of(own_start)?;
    let stmt = |kind| Stmt { kind, span, head };
    let name = first.kernel.vars[var].name.clone();
    let [own, base] = ["start", "start_first"].map(|word| {
        declare(first, var, (format!("{name}_{word}"), VarKind::Let { mutable: false }))
    });
    let counter = declare(first, var, (format!("{name}_first"), VarKind::Loop));
    let before = [(own, own_start), (base, at_first)];
    let before = before.map(|(var, init)| stmt(StmtKind::Let { var, init: Some(init) }));
    let [from, n, lhs, rhs] =
        [base, counter, own, base].map(|var| first.like(own_start, ExprKind::Var(var)));
    *start = from;
    let is_from_0 = first.kernel.exprs[at_first].kind == ExprKind::Literal(Literal::Int(0));
    let offset = if is_from_0 { lhs } else { binary(first, BinaryOp::Sub, lhs, rhs) };
    let init = Some(binary(first, BinaryOp::Add, n, offset));
    // What was the loop's variable is set once in each round.
    first.kernel.vars[var].kind = VarKind::Let { mutable: false };
    body.insert(0, stmt(StmtKind::Let { var, init }));
    Some((counter, before.into()))
}

fn declare(first: &mut First<'_>, like: VarId, (name, kind): (String, VarKind)) -> VarId {
    let span = first.kernel.vars[like].span;
    first.kernel.vars.push(Var { name, ty: Type::Index, kind, accumulator: false, span })
}

fn binary(first: &mut First<'_>, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> ExprId {
    let Expr { ty, span, .. } = first.kernel.exprs[lhs];
    first.kernel.exprs.push(Expr { kind: ExprKind::Binary { op, lhs, rhs }, ty, span })
}
