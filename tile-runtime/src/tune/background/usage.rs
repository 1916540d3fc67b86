//! How much device time launches have taken.
//!
//! Not every launch is timed, which costs the host more than the launch itself: the
//! first four are, those whose number is a power of two, and every 32nd. A time stands
//! for the launches since the last one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// From here on every so many-th launch is timed.
const PERIOD: u64 = 32;
/// As many are timed at the beginning.
const FIRST: u64 = 4;

/// The device time of all launches of a device that are counted.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    nanoseconds: AtomicU64,
    begun: AtomicU64,
    running: AtomicU64,
}

impl Meter {
    /// Seconds so far.
    pub(crate) fn seconds(&self) -> f64 {
        self.nanoseconds.load(Ordering::Relaxed) as f64 * 1e-9
    }

    /// Launches so far, timed or not.
    pub(crate) fn begun(&self) -> u64 {
        self.begun.load(Ordering::Acquire)
    }

    /// Launches whose call has not returned.
    pub(crate) fn running(&self) -> u64 {
        self.running.load(Ordering::Acquire)
    }

    /// A launch, which runs as long as the value lives.
    pub(crate) fn launch(&self) -> Launching<'_> {
        self.running.fetch_add(1, Ordering::AcqRel);
        self.begun.fetch_add(1, Ordering::AcqRel);
        Launching(self)
    }

    fn add(&self, seconds: f64) {
        self.nanoseconds.fetch_add((seconds * 1e9) as u64, Ordering::Relaxed);
    }
}

/// See [`Meter::launch`].
pub(crate) struct Launching<'a>(&'a Meter);

impl Drop for Launching<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The device time of the launches of one kind: of a kernel, its types and a class of
/// shapes.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    launches: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The launches that `seconds` is of.
    counted: u64,
    seconds: f64,
    is_searched: bool,
}

impl Usage {
    /// Counts a launch; its number, from 1, where it is to be timed.
    pub(crate) fn begin(&self) -> Option<u64> {
        let number = self.launches.fetch_add(1, Ordering::Relaxed) + 1;
        let is_due = number <= FIRST || number.is_power_of_two() || number.is_multiple_of(PERIOD);
        is_due.then_some(number)
    }

    /// The time of the launch of this number.
    pub(crate) fn add(&self, number: u64, seconds: f64, meter: &Meter) {
        let mut state = self.state();
        let launches = number.saturating_sub(state.counted);
        state.counted = state.counted.max(number);
        let all = seconds * launches as f64;
        state.seconds += all;
        meter.add(all);
    }

    /// Whether launches of this kind have taken so long that they are to be searched
    /// for; it says so once.
    pub(crate) fn asks_for_search(&self, after: Duration) -> bool {
        let mut state = self.state();
        let asks = !state.is_searched && state.seconds >= after.as_secs_f64();
        state.is_searched |= asks;
        asks
    }

    /// Seconds of a launch, in the mean.
    pub(crate) fn mean_seconds(&self) -> f64 {
        let state = self.state();
        state.seconds / state.counted.max(1) as f64
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
