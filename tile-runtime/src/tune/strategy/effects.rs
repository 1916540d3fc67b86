//! What each answer to each choice is worth, as the times of what was measured tell.
//!
//! The model knows what tiles and items cost; of most other choices it knows little, and
//! what they do to one configuration they mostly do to the next. So the time of a
//! configuration is taken to be what the model promises times a factor for each of its answers. The
//! factors are fitted to all measurements at once, those of the fastest counting most; an
//! answer that was seen seldom has a factor near 1, and one that is little known.
//!
//! # Source
//!
//! Additive models and backfitting: T. Hastie, R. Tibshirani: Generalized Additive Models.
//! Statistical Science 1 (1986). Trying what may be best as far as is known: T. L. Lai,
//! H. Robbins: Asymptotically Efficient Adaptive Allocation Rules. Advances in Applied
//! Mathematics 6 (1985).

use std::collections::HashMap;

/// Rounds of backfitting: the factors hardly change thereafter.
const SWEEPS: usize = 12;
/// How many measurements of no effect an answer is taken to have had already.
const PRIOR: f64 = 1.0;
/// How much faster a measurement counts more: the power of its speed.
const SHARPNESS: f64 = 3.0;
/// What an answer that was never seen may be worth, as a logarithm.
const UNKNOWN: f64 = 0.03;

/// A measurement: what the configuration answers, what it promised
/// ([`Space::promise`](crate::tune::space::Space::promise)), and the seconds it took.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) answers: Vec<u32>,
    pub(super) promise: f64,
    pub(super) seconds: f64,
}

/// What is known of one answer to one choice.
#[derive(Clone, Copy, Debug, Default)]
struct Effect {
    /// The logarithm of its factor.
    log: f64,
    /// How often it was seen, or is to be measured.
    weight: f64,
}

/// A measurement while factors are fitted to it.
struct Row<'a> {
    answers: &'a [u32],
    /// The logarithm of what the factors do not explain yet.
    left: f64,
    /// How much it counts.
    weight: f64,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Effects {
    /// What all have in common.
    level: f64,
    of: HashMap<(usize, u32), Effect>,
}

impl Effects {
    /// Fits the factors.
    pub(super) fn fit(samples: &[Sample]) -> Self {
        let best = samples.iter().map(|sample| sample.seconds).fold(f64::INFINITY, f64::min);
        let mut rows: Vec<Row<'_>> = samples
            .iter()
            .filter(|sample| sample.seconds > 0.0 && sample.promise.is_normal())
            .map(|sample| Row {
                answers: &sample.answers,
                left: (sample.seconds / sample.promise).ln(),
                weight: (best / sample.seconds).powf(SHARPNESS),
            })
            .collect();
        let mut effects = Self::default();
        for _ in 0..SWEEPS {
            effects.sweep(&mut rows);
        }
        effects
    }

    /// One round: each choice takes what the others leave unexplained.
    fn sweep(&mut self, rows: &mut [Row<'_>]) {
        let total: f64 = rows.iter().map(|row| row.weight).sum();
        let left: f64 = rows.iter().map(|row| row.weight * row.left).sum();
        let level = left / total.max(f64::MIN_POSITIVE);
        self.level += level;
        rows.iter_mut().for_each(|row| row.left -= level);
        for choice in 0..rows.first().map_or(0, |row| row.answers.len()) {
            let mut sums: HashMap<u32, (f64, f64)> = HashMap::new();
            for row in rows.iter() {
                let (sum, weight) = sums.entry(row.answers[choice]).or_default();
                *sum += row.weight * row.left;
                *weight += row.weight;
            }
            let mut changes = HashMap::new();
            for (answer, (sum, weight)) in sums {
                let effect = self.of.entry((choice, answer)).or_default();
                // Of what is left and the effect so far, as much as the weight says.
                let log = (sum + weight * effect.log) / (weight + PRIOR);
                changes.insert(answer, log - effect.log);
                *effect = Effect { log, weight };
            }
            rows.iter_mut().for_each(|row| row.left -= changes[&row.answers[choice]]);
        }
    }

    /// The logarithm of all factors of these answers.
    fn sum(&self, answers: &[u32]) -> f64 {
        let known = answers.iter().enumerate().filter_map(|key| self.of.get(&(key.0, *key.1)));
        self.level + known.map(|effect| effect.log).sum::<f64>()
    }

    /// The logarithm of the seconds that a configuration may take if what is not known of
    /// its answers turns out well.
    pub(super) fn hope(&self, answers: &[u32], promise: f64) -> f64 {
        let doubt = answers.iter().enumerate().map(|(choice, answer)| {
            let seen = self.of.get(&(choice, *answer)).map_or(0.0, |effect| effect.weight);
            UNKNOWN * UNKNOWN / (1.0 + seen)
        });
        promise.ln() + self.sum(answers) - doubt.sum::<f64>().sqrt()
    }

    /// Takes note that a configuration of these answers will be measured.
    pub(super) fn expect(&mut self, answers: &[u32]) {
        for (choice, answer) in answers.iter().enumerate() {
            self.of.entry((choice, *answer)).or_default().weight += 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of every two answers to three choices but one, the seconds by factors of their own.
    fn samples(truth: &dyn Fn(&[u32]) -> f64) -> Vec<Sample> {
        (0..7)
            .map(|n| {
                let answers = vec![n & 1, n >> 1 & 1, n >> 2];
                let seconds = truth(&answers);
                Sample { answers, promise: 1e-3, seconds }
            })
            .collect()
    }

    fn product(answers: &[u32]) -> f64 {
        let factors = [0.9, 1.2, 0.8].map(f64::ln).into_iter().zip(answers);
        2e-3 * factors.map(|(log, &answer)| log * f64::from(answer)).sum::<f64>().exp()
    }

    #[test]
    fn what_was_never_measured_together_is_foreseen() {
        let effects = Effects::fit(&samples(&product));
        let foreseen = |answers: &[u32]| 1e-3 * effects.sum(answers).exp();
        // Few measurements: a factor is taken to be nearer to 1 than it is.
        let (unseen, truth) = ([1, 1, 1], product(&[1, 1, 1]));
        assert!((foreseen(&unseen) / truth - 1.0).abs() < 0.12, "{} {truth}", foreseen(&unseen));
        let mut all: Vec<[u32; 3]> = (0..8).map(|n| [n & 1, n >> 1 & 1, n >> 2]).collect();
        all.sort_by(|a, b| foreseen(a).total_cmp(&foreseen(b)));
        assert_eq!(all[0], [1, 0, 1], "the best is known as the best");
    }

    #[test]
    fn of_equals_the_less_known_has_more_hope() {
        let mut effects = Effects::fit(&samples(&|_| 2e-3));
        let (known, unknown) = ([0, 0, 0], [0, 0, 9]);
        assert!(effects.hope(&unknown, 1e-3) < effects.hope(&known, 1e-3));
        let before = effects.hope(&unknown, 1e-3);
        effects.expect(&unknown);
        assert!(effects.hope(&unknown, 1e-3) > before, "once is enough for the time being");
    }

    #[test]
    fn without_measurements_the_promise_decides() {
        let effects = Effects::fit(&[]);
        assert!(effects.hope(&[1, 2], 1e-3) < effects.hope(&[3, 4], 2e-3));
    }
}
