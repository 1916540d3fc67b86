//! What statements are made of: polynomials over unknowns, and formulas over these.

pub(super) mod formula;
pub(super) mod fraction;
pub(super) mod monomial;
pub(super) mod multiples;
pub(super) mod poly;
pub(super) mod symbol;
pub(super) mod wide;
