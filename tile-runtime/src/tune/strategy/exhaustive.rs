//! All that are worth compiling: the first choices, the model's favourites first; then what
//! differs from one that was measured in one choice, around the fastest first, until
//! nothing is left.

use std::collections::BTreeSet;

use tile_ir::config::Config;

use super::{Plan, Proposal};
use crate::tune::search::History;
use crate::tune::space::Space;

/// Configurations of a batch.
const BATCH: usize = 32;

/// See the module.
#[derive(Default)]
pub(super) struct Exhaustive {
    /// Those around which all were proposed.
    done: BTreeSet<Config>,
}

impl Exhaustive {
    /// Some that were not proposed, around one that was.
    fn around(&mut self, space: &Space<'_>, seen: &History) -> Vec<Config> {
        for centre in seen.fastest(usize::MAX) {
            if !self.done.contains(&centre.config) {
                let near = space.neighbours(&centre.config).into_iter();
                let mut new: Vec<Config> = near.filter(|config| !seen.knows(config)).collect();
                if new.len() <= BATCH {
                    self.done.insert(centre.config.clone());
                }
                new.truncate(BATCH);
                if !new.is_empty() {
                    return new;
                }
            }
        }
        Vec::new()
    }
}

impl Plan for Exhaustive {
    fn next(&mut self, space: &Space<'_>, seen: &History) -> Vec<Proposal> {
        let is_new = |config: &&_| !seen.knows(config);
        let mut configs: Vec<_> = space.ranked().filter(is_new).take(BATCH).cloned().collect();
        if configs.is_empty() {
            configs = self.around(space, seen);
        }
        configs.into_iter().map(|config| Proposal::new(config, 2)).collect()
    }
}
