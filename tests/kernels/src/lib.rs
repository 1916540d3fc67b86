//! The kernels that the tests and the benchmarks share, and what they should
//! compute, by plain loops that share no code with the kernels.

mod elementwise;
mod matmul;
mod min_plus;
pub mod number;
mod row_sums;
mod stencil;
mod transpose;

pub use elementwise::{add, saxpy};
pub use matmul::{batched_matmul, matmul, product_at, scaled_matmul, scaled_product_at};
pub use min_plus::min_plus;
pub use row_sums::{row_sum_at, row_sums};
pub use stencil::stencil;
pub use transpose::transpose;
