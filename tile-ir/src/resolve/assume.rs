//! `assume(…)`: conditions, facts about whole tensors, and numbers that work-items do not
//! have in common.

use super::Resolver;
use super::each;
use super::expr::{resolve_condition, resolve_index};
use super::scope::resolve_array;
use crate::diag::{Code, Diagnostic};
use crate::dtype::Bound;
use crate::kernel::{ArrayRef, ElemType, Order, Promise, StmtKind, TensorId, Within};
use crate::span::SpanId;
use crate::syntax::{Expr, ExprKind, Name};

/// Lowers the statement; what is about a whole tensor goes to the kernel.
pub(super) fn resolve_assume(cx: &mut Resolver, fact: &Expr, span: SpanId) -> Option<StmtKind> {
    if let ExprKind::Call { func, args } = &fact.kind
        && let Some(order) = Order::of_name(&func.text)
    {
        resolve_promise(cx, (order, func.span), args, span);
        return None;
    }
    if let ExprKind::Call { func, args } = &fact.kind
        && let Some(within) = Within::of_name(&func.text)
    {
        return resolve_distinct(cx, (within, func.span), args);
    }
    Some(StmtKind::Assume { cond: resolve_condition(cx, fact) })
}

/// The most numbers of one work-item that an `assume` says to differ.
const MAX_DISTINCT: usize = 8;

fn resolve_distinct(
    cx: &mut Resolver,
    (within, func): (Within, SpanId),
    args: &[Expr],
) -> Option<StmtKind> {
    let called = within.name();
    each::refuse_in_collective(cx, "assume", func);
    if args.is_empty() || args.len() > MAX_DISTINCT {
        let message = format!("`{called}` takes up to {MAX_DISTINCT} numbers of a work-item");
        let help = format!("write `assume({called}(at));`, with a place that data decides");
        cx.diags.push(Diagnostic::error(Code::Syntax, func, message).help(help));
        return None;
    }
    let values = args.iter().map(|arg| resolve_index(cx, arg)).collect();
    Some(StmtKind::Distinct { values, within })
}

fn resolve_promise(cx: &mut Resolver, called: (Order, SpanId), args: &[Expr], span: SpanId) {
    let (order, func) = called;
    let called = order.name();
    let form = format!("write `assume({called}(a));`, with a tensor of integers");
    if cx.collective.is_some() || cx.jumps.is_inside() {
        let message = format!(
            "`assume({called}(…))` is about the whole launch and stands in no condition or loop"
        );
        cx.diags.push(
            Diagnostic::error(Code::Syntax, span, message).help("move it to the start of the body"),
        );
    }
    let [Expr { kind: ExprKind::Name(name), .. }] = args else {
        let message = format!("`{called}` takes the name of a tensor");
        cx.diags.push(Diagnostic::error(Code::MisusedName, func, message).help(form));
        return;
    };
    let Some(array) = resolve_array(cx, name) else { return };
    let ArrayRef::Tensor(tensor) = array else {
        let message = format!("`{}` is a tile, whose elements the kernel makes", name.text);
        cx.diags.push(Diagnostic::error(Code::MisusedName, name.span, message).help(form));
        return;
    };
    if require_fixed_integers(cx, name, tensor) && has_order(cx, name, (order, tensor)) {
        cx.kernel.promises.push(Promise { order, tensor, span });
    }
}

/// Reports a tensor whose elements are in no line.
fn has_order(cx: &mut Resolver, name: &Name, (order, tensor): (Order, TensorId)) -> bool {
    let declared = &cx.kernel.tensors[tensor];
    let n_axes = declared.extents.len();
    if order == Order::Distinct || n_axes == 1 {
        return true;
    }
    let message = format!("`{}` has {n_axes} axes, and only one of 1 axis is sorted", name.text);
    let diagnostic = Diagnostic::error(Code::MisusedName, name.span, message);
    let label = format!("`{}` is declared here", name.text);
    let span = declared.span;
    cx.diags.push(diagnostic.label(span, label));
    false
}

/// Reports a tensor that is no input of integers.
fn require_fixed_integers(cx: &mut Resolver, name: &Name, tensor: TensorId) -> bool {
    let declared = &cx.kernel.tensors[tensor];
    let is_integer = match declared.elem {
        ElemType::Concrete(dtype) => dtype.is_integer(),
        ElemType::Param(param) => cx.kernel.type_params[param].bound == Bound::Integer,
        ElemType::Acc(_) => false,
    };
    let fault = match (declared.mutable, is_integer) {
        (true, _) => "may be written, so that nothing said of its elements lasts",
        (false, false) => "does not hold integers",
        (false, true) => return true,
    };
    let span = declared.span;
    let diagnostic =
        Diagnostic::error(Code::MisusedName, name.span, format!("`{}` {fault}", name.text));
    cx.diags.push(diagnostic.label(span, format!("`{}` is declared here", name.text)));
    false
}
