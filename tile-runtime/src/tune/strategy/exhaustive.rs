//! All that are worth compiling, the model's favourites first; then what differs
//! from the best in one choice, as long as that helps.

use super::{Plan, Proposal};
use crate::tune::search::History;
use crate::tune::space::Space;

/// Configurations of a batch.
const BATCH: usize = 32;

/// See the module.
pub(super) struct Exhaustive;

impl Plan for Exhaustive {
    fn next(&mut self, space: &Space<'_>, seen: &History) -> Vec<Proposal> {
        let is_new = |config: &&_| !seen.knows(config);
        let first: Vec<_> = space.ranked().filter(is_new).take(BATCH).cloned().collect();
        let configs = match (first.is_empty(), seen.best()) {
            (true, Some(best)) => {
                let near = space.neighbours(&best.config).into_iter();
                near.filter(|config| !seen.knows(config)).collect()
            }
            _ => first,
        };
        configs.into_iter().map(|config| Proposal::new(config, 2)).collect()
    }
}
