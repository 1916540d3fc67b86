//! Combinations of tile sizes to run: of each kind, as they relate to each other, one.

use std::collections::BTreeSet;

use super::literals::largest_literal;
use super::pieces::variables;
use crate::config::{check_tiles, tied_tiles};
use crate::kernel::{Kernel, TileDomain, TileParam, TileParamId, VarId};

/// Most combinations of tile sizes that are looked at, and that are run.
const MAX_CANDIDATES: usize = 4096;
const MAX_COMBINATIONS: usize = 12;

/// Whether a tile parameter is more than a number of blocks: an extent of a block or a tile is
/// made of it.
pub(super) fn is_extent(kernel: &Kernel, param: VarId) -> bool {
    let block = kernel.block.iter().flatten().map(|axis| axis.extent);
    let tiles = kernel.tiles.values().flat_map(|tile| tile.extents.iter().copied());
    let mut is_named = false;
    block.chain(tiles).for_each(|extent| {
        variables(kernel, extent, &mut |var| is_named |= var == param);
    });
    is_named
}

/// Admissible combinations that differ in kind, cheap ones first.
pub(super) fn tile_sizes(kernel: &Kernel) -> Vec<Vec<u32>> {
    let above = largest_literal(kernel) as u32 + 1;
    let mut axes: Vec<(TileParamId, Vec<u32>)> = Vec::new();
    for (id, param) in kernel.tile_params.iter() {
        let values = candidates(&param.domain, above);
        if !values.is_empty() {
            axes.push((id, values));
        }
    }
    let total = |axes: &[(TileParamId, Vec<u32>)]| -> usize {
        axes.iter().fold(1, |product, (_, values)| product.saturating_mul(values.len()))
    };
    while total(&axes) > MAX_CANDIDATES {
        let Some((_, longest)) = axes.iter_mut().max_by_key(|(_, values)| values.len()) else {
            break;
        };
        longest.pop();
    }
    let mut combinations: Vec<Vec<u32>> = (0..total(&axes))
        .filter_map(|mut number| {
            let digits = axes.iter().map(|(id, values)| {
                let value = values[number % values.len()];
                number /= values.len();
                (*id, value)
            });
            tied_tiles(kernel, &digits.collect::<Vec<_>>()).ok()
        })
        .collect();
    combinations.sort_by_key(|tiles| {
        let ones = tiles.iter().filter(|tile| **tile == 1).count();
        (ones, tiles.iter().fold(1u64, |product, tile| product.saturating_mul((*tile).into())))
    });
    // Few that are all there is are all run.
    let is_open = |param: &TileParam| param.domain == TileDomain::Any;
    let are_all =
        combinations.len() <= MAX_COMBINATIONS && !kernel.tile_params.values().any(is_open);
    let mut facts = BTreeSet::new();
    let mut chosen: Vec<Vec<u32>> = Vec::new();
    for tiles in combinations {
        let new: Vec<_> = facts_of(&tiles, above).filter(|fact| !facts.contains(fact)).collect();
        let shows_more = are_all || !new.is_empty() || tiles.is_empty();
        if shows_more && check_tiles(kernel, &tiles).is_ok() {
            facts.extend(new);
            chosen.push(tiles);
        }
        if chosen.len() == MAX_COMBINATIONS {
            break;
        }
    }
    chosen
}

/// What a combination shows: how each parameter relates to each other one, and
/// of which kind each is.
fn facts_of(tiles: &[u32], above: u32) -> impl Iterator<Item = (usize, usize, u32)> {
    // Odd or even; how small; whether above the literals, and a power of two.
    let kinds = tiles.iter().enumerate().flat_map(move |(index, &tile)| {
        let high = 2 * u32::from(tile >= above) + u32::from(tile > 2 && tile.is_power_of_two());
        [tile % 2, 2 + tile.min(4), 8 + high].map(|kind| (index, index, kind))
    });
    let relations = tiles.iter().enumerate().flat_map(move |(index, tile)| {
        let others = tiles.iter().enumerate().skip(index + 1);
        others.map(move |(other, size)| {
            let relation = u32::from(tile < size) + 2 * u32::from(tile > size);
            (index, other, relation)
        })
    });
    kinds.chain(relations)
}

/// Values of a domain to try, rising; a tied parameter has none of its own.
pub(super) fn candidates(domain: &TileDomain, above: u32) -> Vec<u32> {
    // Where none is above, the largest.
    let first_above = |values: Vec<u32>| {
        let first = values.iter().find(|value| **value >= above);
        first.or(values.last()).copied()
    };
    let mut values: Vec<u32> = match domain {
        TileDomain::Any => (1..=5).chain([8, above]).collect(),
        TileDomain::Range { min, max, step } => {
            let step = (*step).max(1);
            let last = max - (max - min) % step;
            let first = min.saturating_add(above.saturating_sub(*min).div_ceil(step) * step);
            let few = domain.values().take(3);
            few.chain([first.clamp(*min, last), last]).collect()
        }
        TileDomain::Pow2 { .. } => {
            let all: Vec<u32> = domain.values().collect();
            let first = first_above(all.clone());
            let last = all.last().copied();
            all.into_iter().take(3).chain(first).chain(last).collect()
        }
        TileDomain::List(values) => values.clone(),
        TileDomain::Equal(_) => Vec::new(),
    };
    values.sort_unstable();
    values.dedup();
    values
}
