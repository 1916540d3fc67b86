//! Which kernels are compared: entries of the gallery that are one launch, whose sizes
//! are the kernel's dimensions.

use tile_examples::frame::Entry;
use tile_runtime::{Kernel, Options};

/// A tile size by its name.
type TileSize = (&'static str, u32);

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

/// Tile sizes of an entry that the shapes of its arguments say.
const SIZES: [(&str, &[TileSize]); 1] = [("nearest", &[("D", 3), ("K", 8)])];

/// An entry with the kernel that it launches.
pub(crate) struct Row {
    pub(crate) entry: Entry,
    pub(crate) kernel: Kernel,
}

impl Row {
    pub(crate) fn name(&self) -> &'static str {
        self.entry.name
    }

    /// How it is explained: as it is launched.
    pub(crate) fn options(&self) -> Options {
        let sizes = SIZES.iter().find(|(name, _)| *name == self.name());
        let sizes = sizes.into_iter().flat_map(|(_, sizes)| sizes.iter());
        sizes.fold(Options::new(), |options, (name, size)| options.tile(*name, *size))
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
