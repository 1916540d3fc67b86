//! Deciding questions about a kernel: by proof for all sizes, and by running it
//! at concrete sizes.

mod doubling;
mod halving;
pub(crate) mod skeleton;
pub(crate) mod symbolic;
