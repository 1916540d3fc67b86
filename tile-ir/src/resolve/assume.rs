//! `assume(…)`: conditions, and facts about whole tensors.

use super::Resolver;
use super::expr::resolve_condition;
use super::scope::resolve_array;
use crate::diag::{Code, Diagnostic};
use crate::dtype::Bound;
use crate::kernel::{ArrayRef, Distinct, ElemType, StmtKind, TensorId};
use crate::span::SpanId;
use crate::syntax::{Expr, ExprKind, Name};

/// Lowers the statement; what is about a whole tensor goes to the kernel.
pub(super) fn resolve_assume(cx: &mut Resolver, fact: &Expr, span: SpanId) -> Option<StmtKind> {
    if let ExprKind::Call { func, args } = &fact.kind
        && func.text == "distinct"
    {
        resolve_distinct(cx, func, args, span);
        return None;
    }
    Some(StmtKind::Assume { cond: resolve_condition(cx, fact) })
}

fn resolve_distinct(cx: &mut Resolver, func: &Name, args: &[Expr], span: SpanId) {
    const FORM: &str = "write `assume(distinct(a));`, with a tensor of integers";
    if cx.collective.is_some() || cx.jumps.is_inside() {
        let message =
            "`assume(distinct(…))` is about the whole launch and stands in no condition or loop";
        cx.diags.push(
            Diagnostic::error(Code::Syntax, span, message).help("move it to the start of the body"),
        );
    }
    let [Expr { kind: ExprKind::Name(name), .. }] = args else {
        let message = "`distinct` takes the name of a tensor";
        cx.diags.push(Diagnostic::error(Code::MisusedName, func.span, message).help(FORM));
        return;
    };
    let Some(array) = resolve_array(cx, name) else { return };
    let ArrayRef::Tensor(tensor) = array else {
        let message = format!("`{}` is a tile, whose elements the kernel makes", name.text);
        cx.diags.push(Diagnostic::error(Code::MisusedName, name.span, message).help(FORM));
        return;
    };
    if require_fixed_integers(cx, name, tensor) {
        cx.kernel.distinct.push(Distinct { tensor, span });
    }
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
