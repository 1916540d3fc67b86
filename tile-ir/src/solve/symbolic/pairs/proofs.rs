//! What is proved of pairs of accesses, whatever barriers a kernel has.
//!
//! A kernel whose pairs are all disjoint computes the same with more barriers and with less,
//! as long as none that comes to meet then may conflict. So what was proved of two accesses
//! where a barrier stood, by what was read behind it too, is so without it: the first two
//! accesses that conflict would be of those that are asked about anew.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::super::search::linear::Effort;
use super::super::walk::begin::{walk, walk_again};
use super::super::{Unproved, prove_some};
use super::flow::{Distance, Encounter};
use super::instance::Meeting;
use super::known::Known;
use crate::check::{Exact, Uniformity};
use crate::kernel::{ArrayRef, Kernel};

/// Proofs of a kernel, and of those that differ from it in barriers alone.
#[derive(Debug)]
pub(crate) struct Proofs {
    known: Known,
    /// The numbers that a launch bounds.
    exact: Option<Rc<Exact>>,
    /// What is left for those that differ.
    effort: Effort,
}

impl Default for Proofs {
    fn default() -> Self {
        Self { known: Known::default(), exact: None, effort: Effort::of_kernel() }
    }
}

impl Proofs {
    /// The pairs of accesses that may conflict: none where the kernel has no race at any
    /// admissible size. Arrays of which it is known that they collide are left out: which,
    /// is asked only where some pair takes a longer proof, or has none.
    pub(crate) fn prove(
        &mut self,
        kernel: &Kernel,
        uniformity: &Uniformity,
        collided: &mut dyn FnMut() -> BTreeSet<ArrayRef>,
    ) -> Vec<Unproved> {
        let walk = walk(kernel, uniformity);
        self.exact = Some(Rc::clone(&walk.exact));
        let unproved = prove_some(&walk, &|_, _| true, collided);
        self.known = walk.proofs;
        unproved
    }

    /// Whether within a block no two accesses that may conflict are unordered, of a kernel
    /// that differs in barriers alone. What has been tried is not tried again, and nothing
    /// is where it is plain that two meet. One `uniformity` is theirs.
    pub(crate) fn are_complete(&mut self, kernel: &Kernel, uniformity: &Uniformity) -> bool {
        let mut walk = match &self.exact {
            Some(exact) => walk_again(kernel, uniformity, Rc::clone(exact)),
            None => walk(kernel, uniformity),
        };
        let pairs = walk.pairs.list();
        std::mem::swap(&mut walk.proofs, &mut self.known);
        std::mem::swap(&mut walk.effort, &mut self.effort);
        let are_complete = pairs.iter().all(|Encounter { sites: (a, b), distance, paths }| {
            let pair = [&walk.sites[*a], &walk.sites[*b]];
            let conflicting =
                pair[0].array == pair[1].array && pair[0].kind.conflicts(pair[1].kind);
            let meeting = Meeting::InBlock(distance, paths);
            // What stands as it is up to a later iteration depends on barriers itself.
            !conflicting
                || match distance {
                    Distance::Later(..) => walk.is_anew_disjoint(pair, meeting),
                    Distance::Same(_) | Distance::Next(..) | Distance::Any(..) => {
                        walk.is_soon_disjoint(pair, meeting)
                    }
                }
        });
        std::mem::swap(&mut walk.proofs, &mut self.known);
        std::mem::swap(&mut walk.effort, &mut self.effort);
        are_complete
    }
}
