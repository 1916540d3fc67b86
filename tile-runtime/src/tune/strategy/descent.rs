//! Coordinate descent: from a start to whatever differs in one choice and is
//! faster, until nothing is; then from another start.

use tile_ir::config::Config;

use super::{Plan, Proposal};
use crate::tune::search::History;
use crate::tune::space::Space;

/// Starts, the first of which is the model's favourite.
const STARTS: usize = 4;
/// The random starts are among the model's best so many.
const AMONG: usize = 64;

/// See the module.
pub(super) struct Descent {
    rng: fastrand::Rng,
    starts: usize,
    /// Where the present descent is, and what was tried around it.
    place: Option<(Config, Vec<Config>)>,
}

impl Descent {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: fastrand::Rng::with_seed(seed), starts: 0, place: None }
    }

    /// The next start that has not been measured.
    fn start(&mut self, space: &Space<'_>, seen: &History) -> Option<Config> {
        let mut among: Vec<&Config> = space.ranked().take(AMONG).collect();
        if self.starts > 0 {
            self.rng.shuffle(&mut among);
        }
        self.starts += 1;
        among.into_iter().find(|config| self.starts == 1 || !seen.knows(config)).cloned()
    }
}

impl Plan for Descent {
    fn next(&mut self, space: &Space<'_>, seen: &History) -> Vec<Proposal> {
        loop {
            let (place, tried) = match self.place.take() {
                Some(place) => place,
                None if self.starts >= STARTS => return Vec::new(),
                None => {
                    let Some(start) = self.start(space, seen) else { return Vec::new() };
                    self.place = Some((start.clone(), vec![start.clone()]));
                    return vec![Proposal::new(start, 3)];
                }
            };
            let timed = tried.iter().filter_map(|c| Some((seen.find(c)?.seconds()?, c)));
            let best = timed.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, c)| c.clone());
            // Nothing here can run, or nothing is faster: the end of this descent.
            let Some(best) = best else { continue };
            if best == place && tried.len() > 1 {
                continue;
            }
            let near = space.neighbours(&best).into_iter();
            let new: Vec<Config> = near.filter(|config| !seen.knows(config)).collect();
            if new.is_empty() {
                continue;
            }
            let batch = new.iter().chain([&best]);
            let batch = batch.map(|config| Proposal::new(config.clone(), 2)).collect();
            self.place = Some((best.clone(), new.into_iter().chain([best]).collect()));
            return batch;
        }
    }
}
