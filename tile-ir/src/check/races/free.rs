//! What indices are made of: data of which nothing is assumed, loaded from tensors that are
//! never written, of which what is shown is no guess; or old values of atomic updates.

use super::text::stands_under;
use crate::check::{Origins, Uniformity, WrittenTensors};
use crate::kernel::{
    Access, ArrayRef, ExprId, ExprKind, Kernel, Place, Stmt, StmtKind, TensorId, VarId,
};
use crate::solve::skeleton::{Pair, Scope, Site};

/// Whether what is loaded in the indices of both accesses may be any data.
pub(super) fn have_free_indices(kernel: &Kernel, pair: &Pair) -> bool {
    let (origins, written) = (Origins::of(kernel), WrittenTensors::of(kernel));
    let is_assumed = |tensor: TensorId| {
        kernel.promises.iter().any(|promise| promise.tensor == tensor)
            || origins.assumed.iter().any(|cond| {
                origins
                    .reaches(kernel, *cond, &|kind| loads(kind) == Some(ArrayRef::Tensor(tensor)))
            })
    };
    let is_bound = |kind: &ExprKind| match loads(kind) {
        Some(ArrayRef::Tensor(tensor)) => written.contains(tensor) || is_assumed(tensor),
        Some(ArrayRef::Tile(_)) => true,
        None => false,
    };
    [pair.first, pair.second].iter().all(|site| {
        let indices = indices_of(kernel, site);
        !indices.is_empty()
            && indices.into_iter().all(|index| !origins.reaches(kernel, index, &is_bound))
    })
}

/// Whether all of a block that come by use one element, whatever the data: its indices are one
/// for the block, and no condition picks who comes by.
pub(super) fn is_for_whole_block(kernel: &Kernel, uniformity: &Uniformity, pair: &Pair) -> bool {
    let is_common = |site: &Site| {
        let indices = indices_of(kernel, site);
        !indices.is_empty() && indices.into_iter().all(|index| uniformity.is_uniform_value(index))
    };
    let is_picked = |cond| !uniformity.is_uniform_value(cond);
    pair.scope == Scope::Block
        && pair.carried.is_none()
        && pair.first.stmt == pair.second.stmt
        && is_common(&pair.first)
        && is_common(&pair.second)
        && !stands_under(&kernel.body, pair.second.stmt, &is_picked)
}

/// Whether the old value of an atomic update decides which element one of the two uses.
pub(super) fn leads_to(kernel: &Kernel, old: VarId, pair: &Pair) -> bool {
    let origins = Origins::of(kernel);
    let indices = [pair.first, pair.second].into_iter().flat_map(|site| indices_of(kernel, &site));
    indices.into_iter().any(|index| origins.vars(kernel, index).contains(&old))
}

fn loads(kind: &ExprKind) -> Option<ArrayRef> {
    let ExprKind::Load(access) = kind else { return None };
    Some(access.array)
}

fn indices_of(kernel: &Kernel, site: &Site) -> Vec<ExprId> {
    let mut loads = kernel.exprs.values().filter_map(|expr| {
        let ExprKind::Load(access) = &expr.kind else { return None };
        Some(access)
    });
    let load = loads.find(|access| access.span == site.span);
    load.or_else(|| stored(&kernel.body, site)).map_or(Vec::new(), |access| access.indices.clone())
}

/// The access that a statement writes to.
fn stored<'k>(stmts: &'k [Stmt], site: &Site) -> Option<&'k Access> {
    stmts.iter().find_map(|stmt| {
        if let StmtKind::Store { access, .. }
        | StmtKind::Update { place: Place::Element(access), .. }
        | StmtKind::Atomic { access, .. } = &stmt.kind
            && access.span == site.span
        {
            return Some(access);
        }
        stmt.kind.bodies().into_iter().find_map(|body| stored(body, site))
    })
}
