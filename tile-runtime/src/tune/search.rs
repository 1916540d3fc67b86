//! The search: measures what a plan proposes, within a budget.
//!
//! - The reference is measured first, and every other configuration's first result
//!   is compared with its.
//! - While some are measured, the next are compiled: what is not ready with the others of
//!   its batch is measured with a later one.
//! - The configurations of a batch are measured in turns, round by round, so that a
//!   clock which falls in the meantime hits all alike.
//! - The device's clocks are read before and after each round, where it tells them.
//! - One whose first run takes much longer than the quickest first run is not measured
//!   further: twice as long where launches are short, a tenth longer where they are long,
//!   beside which nothing else counts.
//! - Long launches have one round where short ones have several: their times hardly differ.
//! - At the end the fastest few and the reference are measured again in turns: that one of
//!   many had a lucky round decides nothing. Some of the budget is kept for that.

use std::collections::HashMap;
use std::time::Duration;

use tile_ir::config::Config;

use super::measure::{Measure, Prepared};
use super::record::Clocks;
use super::report::{Pruned, Reason, Stop, Trial};
use super::space::Space;
use super::strategy::{Plan, Proposal};
use crate::error::Result;

/// A round should take so long, in seconds: long beside the events around it.
const ROUND_SECONDS: f64 = 2e-3;
/// Most launches of a round.
const MAX_LAUNCHES: f64 = 100.0;
/// A first run this many times the quickest first run says enough, of short launches and of
/// ones that are as long as several rounds. First runs are compared with one another: what a
/// launch costs beside its kernel is in all of them.
const TOO_SLOW: f64 = 2.0;
const TOO_SLOW_OF_LONG: f64 = 1.1;
/// From here on, in seconds, a launch is a long one.
const LONG: f64 = 5e-3;
/// Spilled bytes per thread from which on a configuration is not run.
const MAX_SPILL_BYTES: u32 = 128;
/// How many are measured again at the end, and how often.
const FINALISTS: usize = 4;
const FINAL_ROUNDS: usize = 5;
/// As long as there is time for so many chunks of configurations, they are large.
const SOME: u32 = 3;
/// What the first chunk is taken to take: as long as some compilations of large kernels.
const FIRST_CHUNK: Duration = Duration::from_secs(1);
/// The part of the budget that is kept for the end.
const RESERVE: f64 = 0.1;

/// When a search ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Wall time.
    pub(crate) budget: Duration,
    /// The fraction of the roofline that is close enough.
    pub(crate) enough: f64,
}

/// A configuration that was proposed, and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) config: Config,
    pub(crate) prepared: Prepared,
    /// Seconds of the first launch, where it ran.
    first: Option<f64>,
    /// Seconds of a launch, by round.
    rounds: Vec<f64>,
    /// Clocks before the first round and after the last.
    clocks: Option<[Clocks; 2]>,
    /// Why it dropped out, where it did.
    dropped: Option<Reason>,
    /// Whether it is being made ready.
    is_under_way: bool,
    /// Rounds that were proposed and not run yet.
    due: usize,
}

impl Candidate {
    fn new(config: Config) -> Self {
        let prepared = Prepared::default();
        Self {
            config,
            prepared,
            first: None,
            rounds: Vec::new(),
            clocks: None,
            dropped: None,
            is_under_way: false,
            due: 0,
        }
    }

    /// Seconds of a launch, as far as known: the median of the rounds, or the first
    /// launch. `None` where it has dropped out or has not run.
    pub(crate) fn seconds(&self) -> Option<f64> {
        if self.dropped.is_some() {
            return None;
        }
        if self.rounds.is_empty() { self.first } else { Some(quantile(&self.rounds, 0.5)) }
    }

    fn spread(&self) -> f64 {
        if self.rounds.len() < 4 {
            return 0.0;
        }
        let [low, middle, high] = [0.25, 0.5, 0.75].map(|at| quantile(&self.rounds, at));
        (high - low) / middle
    }
}

/// The value below which a fraction of the values lies, between neighbours by
/// proportion.
fn quantile(values: &[f64], at: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = at * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
}

/// All that has been proposed so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    candidates: Vec<Candidate>,
    places: HashMap<Config, usize>,
}

impl History {
    /// Whether a configuration was proposed before.
    pub(crate) fn knows(&self, config: &Config) -> bool {
        self.places.contains_key(config)
    }

    /// All that were proposed.
    pub(crate) fn configs(&self) -> impl Iterator<Item = &Config> {
        self.candidates.iter().map(|candidate| &candidate.config)
    }

    /// What came of a configuration.
    pub(crate) fn find(&self, config: &Config) -> Option<&Candidate> {
        self.places.get(config).map(|&at| &self.candidates[at])
    }

    /// All that ran, with the seconds that they took.
    pub(crate) fn timed(&self) -> impl Iterator<Item = (f64, &Candidate)> {
        self.candidates.iter().filter_map(|candidate| Some((candidate.seconds()?, candidate)))
    }

    /// The fastest so far.
    pub(crate) fn best(&self) -> Option<&Candidate> {
        self.fastest(1).into_iter().next()
    }

    /// The fastest `n` so far, the fastest first; of equals the first proposed.
    pub(crate) fn fastest(&self, n: usize) -> Vec<&Candidate> {
        let mut timed: Vec<(f64, &Candidate)> = self.timed().collect();
        timed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        timed.into_iter().take(n).map(|(_, candidate)| candidate).collect()
    }

    fn is_under_way(&self) -> bool {
        self.candidates.iter().any(|candidate| candidate.is_under_way)
    }

    fn place(&mut self, config: Config) -> usize {
        *self.places.entry(config.clone()).or_insert_with(|| {
            self.candidates.push(Candidate::new(config));
            self.candidates.len() - 1
        })
    }
}

/// What a search found.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// What was measured, the fastest first: the finalists before all others.
    pub(crate) trials: Vec<Trial>,
    /// What dropped out after it was proposed.
    pub(crate) dropped: Vec<Pruned>,
    pub(crate) stop: Stop,
}

/// Searches a space. `seeds` are measured first, the first of them is the reference.
///
/// # Errors
///
/// Those of the device; and where the reference itself cannot run.
pub(crate) fn search(
    space: &Space<'_>,
    seeds: &[Config],
    plan: &mut dyn Plan,
    measure: &mut dyn Measure,
    limits: Limits,
) -> Result<Outcome> {
    let until = limits.budget.mul_f64(1.0 - RESERVE);
    let (history, longest_chunk) = (History::default(), FIRST_CHUNK);
    let mut run = Run { history, measure, until, longest_chunk, is_over: false };
    let mut batch: Vec<Proposal> =
        seeds.iter().map(|config| Proposal::new(config.clone(), 3)).collect();
    // Compiled together with the first ones of the plan.
    let known = |proposal: &Proposal| seeds.contains(&proposal.config);
    batch.extend(plan.next(space, &run.history).into_iter().filter(|it| !known(it)));
    let stop = loop {
        run.measure_batch(&batch, false)?;
        if run.history.candidates.first().is_none_or(|reference| reference.dropped.is_some()) {
            // There is nothing to compare with.
            break Stop::Exhausted;
        }
        let best = run.history.best().and_then(Candidate::seconds);
        tracing::debug!(
            candidates = run.history.candidates.len(),
            best_us = best.map(|seconds| seconds * 1e6),
            "tuning"
        );
        if best.is_some_and(|best| best * limits.enough <= space.roofline_seconds()) {
            break Stop::Roofline;
        }
        if run.is_over {
            break Stop::Budget;
        }
        batch = plan.next(space, &run.history);
        if batch.is_empty() && !run.history.is_under_way() {
            break Stop::Exhausted;
        }
    };
    run.until = limits.budget;
    run.is_over = false;
    run.history.candidates.iter_mut().for_each(|candidate| candidate.due = 0);
    // The reference is among them: what is found is compared with it.
    let mut finalists = run.history.fastest(FINALISTS);
    let reference = run.history.candidates.first();
    finalists.extend(reference.filter(|reference| {
        reference.dropped.is_none() && finalists.iter().all(|one| one.config != reference.config)
    }));
    let finalists: Vec<Proposal> = finalists
        .into_iter()
        .map(|candidate| Proposal::new(candidate.config.clone(), FINAL_ROUNDS))
        .collect();
    run.measure_batch(&finalists, true)?;
    Ok(outcome(space, run.history, &finalists, stop))
}

/// A search under way.
struct Run<'a> {
    history: History,
    measure: &'a mut dyn Measure,
    /// When measuring ends.
    until: Duration,
    /// What it takes at the most to make some configurations ready and run each once.
    longest_chunk: Duration,
    is_over: bool,
}

impl Run<'_> {
    /// Whether the time is over; from then on it is.
    fn time_is_over(&mut self) -> bool {
        self.is_over |= self.measure.elapsed() >= self.until;
        self.is_over
    }

    /// Seconds of the quickest first run.
    fn quickest(&self) -> f64 {
        let running = self.history.candidates.iter().filter(|c| c.dropped.is_none());
        running.filter_map(|c| c.first).fold(f64::INFINITY, f64::min)
    }

    /// Makes what is new of a batch ready, as far as there is time, and measures what is
    /// ready of it and of earlier ones. An empty batch waits for those.
    fn measure_batch(&mut self, batch: &[Proposal], is_final: bool) -> Result<()> {
        let is_first = self.history.candidates.is_empty();
        let width = self.measure.width().max(1);
        let is_new = |proposal: &&Proposal| !self.history.knows(&proposal.config);
        let new: Vec<Config> = batch.iter().filter(is_new).map(|one| one.config.clone()).collect();
        if batch.is_empty() {
            self.begin(&[])?;
        }
        let mut rest = new.as_slice();
        while !rest.is_empty() {
            // The reference is made ready, and measured once, whatever time there is.
            if !self.history.candidates.is_empty() && self.time_is_over() {
                break;
            }
            // As long as there is time for some more, twice as many as there are threads,
            // which then wait for one another less.
            let start = self.measure.elapsed();
            let has_time = start + SOME * self.longest_chunk < self.until;
            let n = if has_time { 2 * width } else { width };
            let (chunk, others) = rest.split_at(n.min(rest.len()));
            self.begin(chunk)?;
            self.longest_chunk = self.longest_chunk.max(self.measure.elapsed() - start);
            rest = others;
        }
        let most = if !is_final && self.quickest() >= LONG { 1 } else { usize::MAX };
        for Proposal { config, rounds } in batch {
            if let Some(&place) = self.history.places.get(config) {
                self.history.candidates[place].due = (*rounds).min(most);
            }
        }
        self.run_what_is_due(is_first)
    }

    /// Runs the rounds that are due of what is ready, in turns.
    fn run_what_is_due(&mut self, is_first: bool) -> Result<()> {
        loop {
            let ready = self.history.candidates.iter().enumerate();
            let ready = ready.filter(|(_, one)| one.due > 0 && !one.is_under_way);
            let places: Vec<usize> = ready.map(|(place, _)| place).collect();
            if places.is_empty() {
                return Ok(());
            }
            for place in places {
                self.history.candidates[place].due -= 1;
                let is_reference_s_first = is_first && place == 0;
                if !is_reference_s_first && self.time_is_over() {
                    return Ok(());
                }
                self.round(place)?;
            }
        }
    }

    /// Begins to make new configurations ready, and runs each once that is: the reference
    /// before all others.
    fn begin(&mut self, configs: &[Config]) -> Result<()> {
        for config in configs {
            let place = self.history.place(config.clone());
            self.history.candidates[place].is_under_way = true;
        }
        let made = self.measure.prepare(configs)?;
        if made.is_empty() {
            self.history.candidates.iter_mut().for_each(|one| one.is_under_way = false);
        }
        made.into_iter().try_for_each(|(config, prepared)| self.first_run(config, prepared))
    }

    /// Runs once what was made ready.
    fn first_run(&mut self, config: Config, prepared: Result<Prepared, Reason>) -> Result<()> {
        let place = self.history.place(config.clone());
        let is_reference = place == 0;
        self.history.candidates[place].is_under_way = false;
        let first = match prepared {
            Err(reason) => Err(reason),
            Ok(prepared) => {
                self.history.candidates[place].prepared = prepared;
                let Prepared { registers, spill_bytes: bytes } = prepared;
                if bytes > MAX_SPILL_BYTES && !is_reference {
                    Err(Reason::Spills { bytes, registers })
                } else if !is_reference && self.time_is_over() {
                    return Ok(());
                } else {
                    self.measure.first_run(&config)?
                }
            }
        };
        let candidate = &mut self.history.candidates[place];
        match first {
            Ok(seconds) => candidate.first = Some(seconds),
            Err(reason) => {
                tracing::debug!(?config, %reason, "dropped");
                candidate.dropped = Some(reason);
            }
        }
        Ok(())
    }

    fn round(&mut self, place: usize) -> Result<()> {
        let quickest = self.quickest();
        let too_slow = if quickest >= LONG { TOO_SLOW_OF_LONG } else { TOO_SLOW };
        let candidate = &self.history.candidates[place];
        let Some(seconds) = candidate.seconds() else { return Ok(()) };
        let is_hopeless = candidate.first.is_some_and(|first| first > too_slow * quickest);
        if is_hopeless && candidate.rounds.is_empty() && place > 0 {
            return Ok(());
        }
        let launches = (ROUND_SECONDS / seconds.max(1e-9)).ceil().clamp(1.0, MAX_LAUNCHES) as usize;
        let config = candidate.config.clone();
        let before = self.measure.clocks();
        let seconds = self.measure.round(&config, launches)?;
        let after = self.measure.clocks();
        let candidate = &mut self.history.candidates[place];
        candidate.rounds.push(seconds);
        let first = candidate.clocks.map(|[first, _]| first).or(before);
        candidate.clocks = first.zip(after).map(|(first, last)| [first, last]);
        Ok(())
    }
}

fn outcome(space: &Space<'_>, history: History, finalists: &[Proposal], stop: Stop) -> Outcome {
    let mut trials = Vec::new();
    let mut dropped = Vec::new();
    for candidate in history.candidates {
        let seconds = candidate.seconds();
        let spread = candidate.spread();
        let Candidate { config, prepared, rounds, clocks, dropped: reason, .. } = candidate;
        if let Some(reason) = reason {
            dropped.push(Pruned { config, reason });
        } else if let Some(seconds) = seconds {
            let model_seconds = space.model_seconds(&config);
            let (rounds, registers) = (rounds.len(), prepared.registers);
            trials.push(Trial {
                config,
                seconds,
                spread,
                rounds,
                model_seconds,
                registers,
                clocks,
            });
        }
    }
    let is_finalist =
        |trial: &Trial| finalists.iter().any(|proposal| proposal.config == trial.config);
    trials.sort_by(|a, b| {
        let order = is_finalist(b).cmp(&is_finalist(a));
        order.then(a.seconds.total_cmp(&b.seconds))
    });
    Outcome { trials, dropped, stop }
}
