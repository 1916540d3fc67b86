//! Any that are worth compiling, in random order; what differs in other choices
//! than tile sizes and items per thread is drawn along the way.

use super::{Plan, Proposal};
use crate::tune::search::History;
use crate::tune::space::Space;

/// Configurations of a batch.
const BATCH: usize = 16;
/// Draws that may give nothing new.
const DRAWS: usize = 8 * BATCH;

/// See the module.
pub(super) struct Random {
    rng: fastrand::Rng,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: fastrand::Rng::with_seed(seed) }
    }
}

impl Plan for Random {
    fn next(&mut self, space: &Space<'_>, seen: &History) -> Vec<Proposal> {
        let ranked: Vec<_> = space.ranked().collect();
        let mut batch: Vec<Proposal> = Vec::new();
        for _ in 0..DRAWS {
            if batch.len() == BATCH || ranked.is_empty() {
                break;
            }
            let start = ranked[self.rng.usize(..ranked.len())];
            let near = space.variations(start);
            // As often a first choice itself as one of its variations.
            let config = match near.as_slice() {
                [] => start.clone(),
                near if self.rng.bool() => near[self.rng.usize(..near.len())].clone(),
                _ => start.clone(),
            };
            let is_new = !seen.knows(&config) && batch.iter().all(|other| other.config != config);
            if is_new {
                batch.push(Proposal::new(config, 2));
            }
        }
        batch
    }
}
