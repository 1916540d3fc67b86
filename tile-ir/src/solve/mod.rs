//! Deciding questions about a kernel: by running it at concrete sizes.

pub(crate) mod skeleton;
