//! When a search in the background may measure, and which of its samples count.
//!
//! - What it has spent stays below a share of what the user's launches have taken. A
//!   measurement that is expected to go beyond waits until there is room for it; one
//!   that took longer than expected is waited off before the next.
//! - It measures where nothing of the user's runs, and nothing is being recorded.
//! - A sample during which the user has launched anything does not count, and is spent
//!   all the same.

use std::time::Duration;

use tile_ir::config::Config;

use crate::error::{Error, Result};
use crate::tune::measure::{Made, Measure};
use crate::tune::record::Clocks;
use crate::tune::report::Reason;

/// The limits of a search in the background.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Manners {
    /// A kind of launches is searched for once they have taken so much device time.
    pub(crate) after: Duration,
    /// The part of the device time of the user's launches that searches may take.
    pub(crate) share: f64,
    /// The part of the device's free memory that a search may take.
    pub(crate) memory_share: f64,
    /// Device time of one search.
    pub(crate) budget: Duration,
    /// Whether launches that would wait for the compiler run something that is
    /// compiled sooner.
    pub(crate) builds: bool,
}

impl Manners {
    pub(crate) const fn new(builds: bool) -> Self {
        let (after, budget) = (Duration::from_secs(1), Duration::from_secs(10));
        Self { after, share: 0.1, memory_share: 0.05, budget, builds }
    }
}

/// What a search sees of what goes on around it.
pub(crate) trait Surroundings {
    /// Seconds that the user's launches have taken of the device.
    fn user_seconds(&self) -> f64;

    /// Launches that the user has begun.
    fn begun(&self) -> u64;

    /// Whether nothing of the user's runs on the device or is being recorded.
    fn is_quiet(&self) -> bool;

    /// Seconds since some time.
    fn now(&self) -> f64;

    /// Waits a little.
    fn wait(&self);

    /// Whether the search is to end.
    fn is_over(&self) -> bool;
}

/// A sample is tried so often before the search gives up: the user is never idle.
const ATTEMPTS: usize = 64;
/// How much longer than the longest so far a first run may take, at a guess.
const UNKNOWN: f64 = 2.0;

/// Measures when it may.
pub(crate) struct Polite<'a> {
    measure: &'a mut dyn Measure,
    around: &'a dyn Surroundings,
    share: f64,
    /// Seconds of all measurements so far, those of searches before it among them.
    spent: f64,
    before: f64,
    /// Seconds of the longest first run, and of the longest launch of a round.
    longest_first: f64,
    longest_round: f64,
}

impl<'a> Polite<'a> {
    /// For launches that are expected to take `seconds`; `before` is what searches
    /// before it have spent.
    pub(crate) fn new(
        measure: &'a mut dyn Measure,
        around: &'a dyn Surroundings,
        share: f64,
        seconds: f64,
        before: f64,
    ) -> Self {
        let (longest_first, longest_round, spent) = (seconds, seconds, before);
        Self { measure, around, share, spent, before, longest_first, longest_round }
    }

    /// What it has spent, in seconds, with what came before.
    pub(crate) fn spent(&self) -> f64 {
        self.spent
    }

    /// Runs a sample that may take `expected` seconds until one counts; with it, what
    /// it took.
    fn sample<T>(
        &mut self,
        expected: f64,
        run: &mut dyn FnMut(&mut dyn Measure) -> Result<T>,
    ) -> Result<(T, f64)> {
        for _ in 0..ATTEMPTS {
            while !(self.has_room_for(expected) && self.around.is_quiet()) {
                self.check()?;
                self.around.wait();
            }
            self.check()?;
            let (begun, start) = (self.around.begun(), self.around.now());
            let value = run(self.measure);
            let seconds = (self.around.now() - start).max(0.0);
            self.spent += seconds;
            let value = value?;
            if self.around.begun() == begun {
                return Ok((value, seconds));
            }
            tracing::trace!(seconds, "a sample overlaps a launch, and does not count");
        }
        Err(ended("the device is never idle for as long as a measurement takes"))
    }

    fn has_room_for(&self, seconds: f64) -> bool {
        self.spent + seconds <= self.share * self.around.user_seconds()
    }

    fn check(&self) -> Result<()> {
        if self.around.is_over() { Err(ended("it was told to")) } else { Ok(()) }
    }
}

fn ended(why: &str) -> Error {
    Error::internal("a search in the background ends early", why)
}

impl Measure for Polite<'_> {
    fn prepare(&mut self, configs: &[Config]) -> Result<Vec<Made>> {
        self.check()?;
        self.measure.prepare(configs)
    }

    fn first_run(&mut self, config: &Config) -> Result<Result<f64, Reason>> {
        let expected = UNKNOWN * self.longest_first;
        let (found, took) = self.sample(expected, &mut |measure| measure.first_run(config))?;
        self.longest_first = self.longest_first.max(took);
        Ok(found)
    }

    fn round(&mut self, config: &Config, launches: usize) -> Result<f64> {
        let expected = self.longest_round * launches as f64;
        let mut run = |measure: &mut dyn Measure| measure.round(config, launches);
        let (seconds, took) = self.sample(expected, &mut run)?;
        self.longest_round = self.longest_round.max(took / launches.max(1) as f64);
        Ok(seconds)
    }

    fn clocks(&self) -> Option<Clocks> {
        self.measure.clocks()
    }

    /// What it has spent: a budget is one of device time.
    fn elapsed(&self) -> Duration {
        Duration::try_from_secs_f64(self.spent - self.before).unwrap_or(Duration::MAX)
    }

    /// The user's threads have the others.
    fn width(&self) -> usize {
        1
    }
}
