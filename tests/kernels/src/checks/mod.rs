//! Runs a kernel on a device and compares what it stored with its reference.
//!
//! Each check makes its inputs from a seed, fills the outputs with a poison that
//! a correct kernel overwrites, launches, and compares every element. Products
//! too large for that are compared in some of their rows, and proved as a whole
//! on whole numbers (`product.rs`).

mod arrays;
mod collectives;
mod elementwise;
mod fields;
mod filters;
mod product;
mod slots;
mod tallies;
mod tiled;
mod views;
mod warps;

use std::fmt;

use tile_runtime::{Device, Options};

pub use arrays::{
    check_cat_map, check_counted_parts, check_digits, check_matmul_squares, check_sorted_fours,
};
pub use collectives::{
    check_halvings, check_ranks, check_row_totals, check_softmax, check_tile_ranges,
    check_tile_sums, check_tree,
};
pub use elementwise::{check_add, check_saxpy};
pub use fields::{
    check_convolve, check_seven_point, check_squared_distances, convolved, seven_point_at,
    squared_distance,
};
pub use filters::{
    check_convolution, check_decoded, check_running_filter, check_stretch_sums, check_weighted_rows,
};
pub use product::{check_batched_matmul, check_linear_relu, check_matmul, check_scaled_matmul};
pub use slots::{check_exchanges, check_places_by_value, check_product_by_exchange, check_queues};
pub use tallies::{check_float_tallies, check_histograms, check_integer_tallies};
pub use tiled::{check_min_plus, check_row_sums, check_stencil, check_transpose};
pub use views::check_views;
pub use warps::{
    check_lone_rounds, check_neighbours, check_tree_sums, check_votes, check_warp_scans,
    check_warp_totals,
};

/// Where and how a kernel is run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The device.
    pub device: Device,
    /// The launch's options.
    pub options: Options,
    /// What the inputs are made from.
    pub seed: u64,
}

impl Setup {
    /// Everything left to the device.
    pub fn new(device: &Device) -> Self {
        Self { device: device.clone(), options: Options::new(), seed: 1 }
    }

    /// The same with these tile sizes.
    #[must_use]
    pub fn tiles(&self, tiles: &[(&str, u32)]) -> Self {
        let options =
            tiles.iter().fold(Options::new(), |options, &(name, value)| options.tile(name, value));
        Self { options, ..self.clone() }
    }

    fn rng(&self) -> fastrand::Rng {
        fastrand::Rng::with_seed(self.seed)
    }
}

/// Why a check failed.
#[derive(Debug)]
pub enum CheckError {
    /// The launch did not happen.
    Launch(tile_runtime::Error),
    /// An element is wrong.
    Wrong {
        /// The element's indices.
        element: Vec<usize>,
        /// What is there, and what should be.
        values: String,
    },
    /// The product as a whole is wrong, in a row that was not compared.
    Unproved {
        /// The row.
        row: usize,
    },
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launch(error) => write!(f, "{error}"),
            Self::Wrong { element, values } => write!(f, "element {element:?} is {values}"),
            Self::Unproved { row } => write!(f, "row {row} is wrong somewhere"),
        }
    }
}

impl std::error::Error for CheckError {}

impl From<tile_runtime::Error> for CheckError {
    fn from(error: tile_runtime::Error) -> Self {
        Self::Launch(error)
    }
}

/// The verdict of a check.
pub type Verdict = Result<(), CheckError>;

/// Compares every element with what it must be exactly.
fn equal<T: PartialEq + fmt::Debug + Copy>(
    found: &[T],
    shape: &[usize],
    expected: impl Fn(usize) -> T,
) -> Verdict {
    for (position, &value) in found.iter().enumerate() {
        let wanted = expected(position);
        if value != wanted {
            let values = format!("{value:?} and should be {wanted:?}");
            return Err(CheckError::Wrong { element: indices(position, shape), values });
        }
    }
    Ok(())
}

/// Compares one element with its sum.
fn close<T: crate::number::Reference>(value: T, sum: &T::Sum, element: &[usize]) -> Verdict {
    if value.agrees_with(sum) {
        return Ok(());
    }
    let values = format!("{value:?} and should be {sum:?}");
    Err(CheckError::Wrong { element: element.to_vec(), values })
}

/// The indices of the element at `position`, row-major.
fn indices(mut position: usize, shape: &[usize]) -> Vec<usize> {
    let mut indices: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&extent| {
            let index = position % extent;
            position /= extent;
            index
        })
        .collect();
    indices.reverse();
    indices
}
