//! Programs made by hand, against what they must give.

mod builder;
mod control;
mod launch;
mod matmul;
mod memory;
mod ops;
