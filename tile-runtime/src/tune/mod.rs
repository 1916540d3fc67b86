//! Tuning: which configuration is fastest, found by measuring, and remembered.
//!
//! | file | decides |
//! | --- | --- |
//! | `policy` | whether a launch may measure |
//! | `background` | searching while the user works |
//! | `identity` | when two kernels are the same to the tuner |
//! | `class` | which launches share what was measured |
//! | `space` | which configurations there are, and which are not worth compiling |
//! | `strategy` | which of them are measured next, and how often |
//! | `measure` | what the search asks of whatever runs a configuration |
//! | `search` | the search itself: budget, order of measurements, when it ends |
//! | `report` | what was found, for people |
//! | `record` | what was found, for the next process: format and choice |
//! | `shelf` | the records' files |
//!
//! The search knows no device. On a device `launch::trial` runs the candidates,
//! on memory of its own; in tests something that makes times up does.

mod background;
mod class;
mod identity;
mod measure;
mod policy;
mod progress;
mod record;
mod report;
mod search;
mod shelf;
mod space;
mod strategy;

#[cfg(test)]
mod tests;

pub(crate) use policy::VARIABLE;
pub use policy::{Tune, TuneOptions};
pub use record::{Clocks, RecordError};
pub use report::{Pruned, Reason, Stop, Trial, TuneReport};
pub use strategy::Strategy;

pub(crate) use background::{
    Cancel, Manners, Meter, Polite, Surroundings, Usage, Worker, is_frozen, unless_frozen,
};
pub(crate) use class::ShapeClass;
pub(crate) use identity::kernel_hash;
pub(crate) use measure::{Made, Measure, Prepared};
pub(crate) use progress::Shown;
pub(crate) use record::{Conditions, DeviceId, Entry, Group, KernelId, Situation};
pub(crate) use search::{Limits, search};
pub(crate) use shelf::Shelf;
pub(crate) use space::{Launch, Space};
pub(crate) use strategy::{Listed, Plan};
