//! The gallery: kernels of a GPU textbook and of its exercises, one idea a file, each
//! with its host code and a reference that shares no code with it.
//!
//! The example `gallery` runs them, the tests run them in ragged and tiny sizes, and
//! the benchmark `gallery` measures them.

pub mod frame;
pub mod saxpy;

use frame::Entry;

/// All entries, from the simplest on.
pub fn all() -> Vec<Entry> {
    vec![saxpy::ENTRY]
}
