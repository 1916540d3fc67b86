//! What expressions are: indices and values as polynomials, conditions as formulas, each
//! operation with the facts that hold of its result.

pub(super) mod agreed_load;
mod bit_counts;
mod bit_sums;
mod bits;
mod by_sign;
mod compared;
pub(super) mod congruent;
mod divide;
mod exclusive;
mod extremes;
mod flags;
mod flat;
pub(super) mod flattened;
mod floored;
pub(super) mod inside;
pub(super) mod integers;
pub(super) mod kept_below;
mod larger;
mod last_bit;
pub(super) mod late;
pub(super) mod loaded;
mod most;
pub(super) mod named;
pub(super) mod natural;
pub(super) mod numbered;
mod odd_multiples;
mod points;
mod powers;
mod residues;
pub(super) mod same_loads;
pub(super) mod scattered;
mod settled;
pub(super) mod table;
mod united;
pub(super) mod value;
pub(super) mod wholes;
