//! Programs made by hand, against what they must give.

mod builder;
mod matmul;

mod control;
mod ops;
