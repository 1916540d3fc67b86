//! Which kernels are compared: entries of the gallery that are one launch, whose sizes
//! are the kernel's dimensions.

use tile_examples::frame::Entry;
use tile_runtime::Kernel;

/// Names of entries. Left out are those with several launches, sizes that are not
/// dimensions, or views.
const NAMES: [&str; 19] = [
    "vector_add",
    "saxpy",
    "grey",
    "box_blur",
    "matrix_add_tiled",
    "block_transpose_in_place",
    "matrix_vector",
    "matrix_vector_tiled",
    "naive_matmul",
    "square_matmul",
    "tiled_matmul",
    "corner_turned_matmul",
    "batched_matmul",
    "convolution_1d",
    "convolution_2d",
    "seven_point",
    "row_softmax",
    "layer_norm",
    "nearest",
];

/// An entry with the kernel that it launches.
pub(crate) struct Row {
    pub(crate) entry: Entry,
    pub(crate) kernel: Kernel,
}

impl Row {
    pub(crate) fn name(&self) -> &'static str {
        self.entry.name
    }
}

/// All of them.
pub(crate) fn rows() -> Vec<Row> {
    let entries = tile_examples::all().into_iter().filter(|entry| NAMES.contains(&entry.name));
    let row = |entry: Entry| {
        let kernel = (entry.kernels)().into_iter().next()?;
        (kernel.dims().len() == entry.full.len()).then_some(Row { entry, kernel })
    };
    entries.filter_map(row).collect()
}
