//! What may be faster than all that was measured, as far as is known.
//!
//! From some configurations the search goes on to what differs in one choice, from the most
//! hopeful of those again, a few steps far: what several choices bring together is tried at
//! once, not one after the other.

use std::collections::BTreeMap;

use tile_ir::config::Config;

use super::effects::{Effects, Sample};
use crate::tune::search::{Candidate, History};
use crate::tune::space::Space;

/// Steps away from the configurations that the search begins at.
const STEPS: usize = 3;
/// How many are gone on from at each step.
const BEAM: usize = 6;

/// A configuration that may be tried.
struct Near {
    answers: Vec<u32>,
    promise: f64,
}

/// The most hopeful `n` that have not been tried, no two of them for the same reason.
pub(super) fn hopeful(
    space: &Space<'_>,
    seen: &History,
    centres: &[&Candidate],
    n: usize,
) -> Vec<Config> {
    let mut effects = fit(space, seen);
    let mut found: BTreeMap<Config, Near> = BTreeMap::new();
    let mut at: Vec<Config> = centres.iter().map(|centre| centre.config.clone()).collect();
    let mut expanded = at.clone();
    for _ in 0..STEPS {
        for config in &at {
            for (promise, near) in space.neighbours_with_promise(config) {
                let answers = space.answers(&near);
                found.entry(near).or_insert(Near { answers, promise });
            }
        }
        let mut ranked: Vec<(f64, &Config)> = found
            .iter()
            .filter(|(config, _)| !expanded.contains(config))
            .map(|(config, it)| (effects.hope(&it.answers, it.promise), config))
            .collect();
        ranked.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        at = ranked.into_iter().take(BEAM).map(|(_, config)| config.clone()).collect();
        expanded.extend(at.iter().cloned());
    }
    found.retain(|config, _| !seen.knows(config));
    let mut taken = Vec::new();
    while taken.len() < n {
        let hope = |it: &Near| effects.hope(&it.answers, it.promise);
        let most = found.iter().min_by(|(_, a), (_, b)| hope(a).total_cmp(&hope(b)));
        let Some(config) = most.map(|(config, _)| config.clone()) else { break };
        if let Some(it) = found.remove(&config) {
            effects.expect(&it.answers);
        }
        taken.push(config);
    }
    taken
}

fn fit(space: &Space<'_>, seen: &History) -> Effects {
    let sample = |(seconds, candidate): (f64, &Candidate)| Sample {
        answers: space.answers(&candidate.config),
        promise: space.promise(&candidate.config),
        seconds,
    };
    let samples: Vec<Sample> = seen.timed().map(sample).collect();
    Effects::fit(&samples)
}
