//! What work-items of a warp or a block give each other: ballots, broadcasts, shuffles,
//! reductions.

pub(super) mod ballots;
mod broadcasts;
mod reduced;
mod shuffled;
pub(super) mod warps;
