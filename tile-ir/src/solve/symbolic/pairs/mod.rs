//! Pairs of accesses: which ones a barrier interval can hold, the statement that two
//! work-items meet in them, and the ways to show that they do not.

pub(super) mod beside;
mod bracketed;
mod by_bits;
mod by_indices;
pub(super) mod by_spans;
pub(super) mod cases;
pub(super) mod decided;
pub(super) mod differing;
pub(super) mod flow;
pub(super) mod instance;
pub(super) mod known;
pub(super) mod listed;
mod met_digits;
pub(super) mod one_to_one;
pub(super) mod parted;
mod power_cases;
mod promised;
pub(super) mod proofs;
mod put_in;
pub(super) mod ranks;
pub(super) mod reads;
pub(super) mod renewals;
pub(super) mod row_by_row;
mod signs;
mod split;
mod squares;
pub(super) mod staying;
pub(super) mod suggest;
pub(super) mod valued;
pub(super) mod weighed;
pub(super) mod wrapping;
