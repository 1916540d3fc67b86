//! Programs between the passes of lowering, for tests.

pub use crate::launch::{HostTensor, run_program};
