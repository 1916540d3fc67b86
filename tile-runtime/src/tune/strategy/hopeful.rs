//! What may be faster than all that was measured, as far as is known.
//!
//! From some configurations the search goes on to what differs in one choice, from the most
//! hopeful of those again, a few steps far: what several choices bring together is tried at
//! once, not one after the other.

use std::collections::{BTreeMap, HashMap};

use tile_ir::config::Config;

use super::effects::{Effects, Sample};
use crate::tune::search::{Candidate, History};
use crate::tune::space::Space;

/// Steps away from the configurations that the search begins at.
const STEPS: usize = 3;
/// How many are gone on from at each step.
const BEAM: usize = 6;

/// What was found near configurations of one space, with its promise: a search comes back to
/// most of them.
#[derive(Default)]
pub(super) struct Neighbours(HashMap<Config, Vec<(f64, Config)>>);

impl Neighbours {
    fn of(&mut self, space: &Space<'_>, config: &Config) -> &[(f64, Config)] {
        let find = || space.neighbours_with_promise(config);
        self.0.entry(config.clone()).or_insert_with(find)
    }
}

/// What is known of a configuration that may be tried.
struct Near {
    answers: Vec<u32>,
    promise: f64,
}

/// The most hopeful `n` that have not been tried; of those with the same hope, which rests on
/// an answer that is little known, one is enough.
pub(super) fn hopeful(
    space: &Space<'_>,
    seen: &History,
    (centres, neighbours): (&[&Candidate], &mut Neighbours),
    n: usize,
) -> Vec<Config> {
    let mut effects = fit(space, seen);
    let mut found = around(space, &effects, centres, neighbours);
    found.retain(|config, _| !seen.knows(config));
    let mut taken = Vec::new();
    while taken.len() < n {
        let hope = |near: &Near| effects.hope(&near.answers, near.promise);
        let most = found.iter().min_by(|(_, a), (_, b)| hope(a).total_cmp(&hope(b)));
        let Some(config) = most.map(|(config, _)| config.clone()) else { break };
        if let Some(near) = found.remove(&config) {
            effects.expect(&near.answers);
        }
        taken.push(config);
    }
    taken
}

/// All that the steps from these configurations come to.
fn around(
    space: &Space<'_>,
    effects: &Effects,
    centres: &[&Candidate],
    neighbours: &mut Neighbours,
) -> BTreeMap<Config, Near> {
    let mut found: BTreeMap<Config, Near> = BTreeMap::new();
    let mut front: Vec<Config> = centres.iter().map(|centre| centre.config.clone()).collect();
    let mut left = front.clone();
    for _ in 0..STEPS {
        for config in &front {
            for (promise, near) in neighbours.of(space, config) {
                if !found.contains_key(near) {
                    let answers = space.answers(near);
                    found.insert(near.clone(), Near { answers, promise: *promise });
                }
            }
        }
        let mut ranked: Vec<(f64, &Config)> = found
            .iter()
            .filter(|(config, _)| !left.contains(config))
            .map(|(config, near)| (effects.hope(&near.answers, near.promise), config))
            .collect();
        ranked.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        front = ranked.into_iter().take(BEAM).map(|(_, config)| config.clone()).collect();
        left.extend(front.iter().cloned());
    }
    found
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
