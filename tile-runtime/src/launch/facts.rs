//! The facts that a kernel's programs are made for: at most eight of each kernel and
//! its types, so that ever new shapes do not compile ever new programs.
//!
//! A program's facts are the width of its indices, and for each dimension the greatest
//! power of two up to 256 that divides it, and for each tensor how its elements lie: they
//! decide how wide accesses are, and which comparisons with edges are left out. The first [`MOST`] that launches have are each
//! given programs of their own; a launch with yet other facts runs a program of weaker
//! ones that hold for it too, the strongest of those, or one without facts, which is
//! valid for all. Launches whose configuration is given get what they ask for.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tile_ir::dtype::DType;
use tile_ir::lower::{Binding, TensorLayout};
use tile_ir::program::IndexWidth;

use super::cache::KernelAddress;

/// Facts of one kernel and its types.
const MOST: usize = 8;

/// Which kernel, of which types.
type Bound = (KernelAddress, Vec<DType>);

/// The facts of one device's programs.
#[derive(Debug, Default)]
pub(super) struct Facts {
    known: Mutex<HashMap<Bound, Vec<Binding>>>,
}

impl Facts {
    /// The facts of the program for a launch with these.
    pub(super) fn admit(&self, kernel: KernelAddress, binding: Binding) -> Binding {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.entry((kernel, binding.types.clone())).or_default();
        if known.contains(&binding) {
            return binding;
        }
        if known.len() < MOST {
            known.push(binding.clone());
            return binding;
        }
        let holding = known.iter().filter(|weaker| implies(&binding, weaker));
        holding.max_by_key(|weaker| strength(weaker)).cloned().unwrap_or_else(|| none(&binding))
    }
}

/// The binding without facts but those that a program cannot do without: whether a
/// tensor is a view, and along which axes its strides are 1 or 0.
pub(super) fn none(binding: &Binding) -> Binding {
    Binding {
        types: binding.types.clone(),
        index_width: IndexWidth::Bits64,
        dim_divisors: vec![1; binding.dim_divisors.len()],
        layouts: binding.layouts.iter().map(TensorLayout::weakened).collect(),
    }
}

/// Whether a program for `weaker` is valid for launches with `facts`.
fn implies(facts: &Binding, weaker: &Binding) -> bool {
    let fits = match (facts.index_width, weaker.index_width) {
        (IndexWidth::Bits32, _) | (IndexWidth::Bits64, IndexWidth::Bits64) => true,
        (IndexWidth::Bits64, IndexWidth::Bits32) => false,
    };
    let mut pairs = facts.dim_divisors.iter().zip(&weaker.dim_divisors);
    let mut layouts = facts.layouts.iter().zip(&weaker.layouts);
    fits && pairs.all(|(divisor, weaker)| divisor.is_multiple_of(*weaker))
        && facts.layouts.len() == weaker.layouts.len()
        && layouts.all(|(layout, weaker)| layout.implies(weaker))
}

/// Facts with more of it give faster programs, as far as one number can say.
fn strength(binding: &Binding) -> (bool, u32) {
    let factors = binding.dim_divisors.iter().map(|divisor| divisor.ilog2()).sum();
    (binding.index_width == IndexWidth::Bits32, factors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding(index_width: IndexWidth, dim_divisors: &[u32]) -> Binding {
        let (types, layouts) = (vec![DType::F32], Vec::new());
        Binding { types, index_width, dim_divisors: dim_divisors.to_vec(), layouts }
    }

    #[test]
    fn the_first_eight_are_given_programs_and_others_the_strongest_that_holds() {
        let facts = Facts::default();
        let narrow = |divisors: &[u32]| binding(IndexWidth::Bits32, divisors);
        for divisor in [1, 2, 4, 8, 16, 32, 64] {
            assert_eq!(facts.admit(7, narrow(&[divisor, 4])), narrow(&[divisor, 4]));
        }
        let wide = binding(IndexWidth::Bits64, &[2, 1]);
        assert_eq!(facts.admit(7, wide.clone()), wide);
        // Full: the known ones stay, others get the strongest of those that hold.
        assert_eq!(facts.admit(7, narrow(&[16, 4])), narrow(&[16, 4]));
        assert_eq!(facts.admit(7, narrow(&[256, 8])), narrow(&[64, 4]));
        assert_eq!(facts.admit(7, narrow(&[8, 1])), wide);
        assert_eq!(facts.admit(7, narrow(&[1, 1])), none(&wide));
        assert_eq!(facts.admit(7, binding(IndexWidth::Bits64, &[256, 256])), wide);
        // Another kernel has its own.
        assert_eq!(facts.admit(8, narrow(&[256, 8])), narrow(&[256, 8]));
    }
}
