//! Which assumption about loaded data settles a pair.
//!
//! One is offered only where the pair is proved with it: a hint that does not help
//! costs more than none.

use super::undecided::holds_of;
use crate::check::Uniformity;
use crate::kernel::{Access, ArrayRef, Distinct, ExprKind, Kernel, Source};
use crate::solve::skeleton::Pair;
use crate::solve::symbolic::prove;

/// What the author could say of the data that decides about `pair`, in words.
pub(super) fn settling_assumption(
    kernel: &Kernel,
    uniformity: &Uniformity,
    pair: &Pair,
    source: Source,
) -> Option<String> {
    let Source::Load(load) = source else { return None };
    let ExprKind::Load(Access { array: ArrayRef::Tensor(tensor), .. }) = kernel.exprs[load].kind
    else {
        return None;
    };
    if kernel.tensors[tensor].mutable {
        return None;
    }
    let mut vouched = kernel.clone();
    vouched.distinct.push(Distinct { tensor, span: kernel.span });
    let is_settled = !prove(&vouched, uniformity).iter().any(|found| holds_of(found, pair));
    let name = &kernel.tensors[tensor].name;
    is_settled.then(|| {
        format!(
            "if the elements of `{name}` are known to differ, say so: `assume(distinct({name}));`"
        )
    })
}
