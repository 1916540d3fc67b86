//! What the programs of the benchmarks share.

mod sink;

pub use sink::{Sink, Told};
