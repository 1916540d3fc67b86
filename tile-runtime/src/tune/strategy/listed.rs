//! Those of a list, in its order; then the better of them again.

use tile_ir::config::Config;

use super::{Plan, Proposal};
use crate::tune::search::History;
use crate::tune::space::Space;

/// How many are measured again, and how often.
const AGAIN: usize = 24;
const ROUNDS: usize = 4;

/// See the module.
pub(crate) struct Listed {
    /// Nothing once it was proposed.
    list: Option<Vec<Proposal>>,
    is_confirmed: bool,
}

impl Listed {
    pub(crate) fn new(configs: &[Config]) -> Self {
        let proposals = configs.iter().map(|config| Proposal::new(config.clone(), 1));
        Self { list: Some(proposals.collect()), is_confirmed: false }
    }
}

impl Plan for Listed {
    fn next(&mut self, _: &Space<'_>, seen: &History) -> Vec<Proposal> {
        if let Some(list) = self.list.take() {
            return list;
        }
        if std::mem::replace(&mut self.is_confirmed, true) {
            return Vec::new();
        }
        let best = seen.fastest(AGAIN).into_iter();
        best.map(|candidate| Proposal::new(candidate.config.clone(), ROUNDS)).collect()
    }
}
