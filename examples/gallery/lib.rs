//! The gallery: kernels of a GPU textbook and of its exercises, one idea a file, each
//! with its host code and a reference that shares no code with it.
//!
//! The example `gallery` runs them, the tests run them in ragged and tiny sizes, and
//! the benchmark `gallery` measures them.

pub mod array_scan;
pub mod array_sort;
pub mod attention;
pub mod batched_matmul;
pub mod blelloch_scan;
pub mod block_sort;
pub mod block_transpose_in_place;
pub mod box_blur;
pub mod convolution_1d;
pub mod convolution_2d;
pub mod corner_turned_matmul;
pub mod csr_matvec;
pub mod foo_kernel;
pub mod frame;
pub mod grey;
pub mod hillis_steele_scan;
pub mod histogram;
pub mod layer_norm;
pub mod matrix_add;
pub mod matrix_vector;
pub mod naive_matmul;
pub mod nearest;
pub mod position_of_least;
pub mod row_softmax;
pub mod saxpy;
pub mod separable_convolution;
pub mod seven_point;
pub mod square_matmul;
pub mod tiled_matmul;
pub mod tree_reduction;
pub mod vector_add;
pub mod warp_reduction;

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
        matrix_vector::TILED,
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
        histogram::ENTRY,
        histogram::PLAIN,
        tree_reduction::ENTRY,
        warp_reduction::ENTRY,
        position_of_least::ENTRY,
        hillis_steele_scan::ENTRY,
        blelloch_scan::ENTRY,
        array_scan::ENTRY,
        array_scan::OF_FLOATS,
        block_sort::ENTRY,
        array_sort::ENTRY,
        csr_matvec::ENTRY,
        csr_matvec::BY_ITEMS,
        row_softmax::ENTRY,
        layer_norm::ENTRY,
        nearest::ENTRY,
        attention::ENTRY,
        attention::IN_F16,
    ]
}
