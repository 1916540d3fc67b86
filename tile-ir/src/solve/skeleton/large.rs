//! Launches at which one number of the launch is large, or all dimensions are.
//!
//! `while d < N { d *= 2; lev += 1; }` comes to the 17th level at `N = 65537`, and `s[N / 1000000]`
//! leaves 64 elements at `N = 64000000`: no comparison says anything new there, and no small size
//! comes near. One block of such a launch is run, loops in part where they are too long.

use super::joint::{Given, Launch};
use super::sizes::Sizes;
use crate::arena::EntityId as _;
use crate::kernel::{Kernel, VarId, VarKind};

/// Dimensions and scalars of a large launch, next to a power of two: as many elements as a small
/// table has, and as a tensor may well have.
const LARGE: [i64; 2] = [(1 << 17) + 1, i32::MAX as i64];

/// Most numbers that are made large one by one.
const MAX_ALONE: usize = 6;

/// Such launches, the others of whose numbers are as in `usual` sizes.
pub(super) fn launches(kernel: &Kernel, usual: &Sizes) -> Vec<Launch> {
    let is_dim = |var: &VarId| kernel.vars[*var].kind == VarKind::Dim;
    let numbers = kernel.vars.iter().filter(|(_, var)| match var.kind {
        VarKind::Dim => true,
        VarKind::Scalar(_) => var.ty.integer_range().is_some(),
        VarKind::TileParam(_)
        | VarKind::Grid
        | VarKind::Block
        | VarKind::Each
        | VarKind::Loop
        | VarKind::Let { .. } => false,
    });
    let numbers: Vec<VarId> = numbers.map(|(id, _)| id).take(MAX_ALONE).collect();
    let dims: Vec<VarId> = numbers.iter().copied().filter(is_dim).collect();
    let alone = LARGE.iter().flat_map(|value| numbers.iter().map(move |var| (vec![*var], *value)));
    let together = (dims.len() > 1).then_some((dims, LARGE[0]));
    let launch = |(vars, value): (Vec<VarId>, i64)| {
        let mut sizes = usual.clone();
        for var in vars {
            let most = kernel.vars[var].ty.integer_range().map_or(i128::MAX, |(_, most)| most);
            sizes.values[var.index()] = Some(value.min(i64::try_from(most).unwrap_or(i64::MAX)));
        }
        let block = vec![0; kernel.grid.len()];
        Launch { sizes, block, given: Given::default(), doubts: None }
    };
    alone.chain(together).map(launch).collect()
}
