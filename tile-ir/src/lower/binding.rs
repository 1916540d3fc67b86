//! What is known of a launch beforehand.

use super::TensorLayout;
use crate::dtype::DType;
use crate::program::IndexWidth;

/// Dimensions up to this, and tensors of fewer elements than [`MAX_ELEMS_32`], are
/// indexed with 32 bits: an index may go past an extent by a tile or a halo and stays
/// below 2^31.
const MAX_EXTENT_32: u64 = 1 << 30;
const MAX_ELEMS_32: u128 = 1 << 31;
/// No pass asks for more than this of a dimension's divisor.
const MAX_DIVISOR: u64 = 256;

/// What is known of a launch, apart from its configuration. Launches with equal
/// bindings and configurations share one program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// The type of each type parameter, by id.
    pub types: Vec<DType>,
    /// Whether offsets into every tensor of the launch fit 32 bits.
    pub index_width: IndexWidth,
    /// For each dimension variable, in the order of the kernel's variables, a
    /// number that divides it: 1 where nothing is known.
    pub dim_divisors: Vec<u32>,
    /// How the elements of each tensor lie, by its id; empty where all are row-major
    /// without gaps.
    pub layouts: Vec<TensorLayout>,
}

impl Binding {
    /// What is known of a launch with these dimensions, whose largest tensor has so
    /// many elements.
    pub fn of_launch(
        types: &[DType],
        dims: &[u64],
        max_elems: u128,
        layouts: Vec<TensorLayout>,
    ) -> Self {
        let narrow = dims.iter().all(|&dim| dim <= MAX_EXTENT_32) && max_elems < MAX_ELEMS_32;
        Self {
            types: types.to_vec(),
            index_width: if narrow { IndexWidth::Bits32 } else { IndexWidth::Bits64 },
            dim_divisors: dims.iter().map(|&dim| known_divisor(dim)).collect(),
            layouts,
        }
    }
}

/// What a program knows of a number's divisors: the largest power of two up to 256
/// that divides it.
pub fn known_divisor(dim: u64) -> u32 {
    let divisor = if dim == 0 { MAX_DIVISOR } else { (dim & dim.wrapping_neg()).min(MAX_DIVISOR) };
    divisor as u32
}

#[cfg(test)]
mod tests {
    use super::known_divisor;

    #[test]
    fn divisors_are_powers_of_two_up_to_256() {
        let divisors = [0, 1, 6, 96, 128, 4096, 4095].map(known_divisor);
        assert_eq!(divisors, [256, 1, 2, 32, 128, 256, 1]);
    }
}
