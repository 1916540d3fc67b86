//! Which configurations are measured next, and how often.
//!
//! A plan sees the space and all that has been measured, and proposes a batch; an
//! empty batch ends the search. Plans hold no clock and measure nothing, so that
//! for equal measurements and an equal seed they propose the same.

mod descent;
mod effects;
mod exhaustive;
pub(super) mod halving;
mod hopeful;
mod listed;
mod random;
mod varied;

use tile_ir::config::Config;

use super::search::History;
use super::space::Space;

pub(crate) use listed::Listed;

/// In which order a search goes through the configurations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// Those that the analytical model likes best, of which the better half is
    /// measured again and more often until few are left; then what is near the best
    /// and may be faster, as far as all measurements tell, as long as that helps.
    #[default]
    Halving,
    /// From the model's favourite to whatever differs from the best in one choice
    /// and is faster, until nothing is; then from another start.
    Descent,
    /// Any that are worth compiling, in random order.
    Random,
    /// All that are worth compiling, the model's favourites first, then what is near the
    /// fastest.
    Exhaustive,
}

impl Strategy {
    /// A new search.
    pub(crate) fn plan(self, seed: u64) -> Box<dyn Plan> {
        match self {
            Self::Halving => Box::new(halving::Halving::new(seed)),
            Self::Descent => Box::new(descent::Descent::new(seed)),
            Self::Random => Box::new(random::Random::new(seed)),
            Self::Exhaustive => Box::new(exhaustive::Exhaustive::default()),
        }
    }
}

/// A configuration to measure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Proposal {
    pub(crate) config: Config,
    /// Rounds, beside those that it has had.
    pub(crate) rounds: usize,
}

impl Proposal {
    pub(crate) fn new(config: Config, rounds: usize) -> Self {
        Self { config, rounds }
    }
}

/// The course of a search.
pub(crate) trait Plan {
    /// What is to be measured next; nothing ends the search.
    fn next(&mut self, space: &Space<'_>, seen: &History) -> Vec<Proposal>;
}
