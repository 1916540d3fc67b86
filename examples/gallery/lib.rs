//! The gallery: kernels of a GPU textbook and of its exercises, one idea a file, each
//! with its host code and a reference that shares no code with it.
//!
//! The example `gallery` runs them, the tests run them in ragged and tiny sizes, and
//! the benchmark `gallery` measures them.

pub mod batched_matmul;
pub mod block_transpose_in_place;
pub mod box_blur;
pub mod convolution_1d;
pub mod convolution_2d;
pub mod corner_turned_matmul;
pub mod foo_kernel;
pub mod frame;
pub mod grey;
pub mod matrix_add;
pub mod matrix_vector;
pub mod naive_matmul;
pub mod saxpy;
pub mod separable_convolution;
pub mod seven_point;
pub mod square_matmul;
pub mod tiled_matmul;
pub mod vector_add;

use frame::Entry;

/// All entries, from the simplest on.
pub fn all() -> Vec<Entry> {
    vec![
        vector_add::ENTRY,
        saxpy::ENTRY,
        grey::ENTRY,
        box_blur::ENTRY,
        matrix_add::ENTRY,
        matrix_add::TILED,
        block_transpose_in_place::ENTRY,
        foo_kernel::ENTRY,
        matrix_vector::ENTRY,
        naive_matmul::ENTRY,
        square_matmul::ENTRY,
        tiled_matmul::ENTRY,
        corner_turned_matmul::ENTRY,
        corner_turned_matmul::COLUMN_MAJOR,
        batched_matmul::ENTRY,
        convolution_1d::ENTRY,
        convolution_2d::ENTRY,
        separable_convolution::ENTRY,
        seven_point::ENTRY,
        seven_point::TILED,
    ]
}
