//! Calls in which work-items get each other's values: `reduce_sum(e)`.
//!
//! Such a call is a statement of its own, which comes before the one that it is
//! written in; calls within one statement come in order of evaluation. So it may
//! stand wherever its statement evaluates it once.

use super::call::arguments;
use super::convert::{Conversion, expect_type};
use super::expr::{resolve_expr, resolve_index};
use super::operate::{Obligation, Operation};
use super::scope::{Binding, Naming};
use super::types::Ty;
use super::{Resolver, each};
use crate::diag::{Code, Diagnostic};
use crate::dtype::DType;
use crate::exchange::ExchangeOp;
use crate::kernel::{ElemType, Exit, ExprId, ExprKind, Literal, Stmt, StmtKind, VarKind};
use crate::op::{LogicOp, UnaryOp};
use crate::span::SpanId;
use crate::syntax::{self, Expr, Jump, Name};

/// The type of a ballot and of other counts of bits.
pub(super) const U32: Ty = Ty::scalar(ElemType::Concrete(DType::U32));

/// Why an expression need not be evaluated exactly once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conditional {
    /// The right operand of `&&` or `||`.
    Logic(LogicOp),
    /// An arm of an `if` that is a value.
    Arm,
}

/// Lowers an expression that need not be evaluated exactly once: where the
/// condition of `path` holds, or where it does not.
pub(super) fn conditionally<R>(
    cx: &mut Resolver,
    why: Conditional,
    path: (ExprId, bool),
    lower: impl FnOnce(&mut Resolver) -> R,
) -> R {
    let outer = cx.conditional;
    cx.conditional = outer.or(Some(why));
    cx.path.push(path);
    let result = lower(cx);
    cx.path.pop();
    cx.conditional = outer;
    result
}

/// Lowers a call of `op`.
pub(super) fn resolve_exchange(
    cx: &mut Resolver,
    op: ExchangeOp,
    func: &Name,
    args: &[Expr],
    span: SpanId,
) -> ExprId {
    let (arg, lane) = if op.takes_lane() {
        let Some([arg, lane]) = arguments(cx, func, args) else { return cx.push_poison(span) };
        (arg, Some(lane))
    } else {
        let Some([arg]) = arguments(cx, func, args) else { return cx.push_poison(span) };
        (arg, None)
    };
    let may_stand = may_stand(cx, op.name(), func.span);
    let value = resolve_expr(cx, arg, Conversion::None);
    let value = match op.is_of_conditions() {
        true => expect_type(cx, value, Ty::BOOL, &format!("`{}`", op.name())),
        false => value,
    };
    let lane = lane.map(|lane| resolve_index(cx, lane));
    if !may_stand {
        return cx.push_poison(span);
    }
    let of = cx.type_of(value);
    cx.obligations.push(Obligation { operation: Operation::Exchange(op), ty: of, span: func.span });
    let ty = if op == ExchangeOp::Ballot { U32 } else { of };
    let name = Name { text: op.name().to_owned(), span: func.span };
    let var = cx.new_var(&name, ty, VarKind::Let { mutable: false });
    let kind = StmtKind::Exchange { var, op, value, lane };
    cx.hoisted.push(Stmt { kind, span, head: func.span });
    cx.push(ExprKind::Var(var), ty, span)
}

/// Lowers `warp_barrier;`.
pub(super) fn resolve_warp_barrier(cx: &mut Resolver, head: SpanId) -> Option<StmtKind> {
    may_stand(cx, "warp_barrier", head).then_some(StmtKind::WarpBarrier)
}

/// Makes `name` the name of the exchange whose result `value` is: `let x =
/// reduce_sum(e);` needs no variable between the two. Gives whether `value` is one.
pub(super) fn take_name(cx: &mut Resolver, value: ExprId, name: &Name) -> bool {
    let ExprKind::Var(read) = cx.kernel.exprs[value].kind else { return false };
    let Some(Stmt { kind: StmtKind::Exchange { var, .. }, .. }) = cx.hoisted.last() else {
        return false;
    };
    let var = *var;
    if var != read {
        return false;
    }
    let declared = &mut cx.kernel.vars[var];
    declared.name.clone_from(&name.text);
    declared.span = name.span;
    cx.scopes.declare(&name.text, Binding::Var(var));
    true
}

/// Condition and body of a `while` whose condition may hold exchanges, which are
/// made anew for every evaluation of it:
///
/// ```text
/// let mut done = false;
/// while !done {
///     exchanges
///     if condition { body } else { done = true; }
/// }
/// ```
pub(super) fn make_anew(
    cx: &mut Resolver,
    (condition, span): (ExprId, SpanId),
    exchanges: Vec<Stmt>,
    body: Vec<Stmt>,
    (stmt, out): (&syntax::Stmt, &mut Vec<Stmt>),
) -> (ExprId, Vec<Stmt>) {
    if exchanges.is_empty() {
        return (condition, body);
    }
    let stmt_of = |kind| Stmt { kind, span: stmt.span, head: stmt.head };
    let name = Name { text: "done".to_owned(), span };
    let done = cx.new_var(&name, Ty::BOOL, VarKind::Let { mutable: true });
    let [no, yes] =
        [false, true].map(|value| cx.push(ExprKind::Literal(Literal::Bool(value)), Ty::BOOL, span));
    let operand = cx.push(ExprKind::Var(done), Ty::BOOL, span);
    let goes_on = cx.push(ExprKind::Unary { op: UnaryOp::Not, operand }, Ty::BOOL, span);
    out.push(stmt_of(StmtKind::Let { var: done, init: Some(no) }));
    let otherwise = vec![stmt_of(StmtKind::Assign { var: done, value: yes })];
    cx.kernel.exits.push(Exit { jump: Jump::Break, cond: Some(condition), flag: Some(done), span });
    let mut round = exchanges;
    round.push(stmt_of(StmtKind::If { cond: condition, then: body, otherwise }));
    (goes_on, round)
}

/// Whether the work-items of a group come by here together, each once.
fn may_stand(cx: &mut Resolver, name: &str, span: SpanId) -> bool {
    if let Naming::TileParams(place) | Naming::Dims(place) | Naming::Constants(place) = cx.naming {
        let message =
            format!("`{name}` takes values of work-items, which {place} cannot depend on");
        cx.error(Code::MisusedName, span, message);
        return false;
    }
    if cx.signatures_only || !cx.frames.is_empty() {
        let message =
            format!("`{name}` is what work-items do together, and a function computes with values");
        let diagnostic = Diagnostic::error(Code::MisusedName, span, message);
        cx.diags.push(diagnostic.help("call it in the kernel, and pass what it gives"));
        return false;
    }
    if cx.kernel.block.is_none() {
        let message = format!(
            "`{name}` is what work-items do together, and `{}` has no `block`",
            cx.kernel.name
        );
        let diagnostic = Diagnostic::error(Code::UnsupportedOperation, span, message);
        cx.diags.push(diagnostic.help("give the kernel work-items: `block: (tx in TN)`"));
        return false;
    }
    if cx.collective.is_some() {
        each::refuse_in_collective(cx, name, span);
        return false;
    }
    let Some(why) = cx.conditional else { return true };
    let place = match why {
        Conditional::Logic(op) => format!("on the right of `{}`", op.symbol()),
        Conditional::Arm => "in an arm of `if`".to_owned(),
    };
    let message = format!("`{name}` cannot stand {place}, which is not always evaluated");
    let diagnostic = Diagnostic::error(Code::Divergence, span, message);
    cx.diags.push(diagnostic.help(format!("give its value a name before: `let x = {name}(…);`")));
    false
}
