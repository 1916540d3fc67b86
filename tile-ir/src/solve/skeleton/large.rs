//! Launches at which one number of the launch is large, or all dimensions are.
//!
//! `while d < N { d *= 2; lev += 1; }` comes to the 17th level at `N = 65537`, and `s[N / 1000000]`
//! leaves 64 elements at `N = 64000000`: no comparison says anything new there, and no small size
//! comes near. So it is with `if p % 8 == 0 { st[n] = a[p]; n += 1; }` for `p in 0..T` at `T = 33`.
//! One block of such a launch is run, loops in part where they are too long.

use super::joint::{Given, Launch};
use super::sizes::{Choice, Sizes};
use crate::arena::EntityId as _;
use crate::kernel::{Kernel, TileDomain, VarId, VarKind};

/// Dimensions and scalars of a large launch, next to a power of two: as many elements as a loop
/// runs over, as a small table has, and as a tensor may well have.
const LARGE: [i64; 3] = [(1 << 12) + 1, (1 << 17) + 1, i32::MAX as i64];

/// Tile sizes beyond those that are usually run: next to powers of two, up to the largest block.
const LARGE_TILES: [i64; 6] = [33, 65, 129, 257, 513, 1024];

/// The same of two parameters, of which the product is the size of a block.
const LARGE_SIDES: [[i64; 2]; 3] = [[8, 8], [16, 16], [32, 32]];

/// Most numbers that are made large one by one.
const MAX_ALONE: usize = 6;

/// Launches with large numbers, the others of which are as in usual sizes.
pub(super) fn launches(kernel: &Kernel, choice: &Choice<'_>) -> Vec<Launch> {
    let usual = choice.sizes_of_each_tile().next();
    let of_numbers = usual.map(|usual| with_large_numbers(kernel, &usual)).unwrap_or_default();
    let all = tile_sizes(kernel, choice).into_iter().chain(of_numbers);
    let block = vec![0; kernel.grid.len()];
    let launch =
        |sizes| Launch { sizes, block: block.clone(), given: Given::default(), doubts: None };
    all.map(launch).collect()
}

/// Sizes with large tile parameters.
pub(super) fn tile_sizes(kernel: &Kernel, choice: &Choice<'_>) -> Vec<Sizes> {
    let params = kernel.tile_params.values();
    let free = params.filter(|param| match &param.domain {
        TileDomain::Any | TileDomain::Range { .. } | TileDomain::Pow2 { .. } => true,
        TileDomain::List(_) | TileDomain::Equal(_) => false,
    });
    let free: Vec<VarId> = free.map(|param| param.var).take(MAX_ALONE).collect();
    let alone = free.iter().flat_map(|var| LARGE_TILES.map(|value| vec![(*var, value)]));
    let sides = LARGE_SIDES.iter().filter_map(|sides| match free.as_slice() {
        [one, other] => Some(vec![(*one, sides[0]), (*other, sides[1])]),
        _ => None,
    });
    alone.chain(sides).filter_map(|given| choice.sizes_with(&given, 0)).collect()
}

fn with_large_numbers(kernel: &Kernel, usual: &Sizes) -> Vec<Sizes> {
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
    let together = (dims.len() > 1).then_some((dims, LARGE[1]));
    let sizes = |(vars, value): (Vec<VarId>, i64)| {
        let mut sizes = usual.clone();
        for var in vars {
            let most = kernel.vars[var].ty.integer_range().map_or(i128::MAX, |(_, most)| most);
            sizes.values[var.index()] = Some(value.min(i64::try_from(most).unwrap_or(i64::MAX)));
        }
        sizes
    };
    alone.chain(together).map(sizes).collect()
}
