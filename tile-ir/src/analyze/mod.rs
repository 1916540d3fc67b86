//! Analyses: what a configuration costs on a device, computed, never guessed.
//!
//! | file | question |
//! | --- | --- |
//! | [`occupancy`] | how many blocks does an SM hold, and what stops one more |

pub mod occupancy;
