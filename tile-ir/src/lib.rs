//! The kernel language of `tiled_kernel!`: its representations, its checks and
//! its lowering. Pure: no GPU, no IO, no proc_macro; same input, same bytes out.
//!
//! ```text
//! tokens ─ tile-syntax ─> syntax tree ─ resolve ─> kernel ─ check ─> CheckedKernel
//!                                                            │ encode: bytes in the user's binary
//! CheckedKernel + Binding + Config ─ lower ─> program ─ emit ─> CUDA C++
//!                                               └─> the CPU device
//! ```

pub mod analyze;
pub mod arena;
pub mod check;
pub mod config;
pub mod device;
pub mod diag;
pub mod dtype;
pub mod emit;
pub mod encode;
pub mod exchange;
pub mod explain;
pub(crate) mod fill;
pub mod kernel;
pub mod lower;
pub mod op;
pub(crate) mod part;
mod precedence;
pub mod program;
pub mod resolve;
pub mod row_major;
pub mod semantics;
pub(crate) mod slice;
pub(crate) mod solve;
pub mod span;
pub mod syntax;
pub mod value;
