//! Searching while the user works: [`super::Tune::Background`].
//!
//! | file | decides |
//! | --- | --- |
//! | `usage` | how much device time launches of a kind have taken, and when that is worth a search |
//! | `manners` | when a search may measure, and which samples count |
//! | `worker` | the thread: its jobs, what becomes of a panic, how it ends |
//! | `freeze` | that nothing changes any more |
//!
//! Here nothing knows of devices and launches: `launch::background` brings them.

mod freeze;
mod manners;
mod usage;
mod worker;

#[cfg(test)]
mod tests;

pub(crate) use freeze::{freeze, is_frozen, unless_frozen};
pub(crate) use manners::{Manners, Polite, Surroundings};
pub(crate) use usage::{Meter, Usage};
pub(crate) use worker::{Cancel, Worker};
