//! Whether blocks meet in an array in which a barrier is to part work-items: a barrier is not all
//! it takes then, and small grids alone may not show it.

use std::collections::BTreeMap;

use super::undecided::stays_open;
use crate::check::uniformity;
use crate::kernel::{ArrayRef, Kernel};
use crate::solve::symbolic::prove_within;
use crate::span::SpanId;

/// The part of what a kernel's proofs may take, one of so many, that this may: it is one sentence
/// of what is said of another race.
const PART: usize = 4;

/// What is known of the blocks of one kernel. It takes proofs, and runs of all sizes: each array
/// is asked about once.
#[derive(Debug)]
pub(super) struct Between<'k> {
    pub(super) kernel: &'k Kernel,
    known: BTreeMap<ArrayRef, bool>,
}

impl<'k> Between<'k> {
    pub(super) fn of(kernel: &'k Kernel) -> Self {
        Self { kernel, known: BTreeMap::new() }
    }

    /// Whether blocks may meet in an array.
    pub(super) fn may_meet(&mut self, array: ArrayRef) -> bool {
        let kernel = self.kernel;
        *self.known.entry(array).or_insert_with(|| may_meet(kernel, array))
    }
}

fn may_meet(kernel: &Kernel, array: ArrayRef) -> bool {
    if let ArrayRef::Tile(_) = array {
        return false;
    }
    let uniformity = uniformity(kernel);
    let is_asked = |of: ArrayRef, _: [SpanId; 2], is_between: bool| of == array && is_between;
    let unproved = prove_within(PART, (kernel, &uniformity), &is_asked);
    !unproved.is_empty() && stays_open((kernel, &uniformity), unproved)
}
