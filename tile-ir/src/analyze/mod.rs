//! Analyses: what a configuration costs on a device, computed, never guessed.
//!
//! | file | question |
//! | --- | --- |
//! | [`banks`] | how many wavefronts does a warp's shared-memory access take |
//! | [`occupancy`] | how many blocks does an SM hold, and what stops one more |
//! | [`sizes`] | may results depend on the tile sizes |

pub mod banks;
pub mod occupancy;
pub mod sizes;
