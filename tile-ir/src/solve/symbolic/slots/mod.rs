//! Places that updates and ballots hand out: the old values of counters, claims and marks,
//! and what is known of who has them.

mod begun;
mod both;
pub(super) mod brought;
pub(super) mod claim;
mod counted_places;
pub(super) mod counters;
pub(super) mod in_parts;
mod lanes;
mod looks;
mod lowered;
pub(super) mod made;
pub(super) mod marks;
mod most_rounds;
mod own_elements;
mod own_slots;
pub(super) mod packed;
mod picked;
pub(super) mod placed;
pub(super) mod recounted;
pub(super) mod renewed;
mod sharers;
pub(super) mod slot;
pub(super) mod taken;
pub(super) mod takers;
pub(super) mod taking;
pub(super) mod tallied;
