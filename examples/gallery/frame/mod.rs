//! What every entry of the gallery has in common: how it is run, compared and counted.

pub mod check;
mod compare;
mod entry;
mod product;
mod random;

pub use compare::{Failure, close, equal, within};
pub use entry::{Cost, Entry, Prepare, Prepared};
pub use product::{Product, roundings, row_times, sample, widened};
pub use random::{bytes, floats, ints};
