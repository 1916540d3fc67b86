//! Successive halving over the model's favourites, then refinement.
//!
//! 1. The first [`POOL`] of the model's list, at most [`PER_TILES`] of one set of
//!    tile sizes: the model is better at telling tile sizes apart than at the rest.
//! 2. The better half again, with more rounds, until [`SURVIVORS`] are left.
//! 3. What differs from the best in one choice, then the best few of all again, so
//!    that one lucky round decides nothing; as long as the best gets better.

use std::collections::BTreeMap;

use tile_ir::config::Config;

use super::{Plan, Proposal};
use crate::tune::search::History;
use crate::tune::space::Space;

const POOL: usize = 48;
const PER_TILES: usize = 3;
const SURVIVORS: usize = 6;
/// The most rounds that one halving gives.
const MAX_ROUNDS: usize = 4;
/// Neighbours that are tried at once.
const NEAR: usize = 32;
/// Less is no improvement.
const GAIN: f64 = 0.997;
/// Refinements that bring nothing before the search ends: one of the best, one of
/// the second best.
const PATIENCE: usize = 2;

/// See the module.
#[derive(Default)]
pub(super) struct Halving {
    stage: Stage,
}

#[derive(Default)]
enum Stage {
    #[default]
    Start,
    /// These were measured, and the better half is to be with so many rounds.
    Halve { pool: Vec<Config>, rounds: usize },
    /// Neighbours of one of the best are to be tried.
    Refine { without_gain: usize },
    /// They were tried; the best few are to be confirmed. `before` is the best
    /// time until then, in seconds.
    Confirm { before: f64, without_gain: usize },
    /// They were confirmed.
    Judge { before: f64, without_gain: usize },
}

impl Plan for Halving {
    fn next(&mut self, space: &Space<'_>, seen: &History) -> Vec<Proposal> {
        loop {
            match std::mem::take(&mut self.stage) {
                Stage::Start => {
                    let pool = favourites(space);
                    self.stage = Stage::Halve { pool: pool.clone(), rounds: 2 };
                    if !pool.is_empty() {
                        return propose(pool, 1);
                    }
                }
                Stage::Halve { pool, rounds } => {
                    let mut timed: Vec<(f64, Config)> = pool
                        .into_iter()
                        .filter_map(|config| Some((seen.find(&config)?.seconds()?, config)))
                        .collect();
                    timed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
                    timed.truncate(timed.len().div_ceil(2));
                    if timed.len() <= SURVIVORS {
                        self.stage = Stage::Refine { without_gain: 0 };
                        continue;
                    }
                    let pool: Vec<Config> = timed.into_iter().map(|(_, config)| config).collect();
                    let next = (rounds * 2).min(MAX_ROUNDS);
                    self.stage = Stage::Halve { pool: pool.clone(), rounds: next };
                    return propose(pool, rounds);
                }
                Stage::Refine { without_gain } => {
                    let best = seen.fastest(PATIENCE);
                    let Some(before) = best.first().and_then(|first| first.seconds()) else {
                        return self.end();
                    };
                    // After a vain look around the best, around the second best.
                    let Some(centre) = best.get(without_gain) else { return self.end() };
                    let near = space.neighbours(&centre.config).into_iter();
                    let near: Vec<Config> =
                        near.filter(|config| !seen.knows(config)).take(NEAR).collect();
                    if near.is_empty() {
                        if without_gain + 1 >= PATIENCE {
                            return self.end();
                        }
                        self.stage = Stage::Refine { without_gain: without_gain + 1 };
                        continue;
                    }
                    self.stage = Stage::Confirm { before, without_gain };
                    return propose(near, 1);
                }
                Stage::Confirm { before, without_gain } => {
                    self.stage = Stage::Judge { before, without_gain };
                    let best = seen.fastest(SURVIVORS).into_iter();
                    return propose(best.map(|candidate| candidate.config.clone()), 3);
                }
                Stage::Judge { before, without_gain } => {
                    let now = seen.best().and_then(|best| best.seconds()).unwrap_or(before);
                    let without_gain = if now < before * GAIN { 0 } else { without_gain + 1 };
                    if without_gain >= PATIENCE {
                        return self.end();
                    }
                    self.stage = Stage::Refine { without_gain };
                }
            }
        }
    }
}

impl Halving {
    /// Ends the search, and stays ended.
    fn end(&mut self) -> Vec<Proposal> {
        self.stage = Stage::Refine { without_gain: PATIENCE };
        Vec::new()
    }
}

fn propose(configs: impl IntoIterator<Item = Config>, rounds: usize) -> Vec<Proposal> {
    configs.into_iter().map(|config| Proposal::new(config, rounds)).collect()
}

/// The model's favourites, few of one set of tile sizes.
fn favourites(space: &Space<'_>) -> Vec<Config> {
    let mut of_tiles: BTreeMap<&[u32], usize> = BTreeMap::new();
    let some = space.ranked().filter(|config| {
        let count = of_tiles.entry(&config.tiles).or_default();
        *count += 1;
        *count <= PER_TILES
    });
    some.take(POOL).cloned().collect()
}
