//! What the search asks of whatever runs a configuration.

use std::time::Duration;

use tile_ir::config::Config;

use super::record::Clocks;
use super::report::Reason;
use crate::error::Result;

/// What a configuration takes, as it is known once it is compiled. All 0 where
/// nothing says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prepared {
    /// Registers of a thread.
    pub(crate) registers: u32,
    /// Stores and loads of spilled registers, in bytes per thread.
    pub(crate) spill_bytes: u32,
}

/// A configuration that was made ready, or why it cannot run.
pub(crate) type Made = (Config, Result<Prepared, Reason>);

/// Runs configurations of one kernel, on data of its own.
///
/// An `Err` is one of the device or the machine and ends the search; what is
/// wrong with one configuration is a [`Reason`].
pub(crate) trait Measure {
    /// Begins to make configurations ready to run, several at once. Returns those that are
    /// ready, of these and of earlier calls, as soon as more could be begun: each with what
    /// it takes or why it cannot run. Given none, it waits for one of those under way;
    /// nothing is under way any more where it returns none. The very first configuration is
    /// waited for, and handed out before all others.
    fn prepare(&mut self, configs: &[Config]) -> Result<Vec<Made>>;

    /// Runs a prepared configuration once and compares what it writes with what
    /// the very first one wrote: the seconds that it took.
    fn first_run(&mut self, config: &Config) -> Result<Result<f64, Reason>>;

    /// Runs it `launches` times in a row: the seconds of one launch.
    fn round(&mut self, config: &Config, launches: usize) -> Result<f64>;

    /// What the device runs at now; nothing where it does not tell.
    fn clocks(&self) -> Option<Clocks>;

    /// Time since the measurer was made.
    fn elapsed(&self) -> Duration;

    /// How many configurations it makes ready at once.
    fn width(&self) -> usize;
}
