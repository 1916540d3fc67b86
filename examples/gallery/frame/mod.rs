//! What every entry of the gallery has in common: how it is run, compared and counted.

mod compare;
mod entry;
mod random;

pub use compare::{Failure, close, equal};
pub use entry::{Cost, Entry, Prepared};
pub use random::{floats, ints};
