//! Which launches of a kernel share what was measured.
//!
//! A configuration that is fast at one shape is fast at shapes like it. Two shapes
//! are alike where
//!
//! - they have the same *facts*, of which there are eight:
//!
//!   | fact | values |
//!   | --- | --- |
//!   | offsets | fit 32 bits, or need 64 |
//!   | the greatest power of two that divides every dimension | 1, 2 to 8, 16 to 64, 128 and more |
//!
//!   which say how wide accesses may be and whether tiles can be whole; and
//! - each dimension is nearest to the same power of two, on a logarithmic scale:
//!   which says how many blocks there are, and how long each runs.

use std::fmt;

use tile_ir::lower::Binding;
use tile_ir::program::IndexWidth;

/// Powers of two at which the next class of divisors begins.
const DIVISOR_STEPS: [u32; 3] = [2, 16, 128];

/// A class of launches.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ShapeClass {
    index_bits: u32,
    /// The least divisor of the class.
    divisor: u32,
    /// Each dimension's nearest power of two, by its exponent; 0 of an extent of 0
    /// or 1.
    exponents: Vec<u32>,
}

impl ShapeClass {
    /// The class of a launch: `binding` is its facts, `dims` its dimensions.
    pub(crate) fn of(binding: &Binding, dims: &[u64]) -> Self {
        let index_bits = match binding.index_width {
            IndexWidth::Bits32 => 32,
            IndexWidth::Bits64 => 64,
        };
        let common = binding.dim_divisors.iter().copied().min().unwrap_or(1);
        let steps = DIVISOR_STEPS.into_iter().rev();
        let divisor = steps.into_iter().find(|&step| common >= step).unwrap_or(1);
        Self { index_bits, divisor, exponents: dims.iter().copied().map(exponent).collect() }
    }
}

/// The exponent of the power of two nearest to `dim` on a logarithmic scale.
fn exponent(dim: u64) -> u32 {
    let Some(floor) = dim.checked_ilog2() else { return 0 };
    // Above the middle, 2^(floor + 1/2): where the square is above 2^(2 floor + 1).
    let square = u128::from(dim) * u128::from(dim);
    floor + u32::from(square > 1u128 << (2 * floor + 1))
}

/// As records hold it: `32-bit /128 12,12,12`.
impl fmt::Display for ShapeClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exponents: Vec<String> = self.exponents.iter().map(u32::to_string).collect();
        write!(f, "{}-bit /{} {}", self.index_bits, self.divisor, exponents.join(","))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn class(index_width: IndexWidth, dims: &[u64]) -> ShapeClass {
        let divisor = |dim: &u64| (dim & dim.wrapping_neg()).min(256) as u32;
        let dim_divisors = dims.iter().map(divisor).collect();
        let (types, layouts) = (Vec::new(), Vec::new());
        ShapeClass::of(&Binding { types, index_width, dim_divisors, layouts }, dims)
    }

    #[test]
    fn shapes_that_are_alike() {
        let class = |dims: &[u64]| class(IndexWidth::Bits32, dims).to_string();
        assert_eq!(class(&[4096, 4096, 4096]), "32-bit /128 12,12,12");
        assert_eq!(class(&[3968, 4096, 4224]), "32-bit /128 12,12,12");
        assert_eq!(class(&[4095, 4096, 4096]), "32-bit /1 12,12,12");
        assert_eq!(class(&[1000, 1024, 1032]), "32-bit /2 10,10,10");
        assert_eq!(class(&[1, 3]), "32-bit /1 0,2");
        assert_eq!(class(&[]), "32-bit /1 ");
    }

    #[test]
    fn the_middle_between_two_powers() {
        // 2^10.5 is 1448.15.
        assert_eq!([1023, 1024, 1448, 1449, 2048].map(exponent), [10, 10, 10, 11, 11]);
        assert_eq!([0, 1, 2, u64::MAX].map(exponent), [0, 0, 1, 64]);
    }

    #[test]
    fn eight_classes_of_facts() {
        let mut classes = BTreeSet::new();
        for width in [IndexWidth::Bits32, IndexWidth::Bits64] {
            for common in 0..10 {
                let dims = [3u64 << common, 1 << common];
                let ShapeClass { index_bits, divisor, .. } = class(width, &dims);
                classes.insert((index_bits, divisor));
            }
        }
        assert_eq!(classes.len(), 8);
    }
}
