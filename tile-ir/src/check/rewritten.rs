//! Kernels written another way for the proof, where the way in which they stand has none.

use std::collections::BTreeSet;

use super::{by_for, cursors, flagged, left_by, ones, ranks, some_rounds, uniformity};
use crate::kernel::{ArrayRef, Kernel};
use crate::solve::symbolic::{Proofs, Unproved};

/// Another way to write a kernel that does the same, if there is one, and as far as these pairs
/// without a proof are concerned.
type Rewrite = fn(&Kernel, &[Unproved]) -> Option<Kernel>;

const REWRITES: [Rewrite; 7] = [
    |kernel, _| some_rounds::written_out(kernel),
    |kernel, _| flagged::turned(kernel),
    |kernel, _| left_by::assumed(kernel),
    |kernel, _| ones::counted(kernel),
    |kernel, _| ranks::taken(kernel),
    |kernel, _| by_for::written(kernel),
    cursors::made_atomic,
];

/// Those of the pairs without a proof that have none in any other way of writing the kernel
/// either. Arrays that have `collided` are left out.
pub(super) fn left(
    kernel: &Kernel,
    mut unproved: Vec<Unproved>,
    collided: &mut dyn FnMut() -> BTreeSet<ArrayRef>,
) -> Vec<Unproved> {
    for rewrite in REWRITES {
        if unproved.is_empty() {
            break;
        }
        let Some(out) = rewrite(kernel, &unproved) else { continue };
        let left = Proofs::default().prove(&out, &uniformity(&out), collided);
        let of = |pair: &Unproved| BTreeSet::from([pair.first, pair.second]);
        unproved.retain(|pair| {
            left.iter().any(|other| pair.array == other.array && of(pair) == of(other))
        });
    }
    unproved
}
