//! Successive halving over the model's favourites, then refinement.
//!
//! 1. The first [`FIRST_POOL`] of the model's list that are no neighbours of one another,
//!    and each of them again with other choices made anew ([`varied()`]): few, so that where
//!    compilations and launches are long there is time for the rest.
//! 2. The better half again, with more rounds, until [`SURVIVORS`] are left.
//! 3. What is a few choices away from the best and may be faster, as far as all that was
//!    measured tells ([`hopeful()`]), and the best with the tiles and items of the model's next
//!    favourites; then the best few of all again, so that one lucky round decides nothing; as
//!    long as the best gets better.
//! 4. All of it again with the next [`POOL`] of the model's list, until nothing is left of
//!    it.

use tile_ir::config::Config;

use super::hopeful::{Neighbours, hopeful};
use super::varied::varied;
use super::{Plan, Proposal};
use crate::tune::search::{Candidate, History};
use crate::tune::space::{Space, distance};

const FIRST_POOL: usize = 15;
pub(in crate::tune) const POOL: usize = 48;
const SURVIVORS: usize = 6;
/// The most rounds that one halving gives.
const MAX_ROUNDS: usize = 4;
/// How many of the best the first refinement looks around.
const CENTRES: usize = 3;
/// Hopeful ones that are tried at once.
const NEAR: usize = 24;
/// Tiles and items of the model's list that are tried with them: what was measured of others
/// tells little of these. On 48 made-up landscapes a search of ten seconds reaches 1.035 of the
/// best listed with them and 1.017 without, at the least 0.964 and 0.909.
const TILES: usize = 8;
/// Less is no improvement.
const GAIN: f64 = 0.997;
/// Refinements that bring nothing before the next pool: one of the best, one of the
/// second best.
const PATIENCE: usize = 2;

/// See the module.
pub(in crate::tune) struct Halving {
    rng: fastrand::Rng,
    neighbours: Neighbours,
    stage: Stage,
    /// Pools that were begun with.
    pools: usize,
    /// How often hopeful ones have been tried since the last pool.
    refinements: usize,
}

#[derive(Default)]
enum Stage {
    #[default]
    Start,
    /// These were measured, and the better half is to be with so many rounds.
    Halve { pool: Vec<Config>, rounds: usize },
    /// What may be faster than the best is to be tried.
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
                    let size = if self.pools == 0 { FIRST_POOL } else { POOL };
                    let pool = favourites(space, seen, size);
                    self.pools += 1;
                    if pool.is_empty() {
                        return self.end();
                    }
                    self.refinements = 0;
                    let mut varied = varied(space, &pool, &mut self.rng);
                    varied.retain(|config| !seen.knows(config));
                    let pool: Vec<Config> = pool.into_iter().chain(varied).collect();
                    self.stage = Stage::Halve { pool: pool.clone(), rounds: 2 };
                    return propose(pool, 1);
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
                    let best = seen.best().and_then(Candidate::seconds);
                    let Some(before) = best.filter(|_| without_gain < PATIENCE) else {
                        self.stage = Stage::Start;
                        continue;
                    };
                    // First around several; then around the best, and after a vain look
                    // there around the second best.
                    let centres = if self.refinements == 0 {
                        seen.fastest(CENTRES)
                    } else {
                        seen.fastest(PATIENCE).into_iter().skip(without_gain).take(1).collect()
                    };
                    self.refinements += 1;
                    let mut near = hopeful(space, seen, (&centres, &mut self.neighbours), NEAR);
                    if let Some(best) = centres.first().filter(|_| !near.is_empty()) {
                        near.extend(with_untried_tiles(space, (seen, &near), &best.config, TILES));
                    }
                    if near.is_empty() {
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
                    // A look around several is no thorough look around the best.
                    let is_better = now < before * GAIN || self.refinements == 1;
                    let without_gain = if is_better { 0 } else { without_gain + 1 };
                    self.stage = Stage::Refine { without_gain };
                }
            }
        }
    }
}

impl Halving {
    pub(super) fn new(seed: u64) -> Self {
        let rng = fastrand::Rng::with_seed(seed);
        let neighbours = Neighbours::default();
        Self { rng, neighbours, stage: Stage::Start, pools: 0, refinements: 0 }
    }

    /// Ends the search, and stays ended: nothing is left to begin with.
    fn end(&mut self) -> Vec<Proposal> {
        self.stage = Stage::Start;
        Vec::new()
    }
}

fn propose(configs: impl IntoIterator<Item = Config>, rounds: usize) -> Vec<Proposal> {
    configs.into_iter().map(|config| Proposal::new(config, rounds)).collect()
}

/// The best as it would be with the tiles and items of the model's first favourites of which
/// nothing was measured, nor is to be with these near ones.
fn with_untried_tiles(
    space: &Space<'_>,
    (seen, near): (&History, &[Config]),
    best: &Config,
    n: usize,
) -> Vec<Config> {
    let tried = seen.configs().chain(near);
    let tried = tried.map(|config| space.coordinates(config)).collect();
    space.elsewhere(best, tried).take(n).collect()
}

/// So many of the model's favourites that have not been tried, any two of which differ in several
/// coordinates: what is near one of them is tried when it does well.
pub(in crate::tune) fn favourites(space: &Space<'_>, seen: &History, size: usize) -> Vec<Config> {
    let mut taken: Vec<(Vec<u32>, &Config)> = Vec::new();
    for config in space.ranked().filter(|config| !seen.knows(config)) {
        let place = space.coordinates(config);
        if taken.iter().all(|(other, _)| distance(&place, other) > 1) {
            taken.push((place, config));
        }
        if taken.len() == size {
            break;
        }
    }
    taken.into_iter().map(|(_, config)| config.clone()).collect()
}
