//! Deciding questions about a kernel: by proof for all sizes, and by running it
//! at concrete sizes.

pub(crate) mod skeleton;
pub(crate) mod symbolic;
