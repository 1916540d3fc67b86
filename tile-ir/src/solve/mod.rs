//! Deciding questions about a kernel: by proof for all sizes, and by running it
//! at concrete sizes.

pub(crate) mod skeleton;
#[cfg_attr(not(test), expect(dead_code, reason = "the race checks ask it"))]
pub(crate) mod symbolic;
