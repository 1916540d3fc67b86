//! The model's favourites again, each with some of its other choices made anew, so that the
//! times of a few configurations tell of many choices ([`super::effects`]).
//!
//! # Source
//!
//! Several factors varied at once tell more of each than one at a time: R. A. Fisher: The
//! Arrangement of Field Experiments. Journal of the Ministry of Agriculture 33 (1926).

use std::collections::BTreeMap;

use tile_ir::config::Config;

use crate::tune::space::Space;

/// Choices of each that are made anew.
const CHANGES: usize = 4;
/// What the model expects to take this many times as long is not tried.
const WORSE: f64 = 1.05;

/// One of each of these, as far as it is none of them.
pub(super) fn varied(space: &Space<'_>, pool: &[Config], rng: &mut fastrand::Rng) -> Vec<Config> {
    let mut all: Vec<Config> = Vec::new();
    for config in pool {
        let new = vary(space, config, rng);
        if !pool.contains(&new) && !all.contains(&new) {
            all.push(new);
        }
    }
    all
}

fn vary(space: &Space<'_>, config: &Config, rng: &mut fastrand::Rng) -> Config {
    let mut config = config.clone();
    for _ in 0..CHANGES {
        // Each choice is as likely as another, however many answers it has.
        let choices: Vec<Vec<Config>> = other_answers(space, &config).into_values().collect();
        let Some(answers) = rng.choice(&choices) else { break };
        let Some(next) = rng.choice(answers) else { break };
        config = next.clone();
    }
    config
}

/// By choice, what differs from a configuration in that one alone and promises about as much.
fn other_answers(space: &Space<'_>, config: &Config) -> BTreeMap<usize, Vec<Config>> {
    let here = space.answers(config);
    let most = WORSE * space.promise(config);
    let mut by_choice: BTreeMap<usize, Vec<Config>> = BTreeMap::new();
    for (promise, near) in space.variations_with_promise(config) {
        let there = space.answers(&near);
        let choice = here.iter().zip(&there).position(|(a, b)| a != b);
        if let Some(choice) = choice.filter(|_| promise <= most) {
            by_choice.entry(choice).or_default().push(near);
        }
    }
    by_choice
}
