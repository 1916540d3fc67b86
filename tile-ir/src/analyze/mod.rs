//! Analyses: what a configuration costs on a device, computed, never guessed.
//!
//! | file | question |
//! | --- | --- |
//! | [`banks`] | how many wavefronts does a warp's shared-memory access take |
//! | [`occupancy`] | how many blocks does an SM hold, and what stops one more |
//! | [`cliff`] | how far is it to one more block, and to one fewer |
//! | [`sectors`] | how many sectors does a warp's access to global memory move |
//! | [`sizes`] | may results depend on the tile sizes |

pub mod banks;
pub mod cliff;
pub mod occupancy;
pub mod sectors;
pub mod sizes;
