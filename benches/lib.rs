//! What the programs of this folder share.

mod sink;

pub use sink::{Sink, Told};
