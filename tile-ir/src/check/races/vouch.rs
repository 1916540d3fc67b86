//! Which assumption about loaded data, or which question about a counter, settles a pair.
//!
//! One is offered only where the pair is proved with it, and not without: a hint that does not
//! help costs more than none.

use std::collections::BTreeSet;

use super::undecided::holds_of;
use crate::check::Uniformity;
use crate::kernel::{
    Access, ArrayRef, Expr, ExprId, ExprKind, Kernel, Order, Promise, Source, Stmt, StmtKind, Type,
    print_access,
};
use crate::solve::skeleton::{Pair, Scope};
use crate::solve::symbolic::prove_among;
use crate::span::SpanId;

/// What the author could say of the data that decides about `pair`, or ask of the counter, in
/// words.
pub(super) fn settling_assumption(
    kernel: &Kernel,
    uniformity: &Uniformity,
    pair: &Pair,
    source: Source,
) -> Option<String> {
    let access = source.access(kernel)?;
    let ArrayRef::Tensor(tensor) = access.array else { return None };
    let (first, second) = pair.sites();
    let places = BTreeSet::from([first.span, second.span]);
    let is_asked = |_: ArrayRef, met: [SpanId; 2], is_between: bool| {
        is_between == (pair.scope == Scope::Grid) && BTreeSet::from(met) == places
    };
    let is_settled = |vouched: &Kernel| {
        let unproved = prove_among(vouched, uniformity, &is_asked);
        !unproved.iter().any(|found| holds_of(found, pair))
    };
    if let Source::Old(_) = source {
        let text = print_access(kernel, access);
        return is_settled(&guarded(kernel, access, pair))
            .then(|| format!("ask `if in_bounds({text})` first"));
    }
    if kernel.tensors[tensor].mutable {
        return None;
    }
    let name = &kernel.tensors[tensor].name;
    let is_promised = |order| {
        kernel.promises.iter().any(|promise| promise.tensor == tensor && promise.order == order)
    };
    if is_promised(Order::Distinct) {
        let text = print_access(kernel, access);
        return is_settled(&guarded(kernel, access, pair)).then(|| {
            format!(
                "the elements of `{name}` differ, but all that is read outside of it is one pad: \
                 ask `if in_bounds({text})` first"
            )
        });
    }
    let n_axes = kernel.tensors[tensor].extents.len();
    let orders = [(Order::Distinct, "to differ"), (Order::Sorted, "never to fall")];
    let mut orders = orders
        .into_iter()
        .filter(|(order, _)| !is_promised(*order) && (*order == Order::Distinct || n_axes == 1));
    let settling = orders.find(|(order, _)| {
        let mut vouched = kernel.clone();
        vouched.promises.push(Promise { order: *order, tensor, span: kernel.span });
        is_settled(&vouched)
    });
    // Of a pair that is proved without it, it says nothing.
    settling.filter(|_| !is_settled(kernel)).map(|(order, so)| {
        format!(
            "if the elements of `{name}` are known {so}, say so: `assume({}({name}));`",
            order.name()
        )
    })
}

/// The kernel in which an access is inside wherever the accesses of `pair` are made.
fn guarded(kernel: &Kernel, access: &Access, pair: &Pair) -> Kernel {
    let mut kernel = kernel.clone();
    let ArrayRef::Tensor(tensor) = access.array else { return kernel };
    let kind = ExprKind::InBounds { tensor, indices: access.indices.clone() };
    let cond = kernel.exprs.push(Expr { kind, ty: Type::BOOL, span: kernel.span });
    let mut body = std::mem::take(&mut kernel.body);
    for place in BTreeSet::from([pair.first.stmt, pair.second.stmt]) {
        assume_before(&mut body, place, cond);
    }
    kernel.body = body;
    kernel
}

/// Puts an assumption before the statement at `place`.
fn assume_before(stmts: &mut Vec<Stmt>, place: SpanId, cond: ExprId) {
    if let Some(at) = stmts.iter().position(|stmt| stmt.span == place) {
        let stmt = Stmt { kind: StmtKind::Assume { cond }, span: place, head: place };
        stmts.insert(at, stmt);
        return;
    }
    for stmt in stmts {
        stmt.kind.bodies_mut().into_iter().for_each(|body| assume_before(body, place, cond));
    }
}
