//! Operations on arrays of lanes.
//!
//! An operation is a function pointer, chosen once when a kernel is prepared
//! ([`table`]), that runs one monomorphised loop ([`apply`]). Nothing is
//! dispatched per lane. Each loop exists twice, for the target's baseline and
//! for AVX2 with FMA; which one is taken is decided at run time, and both give
//! the same bits.

mod apply;
mod atomic;
mod lane;
mod oddity;
mod ops;
mod table;

pub(super) use apply::{Fn1, Fn2, Fn3};
pub(super) use atomic::{AtomicFn, atomic};
pub(super) use lane::Flag;
pub(super) use oddity::{is_finite, is_zero, neg_overflows, overflows};
pub(super) use table::{
    and_flags, and_not_flags, binary, cast, ceil_div, compare, copy, fma, math, not_flags,
    or_flags, select, splat, trips_between, trips_doubling, trips_halving, unary, value_between,
    value_doubling, value_halving,
};
