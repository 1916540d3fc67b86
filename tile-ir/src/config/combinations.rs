//! The combinations of tile sizes that are tried.

use super::{ConfigError, candidate_values, tile_named};
use crate::kernel::{Kernel, TileParamId};

/// Most tile-size combinations that are estimated; beyond that the candidate
/// values of each parameter are thinned out.
const MAX_COMBINATIONS: usize = 4096;

/// Tile sizes that are given by name, by id.
pub(super) fn given_by_id(
    kernel: &Kernel,
    given: &[(&str, u32)],
) -> Result<Vec<(TileParamId, u32)>, ConfigError> {
    let by_id = given.iter().map(|(name, value)| Ok((tile_named(kernel, name)?, *value)));
    by_id.collect()
}

/// All combinations of the free parameters' candidate values, smaller first.
pub(super) fn combinations(
    kernel: &Kernel,
    given: &[(TileParamId, u32)],
) -> impl Iterator<Item = Vec<(TileParamId, u32)>> + use<> {
    let mut axes: Vec<(TileParamId, Vec<u32>)> = Vec::new();
    for (id, param) in kernel.tile_params.iter() {
        let fixed = given.iter().find(|(given_id, _)| *given_id == id);
        let values = match fixed {
            Some((_, value)) => vec![*value],
            None => candidate_values(&param.domain),
        };
        if !values.is_empty() {
            axes.push((id, values));
        }
    }
    let count = |axes: &[(TileParamId, Vec<u32>)]| -> usize {
        axes.iter().map(|(_, values)| values.len()).product()
    };
    while count(&axes) > MAX_COMBINATIONS {
        let Some((_, longest)) = axes.iter_mut().max_by_key(|(_, values)| values.len()) else {
            break;
        };
        let mut keep = false;
        longest.retain(|_| {
            keep = !keep;
            keep
        });
    }
    let total = count(&axes);
    (0..total).map(move |mut number| {
        let digits = axes.iter().rev().map(|(id, values)| {
            let value = values[number % values.len()];
            number /= values.len();
            (*id, value)
        });
        digits.collect()
    })
}
